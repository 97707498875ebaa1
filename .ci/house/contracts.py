"""Rewrite the import contracts of pyproject.toml for the merged tree."""
from pathlib import Path
p=Path("pyproject.toml"); s=p.read_text()
i=s.index("[[tool.importlinter.contracts]]")
new='''[[tool.importlinter.contracts]]
id = "layers"
name = "Each layer imports only from layers below it"
type = "layers"
containers = ["gamekeeper"]
layers = ["(__main__)", "risk | models | tables | link", "cli", "web", "workbench", "report | store", "protection", "attack | importing", "mapping", "data", "algorithms", "results", "options | prompt_syntax | files | budget | choices", "wording", "errors | public_names"]
exhaustive = true

[[tool.importlinter.contracts]]
id = "pure"
name = "Algorithms and results know no engine, no frame, no framework"
type = "forbidden"
source_modules = ["gamekeeper.algorithms", "gamekeeper.results"]
forbidden_modules = ["duckdb", "fastapi", "narwhals", "pandas", "pydantic", "pyreadstat", "pyspark", "sqlalchemy", "typer"]

[[tool.importlinter.contracts]]
id = "algorithms"
name = "Rooms of algorithms lean on rooms below them"
type = "layers"
containers = ["gamekeeper.algorithms"]
layers = [
  "subtraction",
  "feasible",
  "bounds | cells",
  "releases | structure",
  "models | suppression | utility",
  "assignment | decomposable | judging | categories | perturbation | recoding_search | uniques",
  "anonymity | layout_layers | linkage | superpopulation",
  "layout_positions | logistic_kernels",
  "blocks | linear_programs | statistics | classes",
  "compiling",
]
exhaustive = true

[[tool.importlinter.contracts]]
id = "database"
name = "Files of the store lean on files below them"
type = "layers"
containers = ["gamekeeper.store.database"]
layers = [
  "restoration",
  "environment_store",
  "past",
  "revisions",
  "codes | creation",
  "changes",
  "loading",
  "file",
  "server",
  "engines | tables",
  "words",
]
exhaustive = true

[[tool.importlinter.contracts]]
id = "data"
name = "Rooms of data lean on rooms below them"
type = "layers"
containers = ["gamekeeper.data"]
layers = [
  "population",
  "people",
  "cells",
  "tables",
  "keys",
  "coding",
  "engine",
  "writing",
  "reading",
]
exhaustive = true

[[tool.importlinter.contracts]]
id = "engine"
name = "Spark knows nothing of DuckDB; both stand on the gate"
type = "layers"
containers = ["gamekeeper.data.engine"]
layers = [
  "duckdb_engine",
  "spark",
  "gate",
]
exhaustive = true

[[tool.importlinter.contracts]]
id = "mapping"
name = "Rooms of stage one lean on rooms below them"
type = "layers"
containers = ["gamekeeper.mapping"]
layers = ["edits", "scenario", "analysis | recoding", "recoding_rules", "environment", "forms", "variables"]
exhaustive = true

[[tool.importlinter.contracts]]
id = "protection"
name = "Files of stage three lean on files below them"
type = "layers"
containers = ["gamekeeper.protection"]
layers = [
  "trials",
  "plan | releases",
  "recipe",
  "recoding | numbers",
  "suppression | pram | attack",
  "suppression_problem | file_attack | masking | utility",
  "step | targets",
]
exhaustive = true

[[tool.importlinter.contracts]]
id = "web"
name = "Rooms of the workbench in the browser lean on rooms below them"
type = "layers"
containers = ["gamekeeper.web"]
layers = [
  "serving",
  "app",
  "routes",
  "shapes",
  "service | job_work",
  "jobs",
  "people",
  "wire",
  "settings",
]
exhaustive = true

[[tool.importlinter.contracts]]
id = "importing"
name = "Files of importing lean on files below them"
type = "layers"
containers = ["gamekeeper.importing"]
layers = [
  "proposing",
  "matching",
  "wording",
  "placing | registry",
  "classifications | documents | surveys | texts",
  "files | questions | vocabulary",
]
exhaustive = true

[[tool.importlinter.contracts]]
id = "edits"
name = "What is done with edits leans on the edits there are"
type = "layers"
containers = ["gamekeeper.mapping.edits"]
layers = ["consequences | merging", "applying", "categories | forms", "environment | variables", "record"]
exhaustive = true

[[tool.importlinter.contracts]]
id = "linkage"
name = "Files of linkage lean on files below them"
type = "layers"
containers = ["gamekeeper.attack.linkage"]
layers = ["files | structure", "file_links", "partners", "group_links", "guessing | linking", "columns", "options | truth"]
exhaustive = true

[[tool.importlinter.contracts]]
id = "workbench"
name = "Rooms of the workbench lean on rooms below them"
type = "layers"
containers = ["gamekeeper.workbench"]
layers = [
  "demo_walk",
  "demo_place | assessment | linkage | models | protection | risk | tables",
  "microdata",
  "environment",
  "answers",
  "requests",
]
exhaustive = true

[[tool.importlinter.contracts]]
id = "report"
name = "Pages lean on drawings, drawings on how pages are filled and saved"
type = "layers"
containers = ["gamekeeper.report"]
layers = [
  "assessment_report | protection_report",
  "link_report | mapping_report | protection_utility | risk_report | tables_report",
  "graphs",
  "page",
  "palette | tables",
]
exhaustive = true
'''
p.write_text(s[:i]+new)
