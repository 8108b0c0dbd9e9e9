"""How the description's names and types are written in Go."""

import textwrap

from api_model import Api, ApiError, Enum

GO_SCALARS = {"i32": "int32", "u32": "uint32", "i64": "int64", "u64": "uint64", "f32": "float32", "f64": "float64",
              "u8": "uint8", "utf8": "byte", "bytes": "byte", "size": "uintptr", "pointer": "unsafe.Pointer"}
# Words that Go writes in capitals.
INITIALISMS = {"abi", "bos", "cpu", "cuda", "eos", "f16", "f32", "fp8", "id", "int8", "io", "kv", "nmse", "ok"}
# Go's keywords, the names that it predeclares and ours are likely to hide, and the imports of the generated file.
RESERVED = set("break case chan const continue default defer else fallthrough for func go goto if import interface map "
               "package range return select struct switch type var "
               "any append bool byte cap close complex copy delete error false float32 float64 imag int int32 int64 "
               "iota len make new nil panic print println real recover rune string true uint uint32 uint64 uintptr "
               "C unsafe".split())


def camel(name: str) -> str:
    words = name.lower().split("_")
    return "".join(w.upper() if w in INITIALISMS else w[:1].upper() + w[1:] for w in words if w)


def public(name: str) -> str:
    """inlay_session_create -> SessionCreate, INLAY_MAX_LOGPROBS -> MaxLogprobs."""
    return camel(name[len("inlay_"):])


def enum_value(enum: Enum, name: str) -> str:
    prefix = enum.prefix[len("INLAY_"):]
    return (camel(prefix) if prefix else public(enum.name)) + camel(name)


def param(name: str) -> str:
    first, *rest = name.split("_")
    out = first + camel("_".join(rest))
    return out + "_" if out in RESERVED else out


def base(api: Api, name: str) -> str:
    if name in GO_SCALARS:
        return GO_SCALARS[name]
    return public(name)


def c_base(name: str) -> str:
    scalars = {"i32": "int32_t", "u32": "uint32_t", "i64": "int64_t", "u64": "uint64_t", "f32": "float", "f64": "double",
               "u8": "uint8_t", "utf8": "char", "size": "size_t"}
    return "C." + scalars.get(name, name)


def comment(text: str, indent: str = "") -> list[str]:
    prefix = indent + "// "
    return textwrap.wrap(text, 118 - 3 * len(indent), initial_indent=prefix, subsequent_indent=prefix,
                         break_long_words=False, break_on_hyphens=False)


def item(text: str) -> list[str]:
    """An entry of a list in a doc comment, as gofmt writes it."""
    return textwrap.wrap(text, 118, initial_indent="//   - ", subsequent_indent="//     ", break_long_words=False,
                         break_on_hyphens=False)


def check_unique(api: Api) -> None:
    """Names that differ in C may become one in Go."""
    named = [*api.constants, *api.enums, *api.handles, *api.callbacks, *api.structs, *api.functions]
    names = [(public(n.name), n.name) for n in named]
    names += [(enum_value(e, v.name), e.prefix + v.name) for e in api.enums for v in e.values]
    seen = {}
    for go, c in names:
        if go in seen:
            raise ApiError(f"{c} and {seen[go]} are both {go} in Go")
        seen[go] = c
    for s in api.structs:
        fields = [camel(f.name) for f in s.fields]
        if len(set(fields)) != len(fields):
            raise ApiError(f"struct {s.name}: two fields have one name in Go")
