"""Models as scikit-learn's estimators, for its pipelines, searches and validation. Imported when al.sklearn is first
used; needs the package scikit-learn."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from alloy import nn
from alloy.engine.arrays import require_all
from alloy.nn import Layer
from alloy.training.trainer import Trainer

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
except ImportError:
    raise ImportError(
        "[sklearn] The package scikit-learn 1.6 or newer is missing: pip install 'alloy-mpsgraph[sklearn]'"
    ) from None

__all__ = ["Classifier", "Regressor"]


class _Estimator(BaseEstimator):
    def __init__(
        self,
        model: Layer | Callable[[int, int], Layer] | None = None,
        *,
        loss: Any = None,
        optimizer: Any = "adam",
        epochs: int = 50,
        batch_size: int = 32,
        random_state: Any = None,
    ):
        self.model = model
        self.loss = loss
        self.optimizer = optimizer
        self.epochs = epochs
        self.batch_size = batch_size
        self.random_state = random_state

    def _fit(self, x, y, outputs: int, loss, sample_weight):
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        model = self._made(x.shape[-1], outputs)
        if model.seed is None and model.graph is None:
            model.seed = seed
        trainer = Trainer(model, loss if self.loss is None else self.loss, copy.deepcopy(self.optimizer), seed=seed)
        weight = () if sample_weight is None else (_check_sample_weight(sample_weight, x, dtype=np.float32),)
        history = trainer.fit((x, y, *weight), self.epochs, self.batch_size, progress=False)
        self.history_, self.model_, self._trainer = dict(history), model, trainer
        return self

    def _made(self, features: int, outputs: int) -> Layer:
        """Makes a new model for each fit."""
        if self.model is None:
            return nn.Sequential(nn.Dense(64, activation="relu"), nn.Dense(outputs))
        model = copy.deepcopy(self.model) if isinstance(self.model, Layer) else self.model(features, outputs)
        require_all(self, "a layer from model", Layer, [model])
        return model

    def _outputs(self, x) -> np.ndarray:
        """Returns the model's outputs for the rows of x."""
        check_is_fitted(self, "model_")
        x = validate_data(self, x, dtype=np.float32, allow_nd=True, reset=False)
        if self._trainer is None:
            self._trainer = Trainer(self.model_, "mean_squared_error", "sgd")
        return self._trainer.predict(x, self.batch_size)

    def __getstate__(self):
        state: Any = super().__getstate__()
        return state | ({"_trainer": None} if "_trainer" in state else {})  # _outputs makes another one

    def __deepcopy__(self, memo):
        new = type(self).__new__(type(self))
        new.__setstate__(copy.deepcopy(self.__getstate__(), memo))
        return new


class Classifier(ClassifierMixin, _Estimator):
    """A classifier of rows of numbers, which become float32.

    model: a layer that gives one logit for each class, or a function of (features, classes) that returns one; None is a
    Dense layer of 64 with relu, and a layer of logits. Every fit trains a copy, so a trained model is fine-tuned. loss:
    None is softmax_cross_entropy; loss, optimizer, epochs and batch_size are as in al.Trainer and its fit.
    random_state: as in scikit-learn, for the initial values and the order of the examples.

    A fit sets model_, history_, classes_ and n_features_in_. A fitted classifier can be pickled."""

    classes_: np.ndarray

    def fit(self, X, y, sample_weight=None):
        """Trains. X: (rows, ...), y: (rows,). sample_weight: (rows,), factors of the losses."""
        X, y = validate_data(self, X, y, dtype=np.float32, allow_nd=True)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        return self._fit(X, codes.astype(np.int32), len(self.classes_), "softmax_cross_entropy", sample_weight)

    def predict(self, X) -> np.ndarray:
        """Returns the most probable class of each row."""
        places = self._outputs(X).argmax(-1)
        return self.classes_[places]

    def predict_proba(self, X) -> np.ndarray:
        """Returns the softmax of the logits, (rows, classes), in float64."""
        logits = self._outputs(X).astype(np.float64)
        powers = np.exp(logits - logits.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True)


class Regressor(RegressorMixin, _Estimator):
    """A regression from rows of numbers, which become float32.

    model: a layer that gives one number for each target, or a function of (features, targets) that returns one; None is
    a Dense layer of 64 with relu, and another one. loss: None is mean_squared_error. The rest is as in Classifier.
    Targets are not scaled: scale them to about 1, for instance by sklearn.compose.TransformedTargetRegressor."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X, y, sample_weight=None):
        """Trains. X: (rows, ...), y: (rows,) or (rows, targets). sample_weight: (rows,), factors of the losses."""
        pair: Any = validate_data(self, X, y, dtype=np.float32, allow_nd=True, multi_output=True, y_numeric=True)
        X, y = pair
        self._targets = y.shape[1:]
        y = y.astype(np.float32).reshape(len(y), -1)
        return self._fit(X, y, y.shape[1], "mean_squared_error", sample_weight)

    def predict(self, X) -> np.ndarray:
        """Returns (rows,) or (rows, targets), as y was, in float64."""
        outputs = self._outputs(X).astype(np.float64)
        return outputs.reshape(len(outputs), *self._targets)
