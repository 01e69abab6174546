"""Networks that others have published, as layers.

Each function gives a model with its variables made, in a graph of its own (model.graph): images of the input
shape (height, width, channels) in, one logit for each class out."""

from alloy import nn
from alloy.graph import Graph

__all__ = ["resnet18", "resnet50"]


def resnet50(classes: int = 10, input_shape=(32, 32, 3), seed: int = 0, momentum: float = 0.99) -> nn.Layer:
    """The residual network of 50 layers with bottleneck blocks (He et al., 2015) in the form that the talk
    "Training DNNs on iOS with Metal Performance Shaders Graph" gives it for images of 32x32: no padding in
    the first layers, and each stage's stride in its first 1x1 convolution.

    momentum: of the moving averages of the batch norms."""
    return _resnet(_bottleneck, (3, 4, 6, 3), 4, classes, input_shape, seed, momentum)


def resnet18(classes: int = 10, input_shape=(32, 32, 3), seed: int = 0, momentum: float = 0.99) -> nn.Layer:
    """The residual network of 18 layers with basic blocks of two 3x3 convolutions (He et al., 2015), with the
    first and last layers of resnet50."""
    return _resnet(_basic, (2, 2, 2, 2), 1, classes, input_shape, seed, momentum)


def _resnet(branch, counts, expansion, classes, input_shape, seed, momentum):
    layers = [*_conv(64, 7, 2, "valid", momentum=momentum), nn.ReLU(), nn.MaxPool2D(3, strides=2)]
    channels = 64
    for stage, count in enumerate(counts):
        filters, stride, blocks = 64 * 2**stage, 1 if stage == 0 else 2, []
        for block in range(count):
            same = stride == 1 and channels == filters * expansion
            shortcut = (
                None
                if same
                else nn.Sequential(*_conv(filters * expansion, 1, stride, momentum=momentum), name="shortcut")
            )
            inner = nn.Sequential(*branch(filters, stride, momentum), name="branch")
            blocks += [nn.Residual(inner, shortcut, name=f"block{block}"), nn.ReLU()]
            channels, stride = filters * expansion, 1
        layers.append(nn.Sequential(*blocks, name=f"stage{stage}"))
    layers += [nn.AvgPool2D(2, padding="same"), nn.Flatten(), nn.Dense(classes)]
    model = nn.Sequential(*layers, seed=seed)
    model(Graph().placeholder((None, *input_shape)))
    return model


def _bottleneck(filters, stride, momentum):
    return [
        *_conv(filters, 1, stride, momentum=momentum),
        nn.ReLU(),
        *_conv(filters, 3, momentum=momentum),
        nn.ReLU(),
        *_conv(4 * filters, 1, momentum=momentum),
    ]


def _basic(filters, stride, momentum):
    return [*_conv(filters, 3, stride, momentum=momentum), nn.ReLU(), *_conv(filters, 3, momentum=momentum)]


def _conv(filters, kernel_size, stride=1, padding="same", *, momentum):
    conv = nn.Conv2D(filters, kernel_size, strides=stride, padding=padding, use_bias=False)
    return [conv, nn.BatchNorm(momentum=momentum)]
