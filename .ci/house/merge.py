#!/usr/bin/env python3.13
"""Merge modules by a table, without touching logic: python3.13 merge.py TABLE ROOT [--dry]

For the one big step to one idea a file; it goes when that is done. After it: `after.py` in the root
(what a script cannot know), `contracts.py`, the formatter, `verify.py` (every function stands again),
`layers.py` (which room leans on which). Needs networkx.

TABLE, one line a new module (names without `gamekeeper.`):

    new.module = old.one old.two ... | This file is about ...
    package new.pkg | Docstring of its __init__
    rename old.module._name _new_name          (a private or public name, everywhere)

Modules not named stay where they are. Works on src, tests, benchmarks, docs, stubs, pyproject.
"""

from __future__ import annotations

import ast
import collections
import json
import os
import re
import sys
from pathlib import Path

TOP = "gamekeeper"


# ---------------------------------------------------------------- reading


class Module:
    def __init__(self, name: str, path: Path):
        self.name, self.path = name, path
        self.text = path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)
        self.is_package = path.name == "__init__.py"


def read_modules(src: Path) -> dict[str, Module]:
    found = {}
    for path in sorted((src / TOP).rglob("*.py")):
        name = ".".join(path.relative_to(src).with_suffix("").parts)
        name = name.removesuffix(".__init__")
        found[name] = Module(name, path)
    return found


def read_table(path: Path):
    merges: dict[str, tuple[list[str], str]] = {}
    packages: dict[str, str] = {}
    renames: dict[str, dict[str, str]] = collections.defaultdict(dict)
    for line in path.read_text(encoding="utf-8").splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("package "):
            name, _, doc = line.removeprefix("package ").partition("|")
            packages[full(name.strip())] = doc.strip()
            continue
        if line.startswith("rename "):
            _, old, new = line.split()
            module, _, name = full(old).rpartition(".")
            renames[module][name] = new
            continue
        left, _, right = line.partition("=")
        olds, _, doc = right.partition("|")
        new = full(left.strip())
        if new in merges:
            raise SystemExit(f"{new} stands twice in the table")
        merges[new] = ([full(o) for o in olds.split()], doc.strip())
    return merges, packages, renames


def full(name: str) -> str:
    return name if name == TOP or name.startswith(TOP + ".") else f"{TOP}.{name}"


# ---------------------------------------------------------------- scopes

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def bound_names(scope: ast.AST) -> set[str]:
    """Names bound directly in a function or class scope."""
    names: set[str] = set()
    declared: set[str] = set()

    def targets(node):
        for sub in ast.walk(node):
            if isinstance(sub, ast.Name) and isinstance(sub.ctx, (ast.Store, ast.Del)):
                names.add(sub.id)

    def visit(node):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
            return
        if isinstance(node, ast.Lambda):
            return
        if isinstance(node, COMPREHENSIONS):
            # Only walrus targets leak out.
            for sub in ast.walk(node):
                if isinstance(sub, ast.NamedExpr):
                    names.add(sub.target.id)
            return
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            declared.update(node.names)
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            names.add(node.id)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for a in node.names:
                names.add(a.asname or a.name.split(".")[0])
        if isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        if isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
            names.add(node.name)
        if isinstance(node, ast.MatchMapping) and node.rest:
            names.add(node.rest)
        for child in ast.iter_child_nodes(node):
            visit(child)

    if isinstance(scope, FUNCTIONS):
        a = scope.args
        for arg in [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]:
            if arg is not None:
                names.add(arg.arg)
        body = [scope.body] if isinstance(scope, ast.Lambda) else scope.body
    elif isinstance(scope, COMPREHENSIONS):
        for g in scope.generators:
            targets(g.target)
        return names
    else:
        body = scope.body
    for node in body:
        visit(node)
    for p in getattr(scope, "type_params", []):
        names.add(p.name)
    return names - declared


def global_uses(tree: ast.Module):
    """Yield (node, name, kind) for every use or definition of a module-level name.

    kind: "name" (ast.Name), "def" (def/class statement at module level), "global" statement.
    """

    def walk(node, stack):
        # stack: list of sets of names bound in enclosing function/class scopes that are visible
        if isinstance(node, ast.Name):
            if not any(node.id in s for s in stack):
                yield node, node.id, "name"
            return
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if not any(node.name in s for s in stack):
                yield node, node.name, "def"
            for d in node.decorator_list:
                yield from walk(d, stack)
            a = node.args
            for d in [*a.defaults, *[k for k in a.kw_defaults if k is not None]]:
                yield from walk(d, stack)
            for arg in [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]:
                if arg is not None and arg.annotation is not None:
                    yield from walk(arg.annotation, stack)
            if node.returns is not None:
                yield from walk(node.returns, stack)
            inner = [*[s for s in stack if not isinstance(s, ClassScope)], bound_names(node)]
            for child in node.body:
                yield from walk(child, inner)
            return
        if isinstance(node, ast.Lambda):
            a = node.args
            for d in [*a.defaults, *[k for k in a.kw_defaults if k is not None]]:
                yield from walk(d, stack)
            inner = [*[s for s in stack if not isinstance(s, ClassScope)], bound_names(node)]
            yield from walk(node.body, inner)
            return
        if isinstance(node, ast.ClassDef):
            if not any(node.name in s for s in stack):
                yield node, node.name, "def"
            for d in [*node.decorator_list, *node.bases, *[k.value for k in node.keywords]]:
                yield from walk(d, stack)
            own = ClassScope(bound_names(node))
            # A class body reads a global of a name that it binds itself only before binding it;
            # annotated fields count as bound.
            inner = [*[s for s in stack if not isinstance(s, ClassScope)], own]
            for child in node.body:
                yield from walk(child, inner)
            return
        if isinstance(node, COMPREHENSIONS):
            own = bound_names(node)
            first = True
            for g in node.generators:
                yield from walk(g.iter, stack if first else [*stack, own])
                first = False
                for i in g.ifs:
                    yield from walk(i, [*stack, own])
            parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            for part in parts:
                yield from walk(part, [*stack, own])
            return
        if isinstance(node, ast.Global):
            for name in node.names:
                yield node, name, "global"
            return
        for child in ast.iter_child_nodes(node):
            yield from walk(child, stack)

    for node in tree.body:
        yield from walk(node, [])


class ClassScope(set):
    pass


# ---------------------------------------------------------------- text edits


class Text:
    """A source text with edits by ast positions (utf-8 columns)."""

    def __init__(self, text: str):
        self.data = text.encode("utf-8")
        self.starts = [0]
        for line in self.data.split(b"\n"):
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.edits: list[tuple[int, int, bytes]] = []

    def at(self, line: int, col: int) -> int:
        return self.starts[line - 1] + col

    def span(self, node) -> tuple[int, int]:
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)

    def replace(self, start: int, end: int, new: str) -> None:
        self.edits.append((start, end, new.encode("utf-8")))

    def result(self) -> str:
        out, last = [], 0
        done: set[tuple[int, int]] = set()
        for start, end, new in sorted(self.edits, key=lambda e: (e[0], -e[1])):
            if (start, end) in done:
                continue
            if start < last:
                continue  # inside something that was replaced as a whole
            out += [self.data[last:start], new]
            last = end
            done.add((start, end))
        out.append(self.data[last:])
        return b"".join(out).decode("utf-8")


def rename_globals(text: Text, tree: ast.Module, names: dict[str, str], where: str, warn) -> None:
    if not names:
        return
    for node, name, kind in global_uses(tree):
        if name not in names:
            continue
        if kind == "name":
            s, e = text.span(node)
            text.replace(s, e, names[name])
        elif kind == "def":
            start = text.at(node.lineno, node.col_offset)
            chunk = text.data[start:]
            # decorators come before node.lineno in 3.8+: lineno is that of def
            m = re.match(rb"(async\s+def|def|class)\s+" + name.encode() + rb"\b", chunk)
            if not m:
                warn(f"{where}: definition of {name} not found at line {node.lineno}")
                continue
            text.replace(start + m.end() - len(name.encode()), start + m.end(), names[name])
        else:
            s, e = text.span(node)
            new = ", ".join(names.get(n, n) for n in node.names)
            text.replace(s, e, f"global {new}")
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 300:
            for old in names:
                if re.search(rf"(?<![\w.]){re.escape(old)}\b", node.value) and old.lstrip("_") != "":
                    warn(f"{where}:{node.lineno}: '{old}' is renamed and stands in a string: {node.value[:60]!r}")


# ---------------------------------------------------------------- the job


class Job:
    def __init__(self, table: Path, root: Path):
        self.root = root
        self.src = root / "src"
        self.modules = read_modules(self.src)
        self.merges, self.packages, self.renames = read_table(table)
        self.warnings: list[str] = []
        self.place: dict[str, str] = {}
        for new, (olds, _) in self.merges.items():
            for old in olds:
                if old not in self.modules:
                    raise SystemExit(f"{new}: there is no module {old}")
                if old in self.place:
                    raise SystemExit(f"{old} stands twice in the table")
                self.place[old] = new
        for name in self.modules:
            self.place.setdefault(name, name)
        clash = [
            m for m in self.merges
            if m in self.modules and self.place[m] != m and not self.modules[m].is_package
        ]
        for m in clash:
            self.warn(f"note: {m} is a new module and the old one of the name goes to {self.place[m]}")
        # A new module may not have the name of a package that stays.
        self.new_names = set(self.place.values())

    def warn(self, text: str) -> None:
        self.warnings.append(text)

    # -- what a module binds

    def definitions(self, module: Module) -> dict[str, ast.AST]:
        found: dict[str, ast.AST] = {}

        def visit(body):
            for node in body:
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    found[node.name] = node
                elif isinstance(node, (ast.Import, ast.ImportFrom)):
                    pass
                elif isinstance(node, (ast.If, ast.Try, ast.For, ast.With, ast.While)):
                    for field in ("body", "orelse", "finalbody"):
                        visit(getattr(node, field, []))
                    for h in getattr(node, "handlers", []):
                        visit(h.body)
                    for sub in ast.walk(node):
                        if isinstance(sub, ast.Name) and isinstance(sub.ctx, ast.Store):
                            found.setdefault(sub.id, node)
                else:
                    for sub in ast.walk(node):
                        if isinstance(sub, ast.Name) and isinstance(sub.ctx, ast.Store):
                            found.setdefault(sub.id, node)

        visit(module.tree.body)
        return found

    def top_imports(self, tree: ast.Module):
        """Yield (statement, is_type_checking, container) of imports at the top level."""
        for node in tree.body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                yield node, False, node
            elif is_type_checking(node):
                for sub in node.body:
                    if isinstance(sub, (ast.Import, ast.ImportFrom)):
                        yield sub, True, node

    def target(self, module: str, name: str | None) -> tuple[str, str | None]:
        """Where something that was imported is now: (module, name), name None for a module."""
        if name is None:
            return self.place.get(module, module), None
        sub = f"{module}.{name}"
        if sub in self.modules and not self.reexports(module, name):
            return self.place[sub], None
        if module in self.modules:
            return self.place[module], self.renamed.get(module, {}).get(name, name)
        return module, name

    def reexports(self, module: str, name: str) -> bool:
        """Whether a package has a name of its own that is also that of a module in it."""
        if module not in self.modules or not self.modules[module].is_package:
            return False
        return any(
            isinstance(node, ast.ImportFrom) and any((a.asname or a.name) == name for a in node.names)
            for node in self.modules[module].tree.body
        )

    # -- planning renames

    def plan(self) -> None:
        """Decide for every old module which of its local names change."""
        self.renamed: dict[str, dict[str, str]] = {}
        for module, names in self.renames.items():
            self.renamed[module] = dict(names)
        self.local: dict[str, dict[str, str]] = collections.defaultdict(dict)
        self.twice: dict[str, list] = collections.defaultdict(list)
        # definitions first
        for new, (olds, _) in self.merges.items():
            seen: dict[str, str] = {}
            dumps: dict[str, str] = {}
            for old in self.sorted_olds(new):
                module = self.modules[old]
                fixed = self.renamed.setdefault(old, {})
                for name, node in self.definitions(module).items():
                    if name in ("__all__", "TYPE_CHECKING"):
                        continue
                    if isinstance(node, (ast.Assign, ast.AnnAssign)):
                        dump = ast.dump(node)
                        if dumps.get(fixed.get(name, name)) == dump:
                            self.twice[old].append(node)
                            continue
                        dumps.setdefault(fixed.get(name, name), dump)
                    becomes = fixed.get(name, name)
                    if becomes in seen and name not in fixed:
                        if name.startswith("_") and not name.startswith("__"):
                            becomes = suffixed(name, old.rpartition(".")[2], seen)
                            fixed[name] = becomes
                            self.auto.append((old, name, becomes, seen.get(name, "")))
                        elif name.startswith("__"):
                            self.warn(f"CLASH {new}: dunder {name} of {old} and {seen[becomes]}")
                        else:
                            self.warn(f"CLASH {new}: public {name} of {old} and {seen[becomes]}")
                    seen[becomes] = old
        # imported names
        for new, (olds, _) in self.merges.items():
            bound: dict[str, tuple] = {}
            for old in olds:
                for name in self.definitions(self.modules[old]):
                    becomes = self.renamed.get(old, {}).get(name, name)
                    bound[becomes] = (new, becomes)
            for old in self.sorted_olds(new):
                for node, _, _ in self.top_imports(self.modules[old].tree):
                    for local, target in self.imports_of(node):
                        if target[0] == new and target[1] is not None:
                            # now in the same file
                            if target[1] != local:
                                self.local[old][local] = target[1]
                            continue
                        if target[0] == new and target[1] is None:
                            self.local[old][local] = "<self>"
                            continue
                        if local in bound and bound[local] != target:
                            other = suffixed_import(local, target, bound)
                            self.local[old][local] = other
                            self.auto.append((old, f"import {local}", other, str(bound[local])))
                            bound[other] = target
                        else:
                            bound[local] = target

    def imports_of(self, node):
        """Yield (local name, target) of an import statement at its new place."""
        if isinstance(node, ast.Import):
            for a in node.names:
                if a.name == TOP or a.name.startswith(TOP + "."):
                    yield a.asname or a.name, (self.place.get(a.name, a.name), None)
                else:
                    yield a.asname or a.name.split(".")[0], (a.name, None if not a.asname else "as")
        else:
            for a in node.names:
                yield a.asname or a.name, self.target(node.module or "", a.name)

    def sorted_olds(self, new: str) -> list[str]:
        """The old modules of a new one: what is imported at the top comes first, else the table's order."""
        olds = self.merges[new][0]
        needs: dict[str, set[str]] = {o: set() for o in olds}
        for old in olds:
            for node, checking, _ in self.top_imports(self.modules[old].tree):
                if checking:
                    continue
                if isinstance(node, ast.ImportFrom):
                    for a in node.names:
                        sub = f"{node.module}.{a.name}"
                        home = sub if sub in self.modules else node.module
                        if home in needs and home != old:
                            needs[old].add(home)
        order: list[str] = []
        left = list(olds)
        while left:
            ready = next((o for o in left if not needs[o] - set(order)), None)
            if ready is None:
                raise SystemExit(f"{new}: {left} import each other")
            order.append(ready)
            left.remove(ready)
        return order

    # -- rewriting of imports in any text

    def new_import(self, node: ast.ImportFrom, inside: str | None, indent: str, local_names: dict[str, str]):
        """Return new statements in place of an import of ours; and names whose attributes need care."""
        groups: dict[str, list[str]] = collections.OrderedDict()
        extra: list[str] = []
        for a in node.names:
            local = a.asname or a.name
            module, name = self.target(node.module or "", a.name)
            if inside is not None and module == inside:
                continue  # it is here
            wanted = local_names.get(local, local)
            if name is None:
                package, _, leaf = module.rpartition(".")
                if a.asname is None and local not in local_names and leaf != local:
                    wanted = local  # keep the local name by an alias: uses stay as they are
                # A package that has become a module keeps its name by way of its parent.
                part = leaf if leaf == wanted else f"{leaf} as {wanted}"
                groups.setdefault(package, []).append(part)
            else:
                explicit = a.asname is not None and a.asname == a.name  # stubs: X as X
                part = name if name == wanted and not explicit else f"{name} as {wanted}"
                groups.setdefault(module, []).append(part)
        lines = [f"from {m} import {', '.join(dict.fromkeys(p))}" for m, p in groups.items()]
        return (f"\n{indent}").join(lines + extra)

    def rewrite_file(self, text: str, inside: str | None = None, local_names=None, where: str = "") -> str:
        """Rewrite imports of ours in a whole Python text that is not merged."""
        tree = ast.parse(text)
        t = Text(text)
        local_names = local_names or {}
        aliases: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and is_ours(node.module):
                for a in node.names:
                    if f"{node.module}.{a.name}" in self.modules:
                        aliases[a.asname or a.name] = f"{node.module}.{a.name}"
        for node in ast.walk(tree):
            # What a test patches or reads in a module, by its new name.
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("setattr", "object"):
                if len(node.args) > 1 and isinstance(node.args[0], ast.Name) and isinstance(node.args[1], ast.Constant):
                    new = self.renamed.get(aliases.get(node.args[0].id, ""), {}).get(node.args[1].value)
                    if new:
                        t.replace(*t.span(node.args[1]), f'"{new}"')
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases:
                new = self.renamed.get(aliases[node.value.id], {}).get(node.attr)
                if new:
                    s, e = t.span(node)
                    t.replace(e - len(node.attr.encode()), e, new)
            if isinstance(node, ast.ImportFrom) and is_ours(node.module):
                if not self.touched(node):
                    continue
                s, e = t.span(node)
                indent = " " * node.col_offset
                new = self.new_import(node, inside, indent, local_names)
                noqa = trailing_comment(text, node)
                t.replace(s, e, new)
            elif isinstance(node, ast.Import):
                for a in node.names:
                    if a.name.startswith(TOP + ".") and self.place.get(a.name, a.name) != a.name:
                        self.warn(f"{where}:{node.lineno}: import {a.name}: by hand")
        return t.result()

    def touched(self, node: ast.ImportFrom) -> bool:
        for a in node.names:
            sub = f"{node.module}.{a.name}"
            if sub in self.modules and not self.reexports(node.module or "", a.name):
                if self.place[sub] != sub:
                    return True
            elif node.module in self.modules and (
                self.place[node.module] != node.module
                or a.name in self.renamed.get(node.module, {})
            ):
                return True
        return False

    # -- making a merged module

    def build(self, new: str) -> str:
        olds, sentence = self.merges[new]
        imports: list[str] = []
        checking: list[str] = []
        bodies: list[str] = []
        docs: list[str] = []
        alls: list[str] = []
        headers: list[str] = []
        for old in self.sorted_olds(new):
            module = self.modules[old]
            names = dict(self.renamed.get(old, {}))
            local = self.local.get(old, {})
            names.update({k: v for k, v in local.items() if v != "<self>"})
            selfs = {k for k, v in local.items() if v == "<self>"}
            t = Text(module.text)
            rename_globals(t, module.tree, names, old, self.warn)
            # attributes of modules that are this file now
            if selfs:
                for node in ast.walk(module.tree):
                    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in selfs:
                        home = self.module_of_local(module, node.value.id)
                        becomes = self.renamed.get(home, {}).get(node.attr, node.attr)
                        s, e = t.span(node)
                        t.replace(s, e, becomes)
            # lazy imports
            for node in ast.walk(module.tree):
                if isinstance(node, ast.ImportFrom) and is_ours(node.module) and node.col_offset > 0:
                    if any(node is n for n, _, _ in self.top_imports(module.tree)):
                        continue
                    self.lazy(t, module, node, new)
            # top parts
            first = module.tree.body[0] if module.tree.body else None
            has_doc = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
            if has_doc:
                docs.append(ast.get_docstring(module.tree, clean=False) or "")
                cut_statement(t, first)
            for node, is_checking, container in self.top_imports(module.tree):
                line = self.import_text(module, node, new, names)
                if line:
                    (checking if is_checking else imports).append(line)
                if not is_checking:
                    cut_statement(t, node)
            for node in module.tree.body:
                if is_type_checking(node):
                    rest = [n for n in node.body if not isinstance(n, (ast.Import, ast.ImportFrom))]
                    if rest or node.orelse:
                        self.warn(f"{old}:{node.lineno}: more than imports under TYPE_CHECKING: by hand")
                    cut_statement(t, node)
                elif isinstance(node, ast.Assign) and any(isinstance(x, ast.Name) and x.id == "__all__" for x in node.targets):
                    alls += [names.get(n, n) for n in ast.literal_eval(node.value)]
                    cut_statement(t, node)
            for node in self.twice.get(old, ()):
                cut_statement(t, node)
                follow = module.tree.body[module.tree.body.index(node) + 1 :][:1]
                if follow and isinstance(follow[0], ast.Expr) and isinstance(follow[0].value, ast.Constant):
                    cut_statement(t, follow[0])
            body = t.result().strip("\n")
            head, body = split_header_comments(body)
            headers += [line for line in head if line not in headers]
            bodies.append(body)
        doc = merged_docstring(sentence, docs)
        out = [quoted_docstring(doc), "", *headers, *([""] if headers else []), "from __future__ import annotations", ""]
        plain = [line for line in dict.fromkeys(imports) if line != "from __future__ import annotations"]
        out += plain
        if checking:
            left = [line for line in dict.fromkeys(checking)]
            out += ["", "if TYPE_CHECKING:", *["    " + line.replace("\n", "\n    ") for line in left], ""]
        if alls:
            out += ["", "__all__ = [" + ", ".join(f'"{n}"' for n in sorted(set(alls))) + "]", ""]
        text = "\n".join(out) + "\n\n\n" + "\n\n\n".join(b for b in bodies if b) + "\n"
        return text

    def module_of_local(self, module: Module, local: str) -> str:
        for node, _, _ in self.top_imports(module.tree):
            if isinstance(node, ast.ImportFrom):
                for a in node.names:
                    if (a.asname or a.name) == local:
                        return f"{node.module}.{a.name}"
        return ""

    def import_text(self, module: Module, node, new: str, names: dict[str, str]) -> str:
        if isinstance(node, ast.Import):
            for a in node.names:
                if is_ours(a.name) and self.place.get(a.name, a.name) != a.name:
                    self.warn(f"{module.name}:{node.lineno}: import {a.name}: by hand")
            noqa = trailing_comment(module.text, node)
            parts = []
            for a in node.names:
                wanted = names.get(a.asname or a.name)
                parts.append(f"import {a.name}" + (f" as {wanted or a.asname}" if wanted or a.asname else ""))
            return "\n".join(p + (f"  {noqa}" if noqa else "") for p in parts)
        noqa = trailing_comment(module.text, node)
        if not is_ours(node.module):
            parts = []
            for a in node.names:
                local = a.asname or a.name
                wanted = names.get(local, local)
                parts.append(a.name if a.name == wanted else f"{a.name} as {wanted}")
            return f"from {'.' * node.level}{node.module or ''} import {', '.join(parts)}" + (f"  {noqa}" if noqa else "")
        text = self.new_import(node, new, "", {k: v for k, v in names.items()})
        return text + (f"  {noqa}" if noqa and text else "")

    def lazy(self, t: Text, module: Module, node: ast.ImportFrom, new: str) -> None:
        s, e = t.span(node)
        indent = " " * node.col_offset
        text = self.new_import(node, new, indent, {})
        # names that are here now under another name, or aliased
        for a in node.names:
            local = a.asname or a.name
            home, name = self.target(node.module or "", a.name)
            if home == new and (name is None or name != local):
                self.warn(f"{module.name}:{node.lineno}: lazy import of {a.name} as {local}, now in the same file: by hand")
        if text:
            t.replace(s, e, text)
        else:
            cut_statement(t, node, module.text)


def is_ours(name: str | None) -> bool:
    return bool(name) and (name == TOP or name.startswith(TOP + "."))


def is_type_checking(node) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def cut_statement(t: Text, node, _text: str = "") -> None:
    """Cut a statement with its whole lines (and a trailing comment)."""
    start = t.at(node.lineno, 0)
    end = t.starts[node.end_lineno] if node.end_lineno < len(t.starts) else len(t.data)
    end = min(end, len(t.data))
    t.replace(start, end, "")


def trailing_comment(text: str, node) -> str:
    lines = text.split("\n")[node.lineno - 1 : node.end_lineno]
    found = [m[0] for line in lines if (m := re.search(r"# (noqa|pyright|type:)[^#]*$", line))]
    return found[0].strip() if found else ""


def split_header_comments(body: str) -> tuple[list[str], str]:
    """Comments that stood among the imports stand at the head of the body, alone: the file's."""
    lines = body.split("\n")
    blank = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    if blank and (blank == len(lines) or not lines[blank].strip()):
        return lines[:blank], "\n".join(lines[blank:]).strip("\n")
    return [], body


def merged_docstring(sentence: str, docs: list[str]) -> str:
    parts = [doc.strip("\n").rstrip() for doc in docs if doc.strip()]
    if not parts:
        return sentence or "TODO"
    head, _, rest = parts[0].partition("\n")
    if len(parts) == 1 or not sentence:
        text = "\n\n".join([sentence or head, *([rest.strip("\n")] if rest.strip() else []), *parts[1:]])
    else:
        text = "\n\n".join([sentence, *parts])
    return text + ("\n" if "\n" in text else "")


def quoted_docstring(doc: str) -> str:
    doc = doc.replace('\\', '\\\\').replace('"""', '\\"\\"\\"')
    return f'"""{doc}"""'


def suffixed(name: str, leaf: str, seen) -> str:
    core = name.lstrip("_")
    short = leaf.removesuffix("_kernels") if leaf != "kernels" else leaf
    if core.isupper() or re.fullmatch(r"[A-Z0-9_]+", core):
        new = f"_{core}_OF_{short.upper()}"
    elif core[:1].isupper():
        new = f"_{core}Of{''.join(p.capitalize() for p in short.split('_'))}"
    else:
        new = f"_{core}_of_{short}"
    while new in seen:
        new += "_"
    return new


def suffixed_import(local: str, target, bound) -> str:
    leaf = target[0].rpartition(".")[2]
    if target[1] is None:
        leaf = target[0].split(".")[-2] if "." in target[0] else leaf
    new = f"{leaf}_{local}" if not local.isupper() else f"{leaf.upper()}_{local}"
    while new in bound:
        new += "_"
    return new


# ---------------------------------------------------------------- names in any text


def text_rewriter(job: Job):
    """Return a function that moves dotted names, and paths, in any text."""
    moved = {o: n for o, n in job.place.items() if o != n}
    # names: longest first
    dotted = re.compile(r"\bgamekeeper(?:\.[A-Za-z_]\w*)+")
    bare = re.compile(r"(?<=`)[a-z_]+(?:\.[a-z_]+)+(?=[`.])")
    paths = re.compile(r"\b((?:src/gamekeeper/)?(?:[a-z_]+/)+[a-z_]+)\.py\b")

    def move(name: str) -> str:
        parts = name.split(".")
        for n in range(len(parts), 1, -1):
            head = ".".join(parts[:n])
            if head in job.modules:
                if head in moved:
                    rest = parts[n:]
                    if rest and rest[0] in job.renamed.get(head, {}):
                        rest[0] = job.renamed[head][rest[0]]
                    return ".".join([moved[head], *rest])
                return name
        return name

    quoted = re.compile(r'(?<=")[a-z_]+(?:\.[A-Za-z_]\w*)+(?=")')

    def in_quotes(given: str) -> str:
        return quoted.sub(lambda m: move(f"{TOP}.{m[0]}").removeprefix(TOP + "."), given)

    def text(given: str) -> str:
        given = dotted.sub(lambda m: move(m[0]), given)

        def short(m):
            name = f"{TOP}.{m[0]}"
            return move(name).removeprefix(TOP + ".") if name in moved or name.rpartition(".")[0] in moved else m[0]

        given = bare.sub(short, given)

        def path(m):
            prefix = "src/gamekeeper/" if m[1].startswith("src/gamekeeper/") else ""
            name = f"{TOP}." + m[1].removeprefix("src/gamekeeper/").replace("/", ".")
            if name in moved:
                return prefix + moved[name].removeprefix(TOP + ".").replace(".", "/") + ".py"
            return m[0]

        return paths.sub(path, given)

    return text, in_quotes


IMPORT_LINE = re.compile(r"^(?P<lead>[ \t]*(?:>>> |\.\.\. )?)from (?P<module>gamekeeper[\w.]*) import (?P<names>\([^)]*\)|[^\n(]+)$", re.M)


def code_in_text(job: Job, text: str, doctests_only: bool = False) -> str:
    """Rewrite import lines in documentation: code blocks and doctests."""

    def one(m):
        if doctests_only and not m["lead"].strip():
            return m[0]  # of the program itself: rewritten already
        names = m["names"].strip("()").replace("\n", " ").replace("...", " ")
        try:
            node = ast.parse(f"from {m['module']} import {names.strip().rstrip(',')}").body[0]
        except SyntaxError:
            return m[0]
        if not job.touched(node):
            return m[0]
        new = job.new_import(node, None, "", {})
        return "\n".join(m["lead"] + line for line in new.split("\n"))

    return IMPORT_LINE.sub(one, text)


# ---------------------------------------------------------------- main


def main() -> None:
    table, root = Path(sys.argv[1]), Path(sys.argv[2])
    dry = "--dry" in sys.argv
    job = Job(table, root)
    job.auto = []
    job.plan()
    outputs: dict[Path, str] = {}
    removed: set[Path] = set()
    move_text, in_quotes = text_rewriter(job)

    def path_of(name: str) -> Path:
        return job.src / (name.replace(".", "/") + ".py")

    built = {}
    for new in job.merges:
        built[new] = job.build(new)
        outputs[path_of(new)] = built[new]
    for old, new in job.place.items():
        if old != new:
            removed.add(job.modules[old].path)
        elif job.modules[old].is_package and old in job.merges:
            removed.add(job.modules[old].path)
    # the rest of src
    for name, module in job.modules.items():
        if job.place[name] == name and name not in job.merges and not (module.is_package and name in job.merges):
            names = job.renamed.get(name, {})
            text = module.text
            if names:
                t = Text(text)
                rename_globals(t, module.tree, names, name, job.warn)
                text = t.result()
            outputs[module.path] = job.rewrite_file(text, where=name)
    for path in job.src.rglob("*.pyi"):
        text = path.read_text(encoding="utf-8")
        outputs[path] = job.rewrite_file(text, where=str(path))
    for folder in ("tests", "benchmarks"):
        for path in (root / folder).rglob("*.py"):
            outputs[path] = job.rewrite_file(path.read_text(encoding="utf-8"), where=str(path))
    for path in (root / "docs").rglob("*"):
        if path.suffix in (".md", ".py", ".ipynb", ".txt") and path.is_file():
            outputs[path] = path.read_text(encoding="utf-8")
    for name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "pyproject.toml", "hatch_build.py", "Makefile"):
        outputs[root / name] = (root / name).read_text(encoding="utf-8")
    for path in list(outputs):
        text = outputs[path]
        if path.suffix in (".py", ".md", ".pyi"):
            text = code_in_text(job, text, path.suffix != ".md")
        outputs[path] = move_text(text)
        if path.suffix == ".py" and path.parent.name in ("contracts", "given"):
            outputs[path] = in_quotes(outputs[path])
    # packages
    packages = {p for p in job.packages}
    for new in job.new_names:
        parent = new.rpartition(".")[0]
        while parent and parent != TOP:
            if not (job.src / parent.replace(".", "/") / "__init__.py").exists() and parent not in packages:
                job.warn(f"package {parent} has no docstring in the table")
                job.packages[parent] = "TODO"
                packages.add(parent)
            parent = parent.rpartition(".")[0]
    for name, doc in job.packages.items():
        outputs[job.src / name.replace(".", "/") / "__init__.py"] = f'"""{doc}"""\n'
    for line in job.warnings:
        print(line)
    print(f"{len(job.auto)} names changed to avoid clashes")
    stated = [(m, a, b, "") for m, names in job.renames.items() for a, b in names.items()]
    (table.parent / "renames.json").write_text(json.dumps(job.auto + stated, indent=0))
    edges = collections.defaultdict(lambda: collections.defaultdict(list))
    for name, module in job.modules.items():
        for node, checking, _ in job.top_imports(module.tree):
            if checking or not isinstance(node, ast.ImportFrom) or not is_ours(node.module):
                continue
            for a in node.names:
                sub = f"{node.module}.{a.name}"
                home = sub if sub in job.modules else node.module
                if home not in job.modules:
                    continue
                x, y = job.place[name], job.place[home]
                if x != y and not job.modules[home].is_package:
                    edges[x][y].append((name, home))
    import networkx as nx
    graph = nx.DiGraph([(x, y) for x in edges for y in edges[x]])
    for part in nx.strongly_connected_components(graph):
        if len(part) > 1:
            cycle = nx.find_cycle(graph.subgraph(part))
            print("CYCLE", len(part), sorted(p.removeprefix("gamekeeper.") for p in part)[:8])
            for x, y, *_ in cycle:
                print("    ", x.removeprefix("gamekeeper."), "->", y.removeprefix("gamekeeper."), {(a.rpartition(".")[2], b.rpartition(".")[2]) for a, b in edges[x][y]})
    if dry:
        n = collections.Counter(p.rpartition(".")[0] for p in set(job.place.values()))
        print(len(set(job.place.values())), "modules and packages")
        sizes = {n: b.count("\n") for n, b in built.items()}
        big = sorted(sizes.items(), key=lambda p: -p[1])[:15]
        print("largest:", big)
        return
    for path in removed:
        if path not in outputs:
            path.unlink()
    for path, text in outputs.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    # packages without modules go
    for folder in sorted((job.src / TOP).rglob("*"), key=lambda p: -len(p.parts)):
        if folder.is_dir() and folder.name != "__pycache__":
            left = [p for p in folder.iterdir() if p.name != "__pycache__"]
            if [p.name for p in left] == ["__init__.py"]:
                name = ".".join(folder.relative_to(job.src).parts)
                body = ast.parse(left[0].read_text()).body
                if len(body) <= 1 and name not in job.packages:
                    left[0].unlink()
                    left = []
            if not left:
                import shutil

                shutil.rmtree(folder)


if __name__ == "__main__":
    main()
