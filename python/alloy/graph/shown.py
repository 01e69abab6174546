"""The texts of a graph and its parts at the prompt and in messages."""

from alloy._core import Event, Executable, Graph, Op, Pending, Queue, Submission, Tensor, Update
from alloy.measuring import inspection
from alloy.messages.text import describe, shape_text

_MOST = 8  # updates shown of an executable


def _named(tensor):
    return f"{tensor.name or '(no name)'} {describe(tensor)}"


def _listed(tensors):
    more = f" and {len(tensors) - _MOST} more" if len(tensors) > _MOST else ""
    return (", ".join(_named(tensor) for tensor in tensors[:_MOST]) or "nothing") + more


def _tensor(x):
    name = f" {x.name!r}" if x.name else ""
    return f"<{type(x).__name__}{name} {describe(x)}>"


def _graph(graph):
    try:
        ops = graph.inspect()
    except TypeError:
        return "<Graph whose __init__ was not called>"
    count = sum(op.kind == "placeholder" for op in ops)
    elements = inspection.elements([variable for variable in graph.variables if variable.trainable])
    return (
        f"<Graph of {len(ops)} ops: {count} placeholders, {len(graph.variables)} variables with {elements:,} "
        "parameters>"
    )


def _executable(step):
    changed = [update.variable for update in step.updates]
    updates = f", updates {_listed(changed)}" if changed else ""
    return f"<Executable of {_listed(step.feeds)}; gives {_listed(step.fetches)}{updates}>"


def _submission(submission):
    return f"<Submission of {len(submission)} fetches, {'done' if submission.done else 'in flight'}>"


def _pending(pending):
    return f"<Pending {pending.dtype}{shape_text(pending.shape)}>"


def _queue(queue):
    return f"<Queue of {queue.device}>"


def _event(event):
    return f"<Event at {event.value}>"


def _update(update):
    return f"<Update of {update.variable!r} to {update.value!r}>"


def _op(op):
    name = f" {op.name!r}" if op.name else ""
    types = ", ".join(f"{result.dtype}{shape_text(shape)}" for result, shape in zip(op.results, op.shapes))
    return f"<Op {op.kind}{name} {types}>"


for _class, _show in {
    Event: _event,
    Executable: _executable,
    Graph: _graph,
    Op: _op,
    Pending: _pending,
    Queue: _queue,
    Submission: _submission,
    Tensor: _tensor,
    Update: _update,
}.items():
    _class.__repr__ = _show
