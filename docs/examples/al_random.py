"""Examples of random numbers in a graph, one for each name."""

import numpy as np

import alloy as al

g = al.Graph()
state = g.constant(al.random.state(0))  # a program keeps it in a variable: see al.random.state

# al.random.bernoulli
draws, following = al.random.bernoulli(state, (1000,), 0.25)
assert 200 < g.run(draws).sum() < 300

# al.random.dropout
y, following = al.random.dropout(state, g.constant(np.ones(1000, "float32")), 0.5)
assert set(g.run(y).tolist()) == {0, 2}

# al.random.initialize
w = g.variable(al.zeros((200, 100)), name="w")
al.random.initialize({w: lambda state, shape: al.random.normal(state, shape, stddev=0.02)}, seed=0)
assert abs(w.numpy().std() - 0.02) < 0.001

# al.random.integers
rolls, following = al.random.integers(state, (1000,), 1, 7)
assert set(g.run(rolls).tolist()) == {1, 2, 3, 4, 5, 6}

# al.random.normal
noise, following = al.random.normal(state, (10000,), mean=5, stddev=2)
found = g.run(noise)
assert abs(found.mean() - 5) < 0.1 and abs(found.std() - 2) < 0.1

# al.random.state
kept = g.variable(al.random.state(0), trainable=False)
noise, following = al.random.normal(kept, (3,))
step = g.compile(fetches=[noise], updates=[g.assign(kept, following)])
first, second = step()[0], step()[0]
assert (first != second).all()

# al.random.truncated_normal
noise, following = al.random.truncated_normal(state, (1000,), low=-1, high=1)
assert abs(g.run(noise)).max() <= 1

# al.random.uniform
draws, following = al.random.uniform(state, (1000,), -1, 1)
found = g.run(draws)
assert -1 <= found.min() < -0.9 and 0.9 < found.max() < 1
