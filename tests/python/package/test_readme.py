"""The examples in the README run as they stand there, one after the other, and its links lead somewhere."""

import pathlib
import re

README = pathlib.Path(__file__).parents[3] / "README.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.M | re.S)


def test_python_blocks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    assert len(BLOCKS) == 2
    for code in BLOCKS:
        exec(compile(code, str(README), "exec"), namespace)
    assert namespace["trainer"].evaluate(namespace["test"])["accuracy"] > 0.9
    for saved in ("run.safetensors", "model.safetensors", "history.png"):
        assert (tmp_path / saved).stat().st_size > 0


def test_first_example_is_short():
    assert sum(bool(line.strip()) for line in BLOCKS[0].splitlines()) <= 40


def test_links():
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", README.read_text())
    assert len(links) > 10
    for link in links:
        assert (README.parent / link).is_file(), link
