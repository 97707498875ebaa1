"""Figures of matplotlib as picture files, and as SVG within a page."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

from gamekeeper.mapping.analysis.key_variables import KeyVariableMap
from gamekeeper.mapping.analysis.prevalence_plot import plot_curves
from gamekeeper.report.saving import save_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    """Return a figure as one SVG element to stand within a page.

    `name` sets its inner names apart from those of other figures on the same page.
    """
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
