# make demo, then make test. Everything else is for daily work; `make help` lists it.
SHELL := /bin/bash
BUILD ?= build
JOBS ?= $(shell nproc)
# CMake starts over when BUILD moves or its flags change; an unchanged tree costs about a second.
CONFIGURE = cmake -S . -B $(BUILD) -G Ninja $(CMAKE_FLAGS) --log-level=WARNING >/dev/null
NINJA = ninja -C $(BUILD) -j $(JOBS)
SUBLANE = $(BUILD)/sublane
CTEST = ctest --test-dir $(BUILD) --output-on-failure -j 2
QUESTION ?= What is a matrix multiplication, in two sentences?
FUZZ_SECONDS ?= 20

.PHONY: demo test test-long bench build check fuzz format tidy doctor help clean
.DEFAULT_GOAL := help

demo: ## Set up this machine, build, fetch SmolLM2-135M, chat with it, say why its decode step is slow on a v6e, and what two buffers bring to a kernel
	@tools/setup.sh demo
	@$(MAKE) --no-print-directory build
	@$(SUBLANE) fetch smollm2-135m
	@echo; echo '$$ sublane run smollm2-135m --chat --prompt "$(QUESTION)" --max-tokens 64'
	@$(SUBLANE) run smollm2-135m --chat --prompt "$(QUESTION)" --max-tokens 64
	@echo; echo '$$ sublane explain smollm2-135m --chip v6e --step decode --top 8'
	@$(SUBLANE) explain smollm2-135m --chip v6e --step decode --top 8
	@echo; echo '$$ sublane explain smollm2-135m --chip v6e --format html -o $(BUILD)/report.html'
	@$(SUBLANE) explain smollm2-135m --chip v6e --format html -o $(BUILD)/report.html
	@echo; echo '$$ sublane diff .../single_buffered.fires.mlir .../single_buffered.silent.mlir --chip v6e   # docs/why-is-it-slow.md'
	@$(SUBLANE) diff tests/findings/programs/single_buffered.fires.mlir tests/findings/programs/single_buffered.silent.mlir --chip v6e

test: ## Set up, build and run every check and test except the long ones
	@tools/setup.sh test
	@$(MAKE) --no-print-directory build all=1
	@$(SUBLANE) fetch smollm2-135m
	@$(SUBLANE) fetch gemma3-270m
	@$(MAKE) --no-print-directory check fuzz
	$(CTEST) -LE long

test-long: ## The tests that take too long for every change
	@tools/setup.sh long
	@$(MAKE) --no-print-directory build all=1
	@$(MAKE) --no-print-directory tidy
	$(CTEST) -L long --no-tests=ignore

bench: ## Measure on this machine: the scan of checkpoints, the simulator, and run beside llama.cpp (built from source, 10-20 min once)
	@$(MAKE) --no-print-directory build
	@$(SUBLANE) fetch smollm2-135m
	@$(SUBLANE) fetch gemma3-270m
	@bench/scan.py --binary $(SUBLANE) smollm2-135m gemma3-270m
	@test -x $(BUILD)/bench-venv/bin/python || python3 -m venv $(BUILD)/bench-venv
	@$(BUILD)/bench-venv/bin/pip install --quiet numpy
	@$(BUILD)/bench-venv/bin/python bench/simulate_speed.py --sublane $(SUBLANE)
	@$(BUILD)/bench-venv/bin/python bench/values_speed.py --sublane $(SUBLANE)
	@$(BUILD)/bench-venv/bin/python bench/explain_speed.py --sublane $(SUBLANE)
	@. tools/versions.env && CMAKE_ARGS="-DLLAVA_BUILD=OFF" $(BUILD)/bench-venv/bin/pip install --quiet llama-cpp-python==$$LLAMA_CPP_PYTHON
	@$(BUILD)/bench-venv/bin/python bench/compare_llama_cpp.py

build: ## Build build/sublane (all=1: the tests too)
	@echo "build: $(if $(all),everything,sublane) into $(BUILD), $(JOBS) jobs"
	@$(CONFIGURE)
	@$(NINJA) $(if $(all),all,sublane)

check: ## Format (the checks of the tree's order are tests of their own, tidy is a command of its own)
	@tools/check_format.sh

fuzz: ## Fuzz every reader of foreign bytes for FUZZ_SECONDS each
	@tools/fuzz.sh $(BUILD)-fuzz $(FUZZ_SECONDS)

format: ## Format the C++ files in place
	@tools/check_format.sh --fix

tidy: ## clang-tidy over every source, without a limit of time
	@tools/tidy.py --build $(BUILD) --all

doctor: ## What is installed, what would fail, and the fix
	@$(SUBLANE) doctor

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

clean: ## Remove the build folders (what set-up and fetch brought stays in the cache)
	rm -rf $(BUILD) $(BUILD)-fuzz
