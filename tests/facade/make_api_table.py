"""Writes api.json: of a full table of Apple's API, the rows that our headers declare.

    python make_api_table.py full_table.json

The full table is the JSON that a libclang walk over the headers of Apple's SDKs gives (iOS 16.5, completed by macOS 12
and 26): {"classes": {name: {"super", "protocols", "methods": [{"kind", "selector", "returns", "returns_nullability",
"args": [{"type", "nullability"}], "variadic", "unavailable"}], "properties": [{"name", "type", "attributes",
"nullability"}]}}, "protocols": the same, "enums": {name: {"underlying", "cases"}}, "typedefs": {name: {"type", "block":
{"returns", "args": [{"type"}]}}}, "functions": [{"name", "returns", "returns_nullability", "args": [{"type"}]}]}; a
method or property also has "introduced_macos", "sdks", those of the three that declare it, and "tier", how often
programs need it (tiers). It is not part of the project: only facts about what we implement are, and the names of the
rest. Run this again when a header declares more; tests/python/package/test_api_table.py then holds headers and table
together.

Who has no full table adds a row by hand: in place of the row an object of the row, the header and SDK (macOS or iOS)
that it was read in, and the macOS that brought it,

    "- logarithmWithTensor:name:": {"row": ["MPSGraphTensor *", "MPSGraphTensor *", "NSString * _Nullable"],
        "source": "MPSGraphArithmeticOps.h, macOS 14.5 SDK", "introduced": "11.0"}

and, where that is later than 13.3, the selector to the list "newer". Rows by hand stay until a full table has them."""

import json
import pathlib
import sys

import declarations
from declarations import property_row, row_type

TABLE = pathlib.Path(__file__).with_name("api.json")


def method_row(method):
    returns = row_type(method["returns"], method.get("returns_nullability") == "nullable")
    arguments = [row_type(a["type"], a.get("nullability") == "nullable") for a in method["args"]]
    return (
        [returns, *arguments]
        + ["..."] * bool(method.get("variadic"))
        + ["unavailable"] * bool(method.get("unavailable"))
    )


def attributes(prop):
    return {*prop["attributes"]} | ({f"getter={prop['getter']}"} if prop.get("getter") else set())


def members(full, ours):
    methods = {f"{m['kind']} {m['selector']}": method_row(m) for m in full["methods"]}
    properties = {
        p["name"]: property_row(attributes(p), p["type"], p.get("nullability") == "nullable")
        for p in full["properties"]
    }
    return {
        "protocols": sorted(full["protocols"]),
        "methods": kept(methods, ours["methods"]),
        "properties": kept(properties, ours["properties"]),
    }


def with_rows_by_hand(made, before):
    """The table that was made, and what the one before has by hand and the made one lacks."""
    rows = dict(made)
    for name, row in before.items():
        if declarations.is_by_hand(row):
            rows.setdefault(name, row)
        elif isinstance(row, dict):
            inner = with_rows_by_hand(rows.get(name, {}), row)
            if inner or name in rows:
                rows[name] = inner
    return rows


def newer_by_hand(rows):
    """The selectors and properties among the rows by hand that came after macOS 13.3."""
    for name, row in rows.items():
        if declarations.is_by_hand(row):
            if tuple(map(int, row["introduced"].split("."))) > (13, 3):
                yield name.split(" ")[-1]
        elif isinstance(row, dict):
            yield from newer_by_hand(row)


def kept(full, ours):
    return {name: full[name] for name in ours if name in full}


def newer(full, ours):
    """The selectors and properties of ours that came after macOS 13.3: by their version, or because only the newest SDK
    has them. Of a class that came later not its members, but the selectors that take it."""
    for kind in ("classes", "protocols"):
        for name, row in ours[kind].items():
            members = full[kind].get(name, {"methods": [], "properties": []})
            if tuple(map(int, (members.get("introduced_macos") or "0").split("."))) > (13, 3):
                continue
            for member in members["methods"] + members["properties"]:
                names = {f"{member.get('kind')} {member.get('selector')}", member.get("name")}
                version = tuple(map(int, (member["introduced_macos"] or "0").split(".")))  # None: as old as its class
                if names & {*row["methods"], *row["properties"]} and (
                    version > (13, 3) or member["sdks"] == ["macos26.5"]
                ):
                    yield member.get("selector") or member["name"]


def tiers(full):
    """All names of the full table, ours or not, by their tiers: 1 is what programs that train send, 2 what whole
    programs need beside, 3 the rest. The reference lists what is there of them; a test holds that 1 and 2 are."""
    return {
        kind: {
            name: {
                str(tier): [
                    *(f"{m['kind']} {m['selector']}" for m in members["methods"] if m["tier"] == tier),
                    *(p["name"] for p in members["properties"] if p["tier"] == tier),
                ]
                for tier in (1, 2, 3)
            }
            for name, members in full[kind].items()
        }
        for kind in ("classes", "protocols")
    }


def typedef_row(typedef):
    if "block" not in typedef:
        return declarations.spelled(typedef["type"])
    arguments = ", ".join(row_type(a["type"]) for a in typedef["block"]["args"])
    return f"{row_type(typedef['block']['returns'])} (^)({arguments})"


def table(full, ours):
    functions = {
        f["name"]: [
            row_type(f["returns"], f["returns_nullability"] == "nullable"),
            *(row_type(a["type"]) for a in f["args"]),
        ]
        for f in full["functions"]
    }
    return {
        "classes": {
            name: {"super": full["classes"][name]["super"]} | members(full["classes"][name], row)
            for name, row in ours["classes"].items()
            if name in full["classes"]
        },
        "protocols": {
            name: members(full["protocols"][name], row)
            for name, row in ours["protocols"].items()
            if name in full["protocols"]
        },
        "enums": {
            name: {
                "underlying": full["enums"][name]["underlying"].split("/")[0],  # the rest is what that name stands for
                "cases": kept(full["enums"][name]["cases"], row["cases"]),
            }
            for name, row in ours["enums"].items()
            if name in full["enums"]
        },
        "structs": {
            name: [[field["name"], field["type"]] for field in full["structs"][name]["fields"]]
            for name in ours["structs"]
            if name in full["structs"]
        },
        "typedefs": {
            name: typedef_row(full["typedefs"][name]) for name in ours["typedefs"] if name in full["typedefs"]
        },
        "functions": kept(functions, ours["functions"]),
        "tiers": tiers(full),
        "newer": sorted(newer(full, ours)),
    }


def text(value, indent=""):
    """JSON with a line for each row, so that a change shows as one."""
    inner = indent + " "
    if not isinstance(value, dict) or declarations.is_by_hand(value):
        return json.dumps(value)
    if not value:
        return "{}"
    rows = ",\n".join(f"{inner}{json.dumps(name)}: {text(row, inner)}" for name, row in sorted(value.items()))
    return "{\n" + rows + "\n" + indent + "}"


def renewed(full, ours, before):
    """The table of what our headers declare, from the full one and the rows by hand of the one before."""
    rows = with_rows_by_hand(table(full, ours), before)
    return rows | {"newer": sorted({*rows["newer"], *newer_by_hand(rows)})}


if __name__ == "__main__":
    full, before = (json.loads(path.read_text()) for path in (pathlib.Path(sys.argv[1]), TABLE))
    TABLE.write_text(text(renewed(full, declarations.declared(), before)) + "\n")
