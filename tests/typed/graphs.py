"""Graphs, tensors and steps as users with a type checker write them (tests/python/package/test_stubs.py)."""

import numpy as np

import alloy as al

g = al.Graph(storage="buffers")
x = g.placeholder((None, 3), "float32", name="x")
y = g.placeholder((None,), al.int32)
w: al.Variable = g.variable(np.ones((3, 2), np.float32), name="w")
rows: int = w.shape[0]
h: al.Tensor = al.relu(x @ w + 1.0) * 2 - np.float32(0.5)
picked = x[[0, 1]] + x[0, None] + x[..., ::-1][:2]
total = h.sum(0).mean() + al.mean(h, axis=-1, keepdims=True).max() + al.sum(h, 1).prod()
chosen = al.where(h > 0, h, 0.0).reshape(-1, 2).T.astype("float32")
values, places = al.top_k(h, 1)
counted = al.cast(al.equal(y % 2, y), "int32") if y.ndim == 2 else y // 2
gradients: list[al.Tensor] = al.gradients(total, [w])
update: al.Update = g.assign(w, w - gradients[0] * 0.1)
step: al.Executable = g.compile([x], [total, chosen, picked, values, places], [update])
array = np.ones((2, 3), np.float32)
results: list[np.ndarray] = step(array)
by_name = step({"x": array})
submission: al.Submission = step.submit(x=array)
first: np.ndarray = submission[0]
event, queue = al.Event(), al.Queue()
ordered: al.Submission = step.submit(array, queue=queue, wait_for=(event, 0), signal=[(event, 1)])
lying: al.Pending = ordered.pending(1)
extents: tuple[int, ...] = lying.shape
reached: bool = event.wait(1, timeout=60.0) and event.value == 1


async def awaited() -> np.ndarray:
    fetches: list[np.ndarray] = await step.submit(array, queue=queue)
    return fetches[0]


once: np.ndarray = g.run(h, {x: array})
several: list[np.ndarray] = g.run([h, counted], {x: array, y: [1, 2]})
read: np.ndarray = w.numpy() + np.asarray(w)
text: str = f"{g!r} {step!r} {w.name} {w.dtype} {al.__version__}"
plan = step.memory_plan((2, 3))
size: int = plan.total if plan is not None else 0
for op in g.inspect(feeds={x: (2, 3)}, fetches=[total]):
    kind: str = op.kind
looped = al.for_loop(0, 3, lambda i, carried: carried + 1.0, h)
state = g.variable(al.random.state(0), "state", trainable=False)
noise, following = al.random.normal(state, (2, 2))
assert len(results) == 5 and rows == 3
