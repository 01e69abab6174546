"""Queues and events: the order of steps of different graphs, and of the host."""

from alloy import _core
from alloy.engine.arrays import as_count, as_number, require_all
from alloy.engine.classes import Part, completes
from alloy.messages.location import mistake

# The engine's own methods, without checks.
_begin_queue, _begin_event = _core.Queue.__init__, _core.Event.__init__
_FEEDS = "; a placeholder of that name is fed by position or in a dict"


@completes
class Queue(Part, _core.Queue):
    """Runs steps in the order in which they were submitted; queues run side by side.

        queue = al.Queue()
        result = step.submit(x, queue=queue)

    Without queue= a step runs on its graph's own queue. Steps of one graph keep their order on any queues
    (Executable.submit).

    device: one of al.devices(), as for a graph; "" is the first. ValueError: there is none."""

    def __init__(self, *, device: str = "") -> None:
        require_all("queue", "the kind or the name of a device", str, [device])
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
        seconds = None if timeout is None else min(as_number("wait", "a timeout", timeout, "of 0 or more"), 1e9)
        return self._wait(_value("wait", value), seconds)

    def __repr__(self):
        return f"<Event at {self.value}>"


def _value(op, value):
    return as_count(op, "the value of an event", value, least=0, most=2**64 - 1)


def as_queue(given) -> Queue | None:
    """Returns the argument queue of submit. TypeError: it is neither a queue nor None."""
    if given is not None and not isinstance(given, Queue):
        raise mistake("submit", f"Expected an al.Queue as queue, got {type(given).__name__}{_FEEDS}", TypeError)
    return given


def moments(name: str, given) -> list[tuple[Event, int]]:
    """Returns the pairs of events and values in an argument of submit."""
    pairs = [given] if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], Event) else given
    expected = f"Expected (event, value), or a list of such pairs, as {name}"
    if not isinstance(pairs, (list, tuple)):
        raise mistake("submit", f"{expected}, got {type(given).__name__}{_FEEDS}", TypeError)
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], Event):
            raise mistake("submit", f"{expected}, got {type(pair).__name__}", TypeError)
    return [(event, _value("submit", value)) for event, value in pairs]
