"""Examples of metrics, one for each name."""

import numpy as np

import alloy as al

g = al.Graph()  # g.constant makes a tensor, g.run computes one


def measure(metric, predictions, targets):  # by a model that returns its input
    trainer = al.Trainer(al.nn.Rescaling(1.0), lambda predictions, targets: al.sum(predictions), "sgd", [metric])
    found = trainer.evaluate((np.float32(predictions), np.array(targets)))
    return found[al.metrics.get(metric).name]


four = [[2, 1], [0, 1], [2, 1], [0, 1]]  # the logits of four examples: classes 0, 1, 0, 1

# al.metrics.AUC
scores, targets = [[0.1], [0.4], [0.3], [0.8]], np.float32([[0], [0], [1], [1]])
assert measure(al.metrics.AUC(), scores, targets) == 0.75  # of the four pairs, 0.3 < 0.4 is wrong

# al.metrics.ConfusionMatrix
assert measure(al.metrics.ConfusionMatrix(), four, [0, 1, 1, 1]).tolist() == [[1, 0], [1, 2]]

# al.metrics.F1Score
assert np.isclose(measure(al.metrics.F1Score(average=None), four, [0, 1, 1, 1]), [2 / 3, 4 / 5]).all()

# al.metrics.IoU
assert np.isclose(measure(al.metrics.IoU(average=None), four, [0, 1, 1, 1]), [1 / 2, 2 / 3]).all()

# al.metrics.Mean
largest = al.metrics.Mean(lambda logits, labels: al.max(logits, axis=-1), name="largest")
assert measure(largest, four, [0, 1, 1, 1]) == 1.5


# al.metrics.Metric
class Count(al.metrics.Metric):
    def update(self, totals, predictions, targets, weights):
        al.metrics.accumulate(totals, "count", al.sum(al.cast(targets, "float32")))

    def result(self, totals):
        return al.metrics.accumulated(totals, "count")


assert measure(Count(), four, [0, 1, 1, 1]) == 3

# al.metrics.Precision
assert np.isclose(measure(al.metrics.Precision(average=None), four, [0, 1, 1, 1]), [1 / 2, 1]).all()

# al.metrics.R2Score
assert measure(al.metrics.R2Score(), [[1], [2], [3]], np.float32([[1], [2], [3]])) == 1
assert measure(al.metrics.R2Score(), [[2], [2], [2]], np.float32([[1], [2], [3]])) == 0

# al.metrics.Recall
assert np.isclose(measure(al.metrics.Recall(average=None), four, [0, 1, 1, 1]), [1, 2 / 3]).all()

# al.metrics.RootMeanSquaredError
assert np.isclose(measure(al.metrics.RootMeanSquaredError(), [[1], [9]], np.float32([[0], [2]])), 5)


# al.metrics.accumulate, al.metrics.accumulated
class Greatest(al.metrics.Metric):  # the mean of the greatest logits
    def update(self, totals, predictions, targets, weights):
        al.metrics.accumulate(totals, "sum", al.sum(al.max(predictions, axis=-1)))
        al.metrics.accumulate(totals, "count", al.sum(al.ones_like(predictions[:, 0])))

    def result(self, totals):
        return al.metrics.accumulated(totals, "sum") / al.metrics.accumulated(totals, "count")


assert measure(Greatest(), four, [0, 1, 1, 1]) == 1.5

# al.metrics.accuracy
logits, labels = g.constant([[2.0, 1.0], [0.0, 1.0]]), g.constant([0, 0])
assert g.run(al.metrics.accuracy(logits, labels)).tolist() == [1, 0]
assert measure("accuracy", four, [0, 1, 1, 1]) == 0.75

# al.metrics.binary_accuracy
logits, targets = g.constant([[3.0], [-3.0]]), g.constant([[1.0], [1.0]])
assert g.run(al.metrics.binary_accuracy(logits, targets)).tolist() == [1, 0]

# al.metrics.get
assert al.metrics.get("f1_score").name == "f1_score"
assert al.metrics.get("accuracy", "binary_cross_entropy").name == "accuracy"

# al.metrics.top_k_accuracy
logits, labels = g.constant([[3.0, 2.0, 1.0], [3.0, 2.0, 1.0]]), g.constant([1, 2])
assert g.run(al.metrics.top_k_accuracy(logits, labels, k=2)).tolist() == [1, 0]
