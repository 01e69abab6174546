"""The code on the pages of docs/ runs as it stands there, page by page, and the pages are all in the navigation."""

import pathlib
import re
import threading

import pytest

import alloy as al

ROOT = pathlib.Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))


def name(page):
    return page.relative_to(DOCS).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_code(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
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


def test_every_page_is_in_the_navigation():
    listed = re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)
    assert sorted(page for page in listed if not page.startswith("reference/")) == [name(page) for page in PAGES]


def test_every_example_is_described():
    text = (DOCS / "examples.md").read_text()
    for example in (ROOT / "examples").glob("*.py"):
        assert f"`{example.name}" in text, example.name
