"""Measures compile times by size: python benchmarks/compile_times.py [--output FILE.md]

Each graph is compiled three times; the table gives the median. Building the graph and its first run do
not count. Time per op should not grow with the number of ops."""

import argparse
import statistics
import time

import numpy as np

import alloy as al


def trained_chain(layers, shared=False):
    """Returns a step of repeated tanh(y @ w), with SGD; with one w for all layers it is an unrolled recurrence."""
    graph = al.Graph()
    x = y = graph.placeholder((4, 4))
    weights = [graph.variable(np.eye(4, dtype=np.float32)) for _ in range(1 if shared else layers)]
    for i in range(layers):
        y = al.tanh(y @ weights[0 if shared else i])
    loss = al.mean(al.square(y))
    return graph, [x], [loss], al.SGD(0.1).minimize(loss)


def unrolled(steps):
    return trained_chain(steps, shared=True)


def chain(ops):
    graph = al.Graph()
    x = y = graph.placeholder((64,))
    for _ in range(ops):
        y = al.tanh(y)
    return graph, [x], [y], []


def softmax_chain(ops):
    graph = al.Graph()
    x = y = graph.placeholder((8, 8))
    weights = graph.variable(np.ones(8, np.float32))
    for _ in range(ops // 2):
        y = al.softmax(y * weights, axis=-1)
    return graph, [x], [y], []


def wide(ops):
    graph = al.Graph()
    x = graph.placeholder((8, 8))
    total = x
    for i in range(ops // 3):
        total = total + al.tanh(x * float(i))
    return graph, [x], [total], []


def fetches(ops):
    graph = al.Graph()
    x = graph.placeholder((8,))
    return graph, [x], [x + float(i) for i in range(ops)], []


def placeholders(ops):
    graph = al.Graph()
    feeds = [graph.placeholder((4,)) for _ in range(ops)]
    total = feeds[0]
    for x in feeds[1:]:
        total = total + x
    return graph, feeds, [total], []


def variables_with_adam(count):
    graph = al.Graph()
    x = graph.placeholder((4,))
    loss = al.mean(x)
    for _ in range(count):
        loss = loss + al.sum(graph.variable(np.ones(4, np.float32)) * x)
    return graph, [x], [loss], al.Adam().minimize(loss)


def resnet50(batch):
    model = al.models.resnet50()
    x, y = model.graph.placeholder((batch, 32, 32, 3)), model.graph.placeholder((batch,), al.int32)
    loss = al.mean(al.losses.softmax_cross_entropy(model(x, training=True), y))
    return model.graph, [x, y], [loss], al.SGD(0.01).minimize(loss) + model.updates


CASES = [
    ("layers of tanh(y @ w), SGD", trained_chain, (125, 1000, 8000)),
    ("the same with one w (unrolled)", unrolled, (125, 1000, 8000)),
    ("tanh in a chain", chain, (1000, 10_000, 100_000)),
    ("softmax(y * w) in a chain, ops", softmax_chain, (1000, 10_000, 100_000)),
    ("tanh(x * c) side by side, ops", wide, (1000, 10_000, 100_000)),
    ("fetches", fetches, (300, 3000, 30_000)),
    ("placeholders", placeholders, (300, 3000, 30_000)),
    ("variables with Adam", variables_with_adam, (100, 1000, 10_000)),
    ("ResNet-50 with SGD, batch", resnet50, (16, 64, 256)),
]


def seconds(make, size):
    times = []
    for _ in range(3):
        graph, feeds, found, updates = make(size)
        step = graph.compile(feeds, found, updates)
        begin = time.perf_counter()
        step.memory_plan()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", help="a Markdown file for the table")
    output = parser.parse_args().output
    lines = ["| graph | size: seconds | | |", "|---|---|---|---|"]
    for name, make, sizes in CASES:
        lines.append(f"| {name} | " + " | ".join(f"{size:,}: {seconds(make, size):.2f}" for size in sizes) + " |")
        print(lines[-1], flush=True)
    if output:
        with open(output, "w") as file:
            file.write(
                "# Compile times\n\nBy `benchmarks/compile_times.py`: the median of three compilations, each of a new "
                "graph.\n\n"
            )
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
