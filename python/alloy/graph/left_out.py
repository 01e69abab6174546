"""Updates that a training step leaves out: moving averages and random states, which layers make and the user passes to
compile."""

from typing import Any
from weakref import WeakSet

from alloy.messages.location import warn_user


def training_calls(graph) -> "WeakSet[Any]":
    """Returns the outermost layers that were called in the graph with training=True."""
    return vars(graph).setdefault("_training_calls", WeakSet())


def warn_of_left_out(graph, fetches, updates) -> None:
    """Warns the user if a step trains a model and leaves out some of model.updates."""
    moved = {update.variable for update in updates}
    for model in training_calls(graph) if moved else ():
        missing = [update.variable.name for update in model.updates if update.variable not in moved]
        if not missing or not any(variable in moved for variable in model.variables if variable.trainable):
            continue
        computed = {result for op in graph.inspect(fetches=fetches, updates=updates) for result in op.results}
        if any(tensor in computed for tensor in model._trained.results):
            shown = ", ".join(missing[:3]) + ", ..." * (len(missing) > 3)
            warn_user(
                f"[compile] The step trains a {type(model).__name__} and leaves {shown} as it is; add *model.updates "
                "to the updates"
            )
