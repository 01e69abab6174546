"""Stands for the variables of a layer in a copy that belongs to no graph yet."""

import weakref

from alloy._core import Graph, Variable


class StoredVariable:
    """A variable without its graph: the end of its name, its value, and whether optimizers change it."""

    def __init__(self, part: str, value, trainable: bool):
        self.part, self.value, self.trainable = part, value, trainable
        self.made: Variable | None = None  # several layers may share it

    def __getstate__(self):
        return vars(self) | {"made": None}

    def variable(self, graph: Graph) -> Variable:
        """Returns the variable of the graph, made when first asked for."""
        if self.made is None:
            self.made = graph.variable(self.value, self.part, self.trainable)
        return self.made


# Set during a copy, so that layers which share a variable share it in the copy, too.
_PRESENT: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


def stored(layers) -> dict[Variable, StoredVariable]:
    """Returns a StoredVariable for each variable of the layers, called in one graph, with values of one moment."""
    found, new = {}, {}
    for layer in layers:
        for variable in layer._own():
            found[variable] = _PRESENT.get(variable)
            if found[variable] is None:
                new[variable] = variable.name.removeprefix(f"{layer._path}/" if layer._path else "")
    if new:
        for (variable, part), value in zip(new.items(), next(iter(new)).graph.read_variables(list(new))):
            found[variable] = _PRESENT[variable] = StoredVariable(part, value, variable.trainable)
    return found


def replaced(value, kind: type, by):
    """Replaces each item of that kind by by(item), in lists, tuples and dicts, too. Without any it returns the value
    itself."""
    if isinstance(value, kind):
        return by(value)
    if type(value) in (list, tuple):
        items = [replaced(item, kind, by) for item in value]
        return type(value)(items) if any(a is not b for a, b in zip(items, value)) else value
    if type(value) is dict:
        items = {key: replaced(item, kind, by) for key, item in value.items()}
        return items if any(items[key] is not value[key] for key in value) else value
    return value
