# Every target sets itself up: the virtual environment is made on first use and again when pyproject.toml changes.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# what is installed: the package, and on top of it the developers' tools, and on top of them the libraries of
# networks and clusters, on which the tests of encoders and rankers run
CORE := $(VENV)/.core
STAMP := $(VENV)/.installed
MODELS := $(VENV)/.models
# the libraries that people come from: many, and with pins of their own, so in an environment of their own
INTEROP := .venv-interop
# bytecode is made of what is imported, not of all that is installed
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt
OUT ?= out/demo
# containers often set it; without kept bytecode every process compiles the package and the tests again
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo suite test test-slow test-interop test-all lint format bench gpu docs clean

help:  ## Show this help
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(CORE): pyproject.toml constraints.txt
	rm -f $(CORE)
	$(BIN)/python -m pip --version > /dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(PIP) -e .
	touch $(CORE)

$(STAMP): $(CORE)
	$(PIP) -e '.[dev]'
	touch $(STAMP)

$(MODELS): $(STAMP)
	$(PIP) -e '.[dev,small,st,onnx,api,mt,ray]'
	touch $(MODELS)

demo: $(CORE)  ## Make built-in data, evaluate five encoders, write a report to out/demo
	$(BIN)/xlingual demo --out $(OUT)

suite: $(CORE)  ## Run examples/suite.toml on data in ../shared/data, write its page to out/suite
	$(BIN)/xlingual run examples/suite.toml

test: $(MODELS)  ## Run the fast tests (about three minutes on two cores)
	$(BIN)/python -m pytest -n auto -m 'not slow'

test-slow: $(MODELS)  ## Run the slow tests, and the property tests with all their examples
	$(BIN)/python -m pytest -n auto -m 'slow or examples'

$(INTEROP)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(INTEROP)
	$(INTEROP)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt \
	  'torch>=2.5' -e '.[interop]' pytest pytest-xdist hypothesis
	touch $@

test-interop: $(INTEROP)/.installed  ## Run the tests with the libraries that people come from (their own environment)
	XLINGUAL_TEST_ALL_LIBRARIES=1 $(INTEROP)/bin/python -m pytest -n auto tests/interop

test-all: $(MODELS)  ## Run all tests, as slow as they are
	$(BIN)/python -m pytest -n auto

lint: $(STAMP)  ## Check style, types and who imports whom
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)  ## Put the code into its usual form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)  ## Measure speed and memory against the bare matrix product (several minutes)
	$(BIN)/python -m benchmarks

gpu: $(MODELS)  ## Run the tests that need a GPU and its benchmark (share of the peak, 1M against 1M)
	$(BIN)/python -m pytest -k cuda -rs
	$(BIN)/python -m benchmarks gpu

$(VENV)/.docs: $(CORE)
	$(PIP) -e '.[docs]'
	touch $@

docs: $(VENV)/.docs  ## Build the site of the documentation in build/site; a broken link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m website

clean:  ## Remove the virtual environment and caches
	rm -rf $(VENV) $(INTEROP) build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
