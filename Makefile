# Every chore by name. The environment lives in .venv; nothing needs activating.
# Set-up happens once and again only when pyproject.toml or a lock changes.

PYTHON ?= python3
GOLDEN ?= tests/reference/golden
STORE ?=
ENGINE ?=
BENCH ?=
# Tests of one file stay together, so that a kernel is compiled by one of the two. In the order of
# their names, since files with few and long tests would otherwise come last, for one to wait.
BY_TWO := -n 2 --dist loadfile --no-loadscope-reorder
TESTS ?= $(BY_TWO) -m "not slow"
UPGRADE ?=
ADVISORIES ?=
SECONDS ?= 600
SEED ?= $(shell date +%s)
WORKERS ?= 2

VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install -qq --only-binary :all:

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
export PIP_ROOT_USER_ACTION := ignore
# Without bytecode every run would parse the package, and pytest rewrite every test, anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo serve pages client picture screens test slow every thorough fuzz check format spark reference bench docs matrix dist lock audit licences clean FORCE

help: ## list the chores
	@sed -n 's/^\([a-z][a-z]*\):.*## \(.*\)/\1\t\2/p' Makefile | while IFS='	' read -r name text; do \
	  printf '  make %-10s %s\n' "$$name" "$$text"; done

demo: $(VENV)/.run ## walk through an assessment and write demo-output/
	@$(VENV)/bin/gamekeeper demo

serve: $(VENV)/.web pages ## open the workbench in the browser, on made-up forms and a made-up file
	@$(VENV)/bin/gamekeeper serve --demo

# Without Node, and without an index to get one from, all but the pages works.
pages: $(VENV)/.web ## build the pages of the workbench, where they are not those of the sources
	@$(PY) hatch_build.py pages >$(VENV)/pages.log 2>&1 || { $(PIP) --require-hashes -r requirements/node.lock \
	  && $(PY) hatch_build.py pages >$(VENV)/pages.log 2>&1; } || \
	  { tail -5 $(VENV)/pages.log >&2; echo "left out: the pages of the workbench, which were not built" >&2; }

client: $(VENV)/.web ## write the document of the server's interface anew, and the client that pages use
	@$(PY) -m gamekeeper.web.app frontend/openapi.json
	@$(PY) hatch_build.py client

picture: demo ## draw the picture of the README anew from the demo's report (needs chromium)
	@chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1000,1440 \
	  --screenshot=$(CURDIR)/docs/report.png file://$(CURDIR)/demo-output/risk.html
	@$(PY) -c "from PIL import Image; p = 'docs/report.png'; Image.open(p).convert('RGB').quantize(48).save(p, optimize=True)"

screens: $(VENV)/.test pages ## take the pictures of the workbench's pages anew for the documentation (needs chromium)
	@$(PY) -m tests.browser.screenshots docs/workbench

test: $(VENV)/.test pages ## run the tests but the slow ones (TESTS="-k name" hands arguments to pytest)
	@$(PY) -m pytest -q $(TESTS)

slow: $(VENV)/.test pages ## run the slow tests, the documentation of the demo and the pages in the browser among them
	@$(PY) hatch_build.py test
	@$(PY) -m pytest -q $(BY_TWO) -m slow

every: $(VENV)/.test pages ## run all tests once, the slow ones too, as continuous integration does
	@$(PY) hatch_build.py test
	@$(PY) -m pytest -q $(BY_TWO)

thorough: $(VENV)/.test ## run all tests, the slow ones too, with many more random cases
	@HYPOTHESIS_PROFILE=thorough $(PY) -m pytest -q -n 2

fuzz: $(VENV)/.test ## look for inputs that break it (SECONDS=3600 SEED=1 WORKERS=2)
	@$(PY) -m tests.fuzz --seconds $(SECONDS) --seed $(SEED) --workers $(WORKERS)

check: $(VENV)/.check ## lint, format, types and layers
	@$(VENV)/bin/ruff check --quiet
	@$(VENV)/bin/ruff format --check --quiet || \
	  { echo "these files are not formatted; run: make format"; $(VENV)/bin/ruff format --check; exit 1; }
	@$(VENV)/bin/basedpyright --level error
	@$(VENV)/bin/lint-imports --no-logo
	@$(PY) -m gamekeeper.web.app --check frontend/openapi.json
	@$(PY) hatch_build.py check

format: $(VENV)/.check ## format the code and repair what ruff can
	@$(VENV)/bin/ruff check --quiet --fix --exit-zero
	@$(VENV)/bin/ruff format --quiet

spark: $(VENV)/.spark ## install Spark (half a gigabyte; needs Java), so that the tests run on it too

reference: $(VENV)/.run ## run the worked examples in a folder (GOLDEN=folder, STORE=sqlite or postgresql: by way of a store, ENGINE=spark or duckdb: counted by it)
	@$(PY) -m tests.reference.run $(if $(ENGINE),--engine=$(ENGINE)) $(if $(STORE),--through-store=$(STORE)) "$(GOLDEN)"

bench: $(VENV)/.run ## run the benchmarks (BENCH="..." hands them arguments)
	@$(PY) -m benchmarks $(BENCH)

docs: $(VENV)/.docs ## build the documentation, offline, in build/site
	@$(PY) -m sphinx -q -W --keep-going -b html docs build/site
	@echo "The documentation: build/site/index.html"

matrix: pages ## run the tests on every Python from 3.11 to 3.14 that is found
	@.ci/matrix

dist: $(VENV)/.run pages ## build wheel and sdist, and try the wheel in a clean environment
	@.ci/dist

lock: $(VENV)/.made ## resolve the locks anew (UPGRADE=1 raises every version)
	@$(PIP) 'uv>=0.13'
	@set -e; compile() { \
	    $(VENV)/bin/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 \
	      --custom-compile-command 'make lock' $(if $(UPGRADE),--upgrade) "$$@"; }; \
	  all='--constraint requirements/check.lock'; \
	  compile pyproject.toml --extra web --extra postgres --group check --output-file requirements/check.lock; \
	  compile pyproject.toml --extra web --extra postgres --group test $$all --output-file requirements/test.lock; \
	  compile pyproject.toml --extra web $$all --output-file requirements/web.lock; \
	  compile pyproject.toml $$all --output-file requirements/run.lock; \
	  compile pyproject.toml --extra spark $$all --output-file requirements/spark.lock; \
	  compile --group build $$all --output-file requirements/build.lock; \
	  compile --group node $$all --output-file requirements/node.lock; \
	  compile pyproject.toml --group docs $$all --output-file requirements/docs.lock
	@if grep -n '://' requirements/*.lock; then echo 'a lock must hold no address' >&2; exit 1; fi

audit: $(VENV)/.run ## hold the locks against advisories of yours (ADVISORIES=file, folder or zip in OSV's JSON)
	@test -n "$(ADVISORIES)" || { echo "name a file: make audit ADVISORIES=all.zip, the export of OSV for PyPI" >&2; exit 2; }
	@$(PY) .ci/audit.py advisories "$(ADVISORIES)"

licences: $(VENV)/.web ## list the licences of everything that is needed at run time, and check them
	@$(PY) .ci/audit.py licences

clean: ## remove everything that make has made
	@rm -rf $(VENV) .matrix demo-output demo-workbench frontend/node_modules src/gamekeeper/web/static build dist .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	@find src tests benchmarks -type d -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

# Set-up. A virtual environment knows its own place: one that was moved is made anew.

ifneq ($(shell test -x $(PY) && cat $(VENV)/.made 2>/dev/null),$(CURDIR))
$(VENV)/.made: FORCE
endif

# Names the Debian package that is missing where virtual environments cannot be made.
define MISSING
import importlib.util, sys
if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("venv") is None:
    print("python%d.%d-venv" % sys.version_info[:2])
endef
export MISSING

$(VENV)/.made:
	@set -e; \
	  fits() { "$$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }; \
	  python='$(PYTHON)'; \
	  if [ '$(origin PYTHON)' = file ] && ! fits "$$python"; then \
	    for minor in 19 18 17 16 15 14 13 12 11; do \
	      if fits python3.$$minor; then python=python3.$$minor; break; fi; \
	    done; \
	  fi; \
	  if ! fits "$$python"; then \
	    echo "Gamekeeper needs Python 3.11 or newer, and '$$python' is not; name another: make PYTHON=python3.12" >&2; \
	    exit 1; \
	  fi; \
	  missing=$$("$$python" -c "$$MISSING" | paste -s -d ' '); \
	  if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing $$missing ..."; \
	    { apt-get -qq update && DEBIAN_FRONTEND=noninteractive \
	      apt-get -qq install -y --no-install-recommends $$missing; } >/dev/null 2>&1 || true; \
	    missing=$$("$$python" -c "$$MISSING" | paste -s -d ' '); \
	  fi; \
	  if [ -n "$$missing" ]; then \
	    echo "A system package is missing; run: sudo apt-get install $$missing" >&2; \
	    exit 1; \
	  fi; \
	  echo "setting up $(VENV) (once, about a minute) ..."; \
	  rm -rf $(VENV); \
	  "$$python" -m venv $(VENV); \
	  printf '%s' '$(CURDIR)' > $@

$(VENV)/.run: $(VENV)/.made pyproject.toml requirements/run.lock requirements/build.lock
	@echo "installing what Gamekeeper needs ..."
	@$(PIP) --require-hashes -r requirements/run.lock -r requirements/build.lock
	@$(PIP) --no-deps --no-build-isolation --no-index --editable .
	@touch $@

$(VENV)/.web: $(VENV)/.run requirements/web.lock
	@echo "installing what the workbench in the browser needs ..."
	@$(PIP) --require-hashes -r requirements/web.lock
	@touch $@

$(VENV)/.test: $(VENV)/.web requirements/test.lock
	@echo "installing what the tests need ..."
	@$(PIP) --require-hashes -r requirements/test.lock
	@touch $@

# There is no wheel of Spark.
$(VENV)/.spark: $(VENV)/.test requirements/spark.lock
	@echo "installing Spark ..."
	@$(PIP) --no-binary pyspark --require-hashes -r requirements/spark.lock
	@touch $@

$(VENV)/.check: $(VENV)/.test requirements/check.lock
	@echo "installing what the checks need ..."
	@$(PIP) --require-hashes -r requirements/check.lock
	@touch $@

$(VENV)/.docs: $(VENV)/.run requirements/docs.lock
	@echo "installing what the documentation needs ..."
	@$(PIP) --require-hashes -r requirements/docs.lock
	@touch $@
