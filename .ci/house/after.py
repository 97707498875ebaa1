"""What the merge of modules cannot know, done to the merged tree: run it in its root."""
import re
import shutil
from pathlib import Path

PROTECT, PROTECTION = Path("src/gamekeeper/protect"), Path("src/gamekeeper/protection")
for name in ("__init__.pyi", "__init__.py"):
    if (PROTECT / name).exists():
        shutil.move(PROTECT / name, PROTECTION / name)
shutil.rmtree(PROTECT, ignore_errors=True)
def sub(path, old, new, count=1):
    p=Path(path); s=p.read_text()
    if old not in s: print("POST not found:", path, old[:60]); return
    p.write_text(s.replace(old,new,count) if count else s.replace(old,new))
C="src/gamekeeper/cli/"
sub(C+"risk.py","for part in (counting, uniques, models, simulation):\n    app.add_typer(part.app)","app.add_typer(_commands)")
sub(C+"tables.py","app.add_typer(_commands)\napp.add_typer(_commands)","app.add_typer(_commands)")
A=C+"app.py"
for a,b in [('"serve": (\n        "serve"','"serve": (\n        "server"'),('"account": (\n        "account"','"account": (\n        "server:account_app"'),
 ('"demo": ("demo"','"demo": ("assess"'),('"environment.shell"','"environment.mapping"'),('"environment.groups"','"environment.forms:groups_app"'),
 ('"environment.scenarios"','"environment.forms:scenarios_app"'),('"look": (\n        "look"','"look": (\n        "assess"'),
 ('"risk.app"','"risk"'),('"tables.app"','"tables"'),('"link.app"','"link"'),('"protect.app"','"protect"'),
 ('        module = import_module(f"gamekeeper.cli.{PARTS[name][0]}")\n    module.app.info.cls = _Part\n    made = typer.main.get_group(module.app)\n',
  '        module, _, app = PARTS[name][0].partition(":")\n        part = getattr(import_module(f"gamekeeper.cli.{module}"), app or "app")\n    part.info.cls = _Part\n    made = typer.main.get_group(part)\n'),
 ('"""Which module here has the `app` of each part,','"""Which module here has the `app` of each part (or another, after a colon),')]:
    sub(A,a,b)
W="src/gamekeeper/web/app.py"
s=Path(W).read_text()
s=re.sub(r"ROUTERS = \(.*?\)\n\"\"\".*?\"\"\"\n", '''ROUTERS = (
    accounts.session_router,
    environment.router,
    environment.forms_router,
    environment.variables_router,
    environment.groups_router,
    environment.scenarios_router,
    edits.router,
    edits.analysis_router,
    edits.imports_router,
    accounts.jobs_router,
    edits.exports_router,
    accounts.router,
)
"""The routes, in the order in which they are documented."""
''', s, flags=re.S)
s=s.replace("    for module in ROUTERS:\n        app.include_router(module.router)","    for router in ROUTERS:\n        app.include_router(router)")
s=re.sub(r"from gamekeeper\.web\.routes import [^\n]*\n(?:from gamekeeper\.web\.routes import [^\n]*\n)*","from gamekeeper.web.routes import accounts, edits, environment\n",s)
s=re.sub(r"from gamekeeper\.web\.routes import \([^)]*\)\n","from gamekeeper.web.routes import accounts, edits, environment\n",s)
Path(W).write_text(s)
sub(A,'"""Which module here has the `app` of each part (or another, after a colon), and what the part is for (its first sentence)."""','"""Which module here has the `app` of each part (or another, after a colon), and what the part is\nfor (its first sentence)."""')
