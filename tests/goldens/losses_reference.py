"""PyTorch's losses: their means and gradients, which tests/python/nn/test_losses.py holds al.losses against.

    python tests/goldens/losses_reference.py     writes losses.npz, with PyTorch, which no test needs

A case is a loss of al.losses, what its targets are, and its options by their names here. Inputs are float32, PyTorch
computes in float64."""

import itertools
import pathlib

import numpy as np

GOLDEN = pathlib.Path(__file__).with_name("losses.npz")
SHAPE = (2, 3, 5)  # sequences of 3 steps, 5 classes
WEIGHTS, POSITIVE = (0.5, 2.0, 0.25, 1.0, 3.0), (1.5, 0.25, 4.0, 1.0, 0.0)
SOFTMAX = [
    ("softmax_cross_entropy", targets, {name: value for name, value in options.items() if value is not None})
    for targets in ("classes", "distributions")
    for options in (
        dict(zip(("label_smoothing", "class_weights", "ignore_index"), values))
        for values in itertools.product((None, 0.1, 1.0), (None, WEIGHTS), (None, 2, -100))
    )
    if targets == "classes" or options["ignore_index"] is None
]
BINARY = [
    ("binary_cross_entropy", "probabilities", {name: value for name, value in options.items() if value is not None})
    for options in (
        dict(zip(("label_smoothing", "class_weights", "pos_weight"), values))
        for values in itertools.product((None, 0.2), (None, WEIGHTS), (None, POSITIVE, 2.5))
    )
]
CASES = {
    " ".join((loss, targets, *(f"{name}={value}" for name, value in options.items()))): (loss, targets, options)
    for loss, targets, options in [
        *SOFTMAX,
        *BINARY,
        ("softmax_cross_entropy", "classes", {"class_weights": (1.0, 0.0, 2.0, 1.0, 0.5)}),
        ("mean_squared_error", "numbers", {}),
        ("mean_absolute_error", "numbers", {}),
        ("huber", "numbers", {}),
        ("huber", "numbers", {"delta": 0.25}),
        ("huber", "numbers", {"delta": 3.0}),
        ("kl_divergence", "distributions", {}),
        ("kl_divergence", "certain", {}),
        ("cosine_similarity", "numbers", {}),
    ]
}


def inputs(targets, options):
    """(predictions, targets)"""
    random = np.random.RandomState(len(targets))
    predictions = random.normal(0, 2, SHAPE).astype(np.float32)
    if targets == "classes":
        classes = random.randint(0, SHAPE[-1], SHAPE[:-1]).astype(np.int32)
        classes[0, 1] = classes[1, 2] = options.get("ignore_index", 0)
        return predictions, classes
    if targets == "certain":
        return predictions, np.eye(SHAPE[-1], dtype=np.float32)[random.randint(0, SHAPE[-1], SHAPE[:-1])]
    if targets == "distributions":
        shares = random.uniform(0, 1, SHAPE)
        return predictions, (shares / shares.sum(-1, keepdims=True)).astype(np.float32)
    if targets == "probabilities":
        return predictions, np.round(random.uniform(0, 1, SHAPE) * 4).astype(np.float32) / 4
    return predictions, random.normal(0, 2, SHAPE).astype(np.float32)


def mean_of(loss, x, y, options):
    """PyTorch's loss of x (n, classes)."""
    import torch
    import torch.nn.functional as f

    wide = {
        name: torch.tensor(value, dtype=torch.float64) if name in ("class_weights", "pos_weight") else value
        for name, value in options.items()
    }
    weight, smoothing = wide.get("class_weights"), wide.get("label_smoothing", 0.0)
    if loss == "softmax_cross_entropy":
        ignored = wide.get("ignore_index", -1000)
        return f.cross_entropy(x, y, weight, ignore_index=ignored, label_smoothing=smoothing)
    if loss == "binary_cross_entropy":
        y = y * (1 - smoothing) + smoothing / 2
        return f.binary_cross_entropy_with_logits(x, y, weight, pos_weight=wide.get("pos_weight"))
    if loss == "kl_divergence":
        return f.kl_div(f.log_softmax(x, -1), y, reduction="batchmean")
    if loss == "cosine_similarity":
        return -f.cosine_similarity(x, y, -1).mean()
    if loss == "huber":
        return f.huber_loss(x, y, delta=wide.get("delta", 1.0))
    return {"mean_squared_error": f.mse_loss, "mean_absolute_error": f.l1_loss}[loss](x, y)


def main():
    import torch

    found = {}
    for case, (loss, targets, options) in CASES.items():
        predictions, y = inputs(targets, options)
        x = torch.tensor(predictions.astype(np.float64).reshape(-1, SHAPE[-1]), requires_grad=True)
        y = torch.tensor(y.reshape(-1).astype(np.int64) if y.dtype == np.int32 else y.astype(float).reshape(x.shape))
        mean = mean_of(loss, x, y, options)
        mean.backward()
        found[case] = np.concatenate([[mean.item()], x.grad.numpy().ravel()]).astype(np.float32)
    np.savez_compressed(GOLDEN, cases=list(found), values=np.stack(list(found.values())))


if __name__ == "__main__":
    main()
