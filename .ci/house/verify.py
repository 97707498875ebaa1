"""python3.13 verify.py OLD_ROOT NEW_ROOT RENAMES.json: every function and statement of the old tree stands in the new one.

Compared are syntax trees of top-level statements without docstrings and import statements, with names
that the table renames taken as equal. Prints what is missing and what is new."""
import ast, collections, json, sys
from pathlib import Path

def cleaned(node, names):
    class Clean(ast.NodeTransformer):
        def visit_Import(self, n): return None
        def visit_ImportFrom(self, n): return None
        def visit_Name(self, n):
            n.id = names.get(n.id, n.id); return n
        def visit_Attribute(self, n):
            self.generic_visit(n); n.attr = names.get(n.attr, n.attr); return n
        def visit_Global(self, n):
            n.names = [names.get(x, x) for x in n.names]; return n
        def _def(self, n):
            n.name = names.get(n.name, n.name)
            self.generic_visit(n)
            if n.body and isinstance(n.body[0], ast.Expr) and isinstance(n.body[0].value, ast.Constant) and isinstance(n.body[0].value.value, str):
                n.body = n.body[1:]
            n.body = n.body or [ast.Pass()]
            return n
        visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _def
    return Clean().visit(node)

def statements(root, names):
    found = collections.Counter(); where = {}
    for path in sorted((Path(root) / "src/gamekeeper").rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, (ast.Import, ast.ImportFrom)): continue
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant): continue
            if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING": continue
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__": continue
            line = node.lineno
            name = getattr(node, "name", None) or ast.unparse(node)[:70]
            dump = ast.dump(cleaned(node, names))
            found[dump] += 1; where.setdefault(dump, []).append(f"{path.relative_to(root)}:{line} {name}")
    return found, where

old_root, new_root, renames = sys.argv[1:4]
names = {}
for _, old, new, *_ in json.load(open(renames)):
    old = old.removeprefix("import ")
    names[old] = "~" + old; names[new] = "~" + old
old, old_where = statements(old_root, names); new, new_where = statements(new_root, names)
gone = old - new; came = new - old
for dump in gone:
    dup = new[dump] >= 1
    print("GONE" if not dup else "ONCE", old_where[dump])
for dump in came: print("CAME", new_where[dump])
print(f"{sum(old.values())} statements before, {sum(new.values())} after; gone {sum(1 for d in gone if not new[d])}, written once instead of several times {sum(1 for d in gone if new[d])}, new {len(came)}")
