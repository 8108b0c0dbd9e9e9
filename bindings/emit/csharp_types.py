"""How the description's names, types and texts are written in C#."""

import textwrap
from xml.sax.saxutils import escape

from api_model import Api, Enum, Field, Handle, Param

SCALARS = {"i32": "int", "u32": "uint", "i64": "long", "u64": "ulong", "f32": "float", "f64": "double", "u8": "byte",
           "utf8": "byte", "bytes": "void", "size": "UIntPtr", "pointer": "IntPtr"}
RETURNS = {"status": "Status", "void": "void", "i32": "int", "u32": "uint", "static_utf8": "byte*"}
KEYWORDS = frozenset("""
abstract as base bool break byte case catch char checked class const continue decimal default delegate do double else enum event
explicit extern false finally fixed float for foreach goto if implicit in int interface internal is lock long namespace new null
object operator out override params private protected public readonly ref return sbyte sealed short sizeof stackalloc static string
struct switch this throw true try typeof uint ulong unchecked unsafe ushort using virtual void volatile while
""".split())


def identifier(name: str) -> str:
    return "@" + name if name in KEYWORDS else name


def pascal(name: str) -> str:
    """INVALID_ARGUMENT and invalid_argument: InvalidArgument."""
    return "".join(part[:1].upper() + part[1:].lower() for part in name.split("_"))


# Names that every web project has already, from Microsoft.Extensions.Logging: `LogLevel` would be ambiguous (CS0104).
OTHER_NAMES = {"inlay_log_level": "LogSeverity"}


def enum_name(enum: Enum) -> str:
    return OTHER_NAMES.get(enum.name) or pascal(enum.name.removeprefix("inlay_"))


def handle_name(handle: Handle) -> str:
    return pascal(handle.name.removeprefix("inlay_")) + "Handle"


def base(api: Api, name: str) -> str:
    enum = api.enum(name)
    if enum:
        return enum_name(enum)
    if api.is_handle(name) or api.is_callback(name):
        return "IntPtr"
    return SCALARS.get(name, name)


def param_type(api: Api, p: Param) -> str:
    by_pointer = p.direction != "in" or p.length or api.struct(p.type)
    return base(api, p.type) + ("*" if by_pointer else "")


def field_type(api: Api, f: Field) -> str:
    return base(api, f.type) + ("*" if f.pointer and not api.is_handle(f.type) else "")


def is_struct_array(api: Api, f: Field) -> bool:
    return f.count != 1 and api.struct(f.type) is not None


def xml(element: str, text: str, indent: str, attributes: str = "") -> list[str]:
    """An XML documentation element, on one line where it fits."""
    prefix = indent + "/// "
    return textwrap.wrap(f"<{element}{attributes}>{escape(text)}</{element}>", 124, initial_indent=prefix,
                         subsequent_indent=prefix, break_long_words=False, break_on_hyphens=False)
