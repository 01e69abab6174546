"""A search with scikit-learn: the size of a network and its learning rate, by cross-validation in two processes.

python cross_validation.py --folds 5"""

import argparse

import alloy as al


class Net:
    """Makes a network for given numbers of features and classes; scikit-learn shows its size."""

    def __init__(self, units):
        self.units = units

    def __call__(self, features, classes):
        return al.nn.Sequential(al.nn.Dense(self.units, activation="relu"), al.nn.Dense(classes))

    def __repr__(self):
        return f"Net({self.units})"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=10)
    options = parser.parse_args(arguments)

    from sklearn.model_selection import GridSearchCV

    images, classes = al.data.digits()
    pixels = images.reshape(len(images), -1)
    search = GridSearchCV(
        al.sklearn.Classifier(epochs=options.epochs, random_state=0),
        {"model": [Net(32), Net(128)], "optimizer": [al.Adam(1e-3), al.Adam(1e-2)]},
        cv=options.folds,
        n_jobs=2,
    )
    search.fit(pixels, classes)
    results = search.cv_results_
    for values, accuracy in zip(results["params"], results["mean_test_score"]):
        print(f"{values['model']!r} {values['optimizer'].lr:g}: accuracy {accuracy:.4f}")
    print(f"best {search.best_params_['model']!r}, accuracy {search.best_score_:.4f}")


if __name__ == "__main__":
    main()
