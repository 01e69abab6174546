"""`alloy doctor` and `make mac-report`: what children do is told and never the end; answers are judged; files name
nobody. What the questions mean on a Mac nobody can test here: their answers on the portable framework are facts of
arithmetic and of the API."""

import getpass
import importlib.util
import json
import pathlib
import re
import socket
import subprocess
import sys
import time

import pytest

from alloy import _core
from quirks import QUIRKS

ROOT = pathlib.Path(__file__).parents[3]
_spec = importlib.util.spec_from_file_location("mac_report", ROOT / "tests" / "mac" / "report.py")
report = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(report)
doctor = report.doctor
PROBES = pathlib.Path(_core.__file__).with_name("alloy_probes")

# Stands for alloy_probes: a question for everything that can become of a child. The row "sums" is of this system,
# "stars" of another.
PROGRAM = f"""#!{sys.executable}
import os, signal, subprocess, sys, time
ROWS = ["right", "other", "aborts", "exits", "raises", "hangs", "nonsense", "nothing", "open", "known", "stale",
        "known_abort", "stale_abort", "no_abort", "elsewhere", "untold", "not_as_told", "absent"]
QUIRKS = dict(known="sums\\twrong\\tA sum is wrong", stale="sums\\twrong\\tA sum is wrong",
              known_abort="sums\\taborts\\tA sum aborts", stale_abort="sums\\taborts\\tA sum aborts",
              no_abort="sums\\taborts\\tA sum aborts", elsewhere="stars\\tnone\\tA star",
              untold="sums\\twrong\\tA sum is wrong", not_as_told="sums\\twrong\\tA sum is wrong")
TOLD = dict(known="? 3", not_as_told="? 4")
if len(sys.argv) == 1:
    print("noise of the framework")
    print("system\\tmacOS 14.0")
    for row in ROWS:
        print(row, "what " + row + " does, in 44 characters", "" if row == "open" else "0.5 2",
              "1e-3", "arithmetic", TOLD.get(row, ""), QUIRKS.get(row, "\\tnone\\t"), sep="\\t")
    sys.exit()
name = sys.argv[1]
print("noise")
sys.stdout.flush()
if name in ("aborts", "known_abort"):
    print("-[Device run]: failed assertion `rank < 5'", file=sys.stderr, flush=True)
    os.abort()
elif name == "exits": sys.exit(3)
elif name == "raises": raise ValueError("a reason")
elif name == "hangs":
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    time.sleep(1000)
elif name == "nonsense": sys.stdout.buffer.write(bytes(range(256)) * 100)
elif name in ("other", "no_abort", "known", "untold", "not_as_told"): print("answer: 0x1p-1 3")
elif name == "absent": print("answer: not there")
elif name != "nothing": print("answer: 0x1.0004p-1 2")
"""
BECOMES = {
    "right": "right",
    "other": "wrong",
    "aborts": "died",
    "exits": "died",
    "raises": "died",
    "hangs": "died",
    "nonsense": "died",
    "nothing": "died",
    "open": "open",
    "known": "known",
    "stale": "stale",
    "known_abort": "known",
    "stale_abort": "stale",
    "no_abort": "wrong",
    "elsewhere": "right",
    "untold": "wrong",
    "not_as_told": "wrong",
    "absent": "open",
}


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "alloy_probes"
    path.write_text(PROGRAM)
    path.chmod(0o755)
    return path


# ---- children ----


def test_what_becomes_of_children(program):
    system, questions = doctor.questions(program)
    assert system == "macOS 14.0"
    start = time.monotonic()
    findings = {
        question.name: doctor.ask(program, question, limit=1 if question.name == "hangs" else 60)
        for question in questions
    }
    assert time.monotonic() - start < 30
    assert {name: finding.verdict for name, finding in findings.items()} == BECOMES
    assert findings["aborts"].says == "ended by SIGABRT: -[Device run]: failed assertion `rank < 5'"
    assert findings["exits"].says == "ended with status 3: noise"
    assert findings["raises"].says == "ended with status 1: ValueError: a reason"
    assert findings["hangs"].says == "no end within 1 s: noise"
    assert findings["nothing"].says == "ends without an answer: noise"
    assert findings["other"].says == "answers 0x1p-1 3"
    assert [findings[name].row for name in ("known", "stale", "known_abort", "no_abort", "elsewhere", "right")] == [
        "as the table says",
        "the table is wrong here",
        "as the table says",
        "the table is wrong here",
        "the table says nothing of this system",
        "",
    ]

    table = doctor.table(list(findings.values()))
    assert max(map(len, table.splitlines())) <= 80
    assert re.search(r"^died +aborts .*\n +ended by SIGABRT", table, re.M) and "sums: as the table says" in table
    assert doctor.summary(list(findings.values())) == "18 questions: 2 right, 2 known, 2 stale, 2 open, 4 wrong, 6 died"


def test_a_child_that_is_killed_takes_its_children_along(tmp_path):
    pid = tmp_path / "pid"
    code = (
        "import subprocess, sys, time; p = subprocess.Popen(['sleep', '1000']); "
        f"open({str(pid)!r}, 'w').write(str(p.pid)); time.sleep(1000)"
    )
    assert doctor.run([sys.executable, "-c", code], limit=2).ended == "no end within 2 s"
    for _ in range(100):
        state = pathlib.Path("/proc", pid.read_text(), "stat")
        if not state.exists() or state.read_text().split()[2] == "Z":
            return
        time.sleep(0.05)
    pytest.fail("the child's child lives")


def test_a_program_that_is_missing_or_lists_nothing(tmp_path):
    assert doctor.run([tmp_path / "none"], 1) == doctor.Outcome("cannot be started: No such file or directory", 0.0, "")
    with pytest.raises(RuntimeError, match="cannot be started"):
        doctor.questions(tmp_path / "none")
    with pytest.raises(RuntimeError, match="no list"):
        doctor.questions("true")


@pytest.mark.parametrize(
    "answer, expected, tolerance, agrees",
    [
        ("0x1.8p+1 3", "3 3", 0, True),
        ("3 3", "3", 0, False),
        ("0x1.000002p+0", "1", 0, False),
        ("0x1.000002p+0", "1", 1e-6, True),
        ("9007199254740993", "9007199254740992", 0, False),
        ("nan", "nan", 0, True),
        ("nan", "1", 1, False),
        ("inf", "inf", 0, True),
        ("(2,1) 0x1p+0", "(2,1) 1", 0, True),
        ("(2) 0x1p+0", "(2,1) 1", 0, False),
        ("right", "right", 0, True),
        ("0x1p+0", "right", 0, False),
    ],
)
def test_answers_are_numbers_where_they_can_be(answer, expected, tolerance, agrees):
    assert doctor.agrees(answer, expected, tolerance) == agrees


# ---- the questions ----


def test_every_row_of_the_quirks_is_asked_for():
    _, questions = doctor.questions(PROBES)
    assert set(QUIRKS) == {question.quirk for question in questions} - {""}
    assert len({question.name for question in questions}) == len(questions)
    assert all(0 < len(question.text) <= 44 and question.reason for question in questions)
    wrong = {name for name, (_, _, effect, *_) in QUIRKS.items() if effect == "wrong"}
    assert {question.quirk for question in questions if question.told} == wrong


@pytest.mark.parametrize(
    "name", ["framework_runs", "shared_variable", "rank5_sum", "int32_division", "long_product", "adam"]
)
def test_the_portable_framework_is_right(name, monkeypatch):
    monkeypatch.delenv("ALLOY_PRETEND", raising=False)  # as it is, not as it may imitate another
    questions = {question.name: question for question in doctor.questions(PROBES)[1]}
    finding = doctor.ask(PROBES, questions[name])
    assert finding.verdict == "right", finding.says


def test_what_the_framework_refuses_ends_a_child_alone(monkeypatch):
    monkeypatch.setenv("ALLOY_PRETEND", "macos13")
    questions = {question.name: question for question in doctor.questions(PROBES)[1]}
    finding = doctor.ask(PROBES, questions["bfloat16_cast"])
    assert finding.verdict == "known" and re.search("bfloat16", finding.says)


@pytest.mark.parametrize("system, name", [("macos13", "macOS 13.3"), ("macos26", "macOS 26.0")])
def test_imitations_do_what_the_table_says(system, name, monkeypatch):
    monkeypatch.setenv("ALLOY_PRETEND", system)
    listed, questions = doctor.questions(PROBES)
    assert listed == name and doctor.whose(listed) == f"the portable framework, which imitates {name}"
    rows = [
        doctor.ask(PROBES, question) for question in questions if question.quirk or question.name == "fused_attention"
    ]
    assert {
        finding.question.quirk: (finding.verdict, finding.row) for finding in rows if finding.question.effect != "none"
    } == {
        finding.question.quirk: ("known", "as the table says") for finding in rows if finding.question.effect != "none"
    }
    assert all(finding.verdict in ("right", "open") for finding in rows if finding.question.effect == "none")


def test_doctor(program, capsys):
    assert doctor.main("alloy 1", program, limit=1) == 1
    out = capsys.readouterr().out
    assert out.startswith("alloy 1 asks ") and "18 questions: 2 right" in out
    assert "make mac-report" in out.splitlines()[-1] and max(map(len, out.splitlines())) <= 80
    program.write_text(re.sub(r"ROWS = \[.*?\]", 'ROWS = ["right", "known", "stale", "open"]', PROGRAM, flags=re.S))
    assert doctor.main("alloy 1", program, limit=1) == 0
    assert "4 questions: 1 right, 1 known, 1 stale, 1 open" in capsys.readouterr().out
    with pytest.raises(FileNotFoundError, match="The program none is missing in .*; install Alloy again"):
        doctor.main("alloy 1", program.with_name("none"))


def test_doctor_asks_the_framework_here():
    done = subprocess.run(
        [sys.executable, "-m", "alloy.tools.cli", "doctor"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout
    assert re.search(r"^\d+ questions: \d+ right", done.stdout, re.M) and done.stderr == ""
    unanswered = re.findall(r"^open +(\w+) .*\n +(?:ended|ends|no end) ", done.stdout, re.M)
    _, questions = doctor.questions(PROBES)
    assert set(unanswered) <= {question.name for question in questions if "refused on Linux" in question.reason}


# ---- the report ----


def outcome(ended="", log=""):
    return doctor.Outcome(ended, 1.0, log)


def test_builds_that_fail_are_lines(tmp_path):
    log = (
        "[1/2] Building\nengine/a.mm:3:5: error: no selector\n1 error generated.\n"
        "ninja: build stopped: subcommand failed."
    )
    (tmp_path / "log").write_text(log)
    made = report._built("engine", ["sh", "-c", f"cat {tmp_path}/log; exit 1"])
    assert (made["verdict"], made["says"]) == ("died", "ended with status 1: engine/a.mm:3:5: error: no selector")
    assert made["log"] == log
    assert report._built("engine", ["true"])["verdict"] == "right"


# fmt: off
NATIVE = [
    ("pass", "", "12 passed, 0 failed", "right", ""),
    ("pass", "ended with status 1", "a.mm:9: failed: x == 1\n11 passed, 1 failed", "wrong",
     "ended with status 1: a.mm:9: failed: x == 1"),
    ("pass", "ended by SIGABRT", "check /x/a.mm:8\ncheck /x/a.mm:9\ncheck /x/graph_testing.h:3\nAssertion failed",
     "died", "ended by SIGABRT: Assertion failed (in the check at a.mm:9)"),
    ("pass", "no end within 120 s", "check a.mm:8\n", "died", "no end within 120 s:  (in the check at a.mm:8)"),
    ("differs", "ended by SIGABRT", "check a.mm:8\n", "known", "ended by SIGABRT:  (in the check at a.mm:8) [reasons]"),
    ("pass", "ended with status 77", "skipped: no device", "unseen", "skipped: no device"),
]
# fmt: on


@pytest.mark.parametrize("word, ended, log, verdict, says", NATIVE)
def test_native_tests(word, ended, log, verdict, says):
    made = report.test_entry("facade.a", outcome(ended, log), word, "reasons")
    assert (made["verdict"], made["says"]) == (verdict, says)
    assert "check " not in made["log"]


def test_every_native_test_has_an_expectation():
    programs = {f"facade.{path.stem}" for path in (ROOT / "tests" / "facade").rglob("*.m*")}
    expected = report.expectations()
    assert set(expected) == programs | {"ir", "engine"}
    assert {word for word, _ in expected.values()} == {"pass", "differs", "portable"} and all(
        reason for _, reason in expected.values()
    )


@pytest.mark.parametrize(
    "answer, verdict, says",
    [
        ("1 0.5", "right", "off by 0"),
        ("1.00001 0.5", "right", "off by 1.0e-05"),
        ("1 0.50006", "wrong", "loss 2 of 2 is 0.50006 instead of 0.5"),
        ("nan 0.5", "wrong", "loss 1 of 2 is nan"),
        ("1", "wrong", "expected 2 losses"),
        ("1 x", "wrong", "expected 2 losses"),
    ],
)
def test_losses(answer, verdict, says):
    made = report.trained_entry("digits", outcome(log=f"answer: {answer}\n"), [1, 0.5], 1e-4)
    assert made["verdict"] == verdict and made["says"].startswith(says)


def test_a_training_that_does_not_end():
    assert report.trained_entry("digits", outcome("no end within 300 s", "epoch"), [1], 1)["verdict"] == "died"


@pytest.mark.parametrize("name, tolerance", [("linear", 1e-6), ("digits", 1e-5)])
def test_trainings_against_numpy(name, storage, tolerance):
    golden = json.loads((report.GOLDENS / "training.json").read_text())
    made = report.trained_entry(name, report._train([name, storage]), golden[name], tolerance)
    assert made["verdict"] == "right", made["says"]


def test_the_golden_file_is_the_script_s():
    import training_reference

    golden, made = json.loads(training_reference.GOLDEN.read_text()), training_reference.goldens()
    assert golden.keys() == made.keys()
    for name, losses in made.items():
        assert golden[name] == pytest.approx(losses, rel=1e-8) and len(losses) == training_reference.STEPS
        assert losses[-1] < 0.75 * losses[0]


# ---- the files ----

SECRETS = ["Grace", "gracesmac", "/Users/grace", "/srv/graces", "Grace Brewster"]


def example(**changes):
    log = (
        "ld: /Users/grace/alloy/x.o\nat /srv/graces/code/a.mm:3\nGrace's gracesmac.local said no\n"
        "/home/grace/b /Volumes/Graces /private/var/folders/ab/cd12/T/x"
    )
    asked = report.entry(
        "rank5_sum", "stale", question="a sum", quirk="reduction_beyond_rank4", row="the table is wrong here"
    )
    return {
        "machine": "chip  M9\n",
        "missing": [],
        "framework": "Apple's framework of macOS 15.1",
        "interrupted": False,
        "commit": "abc",
        "minutes": 1,
        "stages": {
            "build": [report.entry("ir", "died", "ended by SIGABRT: /Users/grace/x", log)],
            "questions": [asked],
            "native tests": [report.entry("facade.a", "unseen", "it is not built")],
        },
        **changes,
    }


def test_files_name_nobody(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "OUTPUT", tmp_path / "new" / "directory")
    monkeypatch.setattr(report, "ROOT", pathlib.Path("/srv/graces/code"))
    monkeypatch.setenv("HOME", "/Users/grace")
    monkeypatch.setenv("USER", "grace")
    monkeypatch.setattr(socket, "gethostname", lambda: "gracesmac.local")
    path = report.write(example())
    files = path.read_text(), path.with_suffix(".json").read_text()
    for file in files:
        assert not re.search(r"grace|/srv|/home/|/Users/|ab/cd12", file, re.I), file
    assert "ld: <home>/alloy/x.o\nat <alloy>/a.mm:3\n<user>'s <host> said no" in files[0]
    assert "gracefully" in report.redacted("gracefully", report.private_words())
    assert json.loads(files[1])["stages"]["native tests"][0]["verdict"] == "unseen"


def test_this_machine_s_names_are_cut_out():
    words = report.private_words()
    assert {str(ROOT), str(pathlib.Path.home()), getpass.getuser(), socket.gethostname()} <= words.keys()


def test_the_text_begins_with_the_verdict():
    lines = report.text(example()).splitlines()
    said = " ".join(lines[2 : lines.index("", 2)])
    assert said == "1 of 3 are not as expected, nor known: build: ir. 1 were not seen: native tests: facade.a."
    assert max(map(len, lines)) <= 80
    assert any(re.match(r"reduction_beyond_rank4 +the table is wrong here", line) for line in lines)
    good = example(stages={"build": [report.entry("ir", "right"), report.entry("b", "known")]})
    assert report.verdict(good) == "All of 2 are as expected, known, or open."
    assert (
        report.verdict({**good, "missing": ["a compiler"]}) == "Alloy cannot be built on this machine yet: a compiler"
    )
    assert "interrupted" in report.verdict({**good, "interrupted": True})
    assert "All" not in report.verdict({**good, "stages": {}})


def test_nothing_is_tried_where_something_is_missing(tmp_path, monkeypatch, capsys):
    def run(command, *_, **__):
        assert "preflight.sh" in str(command[0]) or command[0] == "git", command
        return outcome("ended with status 1", "chip M9\nMISSING: a compiler\n")

    monkeypatch.setattr(report, "OUTPUT", tmp_path)
    monkeypatch.setattr(report.doctor, "run", run)
    assert report.main() == 1
    assert "cannot be built on this machine yet: a compiler" in capsys.readouterr().out
    assert "unseen" in (tmp_path / "alloy-mac-report.txt").read_text()


@pytest.mark.parametrize(
    "found, status", [("right", 0), ("known", 0), ("open", 0), ("wrong", 1), ("died", 1), ("unseen", 1)]
)
def test_the_report_s_status(found, status, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "OUTPUT", tmp_path)
    for stage in "build", "ask", "trainings", "python_tests":
        monkeypatch.setattr(report, stage, lambda: [report.entry("a", "right")])
    monkeypatch.setattr(report, "native_tests", lambda system: [report.entry("a", found)])
    monkeypatch.setattr(report.doctor, "run", lambda *_, **__: outcome())
    assert report.main() == status


def test_a_stage_that_fails_itself_is_a_line(tmp_path, monkeypatch):
    def fails():
        yield report.entry("first", "right")
        raise KeyError("a slip")

    monkeypatch.setattr(report, "OUTPUT", tmp_path)
    monkeypatch.setattr(report.doctor, "run", lambda *_, **__: outcome())
    monkeypatch.setattr(report, "build", fails)
    for stage in "ask", "trainings", "python_tests":
        monkeypatch.setattr(report, stage, lambda: [report.entry("a", "right")])
    monkeypatch.setattr(report, "native_tests", lambda system: [report.entry("a", "right")])
    assert report.main() == 1
    assert (
        report.json.loads((tmp_path / "alloy-mac-report.json").read_text())["verdict"]
        == "1 were not seen: build: the rest."
    )


# ---- before anything is made ----


class Mac:
    """Programs of a Mac, in front of this machine's; what they say can be replaced."""

    def __init__(self, directory):
        self.directory = directory
        for name, says in {
            "uname": 'case "${1:-}" in -m) echo arm64 ;; *) echo Darwin ;; esac',
            "sysctl": 'case "$2" in hw.memsize) echo 17179869184 ;; *) echo "Apple M9" ;; esac',
            "sw_vers": 'case "$1" in -productVersion) echo 14.5 ;; *) echo 23F79 ;; esac',
            "xcode-select": "echo /Library/Developer/CommandLineTools",
            "xcodebuild": 'echo "Xcode 15.4"; echo "Build version 15F31d"',
            "xcrun": 'case "$1" in clang++) echo "Apple clang version 15.0.0" ;; *) echo 14.5 ;; esac',
            "brew": "echo Homebrew 4.3.0",
            "launchctl": "echo Aqua",
            "python3": 'case "$2" in *venv*) ;; *) echo 3.12.1 ;; esac',
        }.items():
            self.has(name, says)

    def has(self, name, says):
        (self.directory / name).write_text(f"#!/bin/sh\n{says}\n")
        (self.directory / name).chmod(0o755)

    def preflight(self, **environment):
        done = subprocess.run(
            ["sh", ROOT / "packaging" / "preflight.sh"],
            capture_output=True,
            text=True,
            timeout=60,
            env={
                "PATH": f"{self.directory}:/usr/bin:/bin",
                "PYTHON": "python3",
                "HOMEBREW_PREFIX": "/nowhere",
                **environment,
            },
        )
        assert done.stderr == ""
        return done.returncode, done.stdout


@pytest.fixture
def mac(tmp_path):
    return Mac(tmp_path)


def test_a_mac_that_has_everything(mac):
    status, facts = mac.preflight()
    assert status == 0 and "MISSING" not in facts
    facts = dict(re.split("  +", line, maxsplit=1) for line in facts.splitlines())
    assert {
        "chip": "Apple M9 (arm64)",
        "macOS": "14.5 (23F79)",
        "memory": "16 GB",
        "developer tools": "Xcode 15.4",
        "SDK": "14.5",
        "compiler": "Apple clang version 15.0.0",
        "python3": "3.12.1",
        "Homebrew": "4.3.0",
        "graphical session": "yes",
    }.items() <= facts.items()


@pytest.mark.parametrize(
    "name, says, missing",
    [
        ("uname", 'case "${1:-}" in -m) echo x86_64 ;; *) echo Darwin ;; esac', "Macs with Intel's are not supported"),
        ("sw_vers", "echo 13.2.1", "macOS 13.3 or newer"),
        ("sw_vers", "echo 12.7", "macOS 13.3 or newer"),
        ("xcode-select", "exit 2", "xcode-select --install"),
        ("xcrun", "echo 12.3", "a macOS SDK of 13.3 or newer"),
        ("python3", "echo 3.9.6", "brew install python"),
        ("python3", "exit 1", "brew install python"),
    ],
)
def test_what_a_mac_lacks(mac, name, says, missing):
    mac.has(name, says)
    status, facts = mac.preflight()
    assert status == 1
    (line,) = re.findall("^MISSING: .*$", facts, re.M)
    assert missing in line


@pytest.mark.parametrize("version", ["13.3", "13.10", "14.0", "15", "26.1"])
def test_systems_that_are_new_enough(mac, version):
    mac.has("sw_vers", f"echo {version}")
    assert mac.preflight()[0] == 0


def test_a_session_over_ssh_and_no_homebrew_are_told(mac):
    mac.has("launchctl", "echo Background")
    (mac.directory / "brew").unlink()
    status, facts = mac.preflight(SSH_CONNECTION="1 2 3 4")
    assert (
        status == 0 and "no, over SSH" in facts and "run this in a Terminal window" in facts and "GoogleTest" in facts
    )


def test_the_python_of_homebrew_is_found_behind_that_of_xcode(mac):
    mac.has("python3", "echo 3.9.6")
    brew = mac.directory / "brewed" / "bin"
    brew.mkdir(parents=True)
    (brew / "python3").write_text('#!/bin/sh\ncase "$2" in *venv*) ;; *) echo 3.14.0 ;; esac\n')
    (brew / "python3").chmod(0o755)
    status, facts = mac.preflight(PYTHON="", HOMEBREW_PREFIX=str(brew.parent))
    assert status == 0 and re.search(r"python3 +3\.14\.0$", facts, re.M)


def test_each_failed_test_of_python_is_told(tmp_path):
    trial = tmp_path / "test_trial.py"
    trial.write_text("def test_good(): pass\ndef test_bad(): assert 1 == 2\n")
    junit = tmp_path / "found.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={junit}", trial]
    done = doctor.run(command, 60, cwd=tmp_path)
    found = [(e["name"], e["verdict"], e["says"]) for e in report.junit_entries("trial", done, junit)]
    assert found == [("test_bad", "wrong", "assert 1 == 2"), ("trial", "wrong", "2 tests, 1 failed")]
    (lost,) = report.junit_entries("trial", done, tmp_path / "nothing.xml")
    assert lost["verdict"] == "died"


def test_what_is_timed_is_known_to_both_programs():
    source = (ROOT / "tests" / "mac" / "train.py").read_text()
    assert re.findall(r'^    "([\w-]+)": ', source[source.index("\nTIMED = ") :], re.M) == list(report.TIMED)


def test_this_machine(tmp_path):
    done = subprocess.run(
        [ROOT / "packaging" / "preflight.sh"], capture_output=True, text=True, timeout=60, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout
    assert re.search(r"^python3\S* +3\.\d+", done.stdout, re.M) and list(tmp_path.iterdir()) == []
