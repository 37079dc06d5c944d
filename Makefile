# Everything runs in .venv, which .ci/make-env makes (once; again when a lock changes).

BIN := .venv/bin
# Links to the rooms, below tidemark as a wheel has them: import-linter and mypy find them there.
AS_INSTALLED := .venv/as-installed
VARIANTS := kafka-0.10,kafka-0.11,kafka-2.0,kafka-2.1,kafka-2.7
LOCK := $(BIN)/uv pip compile --quiet --no-header --universal --python-version 3.11 --generate-hashes

.DEFAULT_GOAL := help
.PHONY: help demo check measure test test-systems lint format pictures docs dist bench env tools lock clean

# Compiled code is kept, whoever asks for what: tests start hundreds of Pythons, and most of their start would be compiling.
unexport PYTHONDONTWRITEBYTECODE

# Two cores have work for more processes than two: many tests wait for a node, a broker, an engine.
PYTEST := $(BIN)/python -m pytest --dist loadfile --no-loadscope-reorder
QUICK := not docker and not kafka and not spark and not slow and not systems

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

demo: env ## compare five truncation rules over the same 2,000 fault plans; report in results/demo; 1 to 3 minutes (ARGS=--fresh starts over)
	$(BIN)/tidemark compare --variants $(VARIANTS) --plans 2000 --seed 1 --out results/demo --report $(ARGS)

check: env ## what a change wants tried every few minutes: lint, and the tests that need no engine, JVM or patience
	@$(MAKE) --no-print-directory --keep-going -j 4 lint $(QUICK_GROUPS)

# Groups that take about the same time, one process each: with two, each of them would collect all tests before it begins.
QUICK_GROUPS := quick-tests-of-live-worlds quick-tests-of-nodes-and-search quick-tests-of-checkers-and-simulator
LIVE := tests/harness --ignore tests/harness/simulator --ignore tests/harness/search
NODES := tests/nodes tests/tidemark tests/harness/search
.PHONY: $(QUICK_GROUPS)
quick-tests-of-live-worlds: GROUP = $(LIVE)
quick-tests-of-nodes-and-search: GROUP = $(NODES)
quick-tests-of-checkers-and-simulator: GROUP = $(filter-out $(addsuffix /,tests/harness $(NODES)),$(wildcard tests/*/ tests/test_*.py)) tests/harness/simulator
$(QUICK_GROUPS): env
	$(BIN)/python -m pytest -m "$(QUICK)" -q -r fE -o cache_dir=.pytest_cache/$@ $(GROUP)

# Until nothing is added: where tests share what a file made once, each time the first that is left pays for it.
measure: env ## write down in tests/slow.txt which tests make check leaves out because they take long
	: > tests/slow.txt
	for time in $$(seq 9); do before=$$(cksum < tests/slow.txt); \
	  $(BIN)/python -m pytest --measure -m "$(QUICK)" -q tests || exit; \
	  if [ "$$before" = "$$(cksum < tests/slow.txt)" ]; then break; fi; done

test: env ## lint, and the tests, with Docker, Kafka and Spark (ARGS=-x stops at the first failure)
	@$(MAKE) --no-print-directory --keep-going -j 3 lint all-but-systems

# Lint beside it: packages are waited for, and later images and engines.
.PHONY: all-but-systems collected
all-but-systems: tools collected
	$(PYTEST) -n 4 -m "not systems" $(ARGS)

# Compiles the tests: else each of the four would, at the same time.
collected: env
	@$(PYTEST) --collect-only -qq >/dev/null 2>&1 || true

test-systems: tools ## what make test leaves out because it takes minutes: more of it on real processes, brokers and clusters
	$(PYTEST) -n 2 -m "systems or hypothesis" --hypothesis-profile deep $(ARGS)

lint: env ## ruff, mypy, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy examples/*.py
	cd $(AS_INSTALLED) && ../bin/lint-imports --no-cache --config ../../pyproject.toml

format: env ## let ruff fix and format what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

pictures: env ## draw the README's terminal again, from what the command prints today
	$(BIN)/python docs/images/terminal.py

docs: env ## make the site in build/site: the pages with search, the published reports; a minute; a broken link fails
	@.ci/make-site

dist: env ## build the wheel, in dist/, and from it the container image of the command
	@.ci/make-dist

bench: env ## run the benchmarks
	$(BIN)/python -m bench

env: ## make .venv
	@.ci/make-env

tools: env ## install what tests need of Debian, and an S3 server, or say which tests will be skipped
	@.ci/make-test-tools
	@.ci/make-test-store

lock: env ## pin again what pyproject.toml and the requirements*.in files ask for (UPGRADE=--upgrade for newest)
	$(LOCK) $(UPGRADE) requirements-build.in -o requirements-build.lock
	$(LOCK) $(UPGRADE) requirements-docs.in -o requirements-docs.lock
	$(LOCK) $(UPGRADE) requirements-java.in -o requirements-java.lock
	$(LOCK) $(UPGRADE) requirements-moto.in -o requirements-moto.lock
	$(LOCK) $(UPGRADE) --all-extras pyproject.toml -o requirements.lock
	$(LOCK) $(UPGRADE) -c requirements.lock requirements-node.in -o requirements-node.lock
	$(LOCK) $(UPGRADE) --extra report -c requirements.lock pyproject.toml -o docker/command/requirements.lock
	$(LOCK) $(UPGRADE) -c requirements.lock docker/spark/requirements.in -o docker/spark/requirements.lock
	$(LOCK) $(UPGRADE) --all-extras -c requirements.lock pyproject.toml requirements-dev.in -o requirements-dev.lock

clean: ## remove .venv and caches; results stay
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info build dist spark-warehouse
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
