# Sekisho. `make help` lists what there is.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: command-line help up down demo attack test test-long t check dev env bench soak doctor clean generate node_modules test-server

# Node.js as the project pins it: from PATH when it fits, else fetched once into the cache.
node = export PATH="$$(dev/bootstrap/node.sh):$$PATH";

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z_-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

up: node_modules dist/cli/node ## start Kubernetes, the GitHub emulator and the platform, run the demo, print the URLs (MODE=production; KUBECONFIG: DRY_RUN=1)
	@$(node) MODE=$(MODE) node dev/up/main.ts up $(if $(DRY_RUN),--dry-run)

down: node_modules ## stop everything that `up` started and undo its changes to this host
	@$(node) node dev/up/main.ts down

demo: node_modules ## run the demo on the running platform: onboard, push, deploy, check the access rules
	@$(node) node dev/demo/main.ts

attack: node_modules ## attack the running platform as another tenant, and as nobody (A='--only registry' for some; A='--without policies'; A=--list; A=--floods)
	@$(node) node dev/attack/main.ts $(A)

test: node_modules ## everything that CI runs: checks, unit, integration, fault and end-to-end tests, the demo (CHANGED=1: what changes can affect; ALL=1: also what passed as it is)
	@$(node) node dev/test/main.ts $(if $(CHANGED),--changed) $(if $(ALL),--all)

test-long: node_modules ## the long forms of tests, before a release (PART=name for one, PART=list for their names)
	@$(node) node dev/test/long/main.ts $(PART)

t: node_modules ## the tests of what you work on: F=part of a path (unit tests first, then programs and API server; ALL=1: whatever uses it)
	@$(node) node dev/inner-loop/main.ts "$(F)" $(if $(ALL),--all)

check: node_modules ## format, types, allowed imports, unused code, file sizes, generated files (no cluster)
	@$(node) node dev/check/main.ts

dev: node_modules ## run the platform on this host in watch mode against the running cluster
	@$(node) node dev/up/main.ts dev

env: node_modules ## print the shell settings for the local cluster: eval "$$(make -s env)"
	@$(node) node dev/cluster/main.ts env

test-server: node_modules ## keep a control plane warm for the integration tests (A=--stop ends it; it ends by itself after two idle hours)
	@$(node) node dev/cluster/main.ts test-server $(A)

bench: node_modules ## benchmarks (B=name for one)
	@$(node) node test/bench/main.ts $(B)

soak: node_modules ## run the whole platform for 15 minutes under load and faults (M=minutes, MODE=standalone: in that form)
	@$(node) node test/soak/main.ts $(if $(M),--minutes $(M)) $(if $(MODE),--form $(MODE))

doctor: ## check this machine for what is needed and print how to install what is missing
	@$(node) node dev/cluster/main.ts doctor

generate: node_modules ## write the generated files again: CRDs, policies, database client
	@$(node) npm run --silent generate

clean: down ## run `down`, then remove the state and the packages of this checkout (the cache stays)
	rm -rf .state dist node_modules src/store/generated

command-line: dist/cli/node ## bundle `sekisho`, so that it starts at once (bin/sekisho uses the bundle while it is newer than the sources)
dist/cli/node: node_modules/.installed $(shell find src/cli src/kube src/api src/lib -name '*.ts')
	@$(node) node dev/command-line/main.ts

# Packages follow the lock file: a marker keeps repeated runs instant.
node_modules: node_modules/.installed node_modules/.database-client
node_modules/.installed: package-lock.json package.json .npmrc
	@echo "installing packages (npm ci)" >&2
	@$(node) npm ci --silent --no-audit --no-fund
	@touch $@
node_modules/.database-client: node_modules/.installed prisma/schema.prisma
	@$(node) node dev/generate/database-client.ts
	@touch $@
