# One runner, few verbs. Everything lives in .venv; nothing else on the machine is touched.

BIN := .venv/bin
STAMP := .venv/.setup-stamp
PYTEST := $(BIN)/python -m pytest
WORKERS := 2
MINUTES ?= 10
SHARED := --dist worksteal # neighbours stay together, so what they begin with is made once
WAITERS := 4 # of the slow tests, which wait for processes, browsers and clocks half of their time

# A shell that forbids Python to keep what it compiled makes the start of the tests twice as long.
unexport PYTHONDONTWRITEBYTECODE

# The first Python that is new enough. Another one: `make setup PYTHON=/path/to/python`.
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

.DEFAULT_GOAL := help
.PHONY: help setup debian check fix test test-fast coverage explore
.PHONY: demo demo-data notebooks bench docs figures golden screenshots clean

help: ## say what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(STAMP) ## make .venv with everything needed; quick where nothing changed

# Without them their tests are skipped and say so; offline or without rights this is no failure.
debian: ## on Debian, install the programs that some tests drive; elsewhere name them
	@set --; \
	[ -n "$$CHROMIUM" ] || command -v chromium-headless-shell >/dev/null || \
		command -v chromium >/dev/null || set -- "$$@" chromium-headless-shell; \
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || \
		set -- "$$@" postgresql; \
	command -v task >/dev/null || set -- "$$@" taskwarrior; \
	command -v todo-txt >/dev/null || command -v todo.sh >/dev/null || set -- "$$@" todotxt-cli; \
	[ $$# -gt 0 ] || exit 0; \
	as=env; [ "$$(id -u)" = 0 ] || as="sudo -n env"; \
	if command -v apt-get >/dev/null && $$as apt-get -qq update >/dev/null 2>&1 && $$as \
		DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "$$@" \
		>/dev/null 2>&1; then echo "Installed: $$*"; \
	else echo "Tests that need these are skipped; they could not be installed here: $$*"; fi

check: $(STAMP) ## lint, format, types and layers; changes nothing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fix: $(STAMP) ## format, and mend what the linter can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: test-fast ## all tests, the fast ones first
	$(PYTEST) -n $(WAITERS) $(SHARED) -m "slow or e2e" tests

coverage: $(STAMP) ## branch coverage of domain/ and replay/ by all tests but those of whole processes
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -q -n 2 $(SHARED) -m "not e2e"
	$(BIN)/coverage combine -q
	$(BIN)/coverage report

test-fast: $(STAMP) ## the fast tests
	$(PYTEST) -n $(WORKERS) $(SHARED) -m "not slow and not e2e"

explore: $(STAMP) ## look for new examples for MINUTES=10; what fails is kept in found/
	$(BIN)/python -m tests.support.explore --minutes $(MINUTES)

demo: $(STAMP) ## the main job in one command, with sample data and no key
	$(BIN)/wakelog demo

demo-data: $(STAMP) ## a home of 50 agents and six months, to ask and plot; about a minute
	$(BIN)/wakelog demo-data

notebooks: demo-data ## run every notebook on that home, and write copies with pictures
	$(BIN)/python -m notebooks.execute --home demo-data

bench: $(STAMP) ## run every script in tests/bench
	@set -- $$(ls tests/bench/*.py 2>/dev/null | grep -v __init__); \
	if [ $$# -eq 0 ]; then echo "There is no script in tests/bench yet."; fi; \
	for script do echo "== $$script"; $(BIN)/python "$$script" || exit 1; done

docs: $(STAMP) ## the site of docs/, with a reference made from the program, in site/
	$(BIN)/python -m tests.support.reference
	$(BIN)/zensical build --strict

figures: $(STAMP) ## write what README, docs, notebooks and their pictures show anew
	$(BIN)/python -m tests.support.documented
	$(BIN)/python -m tests.support.gallery front
	$(MAKE) notebooks

golden: $(STAMP) ## write what commands and pages say anew; the diff is the review
	$(BIN)/python -m tests.golden.files

screenshots: $(STAMP) ## take the pictures of every page anew; needs a Chromium
	$(BIN)/python -m tests.support.gallery

clean: ## remove .venv, caches and build results
	rm -rf .venv .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .cache build dist site
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# uv where it is present and works; else venv and pip. Without ensurepip (Debian keeps it in
# python3-venv) the pip outside fills the new .venv. An existing .venv is kept and brought up to date.
$(STAMP): pyproject.toml
	@echo "Setting up .venv: once, some minutes." >&2
	@if [ ! -x $(BIN)/python ] && [ -z "$(PYTHON)" ] && ! command -v uv >/dev/null; then \
		echo "No Python 3.11 or newer was found; install one, or name it: make setup PYTHON=..." >&2; \
		exit 1; \
	fi
	@if command -v uv >/dev/null \
		&& { [ -x $(BIN)/python ] || uv venv --quiet --seed --python "$(or $(PYTHON),3.11)" .venv; } \
		&& uv pip install --quiet --python $(BIN)/python -e '.[dev]'; then :; \
	elif { [ -x $(BIN)/python ] || $(PYTHON) -m venv --without-pip .venv; } && { \
		$(BIN)/python -m pip --version || $(BIN)/python -m ensurepip --default-pip \
		|| $(PYTHON) -m pip --python $(BIN)/python install pip; } >/dev/null 2>&1; then \
		$(BIN)/python -m pip install --quiet -e '.[dev]'; \
	else \
		echo ".venv could not be made with $(PYTHON): it has no working venv or pip." >&2; \
		echo "On Debian and Ubuntu: apt install python3-venv; then run make setup again." >&2; \
		exit 1; \
	fi
	@touch $@
