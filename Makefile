# Everything runs in .venv; the system's Python is only asked to create it.
# Another interpreter: make PYTHON=/path/to/python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Where the environment forbids bytecode, every process compiles the package again: a second for each
# command that a test starts, and eight for each process that runs tests.
unexport PYTHONDONTWRITEBYTECODE

.NOTPARALLEL:
.PHONY: everything check-oldest check-newest quick-oldest quick-newest run-quick-newest newest-versions
.PHONY: audit-sweep audit-field audit-whose
.PHONY: docs docs-links browser
.PHONY: help demo test audit check lint types notebooks exhaustive stress benchmark benchmark-article benchmark-large benchmark-lattice benchmark-local benchmark-memory benchmark-curves benchmark-boxes dist clean

help:
	@echo "make demo       reproduce the article into results/"
	@echo "make test       run the tests that represent the rest"
	@echo "make audit      audit the claims of other libraries, which it installs"
	@echo "make audit-sweep   audit all constructors of two libraries in many settings: half an hour"
	@echo "make audit-field   audit four libraries that need an environment of their own"
	@echo "make audit-whose   measure again what docs/reference/whose.md says of other libraries"
	@echo "make check      lint, types, notebooks and all tests but the stress"
	@echo "make check-oldest, check-newest   run the quick tests with other versions"
	@echo "make docs       build the documentation site into build/site/html, and check its links"
	@echo "make browser    build it, and open its pages in Chromium, wide and narrow, light and dark"
	@echo "make docs-links build it, and ask whether the sites that it links to exist"
	@echo "make stress     search long for counterexamples"
	@echo "make benchmark  time the enumeration"
	@echo "make benchmark-article, -large, -lattice, -local, -memory, -curves, -boxes   time the rest; see benchmarks/"
	@echo "make dist       build the wheel and the sdist, check them, and try the wheel"
	@echo "make clean      remove everything that make built"

demo: $(VENV)/installed-test
	$(BIN)/sensitivity-lab article --output results/

# Each process gets one half, and takes from the other's when it is done with its own. So neither
# waits for long at the end, and the tests of a file, which share what they have made, stay together.
ON_TWO := -n 2 --dist worksteal

SOME := not further and not exhaustive and not notebooks and not stress and not browser

test: $(VENV)/installed-test
	@echo "Running the tests that represent the rest, on two cores."
	$(BIN)/python -m pytest $(ON_TWO) -m "$(SOME)"

audit: $(VENV)/installed-test,opendp,diffprivlib
	$(BIN)/python -m pytest -m "not browser" tests/corpus

# Not in CI. It goes on where it was; what it finds is for docs/sweep.md, and no failure.
audit-sweep: $(VENV)/installed-test,opendp,diffprivlib
	for library in opendp opendp.extras opendp.polars diffprivlib; do \
	  $(BIN)/python -m tools.sweep $$library --output sweep --jobs -1 || test $$? -eq 1 || exit; done
	$(BIN)/python -m tools.sweep.docs sweep

# The sweep goes on where it was, as audit-sweep does.
audit-field: .venv-field/installed
	.venv-field/bin/python -m pytest -m exhaustive tests/corpus/test_field.py \
	  tests/tools/sweep/test_sweep_pipeline_dp.py
	.venv-field/bin/python -m tools.sweep pipeline_dp --output sweep --jobs -1 || test $$? -eq 1

# Half an hour; each environment measures the libraries that it has, and names the others.
audit-whose: .venv-whose/installed .venv-field/installed $(VENV)/installed-test,opendp,diffprivlib
	.venv-whose/bin/python tools/make_whose.py --check
	.venv-field/bin/python tools/make_whose.py --check
	$(BIN)/python tools/make_whose.py --check --private

# The quick ones first; the tests last, so that their closing line ends the output.
check: lint types notebooks exhaustive

lint: $(VENV)/installed-test,check,dask,completion
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/installed-test,check,dask,completion
	$(BIN)/mypy

# The files that have the marker: it takes longer to import all others than to run these.
notebooks: $(VENV)/installed-test,check,dask,sql
	$(BIN)/python -m pytest -n 2 -m notebooks tests/test_notebooks.py tests/plotting/test_plot_files.py

ALL := not notebooks and not stress and not browser

exhaustive: $(VENV)/installed-test,check,dask,formulas,sql
	@echo "Running all tests but the stress, on two cores: several times as long as make test."
	$(BIN)/python -m pytest $(ON_TWO) -m "$(ALL)"

# Both ends of what pyproject.toml promises, in environments of their own; make clean removes them.
# With the oldest versions, what these use of newer packages is deprecated by now.
OF_OLDEST := -W ignore::DeprecationWarning
# What other packages change first: arrays, tables, workers, files, pictures.
QUICK := tests/cli/test_cli.py tests/cli/test_cli_domains.py tests/cli/test_cli_errors.py \
  tests/cli/test_cli_files.py tests/test_csv_files.py tests/plotting/test_plot_answers.py \
  tests/pipelines/steps/test_pipelines_tables.py \
  tests/pipelines/steps/test_pipelines_tables_errors.py tests/queries/test_functions.py \
  tests/queries/test_functions_errors.py tests/queries/test_queries.py \
  tests/queries/test_records_errors.py tests/queries/test_returned_errors.py \
  tests/search/enumeration/test_dask.py tests/search/enumeration/test_parallel.py \
  tests/search/test_contract.py tests/universes/test_errors.py tests/universes/test_universe.py

# What is exhaustive for its time alone, but is about another package.
AND_WORKERS := not exhaustive and not notebooks and not stress and not browser or dask

check-oldest: .venv-oldest/installed
	.venv-oldest/bin/python -m pytest $(OF_OLDEST)

check-newest: newest-versions
	.venv-newest/bin/python -m pytest

quick-oldest: .venv-oldest/installed
	.venv-oldest/bin/python -m pytest $(OF_OLDEST) -m "$(AND_WORKERS)" $(QUICK)

# Where all packages of .venv are the newest that there are, its tests are those with the newest.
quick-newest: $(VENV)/installed-test,dask
	@$(BIN)/python tools/newest.py test dask || $(MAKE) --no-print-directory run-quick-newest

run-quick-newest: newest-versions
	.venv-newest/bin/python -m pytest -m "$(AND_WORKERS)" $(QUICK) tests/audits/test_opendp_polars.py

# OpenDP's measurements are documented, too, from their docstrings. The first time also fetches the
# engine of the calculator into build/engine, and compiles it: three minutes.
docs: $(VENV)/installed-docs,opendp
	$(BIN)/python tools/make_site.py

docs-links: $(VENV)/installed-docs,opendp
	$(BIN)/python tools/make_site.py --outside

browser: docs $(VENV)/installed-test,browser
	$(BIN)/python -m pytest -m browser

# How many universes, near ties and bounds; a release takes STRESS=20000 NEAR_TIES=1000000 BOUNDS=1000.
# tests/support/doses.py derives the rest from these.
STRESS ?= 300
NEAR_TIES ?= 20000
BOUNDS ?= 50

stress: $(VENV)/installed-test
	STRESS=$(STRESS) NEAR_TIES=$(NEAR_TIES) BOUNDS=$(BOUNDS) \
	  $(BIN)/python -m pytest -n 2 --dist load -m stress

benchmark: $(VENV)/installed-test
	$(BIN)/python benchmarks/enumeration.py

benchmark-article: $(VENV)/installed-test
	$(BIN)/python benchmarks/article.py

benchmark-large: $(VENV)/installed-test
	$(BIN)/python benchmarks/large.py

benchmark-lattice: $(VENV)/installed-test
	$(BIN)/python benchmarks/lattice.py

benchmark-curves: $(VENV)/installed-test
	$(BIN)/python benchmarks/curves.py

benchmark-local: $(VENV)/installed-test
	$(BIN)/python benchmarks/local.py
	$(BIN)/python benchmarks/reach.py
	$(BIN)/python benchmarks/tables.py

benchmark-boxes: $(VENV)/installed-test
	$(BIN)/python -m pip install --quiet pyscipopt==6.3.0
	$(BIN)/python benchmarks/boxes.py

benchmark-memory: $(VENV)/installed-test
	$(BIN)/python benchmarks/memory.py

# Built in a clean folder; the wheel is tried in an environment of its own, outside the checkout.
dist: $(VENV)/installed-dist
	rm -rf dist .venv-dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m twine check --strict dist/*
	@echo "Installing the wheel into .venv-dist, and trying it outside the checkout"
	@$(PYTHON) -m venv --clear .venv-dist
	@.venv-dist/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	@root=$$PWD && cd / && env -u PYTHONPATH "$$root/.venv-dist/bin/python" -W error \
	  "$$root/tools/try_wheel.py" "$$root/README.md"

clean:
	rm -rf $(VENV) .venv-oldest .venv-newest .venv-dist .venv-field .venv-whose sweep results build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# What CI needs, found and installed in one go.
ALL_EXTRAS := test,check,dask,completion test,opendp,diffprivlib test,check,dask,sql test,check,dask,formulas,sql \
  test,dask test
everything: pyproject.toml $(VENV)/created
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  --editable '.[test,check,dask,completion,formulas,opendp,diffprivlib,sql]'
	@touch $(ALL_EXTRAS:%=$(VENV)/installed-%)

# The stem names the extras: installed-test,check installs .[test,check].
$(VENV)/installed-%: pyproject.toml $(VENV)/created
	@echo "Installing sensitivity_lab[$*] into $(VENV), which can take a minute or two"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@

.venv-oldest/installed: pyproject.toml tools/floors.py $(VENV)/created
	@echo "Installing the oldest versions that pyproject.toml promises into .venv-oldest"
	@$(PYTHON) -m venv --clear --without-pip .venv-oldest
	@$(PYTHON) tools/floors.py > .venv-oldest/constraints.txt
	@$(BIN)/python -m pip --python .venv-oldest/bin/python install --quiet --disable-pip-version-check \
	  --constraint .venv-oldest/constraints.txt --editable '.[test,dask,sql]'
	@touch $@

# Pinned, as the tests state what these versions claim; smartnoise-sql needs another OpenDP.
.venv-field/installed: pyproject.toml $(VENV)/created
	@echo "Installing other libraries for differential privacy into .venv-field"
	@$(PYTHON) -m venv --clear .venv-field
	@.venv-field/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[test]' \
	  pipeline-dp==0.3.1 smartnoise-sql==1.0.10 jax-privacy==2.0.0 dp-accounting==0.6.0 \
	  python-dp==1.1.5 autodp==0.2.3.1
	@touch $@

# Pinned in tools/whose/data_of.py, which says what is missing.
.venv-whose/installed: pyproject.toml tools/whose/data_of.py $(VENV)/created
	@echo "Installing libraries for statistics into .venv-whose"
	@$(PYTHON) -m venv --clear .venv-whose
	@.venv-whose/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[test]' \
	  'dask[dataframe]' $$($(PYTHON) -c 'import sys; sys.path.insert(0, "tools"); \
	  from whose.data_of import PINS; print(*map("==".join, PINS.items()))')
	@touch $@

# Each time: the newest versions are others tomorrow. OpenDP's extra pins the Polars whose plans it reads.
newest-versions: $(VENV)/created
	@echo "Installing the newest versions into .venv-newest"
	@test -x .venv-newest/bin/python || $(PYTHON) -m venv --without-pip .venv-newest
	@$(BIN)/python -m pip --python .venv-newest/bin/python install --quiet --disable-pip-version-check \
	  --upgrade --upgrade-strategy eager --editable '.[test,dask,opendp]' 'opendp[polars]'

$(VENV)/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "sensitivity_lab needs Python 3.11 or newer, and $(PYTHON) is: $$($(PYTHON) --version 2>&1)." \
	    "Install one and name it: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) cannot create virtual environments." \
	    "Install what is missing (Debian, Ubuntu: apt install python3-venv) and try again." >&2; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@
