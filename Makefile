# Everything runs in .venv, which the targets set up themselves, on a fresh machine too.
# Needed beforehand: Python 3.11 or newer, and Node.js with npm for the tests against npm peers. Nothing needs root but
# `system-deps`, and nothing needs that: without bubblewrap, the sandbox is tested as far as it goes.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.NOTPARALLEL:
.DEFAULT_GOAL := help

# Hundreds of tests start programs: none is to compile the library anew.
unexport PYTHONDONTWRITEBYTECODE

# PYTHON=… chooses the interpreter of .venv; without it, the first of these that is new enough.
CANDIDATES := $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11)
PYTEST_ARGS ?=
BENCH_ARGS ?=
CHAOS_EXAMPLES ?= 500
FUZZ_ARGS ?=
SOAK_ARGS ?=
GUARD_ARGS ?=
RELEASE_ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input
NPM_STAMP := tests/npm/node_modules/.package-lock.json
WEB := acp_host/ui/web
WEB_STAMP := $(WEB)/node_modules/.package-lock.json

.PHONY: help demo test audit lint format setup npm-peers interop chaos bench bench-guard smooth fuzz soak docs web schema-diff news \
  changelog public-api release-check system-deps clean

help:
	@echo "make demo     a whole conversation with the built-in agent, on the terminal"
	@echo "make test     linters, types, layers and tests, these on all cores (PYTEST_ARGS=… is passed on, -n0 for one)"
	@echo "make lint     the first three of these alone;  make format  lets ruff repair what it can"
	@echo "make interop  conversations with real agents, installed into .interop/, against a fake model"
	@echo "make chaos    arbitrary bad agents (CHAOS_EXAMPLES=500 of them), then the catalogue against acp-host run"
	@echo "make web      build the page (acp_host/ui/static) from its sources (acp_host/ui/web)"
	@echo "make smooth   how long the page is busy at a time: 10,000 entries, 200 updates a second, for 30 seconds"
	@echo "make bench    speed and size, side by side with the official SDKs (BENCH_ARGS=--quick: two minutes)"
	@echo "make bench-guard  hold the instructions that a message costs against those stored (GUARD_ARGS=--store)"
	@echo "make fuzz     every decoder and reducer against a million inputs each (FUZZ_ARGS=\"TARGET… --runs N\")"
	@echo "make soak     50 agents and 500 sessions for half an hour, and whether anything grows (SOAK_ARGS=\"--minutes N\")"
	@echo "make schema-diff VERSION=2.4.0  what that release of the upstream schema changes, and in which of our files"
	@echo "make news     what has come since the last release, as it will stand in CHANGELOG.md;  make changelog  writes it there"
	@echo "make public-api  store the listing of the public API (tests/public_api) anew, after a change of it"
	@echo "make release-check  build, install and try what would be released, with each extra by itself, in clean environments"
	@echo "make audit    known faults of what is installed here, asked for over the network (pip-audit, npm audit)"
	@echo "make docs     the site, from docs/ and the docstrings, into build/docs; a name or a link that leads nowhere fails"
	@echo "make setup    only install what make test needs;  make clean  removes all that was installed"

demo: $(VENV)/.installed-cli
	@$(BIN)/acp-host demo

test: lint npm-peers
	$(BIN)/python -m pytest -n logical --dist worksteal $(PYTEST_ARGS)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict acp_host
	$(BIN)/mypy --strict --platform win32 acp_host
	$(BIN)/lint-imports
	@kept=$$(git ls-files --cached --ignored --exclude-standard 2>/dev/null || true); \
	  [ -z "$$kept" ] || { echo "In the repository, and made by tools:" >&2; head -5 <<<"$$kept" >&2; exit 1; }

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

setup: $(VENV)/.installed-dev npm-peers

interop: setup
	$(BIN)/python -m tests.interop.agents
	$(BIN)/python -m pytest -m interop tests/interop $(PYTEST_ARGS)

chaos: setup
	ACP_HOST_CHAOS_EXAMPLES=$(CHAOS_EXAMPLES) $(BIN)/python -m pytest tests/chaos/test_random.py $(PYTEST_ARGS)
	$(BIN)/acp-host chaos check --interrupt --any-status -- $(BIN)/acp-host run --permissions allow-once --read-files {agent} -- hi

bench: setup
	$(BIN)/python -m tests.bench $(BENCH_ARGS)

fuzz: $(VENV)/.installed-fuzz
	$(BIN)/python -m tests.fuzz $(FUZZ_ARGS)

docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx --builder html --jobs auto --nitpicky --fail-on-warning --keep-going --quiet \
	  --doctree-dir build/doctrees docs build/docs
	@echo "The site is in build/docs/index.html"

smooth: setup
	$(BIN)/python -m tests.ui.smoothness

soak: setup
	$(BIN)/python -m tests.soak $(SOAK_ARGS)

bench-guard: $(VENV)/.installed-dev
	$(BIN)/python -m tests.bench.guard $(GUARD_ARGS)

# An environment of its own, so that the auditor is not what is audited.
audit: setup $(VENV)/.installed-audit
	@$(BIN)/python -m tests.audit $(VENV)/audit/bin/pip-audit

web: $(WEB_STAMP)
	@cd $(WEB) && npm run --silent check && npm run --silent build

# SINCE=… compares with that release in place of the one that the tests are run against.
schema-diff: setup
	@test -n "$(VERSION)" || { echo "Say of which release: make schema-diff VERSION=2.4.0 [SINCE=2.2.0]" >&2; exit 2; }
	@$(BIN)/python -m tests.conformance.drift $(VERSION) $(if $(SINCE),--from $(SINCE)) || [ $$? = 1 ]

TOWNCRIER := $(BIN)/towncrier build --version "$$($(BIN)/python -c 'from acp_host import __version__; print(__version__)')"

news: $(VENV)/.installed-dev
	@$(TOWNCRIER) --draft 2>/dev/null

# Of the version that acp_host/_version.py names; removes the fragments.
changelog: $(VENV)/.installed-dev
	@$(TOWNCRIER) --yes

public-api: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.public_api.listing
	@git --no-pager diff --stat -- tests/public_api

release-check: setup
	$(BIN)/python -m tests.release $(RELEASE_ARGS)

# Tk and GTK for the interpreter of the distribution, and what PySide6 wants to find.
TOOLKITS := xvfb python3-tk python3-gi gir1.2-gtk-4.0 libegl1 libgl1 libxkbcommon0 libdbus-1-3 libfontconfig1

# $(call install,PROGRAM,PACKAGES,what is not tested without it,how to tell that it is there: by default by its command)
define install
	@if $(or $(4),command -v $(1)) >/dev/null 2>&1; then echo "$(1) is installed"; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -qq && apt-get install -y -qq --no-install-recommends $(2) >/dev/null \
	    || echo "!!! $(1) CANNOT BE INSTALLED: $(3) not tested !!!" >&2; \
	else echo "!!! $(1) WAS NOT FOUND, and only root can install it: $(3) not tested !!!" >&2; fi
endef

system-deps: $(VENV)/.installed-qt
	$(call install,bwrap,bubblewrap,agents in a sandbox are)
	$(call install,zsh with fish,zsh fish,completion in these shells is,command -v zsh && command -v fish)
	$(call install,chromium,chromium fonts-dejavu-core,the page is)
	$(call install,valgrind,valgrind,what a message costs is)
	$(call install,Xvfb with toolkits,$(TOOLKITS),windows are,dpkg -s $(TOOLKITS))

clean:
	rm -rf $(VENV) .interop .fuzz tests/npm/node_modules $(WEB)/node_modules build dist
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.created:
	@for python in $(CANDIDATES); do \
	  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "Creating $(VENV) with $$python"; "$$python" -m venv $(VENV); touch $@; exit 0; \
	  fi; \
	done; \
	echo "acp-host needs Python 3.11 or newer; none of these is: $(CANDIDATES). Set PYTHON=/path/to/python3." >&2; exit 1

$(VENV)/.installed-cli: pyproject.toml $(VENV)/.created
	@echo "Installing acp-host"
	@$(PIP_INSTALL) --editable '.[cli]'
	@touch $@

$(VENV)/.installed-dev: pyproject.toml $(VENV)/.created
	@echo "Installing acp-host, the development tools and the Python test peers"
	@$(PIP_INSTALL) --editable '.[dev]'
	@touch $@ $(VENV)/.installed-cli

# 85 MB, so only where every test is to be run.
$(VENV)/.installed-qt: pyproject.toml $(VENV)/.installed-dev
	@echo "Installing PySide6"
	@$(PIP_INSTALL) --editable '.[qt]'
	@touch $@

$(VENV)/.installed-audit: $(VENV)/.created
	@echo "Installing pip-audit"
	@$(BIN)/python -m venv $(VENV)/audit
	@$(VENV)/audit/bin/python -m pip install --quiet --disable-pip-version-check --no-input pip-audit==2.10.1
	@touch $@

$(VENV)/.installed-docs: pyproject.toml $(VENV)/.installed-dev
	@echo "Installing what the site is made with"
	@$(PIP_INSTALL) --editable '.[docs]'
	@touch $@

$(VENV)/.installed-fuzz: pyproject.toml $(VENV)/.installed-dev
	@echo "Installing the fuzzer"
	@$(PIP_INSTALL) --editable '.[fuzz]'
	@touch $@

ifneq ($(shell command -v npm 2>/dev/null),)
npm-peers: $(NPM_STAMP) $(WEB_STAMP)
else
npm-peers:
	@echo "!!! npm WAS NOT FOUND: every test against an npm peer (schemas, TypeScript SDK), and that of the page's build, WILL BE SKIPPED !!!" >&2
endif

$(NPM_STAMP): tests/npm/package.json tests/npm/package-lock.json
	@echo "Installing the npm test peers"
	@cd tests/npm && npm ci --loglevel=error --no-progress
	@touch $@

$(WEB_STAMP): $(WEB)/package.json $(WEB)/package-lock.json
	@echo "Installing what the page is built with"
	@cd $(WEB) && npm ci --loglevel=error --no-progress
	@touch $@
