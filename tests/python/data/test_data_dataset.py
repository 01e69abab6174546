"""Data sets: what the elements are, in which order they come, and that any of them is the same whenever it is read."""

import numpy as np
import pytest

import alloy as al
from alloy.data import from_arrays, from_items, from_iterator
from running import at_once


class Items:
    """Examples ([i, 10 i], i), as a Dataset of PyTorch gives them; counts what is read."""

    def __init__(self, count):
        self.count = count
        self.read = []

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        if not 0 <= i < self.count:
            raise IndexError(i)
        self.read.append(i)
        return np.float32([i, 10 * i]), i


class Tensor:
    """Of another framework."""

    def __init__(self, values):
        self._values = np.asarray(values)

    def numpy(self):
        return self._values


def same(one, other):
    """Whether two elements, or lists of them, are alike to the bit."""
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    return one.dtype == other.dtype and np.array_equal(one, other)


def noisy(x, y, rng):
    return x + rng.random(x.shape, dtype=np.float32), y


ROWS = np.arange(46, dtype=np.float32).reshape(23, 2)
LABELS = np.arange(23, dtype=np.int32)


def test_elements_of_arrays_are_their_rows():
    data = from_arrays(ROWS, LABELS)
    assert len(data) == 23
    x, y = data[4]
    assert same((x, y), (ROWS[4], LABELS[4])) and isinstance(y, np.int32)
    assert same(list(data), [(ROWS[i], LABELS[i]) for i in range(23)])
    assert same(data[-1], data[22])
    assert same(from_arrays(ROWS)[3], ROWS[3])
    assert same(from_arrays((ROWS, LABELS))[3], (ROWS[3], LABELS[3]))


def test_structures_nest():
    data = from_arrays({"image": ROWS, "pair": (LABELS, ROWS[:, 0])}, LABELS).batch(5)
    element = data[1]
    assert same(element, ({"image": ROWS[5:10], "pair": (LABELS[5:10], ROWS[5:10, 0])}, LABELS[5:10]))
    assert [leaf.shape for leaf in al.data.leaves(element)] == [(5, 2), (5,), (5,), (5,)]
    assert same(al.data.rebuild(element, al.data.leaves(element)), element)
    assert al.data.leaves(data.spec) == [
        ((None, 2), np.float32), ((None,), np.int32), ((None,), np.float32), ((None,), np.int32)
    ]  # fmt: skip


def test_named_tuples_keep_their_names():
    from typing import NamedTuple

    class Example(NamedTuple):
        image: object
        label: object

    batch = from_items([Example(ROWS[i], i) for i in range(7)]).batch(4)[0]
    assert type(batch) is Example and same(batch.image, ROWS[:4]) and same(batch.label, LABELS[:4])


def test_shuffle_is_the_permutation_of_seed_and_epoch():
    data = from_arrays(LABELS).shuffle(seed=5)
    for epoch in (0, 1, 7):
        expected = np.random.default_rng([5, epoch]).permutation(23)
        assert [int(y) for y in data.epoch(epoch)] == expected.tolist()
    assert int(data[3]) == np.random.default_rng([5, 0]).permutation(23)[3]
    assert [int(y) for y in data] != [int(y) for y in data]  # the next epoch


@pytest.mark.parametrize("items", [False, True])
def test_orders_are_made_once_an_epoch(monkeypatch, items):
    """Also where a shuffle of repetitions jumps between the epochs of what it repeats."""
    source = from_items(list(LABELS)) if items else from_arrays(LABELS)
    data = source.shuffle(seed=1).repeat(3).shuffle(seed=2).repeat(2).shuffle(seed=3).batch(4)
    made, make = [], np.random.default_rng
    monkeypatch.setattr(np.random, "default_rng", lambda seed: made.append(tuple(seed)) or make(seed))
    for _ in range(2):
        list(data)
    assert len(made) == len(set(made)) == 2 * (6 + 2 + 1)


def test_batches_are_the_rows_in_order():
    data = from_arrays(ROWS, LABELS).shuffle(seed=1).batch(5)
    order = np.random.default_rng([1, 2]).permutation(23)
    assert (len(data), data.rows) == (5, 5)
    batches = list(data.epoch(2))
    assert [len(y) for _, y in batches] == [5, 5, 5, 5, 3]
    for i, batch in enumerate(batches):
        assert same(batch, (ROWS[order[5 * i : 5 * i + 5]], LABELS[order[5 * i : 5 * i + 5]]))


@pytest.mark.parametrize("data", [from_arrays(ROWS, LABELS), from_items(list(zip(ROWS, LABELS)))], ids=["a", "i"])
def test_last_batches(data):
    assert [len(y) for _, y in data.batch(10)] == [10, 10, 3]
    assert [len(y) for _, y in data.batch(10, last="drop")] == [10, 10]
    padded = list(data.batch(10, last="pad"))
    assert [len(y) for _, y, _ in padded] == [10, 10, 10]
    assert same(padded[0], (ROWS[:10], LABELS[:10], np.ones(10, np.float32)))
    assert same(padded[2][1], np.int32([20, 21, *[22] * 8])) and same(padded[2][2], np.float32([1] * 3 + [0] * 7))
    assert data.batch(10, last="pad").spec[2] == ((None,), np.float32)
    assert same(from_arrays(LABELS).batch(23, last="pad")[0], (LABELS, np.ones(23, np.float32)))
    assert list(from_arrays({"x": ROWS}).batch(4, last="pad")[0]) == ["x", "mask"]
    with pytest.raises(ValueError, match='a part "mask"'):
        from_arrays({"mask": ROWS}).batch(4, last="pad").spec  # noqa: B018


CHAINS = {
    "plain": lambda data: data,
    "shuffle": lambda data: data.shuffle(seed=3),
    "batch": lambda data: data.shuffle(seed=3).batch(4),
    "drop": lambda data: data.shuffle(seed=3).batch(4, last="drop"),
    "pad": lambda data: data.shuffle(seed=3).batch(4, last="pad"),
    "map": lambda data: data.shuffle(seed=3).map(noisy, seed=8).batch(4),
    "map before": lambda data: data.map(noisy, seed=8).shuffle(seed=3).batch(4),
    "map of batches": lambda data: data.shuffle(seed=3).batch(4).map(noisy, seed=8),
    "workers": lambda data: data.shuffle(seed=3).map(noisy, seed=8).batch(4, workers=3),
    "repeat": lambda data: data.shuffle(seed=3).repeat(3).batch(4, last="pad"),
    "repeat maps": lambda data: data.shuffle(seed=3).map(noisy, seed=8).repeat(2).batch(5),
    "repeat batches": lambda data: data.batch(5).repeat(2),
    "shuffled repeat": lambda data: data.repeat(2).shuffle(seed=3).batch(4),
    "shuffled repeats": lambda data: data.shuffle(seed=3).repeat(2).shuffle(seed=4).batch(4),
    "shuffled batches": lambda data: data.batch(4).shuffle(seed=3),
    "take": lambda data: data.shuffle(seed=3).take(9).batch(4),
    "take batches": lambda data: data.batch(4).take(3).repeat(2),
    "shard": lambda data: data.shuffle(seed=3).map(noisy, seed=8).shard(1, 3).batch(4),
    "shard batches": lambda data: data.repeat(2).batch(4).shard(2, 5),
    "batches of batches": lambda data: data.batch(3, last="drop").batch(2),
    "two maps": lambda data: data.map(noisy, seed=8).map(noisy, seed=8).batch(6),
}
SOURCES = {"arrays": lambda: from_arrays(ROWS, LABELS), "items": lambda: from_items(list(zip(ROWS, LABELS)))}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("chain", CHAINS)
def test_every_place_can_be_resumed(source, chain):
    """From each place of three epochs the rest is what it would have been; and `out` gets the same."""
    make = lambda: CHAINS[chain](SOURCES[source]())  # noqa: E731
    data = make()
    places, elements = [], []
    for _ in range(3):
        for element in data:
            elements.append(element)
            places.append(data.cursor)
    count = len(data)
    assert len(elements) == 3 * count
    assert places == [divmod(i, count) for i in range(1, 3 * count + 1)]
    for i, place in enumerate(places[: 2 * count - 1], 1):
        again = make()
        again.cursor = place
        rest = list(again)
        assert same(rest, elements[i : i + len(rest)]) and again.cursor == (place[0] + 1, 0)
        assert same(next(iter(again)), elements[(place[0] + 1) * count])
    for i in range(3 * count):
        epoch, index = divmod(i, count)
        load = next(iter(make().loads(epoch, index)))
        assert same(load(), elements[i])
        out = [np.full((50, *leaf.shape[1:]), 99, leaf.dtype) for leaf in al.data.leaves(elements[i])]
        if data.batched:
            given = load(out)
            assert same(given, elements[i])
            assert all(np.shares_memory(leaf, array) for leaf, array in zip(al.data.leaves(given), out))
            assert all((array[len(leaf) :] == 99).all() for leaf, array in zip(al.data.leaves(given), out))


@pytest.mark.parametrize("chain", CHAINS)
def test_arrays_items_and_streams_are_alike(chain):
    expected = list(CHAINS[chain](SOURCES["arrays"]()).epoch(1))
    assert same(list(CHAINS[chain](SOURCES["items"]()).epoch(1)), expected)
    if "shuffle" not in chain and chain in (
        "plain",
        "two maps",
        "take batches",
        "repeat batches",
        "shard batches",
        "batches of batches",
    ):
        stream = CHAINS[chain](from_iterator(lambda: zip(ROWS, LABELS)))
        assert same(list(stream.epoch(1)), expected)
        for start in range(len(expected) + 1):
            assert same(list(stream.epoch(1, start)), expected[start:])


@pytest.mark.parametrize("chain", CHAINS)
def test_spec_is_that_of_the_elements(chain):
    data = CHAINS[chain](from_items(items := Items(23)))
    given = al.data.leaves(data.spec)
    assert set(items.read) <= {0}
    for element in data:
        for spec, leaf in zip(given, al.data.leaves(element), strict=True):
            assert spec.dtype == leaf.dtype
            assert len(spec.shape) == leaf.ndim
            assert all(extent in (None, real) for extent, real in zip(spec.shape, leaf.shape))
            assert (spec.shape[:1] == (None,)) == data.batched


def test_loads_in_any_order_in_threads():
    data = from_items(Items(50)).shuffle(seed=2).map(noisy, seed=4).batch(7)
    found = at_once(lambda load: load(), [*data.loads(3)][::-1])
    assert same(found[::-1], list(data.epoch(3)))


def plain(elements, chain, epoch):
    """The elements of an epoch of a chain of (name, number, choice), made of lists."""
    if not chain:
        return elements
    *before, (name, number, last) = chain
    if name == "repeat":
        return [each for turn in range(number) for each in plain(elements, before, epoch * number + turn)]
    given = plain(elements, before, epoch)
    if name == "take":
        return given[:number]
    if name == "shard":
        return given[number - 1 :: number + 1]
    if name == "shuffle":
        return [given[i] for i in np.random.default_rng([number, epoch]).permutation(len(given))]
    if name == "map":
        links = sum(each[0] == "map" for each in chain)
        rngs = [np.random.default_rng([number, epoch, i, links]) for i in range(len(given))]
        return [blurred(*element, rng=rng) for element, rng in zip(given, rngs)]
    batches = [given[i : i + number] for i in range(0, len(given), number)]
    batches = [batch for batch in batches if last != "drop" or len(batch) == number]
    masks = [np.float32([1] * len(batch) + [0] * (number - len(batch))) for batch in batches]
    if last == "pad":
        batches = [batch + batch[-1:] * (number - len(batch)) for batch in batches]
    stacked = [tuple(np.stack(leaves) for leaves in zip(*batch)) for batch in batches]
    return [(*batch, mask) for batch, mask in zip(stacked, masks)] if last == "pad" else stacked


def blurred(x, *rest, rng):
    return x + rng.random(np.shape(x), dtype=np.float32), *rest


def random_chain(rng):
    chain, ragged, count = [], False, 23
    for _ in range(rng.integers(1, 7)):
        name = rng.choice(["shuffle", "map", "batch", "repeat", "take", "shard"])
        number, last = int(rng.integers(1, 5)), str(rng.choice(["smaller", "drop", "pad"]))
        if name == "take":
            number += 6
        if (name == "batch" and (ragged or count < number)) or (name == "shard" and count <= number):
            continue
        if name == "batch":
            ragged = last == "smaller"
            count = count // number if last == "drop" else -(-count // number)
        share = len(range(number - 1, count, number + 1))
        count = {"take": min(count, number), "repeat": count * number, "shard": share}.get(name, count)
        chain.append((str(name), number, last))
    return chain


@pytest.mark.parametrize("seed", range(60))
def test_random_chains_are_those_of_lists(seed):
    rng = np.random.default_rng(seed)
    chain = random_chain(rng)
    for source in SOURCES.values():
        data = source()
        for name, number, last in chain:
            options = {"map": {"seed": number}, "batch": {"last": last, "workers": int(rng.integers(1, 3))}}.get(
                name, {}
            )
            given = {"map": (blurred,), "shard": (number - 1, number + 1)}.get(name, (number,))
            data = getattr(data, name)(*given, **options)
        for epoch in (0, 3):
            expected = plain([(ROWS[i], LABELS[i]) for i in range(23)], chain, epoch)
            assert len(data) == len(expected), chain
            assert same(list(data.epoch(epoch)), expected), chain
            start = int(rng.integers(0, len(expected) + 1))
            assert same(list(data.epoch(epoch, start)), expected[start:]), chain


@pytest.mark.parametrize("ranks", [1, 2, 4, 23])
def test_shards_hold_each_element_once(ranks):
    whole = from_arrays(ROWS, LABELS).shuffle(seed=5)
    for epoch in (0, 1):
        shares = [list(whole.shard(rank, ranks).epoch(epoch)) for rank in range(ranks)]
        assert {len(share) for share in shares} <= {23 // ranks, 23 // ranks + 1}
        assert same([shares[i % ranks][i // ranks] for i in range(23)], list(whole.epoch(epoch)))


def test_seeded_maps_differ_by_epoch_position_and_map():
    def draw(_, rng):
        return rng.random(dtype=np.float32)

    data = from_arrays(LABELS).map(draw, seed=1)
    first, second = list(data), list(data)
    assert len({float(x) for x in first + second}) == 46
    twice = from_arrays(LABELS).map(lambda x, rng: (x, rng.random(dtype=np.float32)), seed=1)
    twice = twice.map(lambda x, r, rng: (r, rng.random(dtype=np.float32)), seed=1)
    assert all(one != other for one, other in twice)
    assert same(list(from_arrays(LABELS).map(lambda x: x).map(draw, seed=1).epoch(0)), first)


def test_a_stream_reads_its_first_example_once():
    begun, read = [], []

    def examples():
        begun.append(len(begun))
        for i in range(7):
            read.append(i)
            yield ROWS[i], i

    data = from_iterator(examples).batch(3)
    assert data.spec == (((None, 2), np.float32), ((None,), np.int32)) and read == [0]
    assert [len(y) for _, y in data] == [3, 3, 1] and begun == [0] and read == list(range(7))
    assert [len(y) for _, y in data] == [3, 3, 1] and begun == [0, 1]
    assert data.cursor == (2, 0)
    data.cursor = (5, 1)
    assert [y.tolist() for _, y in data] == [[3, 4, 5], [6]]


def test_a_stream_is_read_when_the_loads_advance():
    read = []
    data = from_iterator(lambda: (read.append(i) or i for i in range(6))).map(lambda i: i * 2).batch(2)
    loads = list(data.loads(0))
    assert read == list(range(6))
    assert [load().tolist() for load in reversed(loads)] == [[8, 10], [4, 6], [0, 2]]
    assert loads[0]().tolist() == [0, 2]


def test_an_iterator_may_use_its_memory_again():
    def examples():
        memory = np.zeros(2, np.float32)
        for row in ROWS:
            memory[...] = row
            yield memory

    assert same([load() for load in list(from_iterator(examples).batch(6).loads(0))], list(from_arrays(ROWS).batch(6)))


def test_an_iterator_that_is_not_fresh_is_noticed():
    rows = iter(ROWS)
    data = from_iterator(lambda: rows)
    assert len(list(data)) == 23
    with pytest.raises(ValueError, match="a fresh iterator for each epoch, got one without examples in epoch 1"):
        list(data)


def test_a_taken_stream_is_read_no_further():
    read = []
    data = from_iterator(lambda: (read.append(i) or i for i in range(100))).take(3)
    assert [int(i) for i in data] == [0, 1, 2] and read == [0, 1, 2]


@pytest.mark.parametrize("make", [lambda: iter(range(5)), lambda: (i for i in range(5))])
def test_an_iterator_has_one_epoch(make):
    data = from_iterator(make()).batch(2)
    data.spec  # noqa: B018
    assert [y.tolist() for y in data] == [[0, 1], [2, 3], [4]]
    with pytest.raises(
        ValueError, match="returns a fresh iterator for each epoch, got an iterator, which has been read"
    ):
        list(data)


def test_what_can_be_iterated_again_needs_no_function():
    data = from_iterator([0, 1, 2])
    assert [list(map(int, data)) for _ in range(2)] == [[0, 1, 2]] * 2


def test_batches_of_the_source():
    batches = [(ROWS[i : i + 8], LABELS[i : i + 8]) for i in range(0, 23, 8)]
    for data in (from_iterator(lambda: batches, batched=True), from_items(batches, batched=True)):
        assert data.spec == (((None, 2), np.float32), ((None,), np.int32)) and data.rows is None
        assert same(list(data), batches)
        mapped = data.map(lambda x, y: (x * 2, y))
        assert mapped.spec == data.spec and [len(y) for _, y in mapped] == [8, 8, 7]


def test_other_objects_become_arrays():
    image = pytest.importorskip("PIL.Image").new("RGB", (3, 2), (1, 2, 3))
    x, tensor, number, whole, flag, row = from_items([(image, Tensor(np.float32([1.5])), 2.5, 3, True, [1, 2])])[0]
    assert (x.shape, x.dtype, x[0, 0].tolist()) == ((2, 3, 3), np.uint8, [1, 2, 3])
    assert tensor.dtype == np.float32 and number.dtype == np.float32 and whole.dtype == np.int32
    assert flag.dtype == bool and same(row, np.int32([1, 2]))


def test_lists_of_arrays_are_tuples():
    """As what a DataLoader of PyTorch gives; a list of numbers is an array."""
    batches = [[Tensor(ROWS[:4]), Tensor(LABELS[:4])], [[Tensor(ROWS[:2]), Tensor(ROWS[2:4])], [[1, 2], [3, 4]]]]
    first, second = from_iterator(batches)
    assert same(first, (ROWS[:4], LABELS[:4]))
    assert same(second, ((ROWS[:2], ROWS[2:4]), np.int32([[1, 2], [3, 4]])))
    assert same(from_items([[1.5, 2], [np.float32(3), 4]])[1], np.float32([3, 4]))
    assert same(from_arrays([[1, 2], [3, 4]])[1], np.int32([3, 4]))
    assert same(from_arrays([ROWS[0], ROWS[1]])[1], ROWS[1])  # the rows of one array


def test_types_that_tensors_have():
    large = np.int64([1, 2**40])
    x, y, z, u = from_arrays(np.int64([1, 2]), large, np.uint8([1, 2]), np.arange(2).astype(">f4")).spec
    assert [spec.dtype for spec in (x, y, z, u)] == [np.int32, np.int64, np.uint8, np.float32] and u.dtype.isnative
    with pytest.warns(UserWarning, match=r"^\[from_arrays\] The value is float64 and was cast to float32.$") as caught:
        data = from_arrays(np.ones((3, 2)), np.ones(3))
    assert len(caught) == 1 and caught[0].filename == __file__ and data.spec[0].dtype == np.float32
    with pytest.warns(UserWarning, match=r"^\[from_items\] The value is float64") as caught:
        assert [x.dtype for x in from_items(np.ones((3, 2)))] == [np.float32] * 3
    assert len(caught) == 1
    assert [x.dtype for x in from_items([2**40, 1]).batch(2)] == [np.int64]


def test_arrays_are_not_copied_and_not_written():
    data = from_arrays(ROWS, LABELS)
    x, _ = data[3]
    assert np.shares_memory(x, ROWS)
    assert np.shares_memory(data.batch(4)[1][0], ROWS)
    with pytest.raises(ValueError, match=r"^\[map\] The function failed on example 0, .* with ValueError: .*read-only"):
        data.map(lambda x, y: (x.__iadd__(1), y))[0]
    strided = np.arange(400, dtype=np.float32).reshape(20, 20)[:, ::3]
    shuffled = from_arrays(strided).shuffle(seed=1).batch(6)
    order = np.random.default_rng([1, 0]).permutation(20)
    assert same(shuffled[1], np.ascontiguousarray(strided[order[6:12]]))


def test_batches_of_chosen_rows_may_be_changed():
    data = from_arrays(ROWS).shuffle(seed=1).batch(4).map(lambda x: np.add(x, 1, out=x))
    order = np.random.default_rng([1, 0]).permutation(23)
    assert same(data[2], ROWS[order[8:12]] + 1) and ROWS[0, 0] == 0


def test_batches_are_gathered_where_steps_read_them():
    graph = al.Graph()
    x, y = graph.placeholder((None, 2)), graph.placeholder((None,), al.int32)
    step = graph.compile([x, y], [al.sum(x), al.sum(y)])
    data, staging = from_arrays(ROWS, LABELS).shuffle(seed=1).batch(5), step.staging((5, 2), (5,))
    sums = [staging.submit(*al.data.leaves(load(staging.arrays()))) for load in data.loads(0)]
    expected = [(x.sum(), y.sum()) for x, y in data.epoch(0)]
    assert [tuple(each) for each in sums] == expected and len(expected) == 5


def test_arrays_on_disk(tmp_path):
    np.save(tmp_path / "x.npy", ROWS)
    data = from_arrays(np.load(tmp_path / "x.npy", mmap_mode="r"), LABELS).shuffle(seed=1).batch(4)
    order = np.random.default_rng([1, 0]).permutation(23)
    assert same(data[2], (ROWS[order[8:12]], LABELS[order[8:12]])) and type(data[2][0]) is np.ndarray


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((2000, 1000), np.float32),
        np.zeros((2000, 2000), np.float32)[:, ::2],
        np.zeros((1000, 2000), np.float32).T,
    ],
    ids=["packed", "strided", "transposed"],
)
def test_reading_copies_no_data_set(array):
    import tracemalloc

    data = from_arrays(array).shuffle(seed=1).batch(10)
    out = [np.empty((10, 1000), np.float32)]
    tracemalloc.start()
    for load in data.loads(0):
        load(out)
    for epoch in range(50):
        next(iter(data.loads(epoch)))(out)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200_000  # of which an epoch's order is 16,000; the data set has 8,000,000


def fails(x, y):
    if y == 17:
        raise KeyError("seventeen")
    return x, y


class Broken(Items):
    def __getitem__(self, i):
        return 1 / 0 if i == 17 else super().__getitem__(i)


# fmt: off
WRONG = {
    "lengths": (lambda: from_arrays(ROWS, LABELS[:3]), ValueError,
     "one or more examples each, as many in all, got (float32(23, 2), int32(3,)); built at "),
    "empty": (lambda: from_arrays(ROWS[:0]), ValueError, "one or more examples each"),
    "no arrays": (lambda: from_arrays(), ValueError, "one or more examples each"),
    "scalar": (lambda: from_arrays(3), ValueError, "got int32()"),
    "text": (lambda: from_arrays(ROWS, ["a"] * 23), TypeError,
     "[from_arrays] Expected arrays of numbers, got an array of <U1, which is no array of numbers"),
    "objects": (lambda: from_arrays(np.array([None])), TypeError,
     "got an array of object, which is no array of numbers"),
    "no items": (lambda: from_items(3), TypeError,
     "[from_items] Expected an object with __len__ and __getitem__, got int"),
    "dictionary": (lambda: from_items({"x": ROWS}), TypeError, "from_arrays takes a dictionary of arrays"),
    "generator": (lambda: from_items(iter([1])), TypeError, "from_iterator takes it"),
    "empty items": (lambda: from_items([]), ValueError,
     "[from_items] Expected one or more examples, got list without any"),
    "item is text": (lambda: list(from_items([1, "a"])), TypeError,
     "got example 1 with str, which is no array of numbers"),
    "no iterator": (lambda: from_iterator(3), TypeError,
     "[from_iterator] Expected a function that returns an iterator"),
    "function of something": (lambda: list(from_iterator(lambda: 3)), ValueError,
     "The iterator of epoch 0 could not be made: TypeError: 'int' object is not iterable"),
    "empty iterator": (lambda: from_iterator(list).spec, ValueError, "got an iterator without any"),
    "shape": (lambda: list(from_items([ROWS[0], ROWS[1], ROWS[0, :1]]).batch(3)), ValueError,
     "[batch] Expected float32(2,) as of the first example, got float32(1,) of example 2"),
    "dtype": (lambda: list(from_items([1, 2.5]).batch(2)), ValueError,
     "Expected int32() as of the first example, got float32() of example 1"),
    "structure": (lambda: list(from_items([(1, 2), 1]).batch(2)), ValueError,
     "Expected (int32(), int32()) as of the first example, got int32() of example 1"),
    "length": (lambda: list(from_items([(1, 2), (1, 2, 3)]).batch(2)), ValueError,
     "Expected (int32(), int32()) as of the first example, got (int32(), int32(), int32()) of example 1"),
    "no batch of a stream": (lambda: list(from_iterator(lambda: range(3)).batch(4, last="drop")), ValueError,
     "[batch] Expected 4 or more examples for a whole batch, got 3 in epoch 0"),
    "keys": (lambda: list(from_items([{"a": 1}, {"b": 1}]).batch(2)), ValueError,
     "Expected {'a': int32()} as of the first example, got {'b': int32()} of example 1"),
    "shuffled shape": (lambda: list(from_items([*ROWS, ROWS[0, :1]]).shuffle(seed=1).batch(2)), ValueError,
     "of example 23"),
    "too large": (lambda: list(from_items([1, 2**40]).batch(2)), ValueError,
     "Expected int32() as of the first example, got int64() of example 1"),
    "stream shape": (lambda: list(from_iterator(lambda: [1, 2, [3]]).batch(2)), ValueError,
     "got int32(1,) of example 2 of epoch 0"),
    "source batches": (lambda: list(from_items([ROWS, LABELS], batched=True)), ValueError,
     "Expected float32(?, 2) as of the first example, got int32(23,) of batch 1"),
    "map": (lambda: list(from_arrays(ROWS, LABELS).shuffle(seed=1).map(fails).batch(4)), ValueError,
     "[map] The function failed on example 17, (float32(2,), int32()), with KeyError: 'seventeen'; built at "),
    "map workers": (lambda: list(from_arrays(ROWS, LABELS).map(fails).batch(4, workers=4)), ValueError,
     "failed on example 17,"),
    "map of batches": (lambda: list(from_arrays(LABELS).batch(4).map(lambda x: 1 / np.int32(x[0] != 8).item())),
     ValueError, "failed on batch 2 of epoch 0, int32(4,), with ZeroDivisionError: division by zero"),
    "map arguments": (lambda: list(from_arrays(ROWS, LABELS).map(lambda x: x)), ValueError,
     "failed on example 0, (float32(2,), int32()), with TypeError: "),
    "map gives text": (lambda: list(from_arrays(LABELS).map(str)), TypeError,
     "[map] Expected arrays of numbers from the function, got str, which is no array of numbers for example 0"),
    "map gives None": (lambda: list(from_arrays(LABELS).map(lambda x: None)), TypeError,
     "got NoneType, which is no array"),
    "map changes": (lambda: list(from_arrays(LABELS).batch(4).map(lambda x: x if x[0] < 8 else np.float32(x))),
     ValueError,
     "[map] Expected int32(?,) as the function made of the first example, got float32(4,) of batch 2 of epoch 0"),
    "items": (lambda: list(from_items(Broken(20)).batch(4)), ValueError,
     "[from_items] Example 17 could not be read: ZeroDivisionError: division by zero; built at "),
    "items workers": (lambda: list(from_items(Broken(20)).batch(20, workers=7)), ValueError,
     "Example 17 could not be read"),
    "iterator": (lambda: list(from_iterator(lambda: (1 / (3 - i) for i in range(5)))), ValueError,
     "[from_iterator] The iterator failed at example 3 of epoch 0: ZeroDivisionError: "),
    "shuffled stream": (lambda: from_iterator(list).shuffle(), ValueError,
     "[shuffle] Expected a data set with indices, got a stream: a permutation needs all examples"),
    "len of stream": (lambda: len(from_iterator(list)), TypeError,
     "[len] Expected a data set with indices, got a stream: how many examples"),
    "index of stream": (lambda: from_iterator(list)[0], TypeError,
     "[index] Expected a data set with indices, got a stream"),
    "index": (lambda: from_arrays(LABELS)[23], IndexError, "[index] Expected an index below 23, got 23; at "),
    "slice": (lambda: from_arrays(LABELS)[:3], TypeError, "take(count) gives the first ones"),
    "batch size": (lambda: from_arrays(LABELS).batch(0), ValueError, "[batch] Expected a size of 1 or more, got 0"),
    "batch size type": (lambda: from_arrays(LABELS).batch("4"), TypeError,
     "[batch] Expected a size as an integer, got '4'"),
    "last": (lambda: from_arrays(LABELS).batch(4, last="dropp"), ValueError, "got 'dropp'; the nearest is drop"),
    "workers": (lambda: from_arrays(LABELS).batch(4, workers=0), ValueError,
     "[batch] Expected a number of workers of 1 or more"),
    "no batch": (lambda: from_arrays(LABELS).batch(24, last="drop"), ValueError,
     "Expected 24 or more examples for a whole batch, got 23"),
    "seed": (lambda: from_arrays(LABELS).shuffle(seed=-1), ValueError,
     "[shuffle] Expected a seed of 0 or more, got -1"),
    "map seed": (lambda: from_arrays(LABELS).map(noisy, seed=1.5), TypeError, "[map] Expected a seed as an integer"),
    "function": (lambda: from_arrays(LABELS).map(3), TypeError, "[map] Expected a function, got int"),
    "repeat": (lambda: from_arrays(LABELS).repeat(0), ValueError, "[repeat] Expected a count of 1 or more, got 0"),
    "take": (lambda: from_arrays(LABELS).take(0), ValueError, "[take] Expected a count of 1 or more, got 0"),
    "rank": (lambda: from_arrays(LABELS).shard(4, 4), ValueError, "[shard] Expected a rank below 4, got 4"),
    "ranks": (lambda: from_arrays(LABELS).shard(0, 24), ValueError,
     "[shard] Expected 24 or more elements for 24 ranks, got 23"),
    "cursor": (lambda: setattr(from_arrays(LABELS), "cursor", 3), TypeError,
     "[cursor] Expected a pair (epoch, index) of integers, got 3"),
    "cursor range": (lambda: setattr(from_arrays(LABELS), "cursor", (0, 24)), ValueError,
     "[cursor] Expected an index up to 23, got 24"),
    "start": (lambda: from_arrays(LABELS).loads(0, 24), ValueError, "[loads] Expected an index up to 23, got 24"),
    "epoch": (lambda: from_arrays(LABELS).epoch(-1), ValueError, "Expected an epoch of 0 or more, got -1"),
    "constructor": (lambda: al.data.Dataset(ROWS), TypeError,
     "al.data.from_arrays(x, y), from_items(object) or from_iterator(function), got Dataset of ndarray"),
    "small out": (lambda: next(iter(from_items(LABELS).batch(4).map(lambda x: x).loads(0)))([np.empty(3, np.int32)]),
     ValueError, "[load] Expected an array for int32(4,), got int32(3,)"),
}
# fmt: on


@pytest.mark.parametrize("case", WRONG)
def test_mistakes_are_named(case):
    call, kind, says = WRONG[case]
    with pytest.raises(kind) as raised:
        call()
    message = str(raised.value)
    assert says in message and message.endswith(".") and "\n" not in message
    assert f"at {__file__.rpartition('/')[2]}" in message or "tests/python/data/test_data_dataset.py:" in message
    if "Error: " in message:
        assert raised.value.__cause__ is not None


def test_long_messages_become_one_line():
    def fails(x):
        raise OSError("no\n  such disk.")

    with pytest.raises(ValueError, match=r"with OSError: no such disk; built at"):
        list(from_arrays(LABELS).map(fails))


def test_nothing_is_lost_by_a_mistake():
    data = from_items(broken := Broken(20)).batch(4)
    with pytest.raises(ValueError, match="Example 17"):
        list(data)
    assert data.cursor == (0, 4)
    broken.__class__ = Items
    assert [y.tolist() for _, y in data] == [[16, 17, 18, 19]]


def test_the_end_of_an_epoch_is_the_beginning_of_the_next():
    data = from_arrays(LABELS)
    data.cursor = 2, 23
    assert data.cursor == (3, 0)
    for _ in data:
        break
    assert data.cursor == (3, 1) and len(list(data)) == 22


def test_data_sets_show_what_they_are():
    data = (
        from_arrays(ROWS, LABELS).shuffle(seed=1).map(noisy, seed=2).batch(4, last="pad", workers=2).repeat(2).take(5)
    ).shard(1, 2)
    assert repr(data) == (
        "<Dataset from_arrays(23 of (float32(2,), int32())).shuffle(seed=1).map(noisy, seed=2)"
        '.batch(4, last="pad", workers=2).repeat(2).take(5).shard(1, 2)>'
    )
    assert repr(from_items(Items(3))) == "<Dataset from_items(3 of Items)>"
    assert repr(from_iterator(list)) == "<Dataset from_iterator(list)>" and bool(from_iterator(list))
