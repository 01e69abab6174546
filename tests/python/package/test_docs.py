"""The code on the pages of docs/ runs as it stands there, page by page, the pages are all in the navigation, and the
reference has everything, each name with an example that runs. The site itself is built by `make docs`."""

import ast
import importlib.util
import json
import pathlib
import re
import statistics
import subprocess
import threading

import numpy as np
import pytest
from safetensors.numpy import save_file

import alloy as al
from kinds import HAS_BFLOAT16, HAS_PACKAGES

ROOT = pathlib.Path(__file__).parents[3]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
COMPLEX = "complex64 complex conjugate absolute_square real imag planar fft ifft rfft irfft".split()
EXAMPLES = sorted((DOCS / "examples").glob("*.py"))


def module(path):
    """The module of a file that no package has."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture(scope="module")
def reference():
    return module(DOCS / "reference.py")


def name(page):
    return page.relative_to(DOCS).as_posix()


def build_c(text, folder):
    """Compiles the programs in C of a page, each into the library that the page calls by its name."""
    made = []
    for block in re.finditer(r"^```c\n(/\* (\w+)\.c \*/\n.*?)^```", text, re.M | re.S):
        source, library = folder / f"{block[2]}.c", f"{block[2]}.so"
        source.write_text(block[1])
        strict = ["-Wall", "-Wextra", "-pedantic", "-Werror", f"-I{al.OpLibrary.include}"]
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", *strict, source, "-o", folder / library], check=True)
        made.append(library)
    return made


def write_torch_files(folder):
    """Writes the files that the page on PyTorch's weights loads, in PyTorch's layouts."""
    shapes = {"0.weight": (8, 3, 3, 3), "0.bias": (8,), "2.weight": (16, 8, 3, 3), "2.bias": (16,)}
    body = {name: np.ones(shape, np.float32) for name, shape in shapes.items()}
    head = {"weight": np.ones((10, 16), np.float32), "bias": np.ones(10, np.float32)}
    save_file(body, folder / "body.safetensors")
    for file, *paths in (("weights", "body", "fc"), ("renamed", "features", "classifier.6")):
        both = {f"{path}.{name}": value for path, part in zip(paths, (body, head)) for name, value in part.items()}
        save_file(both, folder / f"{file}.safetensors")


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_code(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
    if page.stem == "pytorch_weights":
        write_torch_files(tmp_path)
    if not HAS_BFLOAT16 and page.stem == "mixed-precision":
        pytest.skip("that system has no bfloat16")
    if not HAS_PACKAGES and page.stem == "exporting":
        pytest.skip("that system has no packages")
    for name in build_c(text, tmp_path):
        assert f'"{name}"' in text, name
    namespace = {"__name__": "__main__"}
    for block in re.finditer(r"^```python\n(.*?)^```", text, re.M | re.S):
        lines_before = text[: block.start(1)].count("\n")
        exec(compile("\n" * lines_before + block[1], str(page), "exec"), namespace)
    for thread in threading.enumerate():
        if thread.name == "alloy input":
            thread.join()  # it ends a moment after the loop that it reads for


def statements(code):
    """The statements, also those inside others, as text in one layout and without docstrings."""
    nodes = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.stmt)]
    for node in nodes:
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node):
            del node.body[0]
    return {ast.unparse(node) for node in nodes}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_code_that_does_not_run(page):
    """A block of ```py is a part of a program in examples/, which other tests run, or is for PyTorch."""
    blocks = re.findall(r"^```py\n(.*?)^```", page.read_text(), re.M | re.S)
    programs = [statements(file.read_text()) for file in (ROOT / "examples").glob("*.py")] if blocks else []
    for block in blocks:
        assert "torch import" in block or any(statements(block) <= program for program in programs), block


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *PAGES, "reference"], ids=lambda page: getattr(page, "stem", page)
)
def test_names(page, reference):
    """Whatever a page calls al.something is there."""
    text = "\n".join(reference.pages().values()) if page == "reference" else page.read_text()
    for path in sorted(set(re.findall(r"\bal((?:\.[A-Za-z_]\w*)+)", text.replace("\\", "")))):
        found = al
        for part in path.split(".")[1:]:
            found = getattr(found, part)


def test_errors_that_a_page_explains_exist():
    """Each part of a quoted message stands in a source; Python's own messages name a type of its own."""
    files = [*(ROOT / "python" / "alloy").rglob("*.py"), *(ROOT / "csrc").rglob("*.cpp")]
    sources = re.sub(r'"\s*\n\s*f?"', "", "\n".join(file.read_text() for file in files))
    quoted = re.findall(r"^\*\*(`.*?`)\*\*", (DOCS / "errors.md").read_text(), re.M)
    assert len(quoted) > 15
    for part in (part.strip() for quote in quoted for part in re.split(r"`, `|\.\.\.", quote.strip("`"))):
        assert part.removeprefix("Expected ") in sources or "'NoneType'" in part, part


def test_every_page_is_in_the_navigation():
    listed = re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)
    assert sorted(page for page in listed if not page.startswith("reference/")) == [name(page) for page in PAGES]


def test_reference(reference):
    """Every public name has an entry with a text, which Markdown leaves as it is."""
    pages = reference.pages()
    listed = re.findall(r"reference/(\w+)\.md$", (ROOT / "mkdocs.yml").read_text(), re.M)
    assert sorted(listed) == sorted(pages)
    text = "\n".join(pages.values())
    modules = ("data", "distributed", "init", "losses", "metrics", "models", "nn", "random", "schedules")
    names = {f"al.{name}" for name in dir(al) if name not in modules and not name.startswith("_")}
    for module in modules:
        names |= {f"al.{module}.{name}" for name in getattr(al, module).__all__}
    names -= {"al.data.augment"}
    entries = re.findall(r"^##+ (al\.[\w.]+)\n(.*?)(?=^##|\Z)", text, re.M | re.S)
    assert names <= {name for name, _ in entries}, names - {name for name, _ in entries}
    bare = [name for name, entry in entries if not re.sub(r"^```.*?^```", "", entry, flags=re.M | re.S).strip()]
    assert bare == []
    assert " at 0x" not in text and "alloy._core" not in text
    assert text.count("\n```") % 2 == 0
    without = [name for name, entry in entries if '```python title="Example"' not in entry]
    assert without == ["al.data.augment"], "write an example in docs/examples"


def can_run(names):
    if not HAS_BFLOAT16 and {name.removeprefix("al.") for name in names} & {"bfloat16", *COMPLEX}:
        return False  # that system has no complex numbers either
    return HAS_PACKAGES or "al.load_executable" not in names


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_examples_of_names(file, reference, tmp_path, monkeypatch):
    """Each example runs behind the first lines of its file alone, uses the names that it is of, and checks them."""
    monkeypatch.chdir(tmp_path)
    start, examples = reference.examples(file.stem.removeprefix("al_"))
    assert examples
    first = {"__name__": "__main__"}
    exec(compile(start, str(file), "exec"), first)
    for names, lines_before, code in examples:
        where = f"{file.name}:{lines_before}"
        assert all(re.search(rf"\b{re.escape(name)}\b", code) for name in names), where
        assert "assert " in code, where
        if can_run(names):
            exec(compile("\n" * lines_before + code, str(file), "exec"), {**first})


def test_each_example_is_of_an_entry(reference):
    entries = re.findall(r"^##+ (al\.[\w.]+)\n", "\n".join(reference.pages().values()), re.M)
    named = [name for file in EXAMPLES for names, *_ in reference.examples(file.stem[3:])[1] for name in names]
    assert sorted([*named, "al.data.augment"]) == sorted(entries)


def test_table_of_ratios():
    """The front page has the medians of the benchmark with the most measurements."""
    ratios, index = module(DOCS / "ratios.py"), (DOCS / "index.md").read_text()
    assert index.count(ratios.MARK) == 1
    made = ratios.on_page_markdown(index, page=None)
    table = {
        cells[0]: cells[1:] for cells in (re.split(r" *\| *", line)[1:-1] for line in made.splitlines() if "|" in line)
    }
    files = (ROOT / "benchmarks" / "results").glob("*/results.json")
    results = max((json.loads(file.read_text()) for file in files), key=lambda each: len(each["rows"]))
    assert results["date"] in made
    peers = table[""][1:]
    assert {"PyTorch", "JAX"} <= set(peers)
    slower, checked = 0, 0
    for row in results["rows"]:
        medians = {column: statistics.median(found["seconds"]) for column, found in row["columns"].items()}
        alloy, shown = medians.pop("Alloy"), table.get(row["title"])
        if min(medians.values()) < alloy:
            slower += 1
            assert shown is not None, row["title"]
        if shown is not None:
            checked += 1
            for peer, cell in zip(peers, shown[1:]):
                of_peer = [seconds for column, seconds in medians.items() if column.startswith(peer)]
                assert (cell == "-") == (not of_peer), row["title"]
                if of_peer:
                    assert float(cell.strip("*")) == pytest.approx(min(of_peer) / alloy, abs=0.0051), row["title"]
                    assert ("*" in cell) == (min(of_peer) < alloy), row["title"]
    assert checked >= 10 and f"a peer is faster in {slower}" in made


def test_every_example_is_described():
    text = (DOCS / "examples.md").read_text()
    for example in (ROOT / "examples").glob("*.py"):
        assert f"`{example.name}" in text, example.name
