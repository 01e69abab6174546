"""Examples of losses, one for each name."""

import math

import numpy as np

import alloy as al

g = al.Graph()  # g.constant makes a tensor, g.run computes one

# al.losses.binary_cross_entropy
logits, targets = g.constant([[0.0], [math.log(3)]]), g.constant([[1.0], [0.0]])  # probabilities 1/2 and 3/4
losses = al.losses.binary_cross_entropy(logits, targets)
assert np.allclose(g.run(losses), [-math.log(1 / 2), -math.log(1 / 4)])

# al.losses.categorical_hinge
scores, labels = g.constant([[3.0, 1.0], [1.0, 3.0]]), g.constant([0, 0])
assert g.run(al.losses.categorical_hinge(scores, labels)).tolist() == [0, 3]  # the margin of 1 is kept, missed by 3

# al.losses.cosine_similarity
a, b = g.constant([[1.0, 0.0], [1.0, 0.0]]), g.constant([[5.0, 0.0], [0.0, 2.0]])
assert np.allclose(g.run(al.losses.cosine_similarity(a, b)), [-1, 0])

# al.losses.dice
logits, masks = g.constant([[0.0, 0.0]]), g.constant([[1.0, 0.0]])  # probabilities 1/2
assert np.allclose(g.run(al.losses.dice(logits, masks)), 1 - (2 * 0.5 + 1) / (1 + 1 + 1))

# al.losses.get
assert al.losses.get("huber") is al.losses.huber

# al.losses.hinge
scores, targets = g.constant([[0.5], [0.5]]), g.constant([[1.0], [-1.0]])
assert g.run(al.losses.hinge(scores, targets)).tolist() == [0.5, 1.5]

# al.losses.huber
predictions, targets = g.constant([[0.5], [3.0]]), g.constant([[0.0], [0.0]])
assert g.run(al.losses.huber(predictions, targets)).tolist() == [0.125, 2.5]  # e^2 / 2, and e - 1/2

# al.losses.kl_divergence
logits, targets = g.constant([[0.0, 0.0]]), g.constant([[1.0, 0.0]])
assert np.allclose(g.run(al.losses.kl_divergence(logits, targets)), [math.log(2)])

# al.losses.mean
values = g.constant([1.0, 5.0, 9.0])
assert g.run(al.losses.mean(values)) == 5
assert g.run(al.losses.mean(values, mask=g.constant([1.0, 1.0, 0.0]))) == 3

# al.losses.mean_absolute_error
predictions, targets = g.constant([[1.0, 2.0], [3.0, 4.0]]), g.constant([[1.0, 4.0], [0.0, 0.0]])
assert g.run(al.losses.mean_absolute_error(predictions, targets)).tolist() == [1, 3.5]

# al.losses.mean_squared_error
predictions, targets = g.constant([[1.0, 2.0], [3.0, 4.0]]), g.constant([[1.0, 4.0], [0.0, 0.0]])
assert g.run(al.losses.mean_squared_error(predictions, targets)).tolist() == [2, 12.5]

# al.losses.softmax_cross_entropy
logits, labels = g.constant([[0.0, math.log(3)], [0.0, math.log(3)]]), g.constant([0, 1])  # 1/4 and 3/4
losses = al.losses.softmax_cross_entropy(logits, labels)
assert np.allclose(g.run(losses), [-math.log(1 / 4), -math.log(3 / 4)])

# al.losses.squared_hinge
scores, targets = g.constant([[0.5], [0.5]]), g.constant([[1.0], [-1.0]])
assert g.run(al.losses.squared_hinge(scores, targets)).tolist() == [0.25, 2.25]

# al.losses.sums
values = g.constant([1.0, 5.0, 9.0])
total, count = al.losses.sums(values)
assert g.run(total) == 15 and g.run(count) == 3

# al.losses.weights
logits, labels = g.constant([[0.0, 0.0], [0.0, 0.0]]), g.constant([1, -1])
values = al.losses.softmax_cross_entropy(logits, labels, ignore_index=-1)
assert g.run(al.losses.weights(values)).tolist() == [1, 0]
assert al.losses.weights(al.losses.softmax_cross_entropy(logits, labels)) is None
