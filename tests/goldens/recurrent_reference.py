"""PyTorch's recurrent layers: their results and gradients, which tests/python/nn/test_recurrent.py holds al.nn against.

    python tests/goldens/recurrent_reference.py     writes recurrent.json, with PyTorch, which no test needs

The loss is the sum of the results times fixed numbers. Parameters are in PyTorch's order and form."""

import json
import pathlib

import numpy as np

GOLDEN = pathlib.Path(__file__).with_name("recurrent.json")
BATCH, STEPS, FEATURES, UNITS = 3, 5, 4, 6
LENGTHS = [5, 2, 4]  # descending order is not needed
CASES = {
    f"{kind} {label}": (kind, options)
    for kind in ("RNN", "LSTM", "GRU")
    for label, options in {
        "forward": {"layers": 1, "bidirectional": False, "masked": False},
        "both": {"layers": 2, "bidirectional": True, "masked": False},
        "masked": {"layers": 2, "bidirectional": True, "masked": True},
    }.items()
}
GATES = {"RNN": 1, "LSTM": 4, "GRU": 3}


def values(kind, layers, bidirectional, masked):
    """The input, the parameters and the numbers that the results are multiplied with."""
    random = np.random.RandomState(GATES[kind] + 10 * layers)
    directions = 2 if bidirectional else 1

    def numbers(*shape):
        return random.uniform(-1, 1, shape).astype(np.float32)

    x, parameters, features = numbers(BATCH, STEPS, FEATURES), [], FEATURES
    for _ in range(layers):
        for _ in range(directions):
            wide = GATES[kind] * UNITS
            parameters += [numbers(wide, features), numbers(wide, UNITS) * 0.5, numbers(wide), numbers(wide)]
        features = directions * UNITS
    return x, parameters, numbers(BATCH, STEPS, directions * UNITS)


def golden(kind, options):
    import torch

    x, parameters, factors = values(kind, **options)
    layer = getattr(torch.nn, kind)(
        FEATURES, UNITS, options["layers"], bidirectional=options["bidirectional"], batch_first=True
    )
    with torch.no_grad():
        for parameter, value in zip(layer.parameters(), parameters, strict=True):
            parameter.copy_(torch.from_numpy(value))
    source = torch.from_numpy(x).requires_grad_()
    if options["masked"]:
        rnn = torch.nn.utils.rnn
        packed = rnn.pack_padded_sequence(source, torch.tensor(LENGTHS), batch_first=True, enforce_sorted=False)
        result = rnn.pad_packed_sequence(layer(packed)[0], batch_first=True, total_length=STEPS)[0]
    else:
        result = layer(source)[0]
    (result * torch.from_numpy(factors)).sum().backward()
    arrays = [result, source.grad, *(parameter.grad for parameter in layer.parameters())]
    return [[float(f"{number:.7g}") for number in array.detach().numpy().ravel()] for array in arrays]


if __name__ == "__main__":
    made = {name: golden(kind, options) for name, (kind, options) in CASES.items()}
    GOLDEN.write_text(json.dumps(made, indent=0).replace(",\n", ", ") + "\n")
