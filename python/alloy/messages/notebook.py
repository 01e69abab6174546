"""The prompt of IPython and its notebooks: the place of code, and pictures."""

import sys


def _shell():
    return getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()


def in_notebook() -> bool:
    return type(_shell()).__name__ == "ZMQInteractiveShell"


def cell_of(path: str) -> str | None:
    """Returns IPython's name for the cell whose code has this file name, "In[3]", or None."""
    name = getattr(getattr(_shell(), "compile", None), "format_code_name", lambda path: None)(path)
    return name[1] if name else None


class Picture:
    """An image that a notebook shows if it is the value of a cell."""

    def __init__(self, kind: str, content: str | bytes):
        """Keeps the content. kind: "image/svg+xml", with text, or "image/png", with bytes."""
        self._kind, self._content = kind, content

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {self._kind: self._content}
