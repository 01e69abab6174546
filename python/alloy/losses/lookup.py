"""Losses and metrics by their names, and what other libraries call them."""

from alloy.graph.location import meant, mistake

FOREIGN_LOSSES = {
    "bce": "binary_cross_entropy",
    "bce_loss": "binary_cross_entropy",
    "bce_with_logits": "binary_cross_entropy",
    "bceloss": "binary_cross_entropy",
    "bcewithlogitsloss": "binary_cross_entropy",
    "binary_cross_entropy_with_logits": "binary_cross_entropy",
    "binary_crossentropy": "binary_cross_entropy",
    "categorical_cross_entropy": "softmax_cross_entropy",
    "categorical_crossentropy": "softmax_cross_entropy",
    "ce": "softmax_cross_entropy",
    "cosine": "cosine_similarity",
    "cosine_embedding_loss": "cosine_similarity",
    "cosine_loss": "cosine_similarity",
    "cross_entropy": "softmax_cross_entropy",
    "cross_entropy_loss": "softmax_cross_entropy",
    "crossentropy": "softmax_cross_entropy",
    "crossentropyloss": "softmax_cross_entropy",
    "hinge_loss": "hinge",
    "huber_loss": "huber",
    "huberloss": "huber",
    "kl": "kl_divergence",
    "kl_div": "kl_divergence",
    "kldivloss": "kl_divergence",
    "kld": "kl_divergence",
    "kullback_leibler_divergence": "kl_divergence",
    "l1": "mean_absolute_error",
    "l1_loss": "mean_absolute_error",
    "l1loss": "mean_absolute_error",
    "l2": "mean_squared_error",
    "l2_loss": "mean_squared_error",
    "log_loss": "binary_cross_entropy",
    "logloss": "binary_cross_entropy",
    "mae": "mean_absolute_error",
    "mean_absolute": "mean_absolute_error",
    "mean_square_error": "mean_squared_error",
    "mse": "mean_squared_error",
    "mse_loss": "mean_squared_error",
    "mseloss": "mean_squared_error",
    "multi_margin_loss": "categorical_hinge",
    "nll": "softmax_cross_entropy",
    "nll_loss": "softmax_cross_entropy",
    "nllloss": "softmax_cross_entropy",
    "sigmoid_cross_entropy": "binary_cross_entropy",
    "smooth_l1": "huber",
    "smooth_l1_loss": "huber",
    "smoothl1loss": "huber",
    "softmax_crossentropy": "softmax_cross_entropy",
    "sparse_categorical_cross_entropy": "softmax_cross_entropy",
    "sparse_categorical_crossentropy": "softmax_cross_entropy",
    "squared_error": "mean_squared_error",
}


def hint(name: str, known, foreign) -> str:
    """ "; its name here is NAME", or the nearest of the known names, or nothing."""
    plain = name.lower().replace("-", "_").replace(" ", "_")
    here = foreign.get(plain) or (plain if plain in known else None)
    return f"; its name here is {here}" if here else meant(plain, known)


def by_name(module: str, name: str, known: dict, foreign: dict, op: str):
    """What the name stands for. ValueError with all names: for nothing."""
    if name not in known:
        near = hint(name, known, foreign)
        raise mistake(op, f"Expected a function or a name of al.{module} ({', '.join(known)}), got {name!r}{near}")
    return known[name]


def require_function(module: str, given, op: str) -> None:
    """TypeError: it is no function, or a class."""
    if isinstance(given, type) or not callable(given):
        what = f"the class {given.__name__}, without parentheses" if isinstance(given, type) else repr(given)
        raise mistake(op, f"Expected a function or a name of al.{module}, got {what}", TypeError)


def name_of(function) -> str:
    """What a function is called, one of functools.partial and an object of a class, too."""
    function = unwrapped(function)
    return getattr(function, "__name__", type(function).__name__)


def unwrapped(function):
    """The function within functools.partial."""
    while hasattr(function, "func"):
        function = function.func
    return function


def missing(module: str, name: str, known, foreign) -> AttributeError:
    return AttributeError(f"module 'alloy.{module}' has no attribute {name!r}{hint(name, known, foreign)}")
