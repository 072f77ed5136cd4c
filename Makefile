# Everything a developer does here; `make help` lists it. The first run of any target sets up .venv.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Where `make run` keeps its state, and which folder `make demo` imports.
STATE ?= .local
DEMO_DIR ?= samples/library
PORT ?=
PYTEST := $(BIN)/pytest
# Tests that start no engines run side by side, but for those that measure times.
CORES ?= 2
# Which grants the journeys use; `make grants` tells those that nothing uses.
GRANTS := $(CURDIR)/build/grants.jsonl

export PYTHONPATH :=

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

.PHONY: run
run: $(READY) ## Serve the product on this machine, with a first look (PORT=, STATE=)
	@$(BIN)/python -m local up --state $(STATE) $(if $(PORT),--port $(PORT)) --first-look samples/library

.PHONY: test
test: $(READY) ## Run all tests, on real engines too
	@$(PYTEST) -q -n $(CORES) -m "not alone" tests/unit tests/architecture tests/infra
	@$(PYTEST) -q -m alone tests/architecture
	@$(BIN)/python -m local prepare
	@mkdir -p build && rm -f $(GRANTS)
	@VITRINE_RECORD_GRANTS=$(GRANTS) $(PYTEST) -q \
		tests/contract tests/integration tests/journeys --ignore=tests/journeys/long

.PHONY: grants
grants: $(READY) ## Compare the grants of functions with what the last `make test` used
	@VITRINE_RECORD_GRANTS=$(GRANTS) $(PYTEST) -q tests/grants

.PHONY: check
check: lint $(READY) ## Format, lint, types, import directions, unit tests (under two minutes)
	@$(PYTEST) -q -n $(CORES) -m "not alone" tests/unit tests/architecture
	@$(PYTEST) -q -m alone tests/architecture

.PHONY: lint
lint: $(READY) ## Format, lint, types and import directions only
	@$(BIN)/ruff format --check --quiet . || { echo "run: make format"; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/lint-imports --no-cache | tail -n 3
	@$(BIN)/pyright | tail -n 20

# Advisories that are known and do not concern this product, each with the reason: none now.
ACCEPTED_ADVISORIES :=
.PHONY: audit
audit: $(READY) ## Look the pinned packages up in the database of advisories (needs the network)
	@$(BIN)/pip-audit --strict --disable-pip --require-hashes --progress-spinner off \
		$(addprefix --ignore-vuln ,$(ACCEPTED_ADVISORIES)) -r requirements.txt

.PHONY: format
format: $(READY) ## Format the code and mend what ruff can
	@$(BIN)/ruff format --quiet .
	@$(BIN)/ruff check --fix --quiet .

.PHONY: demo
demo: $(READY) ## Import a folder into a fresh runtime and search it (DEMO_DIR=, default the samples)
	@$(BIN)/python -m local demo $(DEMO_DIR)

.PHONY: bench
bench: $(READY) ## Print the speed of the indexing path, as ratios, with exact requests
	@$(BIN)/python -m benchmarks

# How much `make prove` proves: histories in memory, those of the whole product (Hypothesis keeps
# half a MB of each), histories on engines, kills of each engine, policies.
prove: HISTORIES ?= 10000
prove: MODEL_HISTORIES ?= 3000
prove: ENGINE_HISTORIES ?= 300
prove: ROUNDS ?= 5
prove: POLICIES ?= 5000
.PHONY: prove
prove: $(READY) ## Run thousands of random histories, in memory and on engines, and kill engines (hours)
	@HISTORIES=$(HISTORIES) MODEL_EXAMPLES=$(MODEL_HISTORIES) $(PYTEST) -q -n $(CORES) \
		tests/unit/search/test_histories.py tests/unit/model
	@$(BIN)/python -m local prepare
	@ENGINE_EXAMPLES=$(ENGINE_HISTORIES) $(PYTEST) -q tests/contract tests/integration/model
	@POLICIES=$(POLICIES) $(PYTEST) -q tests/integration/search/test_permissions.py
	@KILL_ROUNDS=$(ROUNDS) LOAD_SECONDS=20 CONCURRENCY_SECONDS=60 $(PYTEST) -q \
		tests/journeys/test_kills.py tests/journeys/test_concurrency.py tests/journeys/long

# How many cases `make fuzz` sends to each operation at random; the tests send 100.
fuzz: FUZZ_EXAMPLES ?= 1000
.PHONY: fuzz
fuzz: $(READY) ## Send every route what the OpenAPI document allows and forbids (an hour)
	@$(BIN)/python -m local prepare
	@FUZZ_EXAMPLES=$(FUZZ_EXAMPLES) FUZZ_SEED=$${RANDOM} $(PYTEST) -q tests/journeys/test_contract.py

.PHONY: synth
synth: $(READY) ## Write the CloudFormation templates to cdk.out and check them with cfn-lint
	@rm -rf cdk.out
	@$(BIN)/python app.py
	@$(BIN)/cfn-lint --non-zero-exit-code error cdk.out/*.template.json

.PHONY: docs
docs: $(READY) ## Write the generated reference pages
	@$(BIN)/python -m docs.generate

.PHONY: lock
lock: $(READY) ## Resolve pyproject.toml anew into requirements.txt and backend/requirements.txt
	@$(BIN)/uv pip compile --quiet pyproject.toml --group lambda --group runtime --group infra \
		--group local --group client --group dev \
		--universal --python-version 3.11 --generate-hashes -o requirements.txt
	@$(BIN)/uv pip compile --quiet --group lambda -c requirements.txt \
		--universal --python-version 3.11 --generate-hashes -o backend/requirements.txt

.PHONY: clean
clean: ## Remove what was made here: environment, templates, local state, caches
	@rm -rf $(VENV) cdk.out .local build dist .pytest_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# uv comes from the lock too: its entry is cut out, so that its hash is checked like all others.
$(READY): requirements.txt client/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) --version)"; exit 1; }
	@test -x $(BIN)/python || { echo "making $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@awk '/^uv==/ {keep=1} keep && /^[^ ]/ && !/^uv==/ {exit} keep' requirements.txt > $(VENV)/uv.txt
	@echo "installing what requirements.txt pins"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(VENV)/uv.txt
	@VIRTUAL_ENV=$(VENV) $(BIN)/uv pip sync --quiet --require-hashes --compile-bytecode requirements.txt
	@VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --no-deps --no-build-isolation -e client
	@touch $@
