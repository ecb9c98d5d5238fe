# Each target sets itself up in .venv, with uv when it is there and plain venv + pip when it is not.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo demo-spark test lint bench docs gallery evidence picture clean help

help:
	@echo "make demo       set up, ask an example survey one question, and answer it privately"
	@echo "make test       set up and run all tests"
	@echo "make lint       style, types, layers"
	@echo "make bench      the benchmark table (minutes)"
	@echo "make docs       build the documentation into site/"
	@echo "make gallery    redraw the figures of the papers into docs/gallery/ (minutes)"
	@echo "make evidence   the reliability tests at full length (about an hour)"
	@echo "make demo-spark the same jobs on a local Spark cluster (needs Java 17)"
	@echo "make picture    redraw the pictures of the README and the pages"

ifneq ($(shell command -v uv 2>/dev/null),)
MAKE_VENV := uv venv --quiet --allow-existing --python "$$(command -v $(PYTHON))" $(VENV)
INSTALL := uv pip install --python $(BIN)/python
else
MAKE_VENV := $(PYTHON) -m venv $(VENV)
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check
endif

$(READY): pyproject.toml
	@echo "Setting up $(VENV) ..."
	@$(MAKE_VENV)
	@$(INSTALL) --quiet -e '.[dev]'
	@touch $@

demo: $(READY)
	@mkdir -p out
	@rm -f out/budget.db out/budget.db-shm out/budget.db-wal
	@echo '$$ tinct budget init out/budget.db --epsilon 1 --unit person_id'
	@$(BIN)/tinct budget init out/budget.db --epsilon 1 --unit person_id
	@echo
	@echo '$$ tinct ask examples/survey.csv "majority(support)" --epsilon 0.5 --ledger out/budget.db'
	@$(BIN)/tinct ask examples/survey.csv "majority(support)" --epsilon 0.5 --ledger out/budget.db
	@echo
	@echo '$$ tinct budget history out/budget.db'
	@$(BIN)/tinct budget history out/budget.db

demo-spark: $(READY)
	@$(BIN)/python examples/spark_demo.py

test: $(READY)
	@$(BIN)/python -m pytest -n auto --dist loadgroup -q

lint: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(READY)
	@$(BIN)/python -m benchmarks

# not --quiet, with which warnings are not counted and a strict build never fails
docs: $(READY)
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir site
	@echo "Built: site/index.html"

gallery: $(READY)
	@$(BIN)/python -m gallery

# atheris follows coverage; it is built for few platforms, so it is installed here and is not a dependency
evidence: $(READY)
	@$(BIN)/python -c "import atheris" 2>/dev/null || $(INSTALL) --quiet atheris || echo "without atheris, the part 'guided' fails"
	@$(BIN)/python -m evidence

picture: $(READY)
	@$(BIN)/python tools/make_images.py

clean:
	rm -rf $(VENV) site out build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
