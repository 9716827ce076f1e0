# `make` lists the tasks.
PYTHON ?= python3
.DEFAULT_GOAL := help
.PHONY: help setup check test slow mutants tables docs report paper bench wheel ci

help: ## list the tasks
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "%-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## install this checkout, editable, with all development tools, into the current environment
	$(PYTHON) -m pip install -e '.[dev]'

check: ## ruff, mypy, the import contracts and the overview of verdicts
	$(PYTHON) -m ruff check .
	$(PYTHON) -m mypy dpaudit algorithms audits tools
	lint-imports
	$(PYTHON) tools/verdicts.py --check

test: ## the fast tests
	$(PYTHON) -m pytest

slow: ## the slow tests
	$(PYTHON) -m pytest -m slow

mutants: ## apply small mistakes to a copy of the engine, one at a time, and expect a test to fail for each
	$(PYTHON) tests/quality/engine_mutants.py

tables: ## write reports/README.md from the verdicts in reports/*.csv
	$(PYTHON) tools/verdicts.py
	$(PYTHON) tools/proofs.py

docs: ## build the site into docs/_build/html; any warning is an error
	$(PYTHON) -m sphinx -W --keep-going -b html docs docs/_build/html

report: ## audit the whole catalogue into build/report/ and write its verdicts into reports/
	mkdir -p build
	dpaudit check --all --expect --report build/report
	dpaudit compare interior-points --json build/report/interior-points.json
	$(PYTHON) tools/verdicts.py build/report

paper: ## the report on method and findings, into build/paper/: its numbers and figures, and a PDF where pdflatex is
	$(PYTHON) tools/paper.py

bench: ## run the benchmarks (benchmarks/)
	@for file in benchmarks/*.py; do test -e "$$file" || continue; echo "$$file"; $(PYTHON) "$$file" || exit 1; done

wheel: ## build the wheel into dist/
	$(PYTHON) -m build --wheel

ci: ## everything that continuous integration does, in fresh environments
	bash .ci/run
