"""The command `alloy`."""

import os
import re
import runpy
import shlex
import sys
import traceback
from enum import Enum
from pathlib import Path

import numpy as np
import typer

import alloy as al
from alloy import _core
from alloy.engine.structure import leaves
from alloy.measuring import inspection
from alloy.measuring.profile import GROUPS
from alloy.messages.location import is_users_file
from alloy.messages.text import amount, table
from alloy.tools import arrays, clang, demo, drawing, launch, run
from alloy.tools import bench as timing
from alloy.training.batches import as_dataset, parts_of
from alloy.training.files import said_of

__all__ = ["app"]

_commands = typer.Typer(
    help="Trains neural networks on MPSGraph.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    epilog="alloy train --help shows the file that describes a run.",
)
Group = Enum("Group", {name: name for name in GROUPS}, type=str)

_CONFIG = typer.Argument(None, metavar="CONFIG", help="A run's file in TOML, or its directory.")
_RUN = typer.Argument(..., metavar="RUN", help="The directory of a training.")
_MODEL = typer.Option(None, metavar="NAME", help="The network: FILE.py:FUNCTION, or MODULE:FUNCTION.")
_DATA = typer.Option(None, metavar="NAME", help="The data, like the network.")
_PATH = typer.Option(None, metavar="PATH", help="The path for functions with such a parameter.")
_BATCH_SIZE = typer.Option(None, metavar="N", min=1, max=65536, help="Examples in a step.")
_DTYPE = typer.Option(None, metavar="TYPE", help="The model's type: float32, bfloat16 or float16.")
_EXAMPLE = "\n".join(["A run's file:", "", "\b", *run.EXAMPLE.splitlines()])


def _settings(config, **given) -> dict:
    """Returns the settings of the file, or of the demonstration, below those of the command line."""
    settings = demo.SETTINGS if config is None else run.read(config)
    return settings | run.with_paths({k: v for k, v in given.items() if v is not None}, os.path.abspath)


@_commands.command(epilog=_EXAMPLE)
def train(
    config: Path = _CONFIG,
    model: str = _MODEL,
    data: str = _DATA,
    path: str = _PATH,
    epochs: int = typer.Option(None, metavar="N", min=1, help="Passes over the training data."),
    batch_size: int = _BATCH_SIZE,
    lr: float = typer.Option(None, metavar="RATE", help="The optimizer's learning rate."),
    seed: int = typer.Option(None, metavar="N", min=0, help="Sets initial weights and the order of examples."),
    dtype: str = _DTYPE,
    distributed: bool = typer.Option(None, "--distributed", help="Train in all processes that mpirun started."),
    output: Path = typer.Option(None, metavar="PATH", help="The run's directory; runs/NAME without it."),
    resume: bool = typer.Option(False, "--resume", help="Continue the interrupted run in that directory."),
):
    """Trains a model.

    Without a file, a small network on handwritten digits. Options override the file. Saves the model, all settings
    (config.toml), a checkpoint, and the history as a table and as an image. `alloy train RUN/config.toml` makes the
    same model again, to the bit. Ctrl-C saves the checkpoint."""
    settings = _settings(
        config,
        model=model,
        data=data,
        path=path,
        epochs=epochs,
        batch_size=batch_size,
        lr=lr,
        seed=seed,
        dtype=dtype,
        distributed=distributed,
    )
    output = output or run.place(config, settings)
    made = run.made(settings)
    run.prove(output)
    _trained(made, output, resume)


def _trained(made, output, resume):
    if resume:
        run.require_same(made.settings, output)
    is_first = not made.settings.get("distributed") or al.distributed.rank() == 0  # it writes the files
    checkpoint = output / "checkpoint.safetensors"
    if is_first:
        run.write(made.settings, output / "config.toml")
        if not resume:
            checkpoint.unlink(missing_ok=True)
    try:
        history = made.trainer.fit(
            made.train,
            validation=made.validation,
            callbacks=[al.Checkpoint(checkpoint), al.CSVLogger(output / "history.csv")],
            resume=checkpoint if resume else None,
            **run.of_fit(made.settings),
        )
    except KeyboardInterrupt:
        if checkpoint.exists():
            raise _Interrupted(f"interrupted; alloy train {output / 'config.toml'} --resume goes on") from None
        raise
    if is_first:
        _write_outcome(made.trainer.model, history, output)
    if made.validation is not None:
        size = run.batch_size(made.settings, made.validation)
        values = made.trainer.evaluate(made.validation, size)
        if is_first:
            typer.echo(f"test {_values(values)}")


def _write_outcome(model, history, output):
    al.save(model, output / "model.safetensors")
    files = ["model.safetensors", "config.toml", "checkpoint.safetensors", "history.csv"]
    if any(history.values()):
        history.plot(output / "history.png")
        files.append("history.png")
    typer.echo(f"saved in {output}:\n  {', '.join(files)}")


class _Interrupted(Exception):
    """The message after a Ctrl-C."""


def _values(values: dict) -> str:
    numbers = [f"{name} {value:.4g}" for name, value in values.items() if np.ndim(value) == 0]
    return ", ".join(numbers) + "".join(
        f"\n{name}\n{_array(value)}" for name, value in values.items() if np.ndim(value)
    )


def _array(values) -> str:
    whole = np.all(values == np.round(values)) and np.all(np.abs(values) < 2**53)
    return np.array2string(values.astype(np.int64) if whole else values, threshold=400, max_line_width=80)


@_commands.command()
def evaluate(
    path: Path = _RUN,
    data: str = typer.Argument(None, metavar="NAME", help="FILE.py:FUNCTION that gives other data (x, y)."),
):
    """Prints a trained model's loss and metrics.

    On the validation data of its run, or on other data."""
    settings = run.settings_of(path)
    rows = run.data(settings)[1] if data is None else run.function(data)()
    if rows is None:
        raise ValueError(f"[config] Expected a run with validation data, got {path}; name a function of others.")
    trainer = run.trained("evaluate", path, settings, rows)
    typer.echo(_values(trainer.evaluate(rows, run.batch_size(settings, rows))))


@_commands.command()
def predict(
    path: Path = _RUN,
    sources: list[str] = typer.Argument(..., metavar="FILE", help="Rows: .npy, .npz, .csv, or FILE.py:FUNCTION."),
    output: Path = typer.Option(None, metavar="PATH", help="The file of the results; without it they are printed."),
):
    """Prints a trained model's predictions for examples.

    As comma-separated values: the likeliest class and the probability of each class, or the model's numbers."""
    settings = run.settings_of(path)
    read = {
        source: np.asarray(run.function(source)()) if run.is_function(source) else arrays.only("predict", source, "x")
        for source in sources
    }
    labels, rows = [f"{name}:{i}" for name in read for i in range(len(read[name]))], np.concatenate([*read.values()])
    trainer = run.trained("predict", path, settings, rows)
    values = trainer.predict(rows, settings.get("batch_size"))
    if not isinstance(values, np.ndarray):
        raise ValueError("[config] Expected a model with one output, got one with several; use Trainer.predict.")
    text = arrays.table(settings["loss"], labels, values)
    if output is None:
        typer.echo(text, nl=False)
        return
    with said_of(output):
        output.write_text(text, encoding="utf-8", newline="")


@_commands.command()
def export(
    path: Path = typer.Argument(..., metavar="RUN", help="A training's directory, or a file of weights in it."),
    output: Path = typer.Option(None, "--output", "-o", metavar="PATH", help="RUN/model.mpsgraphpackage without it."),
):
    """Writes a trained model into a file that runs without Python.

    alloy run, al.load_executable and MPSGraph programs run it. It takes any number of examples, normalized if the run
    normalizes its data."""
    settings = run.settings_of(path)
    rows = run.batch(settings, run.data(settings)[0])[0]
    output = output or (path if path.is_dir() else path.parent) / "model.mpsgraphpackage"
    trainer = run.trained("predict", path, settings, rows)
    trainer.export(output, rows)
    made = al.load_executable(output)
    typer.echo(f"saved {output}\n{arrays.ports(made)}")


@_commands.command("run")
def run_package(
    path: Path = typer.Argument(..., metavar="PACKAGE", help="A file of alloy export or Executable.export."),
    files: list[str] = typer.Argument(
        None, metavar="[NAME=]FILE", help="Inputs: .npy or .csv files, or .npz by their names."
    ),
    output: Path = typer.Option(
        None,
        "--output",
        "-o",
        metavar="PATH",
        help="The .npy or .npz file of the results; without it they are printed.",
    ),
):
    """Runs an exported model on arrays.

    Without files it prints the model's inputs and outputs."""
    executable = al.load_executable(path)
    if not files and executable.feeds and output is None:
        typer.echo(arrays.ports(executable))
        return
    if output is not None:
        arrays.require_place(str(output), len(executable.fetches))
    results = arrays.named(executable, executable(arrays.inputs(executable, files or [])))
    if output is None:
        typer.echo(arrays.text(results))
    else:
        arrays.write(str(output), results)


def _sample(config, **given):
    """Returns the run, the name of its model, and a batch of its training data."""
    made = run.made(_settings(config, **given))
    return made, run.name_of(made.settings["model"]), run.batch(made.settings, made.train)


def _counts_of_run(step, arrays):
    """Returns lines that say what a run makes a GPU do; none where the CPU computes or the device keeps no counts."""
    if al.device().kind == "cpu":
        return []
    step(*arrays)  # the first run also writes what stays on the device
    before = al.device_stats()
    step(*arrays)
    after = al.device_stats()
    if before is None or after is None:
        return []
    did = {what: count - before[what] for what, count in after.items()}
    rows = [
        ("launches", f"{did['launches']:,}"),
        ("to the GPU", amount(did["bytes_to_device"], "B")),
        ("from the GPU", amount(did["bytes_from_device"], "B")),
    ]
    return ["work of a run", *table(rows, numbers=(1,))]


@_commands.command()
def inspect(
    config: Path = _CONFIG,
    model: str = _MODEL,
    data: str = _DATA,
    batch_size: int = _BATCH_SIZE,
    dtype: str = _DTYPE,
    output: Path = typer.Option(None, metavar="PATH", help="The drawings' directory; runs/MODEL without it."),
):
    """Prints a model's layers and draws its graph.

    Also prints the operations and the memory of a training step, and on a GPU
    its launches and the bytes that it moves."""
    made, name, batch = _sample(config, model=model, data=data, batch_size=batch_size, dtype=dtype)
    output = output or Path("runs", name)
    run.prove(output)
    shapes, x = [array.shape for array in leaves(batch)], leaves(batch)[0]
    parts, programs = parts_of("inspect", as_dataset("inspect", batch, len(x))), made.trainer._programs
    step, (feeds, loss), graph = programs.step(parts), programs.loss(parts), programs.graph
    forward = graph.inspect(dict(zip(feeds, shapes)), [loss])
    typer.echo(f"forward, {len(x)} examples of {'x'.join(map(str, x.shape[1:]))}\n{inspection.by_layer(forward)}\n")
    ops = graph.inspect(dict(zip(step.feeds, shapes)), updates=step.updates)
    typer.echo(f"training step\n  {len(ops):,} ops, {amount(inspection.flops(ops))} flops")
    typer.echo(step.memory_plan(*shapes) or "the framework does not tell its memory")
    for line in _counts_of_run(step, leaves(batch)):
        typer.echo(line)
    for suffix, draw in ((".svg", drawing.svg), (".html", drawing.html)):
        with said_of(output / f"graph{suffix}"):
            (output / f"graph{suffix}").write_text(draw(forward, name), encoding="utf-8")
    typer.echo(f"wrote {output / 'graph.svg'} and {output / 'graph.html'}")


@_commands.command()
def profile(
    config: Path = _CONFIG,
    model: str = _MODEL,
    data: str = _DATA,
    batch_size: int = _BATCH_SIZE,
    dtype: str = _DTYPE,
    runs: int = typer.Option(10, metavar="N", min=1, max=100_000, help="Steps to measure."),
    # Its members are GROUPS, which are known only at run time.
    by: Group = typer.Option("layer", help="Groups the lines of the table."),  # pyright: ignore
    trace: Path = typer.Option(None, metavar="PATH", help="The file of a trace for Perfetto."),
):
    """Measures the time of every kernel of a step."""
    if trace is not None:
        run.prove(trace.parent)
        trace.open("ab").close()
    made, _, batch = _sample(config, model=model, data=data, batch_size=batch_size, dtype=dtype)
    measured = made.trainer.profile(batch, len(leaves(batch)[0]), runs=runs)
    if measured is None:
        typer.echo("This device does not tell the time of kernels.", err=True)
        raise typer.Exit(1)
    typer.echo(measured.table(by.value))
    if trace is not None:
        with said_of(trace):
            measured.save_trace(trace)
        typer.echo(f"saved {trace}")


@_commands.command()
def bench(
    config: Path = _CONFIG,
    model: str = _MODEL,
    data: str = _DATA,
    batch_size: int = _BATCH_SIZE,
    dtype: str = _DTYPE,
    seconds: float = typer.Option(2.0, metavar="N", min=0.01, max=3600, help="The seconds to measure each."),
):
    """Measures the time of training and of inference.

    On this machine, of steps on a loaded batch: without the loading of data."""
    made, name, batch = _sample(config, model=model, data=data, batch_size=batch_size, dtype=dtype)
    threads = "" if al.threads() is None else f", {al.threads()} thread{'s' * (al.threads() != 1)}"
    size, dtype = len(leaves(batch)[0]), made.settings.get("dtype", "float32")
    typer.echo(f"{name} on {al.device().name} ({al.device().kind}{threads}), batches of {size}, {dtype}")
    typer.echo(timing.measured(made.trainer, batch, seconds))


@_commands.command()
def info():
    """Prints the version and the device."""
    device = al.device()
    typer.echo(f"alloy {al.__version__}")
    typer.echo(f"device: {device.name} ({device.kind}), {amount(device.memory, 'B')}")
    if device.system:
        typer.echo(f"framework: {device.system}")
    if al.threads() is not None:
        typer.echo(f"threads: {al.threads()}")


@_commands.command("launch", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def launch_script(
    processes: int = typer.Option(..., "-n", metavar="N", min=1, max=65536, help="The number of processes."),
    threads: int = typer.Option(
        None,
        metavar="N",
        min=1,
        max=65536,
        help="Threads of each; OMP_NUM_THREADS, or a share of the cores without it.",
    ),
    script: Path = typer.Argument(..., metavar="SCRIPT", help="A Python file; its arguments follow."),
    arguments: list[str] = typer.Argument(None, metavar="[ARGUMENTS]"),
):
    """Runs a script in several processes that train together.

    By mpirun, which pip install "alloy-mpsgraph[mpi]" brings. See al.distributed."""
    if not script.is_file():
        raise FileNotFoundError(f"There is no file {script}.")
    wanted = launch.command(processes, str(script), arguments or [])
    sys.stdout.flush()
    os.execve(wanted[0], wanted, launch.environment(processes, threads))


@_commands.command("config")
def compiling(
    cflags: bool = typer.Option(False, "--cflags", help="Flags to compile Objective-C or Objective-C++."),
    libs: bool = typer.Option(False, "--libs", help="Flags to link."),
    cmakedir: bool = typer.Option(False, "--cmakedir", help="For CMake's find_package(Alloy): Alloy_DIR."),
    pkgconfigdir: bool = typer.Option(False, "--pkgconfigdir", help="For pkg-config: PKG_CONFIG_PATH."),
    sanitizersdir: bool = typer.Option(False, "--sanitizersdir", help="Suppressions: leaks.txt, threads.txt."),
):
    """Prints the compiler's flags for Objective-C++ programs.

    alloy-clang++ is clang++ with these flags."""
    wanted = [*(clang.flags("Cflags") if cflags else []), *(clang.flags("Libs") if libs else [])]
    wanted += [str(clang.CMAKE_DIRECTORY)] * cmakedir + [str(clang.PKGCONFIG_DIRECTORY)] * pkgconfigdir
    wanted += [str(clang.SANITIZERS_DIRECTORY)] * sanitizersdir
    if not (cflags or libs or cmakedir or pkgconfigdir or sanitizersdir):
        raise ValueError("Expected one of --cflags, --libs, --cmakedir, --pkgconfigdir, --sanitizersdir.")
    typer.echo(shlex.join(wanted))


@_commands.command("doctor")
def ask():
    """Asks MPSGraph on this machine 80 questions.

    Ends with status 1 if an answer is neither expected nor known."""
    package = Path(_core.__file__).parent
    doctor = runpy.run_path(str(package / "doctor.py"))
    raise typer.Exit(doctor["main"](f"alloy {al.__version__}", package / "alloy_probes"))


def _version(asked: bool):
    if asked:
        typer.echo(f"alloy {al.__version__}")
        raise typer.Exit()


@_commands.callback()
def _main(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
):
    pass


def app() -> None:
    """Runs the command. An error ends it with a sentence on the standard error and status 1, a wrong option with status
    2, an interrupt with status 130."""
    try:
        _commands(prog_name="alloy")
    except SystemExit as end:
        if end.code == 130:
            print("\nalloy: interrupted", file=sys.stderr)  # after ^C, or a bar that had no time to end its line
        raise
    except _Interrupted as end:
        print(f"\nalloy: {end}", file=sys.stderr)
        sys.exit(130)
    except Exception as error:
        sys.exit(f"alloy: {_sentence(error)}")


def _sentence(error) -> str:
    """Returns the error's message, and the user's line if the fault is in a user's file; places in this package are
    left out."""
    text = str(error) or type(error).__name__
    text = re.sub(r"; (built )?at [^;\s]*alloy/tools/\w+\.py:\d+\.", ".", text)
    if type(error) not in (ValueError, TypeError, RuntimeError, FloatingPointError, al.DeviceError) and not isinstance(
        error, (OSError, ImportError)
    ):
        text = f"{type(error).__name__}: {text}"
    frames = traceback.extract_tb(error.__traceback__)
    users = [frame for frame in frames if is_users_file(frame.filename) and os.path.exists(frame.filename)]
    if users and f"{Path(users[-1].filename).name}:" not in text:
        text = f"{text.rstrip('.')}; at {users[-1].filename}:{users[-1].lineno}."
    return text


if __name__ == "__main__":
    app()
