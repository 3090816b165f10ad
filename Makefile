# Each target sets up what it needs the first time; `make help` lists them.
WINDOWS := $(filter Windows_NT,$(OS))
PYTHON ?= $(if $(WINDOWS),python,python3)
PROGRAMS := $(if $(WINDOWS),Scripts,bin)
BIN := .venv/$(PROGRAMS)
# The newest versions of all libraries, or with LOCK=1 those that the published numbers were made with.
READY := .venv/$(if $(LOCK),.locked,.ready)
# Committed notebooks show what comes out without real data; what they write while checked goes to build.
AS_COMMITTED := env -u NORMINT_DATA NORMINT_DATASET=stand-in NORMINT_FIGURES=$(CURDIR)/build/test/figures
# Tests and notebooks start some hundred processes: where Python is told to keep no bytecode, each would compile the
# package anew.
export PYTHONDONTWRITEBYTECODE :=
# Processes test side by side; libraries that start threads of their own would only get in their way.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
# All tests but those of notebooks; to load what checks these takes each process seconds.
UNITS := -m pytest -n 2 --dist loadscope --no-loadscope-reorder -p no:nbval
# Those that take longest begin first, so that no process waits for one of them in the end.
LONGEST := $(foreach number,12 04 10 03 06 05,$(wildcard notebooks/$(number)_*.ipynb))
NOTEBOOKS := $(LONGEST) $(filter-out $(LONGEST),$(wildcard notebooks/*.ipynb)) notebooks/exercises
# Between them they run the solver, every method, and the other kernels. (Checks change the last digits, to which
# invariances hold, and on which weights over twelve decades hang.)
BOUNDED := tests/test_properties.py tests/test_by_size.py tests/test_multigrid.py tests/test_iteration.py \
	tests/test_calibrated_pieces.py tests/test_calibrated_cuts.py tests/test_calibrated.py tests/test_quadratic.py \
	tests/test_rendering.py
FREEZE := -m pip freeze --all --exclude pip --exclude-editable
NEWEST := --upgrade --upgrade-strategy eager
install = $(1) -m pip install --quiet --disable-pip-version-check $(2) --editable '.[workbook,exr,mesh,docs,cluster,parquet,report,dev]'

.DEFAULT_GOAL := help
.PHONY: help setup workbook test units notebooks coverage test-browser bounds torture lint lab site report bench lock newest clean

help:           ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 14

setup: $(READY) ## make .venv with all that the other targets need, and compile everything
	$(BIN)/normint warm-up

workbook: $(READY)  ## run all notebooks, regenerate all figures and the results table
	$(BIN)/normint workbook $(ARGS)

test: $(READY)  ## run the tests: units, properties, doctests, every notebook through nbval
	$(BIN)/normint warm-up
	$(MAKE) --jobs=2 --old-file=$(READY) units notebooks

units: $(READY)  ## of the tests, all but the notebooks
	$(ONE_THREAD) $(BIN)/python $(UNITS) $(ARGS)

notebooks: $(READY) ## of the tests, every notebook through nbval
	$(AS_COMMITTED) $(ONE_THREAD) $(BIN)/python -m pytest -n 2 --dist loadscope --no-loadscope-reorder \
		--nbval --nbval-cell-timeout=600 --nbval-sanitize-with=tests/nbval_sanitize.cfg $(NOTEBOOKS)

coverage: $(READY)  ## run the tests without the notebooks, and list the lines that none of them reaches
	$(BIN)/normint warm-up
	$(ONE_THREAD) $(BIN)/python $(UNITS) --cov $(ARGS)

test-browser: $(READY)  ## open JupyterLab and the book in Chromium, move a slider, keep screenshots in build/browser
	$(BIN)/python -m pytest -rs tests/browser $(ARGS)

bounds: $(READY) ## run the kernels with every index checked against the bounds of its array
	NUMBA_BOUNDSCHECK=1 $(ONE_THREAD) $(BIN)/normint warm-up
	NUMBA_BOUNDSCHECK=1 $(ONE_THREAD) $(BIN)/python -m pytest -n 2 -k "not Invariance and not tiny_to_huge" \
		$(BOUNDED) $(ARGS)

torture: $(READY) ## try random, damaged and hostile input for a minute, or longer: ARGS='--seconds 3600'
	$(ONE_THREAD) $(BIN)/python -m tests.torture $(ARGS)

lint: $(READY)  ## check style, layout, type hints, and that rooms use only the rooms below them
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/mypy

lab: $(READY)   ## open JupyterLab on the notebooks; what they save goes to build/lab
	NORMINT_FIGURES=$(CURDIR)/build/lab/figures $(BIN)/jupyter lab --notebook-dir=notebooks $(ARGS)

site: $(READY)  ## make the book of the notebooks, pages that need no network, in build/site
	$(BIN)/sphinx-build -q -W --keep-going -d build/doctrees -b html $(ARGS) docs build/site
	@echo build/site/index.html

report: $(READY) ## write the replication report from the results, as build/report.pdf
	$(BIN)/normint report $(ARGS)

bench: $(READY) ## measure speed and memory in one table, and list what got slower (ARGS=--update keeps it)
	$(BIN)/python -m benchmarks $(ARGS)

lock:           ## write the newest versions of all libraries into requirements.lock, for LOCK=1
	$(PYTHON) -m venv --clear build/lock
	$(call install,build/lock/$(PROGRAMS)/python)
	{ echo "# Written by make lock on $$(build/lock/$(PROGRAMS)/python --version), for make LOCK=1."; \
		build/lock/$(PROGRAMS)/python $(FREEZE); } > build/lock/requirements.lock
	mv build/lock/requirements.lock requirements.lock

newest: $(READY) ## test with the newest versions of all libraries, where .venv has older ones
	@newer=$$($(call install,$(BIN)/python,--verbose --dry-run $(NEWEST)) | grep '^Would install ') && echo "$$newer" && \
	if [ $$(echo "$$newer" | wc -w) = 3 ]; then \
		echo "all but normint is there already: these are the newest versions"; \
	else \
		$(PYTHON) -m venv --clear build/newest && \
		$(call install,build/newest/$(PROGRAMS)/python) && \
		build/newest/$(PROGRAMS)/normint warm-up && \
		$(ONE_THREAD) build/newest/$(PROGRAMS)/python $(UNITS) $(ARGS); \
	fi

clean:          ## remove the environment and everything built
	rm -rf .venv build docs/notebooks docs/thumbnails

.venv/.locked: requirements.lock
.venv/.ready .venv/.locked: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "normint needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(call install,$(BIN)/python,$(if $(filter %.locked,$@),--constraint requirements.lock,$(NEWEST)))
	@rm -f .venv/.ready .venv/.locked
	@touch $@
