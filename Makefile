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
CORES ?= 2
# Workers share the engines and one product, and run a file's tests one after the other. (The groups
# of xdist 3.8 have no effect with pytest 9.2.)
SHARING := -q --dist loadfile --no-loadscope-reorder --durations 20
WORKERS := $(SHARING) -n $(CORES)
# Tests on engines wait for about a sixth of their time: one worker more than cores.
ENGINE_WORKERS := $(SHARING) -n $(shell expr $(CORES) + 1)
# Workers keep processes of many functions busy at once: each start takes half a second of computing.
test: export VITRINE_FUNCTION_PROCESSES := 96
# Where tests on engines record the grants that functions use; `make grants` reads it.
GRANTS := $(CURDIR)/build/grants.jsonl
test grants prove-%: export VITRINE_RECORD_GRANTS := $(GRANTS)
# The engines of tests run for minutes; in that time, the optimizing compiler would take a third of
# their processor time.
test: export JDK_JAVA_OPTIONS := -XX:TieredStopAtLevel=1

export PYTHONPATH :=
# Compiled tests are kept: pytest would rewrite every assertion in each run.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

.PHONY: run
run: $(READY) ## Start the product on this machine, with a first look (PORT=, STATE=, TRACKING=1)
	@$(BIN)/python -m local up --state $(STATE) $(if $(PORT),--port $(PORT)) \
		$(if $(TRACKING),--set tracking=true) --first-look samples/library

.PHONY: test
test: lint prepare ## Check format, lint and types, and run all tests, also on real engines (19 minutes)
	@rm -f $(GRANTS)
	@$(PYTEST) $(WORKERS) tests/unit tests/architecture tests/infra
	@# journeys first: their files take longest, and the last file should be a short one
	@$(PYTEST) $(ENGINE_WORKERS) -m "not kills" tests/journeys tests/contract tests/integration \
		--ignore=tests/journeys/long

.PHONY: grants
grants: $(READY) ## Compare the grants of functions with those used in `make test` and `make prove`
	@$(PYTEST) -q tests/grants

.PHONY: check
check: lint $(READY) ## Format, lint, types, import directions, unit tests (four minutes)
	@$(PYTEST) $(WORKERS) tests/unit tests/architecture

.PHONY: lint
lint: $(READY) ## Format, lint, types and import directions only
	@$(BIN)/ruff format --check --quiet . || { echo "run: make format"; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/lint-imports --no-cache | tail -n 3
	@$(BIN)/pyright | tail -n 20

# Advisories that are known and do not concern this product, each with the reason: none now.
ACCEPTED_ADVISORIES :=
.PHONY: audit
audit: $(READY) ## Check the pinned packages for known vulnerabilities (needs the network)
	@$(BIN)/pip-audit --strict --disable-pip --require-hashes --progress-spinner off \
		$(addprefix --ignore-vuln ,$(ACCEPTED_ADVISORIES)) -r requirements.txt

.PHONY: format
format: $(READY) ## Format the code and apply the fixes of ruff
	@$(BIN)/ruff format --quiet .
	@$(BIN)/ruff check --fix --quiet .

.PHONY: demo
demo: $(READY) ## Import a folder into a fresh runtime and search it (DEMO_DIR=, default the samples)
	@$(BIN)/python -m local demo $(DEMO_DIR)

.PHONY: demo-tracking
demo-tracking: $(READY) ## Train a small model with MLflow on a local table: log, register, search
	@$(BIN)/python -m local demo-tracking

.PHONY: bench
bench: $(READY) ## Measure the indexing path: ratios and numbers of requests
	@$(BIN)/python -m benchmarks

# The long proofs by part; docs/guides/proofs.md says what each shows and how long it takes. How much
# each does: kills of each engine, seconds of load, histories (in memory, of the whole product, on
# engines), generated policies, requests to each operation.
PARTS := kills histories engines policies lifecycles costs moto models fuzz attacks searches scale mlflow
PART ?= $(PARTS)
KILL_ROUNDS ?= 1
LOAD_SECONDS ?= 2
HISTORIES ?= 10000
MODEL_HISTORIES ?= 3000
ENGINE_HISTORIES ?= 300
POLICIES ?= 5000
FUZZ_EXAMPLES ?= 100
UPLOADS ?= 1000
OUTPUTS ?= 10000
SEARCHES ?= 10000
DOCUMENTS ?= 1000000
MLFLOW_HISTORIES ?= 1000
MLFLOW_TRACE_HISTORIES ?= 100
MLFLOW_REGISTRY_HISTORIES ?= 100
.PHONY: prove
prove: $(addprefix prove-,$(PART)) ## Run the long proofs: all of them (hours), or parts, such as PART=kills

.PHONY: prepare
prepare: $(READY)
	@$(BIN)/python -m local prepare
	@mkdir -p build

.PHONY: $(addprefix prove-,$(PARTS))
prove-kills: prepare
	@KILL_ROUNDS=$(KILL_ROUNDS) LOAD_SECONDS=$(LOAD_SECONDS) $(PYTEST) $(WORKERS) -m kills \
		tests/integration tests/journeys --ignore=tests/journeys/long; \
		echo "make prove PART=kills: $$SECONDS s"

prove-histories: $(READY)
	@HISTORIES=$(HISTORIES) MODEL_EXAMPLES=$(MODEL_HISTORIES) $(PYTEST) -q -n $(CORES) \
		tests/unit/search/test_histories.py tests/unit/model; \
		echo "make prove PART=histories: $$SECONDS s"

prove-engines: prepare
	@ENGINE_EXAMPLES=$(ENGINE_HISTORIES) $(PYTEST) -q tests/contract tests/integration/model; \
		echo "make prove PART=engines: $$SECONDS s"

prove-policies: prepare
	@POLICIES=$(POLICIES) $(PYTEST) -q -n $(CORES) tests/unit/domains/access/policy \
		tests/integration/search/test_permissions.py; \
		echo "make prove PART=policies: $$SECONDS s"

prove-lifecycles: prepare
	@KILL_ROUNDS=$(KILL_ROUNDS) CONCURRENCY_SECONDS=60 VERSION_CLIENTS=8 $(PYTEST) -q \
		tests/journeys/test_concurrency.py tests/journeys/test_versions.py tests/journeys/long/test_*_kills.py \
		tests/journeys/long/test_two_gibibytes.py; echo "make prove PART=lifecycles: $$SECONDS s"

prove-costs: prepare
	@$(PYTEST) -q tests/costs; echo "make prove PART=costs: $$SECONDS s"

prove-moto: $(READY)
	@TABLES=moto $(PYTEST) -q -n $(CORES) tests/unit/domains tests/unit/search \
		tests/unit/operations; echo "make prove PART=moto: $$SECONDS s"

prove-models: prepare
	@UPLOADS=$(UPLOADS) OUTPUTS=$(OUTPUTS) $(PYTEST) -q -s tests/models \
		tests/journeys/long/test_debian_models.py tests/journeys/long/test_thousand_uploads.py \
		tests/journeys/long/test_many_outputs.py; \
		echo "make prove PART=models: $$SECONDS s"

prove-fuzz: prepare
	@$(PYTEST) -q tests/openapi
	@FUZZ_EXAMPLES=$(FUZZ_EXAMPLES) FUZZ_PHASES=examples,coverage,fuzzing $(PYTEST) -q \
		tests/journeys/long/test_contract.py; \
		echo "make prove PART=fuzz: $$SECONDS s"

prove-attacks: prepare
	@POLICIES=$(POLICIES) $(PYTEST) -q tests/unit/domains/access/generated; \
		POLICIES=300 $(PYTEST) -q tests/integration/search/test_permissions.py \
		tests/journeys/long/test_search_bombs.py tests/journeys/long/test_hostile_client.py; \
		echo "make prove PART=attacks: $$SECONDS s"

prove-mlflow: prepare
	@MLFLOW_HISTORIES=$(MLFLOW_HISTORIES) MLFLOW_TRACE_HISTORIES=$(MLFLOW_TRACE_HISTORIES) \
		MLFLOW_REGISTRY_HISTORIES=$(MLFLOW_REGISTRY_HISTORIES) \
		$(PYTEST) -q -n $(CORES) tests/integration/tracking/test_differential.py \
		tests/integration/tracking/test_traces_differential.py \
		tests/integration/tracking/test_registry_differential.py \
		tests/integration/tracking/test_logged_models.py tests/integration/tracking/test_evaluation.py; \
		$(PYTEST) -q tests/journeys/long/test_mlflow_server.py \
		tests/journeys/long/test_tracking_demo.py; \
		echo "make prove PART=mlflow: $$SECONDS s"

prove-searches: prepare
	@SEARCHES=$(SEARCHES) $(PYTEST) -q tests/integration/search/test_generated_queries.py; \
		echo "make prove PART=searches: $$SECONDS s"

prove-scale: prepare
	@$(BIN)/python -m benchmarks.scale --documents $(DOCUMENTS) --minutes 15; \
		echo "make prove PART=scale: $$SECONDS s"

.PHONY: fuzz
fuzz: prove-fuzz ## Send generated valid and invalid requests to every route (FUZZ_EXAMPLES=)

.PHONY: synth
synth: $(READY) ## Write the CloudFormation templates to cdk.out and check them with cfn-lint
	@rm -rf cdk.out
	@$(BIN)/python app.py
	@$(BIN)/cfn-lint --non-zero-exit-code error cdk.out/*.template.json

.PHONY: docs
docs: $(READY) ## Write the generated reference pages
	@$(BIN)/python -m docs.generate --costs

.PHONY: lock
lock: $(READY) ## Resolve pyproject.toml into requirements.txt and backend/requirements.txt
	@$(BIN)/uv pip compile --quiet pyproject.toml --group lambda --group inspect --group inspect-cad --group runtime --group infra \
		--group local --group client --group tracking --group dev \
		--universal --python-version 3.11 --generate-hashes -o requirements.txt
	@$(BIN)/uv pip compile --quiet --group lambda -c requirements.txt \
		--universal --python-version 3.11 --generate-hashes -o backend/requirements.txt
	@for group in inspect inspect-cad; do \
		$(BIN)/uv pip compile --quiet --group $$group -c requirements.txt \
			--universal --python-version 3.11 --generate-hashes -o backend/requirements-$$group.txt; \
	done

.PHONY: clean
clean: ## Remove the environment, templates, local state and caches
	@rm -rf $(VENV) cdk.out .local build dist .pytest_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# uv comes from the lock too: its entry is cut out, so that its hash is checked like all others.
$(READY): requirements.txt client/pyproject.toml tracking/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) --version)"; exit 1; }
	@test -x $(BIN)/python || { echo "making $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@awk '/^uv==/ {keep=1} keep && /^[^ ]/ && !/^uv==/ {exit} keep' requirements.txt > $(VENV)/uv.txt
	@echo "installing what requirements.txt pins"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(VENV)/uv.txt
	@VIRTUAL_ENV=$(VENV) $(BIN)/uv pip sync --quiet --require-hashes --compile-bytecode requirements.txt
	@VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --no-deps --no-build-isolation -e client -e tracking
	@touch $@
