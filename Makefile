# Every target sets itself up: the virtual environment is made on first use and again when pyproject.toml changes.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# with the libraries of networks, clusters and indices, on which the tests of encoders and rankers run
MODELS := $(VENV)/.models
OUT ?= out/demo

.PHONY: help demo test test-all lint format bench clean

help:  ## Show this help
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(STAMP): pyproject.toml
	rm -f $(STAMP)
	$(BIN)/python -m pip --version > /dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $(STAMP)

$(MODELS): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,st,hf,onnx,api,mt,ray,ann]' 'torch>=2.5,<2.14'
	touch $(MODELS)

demo: $(STAMP)  ## Make built-in data, evaluate five encoders, write a report to out/demo
	$(BIN)/xlingual demo --out $(OUT)

test: $(MODELS)  ## Run the fast tests (about three minutes)
	$(BIN)/python -m pytest -n auto -m 'not slow'

test-all: $(MODELS)  ## Run all tests, the slow ones too
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

clean:  ## Remove the virtual environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
