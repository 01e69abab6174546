"""A training loop of your own: three lines, with one dispatch for each step.

Use your own loop for steps that Trainer does not make. This step minimizes a loss of two calls of the model: the model
learns the classes, and learns to give the same answer if the image is moved by a pixel. Each step also returns the norm
of the gradients.

python custom_loop.py --epochs 20 --weight 0.5"""

import argparse

import numpy as np

import alloy as al


def network():
    return al.nn.Sequential(
        al.nn.Conv2D(16, 3, padding="same", activation="relu"),
        al.nn.BatchNorm(momentum=0.9),
        al.nn.MaxPool2D(),
        al.nn.Flatten(),
        al.nn.Dense(10),
    )


def training_step(model, graph, weight, lr):
    """Makes an executable that takes images, the same images moved, and classes, and returns the loss and the norm."""
    images = graph.placeholder((None, 8, 8, 1), name="images")
    moved = graph.placeholder((None, 8, 8, 1), name="moved")
    classes = graph.placeholder((None,), al.int32, name="classes")
    logits, others = model(images, training=True), model(moved, training=True)
    loss = al.mean(al.losses.softmax_cross_entropy(logits, classes))
    loss = loss + weight * al.mean(al.losses.kl_divergence(others, al.stop_gradient(al.softmax(logits))))

    variables = [variable for variable in model.variables if variable.trainable]
    gradients = al.gradients(loss, variables)
    norm = al.sqrt(sum(al.sum(al.square(gradient)) for gradient in gradients))
    updates = al.AdamW(lr).apply(zip(gradients, variables))
    # model.updates are the moving averages.
    return graph.compile([images, moved, classes], [loss, norm], updates + model.updates)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--weight", type=float, default=1.0, help="of the difference between the two answers")
    parser.add_argument("--lr", type=float, default=3e-3)
    options = parser.parse_args(arguments)

    training, (test_images, test_classes) = al.data.split(*al.data.digits())
    move = al.data.augment.random_crop(padding=1)
    data = al.data.from_arrays(*training).shuffle().batch(options.batch_size)
    data = data.map(lambda x, y, rng: (x, move(x, rng=rng), y), seed=0)

    graph, model = al.Graph(), network()
    step = training_step(model, graph, options.weight, options.lr)
    predict = graph.compile([x := graph.placeholder((None, 8, 8, 1))], [al.argmax(model(x), axis=-1)])

    for epoch in range(options.epochs):
        for images, moved, classes in data:  # each pass is the next epoch, in a new order
            loss, norm = step(images, moved, classes)
        accuracy = np.mean(predict(test_images)[0] == test_classes)
        print(f"epoch {epoch + 1}  loss {loss:.4f}  gradients {norm:.3f}  test accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
