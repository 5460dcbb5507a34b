# Needs make and Python 3.11 or later. Everything is installed into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
SOURCES := pyproject.toml constraints.txt
INSTALLED := $(VENV)/.installed
DEV_INSTALLED := $(VENV)/.installed-dev

.DEFAULT_GOAL := help
.PHONY: help demo image quick lint docs part test verify check prove texts pictures web bench clean

help:
	@echo "make demo    install, then grade a right and a wrong answer"
	@echo "make image   build the image of the container sandbox (needs Docker); BASE=… names its base"
	@echo "make quick   run the tests that grade little and start no sandbox: a minute"
	@echo "make check   prove a change: lint, format, types, the quick tests, all that belongs to"
	@echo "             problems and tests that have changed and an eleventh of all else;"
	@echo "             SINCE=… TURN=… repeat an earlier one"
	@echo "make prove   prove all of it, for a release or after a change of the engine: an hour"
	@echo "make lint    lint, format and types alone"
	@echo "make docs    build the pages as a site in build/docs; a broken link is an error"
	@echo "make test    run all tests; RUN=… repeats the seeds of another run of that name"
	@echo "make verify  certify the bank; SEED=… repeats a run, SEEDS=… is how many"
	@echo "make texts   write what is made from the code and the bank: reference pages, the page of"
	@echo "             problems, the questions in statements"
	@echo "make pictures draw the pictures of the README, and all views of the pages (needs Chromium)"
	@echo "make web     bundle the pages of rooms and practice, for the package (needs Node)"
	@echo "make bench   measure ratios against plain Python"
	@echo "make clean   remove .venv and what tools have left"

# The second answer is wrong: exit code 1 is what the demo wants to see.
demo: $(INSTALLED)
	@$(BIN)/mha-judge run examples/right_attention.py
	@$(BIN)/mha-judge run examples/forgets_to_scale.py; test $$? -eq 1

image: $(INSTALLED)
	@$(BIN)/mha-judge sandbox build $(if $(BASE),--base $(BASE))

quick: $(DEV_INSTALLED)
	@$(BIN)/python -m pytest -n auto --dist loadgroup -m "not slow"

lint: $(DEV_INSTALLED)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

docs: $(DEV_INSTALLED)
	@$(BIN)/python -m sphinx --quiet --fail-on-warning --conf-dir docs . build/docs
	@echo "build/docs/index.html"

# What is drawn: SINCE is the commit that changes are counted from, TURN says which part.
PART = $(if $(SINCE),--since $(SINCE)) $(if $(TURN),--turn $(TURN))

verify: $(INSTALLED)
	@$(BIN)/mha-judge verify --sandbox jail $(if $(SEED),--seed $(SEED)) \
	  $(if $(SEEDS),--seeds $(SEEDS)) $(PART) $(if $(JSON),--json $(JSON))

test: $(DEV_INSTALLED)
	@$(BIN)/python -m pytest -n auto --dist loadgroup $(if $(RUN),--testrunuid $(RUN)) $(PART) \
	  $(if $(MINUTES),--minutes $(MINUTES))

# Changes are those of the three hours before the last commit, or all that the clone holds; where
# there is no history the date says which part is tried.
LAST = $(shell git log -1 --format=%ct 2>/dev/null)
part: SINCE ?= $(if $(LAST),$(firstword \
  $(shell git rev-list --first-parent --max-count=1 --before=$$(($(LAST) - 10800)) HEAD) \
  $(shell git rev-list --max-parents=0 HEAD)))
part: TURN ?= $(if $(SINCE),,$(shell date +%-j))
part:
	@$(if $(SINCE),,echo "no history: what has changed is not known; an eleventh of all is tried" >&2)
	@echo "SINCE=$(SINCE) TURN=$(TURN)"

check: lint docs
	@part="$$($(MAKE) --silent part)"; \
	$(MAKE) --no-print-directory verify SEED=1 SEEDS=1 $$part && \
	$(MAKE) --no-print-directory test $$part

prove: lint docs
	@mkdir -p build && rm -f build/verify.json build/tests.json
	@proven=0; \
	$(MAKE) --no-print-directory verify SEED=1 SEEDS=1 JSON=build/verify.json || proven=1; \
	$(MAKE) --no-print-directory test MINUTES=build/tests.json || proven=1; \
	$(BIN)/python tests/gate.py build/verify.json build/tests.json && exit $$proven

texts: $(INSTALLED)
	@$(BIN)/python -m mha_judge.bank.catalogue
	@$(BIN)/python docs/generate.py

pictures: $(DEV_INSTALLED)
	@$(BIN)/python examples/pictures.py
	@$(BIN)/python examples/views.py

web:
	@cd web && npm ci --no-audit --no-fund --silent && npm run --silent build

bench: $(DEV_INSTALLED)
	@$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) web/node_modules build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
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
	@$(PIP) install -c constraints.txt -e '.[container,practice]'
	@touch $@

$(DEV_INSTALLED): $(INSTALLED)
	@echo "installing what the tests need"
	@$(PIP) install -c constraints.txt -e '.[dev]'
	@touch $@
