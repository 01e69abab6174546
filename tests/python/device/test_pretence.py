"""Imitations of a macOS (ALLOY_PRETEND): every quirk of csrc/ir/quirks.def shows on the systems that have it and on no
other."""

import os
import re
import subprocess
import sys

import pytest

import alloy as al
from alloy import _core
from quirks import NEWER, QUIRKS, ROOT, has

SYSTEMS = {"": None, "macos13": (13, 3), "macos14": (14, 0), "macos15": (15, 0), "macos26": (26, 0)}


def environment(word):
    return {**os.environ, "ALLOY_PRETEND": word}


@pytest.fixture(scope="module")
def program():
    if al.device().kind != "cpu":
        pytest.skip("Only the portable device imitates a system.")
    built = ROOT / "build/editable/tests/facade_pretence"
    assert built.exists(), "the target `tests` is not built"
    return [built, ROOT / "tests/facade/api.json"]


def test_the_tables_are_read():
    assert len(QUIRKS) >= 10 and {row[2] for row in QUIRKS.values()} == {"aborts", "wrong"}
    assert NEWER


@pytest.mark.parametrize("word", SYSTEMS)
def test_every_quirk(program, word):
    system = SYSTEMS[word]
    ran = subprocess.run(program, env=environment(word), capture_output=True, text=True, timeout=300)
    lines = [line.split("\t") for line in ran.stdout.splitlines()]
    assert {name for name, *_ in lines} == {*QUIRKS, *NEWER}, (
        f"Each row of csrc/ir/quirks.def and facade/newer.def has a case in interface/pretence.mm. {ran.stderr}"
    )
    assert (ran.returncode == 0) == (system is None)
    shown = set()
    for name, outcome, reason in lines:
        if name in NEWER:
            assert outcome == ("lacks" if system is not None and system < NEWER[name] else "right"), (name, reason)
            continue
        _, _, effect, what, source = QUIRKS[name]
        assert outcome in (("told", "aborts", "either") if has(system, name) else ("right", "either")), (name, reason)
        if outcome == "aborts":
            number = ".".join(map(str, system))
            assert re.fullmatch(rf"\[\w+\] {re.escape(what)} .* on macOS {number} \({re.escape(source)}\)\.", reason), (
                reason
            )
        if outcome == {"aborts": "aborts", "wrong": "told"}[effect]:
            shown.add(name)
    assert shown == {name for name in QUIRKS if has(system, name)}


def test_an_unknown_word_is_refused(program):
    ran = subprocess.run(program, env=environment("macos99"), capture_output=True, text=True, timeout=60)
    kind, name, reason = ran.stdout.strip().split("\t")
    assert (kind, name) == ("refused", "NSInvalidArgumentException")
    sentence = (
        "[device] ALLOY_PRETEND names no system that can be imitated: expected macos13, macos14, macos15 or macos26, "
        "got 'macos99'."
    )
    assert reason == sentence
    source = (
        "import alloy as al\n"
        "for use in al.device, al.Graph, al.device:\n"
        "    try:\n        use()\n    except al.DeviceError as error:\n        print(error)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", source], env=environment("macos99"), capture_output=True, text=True, timeout=60
    )
    assert ran.stdout.splitlines() == [sentence] * 3, ran.stderr


@pytest.mark.parametrize("word", SYSTEMS)
def test_the_device_says_which_system_it_imitates(program, word):
    source = "import alloy as al; print(al.device().system)"
    ran = subprocess.run(
        [sys.executable, "-c", source], env=environment(word), capture_output=True, text=True, timeout=60
    )
    system = SYSTEMS[word]
    assert ran.stdout.strip() == ("" if system is None else f"macOS {system[0]}.{system[1]}"), ran.stderr


def test_nobody_takes_the_end_of_the_process_for_a_failure_of_the_device():
    """That the engine tells them apart is shown in tests/cpp/engine/storage.cpp."""
    assert not issubclass(_core.WouldAbort, (al.DeviceError, RuntimeError, ValueError, TypeError, MemoryError))
