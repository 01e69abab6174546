"""The example in the README runs as it stands there."""
import pathlib
import re

README = pathlib.Path(__file__).parents[2] / "README.md"


def test_first_python_block(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = re.search(r"^```python\n(.*?)^```", README.read_text(), re.M | re.S)[1]
    exec(compile(code, str(README), "exec"), {"__name__": "__main__"})
