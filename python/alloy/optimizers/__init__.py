"""Optimizers: what a step does to the variables, in the step's graph. Formulas, names and defaults are those of
torch.optim."""

from alloy.optimizers.adagrad import Adagrad
from alloy.optimizers.adam import Adam, AdamW
from alloy.optimizers.lion import Lion
from alloy.optimizers.loss_scale import LossScale
from alloy.optimizers.optimizer import Optimizer
from alloy.optimizers.rmsprop import RMSprop
from alloy.optimizers.sgd import SGD

__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "Lion", "LossScale", "Optimizer", "RMSprop"]
