"""What of the package a function of it can run, as far as its text tells.

Followed are names, imports (also those within functions) and methods: a method counts as run where
its class is, and something that runs mentions an attribute of its name. So this finds more than can
really run; what is called only by a name that is made at run time is missed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "gamekeeper"

Place = tuple[str, str]
"""A module and a name in it: a function, a class, "Class.method", a constant; "" for the rest."""


@dataclass
class Piece:
    """What one place mentions, and the texts in it that are no docstrings."""

    names: set[Place] = field(default_factory=set[Place])
    attributes: set[str] = field(default_factory=set[str])
    texts: list[str] = field(default_factory=list[str])


@cache
def pieces() -> dict[Place, Piece]:
    """Return every place of the package."""
    trees = {_module(path): ast.parse(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")}
    found: dict[Place, Piece] = {}
    for module, tree in trees.items():
        bodies = dict(_bodies(tree))
        known = {name: (module, name) for name in bodies if name} | _imported(tree, set(trees))
        found |= {(module, name): _piece(body, known) for name, body in bodies.items()}
    return found


def reached(start: Place) -> set[Place]:
    """Return the places that one can run, with itself."""
    every, methods = pieces(), _methods()
    found: set[Place] = set()
    attributes: set[str] = set()
    # The methods of classes that were met, by name, until something mentions them.
    unused: dict[str, list[Place]] = {}
    waiting = [start]
    while waiting:
        place = waiting.pop()
        if place in found or place not in every:
            continue
        found.add(place)
        waiting += [*every[place].names, (place[0], "")]
        for name in every[place].attributes - attributes:
            attributes.add(name)
            waiting += unused.pop(name, [])
        for name, method in methods.get(place, {}).items():
            if name in attributes or name.startswith("__"):
                waiting.append(method)
            else:
                unused.setdefault(name, []).append(method)
    return found


@cache
def _methods() -> dict[Place, dict[str, Place]]:
    """Return the methods of every class."""
    found: dict[Place, dict[str, Place]] = {}
    for module, name in pieces():
        owner, dot, method = name.partition(".")
        if dot:
            found.setdefault((module, owner), {})[method] = (module, name)
    return found


def _module(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(tree: ast.Module, modules: set[str]) -> dict[str, Place]:
    return {
        item.asname or item.name: (whole, "") if whole in modules else (node.module, item.name)
        for node in _statements(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for item in node.names
        for whole in [f"{node.module}.{item.name}"]
    }


def _bodies(tree: ast.Module) -> Iterator[tuple[str, Sequence[ast.AST]]]:
    rest: list[ast.AST] = []
    for node in tree.body:
        match node:
            case ast.FunctionDef():
                yield node.name, [node]
            case ast.ClassDef():
                methods = [item for item in node.body if isinstance(item, ast.FunctionDef)]
                yield from ((f"{node.name}.{item.name}", [item]) for item in methods)
                others = [item for item in node.body if item not in methods]
                said = [part for item in others for part in _saying(item)]
                yield node.name, [*node.bases, *node.decorator_list, *said]
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, [value]
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, [value]
            case _:
                rest.append(node)
    yield "", rest


def _saying(item: ast.stmt) -> Iterator[ast.AST]:
    """Yield what of a class can say something: the help of an option is said by its command alone."""
    if isinstance(item, ast.AnnAssign) and isinstance(item.value, ast.Call):
        yield from (n for n in ast.walk(item.value) if isinstance(n, ast.Name | ast.Attribute))
    else:
        yield item


def _piece(body: Iterable[ast.AST], known: dict[str, Place]) -> Piece:
    piece = Piece()
    for node in (inner for outer in body for inner in _running(outer)):
        match node:
            case ast.Name(id=name) if name in known:
                piece.names.add(known[name])
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if (
                name in known and not known[name][1]
            ):
                piece.names.add((known[name][0], attribute))
            case ast.Attribute(attr=attribute):
                piece.attributes.add(attribute)
            case ast.JoinedStr(values=values):
                parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in values]
                piece.texts.append("".join(map(str, parts)))
            case ast.Constant(value=str() as text):
                piece.texts.append(text)
            case _:
                pass
    return piece


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """Walk over what runs: no annotations, no docstrings; a text with values in it comes once."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        yield node
        is_text = isinstance(node, ast.JoinedStr)
        for name in node._fields:
            if name in ("annotation", "returns"):
                continue
            value = getattr(node, name, None)
            waiting += [
                child
                for child in (value if isinstance(value, list) else (value,))
                if isinstance(child, ast.AST) and not (is_text and isinstance(child, ast.Constant))
            ]


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Walk over statements, which alone can import."""
    yield node
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        inner = getattr(node, name, ())
        for child in inner if isinstance(inner, list) else ():
            yield from _statements(child)
