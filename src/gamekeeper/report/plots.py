"""The curves of an analysis as a picture file."""

from __future__ import annotations

import io
from pathlib import Path

from gamekeeper.mapping.key_variables import KeyVariableMap
from gamekeeper.mapping.plots import plot_curves
from gamekeeper.report.saving import save_picture

__all__ = ["save_curves"]


def save_curves(key_variable_map: KeyVariableMap, path: str | Path, *, most: int = 8) -> Path:
    """Plot code size against prevalence to a file that ends in .svg or .png."""
    return save_picture(
        path,
        svg=lambda: _drawn(key_variable_map, most, "svg").decode(),
        png=lambda: _drawn(key_variable_map, most, "png"),
    )


def _drawn(key_variable_map: KeyVariableMap, most: int, kind: str) -> bytes:
    import matplotlib as mpl

    figure = plot_curves(key_variable_map, most=most).get_figure(root=True)
    assert figure is not None
    picture = io.BytesIO()
    # Without these two, names inside the SVG and its date would differ each time.
    with mpl.rc_context({"svg.hashsalt": "gamekeeper", "svg.fonttype": "path"}):
        figure.savefig(
            picture, format=kind, dpi=160, metadata={"Date": None} if kind == "svg" else None
        )
    return picture.getvalue()
