# `make demo` trains a small policy and evaluates it; `make test` checks everything.
# Both set up .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := $(or $(RUN),runs/demo-$(shell date +%Y%m%d-%H%M%S))
ONE_THREAD := NUMBA_NUM_THREADS=1 OMP_NUM_THREADS=1

.PHONY: help install demo test lint test-slow test-browser test-libraries docs package benchmark tables clean

help:
	@echo "make demo       set up .venv, train configs/smoke.yaml, evaluate the policy against the bots"
	@echo "make test       set up .venv, run ruff, mypy and the tests"
	@echo "make test-slow  run the long tests"
	@echo "make test-browser  play the pages in a real browser; it needs Chromium"
	@echo "make test-libraries  test with other libraries, each in its own environment; LIBRARIES=\"torchrl ray\" for some"
	@echo "make docs       build the manual in docs/_build/html; a warning is an error"
	@echo "make package    build the wheel and the source distribution in dist/ and try them"
	@echo "make benchmark  print the benchmark figures"
	@echo "make tables     play the bots against one another and write the manual's tables of it (hours)"
	@echo "make clean      remove .venv and everything that was compiled"

install: $(VENV)/.installed

# torch comes first and pinned: a range would fetch a CUDA build.
$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt torch
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@

demo: install
	$(BIN)/python -m training.train configs/smoke.yaml --run $(RUN)
	$(BIN)/sleuth evaluate $(RUN)/best.safetensors --against random,cautious,sheet --games 600

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(ONE_THREAD) $(BIN)/python -m pytest -n auto --dist worksteal

test-slow: install
	$(ONE_THREAD) $(BIN)/python -m pytest -n auto --dist worksteal -m slow

test-browser: install
	.ci/chromium
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e ".[browser]"
	$(ONE_THREAD) $(BIN)/python -m pytest -m browser tests/browser

test-libraries:
	PYTHON=$(PYTHON) .ci/libraries $(LIBRARIES)

docs: install
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

package: install
	.ci/package

benchmark: install
	for script in $(filter-out benchmarks/tables.py benchmarks/searcher.py,$(wildcard benchmarks/*.py)); do $(ONE_THREAD) $(BIN)/python $$script || exit 1; done

tables: install
	$(ONE_THREAD) $(BIN)/python benchmarks/tables.py --jobs 2

clean:
	rm -rf $(VENV) .libraries build dist docs/_build *.egg-info
	find . -name __pycache__ -prune -exec rm -rf {} +
