"""The command `alloy`."""
from pathlib import Path

import typer

import alloy as al

app = typer.Typer(help="Trains neural networks on MPSGraph.", add_completion=False)


def digits_network(seed: int = 0) -> al.nn.Sequential:
    """A small convolutional network for the 8x8 images of al.data.digits."""
    return al.nn.Sequential(
        al.nn.Conv2D(16, 3, padding="same"), al.nn.ReLU(),
        al.nn.Conv2D(32, 3, padding="same"), al.nn.ReLU(),
        al.nn.MaxPool2D(), al.nn.Flatten(),
        al.nn.Dense(64), al.nn.ReLU(),
        al.nn.Dense(10), seed=seed)


@app.command()
def train(epochs: int = typer.Option(30, min=1, help="Passes over the training images."),
          batch_size: int = typer.Option(32, min=1, help="Images in a step."),
          seed: int = typer.Option(0, min=0, help="Of the initial weights and of the images' order."),
          output: Path = typer.Option(Path("runs/digits"), help="Where the model and the plot go.")):
    """Trains a small convolutional network on scikit-learn's handwritten digits."""
    training, test = al.data.split(*al.data.digits())
    model = digits_network(seed)
    trainer = al.Trainer(model, "softmax_cross_entropy", al.Adam(2e-3), metrics=["accuracy"], seed=seed)
    history = trainer.fit(training, epochs, batch_size, validation=test)
    output.mkdir(parents=True, exist_ok=True)
    al.save(model, output / "model.safetensors")
    history.plot(output / "history.png")
    typer.echo(f"saved {output / 'model.safetensors'} and {output / 'history.png'}")
    typer.echo(f"test accuracy {trainer.evaluate(test)['accuracy']:.3f}")


@app.command()
def info():
    """Prints the version and the device's counters."""
    typer.echo(f"alloy {al.__version__}")
    for name, value in (al.device_stats() or {}).items():
        typer.echo(f"{name}: {value}")


if __name__ == "__main__":
    app()
