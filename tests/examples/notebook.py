"""Notebooks of the documentation: their cells are run in order, in this process and one empty folder.

``python -m tests.examples.notebook FILE...`` writes into notebooks what their cells show now.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import sys
import tempfile
from pathlib import Path
from typing import Any


def shown(value: object) -> dict[str, Any]:
    """Return what a notebook shows of a value: HTML or a picture where there is one, and text."""
    if hasattr(value, "savefig"):
        picture = io.BytesIO()
        value.savefig(picture, format="png", dpi=60)
        drawn = base64.b64encode(picture.getvalue()).decode()
        return {"image/png": drawn, "text/plain": f"<{type(value).__name__}>"}
    made = {"text/plain": repr(value)}
    return made | ({"text/html": value._repr_html_()} if hasattr(value, "_repr_html_") else {})


def run_cells(notebook: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Return the outputs of each cell with code."""
    scope: dict[str, Any] = {}
    outputs: list[list[dict[str, Any]]] = []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for number, cell in enumerate(notebook["cells"]):
            if cell["cell_type"] != "code":
                continue
            code = ast.parse("".join(cell["source"]), f"cell {number}")
            last = code.body.pop() if isinstance(code.body[-1], ast.Expr) else None
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(code, f"cell {number}", "exec"), scope)
                tail = ast.Expression(last.value) if isinstance(last, ast.Expr) else None
                value = eval(compile(tail, f"cell {number}", "eval"), scope) if tail else None
            told = printed.getvalue()
            made: list[dict[str, Any]] = []
            if told:
                lines = told.splitlines(keepends=True)
                made.append({"output_type": "stream", "name": "stdout", "text": lines})
            if value is not None:
                made.append(
                    {
                        "output_type": "execute_result",
                        "execution_count": len(outputs) + 1,
                        "metadata": {},
                        "data": shown(value),
                    }
                )
            outputs.append(made)
    return outputs


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        content = json.loads(path.read_text(encoding="utf-8"))
        with_code = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
        for count, (cell, made) in enumerate(zip(with_code, run_cells(content), strict=True), 1):
            cell["outputs"], cell["execution_count"] = made, count
        path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
