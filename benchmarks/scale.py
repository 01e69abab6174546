"""Fits the model of docs/scale.md to the rows of benchmarks/distributed.py, and prints as Markdown what it predicts:

    python benchmarks/distributed.py --processes 1,2,4 --threads 4 --rate 1gbit --json rows.json
    python benchmarks/scale.py rows.json

Rows of one rate are a link, and rows without hosts are the link within a host. Each link has its own parameters."""

import argparse
import json
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

PREDICTED = [2**i for i in range(3, 11)]  # numbers of processes
WORTH = 0.5  # of an efficiency
MOST = 2**20  # processes that are tried


class Link(NamedTuple):
    latency: float  # seconds of a message without bytes
    inverse: float  # seconds of a byte
    hidden: float  # part of the computing time in which an exchange costs nothing


def ring(count, size, latency, inverse):
    """Returns the seconds in which so many processes add up so many bytes in a ring."""
    return 2 * (count - 1) * latency + 2 * (count - 1) / count * size * inverse


def tree(count, size, latency, inverse):
    """Returns the seconds in which processes add up bytes towards a root of a tree, and copy the sums back."""
    return 2 * math.ceil(math.log2(count)) * (latency + size * inverse)


def step(count, computing, spread, exchange, hidden):
    """Returns the seconds of a step, of which `exchange` are the sums."""
    return computing * (1 + spread * math.sqrt(2 * math.log(count))) + max(0.0, exchange - hidden * computing)


def fitted(rows) -> Link:
    """Returns the parameters with the least squares of relative errors, none of them negative."""
    # Columns: what multiplies the latency and the inverse of the bandwidth, in parts of the measured time.
    unit = [ring(row["processes"], row["gradients"], 1, 0) / row["exchange"] for row in rows]
    bulk = [ring(row["processes"], row["gradients"], 0, 1) / row["exchange"] for row in rows]
    columns = np.array([unit, bulk]).T
    kept = [0, 1] if len(rows) > 1 else [1]
    while True:
        found = np.linalg.lstsq(columns[:, kept], np.ones(len(rows)), rcond=None)[0]
        if len(kept) == 1 or np.all(found >= 0):
            break
        kept = [1 - kept[int(np.argmin(found))]]
    latency, inverse = (float(found[kept.index(i)]) if i in kept else 0.0 for i in (0, 1))
    links = [Link(latency, inverse, hidden) for hidden in np.linspace(0, 1, 101).tolist()]
    return min(links, key=lambda link: sum(error(row, link) ** 2 for row in rows))


def expected(row, link: Link) -> float:
    """Returns the model's seconds of a measured step; the processes compute as long as apart."""
    exchange = ring(row["processes"], row["gradients"], link.latency, link.inverse)
    return step(row["processes"], row["apart"], row["spread"], exchange, link.hidden)


def error(row, link: Link) -> float:
    return expected(row, link) / row["step"] - 1


def left_out(rows) -> list[float]:
    """Returns each row's error where the model is fitted to all other rows."""
    return [error(row, fitted(rows[:i] + rows[i + 1 :])) for i, row in enumerate(rows)]


def efficiencies(row, link: Link, within: Link | None, share: int):
    """Returns functions of the number of processes: the efficiency with a ring, with a tree, and with `share` processes
    on each host, which add up in its memory first. row: of one process. within: the link of these; None: not known."""

    def efficiency(exchange):
        return lambda count: (
            row["step"] / step(count, row["step"], row["spread"], exchange(count, row["gradients"]), link.hidden)
        )

    def of_hosts(count, size):
        inside = ring(min(share, count), size, within.latency, within.inverse)
        return inside + ring(math.ceil(count / share), size, link.latency, link.inverse)

    found = [efficiency(lambda count, size, of=of: of(count, size, link.latency, link.inverse)) for of in (ring, tree)]
    return [*found, efficiency(of_hosts)] if within else found


def first_below(efficiency) -> int | None:
    """Returns the least number of processes that are not worth it; None: more than are tried."""
    high = 2
    while efficiency(high) >= WORTH:
        high *= 2
        if high > MOST:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if efficiency(middle) >= WORTH else (low, middle)
    return high


def table(head, rows) -> str:
    return "\n".join("| " + " | ".join(map(str, cells)) + " |" for cells in (head, ["---"] * len(head), *rows))


def report(rows) -> str:
    """Returns the parameters of each link, their errors, and what they predict, as tables."""
    links = {}
    for row in rows:
        rate = f", {row['rate'] * 8 / 1e9:g} Gbit/s" if row["rate"] else ""
        links.setdefault(f"hosts{rate}" if row["hosts"] else "one host", []).append(row)
    several = {name: [row for row in some if row["processes"] > 1] for name, some in links.items()}
    fits = {name: fitted(some) for name, some in several.items() if some}
    parameters, errors, predictions = [], [], []
    share = max((row["processes"] for row in several.get("one host", ())), default=1)
    for name, link in fits.items():
        bandwidth = f"{1e-6 / link.inverse:.0f}" if link.inverse else "-"
        parameters.append([name, f"{1e6 * link.latency:.0f}", bandwidth, f"{link.hidden:.2f}", len(several[name])])
        outside = left_out(several[name]) if len(several[name]) > 1 else [math.nan] * len(several[name])
        for row, without in zip(several[name], outside):
            times = [f"{1e3 * seconds:.2f}" for seconds in (row["step"], expected(row, link))]
            shown = "-" if math.isnan(without) else f"{without:+.0%}"
            errors.append([name, row["workload"], row["processes"], *times, f"{error(row, link):+.0%}", shown])
        within = fits.get("one host") if name != "one host" else None
        for alone in (row for row in links[name] if row["processes"] == 1):
            kinds = ("ring", "tree", f"{share} on each host")
            for kind, efficiency in zip(kinds, efficiencies(alone, link, within, share)):
                cells = [f"{efficiency(count):.0%}" for count in PREDICTED]
                predictions.append([name, alone["workload"], kind, *cells, first_below(efficiency) or f"> {MOST}"])
    return "\n\n".join(
        [
            table(["link", "latency, µs", "bandwidth, MB/s", "hidden part f", "rows"], parameters),
            table(["link", "workload", "processes", "ms", "model's ms", "error", "error if left out"], errors),
            table(["link", "workload", "sums by", *PREDICTED, f"below {WORTH:.0%} from"], predictions),
        ]
    )


def main():
    parser = argparse.ArgumentParser(description="Fits a model of a step's time to measured rows.")
    parser.add_argument("rows", type=Path, nargs="+", help="files that distributed.py --json has written")
    print(report([row for path in parser.parse_args().rows for row in json.loads(path.read_text())]))


if __name__ == "__main__":
    main()
