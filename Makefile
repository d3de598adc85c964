# What a fresh machine needs: make and Python 3.10 or newer (3.11 for tests and documentation); for anything that runs Spark also Java 17 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNNING := $(VENV)/.running
DEVELOPING := $(VENV)/.developing
# What starts a real Spark, broker or browser. A file's tests share theirs, so a file is run by one of the two processes.
REAL := spark or kafka or connect or browser
.DELETE_ON_ERROR:
.PHONY: demo test test-all docs fuzz lint format bench bench-promises legality samples rules coverage clean

demo: $(RUNNING)  ## Advise on a shipped log, then on a stream that runs here
	@$(BIN)/latency-advisor demo

test: lint  ## Everything that must hold, without the benchmarks
	$(BIN)/python -m pytest -n 2 -m "not ($(REAL))"
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "($(REAL)) and not slow"

test-all: test  ## Also what repeats on old Sparks, clusters and servers
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m slow

fuzz: $(DEVELOPING)  ## Search for inputs that break something: an hour, or FUZZ_SECONDS; what it finds stays in .fuzz and is tried first
	$(BIN)/python -m tests.fuzz $(FUZZ_SECONDS)

docs: $(DEVELOPING)  ## The documentation as a site in .site, reference pages made from the program, every link checked
	@$(BIN)/python docs/build.py

lint: $(DEVELOPING)  ## Style, types, layers, and whether generated files are up to date
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/latency-advisor rules check

format: $(DEVELOPING)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

coverage: $(DEVELOPING)
	$(BIN)/coverage run -m pytest
	$(BIN)/coverage report

bench: $(DEVELOPING)  ## Speed against named opponents, as ratios of one run
	@missed=0; for bench in tests/bench/[a-z]*.py; do echo "== $$bench"; $(BIN)/python $$bench || missed=1; done; exit $$missed

bench-promises: $(DEVELOPING)  ## Try what the steps promise on real Spark, and write the tables of docs/measurements.md
	$(BIN)/python -m tests.promises.run
	$(BIN)/python -m tests.promises.modes
	$(BIN)/python -m tests.promises.together
	$(BIN)/python -m tests.promises.grid
	$(BIN)/python -m tests.promises.backlog
	$(BIN)/python -m tests.promises.latencies
	$(BIN)/python -m tests.promises.calibrate
	$(BIN)/python -m tests.promises.scoreboard
	$(BIN)/python -m tests.promises.target

legality: $(DEVELOPING)  ## Run every verdict of legality on real Sparks, 3.5 to 4.3, and compare it with the rules: hours on two cores
	$(BIN)/python -m tests.legality.settings
	$(BIN)/python -m tests.legality

samples: $(DEVELOPING)  ## Record sample_progress/ again with real Spark
	$(BIN)/python tests/record/run.py --all

rules: $(DEVELOPING)  ## Generate rules/README.md, rules/schema.json and advisor/report.schema.json
	$(BIN)/python -m tests.generated

clean:
	rm -rf $(VENV)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(RUNNING): pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing into $(VENV), about 1 GB with PySpark: a minute or two, once."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[spark,lz4,page]'
	@touch $@

$(DEVELOPING): $(RUNNING)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[spark,connect,lz4,page]' --group dev --group lab
	@touch $@
