# Sekisho. `make help` lists what there is.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help up down demo test check dev env bench soak doctor clean generate node_modules

# Node.js as the project pins it: from PATH when it fits, else fetched once into the cache.
node = export PATH="$$(dev/bootstrap/node.sh):$$PATH";

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z_-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

up: node_modules ## boot Kubernetes, GitHub and the platform, run the main job, print the URLs
	@$(node) node dev/up/main.ts up

down: node_modules ## stop everything `up` started and take back what it put on the host
	@$(node) node dev/up/main.ts down

demo: node_modules ## play the people through the main job on the running platform
	@$(node) node dev/demo/main.ts

test: node_modules ## everything CI runs: checks, unit, integration, and the main job on real pods
	@$(node) node dev/test/main.ts

check: node_modules ## format, types, arrows, unused code, sizes, generated files (no cluster)
	@$(node) node dev/check/main.ts

dev: node_modules ## run the platform on this host in watch mode against the running cluster
	@$(node) node dev/up/main.ts dev

env: node_modules ## print what points a shell at the local cluster: eval "$$(make -s env)"
	@$(node) node dev/cluster/main.ts env

bench: node_modules ## benchmarks (B=name for one)
	@$(node) node test/bench/main.ts $(B)

soak: node_modules ## the whole platform for 15 minutes under churn and faults (M=minutes)
	@$(node) node test/soak/main.ts $(if $(M),--minutes $(M))

doctor: ## what this machine has, and the command that installs what it lacks
	@$(node) node dev/cluster/main.ts doctor

generate: node_modules ## write the generated files again: CRDs, policies, database client
	@$(node) npm run --silent generate

clean: down ## `down`, and remove this checkout's state and packages (the cache stays)
	rm -rf .state node_modules src/store/generated

# Packages follow the lock file: a marker keeps repeated runs instant.
node_modules: node_modules/.installed node_modules/.database-client
node_modules/.installed: package-lock.json package.json .npmrc
	@echo "installing packages (npm ci)" >&2
	@$(node) npm ci --silent --no-audit --no-fund
	@touch $@
node_modules/.database-client: node_modules/.installed prisma/schema.prisma
	@$(node) node dev/generate/database-client.ts
	@touch $@
