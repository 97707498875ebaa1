"""What every result shares: its manners, its document for programs, lists by pages, HTML and plots.

A result is a frozen dataclass that makes one Arrow table of itself and carries its provenance. Its
`repr` shows headline numbers, never records. Arrow, pandas and matplotlib are imported only when
asked for.

A document is a result as plain values: the command line prints it, and the server sends it. `SCHEMA`
names its version. A later version may add keys and parts under the same name; one that takes
something away, or gives it another meaning, gets another name.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import cache
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from gamekeeper.arrow import pa
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import cell_text, count_of, did_you_mean, quoted, short

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def table_html(
    header: Sequence[str], rows: Iterable[Sequence[object]], *, caption: str = ""
) -> str:
    """Return one HTML table with every cell escaped; texts to the left, numbers to the right.

    >>> table_html(["a"], [[12345]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>12,345</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{escape(str(name))}</th>" for name in header)
    body = "".join("<tr>" + "".join(_cell(cell) for cell in row) + "</tr>" for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(cell: object) -> str:
    # Notebooks put all cells to the right and cut no line, which is for numbers.
    side = ' style="text-align: left; white-space: normal"' if isinstance(cell, str) else ""
    return f"<td{side}>{escape(cell_text(cell))}</td>"


COLOURS = (
    "#1f5f99", "#d1690e", "#2a8a57", "#b03a5b", "#6b4fa0", "#7a6a2c", "#2f93aa", "#4d5560",
)  # fmt: skip
MUTED = "#5b6875"
GRID = "#dde3e9"


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches; it needs no display."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def ruled(ax: Axes, axis: Literal["both", "x", "y"] = "both") -> Axes:
    """Give axes a grid below what is drawn, and no frame above and to the right."""
    ax.grid(color=GRID, linewidth=0.8, axis=axis)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def name_bars(ax: Axes, names: Sequence[str], n_letters: int) -> None:
    """Name horizontal bars from the top down, by letters that can be drawn, at most so many."""
    letters = drawable_letters()
    ax.set_yticks(range(len(names)), [drawable(short(name, n_letters), letters) for name in names])
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
    ax.invert_yaxis()


def drawable(text: str, letters: Container[int]) -> str:
    """Return a text with a replacement character for each letter that cannot be drawn."""
    return "".join(
        letter if ord(letter) in letters else "\N{REPLACEMENT CHARACTER}" for letter in text
    )


def drawable_letters() -> Container[int]:
    """Return the letters of the fonts that matplotlib draws with; it warns of any other."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font

    general = {
        "sans-serif": rcParams["font.sans-serif"],
        "serif": rcParams["font.serif"],
        "monospace": rcParams["font.monospace"],
        "cursive": rcParams["font.cursive"],
        "fantasy": rcParams["font.fantasy"],
    }
    installed = set(fontManager.get_font_names())
    wanted = [name for family in rcParams["font.family"] for name in general.get(family, [family])]
    found = [FontProperties(family=name) for name in wanted if name in installed]
    return {
        letter
        for font in found or [FontProperties()]
        for letter in get_font(findfont(font)).get_charmap()
    }


Progress = Callable[[int, int | None], None]
"""Called by long work with what is done and, where known, the whole; it may raise `Cancelled`."""


@cache
def package_version() -> str:
    """Return the version of the installed package."""
    # Imported here: it brings the whole of e-mail along.
    from importlib.metadata import version

    return version("gamekeeper")


@dataclass(frozen=True, slots=True)
class Provenance:
    """How a result came about, so that it can be repeated."""

    method: str
    variant: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])
    seed: int | None = None
    fingerprint: str = ""
    engine: str = "python"
    version: str = field(default_factory=package_version)
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the provenance as plain values."""
        return {**asdict(self), "parameters": dict(self.parameters)}


class Result(ABC):
    """What a reader may ask of any result."""

    provenance: Provenance
    why_no_plot: ClassVar[str] = "it is a list to be read"
    tells_of_records: ClassVar[bool] = True
    """Whether its rows are single records, cells or categories, and not figures of the whole."""

    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """Return the headline numbers as plain values."""

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """Return the result as one Arrow table."""

    def to_frame(self) -> pd.DataFrame:
        """Return the result as a pandas data frame, where pandas is installed."""
        try:
            return self.to_arrow().to_pandas()
        except ModuleNotFoundError as error:
            raise InputError(
                Reason.MISSING_PACKAGE,
                "A pandas data frame was asked for.",
                "The package pandas is not installed.",
                "Install 'gamekeeper[frames]', or use to_arrow().",
            ) from error

    def plot(self) -> Any:
        """Return a figure of the result; one that has nothing to draw says why."""
        raise InputError(
            Reason.BAD_OPTION,
            f"A plot of {type(self).__name__} was asked for.",
            f"There is nothing to draw: {self.why_no_plot}.",
            "Take its table (to_frame() or to_arrow()).",
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the table to any library that reads Arrow streams (DuckDB, Polars, pandas)."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.summary().items())
        return f"{type(self).__name__}({shown})"

    def _repr_html_(self) -> str:
        table = self.to_arrow()
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        return table_html(table.column_names, rows, caption=type(self).__name__)


SCHEMA = "urn:gamekeeper:result:1"
"""The version of the documents that are printed for programs."""

_TEXTS = {"type": "array", "items": {"type": "string"}}
_ROWS = {
    "type": "array",
    "description": "One object per line, the same keys in each.",
    "items": {"type": "object"},
}
_PART = {
    "type": "object",
    "description": "A result of its own: its words and its lines.",
    "properties": {"summary": {"type": "object"}, "sentences": _TEXTS, "rows": _ROWS},
    "required": ["rows"],
    "additionalProperties": False,
}
_KINDS: dict[str, dict[str, Any]] = {
    "": {"$ref": "#/$defs/part"},
    "object": {"type": "object"},
    "objects": {"type": "array", "items": {"type": "object"}},
    "list": {"type": "array"},
    "texts": {"type": "object", "additionalProperties": _TEXTS},
}
# By the name of the result, the names of its parts. One without a kind is a result of its own.
_PARTS = {
    "KeyTable": "file:object sizes larger_sizes:object anonymity what_if",
    "Assessment": (
        "verdict:object policy:object chances:object classes anonymity guidance relative_risks "
        "variables categories sizes uniques models matching why explanations:texts what_if"
    ),
    "KeyVariableMap": "evidence composite_keys",
    "RiskMeasures": "unsafe what_if",
    "DisRisk": "what_if",
    "UniquesRisk": "file variables categories sizes why explanations:texts what_if",
    "SpecialUniques": "properties what_if",
    "MatchingRisk": "what_if",
    "ModelFit": "what_if",
    "ModelRisk": "variables categories attacks answers what_if",
    "Comparison": "attacks what_if",
    "SimulationResult": "what_if",
    "FeasibleTables": "tables:list",
    "SubtractionAttack": "where numbers_of_zeros:list",
    "FileLinks": "variables weights margins calibration carried",
    "StructureLinks": "clusterings",
    "FileLook": "values",
    "Plan": "candidates:objects targets_before:objects before",
    "RiskUtilityMap": "candidates:objects",
    "ReleasedFile": "targets:objects changes utility recipe:object",
    "ReleaseAudit": "targets:objects masked utility",
    "EnvironmentCheck": "faults",
}


def _kinds_of(parts: str) -> dict[str, dict[str, Any]]:
    named = (part.partition(":") for part in parts.split())
    return {name: _KINDS[kind] for name, _, kind in named}


PARTS = {name: _kinds_of(parts) for name, parts in _PARTS.items()}
"""What a document has besides the lines of its result, by the name of the result."""


def document_schema() -> dict[str, Any]:
    """Return the JSON Schema of what commands print for programs.

    >>> document_schema()["properties"]["schema"]
    {'const': 'urn:gamekeeper:result:1'}
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA,
        "title": "What a command prints with --format json, version 1",
        "description": "Whatever a command prints for people is in this document as well. Shares"
        " are between 0 and 1; a number without bound is the text 'unbounded', one that is not"
        " known is null.",
        "type": "object",
        "properties": {
            "schema": {"const": SCHEMA},
            "result": {"type": "string", "description": "The type of the result in Python."},
            "summary": {"type": "object", "description": "Headline numbers."},
            "sentences": {**_TEXTS, "description": "What was found, in words."},
            "notices": {**_TEXTS, "description": "What to know before it is believed."},
            "rows": _ROWS,
            "parts": {"type": "object", "description": "What is printed besides, by name."},
            "provenance": {
                "type": "object",
                "description": "How the result came about, so that it can be repeated.",
                "required": ["method", "parameters", "seed", "fingerprint", "version"],
            },
        },
        "required": [
            "schema", "result", "summary", "sentences", "notices", "rows", "parts", "provenance",
        ],
        "additionalProperties": False,
        "$defs": {"part": _PART},
        "allOf": [
            {
                "if": {"properties": {"result": {"const": name}}},
                "then": {
                    "properties": {"parts": {"properties": parts, "additionalProperties": False}}
                },
            }
            for name, parts in PARTS.items()
        ],
    }  # fmt: skip


Cell = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Page:
    """Which part of a list is wanted, and in which order.

    - `sort`: the column to sort by; as it comes if empty.
    - `number`: the page, from 1.
    - `size`: lines to a page; None for everything on one.
    """

    sort: str = ""
    descending: bool = False
    number: int = 1
    size: int | None = None


EVERYTHING = Page()
"""All lines, as they come."""


@dataclass(frozen=True, repr=False)
class Listing(Result):
    """One page of a list; `total` counts the lines of all pages."""

    what: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    total: int
    first: int
    number: int
    n_pages: int
    provenance: Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {
            "list": self.what,
            "total": self.total,
            "from": min(self.first + 1, self.total),
            "to": self.first + len(self.rows),
            "page": self.number,
            "pages": self.n_pages,
        }

    def to_arrow(self) -> pa.Table:
        """Return the lines of the page; a column with values of several types has texts."""
        kinds = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}
        made = [pa.array(cells, kinds[kind]) for kind, cells in self._typed()]
        return pa.Table.from_arrays(made, names=list(self.columns))

    def lines(self) -> list[tuple[Cell, ...]]:
        """Return the lines as the Arrow table has them, without waiting for Arrow."""
        return list(zip(*(cells for _, cells in self._typed()), strict=True))

    def _typed(self) -> list[tuple[type, list[Cell]]]:
        return [_typed([row[number] for row in self.rows]) for number in range(len(self.columns))]


def _typed(cells: list[Cell]) -> tuple[type, list[Cell]]:
    given = [cell for cell in cells if cell is not None]
    if given and all(type(cell) is bool for cell in given):
        return bool, cells
    if given and all(type(cell) is int and abs(cell) < 2**63 for cell in given):
        return int, cells
    if given and all(type(cell) in (int, float) for cell in given):
        return float, [None if cell is None else float(cell) for cell in cells]
    return str, [None if cell is None else str(cell) for cell in cells]


def make_listing(
    what: str, columns: Sequence[str], rows: Iterable[tuple[Cell, ...]], page: Page
) -> Listing:
    """Sort lines and take a page of them.

    Numbers come before texts, and lines without a value last. An empty list has one page. A page or
    column that is not there is an `InputError`.

    >>> lines = [("b", 10), ("a", 9), ("c", None)]
    >>> make_listing("forms", ["form", "year"], lines, Page(sort="year", size=2)).rows
    (('a', 9), ('b', 10))
    """
    lines = list(rows)
    if page.number < 1 or (page.size is not None and page.size < 1):
        raise InputError(
            Reason.BAD_OPTION,
            f"Page {page.number} of {what} was asked for.",
            "Pages and their sizes are counted from 1.",
            "Give positive whole numbers.",
        )
    if page.sort:
        _sort(what, columns, lines, page)
    size = page.size or max(len(lines), 1)
    n_pages = math.ceil(len(lines) / size)
    if page.number > max(n_pages, 1):
        there = count_of(max(n_pages, 1), "page")
        raise InputError(
            Reason.BAD_OPTION,
            f"Page {page.number:,} of {what} was asked for.",
            f"There {'is' if n_pages < 2 else 'are'} {there}.",
            "Give a page from 1 to the last." if n_pages > 1 else "Leave the page out.",
        )
    first = (page.number - 1) * size
    shown = tuple(lines[first : first + size])
    provenance = Provenance(
        f"list of {what}",
        parameters={"sort": page.sort, "page": str(page.number), "size": str(page.size or "all")},
        fingerprint=sha256(repr((tuple(columns), shown)).encode("utf-8", "replace")).hexdigest()[
            :16
        ],
    )
    return Listing(what, tuple(columns), shown, len(lines), first, page.number, n_pages, provenance)


def _sort(what: str, columns: Sequence[str], lines: list[tuple[Cell, ...]], page: Page) -> None:
    wanted = page.sort.casefold()
    numbers = [n for n, name in enumerate(columns) if name.casefold() == wanted]
    if not numbers:
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"The {what} were to be sorted by {quoted([page.sort])}.",
            "There is no such column.",
            did_you_mean(page.sort, columns),
        )
    given = [line for line in lines if line[numbers[0]] is not None]
    empty = [line for line in lines if line[numbers[0]] is None]
    given.sort(key=lambda line: _order(line[numbers[0]]), reverse=page.descending)
    lines[:] = given + empty


def _order(cell: Cell) -> tuple[bool, float, str]:
    if isinstance(cell, str):
        return True, 0.0, cell.casefold()
    return False, float(cell or 0), ""


# Parts that are plain values and no records: names and settings, numbers by size, by policy.
_OF_THE_WHOLE = frozenset(
    {
        "anonymity", "attacks", "chances", "classes", "clusterings", "file", "guidance",
        "larger_sizes", "numbers_of_zeros", "policy", "sizes", "unsafe", "variables", "verdict",
        "what_if",
    }
)  # fmt: skip
_BATCH = 10_000


def document_of(
    result: Result,
    *,
    sentences: Sequence[str] = (),
    notices: Sequence[str] = (),
    parts: Mapping[str, Any] | None = None,
    with_records: bool = True,
) -> dict[str, Any]:
    """Return what programs read of a result; its rows come one at a time.

    - `parts`: what is told besides the result, by name: results, Arrow tables or plain values;
      those that are None are left out.
    - `with_records`: whether single records, cells and categories are told.
    """
    is_silent = not with_records
    names, lines = ((), ()) if is_silent and result.tells_of_records else lines_of(result)
    return {
        "schema": SCHEMA,
        "result": type(result).__name__,
        "summary": plain_row(result.summary()),
        "sentences": list(sentences),
        "notices": list(notices),
        # As plain values, long tables take many times the memory of their columns.
        "rows": (plain_row(dict(zip(names, line, strict=True))) for line in lines),
        "parts": {
            name: part_of(part)
            for name, part in (parts or {}).items()
            if part is not None and not (is_silent and is_of_records(name, part))
        },
        "provenance": plain_row(result.provenance.to_dict()),
    }


def is_of_records(name: str, part: Any) -> bool:
    """Tell whether a part tells of single records, cells or categories."""
    if name in _OF_THE_WHOLE:
        return False
    return not isinstance(part, Result) or part.tells_of_records


def lines_of(result: Result) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
    """Return the columns and the lines of a result."""
    if isinstance(result, Listing):
        # Arrow takes longer to import than most lists to print.
        return result.columns, result.lines()
    table = result.to_arrow()
    return table.column_names, _arrow_lines(table)


def _arrow_lines(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    for batch in table.to_batches(_BATCH):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def part_of(part: Any) -> Any:
    """Return a part of what is printed as plain values: words and rows of a result or a table."""
    if isinstance(part, Result):
        words: Any = getattr(part, "sentences", list)
        names, lines = lines_of(part)
        rows = [plain_row(dict(zip(names, line, strict=True))) for line in lines]
        return {"summary": plain_row(part.summary()), "sentences": list(words()), "rows": rows}
    if hasattr(part, "to_pylist"):
        return {"rows": [plain_row(row) for row in part.to_pylist()]}
    return plain_value(part)


def plain_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row as plain values."""
    return {name: plain_value(value) for name, value in row.items()}


def plain_value(value: Any) -> Any:
    """JSON and CSV have no infinity, so it is a word; whole numbers are written as such."""
    if isinstance(value, Mapping):
        return {str(name): plain_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    if not isinstance(value, float):
        return value
    if math.isnan(value):
        return None
    if math.isinf(value):
        return "unbounded"
    return int(value) if value.is_integer() else value


class Audience(StrEnum):
    """The data holder's own people, or anybody."""

    INTERNAL = "internal"
    EXTERNAL = "external"


def for_outsiders(provenance: Provenance) -> Provenance:
    """Return a provenance without parameters, seed and fingerprint."""
    return replace(
        provenance, variant="", parameters={}, seed=None, fingerprint="", version=package_version(),
        seconds=0.0,
    )  # fmt: skip
