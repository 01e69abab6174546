"""Transfer learning: the frozen body of a network that PyTorch has trained, with a new head.

CHECKPOINT is a file that PyTorch wrote, of a network that knows the digits 0 to 4:

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = torch.nn.Conv2d(1, 16, 3, padding=1)
            self.bn1 = torch.nn.BatchNorm2d(16)
            self.conv2 = torch.nn.Conv2d(16, 32, 3, padding=1)
            self.fc = torch.nn.Linear(128, 5)

        def forward(self, x):
            x = torch.max_pool2d(torch.relu(self.bn1(self.conv1(x))), 2)
            x = torch.max_pool2d(torch.relu(self.conv2(x)), 2)
            return self.fc(x.flatten(1))

    safetensors.torch.save_file(network.state_dict(), "digits04.safetensors")

In this program, a new head learns the digits 5 to 9 from a few examples.

python transfer.py digits04.safetensors --examples 100"""

import argparse

import alloy as al


class Network(al.nn.Layer):
    def __init__(self, classes):
        super().__init__()
        self.body = al.nn.Sequential(
            al.nn.Conv2D(16, 3, padding="same"),
            al.nn.BatchNorm(epsilon=1e-5),  # PyTorch's
            al.nn.ReLU(),
            al.nn.MaxPool2D(),
            al.nn.Conv2D(32, 3, padding="same", activation="relu"),
            al.nn.MaxPool2D(),
            al.nn.Flatten(order="channels_first"),  # PyTorch's
        )
        self.head = al.nn.Dense(classes)

    def forward(self, x, training):
        return self.head(self.body(x, training), training)


# PyTorch's names of the body's layers.
NAMES = {"body/conv2d_0": "conv1", "body/batchnorm_0": "bn1", "body/conv2d_1": "conv2"}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", help="a safetensors file of PyTorch's")
    parser.add_argument("--examples", type=int, default=100, help="with which the new head is trained")
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--model", default="runs/transfer.safetensors", help="where the new model is saved")
    options = parser.parse_args(arguments)

    images, classes = al.data.digits()
    images, classes = images[classes >= 5], classes[classes >= 5] - 5
    training, test = al.data.split(images, classes, fraction=len(images) - options.examples)

    model = Network(classes=5)
    model(al.Graph().placeholder((None, 8, 8, 1)))  # the first call makes the variables
    al.load_torch(model.body, options.checkpoint, NAMES, skip=["fc.*"])
    model.body.trainable = False  # from here on, neither weights nor moving averages change

    trainer = al.Trainer(model, "softmax_cross_entropy", al.Adam(options.lr), metrics=["accuracy"])
    trainer.fit(training, options.epochs, progress=False)
    al.save(model, options.model)
    print(f"test accuracy {trainer.evaluate(test)['accuracy']:.3f} with {len(training[0])} examples")


if __name__ == "__main__":
    main()
