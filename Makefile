# `make demo` and `make test` need only Python ≥ 3.11 and make: each sets up what it uses.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check bench docs clean install

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

demo: install ## a small benchmark on embedded parts: no key, no GPU
	$(BIN)/cbench run studies/demo.toml --run runs/demo

test: install ## the default suite, all cores
	$(BIN)/pytest -n auto -q

check: install ## format, lint, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: install ## engine and metrics beside their peers, as ratios in one run
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[bench]'
	$(BIN)/python -m benchmarks.engine
	$(BIN)/python -m benchmarks.metrics

docs: install ## regenerate the pages that are made from the code
	$(BIN)/python -m docs.generate

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache
