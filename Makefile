# Every target does its own set-up, from nothing but Python 3.11, make and git.
# The second time is quick: the stamp is remade only when what is installed changes.

PYTHON ?= python3
SUITE ?= import
RUN ?= $(shell date +%Y%m%d)

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PIP := $(BIN)/python -m pip --quiet --quiet --disable-pip-version-check --no-input

# Tests start hundreds of processes: what is compiled is kept, or each would compile it again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install demo test lint docs cookbook names bench soak constraints clean

help: ## say what each target does
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Discreet needs Python 3.11 or later; set PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml constraints.txt | $(BIN)/python
	@echo "setting up $(VENV) ..."
	@$(PIP) install --constraint constraints.txt --upgrade pip
	@$(PIP) install --constraint constraints.txt --build-constraint constraints.txt \
		--editable '.[attacks,pandas,plot,server,sqlalchemy]' --group dev --group docs
	@touch $@

install: $(STAMP) ## make .venv with everything that development needs

demo: $(STAMP) ## six questions to a made-up clinic, in a fresh temporary project
	@$(BIN)/discreet demo

test: lint ## everything that must pass: lint, types, tests, doctests, documentation
	@$(BIN)/pytest --quiet -n auto --maxprocesses 4 --dist worksteal

lint: $(STAMP) ## style, formatting, types, import direction
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-cache >$(VENV)/import-direction.txt \
		|| { cat $(VENV)/import-direction.txt; exit 1; }

docs: $(STAMP) ## the documentation site, built strictly into docs/_build/html
	@$(BIN)/sphinx-build -q -W -n --keep-going -t sources -b html -d docs/_build/doctrees docs docs/_build/html
	@echo "docs/_build/html/index.html"

cookbook: $(STAMP) ## ask the cookbook's questions again, and write their answers into its page
	@$(BIN)/python -m docs._ext.cookbook
	@$(BIN)/python -m docs._ext.forty_questions

names: $(STAMP) ## write the tables of what can be imported into the reference of Python
	@$(BIN)/python -m docs._ext.rooms

bench: $(STAMP) ## make bench SUITE=import writes benchmarks/results/import.json
	@$(BIN)/python -m benchmarks.run $(SUITE)

soak: $(STAMP) ## the long versions of fuzzing, replay and sampling; RUN=number repeats a run
	@$(BIN)/pytest --quiet -n auto --maxprocesses 4 --dist worksteal --soak --run-number $(RUN) tests

constraints: $(BIN)/python ## pin again everything that is installed
	@$(BIN)/python tools/pin.py constraints.txt

clean: ## remove everything that can be made again
	@rm -rf $(VENV) .bench build dist docs/_build docs/reference/api docs/reference/references.rst
	@rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
