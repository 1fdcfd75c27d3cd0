# Every target works alone on a fresh clone with Python 3.11+ and make; `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# The first interpreter that runs and is new enough; a version manager's shim may exist and run nothing.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11 python3.14 python; do \
  $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo $$python; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PIP := PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install -qq
TESTS ?= tests
# More workers than cores: most tests wait for processes that they start.
WORKERS ?= 5

.PHONY: help setup demo test test-long check format imports types lint bench docs golden gates verdicts lint-eval clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(INSTALLED) ## make .venv with keel and everything its checks need

$(INSTALLED): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" && $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "keel needs Python 3.11 or newer; set PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "setting up $(VENV) with $$($(PYTHON) --version)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) --constraint constraints.txt --editable '.[dev]'
	@$(BIN)/python -m compileall -q src
	@touch $@

demo: $(INSTALLED) ## run the main job on real servers: freeze, check, drift, diff, bundle
	@$(BIN)/python tools/demo.py

test: $(INSTALLED) ## run the tests
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal $(TESTS)

test-long: $(INSTALLED) ## run the tests with many more random cases
	@KEEL_TEST_LONG=1 $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal --timeout 1800 $(TESTS)

check: $(INSTALLED) lint types imports docs test ## everything that a change must pass
	@git diff --exit-code -- docs || { echo "generated docs are stale: commit the difference" >&2; exit 1; }

lint: $(INSTALLED)
	@$(BIN)/ruff check --quiet . && $(BIN)/ruff format --check --quiet .

format: $(INSTALLED) ## let ruff arrange the code
	@$(BIN)/ruff check --quiet --fix . ; $(BIN)/ruff format --quiet .

types: $(INSTALLED)
	@$(BIN)/mypy

imports: $(INSTALLED)
	@$(BIN)/lint-imports --no-cache

bench: $(INSTALLED) ## measure speed and size, as ratios in one run
	@$(BIN)/python tools/bench.py
	@$(BIN)/python tools/bench_capture.py network lock soak=60
	@$(BIN)/python tools/bench_runtime.py
	@$(BIN)/python tools/bench_gateway.py

docs: $(INSTALLED) ## regenerate the pages that come from the code
	@$(BIN)/python tools/docs.py

golden: $(INSTALLED) ## rewrite the golden files of the tests
	@KEEL_GOLDEN=write $(BIN)/python -m pytest -q tests/golden tests/acceptance

gates: $(INSTALLED) ## score the gates on their corpus
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tools/score_gates.py fixtures/gates

verdicts: $(INSTALLED) ## score the schema relation on its corpus, every witness verified
	@$(BIN)/python tools/score_verdicts.py fixtures/schema-verdicts.jsonl \
	  --classify keel.compat.jsonl:classify --groups --max-missed 0

lint-eval: $(INSTALLED) ## score the lint rules on their corpus: errors located, errors on benign tools
	@$(BIN)/python tools/score_lint.py --corpus fixtures/tool-lint.jsonl --split-siblings \
	  --cmd '$(BIN)/python tools/lint_cases.py {dir}' --level error --min-located 0.90 --max-fpr 0.01
	@$(BIN)/python tools/score_lint.py --corpus fixtures/tool-lint.jsonl --split-siblings \
	  --cmd '$(BIN)/python tools/lint_cases.py {dir}' --level warning --max-fpr 0.02 | tail -1

clean: ## remove what the targets made
	rm -rf $(VENV) .demo dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
