# The entry points. Each sets up what it needs: system packages, .venv, and an editable installation in
# build/editable, the one tree that also holds the C++ tests and the benchmark. The second run starts at once.

PYTHON ?= python3
VENV := .venv
BUILD := build/editable
BENCH := build/bench
ASAN := build/asan
# First in the path: pip's cmake and ninja, for what the programs below run, the rebuild of `import alloy` among them. Recipes name the programs
# themselves by their path, because Apple's make looks for them in the path that it was started with.
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
unexport PYTHONPATH

BUILD_OPTIONS := --no-build-isolation --config-settings=build-dir=$(BUILD) \
  --config-settings=cmake.define.ALLOY_BUILD_TESTS=ON --config-settings=cmake.define.ALLOY_BUILD_BENCHMARKS=ON

.PHONY: setup train test asan bench wheel clean

setup: $(BUILD)/.installed

train: setup
	$(VENV)/bin/alloy train

test: setup
	$(VENV)/bin/cmake --build $(BUILD) --target all tests
	$(VENV)/bin/ctest --test-dir $(BUILD) --output-on-failure
	$(VENV)/bin/python -m pytest

# The native tests under AddressSanitizer and UndefinedBehaviorSanitizer, then the Python tests that reach most of the framework's code, with
# the framework alone under them.
SANITIZED_PYTHON := $(addprefix tests/python/test_,ops.py feeds.py graph.py gradients.py nn.py optimizers.py storage.py training.py)
asan: setup $(VENV)/.asan-packages
	$(VENV)/bin/cmake --preset asan
	$(VENV)/bin/cmake --build --preset asan --target tests
	$(VENV)/bin/ctest --preset asan --exclude-regex 'kernels\.'  # under OpenMP's limits: minutes each, and the same memory
	env LD_PRELOAD="$$(g++ -print-file-name=libasan.so):$$(g++ -print-file-name=libstdc++.so)" LD_LIBRARY_PATH="$(CURDIR)/$(ASAN)" \
	  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 $(VENV)/bin/python -m pytest $(SANITIZED_PYTHON)

# Alloy as users get it, a wheel of what build/editable holds, among the peers: one environment for all.
bench: setup $(BENCH)/.peers
	$(VENV)/bin/cmake --build $(BUILD) --target all benchmarks
	$(VENV)/bin/python -m pip wheel --quiet $(BUILD_OPTIONS) --no-deps --wheel-dir $(BENCH) .
	$(BENCH)/venv/bin/python -m pip uninstall --quiet --yes alloy-mpsgraph
	$(BENCH)/venv/bin/python -m pip install --quiet $(BENCH)/alloy_mpsgraph-*.whl
	$(BENCH)/venv/bin/python benchmarks/run.py --output benchmarks
	$(BENCH)/venv/bin/python benchmarks/compile_times.py --output benchmarks/COMPILE_TIMES.md

wheel: $(VENV)/.wheel-tools
	packaging/build_wheel.sh dist
	packaging/try_wheel.sh dist

clean:
	rm -rf build dist $(VENV)

# Stamps: each is as new as the last time its step succeeded.

$(VENV)/.created: packaging/install_system_packages.sh
	packaging/install_system_packages.sh $(PYTHON)
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.asan-packages: $(VENV)/.created
	packaging/install_system_packages.sh $(PYTHON) asan
	@touch $@

$(VENV)/.build-requirements: $(VENV)/.created pyproject.toml packaging/build_requirements.py
	$(VENV)/bin/python packaging/build_requirements.py > $(VENV)/build-requirements.txt
	$(VENV)/bin/python -m pip install --quiet --requirement $(VENV)/build-requirements.txt
	@touch $@

$(BUILD)/.installed: $(VENV)/.build-requirements
	$(VENV)/bin/python -m pip install $(BUILD_OPTIONS) --config-settings=editable.rebuild=true --editable '.[digits,test]'
	@touch $@

$(BENCH)/.peers: $(VENV)/.created benchmarks/requirements.txt
	$(PYTHON) -m venv $(BENCH)/venv
	grep -v '^#' benchmarks/requirements.txt | while read -r peer; do \
	  $(BENCH)/venv/bin/python -m pip install --quiet "$$peer" || echo "$$peer cannot be installed: the report will say so."; done
	@touch $@

$(VENV)/.wheel-tools: $(VENV)/.created packaging/requirements.txt
	$(VENV)/bin/python -m pip install --quiet --requirement packaging/requirements.txt
	@touch $@
