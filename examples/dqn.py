"""Reinforcement learning: a deep Q-network (Mnih et al., 2015) that learns to walk along a corridor.

The walker begins at the left end and gets 1 at the right end. A step costs 0.01. The network estimates the value of
both directions at a place. Its training targets come from a second network, which follows the first one slowly.

python dqn.py --episodes 150 --length 10"""

import argparse

import numpy as np

import alloy as al


def network():
    return al.nn.Sequential(al.nn.Dense(32, activation="relu"), al.nn.Dense(2))


class Walker:
    """The two networks and their steps."""

    def __init__(self, length, discount=0.95):
        g = al.Graph()
        places, following = (g.placeholder((None, length), name=name) for name in ("places", "following"))
        moves, paid, ended = g.placeholder((None,), "int32"), g.placeholder((None,)), g.placeholder((None,))
        model, target = network(), network()
        values, later = model(places), target(following)
        chosen = al.sum(values * al.one_hot(moves, 2), axis=-1)
        goal = paid + discount * (1.0 - ended) * al.max(later, axis=-1)
        loss = al.mean(al.square(chosen - al.stop_gradient(goal)))
        self.values = g.compile([places], [values])
        self.learn = g.compile(
            [places, moves, paid, following, ended], [loss], al.Adam(3e-3).minimize(loss, model.variables)
        )
        pairs = list(zip(target.variables, model.variables))
        self.follow = g.compile(updates=[g.assign(slow, 0.9 * slow + 0.1 * fast) for slow, fast in pairs])


def walk(walker, length, explore, rng, memory):
    """Walks an episode of at most 4 * length steps; returns their number."""
    at = steps = 0
    while at < length - 1 and steps < 4 * length:
        steps += 1
        place = np.eye(length, dtype=np.float32)[at]
        move = rng.integers(2) if rng.random() < explore else walker.values(place[None])[0].argmax()
        at = min(max(at + 2 * move - 1, 0), length - 1)
        ended = at == length - 1
        memory.append((place, move, 1.0 if ended else -0.01, np.eye(length, dtype=np.float32)[at], float(ended)))
    return steps


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=150)
    parser.add_argument("--length", type=int, default=10)
    options = parser.parse_args(arguments)

    rng, memory, walker = np.random.default_rng(0), [], Walker(options.length)
    for episode in range(options.episodes):
        walk(walker, options.length, max(0.1, 1 - 2 * episode / options.episodes), rng, memory)
        for _ in range(10):
            batch = [memory[i] for i in rng.integers(len(memory), size=32)]
            kinds = (np.float32, np.int32, np.float32, np.float32, np.float32)
            walker.learn(*(np.array(part, kind) for part, kind in zip(zip(*batch), kinds)))
            walker.follow()
    steps = walk(walker, options.length, 0.0, rng, [])
    print(f"steps {steps} of {options.length - 1} that are needed")


if __name__ == "__main__":
    main()
