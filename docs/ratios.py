"""The table of the front page: how much faster Alloy is than its peers, from the benchmark with the most measurements
(of several with as many, the newest), as benchmarks/report.py reads it. Made while the site is built."""

import importlib.util
import json
import pathlib
import statistics

BENCHMARKS = pathlib.Path(__file__).parents[1] / "benchmarks"
MARK = "<!-- the table of ratios -->"
SHOWN = "resnet50_b64 cnn_digits cnn_images mlp_small mlp_medium mlp_large lstm gru transformer gpt_block".split()
PEERS = {"PyTorch": ("PyTorch eager", "PyTorch compile"), "JAX": ("JAX jit",), "MLX": ("MLX",)}
PEERS |= {"TensorFlow": ("TensorFlow",)}


def results():
    found = [json.loads(path.read_text()) for path in BENCHMARKS.glob("results/*/results.json")]
    return max(found, key=lambda each: (len(each["rows"]), each["date"].split()[-1]))


def seconds(row, columns):
    """The median of the fastest of the columns; None if none was measured."""
    there = [statistics.median(row["columns"][column]["seconds"]) for column in columns if column in row["columns"]]
    return min(there, default=None)


def ratios(row):
    """How many times faster Alloy is than each peer that was measured."""
    alloy = seconds(row, ["Alloy"])
    measured = {peer: seconds(row, columns) for peer, columns in PEERS.items()}
    return {peer: each / alloy for peer, each in measured.items() if each is not None}


def shown(ratio):
    """The ratio with two decimals; in bold, and not rounded up to 1, where Alloy is slower."""
    return f"{ratio:.2f}" if ratio >= 1 else f"**{ratio:.2f}**" if ratio < 0.995 else f"**{ratio:.4f}**"


def text(report):
    """The table in Markdown, with what it is of. report: benchmarks/report.py"""
    measured = results()
    rows = [row for row in measured["rows"] if "Alloy" in row["columns"] and ratios(row)]
    slower = [row for row in rows if min(ratios(row).values()) < 1]
    training = [row for row in rows if row["workload"] in SHOWN and not row["beside_busy"] and row not in slower]
    peers = [peer for peer in PEERS if any(peer in ratios(row) for row in rows)]

    def cells(row):
        found = ratios(row)
        there = [shown(found[peer]) if peer in found else "-" for peer in peers]
        return [row["title"], report.duration(seconds(row, ["Alloy"])), *there]

    head = ["", "Alloy", *peers]
    versions = ", ".join(f"{name} {measured['versions'][name]}" for name in head[1:])
    missing = "".join(f" {peer} was not measured." for peer in PEERS if peer not in peers)
    parts = [
        f"One training step, on {report.processor(measured)}: Alloy's time, and each peer's time divided by it. Above "
        "1, Alloy is faster. PyTorch is the faster of eager and compiled.",
        report.table(head, map(cells, training)),
        f"Of all {len(rows)} measurements, with inference and beside a busy process, a peer is faster in {len(slower)}"
        + (":" if slower else "."),
        report.table(head, map(cells, slower)) if slower else "",
        f"Measured on {measured['date']}: {versions}.{missing} `benchmarks/results` has the method, and the results of "
        "other processors.",
    ]
    return "\n\n".join(parts)


def on_page_markdown(markdown, page, **_):
    if MARK not in markdown:
        return markdown
    spec = importlib.util.spec_from_file_location("report", BENCHMARKS / "report.py")
    report = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(report)
    return markdown.replace(MARK, text(report))
