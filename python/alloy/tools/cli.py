"""The command `alloy`."""

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import numpy as np
import typer

import alloy as al
from alloy.graph import inspection
from alloy.graph.profile import GROUPS
from alloy.graph.text import amount
from alloy.tools import doctor, drawing

_commands = typer.Typer(
    help="Trains neural networks on MPSGraph.", add_completion=False, pretty_exceptions_enable=False
)


def small_cnn(seed: int = 0) -> al.nn.Sequential:
    """A small convolutional network for images of 8x8 pixels and more, and 10 classes."""
    return al.nn.Sequential(
        al.nn.Conv2D(16, 3, padding="same"),
        al.nn.ReLU(),
        al.nn.Conv2D(32, 3, padding="same"),
        al.nn.ReLU(),
        al.nn.MaxPool2D(),
        al.nn.Flatten(),
        al.nn.Dense(64),
        al.nn.ReLU(),
        al.nn.Dense(10),
        seed=seed,
    )


@dataclass(frozen=True)
class Recipe:
    """How a model is trained unless told otherwise."""

    model: Callable[..., al.nn.Layer]  # of a seed
    digits: tuple[int, int]  # the size and the channels of the digits for it
    epochs: int
    batch_size: int
    optimizer: Callable[[int], al.SGD | al.Adam]  # of the number of steps


def _residual(model):
    # After the few hundred steps of the digits, averages of momentum 0.99 would still remember the beginning.
    return Recipe(
        lambda seed: model(seed=seed, momentum=0.97),
        (32, 3),
        epochs=15,
        batch_size=32,
        optimizer=lambda steps: al.Adam(_rise_and_fall(2e-3, steps)),
    )


def _rise_and_fall(peak, steps):
    rise = max(steps // 10, 1)
    return al.schedules.warmup(al.schedules.polynomial(peak, max(steps - rise, 1)), rise, start_factor=0.0)


RECIPES = {
    "cnn": Recipe(small_cnn, (8, 1), epochs=30, batch_size=32, optimizer=lambda steps: al.Adam(2e-3)),
    "resnet18": _residual(al.models.resnet18),
    "resnet50": _residual(al.models.resnet50),
}
Model = Enum("Model", {name: name for name in RECIPES}, type=str)
Data = Enum("Data", {name: name for name in ("digits", "cifar10")}, type=str)
Group = Enum("Group", {name: name for name in GROUPS}, type=str)
_MOST_IMAGES = 65536  # in a step


@_commands.command()
def train(
    model: Model = typer.Option("cnn", help="The network."),
    data: Data = typer.Option("digits", help="The images."),
    path: Path = typer.Option(None, help="The directory of CIFAR-10's binary files."),
    epochs: int = typer.Option(None, min=1, help="Passes over the training images."),
    batch_size: int = typer.Option(None, min=1, max=_MOST_IMAGES, help="Images in a step."),
    seed: int = typer.Option(0, min=0, help="Of the initial weights and of the images' order."),
    output: Path = typer.Option(None, help="Where the model and the plot go [runs/MODEL-DATA]."),
):
    """Trains a network on images, with the epochs, the batch size and the optimizer that suit it."""
    recipe = RECIPES[model.value]
    epochs, batch_size = epochs or recipe.epochs, batch_size or recipe.batch_size
    output = output or Path("runs", f"{model.value}-{data.value}")
    training, test = _images(data.value, path, recipe)
    _prove(output)
    network = recipe.model(seed)
    optimizer = recipe.optimizer(epochs * -(-len(training[0]) // batch_size))
    trainer = al.Trainer(network, "softmax_cross_entropy", optimizer, metrics=["accuracy"], seed=seed)
    history = trainer.fit(training, epochs, batch_size, validation=test)
    al.save(network, output / "model.safetensors")
    history.plot(output / "history.png")
    typer.echo(f"saved {output / 'model.safetensors'} and {output / 'history.png'}")
    typer.echo(f"test accuracy {trainer.evaluate(test, batch_size)['accuracy']:.3f}")


def _images(data, path, recipe):
    """((images, classes) for training, (images, classes) for tests)."""
    if data == "digits":
        return al.data.split(*al.data.digits(*recipe.digits))
    if path is None:
        raise typer.BadParameter("cifar10 needs --path, the directory of its binary files")
    return al.data.cifar10(path)


@_commands.command()
def inspect(
    model: Model = typer.Option("cnn", help="The network."),
    batch_size: int = typer.Option(None, min=1, max=_MOST_IMAGES, help="Images in a step."),
    output: Path = typer.Option(None, help="Where the drawings go [runs/MODEL]."),
):
    """Prints a network's layers and what a training step takes, and draws its graph."""
    recipe = RECIPES[model.value]
    output = output or Path("runs", model.value)
    _prove(output)
    graph, (x, y), loss, updates = _training_step(recipe, batch_size)
    images, size, _, channels = x.shape
    forward = graph.inspect(fetches=[loss])
    typer.echo(f"forward, {images} images of {size}x{size}x{channels}\n{inspection.by_layer(forward)}\n")
    step = graph.inspect(fetches=[loss], updates=updates)
    typer.echo(f"training step\n  {len(step)} ops, {amount(inspection.flops(step))} flops")
    plan = graph.compile([x, y], [loss], updates).memory_plan()
    typer.echo(plan or "the framework does not tell what memory it takes")
    for name, draw in (("graph.svg", drawing.svg), ("graph.html", drawing.html)):
        (output / name).write_text(draw(forward), encoding="utf-8")
    typer.echo(f"wrote {output / 'graph.svg'} and {output / 'graph.html'}")


@_commands.command()
def profile(
    model: Model = typer.Option("cnn", help="The network."),
    batch_size: int = typer.Option(None, min=1, max=_MOST_IMAGES, help="Images in a step."),
    runs: int = typer.Option(10, min=1, max=100_000, help="Steps that are measured."),
    by: Group = typer.Option("layer", help="What a line of the table stands for."),
    trace: Path = typer.Option(None, help="Where a trace for Perfetto goes."),
):
    """Takes the time of every kernel of a network's training step on random images."""
    if trace is not None:
        _prove(trace.parent)
        trace.open("ab").close()
    graph, (x, y), loss, updates = _training_step(RECIPES[model.value], batch_size)
    random = np.random.default_rng(0)
    images, classes = random.standard_normal(x.shape, np.float32), random.integers(0, 10, y.shape, np.int32)
    measured = graph.compile([x, y], [loss], updates).profile(images, classes, runs=runs)
    if measured is None:
        typer.echo("This device does not tell the time of kernels.", err=True)
        raise typer.Exit(1)
    typer.echo(measured.table(by.value))
    if trace is not None:
        measured.save_trace(trace)
        typer.echo(f"saved {trace}")


def _training_step(recipe, batch_size):
    """(graph, placeholders of images and classes, loss, updates)"""
    batch_size, (size, channels) = batch_size or recipe.batch_size, recipe.digits
    network = recipe.model(0)
    graph = network.graph or al.Graph()
    x = graph.placeholder((batch_size, size, size, channels), name="x")
    y = graph.placeholder((batch_size,), al.int32, name="y")
    loss = al.mean(al.losses.softmax_cross_entropy(network(x, training=True), y))
    return graph, (x, y), loss, recipe.optimizer(1000).minimize(loss) + network.updates


@_commands.command()
def info():
    """Prints the version, the device and its counters."""
    typer.echo(f"alloy {al.__version__}")
    typer.echo(f"device: {al.device().name} ({al.device().kind})")
    for name, value in (al.device_stats() or {}).items():
        typer.echo(f"{name}: {value}")


@_commands.command("doctor")
def ask():
    """Asks MPSGraph on this machine 40 questions; status 1 where an answer is neither expected nor known."""
    program = doctor.program()
    system, asked = doctor.questions(program)
    typer.echo(f"alloy {al.__version__} asks {doctor.whose(system)}")
    findings = [doctor.ask(program, question) for question in asked]
    typer.echo(f"{doctor.table(findings)}\n\n{doctor.summary(findings)}\n{doctor.legend(findings)}")
    if any(finding.verdict in doctor.UNKNOWN for finding in findings):
        typer.echo("These answers are news: please send them, or better what make mac-report writes.")
        raise typer.Exit(1)


def _prove(directory: Path) -> None:
    """Makes the directory if it is missing. ValueError where nothing can be written into it."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise ValueError(f"Expected a directory to write into, got {directory}: {error.strerror}.") from None


def app() -> None:
    """The command. What goes wrong ends it with a sentence on the standard error and status 1, a wrong option with
    2, an interrupt with 130."""
    try:
        _commands()
    except SystemExit as end:
        if end.code == 130:
            print("\nalloy: interrupted", file=sys.stderr)  # behind a ^C, or a bar that had no time to end its line
        raise
    except Exception as error:
        sys.exit(f"alloy: {str(error) or type(error).__name__}")


if __name__ == "__main__":
    app()
