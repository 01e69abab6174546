"""Examples of data sets, one for each name."""

import os
import pathlib

import numpy as np
from PIL import Image

import alloy as al

# al.data.Dataset
data = al.data.from_arrays(np.arange(5, dtype="float32")).map(lambda x: x * 10).batch(2)
assert isinstance(data, al.data.Dataset) and len(data) == 3
assert [batch.tolist() for batch in data] == [[0, 10], [20, 30], [40]]

# al.data.Spec
images, classes = np.zeros((100, 8, 8, 1), "float32"), np.zeros(100, "int32")
spec = al.data.from_arrays(images, classes).batch(32).spec
assert spec == (al.data.Spec((None, 8, 8, 1), np.dtype("float32")), al.data.Spec((None,), np.dtype("int32")))

# al.data.Table
pathlib.Path("sizes.csv").write_text("height,weight\n1.5,50\n2,80\n")
table = al.data.csv("sizes.csv")
assert isinstance(table, al.data.Table) and table.columns == ["height", "weight"]
assert table.x.tolist() == [[1.5, 50], [2, 80]] and table.y is None

# al.data.cifar10
for name in [f"data_batch_{i}.bin" for i in range(1, 6)] + ["test_batch.bin"]:
    pathlib.Path(name).write_bytes(bytes([7] + [255] * 3072))  # one white image of class 7, in the place of 10,000
(images, classes), test = al.data.cifar10(".")
assert images.shape == (5, 32, 32, 3) and images.min() == 1 and classes.tolist() == [7] * 5

# al.data.csv
pathlib.Path("flowers.csv").write_text("length,width,kind\n5.1,3.5,setosa\n7.0,3.2,versicolor\n")
table = al.data.csv("flowers.csv", target="kind", categories=["kind"])
assert table.x.shape == (2, 2) and table.y.tolist() == [0, 1] and table.classes == ["setosa", "versicolor"]

# al.data.digits
images, classes = al.data.digits()
assert images.shape == (1797, 8, 8, 1) and set(classes.tolist()) == set(range(10))

# al.data.from_arrays
x, y = np.float32([[1, 2], [3, 4], [5, 6]]), np.int32([0, 1, 0])
data = al.data.from_arrays(x, y)
assert len(data) == 3 and data[1][0].tolist() == [3, 4] and data[1][1] == 1

# al.data.from_items
data = al.data.from_items([(np.float32([1, 2]), 0), (np.float32([3, 4]), 1)])
assert len(data) == 2 and data[1][0].tolist() == [3, 4]


# al.data.from_iterator
def numbers():
    for i in range(4):
        yield np.float32([i])


batches = list(al.data.from_iterator(numbers).batch(2))
assert [batch.tolist() for batch in batches] == [[[0], [1]], [[2], [3]]]

# al.data.idx
pathlib.Path("classes.idx").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 3, 5, 6, 7]))  # bytes, one axis of 3
assert al.data.idx("classes.idx").tolist() == [5, 6, 7]

# al.data.image_folder
for colour in ("blue", "red"):
    os.makedirs(f"images/{colour}", exist_ok=True)
    Image.new("RGB", (4, 4), colour).save(f"images/{colour}/0.png")
data, names = al.data.image_folder("images", size=8)
assert names == ["blue", "red"] and data[1][0].shape == (8, 8, 3) and data[1][0][0, 0].tolist() == [1, 0, 0]

# al.data.leaves
assert al.data.leaves(({"a": 1, "b": 2}, 3)) == [1, 2, 3]

# al.data.mnist
for part, n in (("train", 2), ("t10k", 1)):  # small files in the place of MNIST's
    header = bytes([0, 0, 8, 3, 0, 0, 0, n, 0, 0, 0, 28, 0, 0, 0, 28])
    pathlib.Path(f"{part}-images-idx3-ubyte").write_bytes(header + bytes(n * 28 * 28))
    pathlib.Path(f"{part}-labels-idx1-ubyte").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, n]) + bytes([9] * n))
(images, classes), test = al.data.mnist(".")
assert images.shape == (2, 28, 28, 1) and classes.tolist() == [9, 9]

# al.data.npz
np.savez("arrays.npz", x=np.arange(3), y=np.ones(2))
arrays = al.data.npz("arrays.npz")
assert arrays["x"].tolist() == [0, 1, 2] and arrays["y"].tolist() == [1, 1]

# al.data.rebuild
assert al.data.rebuild(({"a": 1, "b": 2}, 3), [10, 20, 30]) == ({"a": 10, "b": 20}, 30)

# al.data.split
x, y = np.arange(10, dtype="float32"), np.arange(10, dtype="int32")
training, test = al.data.split(x, y, fraction=0.2)
assert len(training[0]) == 8 and len(test[0]) == 2
assert sorted([*training[1], *test[1]]) == list(range(10))

# al.data.augment.mean_and_std
images = np.float32([1, 3]).reshape(2, 1, 1, 1)
mean, std = al.data.augment.mean_and_std(images)
assert mean.tolist() == [2] and std.tolist() == [1]

# al.data.augment.normalize
images = np.float32([1, 3]).reshape(2, 1, 1, 1)
data = al.data.from_arrays(images).batch(2).map(al.data.augment.normalize(mean=2, std=1))
assert data[0].ravel().tolist() == [-1, 1]

# al.data.augment.random_crop
images = np.ones((10, 32, 32, 3), "float32")
data = al.data.from_arrays(images).batch(10).map(al.data.augment.random_crop(28), seed=0)
assert data[0].shape == (10, 28, 28, 3)

# al.data.augment.random_flip
images = np.float32([[1, 2]] * 100).reshape(100, 1, 2, 1)
data = al.data.from_arrays(images).batch(100).map(al.data.augment.random_flip(), seed=0)
assert 30 < sum(image.ravel().tolist() == [2, 1] for image in data[0]) < 70
