"""Steps in flight, and coroutines that await them.

The framework's threads must not ask for Python's lock: they may live longer than the interpreter. So they only note
which submissions are over, and one thread of Python's, which begins with the first that is awaited, tells the loops."""

import itertools
import operator
import sys
import threading

from alloy import _core
from alloy.engine.classes import Part, completes
from alloy.engine.dtypes import DType
from alloy.messages.location import mistake
from alloy.messages.text import type_text

_numbers = itertools.count()
_awaited: dict = {}  # pairs of a loop and a future, by number
_starting = threading.Lock()
_teller: threading.Thread | None = None


@completes
class Submission(Part, _core.Submission):
    """A step in flight (Executable.submit): the sequence of its fetches. Reading one waits for the step's end; `await`
    gives the list of fetches without blocking other coroutines.

    DeviceError, on reading: the step failed, or an earlier step in flight, or a step whose result was fed to it."""

    def __await__(self):
        """Gives the list of the fetches. Only the awaiting task waits for the step; if the task is cancelled, the step
        goes on."""
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

    def pending(self, index: int = 0) -> "_core.Pending":
        """Returns a fetch that stays on the device, computed or not; submit feeds it to a step of any graph of the
        device, which waits for it there. Nothing is copied.

        index: the fetch's. IndexError: there are fewer."""
        try:
            at = operator.index(index)
        except TypeError:
            raise mistake("pending", f"Expected the index of a fetch, got {index!r}", TypeError) from None
        if abs(at) >= 2**63:
            raise mistake("pending", f"Expected the index of a fetch, got {at}", IndexError)
        return self._pending(at)

    def __format__(self, form):
        if form == "":
            return repr(self)
        raise mistake("submission", "Expected one array, got a submission of fetches; submission[0] is one", TypeError)

    def __repr__(self):
        return f"<Submission of {len(self)} fetches, {'done' if self.done else 'in flight'}>"


@completes
class Pending(Part, _core.Pending):
    """A fetch of a submission, on the device, perhaps not computed yet (Submission.pending). Steps of any graph on the
    same device can be fed it like an array, without a copy; they run once it is computed."""

    @property
    def dtype(self) -> str:
        """The name of the element type."""
        return DType(self._dtype)

    def __repr__(self):
        return f"<Pending {type_text(self.dtype, self.shape)}>"


def in_coroutine() -> bool:
    """Tells whether an event loop runs this thread's code, which must not wait."""
    asyncio = sys.modules.get("asyncio.events")
    return asyncio is not None and asyncio._get_running_loop() is not None


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
