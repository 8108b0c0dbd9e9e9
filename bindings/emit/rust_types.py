"""How the description's types, names and documentation are written in Rust."""

import re
import textwrap

from api_model import Api, Callback, Field, Function, Param

SCALARS = {"i32": "i32", "u32": "u32", "i64": "i64", "u64": "u64", "f32": "f32", "f64": "f64", "u8": "u8", "utf8": "c_char",
           "bytes": "c_void", "size": "usize", "pointer": "*mut c_void"}
RETURNS = {"status": " -> inlay_status", "void": "", "i32": " -> i32", "u32": " -> u32", "static_utf8": " -> *const c_char"}

# Strict and reserved words of the editions 2015 to 2024; those of the second line cannot be written as raw identifiers.
KEYWORDS = frozenset("""abstract as async await become box break const continue do dyn else enum extern false final fn for gen if
 impl in let loop macro match mod move mut override priv pub ref return static struct trait true try type typeof unsafe unsized
 use virtual where while yield""".split())
UNESCAPABLE = frozenset(["crate", "self", "Self", "super", "_"])


def identifier(name: str) -> str:
    if name in UNESCAPABLE:
        return name + "_"
    return "r#" + name if name in KEYWORDS else name


def camel(name: str) -> str:
    """inlay_kv_dtype -> KvDtype, END_OF_GENERATION -> EndOfGeneration."""
    return "".join(part.capitalize() for part in name.lower().removeprefix("inlay_").split("_"))


def base(name: str) -> str:
    return SCALARS.get(name, name)


def param_type(api: Api, p: Param) -> str:
    t = base(p.type)
    if api.is_callback(p.type):
        return f"Option<{t}>"
    if api.is_handle(p.type):
        if p.direction == "out":
            return f"*mut *mut {t}"
        if p.length:
            return f"*const *mut {t}"
        return f"*const {t}" if p.shared else f"*mut {t}"
    if p.direction != "in":
        return f"*mut {t}"
    if p.length or api.struct(p.type):
        return f"*const {t}"
    return t


def param_list(api: Api, params: list[Param], with_error: bool) -> str:
    parts = [f"{identifier(p.name)}: {param_type(api, p)}" for p in params]
    if with_error:
        parts.append("err: *mut inlay_error")
    return ", ".join(parts)


def signature(api: Api, f: Function) -> str:
    """What follows the name: parameters and result."""
    return f"({param_list(api, f.params, f.fallible())}){RETURNS[f.returns]}"


def pointer_type(api: Api, f: Function | Callback) -> str:
    with_error = isinstance(f, Function) and f.fallible()
    return f'unsafe extern "C" fn({param_list(api, f.params, with_error)}){RETURNS[f.returns]}'


def field_type(api: Api, f: Field) -> str:
    t = base(f.type)
    if f.pointer:
        t = f"*const {t}"
    elif api.is_callback(f.type):
        t = f"Option<{t}>"
    return f"[{t}; {f.count_name or f.count}]" if f.count != 1 else t


def link(api: Api, name: str) -> str:
    """A name of the C API as rustdoc writes it, with a link where there is one."""
    if any(f.name == name for f in api.functions):
        return f"[`{name}`](Functions::{name})"
    typed = [*api.enums, *api.handles, *api.callbacks, *api.structs, *api.constants]
    known = any(item.name == name for item in typed) or any(e.prefix + v.name == name for e in api.enums for v in e.values)
    return f"[`{name}`]" if known else f"`{name}`"


def markdown(api: Api, text: str, links: bool = True) -> str:
    """Text of the description as Markdown: what looks like a link or a tag is escaped, names of the C API are code."""
    out = []
    for i, piece in enumerate(text.split("`")):
        if i % 2:
            out.append(f"`{piece}`")
            continue
        piece = re.sub(r"[\[\]<>*]", r"\\\g<0>", piece)
        named = (lambda m: link(api, m[0])) if links else (lambda m: f"`{m[0]}`")
        out.append(re.sub(r"\b(?:inlay|INLAY)_\w+", named, piece))
    return "".join(out)


def doc(text: str, indent: str = "") -> list[str]:
    """Lines of a comment; those that continue an item of a list are indented below it."""
    hanging = "  " if text.startswith("- ") else ""
    return textwrap.wrap(text, 118, initial_indent=indent + "/// ", subsequent_indent=indent + "/// " + hanging,
                         break_long_words=False, break_on_hyphens=False)
