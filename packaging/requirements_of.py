"""Writes requirements of pyproject.toml, a line each as pip reads them: of the build, or of the extra named."""

import pathlib
import sys

try:
    import tomllib
except ImportError:  # Python 3.10; pip contains the same parser
    from pip._vendor import tomli as tomllib

pyproject = tomllib.loads((pathlib.Path(__file__).resolve().parent.parent / "pyproject.toml").read_text())
extras = {"build": pyproject["build-system"]["requires"], **pyproject["project"]["optional-dependencies"]}
print("\n".join(extras[sys.argv[1]]))
