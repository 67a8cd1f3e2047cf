# The Executable Transformer: `make help` lists everything.

PYTHON ?= python3
BIN := .venv/bin
# The interpreter that was named, or else the book's own environment.
IS_NAMED := $(filter-out file,$(origin PYTHON))
STAMPS := $(addprefix .venv/.,book torch chapters pdf tests lab) \
  .venv-conformance/.torch .venv-nbgrader/.torch .venv-nbgrader/.chapters
PAGES := _config.yml _toc.yml $(wildcard book/*.ipynb book/*.md book/*.bib \
  book/deeper/*.ipynb \
  book/teach/* book/_ext/book_site/* book/_ext/book_site/*/* \
  book/_ext/book_site/theme/made/* tools/source/* \
  book/_static/* book/_static/*/* book/lib/*.py book/lib/*/*.py \
  book/kit/*.py book/kit/explorers/* CITATION.cff \
  reports/*.json)
PYTEST := $(BIN)/python -m pytest -q -n 2
COVERAGE := --cov --cov-config=tests/library/coverage.ini
NBVAL := $(PYTEST) -p tools.chapters.plugin --nbval --nbval-cell-timeout 600 \
  --dist loadscope --no-loadscope-reorder
PACKAGES := HF_HUB_OFFLINE=1 PYTHONPATH=book .venv-conformance/bin/python
GRADING = $(BIN)/python -m tools.grading \
  $(if $(SUBMISSIONS),"$(SUBMISSIONS)") $(if $(OUT),--out "$(OUT)") \
  $(if $(CHAPTER),--chapter "$(CHAPTER)") $(if $(JOBS),--jobs "$(JOBS)") \
  $(if $(ROSTER),--roster "$(ROSTER)") $(OPTIONS)
export OMP_NUM_THREADS ?= 1

.PHONY: help book serve slides pdf offline site lab student test test-all \
  test-notebooks test-gpu test-public test-nbgrader publish sync address \
  faults kill-rates conformance bench model weights ablations project grade \
  answers speedrun lint clean FORCE
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

slides: book ## 10 s | slides of every chapter, beside the website
	$(BIN)/python -m tools.editions.slides

pdf: book .venv/.pdf ## 2 minutes | the whole book as one PDF (needs Chromium)
	$(BIN)/python -m tools.editions.pdf

offline: book ## 5 s | the website as a zip that opens without a network
	$(BIN)/python -m tools.editions.offline

site: slides pdf offline ## 2 minutes | the website with the slides and both downloads

publish: export PUBLISHING = 1
publish: site ## 3 minutes | notebooks and website into branches of origin
	$(BIN)/python -m tools.editions.publish \
	  $(if $(filter-out 0 false,$(GONE)),--gone)

lab: .venv/.lab ## | open the chapters in JupyterLab
	$(BIN)/python -m jupyterlab book

student: .venv/.book .venv/.chapters ## 10 s | notebooks for students (OUT=folder, SEED=7, ROSTER=names.csv)
	PYTHONPATH=book $(BIN)/python -m tools.editions.student \
	  $(if $(OUT),--out "$(OUT)") $(if $(SEED),--seed "$(SEED)") \
	  $(if $(ROSTER),--roster "$(ROSTER)")

test: lint _build/.book .venv/.tests ## 12 minutes | check it before a push: every promise, by its cheapest test
	$(PYTEST) tests --quick --dist loadscope
	@$(MAKE) --no-print-directory test-notebooks

test-all: lint site .venv/.tests ## > 2 hours | check everything that needs no GPU, as every night
	@mkdir -p _build
	BOOK_TYPECHECK=1 $(PYTEST) tests/library \
	  -m "not bad_input and not compiled" \
	  $(COVERAGE) --cov-report= --cov-fail-under=0
	$(PYTEST) tests/library -m "bad_input or compiled" \
	  $(COVERAGE) --cov-append
	$(PYTEST) tests/exercises --dist worksteal
	$(PYTEST) tests --dist loadscope --ignore tests/library --ignore tests/exercises
	@$(MAKE) --no-print-directory test-notebooks faults test-public test-nbgrader REALISTIC=1

test-notebooks: .venv/.tests ## 5 minutes | run each chapter alone, as in Colab (CHAPTER=05: one)
	$(BIN)/python -m tools.chapters.alone $(CHAPTER)
	$(NBVAL) --nbval-kernel-name book-cpu $$(ls -rd _build/alone/*)
	@if $(BIN)/python -c "import torch; exit(not torch.cuda.is_available())"; \
	then $(BIN)/python -m tools.chapters.alone $(CHAPTER) && \
	  $(NBVAL) --nbval-kernel-name book-gpu $$(ls -rd _build/alone/*); \
	else echo "book-gpu: no CUDA device here, so only book-cpu was checked"; fi

test-gpu: $(if $(IS_NAMED),,.venv/.tests) ## | run notebooks and tests on a GPU, in .venv or with PYTHON=...
	$(if $(IS_NAMED),$(PYTHON),$(BIN)/python) -m tools.gpu

sync: .venv/.tests ## 5 minutes | refresh, execute and normalise the chapters (CHAPTER=05: one)
	$(BIN)/python -m tools.chapters.sync $(CHAPTER)
	$(if $(CHAPTER),,$(BIN)/python -m tools.exercises.teaching)
	$(if $(CHAPTER),,PYTHONPATH=book $(BIN)/python -m tools.chapters.gallery_page)
	$(if $(CHAPTER),,PYTHONPATH=book $(BIN)/python -m tools.chapters.shapes_page)

address: .venv/.tests ## 2 s | carry the address in _config.yml into the chapters
	$(BIN)/python -m tools.chapters.sync --stored

faults: .venv/.tests ## hours | break the library; who notices? (REALISTIC=1, SAMPLE=200)
	$(BIN)/python -m tools.faults $(if $(REALISTIC),--realistic) \
	  $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(MODULE),--module $(MODULE))

kill-rates: .venv/.tests ## 5 minutes | break the solutions; do the checks notice?
	$(BIN)/python -m tools.exercises.mutants --stale
	$(BIN)/python -m tools.exercises.teaching

conformance: .venv-conformance/.done ## 2 minutes | the checks of chapter 20 over public packages
	$(PACKAGES) -m lib.diagnose --public
	$(PACKAGES) -m pytest -q tests/conformance

test-public: .venv-conformance/.done ## 2 minutes | is the stored table of packages still true?
	$(PACKAGES) -m pytest -q tests/conformance

test-nbgrader: .venv-nbgrader/.done ## 4 minutes | the chapters through nbgrader, nbgitpuller and JupyterHub
	.venv-nbgrader/bin/python -m pytest -q -rs -p no:cacheprovider \
	  -c /dev/null --rootdir . tests/tools/nbgrader

bench: .venv/.chapters ## | measure what pages draw
	PYTHONPATH=book $(BIN)/python -m benchmarks

model: .venv/.chapters ## 3 minutes | train the date model of chapters 11 to 14 from five seeds
	PYTHONPATH=book $(BIN)/python -m benchmarks.date_model
	PYTHONPATH=book $(BIN)/python -m tools.editions.weights

weights: .venv/.chapters ## 5 s | the date model as the page loads it, from book/data
	PYTHONPATH=book $(BIN)/python -m tools.editions.weights

ablations: .venv/.chapters ## 35 minutes | train without one ingredient after the other
	PYTHONPATH=book $(BIN)/python -m benchmarks ablations bags reasons cheaper lab

project: .venv/.chapters ## | what a project earns (PROJECT=1 FILE=mine.py)
	PYTHONPATH=book $(BIN)/python -m kit.projects $(PROJECT) $(FILE)

grade: .venv/.book .venv/.chapters ## | grade notebooks in a sandbox (SUBMISSIONS=folder)
	$(GRADING)

answers: .venv/.book .venv/.chapters ## | their answers as files, to compare (SUBMISSIONS=folder)
	$(GRADING) --answers

speedrun: .venv/.chapters ## 3 minutes | race a recipe to 99.5% of the dates (RACER=file.py)
	PYTHONPATH=book $(BIN)/python -m benchmarks.speedrun $(RACER)

lint: .venv/.tests ## 2 s | style of Python files and notebooks
	$(BIN)/ruff check --no-cache .
	$(BIN)/ruff format --no-cache --check .

clean: ## 1 s | remove what was built, but not the environment
	rm -rf _build

.venv/.chapters: .venv/.torch
.venv/.lab: .venv/.chapters
.venv/.pdf: .venv/.book
.venv/.tests: .venv/.book .venv/.chapters .venv/.pdf
.venv-nbgrader/.chapters: .venv-nbgrader/.torch

$(STAMPS): FORCE
	@command -v $(PYTHON) >/dev/null || { echo "There is no $(PYTHON):" \
	  "install Python 3.11 or newer." >&2; exit 1; }
	@$(PYTHON) tools/environment.py $(patsubst .%,%,$(@F)) $(@D)

FORCE:

.venv-conformance/.done: .venv-conformance/.torch \
  tests/conformance/requirements.txt
	@echo "Installing the packages that are compared (200 MB, a minute)."
	@$(@D)/bin/python -m pip install -qq --no-deps \
	  -r tests/conformance/requirements.txt
	@touch $@

.venv-nbgrader/.done: .venv-nbgrader/.chapters tests/tools/nbgrader/requirements.txt
	@echo "Installing nbgrader and JupyterHub (250 MB, a minute)."
	@$(@D)/bin/python -m pip install -qq -r tests/tools/nbgrader/requirements.txt
	@touch $@

_build/.book: .venv/.book $(PAGES)
	@rm -rf _build/html/downloads _build/html/slides # made of what was before
	$(BIN)/python $(BIN)/jupyter-book build . -W -n --keep-going
	@touch $@
