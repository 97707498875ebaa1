"""What reports are made of: pictures, small step plots, and the HTML page with its sections.

Nodes and arrows become SVG, which asks for the generic sans-serif font that every viewer has, or
PNG, which matplotlib draws with the font that comes with it: neither needs a font on the machine
that makes the picture.

Code size against prevalence has one scale for all variables of a report, so that their plots can be
compared. The number of categories has a linear axis, on which areas can be compared, or a
logarithmic one, on which small numbers can be read; arbitrary precision has a line of its own at
the top.

The report has a summary for a director and tables for an analyst. It is one file that needs nothing
else. One script of its own sorts tables when a heading is clicked; browsers are told by its hash to
run no other, and to load nothing.
"""

from __future__ import annotations

import io
import math
import re
import unicodedata
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from markupsafe import Markup

from gamekeeper.algorithms.categories.partitions import SizeCurve
from gamekeeper.algorithms.layout_layers import Point
from gamekeeper.arrow import pa
from gamekeeper.files import PAGE_ENDINGS, write_file
from gamekeeper.mapping.analysis.key_variables import KeyVariableMap, plot_curves
from gamekeeper.report.tables import palette, render, require_ending, save_picture
from gamekeeper.results import Provenance, drawable
from gamekeeper.wording import categories_text, cell_text, count_of, number_text, percent_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


FONT_SIZE = 11.0
SMALL_SIZE = 8.5
LINE_HEIGHT = 13.5
_TITLE_SIZE = 14.0
_MARGIN = 8.0
_LEGEND_GAP = 14.0
_LEGEND_STEP = 16.0
_MARK_WIDTH = 20.0
_MARK_ROOM = 28.0
_ARROW_WIDTH = 0.38
_MOST_PIXELS = 16_000
_NARROW = frozenset(" .,:;'|!()[]{}ijlftrI-/\\\"")
_BROAD = frozenset("mwMWOQGD@%&—…")


class Shape(StrEnum):
    """The outline of a node."""

    ELLIPSE = "ellipse"
    RECTANGLE = "rectangle"


@dataclass(frozen=True, slots=True)
class Node:
    """A node: its centre, its size and looks, its lines of text, and its tooltip."""

    x: float
    y: float
    width: float
    height: float
    shape: Shape
    fill: str
    line: str
    lines: tuple[str, ...]
    small: str = ""
    tooltip: str = ""
    line_width: float = 1.0
    is_dashed: bool = False
    corner: float = 0.0

    @property
    def first_baseline(self) -> float:
        """The height of the first line of text; the others follow at `LINE_HEIGHT`."""
        n_lines = len(self.lines) + bool(self.small)
        return round(self.y - LINE_HEIGHT * (n_lines - 1) / 2 + 0.36 * FONT_SIZE, 1)


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow: control points of cubic Bézier curves, and the three corners of its head."""

    controls: tuple[Point, ...]
    head: tuple[Point, Point, Point]

    @classmethod
    def along(cls, course: tuple[Point, ...]) -> Arrow:
        """Make an arrow from control points that are followed by the tip."""
        *_, (x, y), (tip_x, tip_y) = course
        aside_x, aside_y = _ARROW_WIDTH * (tip_y - y), _ARROW_WIDTH * (x - tip_x)
        left = (round(x + aside_x, 1), round(y + aside_y, 1))
        right = (round(x - aside_x, 1), round(y - aside_y, 1))
        return cls(course[:-1], (left, right, (tip_x, tip_y)))

    @property
    def path(self) -> str:
        """The line of the arrow as SVG path data."""
        first, *others = (f"{x:g},{y:g}" for x, y in self.controls)
        return f"M{first}C{' '.join(others)}"

    @property
    def corners(self) -> str:
        """The head of the arrow as the points of an SVG polygon."""
        return " ".join(f"{x:g},{y:g}" for x, y in self.head)


@dataclass(frozen=True, slots=True)
class Mark:
    """A line of a legend: the looks of some nodes, and what they mean."""

    shape: Shape
    fill: str
    line: str
    text: str
    line_width: float = 1.0


@dataclass(frozen=True, slots=True)
class Drawing:
    """A finished drawing; `width`, `height` and places are in points from the top left corner.

    Under the nodes and arrows the `legend` says what looks mean; `description` is for those who
    cannot see it.
    """

    width: float
    height: float
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]
    description: str
    title: str = ""
    legend: tuple[Mark, ...] = ()

    @property
    def size(self) -> tuple[float, float]:
        """The width and height with margins, title and legend, in points."""
        named = [_MARK_ROOM + text_width(mark.text, FONT_SIZE) for mark in self.legend]
        inner = max(self.width, text_width(self.title, _TITLE_SIZE), *named, 0.0)
        below = _LEGEND_GAP + _LEGEND_STEP * len(named) if named else 0.0
        height = self.height + self._top + below + _MARGIN
        return round(inner + 2 * _MARGIN, 1), round(height, 1)

    @property
    def _keys(self) -> list[tuple[Node, float, float]]:
        """The marks of the legend as small nodes, and where their texts start."""
        left = (self.width - self.size[0]) / 2 + _MARGIN
        keys: list[tuple[Node, float, float]] = []
        for number, mark in enumerate(self.legend):
            y = self.height + _LEGEND_GAP + _LEGEND_STEP * (number + 0.5)
            node = Node(
                x=round(left + _MARK_WIDTH / 2, 1),
                y=round(y, 1),
                width=_MARK_WIDTH,
                height=10.0,
                shape=mark.shape,
                fill=mark.fill,
                line=mark.line,
                lines=(),
                line_width=mark.line_width,
            )
            keys.append((node, round(left + _MARK_ROOM, 1), round(y + 0.36 * FONT_SIZE, 1)))
        return keys

    @property
    def _top(self) -> float:
        return _MARGIN + (30.0 if self.title else 0)

    def svg(self, *, inline: bool = False) -> str:
        """Return the drawing as an SVG document, or `inline` as an element of an HTML page."""
        width, height = self.size
        return render(
            "drawing.svg.jinja",
            drawing=self,
            keys=[
                (node, mark.text, x, y)
                for mark, (node, x, y) in zip(self.legend, self._keys, strict=True)
            ],
            inline=inline,
            width=width,
            height=height,
            left=round((width - self.width) / 2, 1),
            top=self._top,
            title_size=_TITLE_SIZE,
            font_size=FONT_SIZE,
            small_size=SMALL_SIZE,
            line_height=LINE_HEIGHT,
            palette=palette,
        )

    def png(self, *, scale: float = 2.0) -> bytes:
        """Return the drawing as a PNG picture of `scale` pixels per point.

        Very large drawings get fewer pixels. Letters outside the Latin, Greek, Cyrillic, Hebrew,
        Arabic, Armenian and Georgian scripts may be shown as replacement characters; SVG has them.
        """
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        width, height = self.size
        scale = min(scale, _MOST_PIXELS / max(width, height))
        figure = Figure(figsize=(width / 72, height / 72), dpi=72 * scale, facecolor="white")
        canvas = FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        left = (width - self.width) / 2
        axes.set_xlim(-left, width - left)
        axes.set_ylim(height - self._top, -self._top)
        self._paint(axes)
        picture = io.BytesIO()
        canvas.print_png(picture)
        return picture.getvalue()

    def save(self, path: str | Path) -> Path:
        """Write the drawing to a file that ends in .svg or .png."""
        return save_picture(path, svg=self.svg, png=self.png)

    def _paint(self, axes: Axes) -> None:
        from matplotlib.collections import PathCollection, PolyCollection
        from matplotlib.path import Path as Curve

        curves = [
            Curve(arrow.controls, [Curve.MOVETO, *[Curve.CURVE4] * (len(arrow.controls) - 1)])
            for arrow in self.arrows
        ]
        axes.add_collection(
            PathCollection(curves, facecolors="none", edgecolors=palette.EDGE, linewidths=0.9),
            autolim=False,
        )
        heads = [arrow.head for arrow in self.arrows]
        axes.add_collection(
            PolyCollection(heads, facecolors=palette.EDGE, linewidths=0), autolim=False
        )
        write = _Writer(axes)
        if self.title:
            write(self.title, self.width / 2, -12.0, _TITLE_SIZE, palette.INK)
        for mark, (node, x, y) in zip(self.legend, self._keys, strict=True):
            _paint_outline(axes, node)
            write(mark.text, x, y, FONT_SIZE, palette.INK, align="left")
        for node in self.nodes:
            _paint_outline(axes, node)
            height = node.first_baseline
            for text in node.lines:
                write(text, node.x, height, FONT_SIZE, palette.INK)
                height += LINE_HEIGHT
            write(node.small, node.x, height, SMALL_SIZE, palette.MUTED)


def _paint_outline(axes: Axes, node: Node) -> None:
    from matplotlib.patches import Ellipse, FancyBboxPatch

    if node.shape is Shape.ELLIPSE:
        outline = Ellipse((node.x, node.y), node.width, node.height)
    else:
        outline = FancyBboxPatch(
            (node.x - node.width / 2, node.y - node.height / 2),
            node.width,
            node.height,
            boxstyle=f"round,pad=0,rounding_size={node.corner}",
        )
    outline.set(
        facecolor=node.fill,
        edgecolor=node.line,
        linewidth=node.line_width,
        linestyle=(0, (3, 2)) if node.is_dashed else "solid",
    )
    axes.add_patch(outline)


class _Writer:
    """Writes text with matplotlib's own font."""

    def __init__(self, axes: Axes) -> None:
        import matplotlib as mpl
        from matplotlib.font_manager import FontProperties, get_font

        path = Path(mpl.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
        self._axes = axes
        self._font = FontProperties(fname=path)
        self._letters = get_font(path).get_charmap()

    def __call__(
        self,
        text: str,
        x: float,
        y: float,
        size: float,
        colour: str,
        align: Literal["center", "left"] = "center",
    ) -> None:
        shown = drawable(text, self._letters)
        self._axes.text(
            x, y, shown, size=size, color=colour, fontproperties=self._font, ha=align,
            va="baseline", parse_math=False, usetex=False,
        )  # fmt: skip


def text_width(text: str, size: float) -> float:
    """Return about how wide a text is, erring on the wide side for common fonts.

    >>> text_width("ill", 10) < text_width("MMM", 10)
    True
    """
    return size * sum(map(_letter_width, text))


def _letter_width(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.05
    if letter in _NARROW:
        return 0.4
    if letter in _BROAD:
        return 0.95
    return 0.72 if letter.isupper() else 0.64


_PROLOGUE = re.compile(r"^.*?(?=<svg)", re.DOTALL)
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)


def save_curves(key_variable_map: KeyVariableMap, path: str | Path) -> Path:
    """Plot code size against prevalence to a file that ends in .svg or .png."""
    figure = plot_curves(key_variable_map).get_figure(root=True)
    assert figure is not None
    return save_figure(figure, path)


def save_figure(figure: Figure, path: str | Path) -> Path:
    """Write a figure to a file that ends in .svg or .png."""
    return save_picture(
        path,
        svg=lambda: _drawn(figure, "svg").decode(),
        png=lambda: _drawn(figure, "png"),
    )


def figure_svg(figure: Figure, *, name: str) -> str:
    """Return a figure as an SVG element within a page; `name` sets its inner names apart from others."""
    text = _METADATA.sub("", _PROLOGUE.sub("", _drawn(figure, "svg", salt=name).decode()))
    return re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{name}-", text)


def _drawn(figure: Figure, kind: str, *, salt: str = "gamekeeper") -> bytes:
    import matplotlib as mpl

    picture = io.BytesIO()
    # Without these two, names inside the SVG and its date would differ each time.
    with mpl.rc_context({"svg.hashsalt": salt, "svg.fonttype": "path"}):
        figure.savefig(
            picture, format=kind, dpi=160, metadata={"Date": None} if kind == "svg" else None
        )
    return picture.getvalue()


_TICKS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000)
_MOST_TICKS = 6
_TICK_SPACE = 1.4


@dataclass(frozen=True, slots=True)
class StepPlot:
    """A curve as SVG path data, the area under it, its last point, and the prevalence asked for."""

    path: str
    area: str
    end: tuple[float, float]
    asked: float


@dataclass(frozen=True, slots=True)
class Frame:
    """The scale that plots share, in points; `largest` is the largest bounded number of categories.

    >>> frame = Frame.around([SizeCurve(4, (8, 2))], width=100, height=32)
    >>> frame.plot(SizeCurve(4, (8, 2)), Fraction(0)).path
    'M0,0H50V24'
    """

    width: float
    height: float
    largest: float
    is_unbounded: bool
    is_log: bool

    @classmethod
    def around(
        cls, curves: Iterable[SizeCurve], *, width: float, height: float, is_log: bool = False
    ) -> Frame:
        """Make a frame of so many points in which all the curves fit."""
        sizes = {size for curve in curves for size in curve.sizes}
        finite = [size for size in sizes if size != math.inf]
        return cls(width, height, max([*finite, 2]), math.inf in sizes, is_log)

    @property
    def _roof(self) -> float:
        """The height that the line of arbitrary precision takes from the plot."""
        return 0.2 * self.height if self.is_unbounded else 0.0

    def x(self, prevalence: Fraction | float) -> float:
        """Return how far to the right a prevalence is."""
        return round(float(prevalence) * self.width, 1)

    def y(self, size: float) -> float:
        """Return how far down a number of categories is."""
        if size == math.inf:
            return round(self._roof / 3, 1)
        share = math.log(size, self.largest) if self.is_log else size / self.largest
        return round(self.height - share * (self.height - self._roof), 1)

    def ticks(self) -> list[tuple[float, str]]:
        """Return heights and names for the axis, not too many."""
        fitting = [tick for tick in _TICKS if tick * _TICK_SPACE <= self.largest]
        every = math.ceil(len(fitting) / _MOST_TICKS)
        shown = [*fitting[::every], self.largest]
        named = [(self.y(tick), number_text(tick)) for tick in shown]
        return [*named, (self.y(math.inf), "any")] if self.is_unbounded else named

    def plot(self, curve: SizeCurve, asked: Fraction) -> StepPlot:
        """Return a curve that has at least one step as drawn in this frame."""
        steps = curve.steps
        path = f"M{self.x(0):g},{self.y(steps[0][2]):g}"
        for _, stop, _ in steps:
            # The very last point of a curve may lie lower than its last step.
            height = curve.at(stop)
            path += f"H{self.x(stop):g}V{self.y(height):g}"
        area = f"{path}V{self.height:g}H{self.x(0):g}Z"
        return StepPlot(path, area, (self.x(steps[-1][1]), self.y(curve.end)), self.x(asked))


def runs(curve: SizeCurve) -> list[tuple[int, int, float]]:
    """Return the runs (from, to, size) of thresholds that have the same number of categories.

    >>> runs(SizeCurve(9, (8, 8, 2)))
    [(1, 2, 8), (3, 3, 2)]
    """
    found: list[tuple[int, int, float]] = []
    for needed, size in enumerate(curve.sizes, start=1):
        first = found.pop()[0] if found and found[-1][2] == size else needed
        found.append((first, needed, size))
    return found


def curve_text(curve: SizeCurve) -> str:
    """Return a curve in words, for those who cannot see it.

    Where the very last point has a size of its own, that is said too.

    >>> curve_text(SizeCurve(4, (8, 2)))
    '8 categories up to a prevalence of 50%, 2 categories at exactly 50%, then none'
    """
    parts = [
        f"{categories_text(size)} up to a prevalence of {number_text(100 * stop)}%"
        for _, stop, size in curve.steps
    ]
    parts += [
        f"{categories_text(size)} at exactly {number_text(100 * last)}%"
        for last, _, size in curve.last_point
    ]
    left_out = len(parts) - _MOST_TICKS
    shown = ", ".join(parts[:_MOST_TICKS])
    if left_out > 0:
        return f"{shown}, and {count_of(left_out, 'more step')}"
    return f"{shown}, then none"


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
        most: int = 200,
    ) -> RiskTable:
        """Make a table of an Arrow table; `names` are the headings of columns."""
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
