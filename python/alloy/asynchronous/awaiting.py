"""Coroutines that await steps in flight.

The framework's threads must not ask for Python's lock: they may live longer than the interpreter. So they only note
which submissions are over, and one thread of Python's, which begins with the first that is awaited, tells the loops."""

import itertools
import operator
import sys
import threading

from alloy import _core
from alloy._core import Submission
from alloy.engine.classes import method_of
from alloy.messages.location import mistake

_numbers = itertools.count()
_awaited: dict = {}  # pairs of a loop and a future, by number
_starting = threading.Lock()
_teller: threading.Thread | None = None


def in_coroutine() -> bool:
    """Tells whether an event loop runs this thread's code, which must not wait."""
    asyncio = sys.modules.get("asyncio.events")
    return asyncio is not None and asyncio._get_running_loop() is not None


@method_of(Submission)
def __format__(self, form):
    if form == "":
        return repr(self)
    raise mistake(
        "submission", "Expected one array, got a submission of fetches; submission[0] is one", TypeError, "used"
    )


@method_of(Submission)
def __await__(self):
    """Gives the list of the fetches. Only the awaiting task waits for the step; if the task is cancelled, the step goes
    on."""
    if not self.done:
        import asyncio  # already imported if something awaits

        loop = asyncio.get_running_loop()
        future = loop.create_future()
        number = next(_numbers)
        _awaited[number] = loop, future
        _start_telling()
        self._tell(number)
        yield from future
    return self._read()


def _start_telling():
    global _teller
    with _starting:
        if _teller is None or not _teller.is_alive():  # dead in a forked child
            _teller = threading.Thread(target=_tell_all, name="alloy awaiting", daemon=True)
            _teller.start()


def _tell_all():
    while True:
        loop, future = _awaited.pop(_core._next_over())
        try:
            loop.call_soon_threadsafe(_tell, future)
        except RuntimeError:
            pass  # the loop has been closed, and nobody awaits any more
        del loop, future


def _tell(future):
    if not future.done():
        future.set_result(None)


@method_of(Submission)
def pending(self, index: int = 0) -> "_core.Pending":
    """Returns a fetch that stays on the device, computed or not; submit feeds it to a step of any graph of the device,
    which waits for it there. Nothing is copied.

    index: the fetch's. IndexError: there are fewer."""
    try:
        at = operator.index(index)
    except TypeError:
        raise mistake("pending", f"Expected the index of a fetch, got {index!r}", TypeError, "called") from None
    if abs(at) >= 2**63:
        raise mistake("pending", f"Expected the index of a fetch, got {at}", IndexError, "called")
    return self._pending(at)
