"""Asks MPSGraph on this machine the questions of csrc/probes, each in a process of its own, and judges the answers: the
program of `alloy doctor`, and a part of `make mac-report`.

It uses only the standard library, so that a report can be made where the package cannot be built. The tables of
csrc/probes hold questions and expected answers, csrc/ir/quirks.def the answers that Macs are known to give instead."""

import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

LIMIT = 60  # seconds for a question
ABSENT = "not there"  # the answer of a system that lacks the feature
# The verdicts on a question, from the best to the worst; the last two were not known before.
VERDICTS = {
    "right": "as expected",
    "known": "as quirks.def says",
    "stale": "right, though quirks.def says otherwise",
    "open": "no answer was expected",
    "wrong": "not as expected",
    "died": "no answer",
}
UNKNOWN = ("wrong", "died")


@dataclass(frozen=True)
class Outcome:
    """The end of a child process. ended: "" after status 0, otherwise its end in words; log: the end of its output."""

    ended: str
    seconds: float
    log: str

    @property
    def answer(self) -> str | None:
        """The rest of the last line that begins with "answer: "."""
        lines = re.findall(r"^answer: (.*)$", self.log, re.M)
        return lines[-1] if lines and not self.ended else None

    @property
    def last_words(self) -> str:
        """The last line about an error, or the last line."""
        lines = [line.strip() for line in self.log.splitlines() if line.strip()]
        telling = [line for line in lines if re.search("exception|assert|error|fail|abort|fatal", line, re.I)]
        return (telling or lines or [""])[-1].lstrip(": ")


def run(command, limit: float, env: dict | None = None, cwd=None, kept: int = 20_000) -> Outcome:
    """Runs a command in a process group of its own, which is killed after `limit` seconds. env: added to this
    process's; kept: characters of the log."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as log:  # not a pipe: the child's own children could keep that open
        try:
            child = subprocess.Popen(
                [str(part) for part in command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=cwd,
                env={**os.environ, **(env or {})},
                start_new_session=True,
            )
        except OSError as error:
            return Outcome(f"cannot be started: {error.strerror}", 0.0, "")
        try:
            ended = _end(child.wait(limit))
        except BaseException as stop:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            if not isinstance(stop, subprocess.TimeoutExpired):
                raise
            ended = f"no end within {limit:g} s"
        log.seek(0, os.SEEK_END)
        cut = log.tell() > kept
        log.seek(max(0, log.tell() - kept))
        if cut:
            log.readline()  # the rest of a line
        return Outcome(ended, time.monotonic() - start, log.read().decode(errors="replace"))


def _end(status):
    if status >= 0:
        return f"ended with status {status}" if status else ""
    names = {each.value: each.name for each in signal.Signals}
    return f"ended by {names.get(-status, f'signal {-status}')}"


@dataclass(frozen=True)
class Question:
    """A line of the program's list. expected: "" if any answer is news; effect: the effect of the row `quirk` on this
    system, "aborts", "wrong" or "none"; told: the answer that the row's source reports instead."""

    name: str
    text: str
    expected: str
    tolerance: float
    reason: str
    told: str
    quirk: str
    effect: str
    known: str


@dataclass(frozen=True)
class Finding:
    question: Question
    outcome: Outcome
    verdict: str  # one of VERDICTS

    @property
    def says(self) -> str:
        """The answer, or the end, in words."""
        if self.outcome.answer is not None:
            return f"answers {self.outcome.answer}"
        return f"{self.outcome.ended or 'ends without an answer'}: {self.outcome.last_words}".rstrip(": ")

    @property
    def row(self) -> str:
        """The consequence for the row of quirks.def; "" if the question has none."""
        if not self.question.quirk or self.verdict == "known":
            return "as the table says" if self.question.quirk else ""
        is_wrong = self.verdict in ("stale", *UNKNOWN)
        return "the table is wrong here" if is_wrong else "the table says nothing of this system"


def questions(program) -> tuple[str, list[Question]]:
    """Returns (the answering system, its questions) of the program alloy_probes. RuntimeError: it cannot tell."""
    listed = run([program], LIMIT)
    lines = [line.split("\t") for line in listed.log.splitlines() if "\t" in line]
    rows = [line for line in lines if len(line) == 9]
    systems = [line[1] for line in lines if line[0] == "system"]
    if listed.ended or not systems or not rows:
        raise RuntimeError(f"The questions cannot be listed: {listed.ended or 'no list'} {listed.last_words}".rstrip())
    return systems[0], [
        Question(name, text, expected, float(tolerance), *rest) for name, text, expected, tolerance, *rest in rows
    ]


def whose(system: str) -> str:
    """Names the framework that answers. system: as from questions()."""
    if sys.platform == "darwin":
        return f"Apple's framework of {system}"
    return "the portable framework" + ("" if system == "none" else f", which imitates {system}")


def ask(program, question: Question, limit: float = LIMIT) -> Finding:
    outcome = run([program, question.name], limit)
    return Finding(question, outcome, judge(question, outcome))


def judge(question: Question, outcome: Outcome) -> str:
    """Returns one of VERDICTS."""
    answer = outcome.answer
    answered = answer is not None
    is_right = answered and question.expected != "" and agrees(answer, question.expected, question.tolerance)
    if question.effect == "aborts":
        stale = is_right or answered and not question.expected
        return "known" if outcome.ended.startswith("ended") else "stale" if stale else "wrong"
    if question.effect == "wrong" and answered:
        return "stale" if is_right else "known" if agrees(answer, question.told, question.tolerance) else "wrong"
    if answer == ABSENT or question.expected == "" and question.effect == "none":
        return "open"
    return "right" if is_right else "wrong" if answered else "died"


def agrees(answer: str, expected: str, tolerance: float) -> bool:
    """Compares word by word; numbers, decimal or hexadecimal, to the tolerance. An expected "?" is any word."""
    given, wanted = answer.split(), expected.split()
    return len(given) == len(wanted) and all(map(lambda g, w: _agrees(g, w, tolerance), given, wanted))


def _agrees(given, wanted, tolerance):
    if wanted == "?":
        return True
    a, b = number(given), number(wanted)
    if a is None or b is None:
        return given == wanted
    return a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= tolerance * max(1, abs(b))


def number(word: str) -> float | int | None:
    """Returns the number that a word stands for, an integer exactly, or None."""
    for read in (int, float, float.fromhex):
        try:
            return read(word)
        except (ValueError, OverflowError):
            pass
    return None


def table(findings: list[Finding]) -> str:
    """Returns a line for each question, and more lines if there is something to tell."""
    lines = []
    for finding in findings:
        question = finding.question
        lines.append(f"{finding.verdict:6} {question.name:28} {question.text}")
        told = []
        if finding.verdict != "right":
            told.append(finding.says)
        if finding.verdict in UNKNOWN and question.expected:
            told.append(f"expected {question.expected}: {question.reason}")
        if question.effect != "none":
            told.append(f"{question.quirk}: {finding.row}")
        for text in told:
            lines += textwrap.wrap(text, 80, initial_indent=" " * 7, subsequent_indent=" " * 9, max_lines=4)
    return "\n".join(lines)


def summary(findings: list[Finding]) -> str:
    counts = Counter(finding.verdict for finding in findings)
    return f"{len(findings)} questions: " + ", ".join(f"{counts[name]} {name}" for name in VERDICTS if counts[name])


def legend(findings: list[Finding]) -> str:
    met = {finding.verdict for finding in findings}
    return "\n".join(f"{name:6} {meaning}" for name, meaning in VERDICTS.items() if name in met)


def main(asker: str, program: Path, limit: float = LIMIT) -> int:
    """Asks all questions, prints the answers, and returns 1 if one is neither expected nor known, otherwise 0. asker:
    the name and version of the package. limit: seconds for a question. FileNotFoundError: there is no such program."""
    if not program.exists():
        raise FileNotFoundError(f"The program {program.name} is missing in {program.parent}; install Alloy again.")
    system, asked = questions(program)
    print(f"{asker} asks {whose(system)}")
    findings = [ask(program, question, limit) for question in asked]
    print(f"{table(findings)}\n\n{summary(findings)}\n{legend(findings)}")
    is_news = any(finding.verdict in UNKNOWN for finding in findings)
    if is_news:
        print("These answers are news: please send them, or the report of make mac-report.")
    return int(is_news)
