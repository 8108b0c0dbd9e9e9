"""docs/api.md: the reference of everything in the header."""

from api_model import Api, Enum, Function, Struct
from emit import c_types

HEAD = """\
# C API reference

Generated from `bindings/api/inlay.toml` by `bindings/generate.py`. Do not edit.

ABI {version}. Rules that hold for every function stand at the top of `include/capi/inlay.h`.
"""


def emit(api: Api) -> str:
    out = [HEAD.format(version=api.version()), *contents(api)]
    for group, functions in api.by_subject().items():
        out += [f"## {group}", ""]
        for function in functions:
            out += function_lines(api, function)
    out += ["## Structs", ""]
    for struct in api.structs:
        out += struct_lines(struct)
    out += ["## Handles", "", "| handle | freed by | |", "|---|---|---|"]
    out += [f"| `{h.name}` | `{h.free}` | {h.doc} |" for h in api.handles]
    out += ["", "## Callbacks", ""]
    for callback in api.callbacks:
        out += ["```c", c_types.declaration(c_types.callback_typedef(api, callback)), "```", callback.doc, ""]
    out += ["## Numbers", ""]
    for enum in api.enums:
        out += enum_lines(enum)
    out += ["### Sizes", "", "| constant | value | |", "|---|---|---|"]
    out += [f"| `{c.name}` | {c.value} | {c.doc} |" for c in api.constants]
    return "\n".join(out) + "\n"


def contents(api: Api) -> list[str]:
    out = []
    for group, functions in api.by_subject().items():
        out.append(f"- {group}: " + ", ".join(f"[{f.name}](#{f.name})" for f in functions))
    return [*out, ""]


def function_lines(api: Api, function: Function) -> list[str]:
    out = [f"### {function.name}", "", "```c", c_types.declaration(c_types.prototype(api, function) + ";"), "```",
           function.doc, ""]
    if function.params:
        out += ["| parameter | direction | |", "|---|---|---|"]
    for p in function.params:
        notes = [p.doc]
        if p.length:
            notes.append(f"Length: `{p.length}`{f', stride: `{p.stride}`' if p.stride else ''}.")
        if p.unit:
            notes.append(f"Unit: {p.unit}.")
        if p.nullable:
            notes.append("May be NULL.")
        out.append(f"| `{p.name}` | {p.direction} | {' '.join(notes)} |")
    out += ["", f"- Thread: {function.thread}", f"- Blocks: {function.blocks}",
            f"- Device memory: {'takes some' if function.device_memory else 'takes none'}", f"- Ownership: {function.ownership}"]
    if function.fallible():
        out += [f"- On error: {function.on_error}", f"- Errors: {', '.join(function.errors) or 'only the common ones'}"]
    return [*out, f"- Since: {function.since}", ""]


def struct_lines(struct: Struct) -> list[str]:
    growth = {"sized": "Grows by `struct_size`.", "stride": "Grows by the stride.", "fixed": "Never grows."}[struct.growth]
    out = [f"### {struct.name}", "", f"{struct.doc} {growth} {struct.size} bytes.", "", "| field | unit | range | default | |",
           "|---|---|---|---|---|"]
    for f in struct.fields:
        out.append(f"| `{c_types.field_declaration(f)[:-1]}` | {f.unit} | {f.range} | {f.default} | {f.doc} |")
    return [*out, ""]


def enum_lines(enum: Enum) -> list[str]:
    out = [f"### {enum.name}", "", enum.doc, "", "| constant | value | |", "|---|---|---|"]
    return [*out, *(f"| `{enum.prefix}{v.name}` | {v.value} | {v.doc} |" for v in enum.values), ""]
