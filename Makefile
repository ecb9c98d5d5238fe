# Each target sets itself up in .venv, with uv when it is there and plain venv + pip when it is not.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lint bench docs picture clean help

help:
	@echo "make demo    set up and design the optimal mechanism for an example"
	@echo "make test    set up and run all tests"
	@echo "make lint    style, types, layers"
	@echo "make bench   the benchmark table (minutes)"
	@echo "make docs    build the documentation into site/"
	@echo "make picture redraw the figure of the README"

$(READY): pyproject.toml
	@echo "Setting up $(VENV) ..."
	@if command -v uv >/dev/null 2>&1; then \
	  uv venv --quiet --allow-existing --python "$$(command -v $(PYTHON))" $(VENV) && uv pip install --quiet --python $(BIN)/python -e '.[dev]'; \
	else \
	  $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'; \
	fi
	@touch $@

demo: $(READY)
	@echo '$$ tinct design majority:101 --epsilon 0.5 --delta 0.01'
	@$(BIN)/tinct design majority:101 --epsilon 0.5 --delta 0.01
	@echo
	@echo '$$ tinct design examples/council.csv --output out/council.json'
	@$(BIN)/tinct design examples/council.csv --output out/council.json
	@echo
	@echo '$$ tinct verify out/council.json'
	@$(BIN)/tinct verify out/council.json

demo: | out
out:
	@mkdir -p out

test: $(READY)
	@$(BIN)/python -m pytest -n auto --dist worksteal -q

lint: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(READY)
	@$(BIN)/python -m benchmarks

docs: $(READY)
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir site
	@echo "Built: site/index.html"

picture: $(READY)
	@$(BIN)/python docs/picture.py

clean:
	rm -rf $(VENV) site out build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
