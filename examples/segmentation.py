"""Segmentation by a U-Net (Ronneberger et al., 2015): which pixels belong to a disc.

The loss is the binary cross entropy of each pixel plus the Dice loss of each image; the metric is the intersection
over the union. Both take a few lines.

python segmentation.py --epochs 10"""

import argparse

import numpy as np

import alloy as al


class UNet(al.nn.Layer):
    def __init__(self, channels=(8, 16, 32)):
        super().__init__()
        self.down = [self.block(count) for count in channels]
        self.up = [al.nn.ConvTranspose2D(count, 2, strides=2) for count in channels[-2::-1]]
        self.merge = [self.block(count) for count in channels[-2::-1]]
        self.pool, self.head = al.nn.MaxPool2D(2), al.nn.Conv2D(1, 1)

    @staticmethod
    def block(channels):
        convolution = al.nn.Conv2D(channels, 3, padding="same")
        return al.nn.Sequential(convolution, al.nn.BatchNorm(momentum=0.9), al.nn.ReLU())

    def forward(self, x, training):
        kept = []
        for block in self.down[:-1]:
            kept.append(block(x))
            x = self.pool(kept[-1])
        x = self.down[-1](x)
        for up, merge, beside in zip(self.up, self.merge, reversed(kept)):
            x = merge(al.concat([up(x), beside], axis=-1))
        return self.head(x)


def dice(logits, masks):
    """Returns 1 - 2 |A B| / (|A| + |B|) for each image, with probabilities in place of a mask."""
    p = al.sigmoid(logits)
    both, each = al.sum(p * masks, axis=(1, 2, 3)), al.sum(p + masks, axis=(1, 2, 3))
    return 1.0 - (2.0 * both + 1.0) / (each + 1.0)


def loss(logits, masks):
    return al.losses.binary_cross_entropy(logits, masks) + dice(logits, masks)


def iou(logits, masks):
    """Returns the intersection over the union for each image."""
    found = al.cast(logits > 0.0, "float32")
    return al.sum(found * masks, axis=(1, 2, 3)) / al.sum(al.maximum(found, masks), axis=(1, 2, 3))


def discs(count, size, rng):
    """Returns noisy images, each with a bright disc, and the masks of the discs."""
    rows, columns = np.mgrid[:size, :size]
    y, x, radius = (rng.uniform(low, high, (count, 1, 1)) * size for low, high in ((0.3, 0.7), (0.3, 0.7), (0.1, 0.25)))
    masks = (((rows - y) ** 2 + (columns - x) ** 2) < radius**2)[..., None].astype(np.float32)
    return masks + rng.normal(0, 0.5, masks.shape).astype(np.float32), masks


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--images", type=int, default=500)
    parser.add_argument("--size", type=int, default=32, help="a multiple of 4")
    options = parser.parse_args(arguments)

    rng = np.random.default_rng(0)
    training, test = discs(options.images, options.size, rng), discs(100, options.size, rng)
    trainer = al.Trainer(UNet(), loss, al.Adam(3e-3), metrics=[iou])
    trainer.fit(training, options.epochs, progress=False)
    found = trainer.evaluate(test)
    print(f"test loss {found['loss']:.3f}, IoU {found['iou']:.3f}")


if __name__ == "__main__":
    main()
