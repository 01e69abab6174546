"""The pages of the API reference, made of the docstrings of the installed package while the site is built.

The module is asked, not its sources: operations are made from a table, and methods are added to the engine's classes,
when alloy is imported. Docstrings are plain text. What Markdown would take for its own is escaped, an indented part is
code, and a short line ends where it does in the source, because it is a formula."""

import inspect
import json
import pathlib
import re

import ml_dtypes
import numpy as np

import alloy as al
from alloy.asynchronous.staging import Staging
from alloy.engine import dtypes
from alloy.graph.state import State
from alloy.measuring.inspection import MemoryPlan
from alloy.measuring.profile import Peaks, Profile
from alloy.training.input_profile import InputProfile
from alloy.training.rate_search import RateSearch

EXAMPLES = pathlib.Path(__file__).parent / "examples"
EXAMPLE = re.compile(r"^# (al\.[\w.]+(?:, al\.[\w.]+)*)\n", re.M)  # the head of one: the names that it is of

WRAPPED = 84  # a line to which the next word would have been added below this width was ended on purpose

GRAPHS = (
    "Graph",
    "Tensor",
    "Variable",
    "Executable",
    "Submission",
    "Pending",
    "Queue",
    "Event",
    "Update",
    "Op",
    "gradients",
    "empty",
    "load_op_library",
    "OpLibrary",
)
SAVING = ("save", "load", "state", "load_torch", "load_executable", "LoadedExecutable")
DEVICES = (
    "draw",
    "device",
    "devices",
    "set_memory_limit",
    "set_threads",
    "threads",
    "Device",
    "DeviceError",
    "stats",
    "device_stats",
    "op_table",
)
GIVEN = (State, Staging, MemoryPlan, Profile, Peaks, InputProfile, RateSearch)
CALLBACKS = ("Callback", "EarlyStopping", "ReduceLROnPlateau", "Checkpoint", "CSVLogger", "TensorBoard")
CALLBACKS += ("LambdaCallback", "History")
OPTIMIZERS = ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Lion", "Optimizer", "LossScale")


def pages() -> dict[str, str]:
    """The text of each page, by its name."""
    modules = {
        name: getattr(al, name)
        for name in "nn losses metrics schedules data init random models distributed sklearn onnx".split()
    }
    made = {
        "graphs": _page("Graphs", "What `import alloy as al` gives for graphs, saving and devices.", al, "al", GRAPHS)
        + _entries(al, "al", SAVING + DEVICES)
        + f"\n## Element types\n\n{_prose(inspect.getdoc(dtypes), ())}\n\n"
        + "\n".join(f"### al.{name}\n\n{_of_type(name)}\n" for name in dtypes.__all__)
        + "\n## What calls are given and give\n\nYou do not make these; calls give them, or hand them to you.\n\n"
        + "\n".join(_entry(each, each.__name__, 3) for each in GIVEN),
        "functions": _functions(),
        "training": _page("Trainer and callbacks", "", al, "al", ("Trainer", *CALLBACKS)),
        "optimizers": _page("Optimizers", _options_of_all(), al, "al", OPTIMIZERS),
    }
    for name, module in modules.items():
        path = f"al.{name}"
        names = [each for each in module.__all__ if not inspect.ismodule(getattr(module, each))]
        made[name] = _page(path, _prose(inspect.getdoc(module), ()), module, path, names)
    made["framework"] = _framework()
    augment = al.data.augment
    made["data"] += f"\n## al.data.augment\n\n{_prose(inspect.getdoc(augment), ())}\n\n"
    made["data"] += _entries(augment, "al.data.augment", augment.__all__, level=3)
    return {name: _with_examples(name, text) for name, text in made.items()}


def examples(page) -> tuple[str, list[tuple[tuple[str, ...], int, str]]]:
    """The code of a page's file in docs/examples: what all examples begin with, and of each its names, the number of
    lines before it, and its own code. An example needs no other one."""
    file = EXAMPLES / f"al_{page}.py"
    text = file.read_text() if file.exists() else ""
    heads = [*EXAMPLE.finditer(text)]
    ends = [*(head.start() for head in heads), len(text)]
    found = [
        (tuple(head[1].split(", ")), text.count("\n", 0, head.end()), text[head.end() : end])
        for head, end in zip(heads, ends[1:])
    ]
    return text[: ends[0]], found


def _with_examples(page, text):
    """The page with the example of each name behind its description."""
    start, found = examples(page)
    if not found:
        return text
    code = {name: code for names, _, code in found for name in names}
    start = start.split('"""')[2].strip()  # without the docstring

    def entry(match):
        if match[1] not in code:
            return match[0]
        return f'{match[0].rstrip()}\n\n```python title="Example"\n{code[match[1]].strip()}\n```\n\n'

    text = re.sub(r"^##+ (al\.[\w.]+)\n.*?(?=^##|\Z)", entry, text, flags=re.M | re.S)
    title, rest = text.split("\n", 1)
    return f'{title}\n\n```python title="Each example begins with"\n{start}\n```\n{rest}'


def on_config(config):
    config.copyright = f"Alloy {al.__version__}"  # at the foot of each page


def on_files(files, config):
    from mkdocs.structure.files import File

    for name, text in pages().items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    return files


def _page(title, text, module, path, names):
    return f"# {title}\n\n{text}\n\n{_entries(module, path, names)}"


def _entries(module, path, names, level=2):
    return "\n".join(_entry(getattr(module, name), f"{path}.{name}", level) for name in names)


def _of_type(name):
    """The numbers of an element type."""
    if name in ("bool_", "complex64"):
        return "True and False." if name == "bool_" else "Complex numbers: two float32."
    if "int" in name:
        return f"Integers from {np.iinfo(name).min} to {np.iinfo(name).max}."
    limits = ml_dtypes.finfo(name)
    return f"Floats of {limits.bits} bits up to {float(limits.max):.4g}, with {limits.nmant + 1} significant bits."


def _functions():
    """The functions of tensors, under the headings that help(alloy) has for them."""
    text = inspect.getdoc(al).split("Functions of tensors", 1)[1].split("\n\n", 1)[1]
    text = re.sub(r"\n +", " ", text)
    parts = ["# Functions of tensors\n\nTensors also have methods where NumPy's arrays have them: `x.sum(axis)`.\n"]
    for line in text.splitlines():
        group, names = re.split(r" {2,}", line, maxsplit=1)
        parts.append(f"## {group.capitalize()}\n\n" + _entries(al, "al", re.findall(r"\w+", names), level=3))
    return "\n".join(parts)


def _options_of_all():
    return (
        "Formulas and defaults are PyTorch's, and of Lion its paper's. The options that all of them have are those of "
        "`al.Optimizer`, below."
    )


API = pathlib.Path(__file__).parents[1] / "tests" / "facade" / "api.json"
TIERS = {
    "1": "what programs that train send",
    "2": "what whole programs need beside it",
    "3": "the rest of Apple's classes",
}
# Why names of Apple's are not there: the first pattern that "class member" has.
NOT_THERE = {
    "nonZeroIndices": "the length of its result depends on elements, not on shapes",
    "convertLayoutToNHWC|reducedPrecisionFastMath": "it is a setting of Apple's compiler",
    "MTLTensor|newTensorWith": "Metal's tensors came with macOS 26",
    "MPSImage": "pixels do not lie in textures, which do not exist",
    "MPSState": "no kernel leaves a state for its gradient",
    "MPSDeviceProvider": "it is for programs that are read from archives",
    "present|MTLDrawable": "nothing is shown on a screen",
    "(blit|compute)CommandEncoderWith": "counters are not sampled",
    "[rR]ender|barrierAfter|resourceState|ccelerationStructure": "shaders do not run",
    "maxCommandBufferCount": "queues take any number of command buffers",
    "sparse|Sparse": "memory is not mapped page by page",
    "ResidencySet|MTLAllocation|setOwner": "all memory is the process's own, and resident",
    "DebugCapture|MTLLogState|logs|MTLCommandQueueDescriptor": "neither Xcode nor a shader reads or writes it",
}
FRAMEWORKS = {"MPSGraph": "MetalPerformanceShadersGraph", "MPS": "MetalPerformanceShaders", "MTL": "Metal"}


def _framework():
    """What the portable framework declares of Apple's names, and what it does not, from the table that its headers and
    tests are held against."""
    table = json.loads(API.read_text())
    tiers = table["tiers"]
    # Of each class and protocol: what is declared, and what of Apple's is not.
    there, lacking = {}, {}
    counts = {tier: [0, 0] for tier in TIERS}
    for kind in ("classes", "protocols"):
        for name in sorted({*table[kind], *tiers[kind]}):
            row = table[kind].get(name, {})
            there[name] = [*row.get("methods", ()), *row.get("properties", ())]
            lacking[name] = []
            for tier, members in tiers[kind].get(name, {}).items():
                missing = [member for member in members if member not in there[name]]
                lacking[name] += missing
                counts[tier][0] += len(members) - len(missing)
                counts[tier][1] += len(members)
    parts = [
        "# Portable framework: what is there\n\nThe selectors and properties of Apple's MPSGraph, Metal and Metal "
        "Performance Shaders that programs find on Linux. Each is sent by a test that knows what comes out. A program "
        "that needs one which is not there does not compile.\n\n| | there | of Apple's |\n|---|---|---|\n"
    ]
    parts += [f"| {text} | {counts[tier][0]} | {counts[tier][1]} |\n" for tier, text in TIERS.items()]
    parts.append(
        "\nShaders, textures and images do not exist on the portable devices. Their types are declared, because "
        "programs name them; making one gives nil, and an error that says so where there is a place for it.\n\n"
        "What no document says raises an exception that says so: all of `nonMaximumSuppression`; pixels without "
        "`alignCorners`, and relative coordinates for another size, of `sampleGrid`; offsets and places of extremes of "
        "`stencil`; and `variableFromTensor` of anything but a constant. `alloy doctor` asks a Mac about each.\n"
    )
    prefixes = sorted(FRAMEWORKS, key=len, reverse=True)
    for prefix, framework in FRAMEWORKS.items():
        parts.append(f"\n## {framework}\n")
        for name in sorted(there):
            if next(each for each in prefixes if name.startswith(each)) == prefix:
                parts.append(f"\n### {name}\n\n{_names('There', there[name])}{_lacking(name, lacking[name])}")
    return "".join(parts)


def _lacking(name, members):
    """The names that a class lacks, with the reasons."""
    reasons = {}
    for member in members:
        whole = f"{name} {member}"
        why = next((why for pattern, why in NOT_THERE.items() if re.search(pattern, whole)), None)
        if why is None:
            raise LookupError(f"Say in NOT_THERE why this is not there: {whole}")
        reasons.setdefault(why, []).append(member)
    return "".join(_names(f"Not there, because {why}", names) for why, names in reasons.items())


def _names(title, names):
    return f"{title} ({len(names)}): {', '.join(f'`{name}`' for name in sorted(names))}\n\n" if names else ""


def _entry(item, path, level):
    """The heading, the signature and the docstring of a function, a class or a value, and the methods of a class."""
    heading, name = f"{'#' * level} {path}\n", path.rsplit(".", 1)[-1]
    if not (inspect.isclass(item) or callable(item)):
        return f"{heading}\n```python\n{path} = {item!r}\n```\n"
    parts = [heading, *_described(item, path)]
    if inspect.isclass(item) and not issubclass(item, BaseException):
        for member, value in _members(item):
            member = name if member == "__call__" else f"{name}.{member}"
            title = f"Calling {'a' if name[0] not in 'AEIOU' else 'an'} {name}" if member == name else member
            parts += [f"{'#' * (level + 1)} {title} {{: .member }}\n", *_described(value, member)]
    return "\n".join(parts)


def _members(cls):
    """What the class itself has under public names, and describes."""
    for name, value in vars(cls).items():
        function = getattr(value, "__func__", value)
        if (name == "__call__" or not name.startswith("_")) and (callable(function) or isinstance(function, property)):
            inherited = any(name in vars(base) for base in cls.__mro__[1:])
            if (
                _told(function) and not inherited and name not in ("function", "cell")
            ):  # of activations and pooling, of RNNs
                yield name, function


def _told(function):
    """Whether it has a docstring; of what is the engine's alone there is only a signature."""
    text = function.__doc__ or ""
    return bool(text) and "(self: " not in text.split("\n\n")[-1]


def _described(item, path):
    text, signature, names = inspect.getdoc(item) or "", "", ()
    if isinstance(item, property):
        signature = path
    elif item.__class__.__name__ in ("builtin_function_or_method", "instancemethod") and "\n\n" in text:
        signature, text = text.split("\n\n", 1)
        signature = re.sub(r"\b(?:alloy\._core|collections\.abc|typing)\.", "", signature)
        signature = re.sub(r"self: \w+(?:, )?", "", signature)
        signature = path.rsplit(".", 1)[0] + "." + signature if "." in path else signature
    else:
        signature, names = _signature(item, path)
    code = f"```python\n{signature}\n```\n" if signature else ""
    return [code, _prose(text, names) + "\n"]


def _signature(item, path):
    """The call as one writes it, and the names of the parameters; broken where it is long."""
    try:
        found = inspect.signature(item)
    except (TypeError, ValueError):
        return path, ()
    parameters = [parameter for parameter in found.parameters.values() if parameter.name != "self"]
    parameters = (
        parameters[1:] if parameters[:1] and path.startswith("Tensor.") and parameters[0].name == "x" else parameters
    )
    shown = []
    for parameter in parameters:
        if callable(parameter.default) and parameter.default is not parameter.empty:
            parameter = parameter.replace(default=_Named(parameter.default))
        shown.append(parameter)
    kinds = [parameter.kind for parameter in shown]
    texts, starred = [], inspect.Parameter.VAR_POSITIONAL in kinds
    for parameter in shown:
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            texts, starred = [*texts, "*"], True
        texts.append(_shortened(str(parameter)))
    returned = found.return_annotation
    result = "" if returned is found.empty or inspect.isclass(item) else " -> " + _shortened(_name(returned))
    line = f"{path}({', '.join(texts)}){result}"
    if len(line) > 88:
        line = f"{path}(\n    " + ",\n    ".join(texts) + f",\n){result}"
    return line, [parameter.name for parameter in parameters]


class _Named:
    """A default that is a function, by its name."""

    def __init__(self, function):
        module = function.__module__.removeprefix("alloy.")
        self._text = f"al.{module}.{function.__name__}" if "." not in module else function.__name__

    def __repr__(self):
        return self._text


def _name(annotation):
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def _shortened(text):
    """Without the modules in which the package keeps its classes."""
    text = re.sub(r"\b(?:alloy|typing|collections|numpy)(?:\.\w+)*\.(?=[A-Z]\w*|ndarray|float32)", "", text)
    return text.replace("ForwardRef", "")


def _prose(text, names) -> str:
    """A docstring as Markdown. names: parameters, which stand out where they are explained."""
    blocks, fenced = [], False
    for block in re.split(r"\n\s*\n", text):
        lines = block.splitlines()
        if all(line.startswith("    ") for line in lines):
            if fenced:
                blocks[-1] = blocks[-1].removesuffix("\n```")
                blocks.append("\n".join(line[4:] for line in lines) + "\n```")
            else:
                blocks.append("```python\n" + "\n".join(line[4:] for line in lines) + "\n```")
            fenced = True
            continue
        fenced = False
        blocks.append(_paragraph(lines, names))
    return "\n\n".join(blocks)


def _paragraph(lines, names):
    made = []
    for line, following in zip(lines, [*lines[1:], ""]):
        words = following.split()
        ended = bool(words) and len(line) + 1 + len(words[0]) < WRAPPED and not following.startswith("* ")
        bullet = line.startswith("* ")
        line = ("* " if bullet else "") + re.sub(r"([\\`*_<>\[\]|#~])", r"\\\1", line[2 if bullet else 0 :])
        made.append(line.replace("    ", "&nbsp;" * 4) + ("  " if ended else ""))
    text = "\n".join(made)
    if names:
        known = "|".join(re.escape(name.replace("_", r"\_")) for name in names)
        text = re.sub(rf"(?:^|(?<=[.;] )|(?<=\n))(?:{known})(?:, (?:{known}))*(?=: )", _names_as_code, text)
    return re.sub(r"(?<![\w`])al\.[\w\\.]*\w", lambda match: f"`{match[0]}`".replace("\\", ""), text)


def _names_as_code(match):
    return ", ".join(f"`{name}`" for name in match[0].replace("\\", "").split(", "))
