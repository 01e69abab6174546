"""`make mac-report`: builds in slices, asks the framework, runs the native tests and short trainings, each in a process
of its own and none the end of the others, and writes two files into build/mac-report, which name nobody and no place.

    python tests/mac/report.py      status 0: all is as expected or known

Needs Python and nothing of the package. What was not seen is called unseen."""

import getpass
import importlib.util
import json
import os
import re
import socket
import sys
import textwrap
import time
import traceback
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD, PYTHON = ROOT / "build" / "editable", ROOT / ".venv" / "bin" / "python"
GOLDENS, OUTPUT = ROOT / "tests" / "goldens", ROOT / "build" / "mac-report"
TEST_LIMIT, BUILD_LIMIT, TRAINING_LIMIT, PYTHON_LIMIT = 120, 3600, 300, 1800  # seconds for a child
WIDTH = 80
# What train.py times by itself: choices of the engine that nobody could measure.
TIMED = ("empty", "product-float32", "product-float16", "convolution-NHWC", "convolution-NCHW", "convolution-OIHW",
         "convolution-float16", "attention", "batch_norm", "16-steps-together", "16-steps-called", "16-steps-submitted",
         "resnet50")  # fmt: skip

_spec = importlib.util.spec_from_file_location("doctor", ROOT / "csrc" / "probes" / "doctor.py")
doctor = sys.modules["doctor"] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(doctor)
VERDICTS = {
    **doctor.VERDICTS,
    "known": "as quirks.def or tests/mac/expected.txt says",
    "unseen": "not tried, for the reason given",
}
UNKNOWN = (*doctor.UNKNOWN, "unseen")


def entry(name, verdict, says="", log="", seconds=0.0, **more):
    """What became of one thing; `more` goes into the JSON file alone."""
    return {"name": name, "verdict": verdict, "says": says, "seconds": round(seconds, 1), "log": log, **more}


# ---- the stages: each yields entries ----


def build():
    """From nothing, a layer after the other, every source also where others were refused."""
    cmake = ROOT / ".venv" / "bin" / "cmake"
    tests = sorted(f"facade_{path.stem}" for path in (ROOT / "tests" / "facade").rglob("*.m*"))
    layers = {
        "ir": ["alloy_ir"],
        "engine": ["alloy_engine"],
        "Python module": ["_core"],
        "questions": ["alloy_probes"],
        "facade tests": tests,
        "C++ tests": ["test_ir", "test_engine"],
    }
    yield _built("package", ["make", "setup"])
    if not (BUILD / "CMakeCache.txt").exists():
        yield from (entry(name, "unseen", "nothing is configured") for name in layers)
        return
    yield _built("packages of the tests", [ROOT / "packaging" / "install_system_packages.sh", "tests"])
    yield _built("tests, configured", [cmake, "-DALLOY_BUILD_TESTS=ON", BUILD])
    for name, targets in layers.items():
        yield _built(name, [cmake, "--build", BUILD, "--target", *targets, "--", "-k", "0"])


def _built(name, command):
    done = doctor.run(command, BUILD_LIMIT, cwd=ROOT, env={"MAKEFLAGS": ""})
    errors = re.findall(r"^.*\b(?:error|undefined symbol).*$", done.log, re.M | re.I)
    says = f"{done.ended}: {errors[0].strip() if errors else done.last_words}" if done.ended else ""
    return entry(name, "died" if done.ended else "right", says, done.log, done.seconds)


def ask():
    program = BUILD / "alloy_probes"
    if not program.exists():
        yield entry("all", "unseen", "their program is not built")
        return
    try:
        _, questions = doctor.questions(program)
    except RuntimeError as error:
        yield entry("all", "died", str(error))
        return
    for question in questions:
        found = doctor.ask(program, question)
        more = [found.says] if found.verdict != "right" else []
        more += (
            [f"expected {question.expected}: {question.reason}"]
            if found.verdict in UNKNOWN and question.expected
            else []
        )
        yield entry(
            question.name,
            found.verdict,
            "; ".join(more),
            found.outcome.log,
            found.outcome.seconds,
            question=question.text,
            answer=found.outcome.answer,
            expected=question.expected,
            quirk=question.quirk,
            known=question.known,
            row=found.row,
        )


def expectations():
    """{test: (word, reason)} of expected.txt."""
    lines = [line.split(None, 2) for line in Path(__file__).with_name("expected.txt").read_text().splitlines()]
    return {line[0]: (line[1], line[2]) for line in lines if line and not line[0].startswith("#")}


def native_tests(system):
    listed = doctor.run(
        [ROOT / ".venv" / "bin" / "ctest", "--test-dir", BUILD, "--show-only=json-v1"], TEST_LIMIT, kept=10**7
    )
    try:
        tests = json.loads(listed.log[listed.log.index("{") :])["tests"]
    except ValueError:
        tests = []
    commands = {test["name"]: test.get("command") for test in tests}
    for name, (word, reason) in expectations().items():
        if word == "portable" and system != "none":
            continue
        command = commands.get(name)
        if not command or not Path(command[0]).exists():
            yield entry(name, "unseen", "it is not built", expected=word, reason=reason)
            continue
        done = doctor.run(command, TEST_LIMIT, env={"ALLOY_TRACE_CHECKS": "1"}, cwd=BUILD, kept=10**7)
        yield test_entry(name, done, word if system != "none" else "pass", reason)


def test_entry(name, done, word, reason):
    """What a test's end means where `word` of expected.txt counts."""
    begun = re.findall(r"^check (.+\.mm?:\d+)$", done.log, re.M)  # not those of headers, which every test shares
    log = re.sub(r"^check .*\n", "", done.log, flags=re.M)[-20_000:]
    says = ""
    if done.ended == "ended with status 77":
        verdict, says = "unseen", doctor.Outcome("", 0, log).last_words
    elif not done.ended:
        verdict = "right"
    else:
        verdict = "known" if word == "differs" else "died" if "status 1" not in done.ended else "wrong"
        failed = re.findall(r"^.*(?:: failed: |\[  FAILED  \]).*$", log, re.M)
        says = f"{done.ended}: {failed[0].strip() if failed else doctor.Outcome(done.ended, 0, log).last_words}"
        if begun and not failed:
            says += f" (in the check at {Path(begun[-1]).name})"
        if verdict == "known":
            says += f" [{reason}]"
    return entry(
        name, verdict, says, log, done.seconds, expected=word, reason=reason, last_check=begun[-1] if begun else ""
    )


def python_tests():
    """Every op and every gradient, a line a failed test."""
    junit = OUTPUT / "test_ops.xml"
    OUTPUT.mkdir(parents=True, exist_ok=True)
    junit.unlink(missing_ok=True)
    command = [PYTHON, "-m", "pytest", "-q", "--tb=line", f"--junitxml={junit}", "tests/python/ops/test_ops.py"]
    yield from junit_entries("test_ops", doctor.run(command, PYTHON_LIMIT, cwd=ROOT), junit)


def junit_entries(name, done, junit):
    """What became of each test that failed, then of them all."""
    try:
        cases = list(ElementTree.parse(junit).iter("testcase"))
    except (OSError, ElementTree.ParseError):
        yield entry(name, "died", f"{done.ended}: {done.last_words}", done.log, done.seconds)
        return
    failed = 0
    for case in cases:
        for failure in (*case.iter("failure"), *case.iter("error")):
            failed += 1
            yield entry(case.get("name"), "wrong", failure.get("message", ""), failure.text or "")
    verdict = "right" if cases and not failed else "wrong" if failed else "unseen"
    yield entry(name, verdict, f"{len(cases)} tests, {failed} failed", done.log, done.seconds)


def trainings():
    golden = json.loads((GOLDENS / "training.json").read_text())
    resnet = json.loads((GOLDENS / "resnet50.json").read_text())["smooth"]["losses"][:2]
    # Held to ten times what losses move when every value given is off by 2^-20 of itself
    # (tests/goldens/training_reference.py prints it).
    for storage in "variable", "buffers":
        yield _trained(f"linear, {storage}", ["linear", storage], golden["linear"], 1e-5)
        yield _trained(f"digits, {storage}", ["digits", storage], golden["digits"], 1e-4)
    yield _trained("resnet50, one step", ["resnet50"], resnet, 5e-5)
    speeds = [["speed", str(batch)] for batch in (1, 32, 256)] + [["trainer", "256"]]
    for arguments in speeds + [["time", name] for name in TIMED]:
        name, done = " ".join(arguments), _train(arguments)
        if done.answer is None:
            yield entry(name, "died", f"{done.ended}: {done.last_words}", done.log, done.seconds)
            continue
        first, step = map(float, done.answer.split())
        says = f"{step:.3g} ms each; {first:.2g} s to the first result"
        yield entry(name, "open", says, done.log, done.seconds, answer=done.answer)


def _train(arguments):
    return doctor.run([PYTHON, Path(__file__).with_name("train.py"), *arguments], TRAINING_LIMIT, cwd=ROOT)


def _trained(name, arguments, losses, tolerance):
    return trained_entry(name, _train(arguments), losses, tolerance)


def trained_entry(name, done, losses, tolerance):
    more = {"answer": done.answer, "expected": losses, "tolerance": tolerance}
    if done.answer is None:
        return entry(name, "died", f"{done.ended or 'no answer'}: {done.last_words}", done.log, done.seconds, **more)
    found = [doctor.number(word) for word in done.answer.split()]
    if len(found) != len(losses) or None in found:
        return entry(name, "wrong", f"expected {len(losses)} losses, got {done.answer}", done.log, done.seconds, **more)
    off = [abs(loss / right - 1) if loss == loss else float("inf") for loss, right in zip(found, losses)]
    worst = max(off)
    at = off.index(worst)
    says = f"off by {worst:.1e} at most, of {tolerance:.0e}"
    if worst > tolerance:
        says = f"loss {at + 1} of {len(losses)} is {found[at]:.9g} instead of {losses[at]:.9g}"
        says += f", off by more than {tolerance:.0e}"
    return entry(name, "right" if worst <= tolerance else "wrong", says, done.log, done.seconds, **more)


# ---- nobody's names ----


def private_words():
    """What must not leave this machine, with what stands for it: paths first, then names."""
    words = {
        str(ROOT): "<alloy>",
        os.path.realpath(ROOT): "<alloy>",
        str(Path.home()): "<home>",
        os.environ.get("HOME", ""): "<home>",
        os.environ.get("TMPDIR", "").rstrip("/"): "<tmp>",
    }
    users = {
        getpass.getuser(),
        os.environ.get("USER", ""),
        os.environ.get("LOGNAME", ""),
        os.environ.get("SUDO_USER", ""),
        Path.home().name,
    }
    try:
        import pwd

        users.add(pwd.getpwuid(os.getuid()).pw_gecos.split(",")[0])
    except (ImportError, KeyError):
        pass
    hosts = {socket.gethostname(), socket.gethostname().partition(".")[0], os.uname().nodename}
    for what in ("ComputerName", "LocalHostName") if sys.platform == "darwin" else ():
        hosts.add(doctor.run(["scutil", "--get", what], 10).log.strip())
    words.update({user: "<user>" for user in users})
    words.update({host: "<host>" for host in hosts if host != "localhost"})
    return {word: sign for word, sign in words.items() if len(word) > 1}


def redacted(value, words):
    """The report without these words, wherever they stand, and without the home of anybody."""
    if isinstance(value, dict):
        return {redacted(key, words): redacted(part, words) for key, part in value.items()}
    if isinstance(value, list):
        return [redacted(part, words) for part in value]
    if not isinstance(value, str):
        return value
    for word in sorted(words, key=len, reverse=True):
        # A path begins and ends anywhere; a name must not be a part of another word.
        pattern = re.escape(word) if "/" in word else rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])"
        value = re.sub(pattern, words[word], value, flags=re.I)
    value = re.sub(r"/(?:Users|home)/(?!Shared\b)[^/\s:'\"]+", "<home>", value)
    value = re.sub(r"/Volumes/[^/\s:'\"]+", "<volume>", value)
    return re.sub(r"/(?:private/)?var/folders/[^/\s]+/[^/\s]+", "<tmp>", value)


# ---- the files ----


def count(entries):
    counts = Counter(e["verdict"] for e in entries)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict]) or "nothing"


def verdict(report):
    """The first line: what there is to do, and nothing that was not seen."""
    if report["missing"]:
        return "Alloy cannot be built on this machine yet: " + "; ".join(report["missing"])
    entries = [e for stage in report["stages"].values() for e in stage]
    unseen = [
        f"{stage}: {e['name']}" for stage, found in report["stages"].items() for e in found if e["verdict"] == "unseen"
    ]
    news = [
        f"{stage}: {e['name']}"
        for stage, found in report["stages"].items()
        for e in found
        if e["verdict"] in doctor.UNKNOWN
    ]
    said = []
    if report["interrupted"]:
        said.append("The report was interrupted; what follows is what was seen until then.")
    if news:
        named = ", ".join(news[:5]) + (", ..." if len(news) > 5 else "")
        said.append(f"{len(news)} of {len(entries)} are not as expected, nor known: {named}.")
    if unseen:
        said.append(f"{len(unseen)} were not seen: {', '.join(unseen[:5])}{', ...' if len(unseen) > 5 else ''}.")
    if not entries:
        said.append("Nothing was tried.")
    return " ".join(said) or f"All of {len(entries)} are as expected, known, or open."


def text(report):
    """The report for people."""
    lines = ["# Alloy on this machine", ""]
    lines += textwrap.wrap(verdict(report), WIDTH)
    lines += [
        "",
        report["machine"].rstrip(),
        f"{'answers are of':20} {report['framework']}",
        f"{'commit':20} {report['commit']}",
        f"{'took':20} {report['minutes']} minutes",
        "",
    ]
    lines += [f"{stage:14} {count(entries)}" for stage, entries in report["stages"].items()]
    met = {e["verdict"] for entries in report["stages"].values() for e in entries}
    lines += ["", *(f"{name:6} {meaning}" for name, meaning in VERDICTS.items() if name in met)]
    rows = [e for e in report["stages"].get("questions", []) if e.get("quirk")]
    if rows:
        lines += ["", "## csrc/ir/quirks.def", ""]
        lines += [f"{e['quirk']:30} {e['row']}" for e in rows]
    for stage, entries in report["stages"].items():
        lines += ["", f"## {stage}", ""]
        for e in entries:
            lines.append(f"{e['verdict']:6} {e['name']:28} {e.get('question', '')}".rstrip())
            lines += textwrap.wrap(e["says"], WIDTH, initial_indent=" " * 7, subsequent_indent=" " * 9, max_lines=6)
    for stage, entries in report["stages"].items():
        for e in entries:
            if (e["verdict"] in doctor.UNKNOWN or e["verdict"] == "known" and stage == "native tests") and e[
                "log"
            ].strip():
                lines += [
                    "",
                    f"## the end of the log of {stage}: {e['name']}",
                    "",
                    *e["log"].rstrip().splitlines()[-30:],
                ]
    return "\n".join(lines) + "\n"


def write(report):
    """Both files, of nobody; returns the path of the text."""
    report = redacted(report, private_words())
    OUTPUT.mkdir(parents=True, exist_ok=True)
    (OUTPUT / "alloy-mac-report.json").write_text(json.dumps({"verdict": verdict(report), **report}, indent=1) + "\n")
    path = OUTPUT / "alloy-mac-report.txt"
    path.write_text(text(report))
    return path


def main():
    start = time.monotonic()
    preflight = doctor.run([ROOT / "packaging" / "preflight.sh"], 60)
    commit = doctor.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], 10)
    report = {
        "machine": preflight.log,
        "missing": re.findall(r"^MISSING: (.*)$", preflight.log, re.M),
        "framework": "unseen",
        "interrupted": False,
        "commit": "unknown" if commit.ended else commit.log.strip(),
        "minutes": 0,
        "stages": {},
    }

    def stage(name, found):
        entries = report["stages"].setdefault(name, [])
        print(name, flush=True)
        try:
            for e in found:
                entries.append(e)
                print(
                    f"  {e['verdict']:6} {e['name']}",
                    *(textwrap.shorten(e["says"], 100),) * bool(e["says"]),
                    flush=True,
                )
        except Exception as error:  # of this script's own: the other stages are still to come
            entries.append(entry("the rest", "unseen", f"{type(error).__name__}: {error}", traceback.format_exc()))

    try:
        if not report["missing"]:
            stage("build", build())
            system = "none"
            try:
                system = doctor.questions(BUILD / "alloy_probes")[0]
                report["framework"] = doctor.whose(system)
            except RuntimeError:
                pass
            stage("questions", ask())
            stage("native tests", native_tests(system if sys.platform != "darwin" else "Apple's"))
            stage("training", trainings())
            stage("Python tests", python_tests())
    except KeyboardInterrupt:
        report["interrupted"] = True
    report["minutes"] = round((time.monotonic() - start) / 60, 1)
    path = write(report)
    print(
        f"\n{verdict(report)}\nWrote {path} and {path.with_suffix('.json').name} beside it. "
        "Please look through them, then send both."
    )
    entries = [e for found in report["stages"].values() for e in found]
    return 1 if report["missing"] or report["interrupted"] or any(e["verdict"] in UNKNOWN for e in entries) else 0


if __name__ == "__main__":
    sys.exit(main())
