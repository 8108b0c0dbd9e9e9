"""How the description's types are written in C."""

import textwrap

from api_model import Api, Callback, Field, Function, Param

C_SCALARS = {"i32": "int32_t", "u32": "uint32_t", "i64": "int64_t", "u64": "uint64_t", "f32": "float", "f64": "double",
             "u8": "uint8_t", "utf8": "char", "bytes": "void", "size": "size_t", "pointer": "void*"}
C_RETURNS = {"status": "inlay_status", "void": "void", "i32": "int32_t", "u32": "uint32_t", "static_utf8": "const char*"}


def base(name: str) -> str:
    return C_SCALARS.get(name, name)


def param_type(api: Api, p: Param) -> str:
    c = base(p.type)
    if api.is_handle(p.type):
        if p.direction == "out":
            return f"{c}**"
        if p.length:
            return f"{c}* const*"
        return f"const {c}*" if p.shared else f"{c}*"
    if p.direction != "in":
        return f"{c}*"
    if p.length or api.struct(p.type):
        return f"const {c}*"
    return c


def param_list(api: Api, params: list[Param], with_error: bool) -> str:
    parts = [f"{param_type(api, p)} {p.name}" for p in params]
    if with_error:
        parts.append("inlay_error* err")
    return ", ".join(parts) or "void"


def function_params(api: Api, function: Function) -> str:
    return param_list(api, function.params, function.fallible())


def prototype(api: Api, function: Function) -> str:
    return f"{C_RETURNS[function.returns]} {function.name}({function_params(api, function)})"


def callback_typedef(api: Api, callback: Callback) -> str:
    return f"typedef {C_RETURNS[callback.returns]} (*{callback.name})({param_list(api, callback.params, False)});"


def field_declaration(f: Field) -> str:
    c = base(f.type)
    if f.pointer:
        c = f"const {c}*"
    suffix = f"[{f.count_name or f.count}]" if f.count != 1 else ""
    return f"{c} {f.name}{suffix};"


def wrap(text: str, prefix: str, width: int = 120) -> list[str]:
    return textwrap.wrap(text, width, initial_indent=prefix, subsequent_indent=prefix, break_long_words=False,
                         break_on_hyphens=False)


def declaration(text: str, width: int = 120) -> str:
    """Breaks a prototype between parameters, aligned with the parenthesis that opens them."""
    opening = text.rindex("(")
    indent = " " * (opening + 1)
    pieces = text[opening + 1:].split(", ")
    lines = [text[:opening + 1] + pieces[0]]
    for piece in pieces[1:]:
        if len(lines[-1]) + len(piece) + 3 <= width:
            lines[-1] += ", " + piece
        else:
            lines[-1] += ","
            lines.append(indent + piece)
    return "\n".join(lines)
