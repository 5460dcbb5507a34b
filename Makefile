# Needs make and Python 3.11 or later. Everything is installed into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
SOURCES := pyproject.toml constraints.txt
INSTALLED := $(VENV)/.installed
DEV_INSTALLED := $(VENV)/.installed-dev

.DEFAULT_GOAL := help
.PHONY: help demo image test quick verify texts pictures check bench clean

help:
	@echo "make demo    install, then grade a right and a wrong answer"
	@echo "make image   build the image of the container sandbox (needs Docker); BASE=… names its base"
	@echo "make test    run all tests; RUN=… repeats the seeds of another run of that name"
	@echo "make quick   run the tests that grade little and start no sandbox"
	@echo "make verify  certify the bank; SEED=… repeats a run, SEEDS=… is how many,"
	@echo "             MUTANTS_SINCE=… tries only the mutants of what has changed, and a few"
	@echo "make texts   write the page of problems and the questions in statements from the bank"
	@echo "make pictures draw the pictures of the README (needs Chromium)"
	@echo "make check   lint, format, types, certify the bank, then all tests"
	@echo "make bench   measure ratios against plain Python"
	@echo "make clean   remove .venv and what tools have left"

# The second answer is wrong: exit code 1 is what the demo wants to see.
demo: $(INSTALLED)
	@$(BIN)/mha-judge run examples/right_attention.py
	@$(BIN)/mha-judge run examples/forgets_to_scale.py; test $$? -eq 1

image: $(INSTALLED)
	@$(BIN)/mha-judge sandbox build $(if $(BASE),--base $(BASE))

test: $(DEV_INSTALLED)
	@$(BIN)/python -m pytest -n auto --dist loadgroup $(if $(RUN),--testrunuid $(RUN))

quick: $(DEV_INSTALLED)
	@$(BIN)/python -m pytest -n auto --dist loadgroup -m "not slow"

verify: $(INSTALLED)
	@$(BIN)/mha-judge verify --sandbox jail \
	  $(if $(SEED),--seed $(SEED)) $(if $(SEEDS),--seeds $(SEEDS)) \
	  $(if $(MUTANTS_SINCE),--mutants-since $(MUTANTS_SINCE))

check: $(DEV_INSTALLED)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(MAKE) --no-print-directory verify SEED=1 SEEDS=1
	@$(MAKE) --no-print-directory test

texts: $(INSTALLED)
	@$(BIN)/python -m mha_judge.catalogue

pictures: $(INSTALLED)
	@$(BIN)/python examples/pictures.py

bench: $(DEV_INSTALLED)
	@$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "mha-judge needs Python 3.11 or later; '$(PYTHON)' is missing or older." >&2; \
	  echo "Name another one: make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "making $(VENV)"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "'$(PYTHON) -m venv' failed; Debian and Ubuntu need the package python3-venv." >&2; exit 1; }

$(INSTALLED): $(SOURCES) | $(BIN)/python
	@echo "installing mha-judge and torch; the first time takes a few minutes"
	@$(PIP) install -c constraints.txt -e .
	@touch $@

$(DEV_INSTALLED): $(INSTALLED)
	@echo "installing what the tests need"
	@$(PIP) install -c constraints.txt -e '.[dev]'
	@touch $@
