# Everything a newcomer needs: `make demo` and `make test`. Both set up `.venv` first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
SAMPLING := tests/chains tests/devices/test_mesh.py tests/kernels tests/learning tests/test_random.py
# Three on two cores: what waits for servers, browsers and other processes is many a test.
PYTEST := $(BIN)/python -m pytest -n 3 --dist loadfile --durations 40
DOUBLE := JAX_ENABLE_X64=1 DOEBLIN_CHECK_SHAPES=1 $(BIN)/python -m pytest --durations 25
# What was tested last; `make CONSTRAINTS= …` takes the newest versions instead.
CONSTRAINTS ?= constraints.txt

# Tests start hundreds of processes, each of which would compile our modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo test suite beside thorough double browser load bench fuzz mutants docs notebooks gallery lint clean

help:  ## Show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(STAMP)  ## Create .venv with everything (quick when nothing changed)

$(STAMP): pyproject.toml $(CONSTRAINTS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "doeblin needs Python 3.11 or newer; '$(PYTHON)' is older. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --prefer-binary \
	  $(addprefix --constraint ,$(CONSTRAINTS)) --editable '.[dev]'
	@touch $@

demo: $(STAMP)  ## The main job on embedded data, ending with a report to open
	$(BIN)/doeblin demo --out report

test: $(STAMP) browser  ## Lint, type-check and run the whole test suite
	$(MAKE) --no-print-directory --jobs 2 suite beside

suite: $(STAMP)
	$(PYTEST) -m "not thorough"

# What has one process goes beside the suite, so that no core is idle at its end.
beside: lint
	$(DOUBLE) --quiet -m double $(SAMPLING)

thorough: $(STAMP) browser  ## Every test, those of chains, kernels and learning in both precisions
	$(PYTEST)
	$(DOUBLE) -n 2 --dist loadfile $(SAMPLING)

double: $(STAMP)  ## All tests of chains, kernels and learning, in double precision
	$(DOUBLE) -n 2 --dist loadfile $(SAMPLING)

# The page is tested in Debian's Chromium, installed here where that needs no password.
browser:
	@for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit 0; done; \
	root=$$([ $$(id -u) = 0 ] || echo "sudo -n"); \
	{ command -v apt-get && $$root true && $$root apt-get update -qq && \
	  $$root apt-get install -qq -y --no-install-recommends chromium; } >/dev/null 2>&1 || \
	echo "Chromium is not installed and cannot be by apt-get here: the browser tests will be skipped."

load: $(STAMP)  ## Fifty clients on the server for half a minute
	DOEBLIN_LOAD_SECONDS=30 $(BIN)/python -m pytest -q tests/serve/test_load.py

lint: $(STAMP)  ## ruff and pyright
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

bench: $(STAMP)  ## Run the benchmarks; JSON goes to benchmarks/results
	$(BIN)/python -m benchmarks

fuzz: $(STAMP)  ## Verdicts against compilers and solvers on 10,000 random programs each
	$(BIN)/python -m tests.programs.fuzz c --count 10000 --jobs 2
	$(BIN)/python -m tests.programs.fuzz clauses --count 10000 --jobs 2
	$(BIN)/python -m tests.programs.fuzz premises --count 1000 --timeout 2 --jobs 2
	$(BIN)/python -m tests.programs.fuzz rewritings --count 500 --jobs 2
	$(BIN)/python -m tests.programs.fuzz.pointers 0 2000
	$(BIN)/python -m tests.programs.fuzz.reach 500

mutants: $(STAMP)  ## Do the tests see faults? Hours; `make mutants SAMPLE=300` tries that many
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --prefer-binary --editable '.[mutants]'
	$(BIN)/python -m tests.mutants $(if $(SAMPLE),--sample $(SAMPLE))

# Notebooks are the tutorials, executed; they are made anew when a tutorial changes.
NOTEBOOKS := $(patsubst docs/tutorials/%.md,site/notebooks/%.ipynb,$(wildcard docs/tutorials/*.md))

docs: $(STAMP)  ## Build the documentation into site/, with the tutorials as notebooks
	$(BIN)/mkdocs build --strict
	$(MAKE) --no-print-directory notebooks

notebooks: $(NOTEBOOKS)  ## The tutorials as executed notebooks, in site/notebooks

site/notebooks/%.ipynb: docs/tutorials/%.md docs/build.py $(STAMP)
	$(BIN)/python docs/build.py notebook $< $@

gallery: $(STAMP)  ## Make the gallery's pictures again
	$(BIN)/python docs/build.py gallery

clean:  ## Remove the virtual environment and everything generated
	rm -rf $(VENV) report site screenshots benchmarks/results .pytest_cache .ruff_cache
