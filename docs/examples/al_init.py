"""Examples of initial values, one for each name."""

import numpy as np

import alloy as al

# al.init.from_file
np.save("weights.npy", np.float32([[1, 2], [3, 4]]))
w = al.Graph().variable(al.init.from_file("weights.npy"), name="w")
assert w.numpy().tolist() == [[1, 2], [3, 4]]

# al.init.glorot_uniform
w = al.init.glorot_uniform((200, 100), seed=0)
assert 0.14 < abs(w).max() < (6 / (200 + 100)) ** 0.5 < 0.1415

# al.init.he_normal
w = al.init.he_normal((200, 100), seed=0)
assert abs(w.std() - (2 / 200) ** 0.5) < 0.003

# al.init.normal
w = al.init.normal((200, 100), mean=1, stddev=0.1, seed=0)
assert abs(w.mean() - 1) < 0.005 and abs(w.std() - 0.1) < 0.005

# al.init.ones
assert al.init.ones((3,)).tolist() == [1, 1, 1]

# al.init.orthogonal
w = al.init.orthogonal((4, 3), seed=0)
assert np.allclose(w.T @ w, np.eye(3), atol=1e-5)

# al.init.uniform
w = al.init.uniform((200, 100), -1, 1, seed=0)
assert w.min() >= -1 and w.max() < 1 and abs(w.mean()) < 0.02

# al.init.zeros
assert al.init.zeros((2, 2)).tolist() == [[0, 0], [0, 0]]
