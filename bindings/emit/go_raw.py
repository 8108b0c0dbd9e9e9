"""bindings/go/raw/raw.go: every type, number and function of the C interface in Go, through the loader header."""

from api_model import Api, Enum, Function, Param, Struct
from emit import c_types, go_names

HEAD = """\
// Code generated from bindings/api/inlay.toml by bindings/generate.py; DO NOT EDIT.

// Package raw is the C interface of Inlay in Go: the same functions, structs and numbers under Go's names, with C's
// pointers and sizes. Package inlay, which is made of it, is what programs want.
//
// The library is loaded at run time by Open. Before that, a function that can fail returns StatusInvalidState, and the
// others return zero. A function that an older library does not have returns StatusUnsupported.
//
// What Open accepts: the library of this ABI or a newer minor one, and an older minor one without the functions that it
// lacks.
package raw
"""


def emit(api: Api) -> str:
    go_names.check_unique(api)
    out = [HEAD, "/*", "#cgo linux LDFLAGS: -ldl", '#include "loader.h"', ""]
    for function in api.functions:
        out += c_wrapper(api, function)
    out += ["*/", 'import "C"', "", 'import "unsafe"', "", "// The ABI that this package was generated for.", "const (",
            f"\tABIMajor = {api.major}", f"\tABIMinor = {api.minor}", ")"]
    for constant in api.constants:
        out += ["", *go_names.comment(constant.doc), f"const {go_names.public(constant.name)} = {constant.value}"]
    for enum in api.enums:
        out += ["", *enum_lines(enum)]
    for handle in api.handles:
        out += ["", *go_names.comment(handle.doc), f"type {go_names.public(handle.name)} struct{{ _ [0]byte }}"]
    for callback in api.callbacks:
        out += ["", *go_names.comment(callback.doc), "//", "// It is the address of a C function.",
                f"type {go_names.public(callback.name)} unsafe.Pointer"]
    for struct in api.structs:
        out += ["", *struct_lines(api, struct)]
    for function in api.functions:
        out += ["", *function_lines(api, function)]
    return "\n".join(out) + "\n"


def c_wrapper(api: Api, f: Function) -> list[str]:
    """The call through the table, which Go cannot make itself."""
    result = c_types.C_RETURNS[f.returns]
    missing = {"status": f'inlay_go_missing("{f.name}", err)', "void": "", "i32": "0", "u32": "0", "static_utf8": '""'}
    arguments = ", ".join([p.name for p in f.params] + (["err"] if f.fallible() else []))
    call = f"api->{f.name}({arguments});"
    return [c_types.declaration(f"static {result} go_{f.name}({c_types.function_params(api, f)})") + " {",
            "  const inlay_dl* api = inlay_go_api();",
            f"  if (!api->{f.name}) return {missing[f.returns]};".replace("return ;", "return;"),
            f"  {call}" if f.returns == "void" else f"  return {call}", "}"]


def enum_lines(enum: Enum) -> list[str]:
    name = go_names.public(enum.name)
    out = [*go_names.comment(enum.doc), f"type {name} {'uint32' if enum.flags else 'int32'}", "", f"// Values of {name}.",
           "const ("]
    for value in enum.values:
        out += [*go_names.comment(value.doc, "\t"), f"\t{go_names.enum_value(enum, value.name)} {name} = {value.value}"]
    return [*out, ")"] if enum.flags else [*out, ")", "", *string_lines(enum)]


def string_lines(enum: Enum) -> list[str]:
    """What fmt prints for a value: its name as in the header, without the prefix."""
    out = ["// String is the value's name as the C header writes it, without the prefix.",
           f"func (v {go_names.public(enum.name)}) String() string {{", "\tswitch v {"]
    for value in enum.values:
        out += [f"\tcase {go_names.enum_value(enum, value.name)}:", f'\t\treturn "{value.name}"']
    return [*out, "\t}", '\treturn "UNKNOWN"', "}"]


def struct_lines(api: Api, struct: Struct) -> list[str]:
    out = [*go_names.comment(struct.doc), f"type {go_names.public(struct.name)} struct {{"]
    for f in struct.fields:
        notes = f.notes()
        out += go_names.comment(f.doc + (f" [{notes}]" if notes else ""), "\t")
        count = f"[{go_names.public(f.count_name) if f.count_name else f.count}]" if f.count != 1 else ""
        out.append(f"\t{go_names.camel(f.name)} {'*' if f.pointer else ''}{count}{go_names.base(api, f.type)}")
    return [*out, "}"]


def param_type(api: Api, p: Param) -> str:
    if p.type == "bytes":
        return "unsafe.Pointer"
    go = go_names.base(api, p.type)
    if api.is_handle(p.type):
        return "**" + go if p.direction == "out" or p.length else "*" + go
    return "*" + go if is_pointer(api, p) else go


def is_pointer(api: Api, p: Param) -> bool:
    return p.direction != "in" or bool(p.length) or api.struct(p.type) is not None


def argument(api: Api, p: Param) -> str:
    name = go_names.param(p.name)
    if p.type == "bytes":
        return name
    if api.is_handle(p.type) or is_pointer(api, p):
        stars = "**" if param_type(api, p).startswith("**") else "*"
        return f"({stars}{go_names.c_base(p.type)})(unsafe.Pointer({name}))"
    return f"{go_names.c_base(p.type)}({name})"


def function_lines(api: Api, f: Function) -> list[str]:
    name = go_names.public(f.name)
    params = [f"{go_names.param(p.name)} {param_type(api, p)}" for p in f.params]
    arguments = [argument(api, p) for p in f.params]
    if f.fallible():
        params.append("err *Error")
        arguments.append("(*C.inlay_error)(unsafe.Pointer(err))")
    result = {"status": " Status", "void": "", "i32": " int32", "u32": " uint32", "static_utf8": " string"}[f.returns]
    call = f"C.go_{f.name}({', '.join(arguments)})"
    body = {"status": f"return Status({call})", "void": call, "i32": f"return int32({call})",
            "u32": f"return uint32({call})", "static_utf8": f"return C.GoString({call})"}[f.returns]
    return [*doc_lines(f), f"func {name}({', '.join(params)}){result} {{", f"\t{body}", "}"]


def doc_lines(f: Function) -> list[str]:
    blocks = f.blocks + ("; takes device memory" if f.device_memory else "")
    labels = [("Thread", f.thread), ("Blocks", blocks), ("Ownership", f.ownership)]
    if f.fallible():
        labels += [("On error", f.on_error), ("Errors", ", ".join(f.errors) or "only the common ones")]
    labels.append(("Since", f.since))
    out = go_names.comment(f"{go_names.public(f.name)} is {f.name}. {f.doc}") + ["//"]
    for p in f.params:
        out += go_names.item(f"{go_names.param(p.name)}: {p.doc}")
    for label, text in labels:
        out += go_names.item(f"{label}: {text.rstrip('.')}.")
    return out
