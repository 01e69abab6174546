"""Trains a small convolutional network on 1,797 handwritten digits: augmentation, early stopping, a checkpoint.

python digits.py            trains, and saves the training after every epoch
python digits.py --resume   continues an interrupted training from its checkpoint, if there is one"""

import argparse

import alloy as al


def network(seed):
    return al.nn.Sequential(
        al.nn.Conv2D(32, 3, padding="same", use_bias=False),
        al.nn.BatchNorm(momentum=0.9),
        al.nn.ReLU(),
        al.nn.MaxPool2D(),
        al.nn.Conv2D(64, 3, padding="same", activation="relu"),
        al.nn.MaxPool2D(),
        al.nn.Flatten(),
        al.nn.Dropout(0.3),
        al.nn.Dense(10),
        seed=seed,
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checkpoint", default="runs/digits.safetensors", help="where the training is saved")
    parser.add_argument("--model", default="runs/digits-model.safetensors", help="where the trained model is saved")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint")
    options = parser.parse_args(arguments)

    # Arrays: images (n, 8, 8, 1) of float32 in [0, 1], and classes (n,).
    training, test = al.data.split(*al.data.digits())
    training, validation = al.data.split(*training)

    # Each image is moved by up to one pixel, differently in each epoch. The same seed repeats the same moves.
    moved = al.data.augment.random_crop(padding=1)
    batches = al.data.from_arrays(*training).shuffle(seed=options.seed).batch(options.batch_size)
    batches = batches.map(moved, seed=options.seed)

    model = network(options.seed)
    trainer = al.Trainer(model, "softmax_cross_entropy", al.Adam(2e-3), metrics=["accuracy"])
    trainer.fit(
        batches,
        options.epochs,
        validation=validation,
        callbacks=[
            al.EarlyStopping("val_accuracy", patience=8, restore_best_weights=True),
            al.Checkpoint(options.checkpoint),
        ],
        resume=options.checkpoint if options.resume else None,
    )
    al.save(model, options.model)
    print(f"test accuracy {trainer.evaluate(test)['accuracy']:.3f}, saved {options.model}")


if __name__ == "__main__":
    main()
