"""Every legend says where it stands: one left to its default warns, where the machine is slow."""

from __future__ import annotations

import ast
from pathlib import Path

import gamekeeper


def _legends(path: Path) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "legend"
    ]


def test_every_legend_says_where_it_stands() -> None:
    package = Path(gamekeeper.__file__).parent
    drawing = [path for path in package.rglob("*.py") if "legend(" in path.read_text("utf-8")]
    calls = [(path.name, call) for path in drawing for call in _legends(path)]
    assert len(calls) > 10
    silent = [
        f"{name}, line {call.lineno}"
        for name, call in calls
        if "loc" not in {keyword.arg for keyword in call.keywords}
    ]
    assert silent == []
