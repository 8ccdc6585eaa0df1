# Two commands are enough: `make demo` and `make test`. Everything else is a part of them.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CACHE := $(or $(SKYLINE_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/skyline)
# one directory per state of the library: see numba_dir in deploy/local/cache.py
KERNELS := $(shell cat $$(find skyline -name '*.py' | LC_ALL=C sort) | sha256sum | cut -c1-12)
export NUMBA_CACHE_DIR ?= $(CACHE)/numba/$(KERNELS)

.DEFAULT_GOAL := help
.PHONY: help setup demo up test lint bench soak clean

help: ## list the commands
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

setup: $(VENV)/.ready ## make the virtual environment in .venv (implied by the others)

$(VENV)/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: set PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check --no-input --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --disable-pip-version-check --no-input --no-deps --no-build-isolation -q -e .
	@$(BIN)/python -m deploy.local.java
	@touch $@

demo: setup ## run the spot market and show its skyline; SECONDS=10 ends by itself and checks the result
	@$(BIN)/skyline demo --seconds $(or $(SECONDS),0)

up: setup ## run Kafka and every service here until Ctrl-C
	@$(BIN)/skyline up

test: setup ## run every test, on a real Kafka, in three processes (JOBS=...): most of them wait for something
	$(BIN)/python -m pytest -n $(or $(JOBS),3) --dist loadscope --no-loadscope-reorder

lint: setup ## ruff, mypy and import-linter
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup ## the benchmarks, in their quick form
	@for name in $$(grep -l "= parse_arguments(" benchmarks/*.py | xargs -n1 basename -s .py); do \
		echo "== $$name"; $(BIN)/python -m benchmarks.$$name --quick || exit 1; done

soak: setup ## kill maintainers 1000 times (KILLS=...) and restart the broker, and compare what was published
	$(BIN)/python -m pytest tests/maintainer/test_crashes.py -s --soak $(or $(KILLS),1000)

clean: ## remove the virtual environment, local data and caches of tools
	rm -rf $(VENV) .local build *.egg-info .mypy_cache .ruff_cache .import_linter_cache .hypothesis tests/artifacts
