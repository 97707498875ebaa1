"""Move and merge the tests as the modules were: python3.13 merge_tests.py TABLE ROOT"""
import ast, collections, re, sys
from pathlib import Path
import merge
from merge import Job, Text, rename_globals, is_type_checking, full

table, root = Path(sys.argv[1]), Path(sys.argv[2])
merges, packages, renames = merge.read_table(table)
place = {o: n for n, (olds, _) in merges.items() for o in olds}
tests = root / "tests"
KEEP = ("browser", "contracts", "examples", "fuzz", "given", "reference", "twins")
old_src = {}
rooms = {}  # old folder -> where its modules went mostly
for o, n in place.items():
    o, n = o.removeprefix("gamekeeper."), n.removeprefix("gamekeeper.")
    rooms.setdefault(o.rpartition(".")[0], collections.Counter())[n.rpartition(".")[0]] += 1
new_modules = {".".join(p.relative_to(root / "src/gamekeeper").with_suffix("").parts) for p in (root / "src/gamekeeper").rglob("*.py")}
target = {}
for path in sorted(tests.rglob("test_*.py")):
    rel = path.relative_to(tests)
    if rel.parts[0] in KEEP or len(rel.parts) == 1 and rel.stem in ("test_errors", "test_budget"):
        continue
    name = ".".join([*rel.parts[:-1], rel.stem.removeprefix("test_")])
    new = place.get("gamekeeper." + name, "").removeprefix("gamekeeper.")
    if not new:
        if name in new_modules:
            new = name
        else:
            folder = ".".join(rel.parts[:-1])
            # a test of a room: the module of the room's old name, or one of the same name in its new place
            if folder in new_modules and folder not in rooms.get(folder, {}) :
                to = folder.rpartition(".")[0]
            else:
                to = rooms[folder].most_common(1)[0][0] if folder in rooms else folder
            new = (to + "." if to else "") + rel.stem.removeprefix("test_")
    parts = new.split(".")
    target[path] = tests.joinpath(*parts[:-1], f"test_{parts[-1]}.py")
groups = collections.defaultdict(list)
for path, to in target.items():
    groups[to].append(path)

def apart(path):
    text = path.read_text()
    return "pytestmark" in text or "importorskip" in text or "__file__" in text

def lines(path):
    return len(path.read_text().splitlines())

stay = []
for to, paths in sorted(groups.items()):
    out = []
    special = [p for p in paths if apart(p)]
    plain = [p for p in paths if not apart(p)]
    # no test file above 900 lines: the rest stays apart under its old name
    total, chosen = 0, []
    for p in sorted(plain, key=lambda p: (p.stem != to.stem, p.name)):
        if total + lines(p) > 900 and chosen:
            special.append(p)
        else:
            total += lines(p); chosen.append(p)
    groups[to] = chosen
    for p in special:
        stay.append((p, to.parent / p.name))
taken = {to for to, ps in groups.items() if ps}
for p, to in stay:
    if to in taken:
        to = to.with_name(f"test_{p.parent.name}_{p.stem.removeprefix('test_')}.py")
    assert to not in taken, to
    taken.add(to); groups[to] = [p]

where = {}
for to, ps in groups.items():
    for q in ps:
        where[".".join(q.relative_to(root).with_suffix("").parts)] = ".".join(to.relative_to(root).with_suffix("").parts)
where["tests.workbench.microdata.conftest"] = "tests.workbench.conftest"
changes = {}

def fixture(node):
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and any("fixture" in ast.unparse(d) for d in node.decorator_list)

def names_of(tree):
    found = {}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found[node.name] = node
        elif not isinstance(node, (ast.Import, ast.ImportFrom)) and not is_type_checking(node):
            for sub in ast.walk(node):
                if isinstance(sub, ast.Name) and isinstance(sub.ctx, ast.Store) and not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                    found.setdefault(sub.id, node)
    return found

def bare(node):
    return ast.dump(node)

outputs, removed = {}, set()
clashes = 0
moved_names = {}
for to, paths in groups.items():
    if not paths:
        continue
    if len(paths) == 1:
        outputs[to] = paths[0].read_text()
        removed.add(paths[0])
        continue
    docs, imports, checking, bodies, comments = [], [], [], [], []
    seen, dumps = {}, {}
    bound = {}
    for path in paths:
        text = path.read_text()
        tree = ast.parse(text)
        leaf = path.stem.removeprefix("test_")
        t = Text(text)
        change, cut = {}, []
        for name, node in names_of(tree).items():
            if name in seen or name in bound:
                if name in dumps and dumps[name] == bare(node) and isinstance(node, (ast.FunctionDef, ast.Assign)) :
                    # the same again: written once; what it names must be the same too, which is seen when the tests run
                    cut.append(node)
                    continue
                new = f"{name}_of_{leaf}" if not name.isupper() else f"{name}_OF_{leaf.upper()}"
                while new in seen or new in names_of(tree):
                    new += "_"
                change[name] = new
                clashes += 1
                seen[new] = path
            else:
                seen[name] = path
                dumps[name] = bare(node)
        # a helper that is equal in words but uses something renamed is not equal
        again = True
        while again:
            again = False
            for node in list(cut):
                used = {s.id for s in ast.walk(node) if isinstance(s, ast.Name)} | {a.arg for a in ast.walk(node) if isinstance(a, ast.arg)}
                if used & change.keys():
                    cut.remove(node)
                    name = node.name if hasattr(node, "name") else next(s.id for s in ast.walk(node) if isinstance(s, ast.Name) and isinstance(s.ctx, ast.Store))
                    new = f"{name}_of_{leaf}" if not name.isupper() else f"{name}_OF_{leaf.upper()}"
                    change[name] = new; seen[new] = path; again = True
        # imports of one local name that mean different things
        lines_of = []
        for node in tree.body:
            group = [node] if isinstance(node, (ast.Import, ast.ImportFrom)) else [n for n in getattr(node, "body", []) if isinstance(n, (ast.Import, ast.ImportFrom))] if is_type_checking(node) else []
            for n in group:
                for a in n.names:
                    local = a.asname or a.name
                    source = getattr(n, "module", None)
                    if where.get(source) == where[".".join(path.relative_to(root).with_suffix("").parts)]:
                        here = changes.get(source, {}).get(a.name, a.name)
                        if here != local:
                            change[local] = here
                        continue
                    what = (where.get(source, source), changes.get(source, {}).get(a.name, a.name))
                    if local in bound and bound[local] != what or local in seen and local not in change and seen[local] != path:
                        new = f"{leaf}_{local}" if not local.isupper() else f"{leaf.upper()}_{local}"
                        change[local] = new
                        bound[new] = what
                    else:
                        bound.setdefault(local, what)
        changes[".".join(path.relative_to(root).with_suffix("").parts)] = change
        fixtures = {n for n, node in names_of(tree).items() if n in change and fixture(node)}
        rename_globals(t, tree, change, str(path.relative_to(root)), lambda w: print("W", w))
        if fixtures:
            for node in ast.walk(tree):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    hit = [a for a in [*node.args.args, *node.args.kwonlyargs] if a.arg in fixtures]
                    if hit:
                        for a in hit:
                            s, e = t.span(a)
                            t.replace(s, s + len(a.arg.encode()), change[a.arg])
                        for sub in ast.walk(node):
                            if isinstance(sub, ast.Name) and sub.id in {a.arg for a in hit}:
                                s, e = t.span(sub)
                                t.replace(s, e, change[sub.id])
        for node in tree.body:
            first = node is tree.body[0]
            if first and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
                docs.append(node.value.value); merge.cut_statement(t, node); continue
            if isinstance(node, (ast.Import, ast.ImportFrom)) or is_type_checking(node):
                group = [node] if not is_type_checking(node) else node.body
                for n in group:
                    note = merge.trailing_comment(text, n)
                    parts = []
                    source = getattr(n, "module", None)
                    if source in where and where[source] == where[".".join(path.relative_to(root).with_suffix("").parts)]:
                        continue
                    for a in n.names:
                        local = a.asname or a.name
                        wanted = change.get(local, local)
                        name = changes.get(source, {}).get(a.name, a.name)
                        parts.append(name if name == wanted else f"{name} as {wanted}")
                    line = (f"from {'.' * n.level}{where.get(n.module, n.module) or ''} import " if isinstance(n, ast.ImportFrom) else "import ") + ", ".join(parts)
                    (checking if is_type_checking(node) else imports).append(line + (f"  {note}" if note else ""))
                merge.cut_statement(t, node)
            elif node in cut:
                start = min([node.lineno, *[d.lineno for d in getattr(node, "decorator_list", [])]])
                t.replace(t.at(start, 0), t.starts[node.end_lineno], "")
        head, body = merge.split_header_comments(t.result().strip("\n"))
        comments += [c for c in head if c not in comments]
        bodies.append(body)
        removed.add(path)
    sentence = docs[0].strip() if docs else ""
    doc = "\n\n".join(d.strip() for d in docs if d.strip())
    text = (merge.quoted_docstring(doc + ("\n" if "\n" in doc else "")) + "\n\n" if doc else "") + "\n".join(comments) + "\nfrom __future__ import annotations\n\n" + "\n".join(l for l in dict.fromkeys(imports) if "__future__" not in l) + "\n\n"
    if checking:
        text += "if TYPE_CHECKING:\n" + "\n".join("    " + l for l in dict.fromkeys(checking)) + "\n\n"
    outputs[to] = text + "\n\n\n".join(bodies) + "\n"
# conftest and helpers of rooms that moved
for path in sorted(tests.rglob("conftest.py")):
    folder = ".".join(path.parent.relative_to(tests).parts)
    if folder and folder.split(".")[0] not in KEEP and folder in rooms:
        to = rooms[folder].most_common(1)[0][0]
        new = tests.joinpath(*to.split("."), "conftest.py") if to else None
        if folder in ("cli", "web", "store", "report", "importing", "store.database", "mapping.edits"):
            continue
        print("CONFTEST", folder, "->", to)
IMPORT = re.compile(r"from (tests[.\w]+) import")
for to in outputs:
    outputs[to] = IMPORT.sub(lambda m: f"from {where.get(m[1], m[1])} import", outputs[to])
for path in removed:
    path.unlink()
for to, text in outputs.items():
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(text)
for folder in sorted(tests.rglob("*"), key=lambda p: -len(p.parts)):
    if folder.is_dir() and folder.name != "__pycache__" and not [p for p in folder.iterdir() if p.name != "__pycache__"]:
        import shutil; shutil.rmtree(folder)
print(len(target), "test files are now", len([g for g in groups.values() if g]), "and", clashes, "names changed")
