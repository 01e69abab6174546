"""The examples in the README run as they stand there, one after the other."""

import pathlib
import re

README = pathlib.Path(__file__).parents[2] / "README.md"


def test_python_blocks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    blocks = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.M | re.S)
    assert len(blocks) == 7
    for code in blocks:
        exec(compile(code, str(README), "exec"), namespace)
