# The Executable Transformer: `make help` lists everything.

PYTHON ?= python3
BIN := .venv/bin
PAGES := _config.yml _toc.yml $(wildcard book/*.ipynb book/*.md book/*.bib \
  book/_ext/* book/_ext/theme/* book/_static/* book/_static/*/*)
CHAPTERS := $(wildcard book/[0-9][0-9]_*.ipynb)
NBVAL := $(BIN)/python -m pytest -p tools.plugin --nbval -q -n 2 \
  --dist loadscope
export OMP_NUM_THREADS ?= 1

.PHONY: help book serve test test-gpu sync faults bench model ablations \
  lint clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | \
	  awk -F ':.*## ' '{printf "  make %-9s %s\n", $$1, $$2}'

book: _build/.book ## build the website into _build/html
	@echo "The book is at $(CURDIR)/_build/html/index.html"
	@echo "Open that file, or run 'make serve'."

serve: book ## show the website at http://localhost:8000
	$(BIN)/python -m http.server 8000 --bind 127.0.0.1 -d _build/html

test: _build/.book .venv/.tests lint ## check everything that needs no GPU (and the rest where there is one)
	$(BIN)/python -m pytest tests/library -q -n 2 \
	  --cov --cov-config=tests/library/coverage.ini
	$(BIN)/python -m pytest tests -q -n 2 --dist loadscope \
	  --ignore tests/library
	$(NBVAL) --nbval-kernel-name book-cpu $(CHAPTERS)
	@if $(BIN)/python -c "import torch; exit(not torch.cuda.is_available())"; \
	then $(NBVAL) --nbval-kernel-name book-gpu $(CHAPTERS); \
	else echo "book-gpu: no CUDA device here, so only book-cpu was checked"; fi

test-gpu: ## run notebooks and tests on a GPU (PYTHON=... uses that interpreter)
	$(PYTHON) -m tools.gpu_report

sync: .venv/.tests ## refresh, execute and normalise the chapters
	$(BIN)/python -m tools.sync
	PYTHONPATH=book $(BIN)/python -m tools.shapes_page

faults: .venv/.tests ## break the library in every way we know and see who notices
	$(BIN)/python -m tools.faults $(if $(LISTED),--listed)

bench: .venv/.book ## measure attention beside PyTorch's; also what pages draw
	PYTHONPATH=book $(BIN)/python -m benchmarks

model: .venv/.book ## train the date model of chapters 11 and 12 from five seeds
	PYTHONPATH=book $(BIN)/python -m benchmarks.date_model

ablations: .venv/.book ## train without one ingredient after the other (half an hour)
	PYTHONPATH=book $(BIN)/python -m benchmarks.ablations

lint: .venv/.tests ## style of Python files and notebooks
	$(BIN)/ruff check --no-cache .
	$(BIN)/ruff format --no-cache --check .

clean: ## remove what was built, but not the environment
	rm -rf _build

.venv/.book: requirements.txt constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q --disable-pip-version-check \
	  -r requirements.txt -c constraints.txt
	@touch $@

.venv/.tests: .venv/.book tests/requirements.txt tools/kernels.py
	$(BIN)/pip install -q --disable-pip-version-check \
	  -r tests/requirements.txt -c constraints.txt
	$(BIN)/python -m tools.kernels
	@touch $@

_build/.book: .venv/.book $(PAGES)
	$(BIN)/jupyter-book build . -W -n --keep-going
	@touch $@
