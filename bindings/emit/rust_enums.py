"""bindings/rust/src/enums.rs: the enumerations of the C API as enums of Rust."""

from api_model import Api, Constant, Enum
from emit import rust_types as rust

ENUMS_HEAD = """\
// Generated from bindings/api/inlay.toml by bindings/generate.py. Do not edit.
// The enumerations of the C API as enums of Rust. A number that a later library may give is kept as it is.
use crate::raw;
"""

# An event tells by its token and its finish reason what happened.
NOT_AN_ENUM_OF_RUST = {"inlay_event_kind"}


def emit(api: Api) -> str:
    out = [ENUMS_HEAD]
    for e in api.enums:
        if not e.flags and e.name not in NOT_AN_ENUM_OF_RUST:
            out += rust_enum_lines(api, e)
    return "\n".join(out).rstrip() + "\n"


def rust_enum_lines(api: Api, e: Enum) -> list[str]:
    """A value NONE becomes Option's None."""
    name, optional = rust.camel(e.name), any(v.name == "NONE" for v in e.values)
    values = [v for v in e.values if v.name != "NONE"]
    default = any(v.value == 0 for v in values)
    derives = "Clone, Copy, Debug, PartialEq, Eq, Hash" + (", Default" if default else "")
    out = [*rust.doc(rust.markdown(api, e.doc, False)), f"#[derive({derives})]", "#[non_exhaustive]", f"pub enum {name} {{"]
    for v in values:
        out += [*rust.doc(rust.markdown(api, v.doc, False), "    "), *(["    #[default]"] if v.value == 0 else []),
                f"    {rust.camel(v.name)},"]
    out += ["    /// A number that this version of the crate has no name for.", "    Other(i32),", "}", "", f"impl {name} {{"]
    out += from_raw_lines(e, values, optional)
    out += ["", "    /// The number in the C API.", "    pub const fn to_raw(self) -> i32 {", "        match self {"]
    out += [f"            Self::{rust.camel(v.name)} => raw::{e.prefix}{v.name}," for v in values]
    return [*out, "            Self::Other(number) => number,", "        }", "    }", "}", ""]


def from_raw_lines(e: Enum, values: list[Constant], optional: bool) -> list[str]:
    wrap = (lambda text: f"Some({text})") if optional else (lambda text: text)
    result = "Option<Self>" if optional else "Self"
    out = ["    /// From the number in the C API.", f"    pub const fn from_raw(number: i32) -> {result} {{", "        match number {"]
    if optional:
        out.append(f"            raw::{e.prefix}NONE => None,")
    out += [f"            raw::{e.prefix}{v.name} => {wrap('Self::' + rust.camel(v.name))}," for v in values]
    return [*out, f"            other => {wrap('Self::Other(other)')},", "        }", "    }"]
