"""A picture of nodes and arrows, as SVG or PNG.

SVG asks for the generic sans-serif font, which every viewer has. PNG is drawn by matplotlib with
the font that comes with it. So neither needs a font on the machine that makes the picture.
"""

from __future__ import annotations

import io
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from gamekeeper.algorithms.layout.layered import Point
from gamekeeper.report.drawings import palette
from gamekeeper.report.rendering import render
from gamekeeper.report.saving import save_picture
from gamekeeper.results.plotting import drawable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FONT_SIZE = 11.0
SMALL_SIZE = 8.5
LINE_HEIGHT = 13.5

_TITLE_SIZE = 14.0
_TITLE_ROOM = 30.0
_MARGIN = 8.0
_LEGEND_GAP = 14.0
_LEGEND_STEP = 16.0
_MARK_WIDTH = 20.0
_MARK_HEIGHT = 10.0
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
    """A finished drawing.

    Attributes
    ----------
    width, height
        Of the part with nodes and arrows, in points.
    nodes, arrows
        What is drawn, in points from the top left corner.
    description
        The drawing in one sentence, for those who cannot see it.
    title
        A heading above the drawing.
    legend
        What the looks of the nodes mean, under the drawing.
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
                height=_MARK_HEIGHT,
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
        return _MARGIN + (_TITLE_ROOM if self.title else 0)

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

    Examples
    --------
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
