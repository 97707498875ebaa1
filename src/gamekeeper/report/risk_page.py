"""The HTML report of a risk assessment: a summary for a director, tables for an analyst.

It is one file that needs nothing else. One script of its own sorts tables when a heading is
clicked; browsers are told by its hash to run no other, and to load nothing.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from gamekeeper.files.writing import write_file
from gamekeeper.report.drawings.figures import figure_svg
from gamekeeper.report.rendering import render
from gamekeeper.report.saving import PAGE_ENDINGS, require_ending
from gamekeeper.results import Provenance
from gamekeeper.wording import cell_text, percent_text

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

_SHOWN_ROWS = 200
_SCRIPT = "sorting.js"


@dataclass(frozen=True, slots=True)
class RiskTable:
    """A table of a report: cells as texts, with the numbers they are sorted by."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[tuple[str, str], ...], ...]
    numeric: tuple[bool, ...]
    n_left_out: int

    @classmethod
    def of(
        cls,
        caption: str,
        table: pa.Table,
        *,
        names: Mapping[str, str] | None = None,
        columns: Sequence[str] = (),
        most: int = _SHOWN_ROWS,
    ) -> RiskTable:
        """Make a table of an Arrow table; `names` are the headings of columns."""
        import pyarrow as pa

        chosen = list(columns) or table.column_names
        shown = table.select(chosen).slice(0, most)
        numeric = tuple(
            pa.types.is_integer(item.type) or pa.types.is_floating(item.type)
            for item in shown.schema
        )
        cells = [column.to_pylist() for column in shown.columns]
        rows = tuple(
            tuple(
                (
                    percent_text(cell) if name.endswith("share") else cell_text(cell),
                    repr(cell) if isinstance(cell, int | float) else "",
                )
                for name, cell in zip(chosen, row, strict=True)
            )
            for row in zip(*cells, strict=True)
        )
        header = tuple((names or {}).get(name, name.replace("_", " ")) for name in chosen)
        return cls(caption, header, rows, numeric, table.num_rows - shown.num_rows)


@dataclass(frozen=True, slots=True)
class RiskSection:
    """One part of a report: what it says in words, its picture and its tables."""

    name: str
    title: str
    sentences: Sequence[str] = ()
    figures: Sequence[tuple[Figure, str]] = ()
    tables: Sequence[RiskTable] = ()
    notices: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class RiskReport:
    """What a report has: the outcome in short, facts, sections, and how each was made.

    The sections of `opening` come before the facts, for those who read no further.
    """

    title: str
    lead: Sequence[str]
    facts: Sequence[tuple[str, str]]
    tiles: Sequence[tuple[str, str]]
    sections: Sequence[RiskSection]
    provenances: Sequence[Provenance]
    notices: Sequence[str] = ()
    words: Sequence[tuple[str, str]] = field(default_factory=tuple[tuple[str, str], ...])
    opening: Sequence[RiskSection] = ()
    kicker: str = "Risk assessment"
    footer: str = "This page describes people's records: keep it as safe as the data."
    question: str = (
        "Which records would an intruder re-identify, with what probability, at what cost, and what"
        " is to blame?"
    )


def build_risk_report(report: RiskReport) -> str:
    """Return the report as one HTML page."""
    script = files("gamekeeper.report").joinpath("templates", _SCRIPT).read_text(encoding="utf-8")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    drawn = {
        section.name: [
            (Markup(figure_svg(figure, name=f"{section.name}-{number}")), caption)  # noqa: S704
            for number, (figure, caption) in enumerate(section.figures)
        ]
        for section in (*report.opening, *report.sections)
    }
    return render(
        "risk.html.jinja",
        report=report,
        drawn=drawn,
        script=Markup(script),  # noqa: S704 - our own file
        script_hash=Markup(f"sha256-{digest}"),  # noqa: S704 - letters of base 64
        version=report.provenances[0].version,
    )


def write_risk_report(report: RiskReport, path: str | Path) -> Path:
    """Write the report to a file that ends in .html."""
    require_ending("report", path, PAGE_ENDINGS)
    return write_file(path, build_risk_report(report).encode(), private=True)


def facts_of(pairs: Iterable[tuple[str, object]]) -> list[tuple[str, str]]:
    """Return the facts that are known, each as a name and a text."""
    return [(name, str(value)) for name, value in pairs if value not in (None, "")]
