# The Executable Transformer: `make help` lists everything.

PYTHON ?= python3
BIN := .venv/bin
# The interpreter that was named, or else the book's own environment.
IS_NAMED := $(filter-out file,$(origin PYTHON))
PAGES := _config.yml _toc.yml $(wildcard book/*.ipynb book/*.md book/*.bib \
  book/_ext/* book/_ext/theme/* book/_static/* book/_static/*/*)
CHAPTERS := $(wildcard book/[0-9][0-9]_*.ipynb)
NBVAL := $(BIN)/python -m pytest -p tools.plugin --nbval -q -n 2 \
  --dist loadscope
export OMP_NUM_THREADS ?= 1

.PHONY: help book serve lab test test-gpu sync faults bench model ablations \
  lint clean FORCE
.NOTPARALLEL:

help: ## | list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*##/ {split($$2, part, "[ ]*[|] "); \
	  printf "  make %-14s %-12s %s\n", $$1, part[1], part[2]}' \
	  $(MAKEFILE_LIST)
	@echo "What a target needs is installed when it first runs: see README."

book: _build/.book ## 10 s | build the website into _build/html
	@echo "The book is at $(CURDIR)/_build/html/index.html"
	@echo "Open that file, or run 'make serve'."

serve: book ## | show the website at http://localhost:8000
	$(BIN)/python -m http.server 8000 --bind 127.0.0.1 -d _build/html

lab: .venv/.lab ## | open the chapters in JupyterLab
	$(BIN)/python -m jupyterlab book

test: _build/.book .venv/.tests lint ## | check everything (on a GPU only where there is one)
	$(BIN)/python -m pytest tests/library -q -n 2 \
	  --cov --cov-config=tests/library/coverage.ini
	$(BIN)/python -m pytest tests -q -n 2 --dist loadscope \
	  --ignore tests/library
	$(NBVAL) --nbval-kernel-name book-cpu $(CHAPTERS)
	@if $(BIN)/python -c "import torch; exit(not torch.cuda.is_available())"; \
	then $(NBVAL) --nbval-kernel-name book-gpu $(CHAPTERS); \
	else echo "book-gpu: no CUDA device here, so only book-cpu was checked"; fi

test-gpu: $(if $(IS_NAMED),,.venv/.tests) ## | run notebooks and tests on a GPU, in .venv or with PYTHON=...
	$(if $(IS_NAMED),$(PYTHON),$(BIN)/python) -m tools.gpu_report

sync: .venv/.tests ## 5 minutes | refresh, execute and normalise the chapters (CHAPTER=05: one)
	$(BIN)/python -m tools.sync $(CHAPTER)
	$(if $(CHAPTER),,PYTHONPATH=book $(BIN)/python -m tools.shapes_page)

faults: .venv/.tests ## | break the library in every way we know and see who notices
	$(BIN)/python -m tools.faults $(if $(LISTED),--listed)

bench: .venv/.chapters ## | measure attention beside PyTorch's; also what pages draw
	PYTHONPATH=book $(BIN)/python -m benchmarks

model: .venv/.chapters ## 3 minutes | train the date model of chapters 11 and 12 from five seeds
	PYTHONPATH=book $(BIN)/python -m benchmarks.date_model

ablations: .venv/.chapters ## 30 minutes | train without one ingredient after the other
	PYTHONPATH=book $(BIN)/python -m benchmarks.ablations

lint: .venv/.tests ## 2 s | style of Python files and notebooks
	$(BIN)/ruff check --no-cache .
	$(BIN)/ruff format --no-cache --check .

clean: ## 1 s | remove what was built, but not the environment
	rm -rf _build

.venv/.book .venv/.chapters .venv/.tests .venv/.lab: FORCE
	@command -v $(PYTHON) >/dev/null || { echo "There is no $(PYTHON):" \
	  "install Python 3.11 or newer." >&2; exit 1; }
	@$(PYTHON) tools/environment.py $(@:.venv/.%=%)

FORCE:

_build/.book: .venv/.book $(PAGES)
	$(BIN)/python $(BIN)/jupyter-book build . -W -n --keep-going
	@touch $@
