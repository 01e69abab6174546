"""Published networks, as layers.

Each function returns a model with its variables made, in a graph of its own (model.graph): images (n, height, width,
channels) of the input shape in, logits (n, classes) out."""

from typing import TYPE_CHECKING

from alloy import nn
from alloy.graph import Graph
from alloy.init import he_normal
from alloy.messages.names import of_module
from alloy.ops import max_pool2d, mean, relu

__all__ = ["resnet18", "resnet50", "torchvision_resnet18", "torchvision_resnet50"]


def resnet50(classes: int = 10, input_shape=(32, 32, 3), seed: int = 0, momentum: float = 0.99) -> nn.Layer:
    """Makes the residual network of 50 layers with bottleneck blocks (He et al., 2015) as in the talk "Training DNNs on
    iOS with Metal Performance Shaders Graph", for images of 32x32: no padding in the first layers, and each stage's
    stride in its first 1x1 convolution.

    momentum: of the batch norms' moving averages."""
    return _resnet(_bottleneck, (3, 4, 6, 3), 4, classes, input_shape, seed, momentum)


def resnet18(classes: int = 10, input_shape=(32, 32, 3), seed: int = 0, momentum: float = 0.99) -> nn.Layer:
    """Makes the residual network of 18 layers with basic blocks of two 3x3 convolutions (He et al., 2015), with the
    first and last layers of resnet50."""
    return _resnet(_basic, (2, 2, 2, 2), 1, classes, input_shape, seed, momentum)


def _resnet(branch, counts, expansion, classes, input_shape, seed, momentum):
    layers = [*_conv(64, 7, 2, "valid", momentum=momentum), nn.ReLU(), nn.MaxPool2D(3, strides=2)]
    channels = 64
    for stage, count in enumerate(counts):
        filters, stride, blocks = 64 * 2**stage, 1 if stage == 0 else 2, []
        for block in range(count):
            shortcut = None
            if stride > 1 or channels != filters * expansion:
                projection = _conv(filters * expansion, 1, stride, momentum=momentum)
                shortcut = nn.Sequential(*projection, name="shortcut")
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


def torchvision_resnet18(classes: int = 1000, input_shape=(224, 224, 3), seed: int = 0) -> nn.Layer:
    """Makes torchvision's residual network of 18 layers, with its names: al.load_torch(model, path) loads the state
    dict of torchvision.models.resnet18 from a safetensors file."""
    return _called(_TorchvisionResNet(1, (2, 2, 2, 2), classes, seed), input_shape)


def torchvision_resnet50(classes: int = 1000, input_shape=(224, 224, 3), seed: int = 0) -> nn.Layer:
    """Makes torchvision's residual network of 50 layers, each stage's stride in its first 3x3 convolution, with its
    names, as torchvision_resnet18 does."""
    return _called(_TorchvisionResNet(4, (3, 4, 6, 3), classes, seed), input_shape)


def _called(model, input_shape):
    model(Graph().placeholder((None, *input_shape)))
    return model


class _TorchvisionResNet(nn.Layer):
    def __init__(self, expansion, counts, classes, seed):
        super().__init__(seed=seed)
        self.conv1, self.bn1 = _torch_conv(64, 7, 2)
        channels, stages = 64, []
        for i, count in enumerate(counts):
            filters, blocks = 64 * 2**i, []
            for stride in [1 if i == 0 else 2] + [1] * (count - 1):
                projects = stride > 1 or channels != filters * expansion
                blocks.append(_TorchvisionBlock(filters, expansion, stride, projects))
                channels = filters * expansion
            stages.append(blocks)
        self.layer1, self.layer2, self.layer3, self.layer4 = stages
        self.fc = nn.Dense(classes)

    def forward(self, x, training):
        x = max_pool2d(relu(self.bn1(self.conv1(x, training), training)), window=3, strides=2, padding=((1, 1), (1, 1)))
        for block in (*self.layer1, *self.layer2, *self.layer3, *self.layer4):
            x = block(x, training)
        return self.fc(mean(x, (1, 2)), training)


class _TorchvisionBlock(nn.Layer):
    """Two convolutions of 3x3, or one between two of 1x1 (expansion 4), plus a shortcut."""

    def __init__(self, filters, expansion, stride, projects):
        super().__init__()
        if expansion == 1:
            plan = [(filters, 3, stride), (filters, 3, 1)]
        else:
            plan = [(filters, 1, 1), (filters, 3, stride), (filters * expansion, 1, 1)]
        self.count = len(plan)
        for i, (wide, kernel, step) in enumerate(plan, 1):
            conv, norm = _torch_conv(wide, kernel, step)
            setattr(self, f"conv{i}", conv)
            setattr(self, f"bn{i}", norm)
        self.downsample = nn.Sequential(*_torch_conv(filters * expansion, 1, stride)) if projects else None

    def forward(self, x, training):
        y = x
        for i in range(1, self.count + 1):
            y = getattr(self, f"bn{i}")(getattr(self, f"conv{i}")(y, training), training)
            y = relu(y) if i < self.count else y
        return relu(y + (x if self.downsample is None else self.downsample(x, training)))


def _torch_conv(filters, kernel_size, stride):
    """Makes a convolution, padded equally on both sides, and a batch norm with PyTorch's settings."""
    padding = ((kernel_size // 2, kernel_size // 2),) * 2
    conv = nn.Conv2D(filters, kernel_size, strides=stride, padding=padding, use_bias=False, init=he_normal)
    return conv, nn.BatchNorm(momentum=0.9, epsilon=1e-5)


if not TYPE_CHECKING:  # or checkers would accept any name
    __getattr__, __dir__ = of_module(__name__)
