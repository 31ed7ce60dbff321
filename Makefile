# `make help` lists the targets. Everything is installed into .venv, nothing outside the repository.

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SPEC_REPORT := .spec-report.json

# The first interpreter that is new enough; `make PYTHON=/path/to/python3.12 …` overrides.
PYTHON ?= $(shell for candidate in python3 python3.13 python3.12 python3.11 python; do \
	"$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 \
	&& { echo "$$candidate"; break; }; done)

# pyright brings its own sources and runs on the packaged node; it need not ask for a newer version.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

# inline-snapshot cannot rewrite anything in a parallel run, and would say so each time.
PYTEST := $(BIN)/pytest -n auto --inline-snapshot=disable

# One run that gathers coverage and the requirement ids. The plugin that knows the option is found
# through the folder, so both forms, `=` and `tests`, are needed.
MEASURED_TESTS := $(PYTEST) --cov --cov-report= --cov-fail-under=0 --spec-report=$(SPEC_REPORT) tests

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install demo test check conformance bench format clean

help: ## List the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST)

install: $(STAMP) ## Create .venv with the pinned packages

$(STAMP): constraints.txt pyproject.toml
	@if [ -z "$(PYTHON)" ] || ! "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
		echo "error: Python 3.11 or newer is needed; install it or run: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; \
		exit 1; \
	fi
	@"$(PYTHON)" -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r constraints.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

demo: $(STAMP) ## Grade the recorded example session
	@$(BIN)/aw graders run --session examples/workflow-run.jsonl

test: $(STAMP) ## Run the tests
	@$(PYTEST)

check: $(STAMP) ## Format, lint, types, imports, words, tests, coverage, conformance
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/codespell
	$(BIN)/python tools/make_docs.py --check
	$(BIN)/python tools/make_coverage.py --check
	$(BIN)/python tools/make_schemas.py --check
	@rm -f $(SPEC_REPORT)
	$(MEASURED_TESTS)
	$(BIN)/coverage report
	$(BIN)/python tools/conformance.py $(SPEC_REPORT)

conformance: $(STAMP) ## Rewrite docs/conformance.md from a run of all tests
	@rm -f $(SPEC_REPORT)
	$(MEASURED_TESTS)
	$(BIN)/python tools/conformance.py --write $(SPEC_REPORT)

bench: $(STAMP) ## Measure grading of large sessions; WRITE=--write records it
	$(BIN)/python -m benchmarks $(WRITE)

format: $(STAMP) ## Rewrite the sources in the project's style
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

clean: ## Remove .venv, caches and reports
	rm -rf $(VENV) build dist src/*.egg-info $(SPEC_REPORT) .coverage .coverage.* htmlcov \
		.hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests tools benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
