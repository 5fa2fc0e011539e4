# One command each. Every target sets up what it needs; nothing has to be installed by hand
# but Python >= 3.11 (choose another interpreter with: make PYTHON=python3.12 test).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TESTABLE := $(VENV)/.testable
# The CPU build of torch serves the tests; name another with TORCH=...
TORCH ?= torch==2.13.0
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: setup demo test check audit sbom bench clean

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

test: check audit
	$(BIN)/pytest -n auto

bench: $(READY)
	$(BIN)/chaosops bench

clean:
	rm -rf $(VENV) results .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
