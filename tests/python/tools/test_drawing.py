"""Drawings of graphs: what is in them, that nothing overlaps, and where edges lead."""

import itertools
import re
from collections import Counter
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

import alloy as al
from alloy.tools import drawing
from alloy.tools.demo import cnn

SVG = "{http://www.w3.org/2000/svg}"
LEAVES = {"op", "variable", "placeholder", "folded"}


def network(name):
    """The ops from the images to the loss of a training step."""
    model = cnn() if name == "cnn" else al.models.resnet18()
    graph, shape = model.graph or al.Graph(), (4, 8, 8, 1) if name == "cnn" else (4, 32, 32, 3)
    x, y = graph.placeholder(shape, name="x"), graph.placeholder((4,), al.int32, name="y")
    loss = al.mean(al.losses.softmax_cross_entropy(model(x, training=True), y))
    return graph.inspect(fetches=[loss])


def step():
    """The ops of a training step with everything in it."""
    graph = al.Graph()
    x = graph.placeholder((4, 6), name="x")
    model = al.nn.Sequential(al.nn.Dense(5), al.nn.Residual(al.nn.ReLU()), al.nn.Dense(1))
    loss = al.mean(al.square(model(x)))
    return graph.inspect(fetches=[loss], updates=al.SGD(0.1).minimize(loss))


class Drawn:
    """(style, left, top, right, bottom, texts) of every box of an SVG, and the points of every edge."""

    def __init__(self, ops):
        tree = ElementTree.fromstring(drawing.svg(ops))
        self.width, self.height = float(tree.get("width")), float(tree.get("height"))
        self.boxes = []
        for group in [*tree.iter(f"{SVG}g"), *tree.iter(f"{SVG}a")]:
            rect = group.find(f"{SVG}rect")
            x, y, width, height = (float(rect.get(name)) for name in ("x", "y", "width", "height"))
            texts = [(float(text.get("x")), float(text.get("y")), text.text) for text in group.iter(f"{SVG}text")]
            self.boxes.append((rect.get("class"), x, y, x + width, y + height, texts))
        paths = [path for path in tree.iter(f"{SVG}path")]
        self.tips = [points(path.get("d"))[0] for path in paths if path.get("class") == "arrow"]
        self.edges = [points(path.get("d")) for path in paths if path.get("class") is None]

    def titles(self, *styles):
        return Counter(texts[0][2] for style, *_, texts in self.boxes if style in styles)


def points(path):
    """Points along an SVG path, close to each other."""
    corners, curve = [], []
    for command, numbers in re.findall(r"([MVClhz])([-0-9. ]*)", path):
        values = [float(number) for number in numbers.split()]
        if command == "M":
            corners = [tuple(values)]
        elif command == "V":
            corners.append((corners[-1][0], values[0]))
        elif command == "C":
            start, (a, b, c) = np.array(corners[-1]), np.reshape(values, (3, 2))
            t = np.linspace(0, 1, 20)[:, None]
            curve = (1 - t) ** 3 * start + 3 * (1 - t) ** 2 * t * a + 3 * (1 - t) * t**2 * b + t**3 * c
            corners += [tuple(point) for point in curve]
    return [tuple(point) for a, b in zip(corners, corners[1:] or corners) for point in np.linspace(a, b, 10)]


def unnamed():
    x = al.Graph().placeholder((2, 3))
    return x.graph.inspect(fetches=[x])


@pytest.mark.parametrize(
    "ops",
    [lambda: network("cnn"), lambda: network("resnet18"), step, unnamed],
    ids=["cnn", "resnet18", "step", "unnamed"],
)
def test_nothing_overlaps(ops):
    drawn = Drawn(ops())
    assert drawn.boxes
    for a, b in itertools.combinations(drawn.boxes, 2):
        apart = a[1] >= b[3] or b[1] >= a[3] or a[2] >= b[4] or b[2] >= a[4]
        inside = a[1] < b[1] and a[2] < b[2] and b[3] < a[3] and b[4] < a[4]
        assert apart or inside and a[0] == "layer", (a, b)
    for _, left, top, right, bottom, texts in drawn.boxes:
        assert 0 <= left < right <= drawn.width and 0 <= top < bottom <= drawn.height
        for x, y, text in texts:  # 0.6 em is the advance of the font
            assert left < x and x + 6.6 * len(text) < right and top + 11 <= y < bottom
    leaves = [box[1:5] for box in drawn.boxes if box[0] in LEAVES]
    for edge in drawn.edges:
        for x, y in edge:
            assert 0 <= x <= drawn.width and 0 <= y <= drawn.height
            assert not any(
                left + 0.2 < x < right - 0.2 and top + 0.2 < y < bottom - 0.2 for left, top, right, bottom in leaves
            ), edge[0]


def test_each_op_of_a_small_network():
    ops = [op for op in network("cnn") if op.kind != "constant"]
    drawn = Drawn(ops)
    assert drawn.titles("op") == Counter(op.kind for op in ops if op.kind not in ("variable", "placeholder"))
    assert drawn.titles("placeholder") == Counter(["x", "y"])
    assert drawn.titles("variable") == Counter(["weights", "bias"] * 4)
    assert drawn.titles("layer") == Counter(
        ["conv2d_0", "relu_0", "conv2d_1", "relu_1", "maxpool2d_0", "flatten_0", "dense_0", "relu_2", "dense_1"]
    )
    texts = [[text for *_, text in texts] for *_, texts in drawn.boxes]
    assert ["weights", "(3, 3, 16, 32)"] in texts and ["max_pool2d", "(4, 4, 4, 32)"] in texts
    # Every op has an arrow at its upper border for each tensor that it uses.
    made = {result for op in ops for result in op.results}
    wanted = Counter((op.kind, len(made & set(op.operands))) for op in ops)
    found = Counter()
    for style, left, top, right, _, texts in drawn.boxes:
        if style in LEAVES:
            count = sum(left < x < right and abs(y - top) < 0.2 for x, y in drawn.tips)
            found[style if style != "op" else texts[0][2], count] += 1
    assert found == wanted


def test_layers_of_a_large_network():
    drawn = Drawn(network("resnet18"))
    assert drawn.titles("layer") == Counter(
        ["stage0", "stage1", "stage2", "stage3", *["block0", "block1", "branch", "branch"] * 4, *["shortcut"] * 3]
    )
    folded = drawn.titles("folded")
    assert sum(count for title, count in folded.items() if title.startswith("conv2d")) == 20
    assert drawn.titles("op")["add"] == 8 and not drawn.titles("variable")
    texts = {texts[0][2]: texts[1][2] for style, *_, texts in drawn.boxes if style == "folded"}
    assert texts["dense_0"] == "5,130 parameters → (4, 10)" and texts["maxpool2d_0"] == "→ (4, 6, 6, 64)"


def test_a_layer_used_twice_and_odd_names():
    graph = al.Graph()
    dense, relu, x = al.nn.Dense(3), al.nn.ReLU(), graph.placeholder((2, 3), name='<"&>')
    y = dense(relu(dense(relu(x))))
    for ops in (graph.inspect(fetches=[y]), graph.inspect(fetches=[x]), []):
        assert ElementTree.fromstring(drawing.svg(ops)).tag == f"{SVG}svg"
        Page(ops)
    assert Drawn(graph.inspect(fetches=[y])).titles("op") == Counter(matmul=2, add=2, relu=2)


class Page(HTMLParser):
    """The pictures of a page by their headings; checks that tags match, and that links lead to headings."""

    def __init__(self, ops):
        super().__init__()
        self.text = drawing.html(ops)
        self.headings, self.links, self.stack = [], set(), []
        self.feed(self.text)
        assert self.stack == [] and len({*self.headings}) == len(self.headings)
        assert self.links == {*self.headings}
        self.pictures = re.split("<h2", self.text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag != "meta":
            self.stack.append(tag)
        if tag == "h2":
            self.headings.append(attributes["id"])
        self.links |= {attributes["href"][1:]} if "href" in attributes else set()

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag


@pytest.mark.parametrize("name, folded", [("cnn", 0), ("resnet18", 20 + 20 + 17 + 4)])
def test_page(name, folded):
    """Each folded layer has a picture of its own, and every op is in one picture."""
    ops = network(name)
    page = Page(ops)
    assert len(page.headings) == folded
    assert not re.search(r"(?<!xmlns=\")https?:|src=|@import|<script", page.text), "it needs nothing else"
    for op in ops:
        hint = rf"<title>{re.escape(f'{op.kind} {op.name}'.strip())}[,<]"
        assert op.kind == "constant" or sum(bool(re.search(hint, picture)) for picture in page.pictures) == 1, op.name
    if folded:
        shown = next(picture for picture in page.pictures if picture.startswith(' id="stage0/block0/branch/conv2d_1">'))
        assert "<title>conv2d stage0/block0/branch/conv2d_1/conv2d, " in shown and "batchnorm" not in shown


# ---- al.draw ----


class Fork(al.nn.Layer):
    def __init__(self):
        super().__init__()
        self.body, self.head = al.nn.Dense(4), al.nn.Dense(2)

    def forward(self, x, training):
        x = self.body(x, training)
        return {"logits": self.head(x, training), "mean": al.mean(x, axis=1)}


def drawn_of(what, path):
    al.draw(what, path)
    return path.read_text()


@pytest.mark.parametrize("suffix", ["html", "svg"])
def test_whatever_has_a_graph_can_be_drawn(suffix, tmp_path, rng):
    graph, model = al.Graph(), Fork()
    x = graph.placeholder((None, 3), name="x")
    y = model(x)
    path = tmp_path / f"drawing.{suffix}"
    step = graph.compile([x], [y["mean"]], al.SGD(0.1).minimize(al.mean(y["logits"])))
    for what in (model, y, [y["logits"], y["mean"]], graph, step):
        text = drawn_of(what, path)
        assert "(?, 3)" in text and "body" in text and ">mean<" in text
        assert ("head" in text) == (what is not y["mean"])
    assert "<title>Fork</title>" in drawn_of(model, path) and "test_drawing.py:" in text
    assert "head" not in drawn_of(y["mean"], path) and "sgd" in drawn_of(step, path)
    trainer = al.Trainer(Fork(), {"logits": "mean_squared_error", "mean": "mean_squared_error"}, "adam")
    with pytest.raises(ValueError, match=r"^\[draw\] Expected a trainer after its first fit; at"):
        al.draw(trainer, path)
    data = rng.normal(size=(8, 3)).astype(np.float32)
    trainer.fit((data, {"logits": np.zeros((8, 2), np.float32), "mean": np.zeros(8, np.float32)}), progress=False)
    text = drawn_of(trainer, path)
    assert "<title>Fork</title>" in text and "adam" not in text and ">mean<" in text


def test_what_cannot_be_drawn(tmp_path):
    graph = al.Graph()
    x = graph.placeholder((2,))
    cases = [
        (x, "x.png", ValueError, r"\[draw\] Expected a path that ends with \.html or \.svg, got '.*x\.png'; at"),
        (al.nn.Dense(2), "x.svg", ValueError, r"\[draw\] Expected a layer that has been called, for instance model\("),
        (3, "x.svg", TypeError, r"\[draw\] Expected a layer, a trainer, tensors, a graph or an executable, got int"),
        ([], "x.svg", TypeError, "got nothing"),
        ([x, None], "x.svg", TypeError, "got list"),
        (x, "missing/x.svg", FileNotFoundError, "missing"),
    ]
    for what, name, kind, says in cases:
        with pytest.raises(kind, match=says):
            al.draw(what, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_an_image_scales():
    tree = ElementTree.fromstring(drawing.svg(network("cnn"), "a <title>"))
    assert tree.get("viewBox") == f"0 0 {tree.get('width')} {tree.get('height')}"
    assert tree.find(f"{SVG}title").text == "a <title>"
    assert "<title>a &lt;title&gt;</title>" in drawing.html([], "a <title>")
