# One command each. Every target sets up what it needs; nothing has to be installed by hand
# but Python >= 3.11 (choose another interpreter with: make PYTHON=python3.12 test).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TESTABLE := $(VENV)/.testable
# The CPU build of torch serves the tests; name another with TORCH=...
TORCH ?= torch==2.13.0
# The tests that fail first when something is wrong.
QUICK := tests/core tests/world tests/packs tests/roles tests/rubrics tests/golden \
	tests/test_env.py tests/test_rollout.py tests/policies/test_policies.py
# Each worker takes tests that stand together, so that what they share is made once.
PYTEST := $(BIN)/pytest -n auto --dist worksteal
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: setup demo page test quick check hooks docs dist results audit sbom bench live verifiers clean

setup: $(READY)

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "ChaosOps needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --upgrade pip
	$(INSTALL) --editable '.[endpoints,figures,local]'
	$(BIN)/chaosops weights
	@touch $@

# Torch first and by its version: a range may pull in gigabytes that nobody needs here.
$(TESTABLE): $(READY)
	$(INSTALL) '$(TORCH)'
	$(INSTALL) --editable '.[dev]'
	$(BIN)/chaosops weights --dense
	@touch $@

demo: $(READY)
	@$(BIN)/chaosops demo --out results/demo

# The web page, for this machine alone. It prints its address; another port: make page PORT=8123
PORT ?= 8000
PAGE := $(VENV)/.page
$(PAGE): $(READY)
	$(INSTALL) --editable '.[web]'
	@touch $@

page: $(PAGE)
	@$(BIN)/uvicorn --factory chaosops.web.app:build_app --host 127.0.0.1 --port $(PORT) --no-access-log \
		|| [ $$? -gt 128 ] || { echo "if port $(PORT) is taken, choose another: make page PORT=8123"; exit 2; }

# Style, types, layers.
check: $(TESTABLE)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Against the advisories in the folder CHAOSOPS_ADVISORIES, if there is one.
audit: $(TESTABLE)
	$(BIN)/python scripts/supply_chain.py audit

sbom: $(TESTABLE)
	$(BIN)/python scripts/supply_chain.py sbom --out sbom.cdx.json

# In about a minute: the checks, and the tests of the world, the roles and the rewards.
quick: check
	$(PYTEST) -q $(QUICK)

# Twenty kills, and every fault three times in a company of real processes: an hour and a quarter.
live: $(TESTABLE)
	$(BIN)/pytest -q -m company tests/live
	$(BIN)/python -m chaosops.live.lifecycle --times 3 --stays 60 --out results/lifecycles.json

# verifiers needs packages that do not fit those of the server, so it has an environment of its own.
VERIFIERS := integrations/verifiers/.venv
verifiers: $(VERIFIERS)/.ready

$(VERIFIERS)/.ready: integrations/verifiers/pyproject.toml pyproject.toml
	$(PYTHON) -m venv $(VERIFIERS)
	$(VERIFIERS)/bin/python -m pip install --quiet --disable-pip-version-check \
		--editable . --editable integrations/verifiers
	@touch $@

# Without verifiers its tests are skipped, and say so. Three live incidents come last, by themselves.
test: check audit
	@$(BIN)/python -m tests.browser
	-@$(MAKE) --no-print-directory verifiers
	$(PYTEST) --durations=10
	$(BIN)/pytest -m incident tests/live

# The same checks before every commit.
hooks: $(TESTABLE)
	$(BIN)/pre-commit install

# The documentation as a site, in site/. A broken link or anchor is an error.
docs: $(TESTABLE)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# A source archive and a wheel, in dist/.
dist: $(TESTABLE)
	rm -rf dist
	$(BIN)/python -m build --no-isolation

# Tables, card and pictures of the trained model, from the files that ship.
EVALUATED := src/chaosops/trained/evaluations/arena
results: $(TESTABLE)
	$(BIN)/python scripts/result_tables.py
	$(BIN)/python scripts/shipped_card.py
	$(BIN)/python experiments/draw_stages.py
	$(BIN)/chaosops draw roc $(EVALUATED)_test $(EVALUATED)_ood_mechanism $(EVALUATED)_ood_wording \
		$(EVALUATED)_ood_rogue --policies trained,auditor --turn last --out docs/assets/roc.png
	$(BIN)/chaosops draw evasions $(EVALUATED)_test $(EVALUATED)_ood_rogue $(EVALUATED)_ood_wording \
		--policies trained,auditor --out docs/assets/evasions.png

bench: $(READY)
	$(BIN)/chaosops bench

clean:
	rm -rf $(VENV) $(VERIFIERS) results site dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
