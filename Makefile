# Every target sets itself up: the virtual environment and what it needs are installed once, in .venv.
#   make PYTHON=python3.12 test    another interpreter        make JOBS=8 test    more test processes

PYTHON ?= python3
JOBS   ?= 2
RUN    := .venv/bin/python
QUIET  := --quiet --disable-pip-version-check

.PHONY: help demo test processors aarch64 lint bench docs wheel newcomer release-check clean

help:
	@echo "make demo    what Pliant does, in half a minute; leaves a run of a hopping robot in out/"
	@echo "make test    lint, types and all tests; gets the browser that some of them need"
	@echo "make processors    all tests, as on processors with other vectors and rounding"
	@echo "make aarch64 kernels of robots on an ARM processor, emulated (Debian, Ubuntu)"
	@echo "make lint    ruff and basedpyright only"
	@echo "make bench   speed, next to Pinocchio, MuJoCo and Jiminy; a short run to try it: make SHORT=1 bench"
	@echo "make docs    documentation as a site, in site/"
	@echo "make wheel   the package, installed into an empty environment and tried there"
	@echo "make newcomer a first hour from an empty environment: install, play, tutorials, a notebook, the docs' links and search"
	@echo "make release-check   all that must hold before a release, in new environments"
	@echo "make clean   remove what was built (not .venv)"

demo: .venv/.installed-logs,plots,symbolic,video,view
	$(RUN) examples/00_demo.py

test: lint
	$(RUN) tests/browser.py
	$(RUN) -m pytest -n $(JOBS)

# kernels and OpenBLAS as on processors with 2, 4 and 8 lanes, the first without fused multiply-add (x86-64 only)
processors: .venv/.installed-dev
	OPENBLAS_CORETYPE=Prescott PLIANT_PROCESSOR=x86-64    $(RUN) -m pytest -n $(JOBS)
	OPENBLAS_CORETYPE=Haswell  PLIANT_PROCESSOR=x86-64-v3 $(RUN) -m pytest -n $(JOBS)
	OPENBLAS_CORETYPE=SkylakeX PLIANT_PROCESSOR=x86-64-v4 $(RUN) -m pytest -n $(JOBS)

aarch64: .venv/.installed-dev
	PYTHONPATH=src:tests $(RUN) tests/aarch64.py

lint: .venv/.installed-dev
	$(RUN) -m ruff check
	$(RUN) -m ruff format --check
	$(RUN) -m basedpyright

bench: .venv/.installed-dev
	$(RUN) -m bench $(if $(SHORT),--short)

docs: .venv/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --strict --quiet

wheel: .venv/bin/python
	rm -rf build/wheel
	$(RUN) -m pip wheel $(QUIET) --no-deps --wheel-dir build/wheel .
	$(RUN) -m venv build/wheel/venv
	build/wheel/venv/bin/python -m pip install $(QUIET) build/wheel/*.whl
	cd build/wheel && venv/bin/python -I ../../tests/installed.py

newcomer: .venv/bin/python
	$(RUN) tests/newcomer.py

release-check: .venv/bin/python
	$(RUN) tests/release_check.py

clean:
	rm -rf build dist out site .pytest_cache .ruff_cache .hypothesis
	find src tests bench examples -name __pycache__ -type d -prune -exec rm -rf {} +

# one stamp for each set of extras; a new pyproject.toml installs again
.venv/.installed-%: pyproject.toml | .venv/bin/python
	@echo "installing pliant[$*] into .venv (once)"
	@$(RUN) -m pip install $(QUIET) -e '.[$*]'
	@touch $@

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Pliant needs Python 3.11 or newer; '$(PYTHON)' is not. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' || { \
	  echo "'$(PYTHON)' cannot make virtual environments: install its venv module (Debian, Ubuntu: apt install python3-venv)"; exit 1; }
	$(PYTHON) -m venv .venv
