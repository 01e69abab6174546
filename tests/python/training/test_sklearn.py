"""al.sklearn: scikit-learn's own checks, and what its users do with estimators."""

import copy
import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import alloy as al

DIFFERS = "The order of the examples is drawn, and the mean of a batch is over its examples."


def expected_failures(estimator):
    return dict.fromkeys(
        ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"), DIFFERS
    )


@parametrize_with_checks(
    [al.sklearn.Classifier(epochs=30), al.sklearn.Regressor(epochs=100)], expected_failed_checks=expected_failures
)
def test_what_scikit_learn_checks(estimator, check):
    check(estimator)


FAST = al.Adam(1e-2)


def rings(rng, count=200):
    """Points within 1 of 0, and beyond it: no line parts them."""
    x = rng.normal(size=(count, 2))
    return x, np.where(np.square(x).sum(1) < 1.4, "inner", "outer")


def net(features, outputs):
    return al.nn.Sequential(al.nn.Dense(16, activation="tanh"), al.nn.BatchNorm(), al.nn.Dense(outputs))


def test_a_search_in_two_processes(rng):
    x, y = rings(rng)
    search = GridSearchCV(
        al.sklearn.Classifier(net, epochs=80, random_state=0), {"optimizer": [FAST, al.SGD(1e-6)]}, cv=2, n_jobs=2
    )
    search.fit(x, y)
    assert search.best_params_ == {"optimizer": FAST} and search.score(x, y) > 0.9
    assert set(search.classes_) == {"inner", "outer"}


def test_pickled_and_copied_after_a_fit(rng):
    x, y = rings(rng)
    for estimator in (
        al.sklearn.Classifier(net, epochs=5, random_state=3),
        al.sklearn.Regressor(net, epochs=5, random_state=3),
    ):
        targets = y if isinstance(estimator, al.sklearn.Classifier) else np.stack([x[:, 0], x[:, 1] ** 2], 1)
        expected = estimator.fit(x, targets).predict(x)
        for other in (pickle.loads(pickle.dumps(estimator)), copy.deepcopy(estimator)):
            np.testing.assert_array_equal(other.predict(x), expected)
        again = clone(estimator).fit(x, targets)
        np.testing.assert_array_equal(again.predict(x), expected)
        assert not hasattr(clone(estimator), "model_") and expected.shape == targets.shape


def test_a_layer_is_copied_and_tuned(rng):
    """A model with values is trained from them on, and stays as it is."""
    x, y = rings(rng)
    model = al.nn.Sequential(al.nn.Dense(16, activation="tanh"), al.nn.Dense(2))
    first = al.sklearn.Classifier(model, optimizer=FAST, epochs=80, random_state=0).fit(x, y)
    assert model.graph is None
    tuned = al.sklearn.Classifier(first.model_, epochs=1, optimizer=al.SGD(1e-9), random_state=0).fit(x, y)
    np.testing.assert_allclose(tuned.predict_proba(x), first.predict_proba(x), atol=1e-5)
    assert tuned.score(x, y) > 0.9 and tuned.history_["loss"][0] < 0.3


def test_probabilities_and_weights(rng):
    """Of examples that are all alike, the probability of a class is its share of the weights."""
    x, y = np.ones((64, 1)), np.arange(64) % 2
    trained = al.sklearn.Classifier(
        lambda features, classes: al.nn.Dense(classes), optimizer=al.SGD(0.5), epochs=200, batch_size=64, random_state=0
    ).fit(x, y, sample_weight=np.where(y == 1, 3.0, 1.0))
    np.testing.assert_allclose(trained.predict_proba(x)[0], [0.25, 0.75], atol=0.01)
    assert trained.predict(x)[0] == 1


def test_images_in_a_pipeline(rng):
    images = rng.normal(size=(60, 6, 6, 1)).astype(np.float32)
    labels = (images.mean((1, 2, 3)) > 0).astype(int)

    def cnn(channels, classes):
        assert (channels, classes) == (1, 2)
        return al.nn.Sequential(al.nn.Conv2D(4, 3), al.nn.Flatten(), al.nn.Dense(classes))

    assert (
        al.sklearn.Classifier(cnn, optimizer=FAST, epochs=60, random_state=0).fit(images, labels).score(images, labels)
        > 0.9
    )
    x = rng.normal(50, 20, (120, 3))
    y = 1000 * x[:, 0] - 300 * x[:, 2] + 5000
    regression = TransformedTargetRegressor(
        make_pipeline(StandardScaler(), al.sklearn.Regressor(optimizer=FAST, epochs=100, random_state=0)),
        transformer=StandardScaler(),
    )
    assert regression.fit(x, y).score(x, y) > 0.98


def test_a_model_that_is_no_layer():
    with pytest.raises(TypeError, match=r"^\[Classifier\] Expected a layer from model, got int; at"):
        al.sklearn.Classifier(lambda features, classes: 3).fit(np.ones((4, 2)), [0, 1, 0, 1])
