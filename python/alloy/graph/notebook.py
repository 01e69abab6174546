"""What is different at the prompt of IPython and in its notebooks: where code stands, and how a picture is shown."""

import sys


def _shell():
    return getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()


def in_notebook() -> bool:
    return type(_shell()).__name__ == "ZMQInteractiveShell"


def cell_of(path: str) -> str | None:
    """The cell whose code has this file name, as IPython calls it: "In[3]"; None where it is none."""
    name = getattr(getattr(_shell(), "compile", None), "format_code_name", lambda path: None)(path)
    return name[1] if name else None


class Picture:
    """An image in a notebook, which shows it where it is the value of a cell."""

    def __init__(self, kind: str, content: str | bytes):
        """kind: "image/svg+xml", with a text, or "image/png", with bytes."""
        self._kind, self._content = kind, content

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {self._kind: self._content}
