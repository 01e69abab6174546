"""Writes the results of run.py: a folder for each processor and number of threads, and for each GPU, with RESULTS.md,
results.png and results.json; and RESULTS.md beside the folders, which compares them.

python benchmarks/report.py benchmarks/results    writes all these reports again"""

import json
import re
import statistics
import sys
import textwrap
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
from matplotlib.lines import Line2D

ALLOY = "Alloy"
# Okabe and Ito's colours, which colour-blind people can distinguish, and a shape for each.
MARKS = {
    "PyTorch eager": ("#D55E00", "o"),
    "PyTorch graph": ("#F0E442", "P"),
    "PyTorch compile": ("#E69F00", "s"),
    "JAX jit": ("#0072B2", "^"),
    "MLX": ("#CC79A7", "D"),
    "TensorFlow": ("#009E73", "v"),
}


def median(row, column):
    return statistics.median(row["columns"][column]["seconds"])


def peers(row):
    return [column for column in row["columns"] if column != ALLOY]


def fastest_peer(row):
    return min(peers(row), key=lambda column: median(row, column), default=None)


def ratio(row, column):
    """Returns how many times faster Alloy is; None if one of the two was not measured."""
    if ALLOY not in row["columns"] or column not in row["columns"]:
        return None
    return median(row, column) / median(row, ALLOY)


def duration(seconds):
    unit, scale = next((pair for pair in (("s", 1), ("ms", 1e3)) if seconds * pair[1] >= 0.9995), ("us", 1e6))
    return f"{seconds * scale:.3g} {unit}" if seconds * scale < 999.5 else f"{seconds * scale:.0f} {unit}"


def line(row):
    """Returns a row for the terminal."""
    parts = [f"{column} {duration(median(row, column))}" for column in row["columns"]]
    parts += [f"{column} failed ({reason})" for column, reason in row["failed"].items() if column not in row["columns"]]
    return f"{row['title']}: " + ", ".join(parts)


def table(head, rows):
    rows = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows) + "\n"


def times(rows, columns):
    def cell(row, column):
        if column not in row["columns"]:
            return "failed" if column in row["failed"] else "-"
        seconds = row["columns"][column]["seconds"]
        if len(seconds) == 1:
            return duration(seconds[0]) + " (three steps)"
        low, middle, high = statistics.quantiles(seconds, n=4, method="inclusive")
        return f"{duration(middle)} ({100 * (low / middle - 1):+.0f} {100 * (high / middle - 1):+.0f} %)"

    def faster(row):
        peer = fastest_peer(row)
        return "-" if ratio(row, peer) is None else f"**{ratio(row, peer):.2f}** ({peer})"

    return table(
        ["", *columns, "Alloy against the fastest peer"],
        [[row["title"], *(cell(row, column) for column in columns), faster(row)] for row in rows],
    )


def goal(name, measured, asked, aim="", at_most=False, show="{:.2f}"):
    reached = measured <= asked if at_most else measured >= asked
    return [
        name,
        ("at most " if at_most else "") + show.format(asked),
        show.format(aim) if aim else "",
        f"**{show.format(measured)}**",
        "yes" if reached else "**no**",
    ]


def goals(results):
    """Returns (goal, asked, aim, measured, reached) for each measurement that has a goal; those of a GPU have none."""
    found = []
    if is_of_gpu(results):
        return found
    quiet = {row["workload"]: row for row in results["rows"] if not row["beside_busy"]}
    for row in results["rows"]:
        found += speed_goals(row, quiet[row["workload"]])
        if row["workload"] == "resnet50_b64":
            found += goals_alone(row["title"], row.get("alone", {}))
    if "alloy" in results["imports"]:
        seconds = statistics.median(results["imports"]["alloy"])
        found.append(goal("`import alloy`", seconds, 0.2, at_most=True, show="{:.2f} s"))
    if steps := results["digits_steps"]:
        above = statistics.median(python - native for python, native in zip(steps["python"], steps["native"]))
        name = "CNN on 8x8x1, b32, Adam: from Python above the native binary, taking turns"
        found.append(goal(name, 1e6 * above, 10, at_most=True, show="{:.0f} us"))
    return found


def speed_goals(row, quiet):
    """Returns the goals of a row beside its peers, and of a row on busy cores beside the same row on quiet ones."""
    found, target, peer = [], row["target"], fastest_peer(row)
    if target and ratio(row, peer):
        name = f"{row['title']}: times faster than the fastest peer ({peer})"
        found.append(goal(name, ratio(row, peer), target["at_least"], target["aim"]))
    if target and target["eager"] and ratio(row, "PyTorch eager"):
        name = f"{row['title']}: times faster than PyTorch eager"
        found.append(goal(name, ratio(row, "PyTorch eager"), target["eager"]))
    if row["beside_busy"] and ALLOY in row["columns"] and ALLOY in quiet["columns"]:
        name = f"{row['title']}: times Alloy's own quiet step"
        found.append(goal(name, median(row, ALLOY) / median(quiet, ALLOY), 2.2, 1.6, at_most=True))
    return found


def goals_alone(title, alone):
    """Returns the goals of processes that each run one framework and one workload."""
    found = []
    if {ALLOY, "PyTorch eager"} <= alone.keys():
        share = alone[ALLOY]["peak_bytes"] / alone["PyTorch eager"]["peak_bytes"]
        found.append(goal(f"{title}: share of PyTorch eager's peak memory", share, 0.6, at_most=True))
    if ALLOY in alone:
        seconds = alone[ALLOY]["first_step_seconds"]
        found.append(goal(f"{title}: compilation and first step", seconds, 3, at_most=True, show="{:.2f} s"))
    return found


WRITTEN = "Written by `benchmarks/report.py`; not edited by hand."
METHOD = """## How it is measured

* Each framework has one warm process. The processes take turns in blocks of about 0.1 s, round after round; each round
  begins with another process, and waiting processes sleep. During a turn, the sleeping workers used {idle:.1f} % of a
  core together, and all other programs {others:.1f} %; the load at the start was {load:.2f}.
* All frameworks start from the same weights, which NumPy makes from a seed, and get the same batches. Before the
  timing, the losses of the first step (to 1e-4; mixed: 1e-2) and after three more (to 1e-2; mixed: 5e-2) are compared
  between all frameworks. A framework that differs is listed above and not timed.
* Two sets of labels alternate, so that no network learns them by heart: vanishing gradients would become denormal
  numbers, which are slow.
* A step is the forward pass, the gradients of all parameters and the optimizer, with batch normalisation updating its
  averages."""
ON_CPU = """ The clock stops when the last step's loss is a NumPy number and the parameters are computed. Peers may run
  ahead within a block (JAX does); with "every loss read", and in inference, each result is waited for. The peers'
  batches are already tensors of their own. Alloy's are NumPy arrays: every step reads the images in place
  (`al.empty`), or copies them if that is faster because they are small, and copies the labels in and its loss out.
* All frameworks have the same number of threads. PyTorch, the only peer with OpenMP, runs with its default waiting and
  with passive waiting, eager and compiled, with images channels-first and channels-last, with plain and fused
  optimizers; TensorFlow with XLA, without, and without oneDNN; JAX with two forms of attention. The best variant is
  taken. Settings of the allocator were tried too and change nothing. Each peer's file under `benchmarks/workers` names
  the known ways to make it faster.
* "mixed": layers compute in bfloat16, and variables, statistics of norms and the loss stay float32 (PyTorch's autocast,
  Keras's mixed_bfloat16). MLX is left out, for its layers compute in the type of their variables.
* Otherwise all frameworks compute in float32, with their defaults. On processors with AMX, Alloy multiplies large
  matrices with AMX's tiles, with every float32 as the sum of three bfloat16s, which is as exact as float32 (README,
  "How exact it is"); the peers' ways to use these tiles round to bfloat16.
* MLX's package for Linux contains the reference BLAS, with one thread; it is measured unchanged.
"""
ON_GPU = """
* The clock stops when the last step's loss is a NumPy number; before that, steps may be under way
  together. With "every loss read", and in inference, each result is waited for before the next step. The peers' batches
  are tensors in the GPU's memory. Alloy tries three variants: calls with NumPy arrays, which every step copies to the
  GPU; the same steps submitted, so that the host runs ahead; and submitted steps whose images are in the GPU's memory
  already. The labels are NumPy arrays in all three.
* PyTorch is eager, with plain and fused optimizers; the same whole step as a CUDA graph; and compiled, also as a CUDA
  graph, with the fused optimizer or with the whole step compiled, and with max-autotune (not ResNet, which would be
  compiled for many minutes). Images are channels-first and channels-last, and cuDNN tries its algorithms
  (`cudnn.benchmark`). The graphs read their batches in place. JAX compiles the whole step (jit).
* Products are computed in float32 (PyTorch: `allow_tf32` is False; JAX: the precision "highest"), in workloads called
  TF32 with operands in TF32, and compared like those in bfloat16.
"""


def markdown(results):
    rows = results["rows"]
    columns = [column for column in (ALLOY, *MARKS) if any(column in row["columns"] for row in rows)]
    columns += sorted({column for row in rows for column in row["columns"]} - set(columns))
    machine = results["machine"] | {"threads of each framework": results["threads"]} | results["versions"]
    text = [
        f"# Alloy beside its peers on one {'GPU' if is_of_gpu(results) else 'CPU'}",
        "",
        f"Measured on {results['date']} by `benchmarks/run.py` in {results['rounds']} rounds.",
        WRITTEN,
        "",
        *(["![Step times of all frameworks as multiples of Alloy's](results.png)", ""] if panels(results) else []),
        table(["machine and versions", ""], machine.items()),
    ]
    if reached := goals(results):
        text += ["## Goals", "", table(["", "asked", "aim", "measured", "reached"], reached)]
    for title, inference in (("Training: one step", False), ("Inference: one batch", True)):
        if some := [row for row in rows if row["inference"] == inference]:
            text += [f"## {title}", "", "Median, and the distances of the quartiles from it.", "", times(some, columns)]
    text += memory_section(results, columns) + other_sections(results)
    text += [
        "## Variants shown",
        "",
        "In bold, with the medians of a trial of all variants. Variants that were a tenth slower in the trial than the "
        "best of their column were not measured further.",
        "",
        variants(rows, columns),
    ]
    return "\n".join(text + missing_section(results))


def memory_section(results, columns):
    alone = [row for row in results["rows"] if row.get("alone")]
    if not alone:
        return []
    of_cpu = (
        "A new process for each: it imports one framework and runs one workload. Peak resident memory (VmHWM), "
        "and the time from the network's description to the first step's loss, which contains tracing and "
        "compilation with empty caches."
    )
    of_gpu = (
        "Of the variant that is shown. The most of the GPU's memory that the workload has in use at once: PyTorch's "
        "`max_memory_allocated`, XLA's analysis of the step, what Alloy has allocated; contexts and libraries are not "
        "counted, and neither is what a framework keeps for later. And the time from the network's description to the "
        "first step's loss, in a process that may have compiled a part of it for an earlier variant or workload."
    )
    return [
        "## Memory and first step",
        "",
        of_gpu if is_of_gpu(results) else of_cpu,
        "",
        table(
            ["", *columns], [[row["title"], *(cost(row["alone"].get(column)) for column in columns)] for row in alone]
        ),
    ]


def other_sections(results):
    """Returns the measurements that belong to no workload."""
    text = []
    if results["imports"]:
        medians = [f"{statistics.median(seconds):.2f} s" for seconds in results["imports"].values()]
        text += ["## Import", "", "In a new interpreter, with files cached by the system; median.", ""]
        text += [table(results["imports"], [medians])]
    if results["native"]:
        text += [
            "## Without Python",
            "",
            "`benchmarks/cpp`, medians of five repetitions; share of the peaks that the same run measured.",
            "",
            native(results["native"]),
        ]
    return text


def missing_section(results):
    """Returns the parts on missing measurements and on the method."""
    missing = [f"* {name}: {reason}" for name, reason in results["unavailable"].items()]
    missing += [
        f"* {row['title']}, {column}: {reason}" for row in results["rows"] for column, reason in row["failed"].items()
    ]
    quiet = results["quiet"]
    method = METHOD + (ON_GPU if is_of_gpu(results) else ON_CPU)
    method = method.format(load=results["load"], idle=100 * quiet["idle_workers"], others=100 * quiet["others"])
    return ["## Not measured", "", *missing, "", method]


def variants(rows, columns):
    def cell(row, column):
        measured = row["columns"].get(column, {"tried": {}})
        tried = sorted(measured["tried"].items(), key=lambda pair: pair[1])
        return "; ".join(
            f"**{label or 'plain'}** {duration(s)}"
            if label == measured["label"]
            else f"{label or 'plain'} {duration(s)}"
            for label, s in tried
        )

    rows = [row for row in rows if not row["beside_busy"]]
    columns = [
        column for column in columns if any(len(row["columns"].get(column, {"tried": {}})["tried"]) > 1 for row in rows)
    ]
    return table(["", *columns], [[row["title"], *(cell(row, column) for column in columns)] for row in rows])


def cost(alone):
    if not alone:
        return "-"
    mebibytes = (alone["peak_bytes"] or 0) / 2**20
    memory = f"{mebibytes:.0f} MiB" if mebibytes >= 10 else f"{mebibytes:.2f} MiB" if mebibytes else "unknown"
    return f"{memory}, {duration(alone['first_step_seconds'])}"


def native(runs):
    """Returns times and rates; the best rates of the runs whose names begin with "peak" are the peaks."""
    peaks = {
        name: max((run.get(name, 0) for run in runs if run["run_name"].startswith("peak")), default=0)
        for name in ("FLOP/s", "bytes/s")
    }

    def rate(run, name):
        return f"{run[name] / 1e9:.1f} ({100 * run[name] / peaks[name]:.0f} %)" if name in run and peaks[name] else ""

    def row(run):
        seconds = run["real_time"] * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}[run["time_unit"]]
        return [run["run_name"].partition("/min_time")[0], duration(seconds), rate(run, "FLOP/s"), rate(run, "bytes/s")]

    return table(["", "time", "GFLOP/s (of the peak)", "GB/s (of the peak)"], map(row, runs))


def panel(axis, title, rows):
    """Draws a line for each row into the axis."""
    for i, row in enumerate(rows):
        ratios = {column: ratio(row, column) for column in peers(row)}
        axis.plot(
            [min(1, *ratios.values()), max(1, *ratios.values())], [i, i], color="#dddddd", linewidth=1.5, zorder=1
        )
        for column, value in ratios.items():
            color, shape = MARKS.get(column, ("#666666", "P"))
            axis.plot(
                value, i, shape, color=color, markersize=7.5, markeredgecolor="white", markeredgewidth=0.6, zorder=3
            )
        if row["target"]:
            axis.plot([row["target"]["at_least"]] * 2, [i - 0.34, i + 0.34], color="black", linewidth=2, zorder=2)
        axis.text(
            1.01,
            i,
            f"{min(ratios.values()):.2f}×",
            transform=axis.get_yaxis_transform(),
            va="center",
            fontweight="bold",
        )
    axis.axvline(1, color="#333333", linewidth=1.2, zorder=2)
    axis.set_xscale("log")
    axis.set_title(title, loc="left", fontweight="bold")
    axis.set_yticks(range(len(rows)), [f"{short(row)}   {duration(median(row, ALLOY))}" for row in rows])
    axis.tick_params(axis="y", length=0)
    axis.invert_yaxis()
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}×")
    axis.grid(axis="x", color="#eeeeee", zorder=0)
    axis.set_axisbelow(True)
    axis.set_xlabel("time, as a multiple of Alloy's")


def panels(results):
    """Returns the title and rows of each part of the chart."""
    rows = [row for row in results["rows"] if fastest_peer(row) and ALLOY in row["columns"]]
    found = {
        "Training: one step": [row for row in rows if not row["inference"]],
        "Inference: one batch": [row for row in rows if row["inference"]],
    }
    return [(title, some) for title, some in found.items() if some]


def chart(results, path):
    """Draws a line for each workload, and on it a mark for each peer at its time divided by Alloy's; nothing without
    peers."""
    drawn = panels(results)
    if not drawn:
        return
    plt.rcParams |= {
        "font.size": 10,
        "font.family": "DejaVu Sans",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.spines.left": False,
    }
    figure, axes = plt.subplots(
        1,
        len(drawn),
        figsize=(7.5 * len(drawn), 1.6 + 0.46 * max(len(rows) for _, rows in drawn)),
        squeeze=False,
        layout="constrained",
    )
    for axis, (title, rows) in zip(axes[0], drawn):
        panel(axis, title, rows)
    shown = {column for _, rows in drawn for row in rows for column in peers(row)}
    handles = [
        Line2D([], [], linestyle="", marker=shape, color=color, markersize=7.5, label=column)
        for column, (color, shape) in MARKS.items()
        if column in shown
    ]
    handles.append(
        Line2D([], [], linestyle="", marker="|", color="black", markersize=12, markeredgewidth=2, label="asked for")
    )
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)
    figure.savefig(path, dpi=144)
    plt.close(figure)


def short(row):
    return textwrap.fill(row["title"].removesuffix(", inference"), 50)


def is_of_gpu(results):
    return "GPU" in results["machine"]


def processor(results):
    """Returns the GPU's name, or the processor's, the widest of its instructions that Alloy uses, and the number of
    threads."""
    machine = results["machine"]
    if is_of_gpu(results):
        return machine["GPU"]
    name = re.sub(r"\((R|TM|family.*)\)|Processor|CPU|@.*", "", machine["CPU"])
    features = machine["of its instructions"]
    kinds = {"amx_tile": "AMX", "avx512f": "AVX-512", "avx2": "AVX2"}
    widest = next((kind for feature, kind in kinds.items() if feature in features), "baseline")
    threads = results["threads"]
    return f"{' '.join(name.split())}, {widest}, {threads} thread{'s' * (threads > 1)}"


def folder(results):
    return re.sub("[^a-z0-9]+", "-", processor(results).lower())


BESIDE = ", beside a busy process"


def comparison(reports):
    """Returns the page that shows results of several processors side by side."""
    kinds = {row["title"]: (row["inference"], row["beside_busy"]) for results in reports for row in results["rows"]}

    def cell(results, title):
        row = next((row for row in results["rows"] if row["title"] == title), None)
        peer = row and fastest_peer(row)
        return f"**{ratio(row, peer):.2f}**" if peer and ratio(row, peer) else "-"

    text = ["# Alloy beside its peers, by processor", ""]
    text += ["How many times faster than the fastest peer, which the processor's own page names.", WRITTEN, ""]
    for number, results in enumerate(reports, 1):
        text.append(f"{number}. [{processor(results)}]({folder(results)}/RESULTS.md), {results['date']}")
    text.append("")
    head = ["", *map(str, range(1, len(reports) + 1))]
    for heading, inference in (("Training: one step", False), ("Inference: one batch", True)):
        for beside in (False, True):
            titles = [title for title, kind in kinds.items() if kind == (inference, beside)]
            rows = [[title.removesuffix(BESIDE), *(cell(each, title) for each in reports)] for title in titles]
            text += [f"## {heading}{BESIDE * beside}", "", table(head, rows)] if rows else []
    return "\n".join(text)


def write(results, directory):
    """Writes the results into their folder in the directory, and the page beside it. directory: Path."""
    own = directory / folder(results)
    own.mkdir(parents=True, exist_ok=True)
    (own / "results.json").write_text(json.dumps(results))
    (own / "RESULTS.md").write_text(markdown(results))
    chart(results, own / "results.png")
    reports = [json.loads(path.read_text()) for path in sorted(directory.glob("*/results.json"))]
    (directory / "RESULTS.md").write_text(comparison(reports))
    return own / "RESULTS.md"


if __name__ == "__main__":
    for path in sorted(Path(sys.argv[1]).glob("*/results.json")):
        write(json.loads(path.read_text()), Path(sys.argv[1]))
