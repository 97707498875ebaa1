"""Results of stage two as people read them on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gamekeeper.attack.matching.result import MatchingRisk
from gamekeeper.attack.uniques.suda import UniquesRisk
from gamekeeper.cli.show import say, show_table
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.data.keys.missing import Missing
from gamekeeper.results import Result
from gamekeeper.wording import cell_text, percent_text
from gamekeeper.workbench.microdata import Microdata

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "say_all",
    "say_file",
    "say_how",
    "show_explained",
    "show_matching",
    "show_result",
    "show_sizes",
]

_SIZES_SHOWN = 10


def say_file(data: Microdata) -> None:
    """Say which file it is and how it was read."""
    settings = ", ".join(f"{name} {value!r}" for name, value in data.source.settings.items())
    say(f"File {data.source.path.name} ({data.source.kind}{': ' + settings if settings else ''}).")


def say_all(sentences: Sequence[str]) -> None:
    """Say one sentence per line."""
    for sentence in sentences:
        say(sentence)


def say_how(result: Result) -> None:
    """Say how a result came about, and how missing values were read."""
    made = result.provenance
    parts = [f"{made.method} ({made.variant})" if made.variant else made.method]
    policy = made.parameters.get("missing")
    if policy and Missing(policy).words != made.variant:
        parts.append(f"missing cells by '{policy}': {Missing(policy).words}")
    if made.seed is not None:
        parts.append(f"seed {made.seed}")
    parts.append(made.engine)
    if made.fingerprint:
        parts.append(f"input {made.fingerprint}")
    say()
    say(f"How: {'; '.join(parts)}.")


def show_matching(found: MatchingRisk) -> None:
    """Print what strategies achieve: the file in sentences, the strategies as a table."""
    say_all(found.file_sentences())
    say()
    show_result(
        found,
        {
            "strategy": "strategy",
            "direction": "direction",
            "target": "target",
            "pr_cm": "correct with probability",
            "cost_without": "people to search",
            "cost_with": "with repeats",
            "eff_without": "efficiency",
        },
    )
    say()
    say_all(found.dominance_sentences())


def show_explained(found: UniquesRisk, n_records: int) -> None:
    """Print the riskiest records with what sets them apart."""
    shown = found.riskiest(n_records)
    names = list(dict.fromkeys(["record", "risk_class", found.records.measure, "msus"]))
    cells = zip(*(shown[name].to_pylist() for name in names), strict=True)
    rows = [[*map(cell_text, row), "; ".join(found.explain(row[0], most=3))] for row in cells]
    show_table([*(name.replace("_", " ") for name in names), "why"], rows)


def show_result(
    result: Result, columns: Mapping[str, str] | None = None, *, table: pa.Table | None = None
) -> None:
    """Print a result, or a part of it, for people; `columns` has the headings of those to show."""
    part = result.to_arrow() if table is None else table
    shown = columns or {name: name.replace("_", " ") for name in part.column_names}
    texts = [
        [(percent_text if name.endswith("share") else cell_text)(cell) for cell in cells]
        for name, cells in ((name, part[name].to_pylist()) for name in shown)
    ]
    show_table(list(shown.values()), list(zip(*texts, strict=True)))


def show_sizes(table: KeyTable) -> None:
    """Print how many records share their key with how many others."""
    sizes = sorted(table.structure)
    shown = sizes[:_SIZES_SHOWN]
    rows = [
        [
            f"{size:,}",
            f"{table.structure[size]:,}",
            f"{table.records_by_size[size]:,}",
            percent_text(table.records_by_size[size] / table.n_records),
        ]
        for size in shown
    ]
    larger = sizes[_SIZES_SHOWN:]
    if larger:
        records = sum(table.records_by_size[size] for size in larger)
        rows.append(
            [
                f"{larger[0]:,} or more",
                f"{sum(table.structure[size] for size in larger):,}",
                f"{records:,}",
                percent_text(records / table.n_records),
            ]
        )
    show_table(["class size", "different keys", "records", "share"], rows)
