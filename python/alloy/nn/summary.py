"""The table of a model's layers, with the shapes of their results and their numbers of parameters."""

from alloy.engine.dtypes import bytes_of, elements, is_integer
from alloy.messages.location import mistake
from alloy.messages.text import amount, shape_text, table


def summary(model) -> str:
    """Returns the table of layers that compute by themselves or have variables, in the order of the model, each once,
    with the shape of the last call's result. ValueError: the model has not been called."""
    if model.graph is None:
        raise mistake(
            model,
            "Expected a model that has been called, or input_shape, the shape of an example without the batch, "
            "for instance summary(input_shape=(28, 28, 1)): the first call finds the shapes",
        )
    rows = [("layer", "kind", "output", "parameters", "trainable")]
    for layer in dict.fromkeys(model._tree()):
        own = counted(layer._own())
        if own or not layer._inner():
            path = layer._path or layer.name or type(layer).__name__.lower()
            rows.append(
                (path, type(layer).__name__, _shapes(layer._last), f"{elements(own):,}" if own else "", _trained(own))
            )
    variables = counted(model.variables)
    trainable = [variable for variable in variables if variable.trainable]
    lines = table(rows, numbers=(3,), indent=0)
    rule = "-" * max(map(len, lines))
    total = (
        f"{elements(variables):,} parameters, {amount(bytes_of(variables), 'B')}: {elements(trainable):,} trainable, "
        f"{elements(variables) - elements(trainable):,} not"
    )
    return "\n".join([lines[0], rule, *lines[1:], rule, total])


def counted(variables) -> list:
    """Returns the variables without random states, which are integers."""
    return [variable for variable in variables if not is_integer(variable.dtype)]


def _trained(variables) -> str:
    trainable = {variable.trainable for variable in variables}
    return {frozenset(): "", frozenset([True]): "yes", frozenset([False]): "no"}.get(frozenset(trainable), "partly")


def _shapes(call) -> str:
    return "not called" if call is None else ", ".join(shape_text(tensor.shape) for tensor in call.results)


def inputs(graph, shape, dtype):
    """Makes a placeholder (batch, *shape); a list or dict of shapes gives a list or dict."""
    if isinstance(shape, dict):
        return {key: inputs(graph, inner, dtype) for key, inner in shape.items()}
    if not isinstance(shape, (tuple, list)):
        expected = "input_shape as a tuple such as (28, 28, 1), or a list or dict of tuples"
        raise mistake("summary", f"Expected {expected}, got {shape!r}", TypeError)
    if any(isinstance(inner, (tuple, list, dict)) for inner in shape):
        return [inputs(graph, inner, dtype) for inner in shape]
    return graph.placeholder((None, *shape), dtype)
