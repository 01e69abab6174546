"""The code on the pages of docs/ runs as it stands there, page by page, the pages are all in the navigation, and the
reference has everything. The site itself is built by `make docs`."""

import importlib.util
import pathlib
import re
import subprocess
import threading

import pytest

import alloy as al
from kinds import HAS_BFLOAT16, HAS_PACKAGES

ROOT = pathlib.Path(__file__).parents[3]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))


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


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_code(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
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


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.stem)
def test_names(page):
    """Whatever a page calls al.something is there."""
    for path in sorted(set(re.findall(r"\bal((?:\.[A-Za-z_]\w*)+)", page.read_text()))):
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


def test_reference():
    """Every public name has an entry with a text, which Markdown leaves as it is."""
    spec = importlib.util.spec_from_file_location("reference", DOCS / "reference.py")
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    pages = reference.pages()
    listed = re.findall(r"reference/(\w+)\.md$", (ROOT / "mkdocs.yml").read_text(), re.M)
    assert sorted(listed) == sorted(pages)
    text = "\n".join(pages.values())
    modules = ("data", "distributed", "init", "losses", "metrics", "models", "nn", "random", "schedules")
    types = (
        "bfloat16",
        "bool_",
        "complex64",
        "float16",
        "float32",
        *(f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)),
    )
    names = {f"al.{name}" for name in dir(al) if name not in (*modules, *types) and not name.startswith("_")}
    for module in modules:
        names |= {f"al.{module}.{name}" for name in getattr(al, module).__all__}
    names -= {"al.data.augment"}
    entries = re.findall(r"^##+ (al\.[\w.]+)\n(.*?)(?=^##|\Z)", text, re.M | re.S)
    assert names <= {name for name, _ in entries}, names - {name for name, _ in entries}
    bare = [name for name, entry in entries if not re.sub(r"^```.*?^```", "", entry, flags=re.M | re.S).strip()]
    assert bare == []
    assert " at 0x" not in text and "alloy._core" not in text
    assert text.count("\n```") % 2 == 0


def test_every_example_is_described():
    text = (DOCS / "examples.md").read_text()
    for example in (ROOT / "examples").glob("*.py"):
        assert f"`{example.name}" in text, example.name
