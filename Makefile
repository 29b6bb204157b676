# Everything a person types here sets up what it needs first. `make help` lists the targets.
PYTHON ?= python3
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest -q --durations=20 --durations-min=1
# As many at a time as there are processors, up to four: a sandbox has up to 512 MB of memory.
SIDE_BY_SIDE := -n auto --maxprocesses 4
# Sandboxes wait about half of their time (deadlines, starts): half as many again as there are processors.
SANDBOXES := -n $(shell n=$$(getconf _NPROCESSORS_ONLN); n=$$(((n * 3 + 1) / 2)); echo $$((n < 6 ? n : 6)))

# Which lines of gate ran, for scripts/coverage_floor.py. Its own plugin wants to measure the tests, too.
MEASURED := -p tests.coverage_plugin -p no:slipcover

# Compiled modules are kept: without, each of some thousand Pythons of a test run compiles all that it imports.
# `make test` makes them first: those that watch sandboxes run with -B and would leave none to the next.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help venv setup demo docs test check quick lint format bench bench-attribution bench-cache bench-commits bench-cost bench-prescreen bench-labelled bench-vulnerable bench-javascript rule-pages wheel image test-image clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | sort

venv: ## make the Python environment (.venv) with the development tools
	@sh scripts/venv.sh "$(PYTHON)"

setup: venv ## container engine and sandbox images, where missing and allowed
	@$(BIN)/python scripts/setup.py

demo: venv ## run the gate on a made-up hostile pull request
	@$(BIN)/python scripts/setup.py --light
	@$(BIN)/python scripts/demo.py

docs: venv ## the documentation as a site, with every command's help, under build/site
	@$(BIN)/python scripts/docs_site.py

test: setup ## every test that this machine can run; says which it could not and why
	@failed=0; began=$$(date +%s); \
	after() { echo "test: $$1 after $$(($$(date +%s) - began)) s"; }; \
	$(BIN)/python -m compileall -q -j 0 gate; \
	echo "test 1/2: what starts no sandbox, side by side, with coverage"; \
	rm -rf .coverage.d; \
	$(PYTEST) $(SIDE_BY_SIDE) --dist worksteal -m "not sandboxed" $(MEASURED) || failed=1; \
	$(BIN)/python scripts/coverage_floor.py || failed=1; \
	after "first half ended"; \
	echo "test 2/2: what starts sandboxes, side by side"; \
	$(PYTEST) $(SANDBOXES) --dist loadgroup --no-loadscope-reorder -m sandboxed || failed=1; \
	after "second half ended"; \
	exit $$failed

check: lint quick ## the inner loop (goal: two minutes): lint and the tests that are quick and start no sandbox

quick: venv ## the tests that are quick and start no sandbox
	@$(PYTEST) $(SIDE_BY_SIDE) --dist worksteal -m "not sandboxed and not slow"

lint: venv ## ruff, mypy strict, import contracts
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: venv ## let ruff lay out the code
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: setup ## start-up of each backend, a whole check, what tracing costs, as JSON under bench/results/
	@mkdir -p bench/results
	@for name in sandbox_start check fast_look trace_overhead; do \
	    echo "bench: $$name"; \
	    $(BIN)/python bench/$$name.py >bench/results/$$name.json.part || echo "bench: $$name missed a goal"; \
	    mv bench/results/$$name.json.part bench/results/$$name.json; \
	    cat bench/results/$$name.json; \
	done

bench-attribution: venv ## precision and recall of attribution on labelled commits, beside the naive rule
	@$(BIN)/python bench/attribution.py

bench-commits: venv ## whole checks of merged commits of public projects: CLONES=FOLDER holds the clones, DONE=FILE resumes
	@$(BIN)/python bench/real_commits.py $(CLONES) $(if $(DONE),--done $(DONE)) $(ARGUMENTS)

bench-prescreen: venv ## the static look on public corpora and in time, beside Bandit and Semgrep
	@$(BIN)/python bench/prescreen.py

bench-labelled: venv ## holes and twins that only look alike, as text: found and false per class, beside Bandit and Semgrep: ARGUMENTS
	@$(BIN)/python bench/labelled.py all --alone $(ARGUMENTS)

bench-cache: venv ## a change of ten modules: looked at, told again, and after a push that changes one: BACKEND=NAME
	@$(BIN)/python bench/kept_checks.py $(BACKEND)

bench-cost: venv ## what a check of one commit costs, beside Semgrep, Bandit and the project's tests: CLONE=FOLDER COMMIT=NAME
	@$(BIN)/python bench/cost.py $(CLONE) $(COMMIT) $(ARGUMENTS)

bench-vulnerable: venv ## changes with holes and secure twins, attacked: proven, not, wrong per weakness: CORPUS=FILES
	@[ -d build/attacked ] || $(BIN)/python -m pip install -q --target build/attacked -r tests/vulnerable/packages.txt
	@$(BIN)/python bench/vulnerable.py $(CORPUS)

bench-javascript: venv ## the same for pairs in JavaScript, whose packages npm installs: CORPUS=FILES
	@$(BIN)/python bench/javascript_pairs.py $(CORPUS)

rule-pages: venv ## write docs/rules/ anew from the rules
	@$(BIN)/python scripts/rule_pages.py

wheel: venv ## the wheel in an empty environment on each Python that is here or in Debian
	@$(BIN)/python scripts/wheel.py

image: setup ## the container image that holds gate itself, and its size
	@$(BIN)/python scripts/image.py

test-image: setup ## the images: built twice and compared, the container action run whole (minutes, 600 MB)
	@GATE_TEST_IMAGE=1 $(BIN)/python -m pytest -q tests/integration/test_gate_image.py \
	    tests/integration/test_images_equal.py tests/e2e/test_action_image.py

clean: ## remove what tests and tools left behind (not .venv, not the images)
	@rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage* build dist demo-out
