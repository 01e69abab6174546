# The entry points. Each one sets up its requirements: system packages, .venv, and an editable installation in
# build/editable, which also holds the C++ tests and the benchmark. The second run starts at once.

VENV := .venv
BUILD := build/editable
BENCH := build/bench
ASAN := build/asan
# pip's cmake and ninja come first in the path, for programs that run below and for the rebuild of `import alloy`.
# Recipes call programs of .venv by their path, because Apple's make searches the path that it was started with.
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
unexport PYTHONPATH

BUILD_OPTIONS := --no-build-isolation --config-settings=build-dir=$(BUILD)

IMITATED := macos13 macos14 macos15 macos26

.PHONY: setup train compile build-tests test test-native test-python test-imitations $(IMITATED:%=test-%) test-remote \
  test-cuda test-all test-clangs test-types test-kills test-arm64 \
  $(IMITATED:%=test-all-%) test-all-remote asan tsan soak bench docs wheel mac-report clean

setup: $(BUILD)/.installed

train: setup
	$(VENV)/bin/alloy train

# On a Mac, mac-report runs the programs whose results are known to differ on Apple's framework
# (tests/mac/expected.txt), and no other device can take the place of Apple's.
MAC := $(filter Darwin,$(shell uname))

test: test-native test-python $(if $(MAC),,test-imitations test-remote)

test-native: build-tests
	$(VENV)/bin/ctest --test-dir $(BUILD) --parallel 2 --output-on-failure $(if $(MAC),--label-exclude differs)

build-tests: $(BUILD)/.with-tests
	$(VENV)/bin/cmake --build $(BUILD) --target all tests

# Two tests at a time, because many wait for a child process; each test computes with as many threads as alone.
PYTEST := $(VENV)/bin/python -m pytest --quiet --numprocesses 2 --dist worksteal

test-python: build-tests
	$(PYTEST)

# The portable framework imitates a version of macOS (csrc/README.md). Every op, the quirks, variables and whole
# trainings take seconds; all tests of the engine take minutes.
test-imitations: $(IMITATED:%=test-%)

$(IMITATED:%=test-%): test-%: setup $(VENV)/.requirements-of-test
	env ALLOY_PRETEND=$* $(PYTEST) \
	  $(addprefix tests/python/,ops/test_ops.py device/test_quirks.py graph/test_storage.py training/test_training.py)

# Every op on the tests' own device (tests/remote_device), which build-tests builds. test-all-remote: all tests that do
# not need the CPU.
REMOTE := env LD_LIBRARY_PATH="$(CURDIR)/$(BUILD)/tests/remote"

test-remote: build-tests
	$(REMOTE) $(PYTEST) tests/python/ops/test_ops.py tests/python/device/test_device.py

# Every op on an imitated GPU of NVIDIA's (tests/imitated_cuda), whose texts g++ compiles, and all texts for every
# architecture: that takes minutes.
test-cuda: build-tests
	env ALL_ARCHITECTURES=1 $(PYTEST) tests/python/device/test_cuda.py -k compiles
	env LD_LIBRARY_PATH="$(CURDIR)/$(BUILD)/tests/imitated_cuda" ALLOY_DEVICE=cuda \
	  $(PYTEST) tests/python/ops/test_ops.py

# The wheel for arm64 Linux, cross-compiled and then tried in an emulator.
test-arm64: $(VENV)/.wheel-tools $(BUILD)/.installed
	packaging/arm64.sh sh -ec 'packaging/build_wheel.sh dist/arm64; packaging/try_wheel.sh dist/arm64' || [ $$? = 77 ]

# Every stage, with its times. It runs all tests under the oldest imitation, which differs most; test-all-macos26 and
# the others run them under the other imitations.
test-all:
	python3 .ci/stages.py

# Type-checks the package and programs of users.
test-types: $(BUILD)/.installed $(VENV)/.requirements-of-types
	$(VENV)/bin/pyright --level error --pythonpath $(VENV)/bin/python python/alloy tests/typed

# The small programs of tests/programs, with every clang++ of version 14 or newer in the path.
test-clangs: setup $(VENV)/.requirements-of-test
	@found=; for version in 14 15 16 17 18 19 20 21; do \
	  if command -v clang++-$$version > /dev/null; then \
	    found="$$found clang++-$$version"; echo "clang++-$$version:"; \
	    env OBJCXX=clang++-$$version $(PYTEST) tests/python/package/test_programs.py || exit 1; \
	  fi; \
	done; echo "Found:$${found:- no clang++-14 or newer under its versioned name}"; [ -n "$$found" ]

# Kills a training 50 times; test-python kills it 10 times.
test-kills: setup $(VENV)/.requirements-of-test
	env ALLOY_KILLS=50 $(VENV)/bin/python -m pytest --quiet tests/python/training/test_resume.py -k killed

# Tests that use no device, choose it themselves, or are about processes and files, whatever the device is.
HOST := $(addprefix --ignore=tests/python/, device/test_pretence.py tools/test_mac_report.py \
  $(addprefix distributed/test_, collectives.py faults.py hosts.py) \
  $(addprefix package/test_, borders.py clang.py packaging.py programs.py scale.py style.py))

test-all-remote: build-tests
	$(REMOTE) $(VENV)/bin/ctest --test-dir $(BUILD) --output-on-failure --tests-regex '^facade\.'
	$(REMOTE) $(PYTEST) $(HOST) --ignore=tests/python/package/test_examples.py

$(IMITATED:%=test-all-%): test-all-%: build-tests
	env ALLOY_PRETEND=$* $(VENV)/bin/ctest --test-dir $(BUILD) --output-on-failure --tests-regex '^engine$$'
	env ALLOY_PRETEND=$* $(PYTEST) $(HOST)

# Builds everything, and goes on after errors.
compile: $(BUILD)/.with-tests $(BUILD)/.with-benchmarks
	$(VENV)/bin/cmake --build $(BUILD) --target all tests benchmarks -- -k 0

# The native tests under AddressSanitizer and UndefinedBehaviorSanitizer, then the Python tests that reach most of the
# framework's code, in which only the framework is sanitized.
SANITIZED_PYTHON := $(addprefix tests/python/, ops/test_ops.py ops/test_gradients.py nn/test_nn.py \
  $(addprefix graph/test_, feeds.py from_file.py graph.py storage.py) \
  $(addprefix training/test_, optimizers.py training.py))
asan: setup $(VENV)/.requirements-of-test $(VENV)/.asan-packages
	$(VENV)/bin/cmake --preset asan
	$(VENV)/bin/cmake --build --preset asan --target tests
	$(VENV)/bin/ctest --preset asan
	env LD_PRELOAD="$$(g++ -print-file-name=libasan.so):$$(g++ -print-file-name=libstdc++.so)" \
	  LD_LIBRARY_PATH="$(CURDIR)/$(ASAN)" ASAN_OPTIONS=detect_leaks=0 \
	  UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 $(VENV)/bin/python -m pytest $(SANITIZED_PYTHON)

# The native tests of queues and threads under ThreadSanitizer.
RACING := test_runtime $(addprefix facade_,asynchronous dispatch metal_queue threads threads_first_use)
tsan: setup $(VENV)/.requirements-of-test $(VENV)/.asan-packages
	$(VENV)/bin/cmake --preset tsan
	$(VENV)/bin/cmake --build --preset tsan --target $(RACING)
	@for test in $(RACING); do echo $$test; env TSAN_OPTIONS="suppressions=python/alloy/tools/sanitizers/threads.txt allocator_may_return_null=1" \
	  build/tsan/tests/$$test || exit 1; done

# 100,000 steps with checkpoints, 500 batch sizes, 200 graphs and 8 threads: memory stays as it is.
soak: setup
	$(VENV)/bin/python tests/soak.py

# Alloy as users get it (a wheel of build/editable) and the other frameworks, in one environment. BENCH_OPTIONS are those
# of run.py: make bench BENCH_OPTIONS="--threads 16 --output build/bench/16".
bench: $(BUILD)/.with-benchmarks $(BENCH)/.peers
	$(VENV)/bin/cmake --build $(BUILD) --target all benchmarks
	$(VENV)/bin/python -m pip wheel --quiet $(BUILD_OPTIONS) --no-deps --wheel-dir $(BENCH) .
	$(BENCH)/venv/bin/python -m pip uninstall --quiet --yes alloy-mpsgraph
	$(BENCH)/venv/bin/python -m pip install --quiet $(BENCH)/alloy_mpsgraph-*.whl
	$(BENCH)/venv/bin/python benchmarks/run.py --output benchmarks/results $(BENCH_OPTIONS)
	$(BENCH)/venv/bin/python benchmarks/compile_times.py --output benchmarks/COMPILE_TIMES.md

# The site, in build/site. test-python runs the code on its pages (test_docs.py).
docs: $(BUILD)/.installed $(VENV)/.requirements-of-docs
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --quiet --strict
	@grep -q '"title":"al.relu"' build/site/search/search_index.json  # the search finds names
	@echo "build/site/index.html"

wheel: $(VENV)/.wheel-tools
	packaging/build_wheel.sh dist
	packaging/try_wheel.sh dist

clean:
	rm -rf build dist $(VENV)

# Stamps: each is as new as the last success of its step.

# An environment that does not work is made again, whatever its stamp says.
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

# Python packages for the build, the tests, the type checker and the documentation: groups of pyproject.toml. Python
# compiles the modules that a program imports; compiling all that pip installs takes a third of its time.
$(VENV)/.requirements-of-%: $(VENV)/.created pyproject.toml packaging/requirements_of.py
	$(VENV)/bin/python packaging/requirements_of.py $* > $(VENV)/requirements-of-$*.txt
	$(VENV)/bin/python -m pip install --quiet --no-compile --requirement $(VENV)/requirements-of-$*.txt
	@touch $@

$(BUILD)/.installed: $(VENV)/.requirements-of-build
	$(VENV)/bin/python -m pip install --no-compile $(BUILD_OPTIONS) --config-settings=editable.rebuild=true --editable '.[digits]'
	@touch $@

# The first target that needs the tests or the benchmarks adds them to the build, with their requirements.
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

$(VENV)/.wheel-tools: $(VENV)/.created packaging/requirements.txt packaging/install_system_packages.sh
	packaging/install_system_packages.sh wheel
	$(VENV)/bin/python -m pip install --quiet --requirement packaging/requirements.txt
	@touch $@

# Describes how Alloy behaves on this machine, in build/mac-report, and continues after failures. The first script
# checks that Alloy can be built, before anything is installed.
mac-report:
	packaging/preflight.sh
	packaging/install_system_packages.sh
	packaging/make_environment.sh $(VENV)
	$(VENV)/bin/python tests/mac/report.py
