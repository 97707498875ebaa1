"""Options of several requests: files that are written or replaced, a population that is read."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from gamekeeper.options import Option
from gamekeeper.report.audience import Audience
from gamekeeper.store.place import store_place

table_output = partial(Option, flags="--output -o", writes="table", label="Written")
"""An option that names the file of a table."""

in_environment = partial(Option, flags="--environment -e", read=store_place)
"""An option that names a store or folder of stage one."""

Plot = Annotated[
    Path | None, Option("Write a plot to this .svg or .png.", writes="picture", label="Plot")
]
WrittenTable = Annotated[Path | None, table_output("Write to this .csv, .parquet or .xlsx.")]
WrittenPlot = Annotated[
    Path | None, Option("Write a plot to this .svg or .png.", writes="picture", label="Written")
]
WrittenPage = Annotated[
    Path | None, Option("Write an HTML report to this file.", writes="page", label="Written")
]
CountedRecords = Annotated[
    Path | None,
    Option(
        "Write the risk of every record to this .csv, .parquet or .xlsx; with a cluster, .parquet is a"
        " folder that it writes.",
        writes="counted",
        label="Risk of every record",
    ),
]
Report = Annotated[
    Path | None, Option("Write an HTML report to this file.", writes="page", label="Report")
]
ReportFor = Annotated[
    Audience,
    Option(
        "internal: everything, with single records. external: what was done and how, without any"
        " value of risk, parameter, record or category, for people outside."
    ),
]
ReportRecords = Annotated[
    bool,
    Option(
        "Whether the report describes single records and categories.",
        flags="--report-records/--no-report-records",
    ),
]
Replace = Annotated[bool, Option("Replace files that are there already.")]
Raw = Annotated[
    bool,
    Option(
        "Write CSV for programs: texts that a spreadsheet would run as formulas get no apostrophe."
    ),
]
Population = Annotated[
    Path | None,
    Option("A file with everybody in it, of the same columns: then nothing is estimated."),
]
Memory = Annotated[
    str | None,
    Option(
        "Use so much memory at most, such as 4GB: what would take more is refused before it begins,"
        " or spills to disk. By default what is free.",
    ),
]
Identifier = Annotated[
    str,
    Option(
        "Column with your own name of each record; it stands beside the number in every list of"
        " records. What is written is then as confidential as that column.",
        flags="--id",
    ),
]
NoRecords = Annotated[
    bool,
    Option(
        "Tell figures of the whole only: no single records, cells or categories, neither here, in"
        " JSON nor in a report. Tables that are asked for by a file's name are written.",
    ),
]
Top = Annotated[int, Option("Show so many of the riskiest records.", least=0)]
