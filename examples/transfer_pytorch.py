"""Trains a new head on handwritten digits, on a body whose weights PyTorch has trained and saved.

    python examples/transfer_pytorch.py body.safetensors

The file is what PyTorch writes of such a body, trained on whatever images:

    body = torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 3, bias=False), torch.nn.BatchNorm2d(16), torch.nn.ReLU(),
        torch.nn.Conv2d(16, 32, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(512, 64),
    )
    safetensors.torch.save_file(body.state_dict(), "body.safetensors")"""

import sys

import alloy as al

training, test = al.data.split(*al.data.digits())
body = al.nn.Sequential(
    al.nn.Conv2D(16, 3, use_bias=False),
    al.nn.BatchNorm(epsilon=1e-5, momentum=0.9),  # PyTorch's
    al.nn.ReLU(),
    al.nn.Conv2D(32, 3),
    al.nn.ReLU(),
    al.nn.Flatten(),
    al.nn.Dense(64),
)
model = al.nn.Sequential(body, al.nn.ReLU(), al.nn.Dense(10))
model(al.Graph().placeholder((None, 8, 8, 1)))  # which makes the variables
al.load_torch(body, sys.argv[1])
body.trainable = False  # its batch norm keeps its moving averages, too
trainer = al.Trainer(model, "softmax_cross_entropy", al.Adam(1e-2), metrics=["accuracy"])
trainer.fit(training, epochs=10)
print(f"test accuracy {trainer.evaluate(test)['accuracy']:.3f}")
