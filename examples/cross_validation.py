"""Cross-validation with scikit-learn: each fold trains a model of its own.

python cross_validation.py --folds 5"""

import argparse

import numpy as np

import alloy as al


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=10)
    options = parser.parse_args(arguments)

    from sklearn.model_selection import StratifiedKFold

    images, classes = al.data.digits()
    scores = []
    for training, test in StratifiedKFold(options.folds, shuffle=True, random_state=0).split(images, classes):
        model = al.nn.Sequential(al.nn.Flatten(), al.nn.Dense(64, activation="relu"), al.nn.Dense(10))
        trainer = al.Trainer(model, "softmax_cross_entropy", al.Adam(3e-3), metrics=["accuracy"])
        trainer.fit((images[training], classes[training]), options.epochs, progress=False)
        scores.append(trainer.evaluate((images[test], classes[test]))["accuracy"])
    print(f"accuracy {np.mean(scores):.4f}, from {min(scores):.4f} to {max(scores):.4f}")


if __name__ == "__main__":
    main()
