"""What plots of results share: figures, colours that can be told apart in grey, letters of fonts."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, Literal

from gamekeeper.wording import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
