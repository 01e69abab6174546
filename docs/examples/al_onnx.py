"""Examples of models in ONNX files, one for each name."""

import numpy as np

import alloy as al

x = np.random.default_rng(0).normal(size=(20, 3)).astype("float32")
trainer = al.Trainer(al.nn.Sequential(al.nn.Dense(2)), "mean_squared_error", al.SGD(0.1))
trainer.fit((x, x[:, :2]), epochs=1, batch_size=10, progress=False)
trainer.export("model.onnx")

# al.onnx.load
model = al.onnx.load("model.onnx")
same = al.Trainer(model, "mean_squared_error", al.SGD(0.1)).predict(x)
assert np.allclose(same, trainer.predict(x), atol=1e-6)

# al.onnx.Model
model = al.onnx.load("model.onnx")
assert isinstance(model, al.onnx.Model) and isinstance(model, al.nn.Layer)
