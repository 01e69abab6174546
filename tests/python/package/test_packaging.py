"""The way from a clone to a running program, on a Mac too: make's recipes, the environment, the wheel's tag, the
workflows."""

import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile

import packaging.tags
import pytest
from scikit_build_core.builder.wheel_tag import WheelTag
from scikit_build_core.settings.skbuild_read_settings import SettingsReader

import alloy

ROOT = pathlib.Path(__file__).parents[3]
TARGETS = ["setup", "train", "compile", "test", "asan", "bench", "wheel", "mac-report", "clean"]

# Stands for a program of a Mac: writes what it was called with into a log beside it.
STUB = '#!/bin/sh\necho "$(basename "$0") $*" >> "$(dirname "$0")/../log"\n'
# Stands for a Python of another version, which nothing but questions may be asked.
OLD = f"""#!{sys.executable}
import sys
sys.version_info = (3, 9, 6)
assert sys.argv[1] == "-c", sys.argv
exec(sys.argv[2])
"""


class Mac:
    """A clone, and a path with what a Mac has: make, the tools of POSIX, Xcode's; no Python but Xcode's, no
    Homebrew."""

    def __init__(self, directory):
        self.clone, self.bin, self.log = directory / "clone", directory / "bin", directory / "log"
        self.bin.mkdir()
        for name in ("sh", "dirname", "basename", "sed", "rm", "ls", "touch", "grep", "env"):
            (self.bin / name).symlink_to(shutil.which(name))
        self.add("uname", "echo Darwin\n")
        self.add("xcode-select")
        self.add("python3", text=OLD)
        shutil.copytree(ROOT / "packaging", self.clone / "packaging")
        for name in ("Makefile", "pyproject.toml", "CMakeLists.txt"):
            shutil.copy(ROOT / name, self.clone)
        (self.clone / "benchmarks").mkdir()
        shutil.copy(ROOT / "benchmarks" / "requirements.txt", self.clone / "benchmarks")

    def add(self, name, does="", text=None):
        (self.bin / name).write_text(text or STUB + does)
        (self.bin / name).chmod(0o755)

    def add_python(self, name):
        self.add(name, f'exec {getattr(sys, "_base_executable", sys.executable)} "$@"\n')

    def run(self, *command, **environment):
        self.log.write_text("")
        path = shutil.which(command[0]) if command[0] == "make" else str(self.clone / command[0])
        own = {"PATH": str(self.bin), "HOMEBREW_PREFIX": "/nowhere"}
        return subprocess.run(
            [path, *command[1:]],
            cwd=self.clone,
            env={**own, **environment},
            capture_output=True,
            text=True,
            timeout=120,
        )

    def files(self):
        return sorted(self.clone.rglob("*"))


@pytest.fixture
def mac(tmp_path):
    return Mac(tmp_path)


# ---- make ----


@pytest.mark.parametrize("target", TARGETS)
def test_recipes_name_programs_by_their_path(mac, target):
    """Apple's make looks for them in the path that it was started with, where macOS has neither Python nor cmake."""
    done = mac.run("make", "-n", target)
    assert done.returncode == 0, done.stderr
    first = {line.split()[0] for line in done.stdout.replace("\\\n", "").splitlines()}
    assert {word for word in first if "/" not in word} <= {"touch", "rm", "grep", "env"}


def test_on_a_mac_nothing_is_imitated_and_what_differs_is_left_out(mac):
    on_a_mac = mac.run("make", "-n", "test").stdout
    mac.add("uname", "echo Linux\n")
    elsewhere = mac.run("make", "-n", "test").stdout
    for steps, is_mac in (on_a_mac, True), (elsewhere, False):
        assert ("--label-exclude differs" in steps) == is_mac
        assert ("ALLOY_PRETEND" in steps) != is_mac and ("LD_LIBRARY_PATH" in steps) != is_mac
    assert f'LD_LIBRARY_PATH="{mac.clone}/build' in elsewhere  # which may have a space


def test_the_python_of_homebrew_is_found_behind_that_of_xcode(mac, tmp_path):
    brewed = tmp_path / "brewed" / "bin"
    brewed.mkdir(parents=True)
    mac.add_python("python3.99")
    (mac.bin / "python3.99").rename(brewed / "python3")
    done = mac.run("make", ".venv/.created", HOMEBREW_PREFIX=str(brewed.parent))
    assert done.returncode == 0, done.stderr
    assert f"{brewed}/python3 -m venv .venv" in mac.log.read_text() or (mac.clone / ".venv/bin/python").exists()


def test_make_3_81_knows_all_of_the_makefile():
    text = (ROOT / "Makefile").read_text()
    assert not re.search(
        r"\.ONESHELL|\.RECIPEPREFIX|::=|!=|\$\(file |\$\(let |\$\(guile |&:|^undefine |^private ", text, re.M
    )


def test_training_needs_no_package_of_the_tests(mac):
    def steps(target):
        return mac.run("make", "-n", target).stdout

    assert "alloy train" in steps("train") and not re.search(
        r"system_packages\.sh \w|ALLOY_BUILD|ctest|pytest", steps("train")
    )
    assert (
        "system_packages.sh tests\n" in steps("test")
        and "-DALLOY_BUILD_TESTS=ON" in steps("test")
        and "benchmarks" not in steps("test")
    )
    assert "system_packages.sh benchmarks\n" in steps("bench") and "-DALLOY_BUILD_TESTS" not in steps("bench")


# ---- the environment ----


def test_without_a_python_that_is_new_enough_nothing_is_made(mac):
    before = mac.files()
    for environment in {}, {"PYTHON": "python3"}, {"PYTHON": "/no/python"}:
        done = mac.run("make", "train", **environment)
        assert done.returncode != 0 and re.search(
            r"^Python 3\.10 or newer is missing .* install it with: brew install python$", done.stderr, re.M
        )
        assert mac.files() == before and mac.log.read_text().split("\n") == [
            "uname ",
            "uname ",
            "xcode-select -p",
            "uname ",
            "",
        ]


def test_without_xcode_nothing_is_made(mac):
    mac.add("xcode-select", "exit 2\n")
    before = mac.files()
    done = mac.run("make", "train")
    assert (
        done.returncode != 0 and "Xcode's tools are missing; install them with: xcode-select --install\n" in done.stderr
    )
    assert mac.files() == before


def test_the_newest_known_python_makes_the_environment_and_what_is_left_of_a_failed_try_does_not_count(mac):
    mac.add_python("python3.11")
    mac.add_python("python3.13")
    left = mac.clone / ".venv" / "bin" / "python"
    left.parent.mkdir(parents=True)
    shutil.copy(mac.bin / "python3", left)  # an old one, with the stamp of an environment that is done
    stamp = mac.clone / ".venv" / ".created"
    for named, expected in ({}, "3.13"), ({"PYTHON": "python3.11"}, "3.11"):
        for pip in mac.clone.glob(".venv/lib/*/site-packages/pip"):
            shutil.rmtree(pip)
        stamp.write_text("")
        done = mac.run("make", ".venv/.created", **named)
        assert done.returncode == 0, done.stderr
        assert re.findall(r"python(3\.1\d) -m venv .venv\n", mac.log.read_text()) == [expected]
        made = subprocess.run(
            [left, "-c", "import pip, sys; print(sys.version_info >= (3, 10))"], capture_output=True, text=True
        )
        assert made.stdout == "True\n"
    assert "up to date" in mac.run("make", ".venv/.created").stdout


def test_an_import_finds_the_cmake_of_its_environment():
    """It rebuilds the extension, also where nobody activated the environment and the machine has no cmake."""
    done = subprocess.run(
        [sys.executable, "-c", "import alloy; print(alloy.__file__)"],
        env={"PATH": "/nowhere"},
        capture_output=True,
        text=True,
    )
    assert done.stdout == alloy.__file__ + "\n", done.stderr


# ---- Homebrew ----


def test_homebrew_installs_what_is_missing_and_is_asked_for_only_where_something_is_needed(mac):
    script = "packaging/install_system_packages.sh"
    assert mac.run(script).returncode == 0
    done = mac.run(script, "tests")
    assert done.returncode == 1 and done.stderr == "Homebrew is missing (https://brew.sh); it installs googletest.\n"
    mac.add("brew", '[ "$1" = install ] || [ "$2" = googletest ]\n')
    for purposes, installed in (
        (["tests"], []),
        (["benchmarks"], ["google-benchmark"]),
        (["tests", "benchmarks"], ["google-benchmark"]),
    ):
        assert mac.run(script, *purposes).returncode == 0
        assert re.findall(r"^brew install (.*)$", mac.log.read_text(), re.M) == installed
    mac.add("brew", "false\n")
    assert mac.run(script, "tests").returncode == 1


# ---- the wheel ----


def test_a_wheel_is_tagged_for_the_oldest_mac_that_it_runs_on(monkeypatch):
    defines = SettingsReader.from_file(ROOT / "pyproject.toml").settings.cmake.define
    oldest = defines["CMAKE_OSX_DEPLOYMENT_TARGET"]
    assert f"macOS {oldest} or newer" in (ROOT / "README.md").read_text()
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(platform, "mac_ver", lambda: ("26.1", ("", "", ""), "arm64"))
    (tag,) = WheelTag.compute_best(["arm64"], cmake_defines=defines, env={}).archs
    for version in tuple(map(int, oldest.split("."))), (14, 5), (15, 0), (26, 1):
        assert tag in packaging.tags.mac_platforms(version, "arm64")
    assert tag not in packaging.tags.mac_platforms((12, 7), "arm64")


# ---- workflows ----

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SCHEMAS = {
    **dict.fromkeys(WORKFLOWS, "github-workflows"),
    **dict.fromkeys((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"), "github-issue-forms"),
    ROOT / "CITATION.cff": "citation-file-format",
}


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_what_others_read_follows_its_schema(path):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{SCHEMAS[path]}", path]
    if path.suffix == ".cff":
        command += ["--default-filetype", "yaml"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_workflows_call_targets_that_the_makefile_has():
    called = [command for path in WORKFLOWS for command in re.findall(r"run: (.*)", path.read_text())]
    makefile = (ROOT / "Makefile").read_text().replace("\\\n", "")
    targets = set(re.findall(r"^\.PHONY: (.*)$", makefile, re.M)[0].split())
    assert called and all(command.split()[0] == "make" and set(command.split()[1:]) <= targets for command in called)


# ---- source distribution ----


def test_a_source_distribution_has_all_files_of_the_repository(tmp_path):
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("not a clone")
    made = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", made, tmp_path], cwd=ROOT, check=True, capture_output=True)
    (archive,) = tmp_path.iterdir()
    assert archive.name == f"alloy_mpsgraph-{archive.name.split('-')[1]}" and archive.stat().st_size < 5e6
    with tarfile.open(archive) as file:
        found = {name.partition("/")[2] for name in file.getnames()}
    expected = {name for name in listed.stdout.splitlines() if not name.startswith("benchmarks/results/")}
    assert expected - found == set()
    new = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert found - expected - {"PKG-INFO"} == set(new.stdout.splitlines())
