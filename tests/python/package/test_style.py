"""The layout and the lint of the sources, by the rules of .clang-format and of pyproject.toml."""

import ast
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[3]
FOLDERS = ("csrc", "tests", "benchmarks", "examples")
PROGRAMS = pathlib.Path(sys.executable).parent


def complaints(*command):
    done = subprocess.run([PROGRAMS / command[0], *command[1:]], cwd=ROOT, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def test_layout_of_cpp_and_objective_cpp():
    sources = [
        path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in (".h", ".cpp", ".mm", ".m")
    ]
    assert len(sources) > 200
    assert complaints("clang-format", "--dry-run", "--Werror", *sources) == (0, "")


def test_layout_of_python():
    assert complaints("ruff", "format", "--check", "--quiet", ".") == (0, "")


def test_lint_of_python():
    assert complaints("ruff", "check", "--quiet", ".") == (0, "")


def test_width_of_text_and_shell():
    """Formatters see to the other files. Exempt are tables, and what is generated."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, timeout=120)
    if listed.returncode:
        pytest.skip("not a clone")
    files = [ROOT / name for name in listed.stdout.splitlines() if not name.startswith("benchmarks/results")]
    texts = [path for path in files if path.suffix in (".md", ".sh", ".toml", ".cmake") or path.name == "run"]
    assert len(texts) > 30
    lines = [(path.name, i, line) for path in texts for i, line in enumerate(path.read_text().splitlines(), 1)]
    assert [where for *where, line in lines if len(line) > 120 and not line.startswith("|")] == []


def test_names_in_the_descriptions_of_the_sources_exist():
    sources = [
        path for folder in ("csrc", "tests", "python") for path in (ROOT / folder).rglob("*") if "." in path.name[1:]
    ]
    code = "\n".join(path.read_text() for path in sources if path.suffix in (".h", ".cpp", ".mm", ".def"))
    files = "\n".join(f"/{path.relative_to(ROOT).as_posix()}" for path in sources)
    for page in (ROOT / "csrc").rglob("README.md"):
        for name in re.findall(r"`([A-Za-z]\w*(?:::\w+)+|[\w.-]+(?:/[\w.-]+)+)`", page.read_text()):
            found = f"/{name}" in files if "/" in name else re.search(rf"\b{name.rpartition(':')[2]}\b", code)
            assert found or name.startswith("build/"), (page, name)


def docstrings():
    """Gives a place, whether a call runs the code there, and the docstring."""
    for path in sorted((ROOT / "python/alloy").rglob("*.py")):
        name = path.relative_to(ROOT / "python/alloy").as_posix()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                called = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not any(
                    "property" in ast.unparse(decorator) for decorator in node.decorator_list
                )
                if text := ast.get_docstring(node):
                    yield f"{name}: {getattr(node, 'name', '')}", called, text


def test_docstrings_begin_with_a_verb_or_a_name():
    """A word is letters alone; of a function's docstring the first one ends in "s", unless a formula stands there."""
    seen, refused = 0, []
    for place, called, text in docstrings():
        seen += 1
        first = text.split()[0].rstrip(".,:;")
        if re.fullmatch("(What|Whatever|Whether|Of|Those|That|Which|How|Where|When|Who)", first):
            refused.append((place, first))
        elif called and re.fullmatch("[A-Za-z]{2,}", first) and not re.match(r"[A-Z][a-z]+s\b|\w+ [-+*/=] ", text):
            refused.append((place, first))
    assert seen > 500
    assert refused == []
