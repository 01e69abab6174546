"""Writes the build requirements of pyproject.toml as a pip requirements file to standard output."""

import pathlib

try:
    import tomllib
except ImportError:  # Python 3.10; pip carries the same parser
    from pip._vendor import tomli as tomllib

pyproject = pathlib.Path(__file__).resolve().parent.parent / "pyproject.toml"
print("\n".join(tomllib.loads(pyproject.read_text())["build-system"]["requires"]))
