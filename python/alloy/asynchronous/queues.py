"""Queues and events: the order of steps of different graphs, and of the host."""

import operator
from numbers import Real

from alloy import _core
from alloy.engine.classes import Part, completes
from alloy.messages.location import mistake

# The engine's own methods, without checks.
_begin_queue, _begin_event = _core.Queue.__init__, _core.Event.__init__
_LARGEST = 2**64 - 1
_FEEDS = "; a placeholder of that name is fed by position or in a dict"


@completes
class Queue(Part, _core.Queue):
    """Runs steps in the order in which they were submitted; queues run side by side.

        queue = al.Queue()
        result = step.submit(x, queue=queue)

    Without queue= a step runs on its graph's own queue. Steps of one graph keep their order on any queues
    (Executable.submit).

    device: the kind or the name of one of al.devices(), as for a graph; "" is the first. ValueError: there is none."""

    def __init__(self, *, device: str = "") -> None:
        require_device("queue", device)
        _begin_queue(self, device=device)

    def __repr__(self):
        return f"<Queue of {self.device}>"


@completes
class Event(Part, _core.Event):
    """A number, 0 at first, that steps and the program set and wait for.

        event = al.Event()
        first.submit(x, signal=(event, 1))
        second.submit(y, wait_for=(event, 1))  # starts when the first step is over
        event.wait(1)

    Values only grow: waiting for a value ends once it is reached or passed. Any thread may use an event."""

    def __init__(self) -> None:
        _begin_event(self)

    def signal(self, value: int):
        """Sets the value, and lets steps and threads go on that wait for it, or for less.

        ValueError: the event has passed that value."""
        self._signal(_value("signal", value))

    def wait(self, value: int, timeout: float | None = None) -> bool:
        """Returns True when the value is reached, False after `timeout` seconds.

        Other threads run meanwhile, and Ctrl-C interrupts it. Coroutines await a submission instead."""
        if timeout is not None and not isinstance(timeout, Real):
            raise mistake("wait", f"Expected seconds or None as timeout, got {_kind(timeout)}", TypeError)
        if timeout is not None and not timeout >= 0:
            raise mistake("wait", f"Expected 0 seconds or more as timeout, got {timeout}")
        return self._wait(_value("wait", value), None if timeout is None else min(float(timeout), 1e9))

    def __repr__(self):
        return f"<Event at {self.value}>"


def require_device(op: str, device) -> None:
    if not isinstance(device, str):
        raise mistake(op, f"Expected the kind or the name of a device, got {_kind(device)}", TypeError)


def _value(op, value):
    try:
        number = operator.index(value)
    except TypeError:
        raise mistake(op, f"Expected an integer as the value of an event, got {_kind(value)}", TypeError) from None
    if not 0 <= number <= _LARGEST:
        raise mistake(op, f"Expected a value of an event from 0 to 2**64 - 1, got {number}")
    return number


def as_queue(given) -> Queue | None:
    """Returns the argument queue of submit. TypeError: it is neither a queue nor None."""
    if given is not None and not isinstance(given, Queue):
        raise mistake("submit", f"Expected an al.Queue as queue, got {_kind(given)}{_FEEDS}", TypeError)
    return given


def moments(name: str, given) -> list[tuple[Event, int]]:
    """Returns the pairs of events and values in an argument of submit."""
    pairs = [given] if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], Event) else given
    expected = f"Expected (event, value), or a list of such pairs, as {name}"
    if not isinstance(pairs, (list, tuple)):
        raise mistake("submit", f"{expected}, got {_kind(given)}{_FEEDS}", TypeError)
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], Event):
            raise mistake("submit", f"{expected}, got {_kind(pair)}", TypeError)
    return [(event, _value("submit", value)) for event, value in pairs]


def _kind(value) -> str:
    return (
        "None"
        if value is None
        else f"{'an' if type(value).__name__[0] in 'aeiouAEIOU' else 'a'} {type(value).__name__}"
    )
