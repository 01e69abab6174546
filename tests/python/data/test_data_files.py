"""Readers of files: what is in them, and that damaged, truncated and foreign ones are refused with a sentence."""

import builtins
import gzip
import io
import struct
import zipfile

import numpy as np
import pytest

import alloy as al


def refused(call, path, *says):
    """The message of the ValueError, which is a sentence that names the file and says all of these."""
    with pytest.raises(ValueError) as raised:
        call()
    message = str(raised.value)
    assert message.startswith("[") and message.endswith(".") and "\n" not in message, message
    assert str(path) in message and all(each in message for each in says), message
    return message


# .npz


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz(tmp_path, save, rng):
    x, y = rng.normal(size=(3, 4)).astype(np.float32), np.arange(3)
    save(tmp_path / "a.npz", x=x, y=y)
    found = al.data.npz(tmp_path / "a.npz")
    assert list(found) == ["x", "y"] and found["y"].dtype == y.dtype
    np.testing.assert_array_equal(found["x"], x)


def test_other_npz_files(tmp_path, rng):
    path = tmp_path / "a.npz"
    refused(lambda: al.data.npz(path), path, "which is not there")
    refused(lambda: al.data.npz(tmp_path), tmp_path, "which is no file")
    path.write_bytes(b"")
    refused(lambda: al.data.npz(path), path, "begins with other bytes")
    path.write_text("x,y\n1,2\n")
    refused(lambda: al.data.npz(path), path, "begins with other bytes")
    np.save(tmp_path / "b.npy", np.ones(3))
    refused(lambda: al.data.npz(tmp_path / "b.npy"), tmp_path / "b.npy", "a single array: np.load(path) reads it")
    np.savez(path, x=np.array([{}, []], object))
    refused(lambda: al.data.npz(path), path, "'x' in it holds Python objects, which could run any code")
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("notes.txt", "hello")
    refused(lambda: al.data.npz(path), path, "'notes.txt' in it is no array")


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_damaged_npz_files(tmp_path, save, rng):
    path = tmp_path / "a.npz"
    save(path, x=rng.normal(size=300))
    whole = path.read_bytes()
    for end in range(2, len(whole) - 1, 97):
        path.write_bytes(whole[:end])
        refused(lambda: al.data.npz(path), path, "Expected an .npz file of arrays")
    for at in range(60, len(whole) - 200, 131):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
        refused(lambda: al.data.npz(path), path, "Expected an .npz file of arrays")


def test_an_npz_file_that_claims_more_than_it_has(tmp_path):
    path = tmp_path / "a.npz"
    member = io.BytesIO()
    np.lib.format.write_array_header_1_0(member, {"descr": "<f8", "fortran_order": False, "shape": (1 << 60,)})
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("x.npy", member.getvalue())
    refused(lambda: al.data.npz(path), path)


# IDX

IDX = {0x08: "u1", 0x09: "i1", 0x0B: "i2", 0x0C: "i4", 0x0D: "f4", 0x0E: "f8"}


def idx_bytes(array, code):
    head = struct.pack(f">BBBB{array.ndim}I", 0, 0, code, array.ndim, *array.shape)
    return head + array.astype(array.dtype.newbyteorder(">")).tobytes()


@pytest.mark.parametrize("code, dtype", IDX.items())
@pytest.mark.parametrize("shape", [(5,), (2, 3), (2, 3, 4), (0, 3)])
@pytest.mark.parametrize("compress", [False, True])
def test_idx(tmp_path, rng, code, dtype, shape, compress):
    array = (rng.normal(size=shape) * 100).astype(np.int64).astype(dtype)
    path = tmp_path / "data"  # whatever its name is
    path.write_bytes(gzip.compress(idx_bytes(array, code)) if compress else idx_bytes(array, code))
    found = al.data.idx(path)
    assert found.dtype == array.dtype and found.dtype.isnative
    np.testing.assert_array_equal(found, array)
    found[...] = 0  # it is the caller's own


WHOLE = idx_bytes(np.arange(12, dtype="i2").reshape(3, 4), 0x0B)


@pytest.mark.parametrize(
    "content, says",
    [
        (b"", "it begins with nothing"),
        (WHOLE[:3], "it begins with 00 00 0b, not with"),
        (b"\x89PNG\r\n", "it begins with 89 50 4e 47"),
        (b"\0\0\x0a\x01\0\0\0\1\0", "it begins with 00 00 0a 01"),
        (b"\0\0\x08\0", "it begins with 00 00 08 00"),
        (WHOLE[:9], "it ends within the extents of its 2 axes"),
        (WHOLE[:12], "int16(3, 4) takes 24 bytes, and it has 0"),
        (WHOLE[:-1], "int16(3, 4) takes 24 bytes, and it has 23"),
        (WHOLE + b"\0", "int16(3, 4) takes 24 bytes, and it has more"),
        (b"\0\0\x0e\x04" + b"\xff" * 16 + b"1", "bytes, and it has 1"),
    ],
)
@pytest.mark.parametrize("compress", [False, True])
def test_other_idx_files(tmp_path, content, says, compress):
    path = tmp_path / "labels"
    path.write_bytes(gzip.compress(content) if compress else content)
    refused(lambda: al.data.idx(path), path, "[idx] Expected an IDX file", says)


def test_damaged_compressed_idx_files(tmp_path):
    path = tmp_path / "labels.gz"
    whole = gzip.compress(idx_bytes(np.arange(2000, dtype="i4"), 0x0C))
    for end in range(2, len(whole), 211):
        path.write_bytes(whole[:end])
        refused(lambda: al.data.idx(path), path, "[idx] Expected an IDX file")
    path.write_bytes(whole[:100] + bytes([whole[100] ^ 255]) + whole[101:])
    refused(lambda: al.data.idx(path), path, "[idx] Expected an IDX file")
    refused(lambda: al.data.idx(tmp_path / "none"), tmp_path / "none", "which is not there")


# MNIST


@pytest.fixture
def mnist(tmp_path, rng):
    """A directory of five examples for training and three for tests, and what was written."""
    written = {}
    for name, count, end in (("train", 5, ""), ("t10k", 3, ".gz")):
        images = rng.integers(0, 256, (count, 28, 28)).astype("u1")
        classes = rng.integers(0, 10, count).astype("u1")
        written[name] = images, classes
        for kind, array in (("images-idx3", images), ("labels-idx1", classes)):
            content = idx_bytes(array, 0x08)
            (tmp_path / f"{name}-{kind}-ubyte{end}").write_bytes(gzip.compress(content) if end else content)
    return tmp_path, written


def test_mnist(mnist):
    path, written = mnist
    for (x, y), (images, classes) in zip(al.data.mnist(str(path)), written.values(), strict=True):
        assert (x.shape, x.dtype, y.dtype) == ((len(images), 28, 28, 1), np.float32, np.int32)
        np.testing.assert_allclose(x[..., 0], images / 255, rtol=1e-6)
        np.testing.assert_array_equal(y, classes)
    (x, _), _ = al.data.mnist(path, dtype="uint8")
    assert x.dtype == np.uint8
    np.testing.assert_array_equal(x[..., 0], written["train"][0])
    (path / "train-labels-idx1-ubyte").rename(path / "train-labels.idx1-ubyte")  # as some programs unpack it
    np.testing.assert_array_equal(al.data.mnist(path)[0][1], written["train"][1])


# fmt: off
@pytest.mark.parametrize("name, content, says", [
    ("train-images-idx3-ubyte", None,
     "Expected the file train-images-idx3-ubyte or train-images-idx3-ubyte.gz in "),
    ("t10k-images-idx3-ubyte.gz", b"\x1f\x8bcut", "[idx] Expected an IDX file"),
    ("train-images-idx3-ubyte", idx_bytes(np.zeros((5, 28, 27), "u1"), 8),
     "bytes of shape (n, 28, 28) in {}, got uint8(5, 28, 27)"),
    ("train-images-idx3-ubyte", idx_bytes(np.zeros((0, 28, 28), "u1"), 8), "got uint8(0, 28, 28)"),
    ("train-labels-idx1-ubyte", idx_bytes(np.zeros(4, "u1"), 8), "a byte for each of 5 images in {}, got uint8(4,)"),
    ("train-labels-idx1-ubyte", idx_bytes(np.zeros(5, "i4"), 12), "a byte for each of 5 images in {}, got int32(5,)"),
    ("train-labels-idx1-ubyte", idx_bytes(np.uint8([0, 1, 10, 2, 3]), 8), "from 0 to 9 in {}, got 10 as number 2"),
])
# fmt: on
def test_other_mnist_files(mnist, name, content, says):
    path, _ = mnist
    (path / name).unlink() if content is None else (path / name).write_bytes(content)
    refused(lambda: al.data.mnist(path), path, says.format(path / name))


def test_images_are_floats_or_bytes(mnist):
    with pytest.raises(ValueError, match=r"^\[mnist\] Expected float32 or uint8 as the dtype of images, got int8.$"):
        al.data.mnist(mnist[0], dtype=np.int8)


# CIFAR-10

NAMES = [*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"]


@pytest.fixture
def cifar10(tmp_path, rng):
    """A directory of two records in each file, and what was written."""
    written = {}
    for name in NAMES:
        classes, planes = rng.integers(0, 10, 2), rng.integers(0, 256, (2, 3, 32, 32))
        written[name] = classes, planes
        (tmp_path / name).write_bytes(
            b"".join(bytes([label]) + image.astype(np.uint8).tobytes() for label, image in zip(classes, planes))
        )
    return tmp_path, written


def test_cifar10(cifar10):
    path, written = cifar10
    for (x, y), names in zip(al.data.cifar10(str(path)), (NAMES[:5], NAMES[5:]), strict=True):
        assert (x.dtype, y.dtype) == (np.float32, np.int32) and x.flags["C_CONTIGUOUS"]
        np.testing.assert_array_equal(y, np.concatenate([written[name][0] for name in names]))
        planes = np.concatenate([written[name][1] for name in names])
        for channel in range(3):
            np.testing.assert_allclose(x[..., channel], planes[:, channel] / 255, rtol=1e-6)
    (x, _), _ = al.data.cifar10(path, dtype=np.uint8)
    assert x.dtype == np.uint8 and x.shape == (10, 32, 32, 3)
    np.testing.assert_array_equal(x[:2, ..., 1], written["data_batch_1.bin"][1][:, 1])


@pytest.mark.parametrize("name", ["data_batch_4.bin", "test_batch.bin"])
@pytest.mark.parametrize(
    "spoiled, says",
    [
        (lambda whole: None, "Expected the file {}, which is not there"),
        (lambda whole: whole[:-1], "records of 3073 bytes in {}, got 6145 bytes"),
        (lambda whole: b"", "records of 3073 bytes in {}, got 0 bytes"),
        (lambda whole: whole[:3073] + bytes([10]) + bytes(3072), "classes from 0 to 9 in {}, got 10 in record 1"),
    ],
    ids=["missing", "truncated", "empty", "foreign"],
)
def test_other_cifar10_files(cifar10, name, spoiled, says):
    path, _ = cifar10
    content = spoiled((path / name).read_bytes())
    (path / name).unlink() if content is None else (path / name).write_bytes(content)
    refused(lambda: al.data.cifar10(path), path / name, "[cifar10] ", says.format(path / name))


# Folders of images


@pytest.fixture
def folder(tmp_path, rng):
    """Two classes of 8x6 images without loss, and the pixels by (class, file)."""
    Image = pytest.importorskip("PIL.Image")
    pixels = {}
    for name, count in (("dog", 3), ("ant", 2)):
        (tmp_path / name).mkdir()
        for i in range(count):
            pixels[name, i] = rng.integers(0, 256, (8, 6, 3)).astype("u1")
            Image.fromarray(pixels[name, i]).save(tmp_path / name / f"{i}.png")
    return tmp_path, pixels


def test_image_folder(folder):
    path, pixels = folder
    data, names = al.data.image_folder(path)
    assert names == ["ant", "dog"] and len(data) == 5
    assert data.spec == (((8, 6, 3), np.float32), ((), np.int32))
    for (x, y), (name, i) in zip(data, [("ant", 0), ("ant", 1), ("dog", 0), ("dog", 1), ("dog", 2)], strict=True):
        assert names[y] == name
        np.testing.assert_allclose(x, pixels[name, i] / 255, rtol=1e-6)
    raw, _ = al.data.image_folder(str(path), dtype=np.uint8)
    x, y = raw.shuffle(seed=1).batch(5, workers=3)[0]
    assert x.dtype == np.uint8 and sorted(y.tolist()) == [0, 0, 1, 1, 1]
    assert repr(raw) == "<Dataset image_folder(5 of Images)>"


def test_sizes_and_channels_of_images(folder):
    from PIL import Image

    path, pixels = folder
    data, _ = al.data.image_folder(path, size=(4, 3), dtype="uint8")
    means = pixels["ant", 0].astype(float)
    wide = np.asarray(Image.fromarray(pixels["ant", 0]).resize((3, 4), Image.Resampling.BILINEAR))
    np.testing.assert_array_equal(data[0][0], wide)
    assert abs(wide.mean() - means.mean()) < 12
    assert al.data.image_folder(path, size=5, channels=1)[0][0][0].shape == (5, 5, 1)
    assert al.data.image_folder(path, channels=4)[0][0][0].shape == (8, 6, 4)
    grey = al.data.image_folder(path, channels=1, dtype="uint8")[0][0][0][..., 0]
    expected = pixels["ant", 0] @ [0.299, 0.587, 0.114]  # ITU-R 601-2
    np.testing.assert_allclose(grey, expected, atol=1)


def test_folders_inside_and_hidden_files(folder):
    path, pixels = folder
    (path / "ant" / "more").mkdir()
    (path / "ant" / "0.png").rename(path / "ant" / "more" / "z.PNG")
    (path / "ant" / ".hidden").write_text("no image")
    (path / ".git").mkdir()
    (path / "labels.txt").write_text("no image")
    data, names = al.data.image_folder(path, dtype="uint8")
    assert names == ["ant", "dog"] and len(data) == 5
    np.testing.assert_array_equal(data[1][0], pixels["ant", 0])


def test_other_image_folders(folder, rng):
    from PIL import Image

    path, pixels = folder
    image = path / "dog" / "1.png"
    whole = image.read_bytes()
    data, _ = al.data.image_folder(path)
    for content in (b"", whole[: len(whole) // 2], b"no image at all", whole[:60] + bytes(20) + whole[80:]):
        image.write_bytes(content)
        refused(lambda: data[3], image, "[image_folder] Example 3 could not be read", "is no whole image")
        refused(lambda: list(data.batch(5, workers=3)), image)
    Image.fromarray(rng.integers(0, 65535, (8, 6)).astype("u2")).save(image)
    refused(lambda: data[3], image, "more than 8 bits a channel")
    Image.fromarray(pixels["dog", 1][:5]).save(image)
    message = "[batch] Expected (float32(8, 6, 3), int32()) as of the first example, got (float32(5, 6, 3), int32())"
    with pytest.raises(ValueError) as raised:
        list(data.batch(5))
    assert message in str(raised.value) and "of example 3; size= makes all images one size" in str(raised.value)
    (path / "dog" / "notes.txt").write_text("no image")
    refused(lambda: al.data.image_folder(path), path / "dog" / "notes.txt", "Expected images (.bmp, ")
    (path / "cat").mkdir()
    refused(lambda: al.data.image_folder(path), path / "cat", "Expected images in", "got none")
    refused(lambda: al.data.image_folder(path / "cat"), path / "cat", "a folder for each class", "got none")
    refused(lambda: al.data.image_folder(path / "bird"), path / "bird", "which is not there")
    with pytest.raises(ValueError, match="Expected 1, 3 or 4 channels, got 2"):
        al.data.image_folder(path, channels=2)
    with pytest.raises(ValueError, match=r"a size for the rows and one for the columns, got \(1, 2, 3\)"):
        (path / "cat").rmdir(), (path / "dog" / "notes.txt").unlink()
        al.data.image_folder(path, size=(1, 2, 3))


def test_without_pillow(folder, monkeypatch):
    imported = builtins.__import__

    def without(name, *rest):
        if name.startswith("PIL"):
            raise ModuleNotFoundError(name)
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ModuleNotFoundError, match="pip install Pillow"):
        al.data.image_folder(folder[0])


# CSV

IRIS = """\ufefflength, width,species
5.1,3.5,setosa
7,3.2e0,"versi
color"

6.3,-3.3,virginica
5.0,3.0,setosa
"""


def written(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


def test_csv(tmp_path):
    path = written(tmp_path / "iris.csv", IRIS)
    x, y, columns, classes = al.data.csv(path, "species", categories=["species"])
    assert (x.dtype, y.dtype, columns, classes) == (
        np.float32,
        np.int32,
        ["length", "width"],
        ["setosa", "versi\ncolor", "virginica"],
    )
    np.testing.assert_array_equal(x, np.float32([[5.1, 3.5], [7, 3.2], [6.3, -3.3], [5, 3]]))
    assert y.tolist() == [0, 1, 2, 0]
    table = al.data.csv(path, "width", columns=["length"])
    assert table.columns == ["length"] and table.classes is None and table.y.dtype == np.float32
    np.testing.assert_array_equal(table.y, np.float32([3.5, 3.2, -3.3, 3]))
    table = al.data.csv(path, categories={"species": ["virginica", "setosa", "versi\ncolor", "other"]})
    assert table.y is None
    assert table.columns == [
        "length", "width", "species=virginica", "species=setosa", "species=versi\ncolor", "species=other"
    ]  # fmt: skip
    np.testing.assert_array_equal(table.x[:, 2:], np.eye(4)[[1, 2, 0, 1]])


def test_csv_without_header(tmp_path):
    path = written(tmp_path / "a.csv", "1;10;x\n2;9;y\n3;10;x\n")
    x, y, columns, classes = al.data.csv(path, 1, columns=[0], header=False, delimiter=";", categories=[1])
    assert (x.tolist(), y.tolist(), columns, classes) == ([[1], [2], [3]], [1, 0, 1], [0], ["9", "10"])


def test_missing_fields_of_csv(tmp_path):
    path = written(tmp_path / "a.csv", "a,b\n1,\nnan,2\n")
    np.testing.assert_array_equal(al.data.csv(path, missing=-1).x, [[1, -1], [-1, 2]])
    refused(lambda: al.data.csv(path), path, "in column 'a', line 3", "got 'nan'", "missing=0.0 would stand for it")


@pytest.mark.parametrize(
    "text, options, says",
    [
        ("", {}, "Expected one or more rows in {}, got none"),
        ("a,b\n", {}, "Expected one or more rows below the header in {}, got none"),
        ("a,b\n1,2\n3\n", {}, "Expected 2 fields in line 3 of {}, got 1"),
        ("a,b\n1,2\n\n3,4,5\n", {}, "Expected 2 fields in line 4 of {}, got 3"),
        ("a,a\n1,2\n", {}, "a name of its own for each column of {}, got 'a' twice"),
        ("a,b\n1,2\n1,x\n", {}, "in column 'b', line 3 of {}, a number, got 'x'; categories=['b'] would read names"),
        ("a,b\n1,1e39\n", {}, "a number that float32 can hold, got '1e39'"),
        ("a,b\n1,inf\n", {}, "a number that float32 can hold, got 'inf'"),
        ("a,b\n1,2\n", {"target": "c"}, "Expected a column 'c' in {}, got 'a', 'b'"),
        ("length,b\n1,2\n", {"target": "lenght"}, "the nearest is length"),
        ("a,b\n1,2\n", {"columns": "c"}, "Expected a column 'c'"),
        ("a,b\n1,2\n", {"categories": ["c"]}, "Expected a column 'c'"),
        ("a,b\n1,\n", {"categories": ["b"]}, "in column 'b', line 2 of {}, a name, got ''"),
        ("a,b\n1,cta\n", {"categories": {"b": ["cat", "dog"]}}, "one of 'cat', 'dog', got 'cta'; the nearest is cat"),
        ('a,b\n1,"2\n', {}, "Expected a CSV file, got {}: unexpected end of data"),
        ('a,b\n1,"2"3\n', {}, "Expected a CSV file, got {}"),
        ("a,b\n1,2\n", {"delimiter": ""}, "Expected a CSV file, got {}"),
        ("\x89PNG\r\n\x1a\n\0\0\0", {}, "Expected a CSV file, got {}"),
    ],
)
def test_other_csv_files(tmp_path, text, options, says):
    path = written(tmp_path / "a.csv", text, "latin-1")
    refused(lambda: al.data.csv(path, **options), path, "[csv] ", says.format(path))


def test_no_csv_file(tmp_path):
    refused(lambda: al.data.csv(tmp_path / "none.csv"), tmp_path / "none.csv", "which is not there")


@pytest.mark.parametrize("path", [None, 3, ["a"], "a\0b"])
@pytest.mark.parametrize("name", ["csv", "idx", "npz", "mnist", "cifar10", "image_folder"])
def test_what_is_no_path(name, path):
    with pytest.raises((TypeError, ValueError), match=rf"^\[{name}\] Expected a path, got .*; at "):
        getattr(al.data, name)(path)


def test_other_arguments_of_readers(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,\n")
    with pytest.raises(TypeError, match=r"^\[csv\] Expected a number as missing, got str"):
        al.data.csv(tmp_path / "a.csv", missing="x")
    for read in (al.data.cifar10, al.data.mnist):
        with pytest.raises(ValueError, match=r"Expected float32 or uint8 as the dtype of images, got 'no'"):
            read(tmp_path, dtype="no")
