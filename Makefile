# Lodestore. `make` lists what there is.

PY    := .venv/bin/python
UV    := .venv/bin/uv
SAM   := .tools/sam/bin/sam
STAGE ?= dev
ARGS  ?=
# What asks AWS nothing needs no profile, and does not stop at one that is not there.
NOBODYS := env -u AWS_PROFILE -u AWS_DEFAULT_PROFILE
# Files of tests that run at the same time: they wait a lot, for servers and for what was killed.
JOBS  ?= 3

export SAM_CLI_TELEMETRY := 0

.DEFAULT_GOAL := help
.PHONY: help setup tools run test test-deployed check fmt lock openapi opensearch build bench costs key redrive reindex restore deploy clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

# ---- Environments: made once, made again when their lock file changes ----------------------------------

.venv/.ready: requirements.lock infra/tools/bootstrap
	@echo "lodestore: setting up .venv"
	@infra/tools/bootstrap
	@touch $@

# The SAM CLI pins other versions of what the project uses; it has its own place, and cfn-lint comes with it.
.tools/sam/.ready: infra/tools/sam.lock | .venv/.ready
	@echo "lodestore: setting up the SAM CLI"
	@$(UV) venv -q --clear --python $(PY) .tools/sam
	@$(UV) pip sync -q --python .tools/sam/bin/python --require-hashes infra/tools/sam.lock
	@touch $@

# What Lambda's runtime brings, for booting artifacts: on Python 3.13 where one is found, else on ours.
.tools/lambda/.ready: infra/tools/lambda.lock infra/tools/runtime_python | .venv/.ready
	@echo "lodestore: setting up the Lambda runtime client"
	@$(UV) venv -q --clear --python "$$(infra/tools/runtime_python)" .tools/lambda
	@$(UV) pip sync -q --python .tools/lambda/bin/python --require-hashes infra/tools/lambda.lock
	@touch $@

# On the runtime's Python too: it runs the functions itself.
.tools/ministack/.ready: infra/tools/ministack.lock infra/tools/runtime_python | .venv/.ready
	@echo "lodestore: setting up ministack"
	@$(UV) venv -q --clear --python "$$(infra/tools/runtime_python)" .tools/ministack
	@$(UV) pip sync -q --python .tools/ministack/bin/python --require-hashes infra/tools/ministack.lock
	@touch $@

setup: .venv/.ready ## Make the environment from requirements.lock
tools: .tools/sam/.ready .tools/lambda/.ready

# ---- Every day -----------------------------------------------------------------------------------------

run: .venv/.ready ## Start everything on 127.0.0.1 (PORT, LODESTORE_HOME)
	@PYTHONDONTWRITEBYTECODE= exec $(PY) -m infra.local  # compiled modules halve the next start

test: .venv/.ready tools ## Run all tests (ARGS="tests/tenancy -k keys")
	@$(PY) -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder $(ARGS)

# Not a part of `test`: it takes minutes, and most of both cores.
test-deployed: .venv/.ready tools .tools/ministack/.ready ## Deploy to an emulator that enforces the roles, run the clients' tests
	@DEPLOYED=$${DEPLOYED:-1} $(PY) -m pytest tests/deployed $(ARGS)

.PHONY: fuzz soak nightly
fuzz: .venv/.ready ## Send 100,000 hostile requests (ARGS="--requests 1000 --seed 7")
	@$(PY) -m tests.hostile.fuzz $(ARGS)

soak: .venv/.ready ## Ten minutes of mixed traffic under faults and kills (ARGS="--seconds 60")
	@$(PY) -m tests.soak $(ARGS)

nightly: .venv/.ready tools ## Run the long forms, and say what was proved and what was skipped (ARGS="--only soak")
	@$(PY) -m tests.nightly $(ARGS)

check: .venv/.ready tools ## Lint, types, layers, templates, API document
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	.venv/bin/lint-imports
	.tools/sam/bin/cfn-lint -t template.yaml infra/*.yaml
	$(NOBODYS) AWS_DEFAULT_REGION=eu-central-1 $(SAM) validate --lint
	$(PY) -m functions.platform.openapi --check

fmt: .venv/.ready ## Format, and mend what can be mended
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

opensearch: .venv/.ready ## Start a real search node on 127.0.0.1 (Java 17 and Maven; ARGS="--port 9200")
	@exec $(PY) -m infra.opensearch run $(ARGS)

openapi: .venv/.ready ## Write the API document anew
	$(PY) -m functions.platform.openapi

lock: .venv/.ready ## Resolve all dependencies anew, with hashes
	$(UV) pip compile pyproject.toml --universal --extra local --group dev --generate-hashes --upgrade -q --no-header -o requirements.lock
	$(UV) pip compile infra/tools/sam.in --universal --python-version 3.11 --generate-hashes --upgrade -q --no-header -o infra/tools/sam.lock
	$(UV) pip compile infra/tools/lambda.in --universal --python-version 3.11 --generate-hashes --upgrade -q --no-header -o infra/tools/lambda.lock
	$(UV) pip compile infra/tools/ministack.in --universal --python-version 3.11 --generate-hashes --upgrade -q --no-header -o infra/tools/ministack.lock

bench: .venv/.ready ## Measure, and write docs/benchmarks.md
	$(PY) -m bench $(ARGS)

costs: .venv/.ready ## Measure what operations use, price it, and write docs/costs.md
	$(PY) -m bench.costs $(ARGS)

clean: ## Remove what was made, but not .lodestore
	rm -rf .venv .tools .aws-sam dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

# ---- Deploying -----------------------------------------------------------------------------------------

build: .tools/sam/.ready ## Build the functions' artifacts into .aws-sam
	$(NOBODYS) $(SAM) build

# SAM calls these, in the project's folder, with ARTIFACTS_DIR.
build-%Function: .venv/.ready
	@$(PY) -m infra.tools.artifact $* "$(ARTIFACTS_DIR)"

restore: .venv/.ready ## Restore the table without what was erased (TABLE=, OLD=, BUCKET=, AT=, SEARCH=, EMBEDDER=, ARGS=--drill)
	@test -n "$(TABLE)" || { echo "usage: make restore TABLE=<new name> OLD=<TableName> BUCKET=<BucketName> AT=<moment> [SEARCH=<SearchUrl> EMBEDDER=<Embedder>] [ARGS=--drill]; see docs/operations.md" >&2; exit 2; }
	@$(PY) -m functions.platform.restore --table "$(TABLE)" $(if $(OLD),--old "$(OLD)") $(if $(BUCKET),--bucket "$(BUCKET)") $(if $(AT),--at "$(AT)") $(if $(SEARCH),--search "$(SEARCH)") $(if $(EMBEDDER),--embedder "$(EMBEDDER)") $(ARGS)

deploy: build ## Deploy (STAGE=dev|prod, ARGS="--guided")
	@$(SAM) deploy --config-env $(STAGE:dev=default) $(ARGS) || { status=$$?; echo "lodestore: not deployed, for the reason above. It needs AWS credentials and a region, as the AWS command line does (AWS_PROFILE, AWS_DEFAULT_REGION): docs/operations.md" >&2; exit $$status; }

key: .venv/.ready ## Make the first operator key in a deployed table (TABLE=...)
	@test -n "$(TABLE)" || { echo "usage: make key TABLE=<the stack's output TableName>" >&2; exit 2; }
	@TABLE_NAME="$(TABLE)" $(PY) -m functions.platform.first_key $(ARGS)

redrive: .venv/.ready ## Take dead letters back to their queues (TABLE=, QUEUE=, DOCUMENTS=, DEAD=, ARGS=--list)
	@test -n "$(TABLE)" -a -n "$(QUEUE)" -a -n "$(DOCUMENTS)" -a -n "$(DEAD)" || { echo "usage: make redrive TABLE=<TableName> QUEUE=<QueueUrl> DOCUMENTS=<DocumentsQueueUrl> DEAD=<DeadLetterQueueUrl>, the stack's outputs" >&2; exit 2; }
	@$(PY) -m functions.memories.redrive --table "$(TABLE)" --queue "$(QUEUE)" --documents "$(DOCUMENTS)" --dead "$(DEAD)" $(ARGS)

reindex: .venv/.ready ## Build the search index anew (TABLE=, BUCKET=, SEARCH=, EMBEDDER=; else the local run's)
	@test -z "$(TABLE)" -o -n "$(BUCKET)" -a -n "$(SEARCH)" -a -n "$(EMBEDDER)" || { echo "usage: make reindex TABLE=<TableName> BUCKET=<BucketName> SEARCH=<SearchUrl> EMBEDDER=<Embedder>, the stack's outputs; without TABLE: the local run's" >&2; exit 2; }
	@if test -n "$(TABLE)"; then exec $(PY) -m functions.memories.reindex --table "$(TABLE)" --bucket "$(BUCKET)" --endpoint "$(SEARCH)" --embedder "$(EMBEDDER)" $(ARGS); fi; exec $(PY) -m infra.local.reindex
