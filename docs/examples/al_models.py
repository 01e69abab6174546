"""Examples of published networks, one for each name."""

import alloy as al

# al.models.resnet18
model = al.models.resnet18(classes=10)
assert model(model.graph.placeholder((None, 32, 32, 3))).shape == (None, 10)

# al.models.resnet50
model = al.models.resnet50(classes=10)
assert model(model.graph.placeholder((None, 32, 32, 3))).shape == (None, 10)

# al.models.torchvision_resnet18
model = al.models.torchvision_resnet18(classes=1000)
assert sum(v.size for v in al.state(model).values()) == 11_689_512 + 9_600  # PyTorch's count, and moving averages

# al.models.torchvision_resnet50
model = al.models.torchvision_resnet50(classes=1000)
assert sum(v.size for v in al.state(model).values()) == 25_557_032 + 53_120
