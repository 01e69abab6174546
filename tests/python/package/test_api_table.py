"""The portable framework's headers agree with the committed table of Apple's API, what they declare is there, and each
is tested."""

import ctypes
import importlib.util
import json
import pathlib
import re

import pytest

import alloy as al

FACADE = pathlib.Path(__file__).parents[2] / "facade"
ROOT = FACADE.parents[1]
HOW = (
    "Add rows to tests/facade/api.json: by tests/facade/make_api_table.py from a full table of Apple's API, or by hand "
    "with their source; its head says how a row by hand is written."
)
# What programs get from Apple's other headers, CoreFoundation's CFTimeInterval and simd's vectors, and constants, which
# the full table does not list.
EXTRAS = {
    ("typedefs", "CFTimeInterval"),
    ("typedefs", "vector_float2"),
    ("typedefs", "vector_uchar16"),
    ("constants", "MTLCaptureErrorDomain"),
    ("constants", "MTLCommandBufferErrorDomain"),
    ("constants", "MTLLibraryErrorDomain"),
    ("constants", "MPSRectNoClip"),
}
# What programs only name: no object of these can be made, since shaders and textures do not exist on the device.
ONLY_NAMED = {"MTLComputeCommandEncoder", "MTLComputePipelineState", "MTLFunction", "MTLLibrary", "MTLTexture"}
# What programs implement and the framework sends.
IMPLEMENTED_BY_PROGRAMS = {"MPSCNNConvolutionDataSource"}

pytestmark = pytest.mark.skipif(al.device().kind == "gpu", reason="the framework is Apple's")


def load(name):
    spec = importlib.util.spec_from_file_location(name, FACADE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


declarations = load("declarations")


def flat(rows, *path):
    """(path, row) for every leaf."""
    for name, row in rows.items():
        if isinstance(row, dict) and row and not declarations.is_by_hand(row):
            yield from flat(row, *path, name)
        elif row != {}:
            yield (*path, name), row


def plain(rows):
    """The rows by hand like the others."""
    if declarations.is_by_hand(rows):
        return rows["row"]
    return {name: plain(row) for name, row in rows.items()} if isinstance(rows, dict) else rows


WRITTEN = json.loads((FACADE / "api.json").read_text())
NEWER = WRITTEN.pop("newer")  # what came after macOS 13.3
TIERS = WRITTEN.pop("tiers")  # what Apple's classes have, whether ours do or not
BY_HAND = {path: row for path, row in flat(WRITTEN) if declarations.is_by_hand(row)}
TABLE = plain(WRITTEN)


@pytest.fixture(scope="module")
def declared():
    return declarations.declared()


def test_the_headers_agree_with_the_table(declared):
    ours, table = dict(flat(declared)), dict(flat(TABLE))
    for extra in EXTRAS:
        assert ours.pop(extra) and extra not in table
    assert sorted(ours.keys() - table.keys()) == [], f"declared, but not in the table. {HOW}"
    assert sorted(table.keys() - ours.keys()) == [], (
        "in the table, but not declared: a header of csrc/portable/include lost it, or the row is of no use"
    )
    assert {path: (row, table[path]) for path, row in ours.items() if row != table[path]} == {}, "(declared, Apple's)"


@pytest.mark.parametrize("tier", ["1", "2"])
def test_tiers_are_complete(tier):
    """What programs need of Apple's names is declared; what is declared is implemented and tested, below."""
    names = [(kind, name, member) for kind in TIERS for name in TIERS[kind] for member in TIERS[kind][name][tier]]
    assert len(names) >= {"1": 150, "2": 150}[tier]
    declared = {
        (kind, name, member)
        for kind in TIERS
        for name, row in TABLE[kind].items()
        for member in (*row.get("methods", ()), *row.get("properties", ()))
    }
    assert [each for each in names if each not in declared] == []


def test_rows_by_hand_say_where_they_were_read():
    for path, row in BY_HAND.items():
        assert set(row) == {"row", "source", "introduced"}, path
        assert re.fullmatch(r"[\w/]+\.h, (macOS|iOS) \d+\.\d+ SDK", row["source"]), (path, HOW)
        assert re.fullmatch(r"\d+\.\d+", row["introduced"]), (path, HOW)


def test_rows_by_hand_stay_until_a_full_table_has_them(monkeypatch):
    monkeypatch.syspath_prepend(FACADE)
    make = load("make_api_table")
    kinds = ("classes", "protocols", "enums", "typedefs", "functions")
    nothing = {kind: {} for kind in (*kinds, "structs")}
    methods = {
        name: {"row": ["void"], "source": "A.h, macOS 14.0 SDK", "introduced": "14.0"} for name in ("- a", "- b:")
    }
    members = {"methods": methods, "properties": {}, "protocols": []}
    before = nothing | {"protocols": {"P": members, "Gone": {"methods": {"- c": ["void"]}}}, "newer": []}
    known = {"kind": "-", "selector": "a", "returns": "int", "args": []}
    known |= {"introduced_macos": "11.0", "sdks": [], "tier": 1}
    full = nothing | {"functions": [], "protocols": {"P": {"methods": [known], "properties": [], "protocols": []}}}
    made = make.renewed(full, nothing | {"protocols": {"P": members}}, before)
    assert made["protocols"] == {"P": members | {"methods": {"- a": ["int"], "- b:": methods["- b:"]}}}
    assert made["newer"] == ["b:"]
    assert made["tiers"]["protocols"] == {"P": {"1": ["- a"], "2": [], "3": []}}
    assert json.loads(make.text(made)) == made


def test_what_imitations_lack_is_what_came_later():
    rows = (ROOT / "csrc/portable/facade/newer.def").read_text()
    assert re.findall(r'^ALLOY_NEWER\(\w+, "([\w:]+)"', rows, re.M) == NEWER, (
        'csrc/portable/facade/newer.def and the list "newer" of tests/facade/api.json differ'
    )


def test_the_table_is_not_empty():
    for name in ("MPSGraph", "MPSGraphExecutable", "MPSGraphTensorData", "MPSNDArray"):
        assert TABLE["classes"][name]["methods"], name
    assert len(TABLE["classes"]["MPSGraph"]["methods"]) > 80
    assert TABLE["enums"]["MPSDataType"]["cases"]["MPSDataTypeFloat32"] == 0x10000020


def accessors(properties):
    for name, row in properties.items():
        getter = re.search(r"getter=(\w+)", row)
        yield f"- {getter[1] if getter else name}"
        if not row.startswith("readonly"):
            yield f"- set{name[0].upper()}{name[1:]}:"


def selectors(row):
    """ "- selector" and "+ selector" of a class or protocol, without those that no program may send."""
    yield from (name for name, types in row.get("methods", {}).items() if "unavailable" not in types)
    yield from accessors(row.get("properties", {}))


class Runtime:
    """The classes of the process, asked through the C functions of the Objective-C runtime."""

    def __init__(self):
        self.objc = ctypes.CDLL("libobjc.so.4")
        for name in (
            "objc_getClass",
            "objc_getProtocol",
            "sel_registerName",
            "class_getInstanceMethod",
            "class_getClassMethod",
        ):
            getattr(self.objc, name).restype = ctypes.c_void_p
        self.objc.class_getName.restype = ctypes.c_char_p
        self.objc.class_conformsToProtocol.restype = ctypes.c_ubyte

    def class_named(self, name):
        return ctypes.c_void_p(self.objc.objc_getClass(name.encode()))

    def implements(self, cls, selector):
        kind, name = selector.split(" ")
        find = self.objc.class_getInstanceMethod if kind == "-" else self.objc.class_getClassMethod
        return find(cls, ctypes.c_void_p(self.objc.sel_registerName(name.encode()))) is not None

    def classes_conforming_to(self, protocol):
        protocol = ctypes.c_void_p(self.objc.objc_getProtocol(protocol.encode()))
        assert protocol
        count = self.objc.objc_getClassList(None, 0)
        classes = (ctypes.c_void_p * count)()
        self.objc.objc_getClassList(classes, count)
        return [
            ctypes.c_void_p(cls)
            for cls in classes
            if self.objc.class_conformsToProtocol(ctypes.c_void_p(cls), protocol)
        ]


@pytest.fixture(scope="module")
def runtime():
    return Runtime()


@pytest.mark.parametrize("name", TABLE["classes"])
def test_what_a_class_declares_it_implements(runtime, name):
    cls = runtime.class_named(name)
    assert cls
    assert [s for s in selectors(TABLE["classes"][name]) if not runtime.implements(cls, s)] == []
    assert not runtime.implements(cls, "- alloyDoesNotImplementThis")


@pytest.mark.parametrize("name", sorted(ONLY_NAMED))
def test_what_programs_only_name_is_declared_and_not_there(runtime, name):
    assert TABLE["protocols"][name]
    assert not runtime.objc.objc_getProtocol(name.encode()), "a class has it: a protocol that none has is not emitted"


@pytest.mark.parametrize("name", sorted(TABLE["protocols"].keys() - ONLY_NAMED - IMPLEMENTED_BY_PROGRAMS))
def test_what_a_protocol_declares_its_classes_implement(runtime, name):
    classes = runtime.classes_conforming_to(name)
    assert classes
    for cls in classes:
        missing = [s for s in selectors(TABLE["protocols"][name]) if not runtime.implements(cls, s)]
        assert missing == [], runtime.objc.class_getName(cls)


CODE_ONLY = re.compile(r"//[^\n]*|/\*.*?\*/|@?\"(?:\\.|[^\"\\\n])*\"", re.S)


def sent(source):
    """The selectors of the messages in a source."""
    text = CODE_ONLY.sub(" ", source)
    opened = []
    for at, c in enumerate(text):
        if c in "([{":
            opened.append((c, at))
        elif c in ")]}" and opened:
            bracket, start = opened.pop()
            if bracket == "[":
                yield from selector_of(text[start + 1 : at])


def selector_of(message):
    """The selector of what stands between a message's brackets, nested brackets skipped; nothing for an index or a
    lambda."""
    flat_text, depth = "", 0
    for c in message:
        depth += c in "([{"
        flat_text += c if depth == 0 else "_" if c in "([{" else ""
        depth -= c in ")]}"
    flat_text = re.sub(r"\?[^:]*:|::", " ", flat_text)
    parts = re.findall(r"(\w+)\s*:", flat_text)
    if parts:
        yield "".join(f"{part}:" for part in parts)
    elif found := re.fullmatch(r".*\s(\w+)\s*", flat_text, re.S):
        yield found[1]


def test_selectors_are_found_in_sources():
    assert set(sent("[[a b:c d:^{ return [e f]; }] g:x ? y : z h:A::B, nil]; v[3]; // [no: no]")) >= {
        "b:d:",
        "f",
        "g:h:",
    }


def table_selectors():
    """The selectors of elementwise rows of the op table, whose names the engine makes of the rows."""
    ops = (ROOT / "csrc" / "ir" / "ops.def").read_text()
    for _, stem in re.findall(r"^ALLOY_(UNARY|ACTIVATION|PREDICATE)\(\w+,\s*(\w+)", ops, re.M):
        yield f"{stem}WithTensor:name:"
    for _, stem in re.findall(r"^ALLOY_(BINARY|COMPARISON)\(\w+,\s*(\w+)", ops, re.M):
        yield f"{stem}WithPrimaryTensor:secondaryTensor:name:"
    for _, stem in re.findall(r"^ALLOY_(REDUCTION)\(\w+,\s*(\w+)", ops, re.M):
        yield f"{stem}WithTensor:axes:name:"


def engine_selectors():
    """The selectors that the engine sends; test_ops.py holds their values against NumPy's."""
    for path in (ROOT / "csrc" / "engine").rglob("*.mm"):
        yield from sent(path.read_text())
    yield from table_selectors()


def with_macros(source):
    """The source, and the text of each macro that pastes its argument, once for every use."""
    code = source.replace("\\\n", " ")
    for name, parameter, text in re.findall(r"^#define (\w+)\((\w+)\)(.*)$", code, re.M):
        for argument in set(re.findall(rf"\b{name}\((\w+)\)", code)) if f"{parameter}##" in text else ():
            code += "\n" + text.replace(f"{parameter}##", argument)
    return code


def test_macros_are_seen_in_sources():
    source = "#define CALL(stem) [g stem##WithTensor:x \\\n name:nil]\nCALL(tanh), CALL(sin)"
    assert set(sent(with_macros(source))) >= {"tanhWithTensor:name:", "sinWithTensor:name:"}


def test_every_selector_has_a_test():
    shared = [next(FACADE.rglob(name)) for name in ("graph_testing.h", "control_flow.h")]
    sources = [path.read_text() for path in [*FACADE.rglob("*.mm"), *shared]]
    tested = {selector for source in sources for selector in sent(with_macros(source))} | set(engine_selectors())
    declared = {
        s.split(" ")[1]
        for kind in ("classes", "protocols")
        for name, row in TABLE[kind].items()
        for s in selectors(row)
        if name not in IMPLEMENTED_BY_PROGRAMS
    }
    # descriptors.mm asks every property of these that is a number, or a list of them, for its value.
    an_object = r"(\bid(<\w+>)?|Handler|_t|[a-z](?<!Shape) \*)( _Nullable)?$"
    for name, row in TABLE["classes"].items():
        if name.endswith("Descriptor") and "NSCopying" in str(row["protocols"]):
            numbers = {name: row for name, row in row["properties"].items() if not re.search(an_object, row)}
            tested |= {s.split(" ")[1] for s in accessors(numbers)}
    untested = sorted(declared - tested)
    assert not untested, f"{untested}: add a value test to a program of tests/facade"
