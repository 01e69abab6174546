"""A variational autoencoder (Kingma and Welling, 2013) of handwritten digits.

The encoder predicts a mean and a variance for each image; the decoder makes an image from a random code. The layer in
the middle draws the code, with new random numbers in every step.

python vae.py --epochs 60 --codes 8"""

import argparse

import numpy as np

import alloy as al


class Code(al.nn.Layer):
    """Draws a normal number for each mean and variance during training; returns the means otherwise."""

    def forward(self, x, training):
        mean, log_variance = al.split(x, 2, axis=-1)
        if not training:
            return mean
        return mean + self.random(al.random.normal, mean) * al.exp(0.5 * log_variance)


class Autoencoder(al.nn.Layer):
    """Returns the logits of the pixels, and the means and variances of the codes."""

    def __init__(self, codes):
        super().__init__()
        self.encoder = al.nn.Sequential(al.nn.Flatten(), al.nn.Dense(64, activation="relu"), al.nn.Dense(2 * codes))
        self.code = Code()
        self.decoder = al.nn.Sequential(al.nn.Dense(64, activation="relu"), al.nn.Dense(64), al.nn.Reshape((8, 8, 1)))

    def forward(self, x, training):
        drawn_from = self.encoder(x)
        return {"pixels": self.decoder(self.code(drawn_from)), "codes": drawn_from}


def of_pixels(logits, images):
    """Returns the loss of each image, summed over its 64 pixels."""
    return 64 * al.losses.binary_cross_entropy(logits, images)


def of_codes(drawn_from, _):
    """Returns the divergence from normal codes, for each image."""
    mean, log_variance = al.split(drawn_from, 2, axis=-1)
    return 0.5 * al.sum(al.square(mean) + al.exp(log_variance) - 1.0 - log_variance, axis=-1)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--codes", type=int, default=8)
    options = parser.parse_args(arguments)

    (images, _), (test, _) = al.data.split(*al.data.digits())
    model = Autoencoder(options.codes)
    trainer = al.Trainer(model, {"pixels": of_pixels, "codes": of_codes}, al.Adam(3e-3))
    trainer.fit((images, {"pixels": images, "codes": images}), options.epochs, progress=False)
    found = trainer.evaluate((test, {"pixels": test, "codes": test}))
    print(f"test loss {found['loss']:.2f}, pixels {found['pixels_loss']:.2f}, codes {found['codes_loss']:.2f}")

    codes = np.random.default_rng(0).normal(size=(1, options.codes)).astype(np.float32)
    x = model.graph.placeholder((None, options.codes))
    (image,) = model.graph.run(al.sigmoid(model.decoder(x)), {x: codes})
    for row in image[..., 0]:  # a new digit
        print("".join(" .:-=+*#%@"[int(value * 9.99)] * 2 for value in row))


if __name__ == "__main__":
    main()
