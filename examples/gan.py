"""A generative adversarial network: two models, two optimizers, one graph.

The generator turns noise into points; the discriminator distinguishes them from points of a ring. Each step updates the
variables of one model: optimizer.minimize(loss, model.variables).

python gan.py --steps 2000"""

import argparse

import numpy as np

import alloy as al


def ring(count, rng):
    """Returns points of a ring of radius 2."""
    angles, radii = rng.uniform(0, 2 * np.pi, count), rng.normal(2.0, 0.1, count)
    return np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1).astype(np.float32)


def network(outputs, seed):
    hidden = [al.nn.Dense(64, activation=al.nn.LeakyReLU(0.2)) for _ in range(2)]
    return al.nn.Sequential(*hidden, al.nn.Dense(outputs), seed=seed)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--lr", type=float, default=1e-3)
    options = parser.parse_args(arguments)

    graph, rng = al.Graph(), np.random.default_rng(0)
    generator, discriminator = network(2, seed=0), network(1, seed=1)
    noise = graph.placeholder((None, 8), name="noise")
    real = graph.placeholder((None, 2), name="real")
    made = generator(noise, training=True)

    def loss(points, truth):
        """Returns the discriminator's loss if all points are real (1) or made (0)."""
        logits = discriminator(points, training=True)
        return al.mean(al.losses.binary_cross_entropy(logits, al.full_like(logits, truth)))

    discriminated = loss(real, 1.0) + loss(al.stop_gradient(made), 0.0)
    generated = loss(made, 1.0)
    discriminate = graph.compile(
        [noise, real],
        [discriminated],
        al.Adam(options.lr, (0.5, 0.999)).minimize(discriminated, discriminator.variables),
    )
    generate = graph.compile(
        [noise], [generated], al.Adam(options.lr, (0.5, 0.999)).minimize(generated, generator.variables)
    )

    size = options.batch_size
    for _ in range(options.steps):
        (d,) = discriminate(rng.normal(size=(size, 8)).astype(np.float32), ring(size, rng))
        (g,) = generate(rng.normal(size=(size, 8)).astype(np.float32))
    points = graph.run(made, {noise: rng.normal(size=(1000, 8)).astype(np.float32)})
    radii = np.linalg.norm(points, axis=1)
    print(f"discriminator {d:.3f}  generator {g:.3f}  radius {radii.mean():.2f}  spread {radii.std():.2f}")


if __name__ == "__main__":
    main()
