# The entry points. Each sets up what it needs: system packages, .venv, and an editable installation in
# build/editable, the one tree that also holds the C++ tests and the benchmark. The second run starts at once.

VENV := .venv
BUILD := build/editable
BENCH := build/bench
ASAN := build/asan
# First in the path: pip's cmake and ninja, for what the programs below run, the rebuild of `import alloy` among them.
# Recipes name the programs themselves by their path, because Apple's make looks for them in the path that it was
# started with.
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
unexport PYTHONPATH

BUILD_OPTIONS := --no-build-isolation --config-settings=build-dir=$(BUILD)

IMITATED := macos13 macos14 macos15 macos26

.PHONY: setup train compile build-tests test test-native test-python test-imitations $(IMITATED:%=test-%) test-remote \
  test-all test-clangs test-types test-kills test-arm64 \
  $(IMITATED:%=test-all-%) test-all-remote asan bench docs wheel mac-report clean

setup: $(BUILD)/.installed

train: setup
	$(VENV)/bin/alloy train

# On a Mac the programs that Apple is known to answer otherwise (tests/mac/expected.txt) are left to mac-report, and
# nothing stands in for its device.
MAC := $(filter Darwin,$(shell uname))

test: test-native test-python $(if $(MAC),,test-imitations test-remote)

test-native: build-tests
	$(VENV)/bin/ctest --test-dir $(BUILD) --output-on-failure $(if $(MAC),--label-exclude differs)

build-tests: $(BUILD)/.with-tests
	$(VENV)/bin/cmake --build $(BUILD) --target all tests

# Two tests at a time, because many wait for a child of theirs; each computes in as many threads as it would alone.
PYTEST := $(VENV)/bin/python -m pytest --quiet --numprocesses 2 --dist worksteal

test-python: build-tests
	$(PYTEST)

# The portable framework imitates a macOS (csrc/README.md): every op, the programs that Apple cannot bear, variables and
# whole trainings take seconds, all that sees the engine takes minutes.
test-imitations: $(IMITATED:%=test-%)

$(IMITATED:%=test-%): test-%: setup $(VENV)/.requirements-of-test
	env ALLOY_PRETEND=$* $(PYTEST) \
	  $(addprefix tests/python/,ops/test_ops.py device/test_quirks.py graph/test_storage.py training/test_training.py)

# On the tests' own device (tests/remote_device), which the native tests build: every op. test-all-remote: whatever does
# not ask for a property of the CPU.
REMOTE := env LD_LIBRARY_PATH="$(CURDIR)/$(BUILD)/tests/remote"

test-remote: build-tests
	$(REMOTE) $(PYTEST) tests/python/ops/test_ops.py tests/python/device/test_device.py

# The Objective-C runtime's part on the other processor, emulated.
test-arm64: $(VENV)/.requirements-of-test
	tests/arm64.sh

# Every stage, with what it took. Under the oldest imitation, which differs most, runs every test; test-all-macos26 and
# its kin are there for the others.
test-all:
	python3 .ci/stages.py

# What type checkers say of the package and of users' programs.
test-types: $(BUILD)/.installed $(VENV)/.requirements-of-types
	$(VENV)/bin/pyright --level error --pythonpath $(VENV)/bin/python python/alloy tests/typed

# The small programs of tests/programs with every clang++ of version 14 or newer that is in the path.
test-clangs: setup $(VENV)/.requirements-of-test
	@found=; for version in 14 15 16 17 18 19 20 21; do \
	  if command -v clang++-$$version > /dev/null; then \
	    found="$$found clang++-$$version"; echo "clang++-$$version:"; \
	    env OBJCXX=clang++-$$version $(PYTEST) tests/python/package/test_programs.py || exit 1; \
	  fi; \
	done; echo "Found:$${found:- no clang++-14 or newer under its versioned name}"; [ -n "$$found" ]

# A training that is killed 50 times, where test-python kills it 10 times.
test-kills: setup $(VENV)/.requirements-of-test
	env ALLOY_KILLS=50 $(VENV)/bin/python -m pytest --quiet tests/python/training/test_resume.py -k killed

# Tests that see no device, or choose it themselves.
HOST := $(addprefix --ignore=tests/python/, device/test_pretence.py tools/test_mac_report.py \
  $(addprefix package/test_, borders.py clang.py packaging.py programs.py style.py))

test-all-remote: build-tests
	$(REMOTE) $(VENV)/bin/ctest --test-dir $(BUILD) --output-on-failure --tests-regex '^facade\.'
	$(REMOTE) $(PYTEST) $(HOST)

$(IMITATED:%=test-all-%): test-all-%: build-tests
	env ALLOY_PRETEND=$* $(VENV)/bin/ctest --test-dir $(BUILD) --output-on-failure --tests-regex '^engine$$'
	env ALLOY_PRETEND=$* $(PYTEST) $(HOST)

# Everything there is, each source also after others were refused.
compile: $(BUILD)/.with-tests $(BUILD)/.with-benchmarks
	$(VENV)/bin/cmake --build $(BUILD) --target all tests benchmarks -- -k 0

# The native tests under AddressSanitizer and UndefinedBehaviorSanitizer, then the Python tests that reach most of the
# framework's code, with the framework alone under them.
SANITIZED_PYTHON := $(addprefix tests/python/, ops/test_ops.py ops/test_gradients.py nn/test_nn.py \
  $(addprefix graph/test_, feeds.py from_file.py graph.py storage.py) \
  $(addprefix training/test_, optimizers.py training.py))
asan: setup $(VENV)/.requirements-of-test $(VENV)/.asan-packages
	$(VENV)/bin/cmake --preset asan
	$(VENV)/bin/cmake --build --preset asan --target tests
	$(VENV)/bin/ctest --preset asan --exclude-regex 'cpu\.'  # under OpenMP's limits: minutes each, and the same memory
	env LD_PRELOAD="$$(g++ -print-file-name=libasan.so):$$(g++ -print-file-name=libstdc++.so)" \
	  LD_LIBRARY_PATH="$(CURDIR)/$(ASAN)" ASAN_OPTIONS=detect_leaks=0 \
	  UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 $(VENV)/bin/python -m pytest $(SANITIZED_PYTHON)

# Alloy as users get it, a wheel of what build/editable holds, among the peers: one environment for all.
bench: $(BUILD)/.with-benchmarks $(BENCH)/.peers
	$(VENV)/bin/cmake --build $(BUILD) --target all benchmarks
	$(VENV)/bin/python -m pip wheel --quiet $(BUILD_OPTIONS) --no-deps --wheel-dir $(BENCH) .
	$(BENCH)/venv/bin/python -m pip uninstall --quiet --yes alloy-mpsgraph
	$(BENCH)/venv/bin/python -m pip install --quiet $(BENCH)/alloy_mpsgraph-*.whl
	$(BENCH)/venv/bin/python benchmarks/run.py --output benchmarks
	$(BENCH)/venv/bin/python benchmarks/compile_times.py --output benchmarks/COMPILE_TIMES.md

# The site, in build/site. The code on its pages is run by test-python (test_docs.py).
docs: $(BUILD)/.installed $(VENV)/.requirements-of-docs
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --quiet --strict
	@echo "build/site/index.html"

wheel: $(VENV)/.wheel-tools
	packaging/build_wheel.sh dist
	packaging/try_wheel.sh dist

clean:
	rm -rf build dist $(VENV)

# Stamps: each is as new as the last time its step succeeded.

# Whatever its stamp says, an environment that does not work is made anew.
ifneq ($(shell packaging/make_environment.sh --check $(VENV)),yes)
.PHONY: $(VENV)/.created
endif
$(VENV)/.created: packaging/install_system_packages.sh packaging/make_environment.sh
	packaging/install_system_packages.sh
	packaging/make_environment.sh $(VENV)
	@touch $@

$(VENV)/.asan-packages: $(VENV)/.created
	packaging/install_system_packages.sh tests asan
	@touch $@

# What the build, the tests, the type checker and the documentation need of Python: groups of pyproject.toml. Python
# compiles the modules that a program imports; compiling all that pip installs takes a third of its time.
$(VENV)/.requirements-of-%: $(VENV)/.created pyproject.toml packaging/requirements_of.py
	$(VENV)/bin/python packaging/requirements_of.py $* > $(VENV)/requirements-of-$*.txt
	$(VENV)/bin/python -m pip install --quiet --no-compile --requirement $(VENV)/requirements-of-$*.txt
	@touch $@

$(BUILD)/.installed: $(VENV)/.requirements-of-build
	$(VENV)/bin/python -m pip install --no-compile $(BUILD_OPTIONS) --config-settings=editable.rebuild=true --editable '.[digits]'
	@touch $@

# The tests and the benchmarks enter the tree when they are wanted first, with what they need.
$(BUILD)/.with-tests: $(BUILD)/.installed $(VENV)/.requirements-of-test
	packaging/install_system_packages.sh tests
	$(VENV)/bin/cmake -DALLOY_BUILD_TESTS=ON $(BUILD)
	@touch $@

$(BUILD)/.with-benchmarks: $(BUILD)/.installed
	packaging/install_system_packages.sh benchmarks
	$(VENV)/bin/cmake -DALLOY_BUILD_BENCHMARKS=ON $(BUILD)
	@touch $@

$(BENCH)/.peers: $(VENV)/.created benchmarks/requirements.txt
	$(VENV)/bin/python -m venv $(BENCH)/venv
	grep -v '^#' benchmarks/requirements.txt | while read -r peer; do \
	  $(BENCH)/venv/bin/python -m pip install --quiet "$$peer" || \
	    echo "$$peer cannot be installed: the report will say so."; done
	@touch $@

$(VENV)/.wheel-tools: $(VENV)/.created packaging/requirements.txt
	$(VENV)/bin/python -m pip install --quiet --requirement packaging/requirements.txt
	@touch $@

# What Alloy does on this machine, in build/mac-report, whatever fails on the way. Nothing is made before the first
# script has seen that it can be.
mac-report:
	packaging/preflight.sh
	packaging/install_system_packages.sh
	packaging/make_environment.sh $(VENV)
	$(VENV)/bin/python tests/mac/report.py
