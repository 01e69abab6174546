"""Data sets, a trainer with callbacks, and optimizers as users with a type checker write them
(tests/python/package/test_stubs.py)."""

import numpy as np

import alloy as al


class Losses(al.Callback):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[float] = []

    def on_epoch_end(self, epoch: int, logs=None) -> None:
        self.seen.append(float(logs["loss"]))
        if self.trainer.epoch > 2 or len(self.trainer.history["loss"]) > 2:
            self.trainer.stop_training = True


def noisy(x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return x + rng.normal(0, 0.01, x.shape).astype(np.float32), y


images: np.ndarray = np.random.default_rng(0).normal(size=(16, 4)).astype(np.float32)
classes = (images[:, 0] > 0).astype(np.int32)
data: al.data.Dataset = al.data.from_arrays(images, classes).shuffle(seed=1).map(noisy, seed=2).batch(4, last="drop")
batches: int = len(data)
epoch, position = data.cursor
pairs = al.data.from_items([(x, y) for x, y in zip(images, classes)]).batch(8).repeat(2).take(3)
stream = al.data.from_iterator(lambda: zip(images, classes)).batch(4)
for x, y in data:
    assert x.shape == (4, 4) and y.shape == (4,)

rate = al.schedules.warmup(al.schedules.cosine(0.01, 100), 10)
optimizers: list[al.Optimizer] = [
    al.SGD(0.1, momentum=0.9),
    al.Adam(rate, betas=(0.9, 0.99), clip_norm=1.0),
    al.AdamW(weight_decay=0.1, ema_decay=0.9),
]
optimizers[0].lr = 0.05
losses = Losses()
callbacks: list[al.Callback] = [losses, al.EarlyStopping("loss", patience=3, restore_best_weights=True)]
for optimizer in optimizers:
    model = al.nn.Sequential(al.nn.Dense(8, activation="relu"), al.nn.Dense(2))
    trainer = al.Trainer(model, "softmax_cross_entropy", optimizer, metrics=["accuracy", al.metrics.F1Score()])
    history: al.History = trainer.fit(data, epochs=2, validation=pairs, callbacks=callbacks, progress=False)
    measured: dict[str, float] = trainer.evaluate((images, classes))
    with_stream = trainer.evaluate(stream)
    first: float = history["loss"][0]
assert batches == 4 and len(losses.seen) == 6
