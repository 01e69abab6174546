"""Trains a small convolutional network on handwritten digits, at the level of layers and a trainer."""

import alloy as al

training, test = al.data.split(*al.data.digits())
training, validation = al.data.split(*training)
model = al.nn.Sequential(al.nn.Conv2D(16, 3), al.nn.ReLU(), al.nn.MaxPool2D(), al.nn.Flatten(), al.nn.Dense(10))
trainer = al.Trainer(model, loss="softmax_cross_entropy", optimizer=al.Adam(3e-3), metrics=["accuracy"])
trainer.fit(training, epochs=20, validation=validation, callbacks=[al.EarlyStopping(patience=5)])
print(f"test accuracy {trainer.evaluate(test)['accuracy']:.3f}")
