"""Tables as people name them: releases, text files with their schemes, tables that others published.

What adds up is named by files, by codes, or by variables of an environment.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

from gamekeeper.algorithms.releases.schemes import parse_scheme
from gamekeeper.data.reading.source import open_source
from gamekeeper.data.tables import argus
from gamekeeper.data.tables.cell_file import CellRows, Columns, read_cells
from gamekeeper.data.tables.count_file import HIDDEN_MARKS, read_count_table, read_counts
from gamekeeper.data.tables.count_table import CountTable
from gamekeeper.data.tables.hierarchy import Hierarchy, read_hierarchy
from gamekeeper.data.tables.release import (
    Release,
    check_truth,
)
from gamekeeper.data.tables.release_file import (
    align_truth,
    join_releases,
    read_release_and_truth,
)
from gamekeeper.data.tables.table_set import TableSet, cells_of_release
from gamekeeper.errors import InputError, Reason
from gamekeeper.store.place import StorePlace
from gamekeeper.wording import count_of, did_you_mean, quoted
from gamekeeper.workbench.environment.opening import opened
from gamekeeper.workbench.requests.tables import (
    PublishedRequest,
    RecordsRequest,
    ReleaseRequest,
)

_VARIABLE = "variable:"


def open_release(asked: ReleaseRequest) -> tuple[Release, CountTable | None]:
    """Read a release, and the truth behind it where there is one."""
    if not asked.files:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "A release was to be opened.",
            "No file was named.",
            "Name a release (.json) or text files with counts.",
        )
    documents = [file for file in asked.files if file.suffix.lower() == ".json"]
    if documents and len(asked.files) > 1:
        raise InputError(
            Reason.BAD_OPTION,
            f"{count_of(len(asked.files), 'file')} were given as one release.",
            f"{quoted([documents[0].name])} is a release of its own.",
            "Name one JSON file, or text files only.",
        )
    schemes = _schemes_of(asked)
    if documents:
        release, truth = read_release_and_truth(documents[0], disjoint=asked.disjoint)
    else:
        release, truth = _read_text(asked, schemes), None
    if asked.truth is not None:
        # Its labels are those of the release, which has been questioned.
        true = read_count_table(asked.truth, disjoint=True, **written_as(asked))
        truth = align_truth(release, true)
        check_truth(release, truth)
    return release, truth


def _schemes_of(asked: ReleaseRequest | PublishedRequest) -> list[str]:
    """Return the scheme of each file; "" for a release, which has that of each of its tables."""
    typed = [text for text in asked.schemes if text != "exact"]
    documents = [file for file in asked.files if file.suffix.lower() == ".json"]
    if documents and typed and len(asked.schemes) == 1:
        raise InputError(
            Reason.BAD_OPTION,
            f"The release {quoted([documents[0].name])} was to be read with the scheme"
            f" {quoted(typed)}.",
            "A release in JSON has the scheme of each of its tables.",
            "Leave --scheme out, or write it into the file.",
        )
    texts = [file for file in asked.files if file not in documents]
    if len(asked.schemes) not in (0, 1, len(texts)):
        raise InputError(
            Reason.BAD_OPTION,
            f"{count_of(len(texts), 'file was', 'files were')} to be read under schemes.",
            f"{count_of(len(asked.schemes), 'scheme was', 'schemes were')} given.",
            "Give one scheme (--scheme), or one for each file that is no release in JSON.",
        )
    each = (
        list(asked.schemes)
        if len(asked.schemes) > 1
        else [*asked.schemes, "exact"][:1] * len(texts)
    )
    left = iter(each)
    return ["" if file in documents else next(left) for file in asked.files]


def _read_text(asked: ReleaseRequest, schemes: Sequence[str]) -> Release:
    # Several files are questioned together: one may have the sums that clear another.
    is_alone = len(asked.files) == 1
    found = [
        read_counts(
            file,
            scheme=scheme,
            hidden=(*HIDDEN_MARKS, *asked.hidden),
            absent=asked.absent,
            disjoint=asked.disjoint if is_alone else True,
            **written_as(asked),
        )
        for file, scheme in zip(asked.files, schemes, strict=True)
    ]
    return found[0] if is_alone else join_releases(found, found[0].title, asked.disjoint)


def written_as(asked: ReleaseRequest | RecordsRequest) -> dict[str, Any]:
    """Return how text files of counts are written, as their readers take it."""
    return {
        "count": asked.count or None,
        "axes": asked.axes or None,
        "total": [label for label in asked.total if label.strip()] or None,
        "delimiter": asked.delimiter,
        "encoding": asked.encoding,
        "decimal": asked.decimal,
    }


def open_tables(asked: PublishedRequest, said: Collection[str] = ()) -> TableSet:
    """Read published tables, and put them together by their axes.

    `said` are the texts of hidden figures, and statuses, of which a person says what they tell.
    """
    if not asked.files:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "Published tables were to be audited.",
            "No file was named.",
            "Name text files (CSV), workbooks, .tab files with their .rda, or a release (.json).",
        )
    hierarchies: dict[str, Hierarchy | str] = {}
    tables: list[CellRows] = []
    for file, scheme in zip(asked.files, _schemes_of(asked), strict=True):
        read, own = _read(file, asked, said)
        if scheme not in ("", "exact"):
            read = [replace(table, scheme=parse_scheme(scheme)) for table in read]
        tables += read
        for axis, hierarchy in own.items():
            known = hierarchies.get(axis)
            hierarchies[axis] = (
                known.joined(hierarchy) if isinstance(known, Hierarchy) else hierarchy
            )
    hierarchies |= declared_hierarchies(asked.hierarchies, asked.environment)
    if asked.apriori is not None:
        tables = [argus.apply_apriori(tables[0], asked.apriori), *tables[1:]]
    return TableSet.of(
        tables,
        hierarchies,
        totals=[label for label in asked.total if label.strip()] or ("Total",),
        disjoint=asked.disjoint,
        absent=asked.absent,
        whole=not asked.value
        and not asked.weight
        and not any(f.suffix.lower() in (".tab", ".arb") for f in asked.files),
    )


def _read(
    file: Path, asked: PublishedRequest, said: Collection[str]
) -> tuple[list[CellRows], Mapping[str, Hierarchy]]:
    ending = file.suffix.lower()
    if ending == ".json":
        release, _ = read_release_and_truth(
            file, disjoint=asked.disjoint, added_up=asked.hierarchies
        )
        return cells_of_release(release)
    if ending == ".arb":
        return _of_batch(argus.read_batch(file), asked)
    if ending == ".tab":
        return _with_hierarchies(argus.read_argus_table(file, value=asked.value))
    axes = asked.axes
    if axes and len(asked.files) > 1:
        # Linked tables need not have all axes.
        own = open_source(
            file, delimiter=asked.delimiter, encoding=asked.encoding, sheet=asked.sheet
        ).names
        axes = [name for name in axes if name in own] or axes
    columns = Columns(
        axes=axes,
        count=asked.count,
        value=asked.value,
        status=asked.status,
        status_kind=asked.status_kind,
        hidden_status=asked.hidden_status,
        tops=asked.largest,
        lower=asked.lower_level,
        upper=asked.upper_level,
        percents=asked.percents,
        ratios=asked.ratios,
        means=asked.means,
        weight=asked.weight,
        ignore=asked.ignore,
        wide=asked.wide,
        hidden=asked.hidden,
        said=said,
    )
    made = read_cells(
        file, columns, delimiter=asked.delimiter, encoding=asked.encoding, decimal=asked.decimal,
        sheet=asked.sheet,
    )  # fmt: skip
    return [made], {}


def _with_hierarchies(table: CellRows) -> tuple[list[CellRows], dict[str, Hierarchy]]:
    return [table], {
        axis: read_hierarchy(path).beside(table.outside.get(axis, ()))
        for axis, path in table.hierarchies.items()
    }


def _of_batch(
    batch: argus.ArgusBatch, asked: PublishedRequest
) -> tuple[list[CellRows], Mapping[str, Hierarchy]]:
    """Read the table that a batch file is about, with what was decided before."""
    if batch.is_microdata:
        raise InputError(
            Reason.BAD_OPTION,
            "Published tables were to be audited.",
            "The batch file is about records, and not about a table.",
            "Mark its cells first: gamekeeper tables mark FILE.arb -o marked.csv.",
        )
    (first, *_) = batch.tables
    made, hierarchies = _with_hierarchies(
        argus.read_argus_table(
            batch.data, description=batch.description, value=asked.value or first.response
        )
    )
    if first.apriori is not None and asked.apriori is None:
        made = [argus.apply_apriori(made[0], first.apriori)]
    if first.left_out:
        told = f"Of the batch file this was not used: {', '.join(first.left_out)}"
        made = [replace(made[0], notices=(*made[0].notices, f"{told}."))]
    return made, hierarchies


def batch_rules(files: Sequence[Path]) -> tuple[str, ...]:
    """Return the rules that batch files among some files name."""
    batches = [argus.read_batch(file) for file in files if file.suffix.lower() == ".arb"]
    return tuple(dict.fromkeys(rule for own in batches for rule in own.tables[0].rules))


def declared_hierarchies(
    named: Mapping[str, tuple[str, ...]], environment: StorePlace | None
) -> dict[str, Hierarchy | str]:
    """Return for each axis the hierarchy that its sources make together, or 'codes' or 'detected'."""
    found: dict[str, Hierarchy | str] = {}
    for axis, sources in named.items():
        made = [_hierarchy(axis, source, environment) for source in sources]
        words = [one for one in made if isinstance(one, str)]
        if words and len(made) > 1:
            raise InputError(
                Reason.BAD_OPTION,
                f"The labels of axis {quoted([axis])} were to be sums by {quoted(sources)}.",
                f"{quoted(words)} cannot be combined with others.",
                "Name files or variables, or one of 'codes' and 'detected' alone.",
            )
        hierarchies = [one for one in made if isinstance(one, Hierarchy)]
        found[axis] = reduce(Hierarchy.joined, hierarchies) if hierarchies else made[0]
    return found


def _hierarchy(axis: str, source: str, environment: StorePlace | None) -> Hierarchy | str:
    if source in ("codes", "detected"):
        return source
    if not source.startswith(_VARIABLE):
        return read_hierarchy(source)
    name = source.removeprefix(_VARIABLE)
    asked = f"The labels of axis {quoted([axis])} were to be sums by the variable {quoted([name])}."
    if environment is None:
        raise InputError(
            Reason.NOTHING_GIVEN,
            asked,
            "No environment was named.",
            "Name it: --environment norland.gk.",
        )
    with opened(environment) as place:
        variables = place.environment.variables
        if name not in variables:
            raise InputError(
                Reason.UNKNOWN_NAME,
                asked,
                "The environment has no such variable.",
                did_you_mean(name, variables),
            )
        graph = variables[name].graph
        children = {category: graph.children(category) for category in graph.categories}
    return Hierarchy.of_tree(children, f"variable {quoted([name])}")
