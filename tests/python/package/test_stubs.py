"""The stubs that type checkers and readers see say what is there."""

import ast
import pathlib
import runpy

import pytest

import alloy as al
import make_api
import make_stub
from alloy import _core

PROGRAMS = sorted((pathlib.Path(__file__).parents[2] / "typed").glob("*.py"))
STUB = pathlib.Path(al.__file__).with_name("_core.pyi")


def test_functions_of_the_op_table():
    assert make_stub.PATH.read_text() == make_stub.render(), "run python tests/python/make_stub.py"


def test_the_extension_module():
    tree = ast.parse(STUB.read_text())
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    constants = {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
    assert set(classes) | functions | constants == {name for name in dir(_core) if not name.startswith("__")}
    for name, node in classes.items():
        listed = {member.name for member in node.body if isinstance(member, ast.FunctionDef)}
        listed |= {member.target.id for member in node.body if isinstance(member, ast.AnnAssign)}
        actual = {
            member
            for member, value in vars(getattr(_core, name)).items()
            if not member.startswith("_pybind11") and (member in listed or not member.startswith("__"))
        }
        inherited = {member for base in getattr(_core, name).__mro__[1:] for member in vars(base)}
        assert actual <= listed and listed - actual <= inherited, name


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_typed_programs_run(program):
    runpy.run_path(str(program))


def test_the_package_says_that_it_is_typed():
    assert pathlib.Path(al.__file__).with_name("py.typed").exists()


def test_what_programs_may_call_is_the_committed_text():
    """A change of it is a line of CHANGELOG.md; python tests/python/make_api.py writes the text."""
    assert make_api.text() == make_api.PATH.read_text()
