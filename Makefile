# Everything a newcomer needs: `make demo` and `make test`. Both set up `.venv` first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help setup demo test bench fuzz docs lint clean

help:  ## Show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(STAMP)  ## Create .venv with everything (quick when nothing changed)

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "doeblin needs Python 3.11 or newer; '$(PYTHON)' is older. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(STAMP)  ## The main job on embedded data, ending with a report to open
	$(BIN)/doeblin demo --out report

test: $(STAMP)  ## Lint, type-check and run the whole test suite
	$(MAKE) --no-print-directory lint
	$(BIN)/python -m pytest -n 2

lint: $(STAMP)  ## ruff and pyright
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

bench: $(STAMP)  ## Run the benchmarks; JSON goes to benchmarks/results
	$(BIN)/python -m benchmarks

fuzz: $(STAMP)  ## Verdicts against brute force on 2,000 random programs
	$(BIN)/python -m tests.programs.program_fuzz --count 2000

docs: $(STAMP)  ## Build the documentation into site/
	$(BIN)/mkdocs build --strict

clean:  ## Remove the virtual environment and everything generated
	rm -rf $(VENV) report site benchmarks/results .pytest_cache .ruff_cache
