"""A small transformer that learns to write like your text, one character after the other.

python language_model.py TEXT.txt
python language_model.py TEXT.txt --context 128 --width 192 --blocks 4 --epochs 20 --sample 1000"""

import argparse
import pathlib

import numpy as np

import alloy as al


class Block(al.nn.Layer):
    """Attention to the earlier characters, then a dense network for each character, both with a residual connection."""

    def __init__(self, width, heads, dropout):
        super().__init__()
        self.norm = al.nn.LayerNorm()
        self.attention = al.nn.MultiHeadAttention(heads, width // heads, dropout=dropout, use_causal_mask=True)
        self.dense = al.nn.Sequential(
            al.nn.LayerNorm(), al.nn.Dense(4 * width, activation="gelu"), al.nn.Dense(width), al.nn.Dropout(dropout)
        )

    def forward(self, x, training):
        x = x + self.attention(self.norm(x, training), training)
        return x + self.dense(x, training)


class Writer(al.nn.Layer):
    """Maps ids of characters (n, steps) to logits of the next characters (n, steps, characters)."""

    def __init__(self, characters, context, width, heads, blocks, dropout):
        super().__init__()
        self.characters = al.nn.Embedding(characters, width)
        self.places = al.nn.Embedding(context, width)
        self.blocks = [Block(width, heads, dropout) for _ in range(blocks)]
        self.norm = al.nn.LayerNorm()
        self.head = al.nn.Dense(characters)

    def forward(self, x, training):
        places = x.graph.constant(al.arange(x.shape[1]))
        y = self.characters(x, training) + self.places(places, training)
        for block in self.blocks:
            y = block(y, training)
        return self.head(self.norm(y, training), training)


def sample(trainer, ids, count, context, temperature, rng):
    """Appends `count` ids, each drawn from the model's prediction after the last `context` ids."""
    ids = list(ids[:context])
    for _ in range(count):
        logits = trainer.predict(np.int32([ids[-context:]]))[0, -1] / temperature
        probabilities = np.exp(logits - logits.max(), dtype=np.float64)
        ids.append(rng.choice(len(logits), p=probabilities / probabilities.sum()))
    return ids


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=pathlib.Path, help="a text file in UTF-8, at best of 100 kB or more")
    parser.add_argument("--context", type=int, default=64, help="how many characters the model looks back")
    parser.add_argument("--width", type=int, default=96)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--blocks", type=int, default=2)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--sample", type=int, default=300, help="how many characters it writes at the end")
    parser.add_argument("--temperature", type=float, default=0.8, help="below 1: bolder, above 1: wilder")
    options = parser.parse_args(arguments)

    text = options.text.read_text(encoding="utf-8")
    letters, ids = np.unique(list(text), return_inverse=True)
    ids = ids.astype(np.int32)
    if len(ids) <= options.context:
        parser.error(f"{options.text} has {len(ids)} characters; at least {options.context + 1} are needed")
    windows = np.lib.stride_tricks.sliding_window_view(ids, options.context + 1)[:: max(options.context // 2, 1)]
    data = al.data.from_arrays(windows[:, :-1].copy(), windows[:, 1:].copy()).shuffle().batch(options.batch_size)

    model = Writer(len(letters), options.context, options.width, options.heads, options.blocks, options.dropout)
    steps = options.epochs * len(data)
    rate = al.schedules.warmup(al.schedules.cosine(options.lr, steps), max(steps // 20, 1))
    trainer = al.Trainer(model, "softmax_cross_entropy", al.AdamW(rate, clip_norm=1.0), metrics=["accuracy"])
    trainer.fit(data, options.epochs)

    rng = np.random.default_rng(0)
    written = sample(trainer, ids, options.sample, options.context, options.temperature, rng)
    print("".join(letters[written]))


if __name__ == "__main__":
    main()
