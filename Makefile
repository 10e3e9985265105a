# Every target sets itself up: the virtual environment and what it needs are installed once, in .venv.
#   make PYTHON=python3.12 test    another interpreter        make JOBS=8 test    more test processes

PYTHON ?= python3
JOBS   ?= 2
RUN    := .venv/bin/python

.PHONY: help demo test lint bench docs clean

help:
	@echo "make demo    what Pliant does, in half a minute; leaves a run of a hopping robot in out/"
	@echo "make test    lint, types and all tests"
	@echo "make lint    ruff and basedpyright only"
	@echo "make bench   speed, next to Pinocchio, MuJoCo and Jiminy"
	@echo "make docs    documentation as a site, in site/"
	@echo "make clean   remove what was built (not .venv)"

demo: .venv/.installed-logs,plots,symbolic,video,view
	$(RUN) examples/00_demo.py

test: lint
	$(RUN) -m pytest -n $(JOBS)

lint: .venv/.installed-dev
	$(RUN) -m ruff check
	$(RUN) -m ruff format --check
	$(RUN) -m basedpyright

bench: .venv/.installed-dev
	$(RUN) -m bench.dynamics
	$(RUN) -m bench.flexible
	$(RUN) -m bench.constrained
	$(RUN) -m bench.contact

docs: .venv/.installed-docs
	$(RUN) -m mkdocs build --strict

clean:
	rm -rf build dist out site .pytest_cache .ruff_cache .hypothesis
	find src tests bench examples -name __pycache__ -type d -prune -exec rm -rf {} +

# one stamp for each set of extras; a new pyproject.toml installs again
.venv/.installed-%: pyproject.toml | .venv/bin/python
	@echo "installing pliant[$*] into .venv (once)"
	@$(RUN) -m pip install --quiet --disable-pip-version-check -e '.[$*]'
	@touch $@

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Pliant needs Python 3.11 or newer; '$(PYTHON)' is not. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' || { \
	  echo "'$(PYTHON)' cannot make virtual environments: install its venv module (Debian, Ubuntu: apt install python3-venv)"; exit 1; }
	$(PYTHON) -m venv .venv
