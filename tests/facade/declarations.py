"""What the portable framework's public headers declare, in the form of the rows of api.json.

Reads the output of clang's preprocessor with expressions, not with a parser: it knows the shapes that our own headers
have and raises at any other. dispatch/, objc/ and Block.h are left out: they are not Apple's MPSGraph, Metal or MPS.

A row is one declaration as text: the types in order, the result first, `_Nullable` where it may be nil and nothing
where it may not, "unavailable" last where a call does not compile."""

import pathlib
import re
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).parents[2]
INCLUDE = ROOT / "csrc" / "portable" / "include"
FOLDERS = (
    "Metal",
    "MPSCore",
    "MPSMatrix",
    "MPSNeuralNetwork",
    "MetalPerformanceShaders",
    "MetalPerformanceShadersGraph",
)
NULLABILITY = re.compile(r"\b(_Nullable|_Nonnull|__nullable|__nonnull|_Null_unspecified)\b")


def is_by_hand(row):
    """Whether a row of api.json was added by hand (make_api_table.py says how)."""
    return isinstance(row, dict) and {"row", "source"} <= row.keys()


def find_clang():
    """A clang of version 16 or newer, or None."""
    for name in ("clang++", *(f"clang++-{version}" for version in range(21, 15, -1))):
        path = shutil.which(name)
        if path is None:
            continue
        found = re.search(
            r"clang version (\d+)", subprocess.run([path, "--version"], capture_output=True, text=True).stdout
        )
        if found and int(found[1]) >= 16:
            return path
    return None


def gnustep_flags():
    """The flags of cmake/ObjectiveCxx.cmake, for a compiler run from Python."""
    gcc = subprocess.run(["gcc", "-print-file-name=include"], capture_output=True, text=True, check=True).stdout.strip()
    return [
        "-fobjc-runtime=gcc",
        "-fblocks",
        "-fexceptions",
        "-fobjc-exceptions",
        "-fconstant-string-class=NSConstantString",
        "-DGNUSTEP",
        "-DGNUSTEP_BASE_LIBRARY=1",
        "-DGNU_RUNTIME=1",
        "-D_NATIVE_OBJC_EXCEPTIONS",
        "-isystem",
        "/usr/include/GNUstep",
        "-idirafter",
        gcc,
    ]


def preprocess(clang):
    """The text of our headers, macros expanded."""
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "MetalPerformanceShadersGraph" / "ops.def"
        table.parent.mkdir()
        table.symlink_to(ROOT / "csrc" / "ir" / "ops.def")
        source = "#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>\n"
        out = subprocess.run(
            [clang, "-x", "objective-c", "-E", *gnustep_flags(), f"-I{INCLUDE}", f"-I{folder}", "-"],
            input=source,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        ours = tuple(f"{INCLUDE}/{name}/" for name in FOLDERS) + (f"{folder}/",)
        lines, inside = [], False
        for line in out.splitlines():
            marker = re.match(r'# \d+ "([^"]*)"', line)
            if marker:
                inside = marker[1].startswith(ours)
            elif inside and not line.lstrip().startswith("#pragma"):
                lines.append(line)
    return strip_attributes("\n".join(lines))


def strip_attributes(text):
    """Without __attribute__((...)), of which only the word unavailable stays."""
    out = []
    while (start := text.find("__attribute__")) >= 0:
        out.append(text[:start])
        depth, end = 0, start + len("__attribute__")
        while True:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
            if depth == 0 and text[end - 1] == ")":
                break
        out.append("unavailable" if "unavailable" in text[start:end] else "")
        text = text[end:]
    return "".join(out) + text


def spelled(text):
    """A type in one spelling, without nullability."""
    text = re.sub(r"\s+", " ", NULLABILITY.sub("", text)).strip()
    text = re.sub(r"\s*([<>,()^*])\s*", r"\1", text)
    return re.sub(r"(?<=[\w>*])\*", r" *", text).replace("* *", "**")


def row_type(text, nullable=None):
    """A type with its own nullability, that of what it points at left out."""
    if nullable is None:
        outer = re.sub(r"<[^<>]*(<[^<>]*>)?[^<>]*>", "", text)
        nullable = re.search(r"(_Nullable|__nullable)\s*$|\(\^\s*_Nullable", outer.strip()) is not None
    return spelled(text) + (" _Nullable" if nullable else "")


def split_types(text):
    """The parts between commas outside brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += {"(": 1, "<": 1, ")": -1, ">": -1}.get(c, 0)
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts]


def bracketed(text, start):
    """What stands in the bracket that opens at `start`, and where it ends."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return text[start + 1 : i], i + 1
    raise ValueError(text[start : start + 80])


def parse_method(text):
    """("- selector:of:it:", [types])"""
    kind, text = text[0], text[1:].strip()
    returns, at = bracketed(text, 0)
    rest = text[at:].strip()
    marks = ["..."] * (", ..." in rest) + ["unavailable"] * rest.endswith(" unavailable")
    rest = rest.removesuffix(" unavailable").removesuffix(", ...")
    if ":" not in rest:
        return f"{kind} {rest.strip()}", [row_type(returns)] + marks
    selector, types = "", [row_type(returns)]
    while rest:
        part = re.match(r"\s*(\w*)\s*:\s*", rest)
        selector += part[1] + ":"
        argument, at = bracketed(rest, part.end())
        types.append(row_type(argument))
        rest = re.sub(r"^\s*\w+", "", rest[at:], count=1)
    return f"{kind} {selector}", types + marks


def parse_property(text):
    """(name, "options type")"""
    options, text = re.fullmatch(r"@property\s*\(([^)]*)\)\s*(.*)", text, re.S).groups()
    options = {option.strip() for option in options.split(",")}
    kind, name = re.fullmatch(r"(.*?)(\w+)", text, re.S).groups()
    nullable = "nullable" in options
    return name, property_row(options, kind, nullable)


def property_row(options, kind, nullable):
    """What callers depend on: whether it can be set, who owns the value, its getter where that has another name, and
    its type. atomic is the default."""
    kept = (
        ["readonly"] * ("readonly" in options)
        + ["copy"] * ("copy" in options)
        + ["nonatomic"] * ("nonatomic" in options)
        + sorted(option for option in options if option.startswith("getter="))
    )
    return " ".join(kept + [row_type(kind, nullable)])


def parse_members(body):
    methods, properties = {}, {}
    for text in (re.sub(r"@(optional|required)\b", "", part).strip() for part in body.split(";")):
        if not text:
            continue
        if text.startswith("@property"):
            name, row = parse_property(text)
            properties[name] = row
        elif text[0] in "+-":
            selector, types = parse_method(text)
            methods[selector] = types
        else:
            raise ValueError(text)
    return methods, properties


def parse(text):
    """{"classes": ..., "protocols": ..., "enums": ..., "structs": ..., "typedefs": ..., "functions": ...,
    "constants": ...}"""
    kinds = ("classes", "protocols", "enums", "structs", "typedefs", "functions", "constants")
    table = {kind: {} for kind in kinds}

    def interface(found):
        name, category, parent, protocols, _, body = found.groups()
        row = table["classes"].setdefault(name, {"super": None, "protocols": [], "methods": {}, "properties": {}})
        if category is None:
            row["super"] = parent
            row["protocols"] = sorted(re.findall(r"\w+", protocols or ""))
        methods, properties = parse_members(body)
        row["methods"] |= methods
        row["properties"] |= properties
        return ""

    def protocol(found):
        name, protocols, body = found.groups()
        methods, properties = parse_members(body)
        table["protocols"][name] = {
            "protocols": sorted(re.findall(r"\w+", protocols or "")),
            "methods": methods,
            "properties": properties,
        }
        return ""

    def enum(found):
        name, underlying, body = found.groups()
        cases = dict(re.findall(r"(\w+)\s*=\s*(\w+)", body))
        table["enums"][name] = {
            "underlying": underlying,
            "cases": {case: int(value, 0) for case, value in cases.items()},
        }
        return ""

    def struct(found):
        body, name = found.groups()
        fields = []
        for declaration in filter(None, (part.strip() for part in body.split(";"))):
            kind, names = re.fullmatch(r"(\w+)\s+(.*)", declaration, re.S).groups()
            fields += [[field.strip(), kind] for field in names.split(",")]
        table["structs"][name] = fields
        return ""

    def function(found):
        returns, name, arguments, _ = found.groups()
        types = [
            row_type(re.sub(r"\b\w+$", "", argument))
            for argument in split_types(arguments)
            if argument not in ("", "void")
        ]
        table["functions"][name] = [row_type(returns), *types]
        return ""

    text = re.sub(r"@(?:class|protocol)\s+[\w\s,]+;", "", text)
    text = re.sub(
        r"@interface\s+(\w+)\s*(?:\(\s*(\w*)\s*\))?\s*(?::\s*(\w+))?\s*(<[^>]*>)?\s*(\{[^}]*\})?(.*?)@end",
        interface,
        text,
        flags=re.S,
    )
    text = re.sub(r"@protocol\s+(\w+)\s*(<[^>]*>)?(.*?)@end", protocol, text, flags=re.S)
    text = re.sub(r"typedef\s+struct\s*\w*\s*\{([^}]*)\}\s*(\w+)\s*;", struct, text)
    text = re.sub(r"typedef\s+enum[^;]*;\s*enum\s+(\w+)\s*:\s*(\w+)\s*\{(.*?)\}\s*;", enum, text, flags=re.S)
    text = re.sub(
        r"\bextern\s+(NSString\s*\*\s*const|const MTLRegion)\s+(\w+);",
        lambda found: table["constants"].update({found[2]: spelled(found[1].replace("const", ""))}) or "",
        text,
    )
    text = re.sub(
        r"\b(?:extern|static inline)\s+([\w\s<>*]+?)(\w+)\(([^)]*)\)\s*(;|\{(?:[^{}]|\{[^{}]*\})*\})", function, text
    )
    for found in re.finditer(r"typedef\s+(.*?);", text, re.S):
        block = re.fullmatch(r"(.*?)\(\^(\w+)\)\((.*)\)", found[1], re.S)
        if block:
            types = [
                row_type(re.sub(r"(?<=[\s*>])\w+$", "", a) if re.search(r"[\s*>]\w+$", a) else a)
                for a in split_types(block[3])
                if a != "void"
            ]
            table["typedefs"][block[2]] = f"{row_type(block[1])} (^)({', '.join(types)})"
        else:
            kind, name = re.fullmatch(r"(.*?)(\w+)\s*", found[1], re.S).groups()
            table["typedefs"][name] = spelled(kind)
    rest = re.sub(r"typedef\s+.*?;", "", text, flags=re.S).strip()
    if rest:
        raise ValueError("unread declarations: " + rest[:200])
    return table


def declared():
    """The table of our headers; clang must be there."""
    return parse(preprocess(find_clang()))
