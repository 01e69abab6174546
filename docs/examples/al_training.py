"""Examples of the trainer and its callbacks, one for each name."""

import pathlib

import numpy as np

import alloy as al

x = np.random.default_rng(0).normal(size=(64, 2)).astype("float32")
y = x @ np.float32([[2], [-3]])


def make(lr):
    return al.Trainer(al.nn.Dense(1), "mean_squared_error", al.SGD(lr))


# al.Trainer
trainer = al.Trainer(al.nn.Dense(1), "mean_squared_error", al.SGD(0.1))
trainer.fit((x, y), epochs=50, batch_size=16, progress=False)
assert trainer.evaluate((x, y))["loss"] < 1e-3
assert np.allclose(trainer.predict(np.float32([[1, 1]])), [[2 - 3]], atol=0.1)


# al.Callback
class GoodEnough(al.Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.trainer.stop_training = logs["loss"] < 1


history = make(0.1).fit((x, y), epochs=100, callbacks=[GoodEnough()], progress=False)
assert history["loss"][-1] < 1 <= history["loss"][-2]

# al.EarlyStopping
stop = al.EarlyStopping("loss", min_delta=0.001, patience=3)
history = make(1e-9).fit((x, y), epochs=100, callbacks=[stop], progress=False)  # too slow to improve
assert len(history["loss"]) == 1 + 3

# al.ReduceLROnPlateau
trainer = make(1e-9)  # too slow to improve
lower = al.ReduceLROnPlateau("loss", factor=0.1, patience=2, min_delta=0.001)
trainer.fit((x, y), epochs=1 + 2, callbacks=[lower], progress=False)
assert np.isclose(trainer.optimizer.lr, 1e-10, atol=0)

# al.Checkpoint
saved = [al.Checkpoint("run.safetensors")]
make(0.1).fit((x, y), epochs=2, callbacks=saved, progress=False)
history = make(0.1).fit((x, y), epochs=5, callbacks=saved, resume="run.safetensors", progress=False)  # the other 3
assert len(history["loss"]) == 5

# al.CSVLogger
make(0.1).fit((x, y), epochs=2, callbacks=[al.CSVLogger("epochs.csv")], progress=False)
lines = pathlib.Path("epochs.csv").read_text().splitlines()
assert lines[0] == "epoch,loss" and len(lines) == 1 + 2

# al.TensorBoard
make(0.1).fit((x, y), epochs=2, callbacks=[al.TensorBoard("logs")], progress=False)
assert list(pathlib.Path("logs/train").iterdir())  # tensorboard --logdir logs

# al.LambdaCallback
losses = []
each = al.LambdaCallback(on_epoch_end=lambda epoch, logs: losses.append(logs["loss"]))
history = make(0.1).fit((x, y), epochs=3, callbacks=[each], progress=False)
assert losses == history["loss"]

# al.History
history = make(0.1).fit((x, y), epochs=3, validation=(x, y), progress=False)
assert isinstance(history, al.History) and list(history) == ["loss", "val_loss"] and len(history["loss"]) == 3
history.plot("history.png")
