"""Delays Ctrl-C until a piece of work is done."""

import signal
import threading
from contextlib import contextmanager


@contextmanager
def uninterrupted():
    """Lets the with statement finish: Ctrl-C raises KeyboardInterrupt after it. A second Ctrl-C raises at once."""
    ours = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT) if ours else None
    if before is not signal.default_int_handler:  # another thread, or a program with a handler of its own
        yield
        return
    waiting = []

    def note(number, frame):
        if waiting:
            signal.default_int_handler(number, frame)
        waiting.append(number)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if waiting:
        raise KeyboardInterrupt
