"""tests/bindings/rust/src/bin/layout_probe.rs: prints what Rust makes of the raw layer, in the canonical text of emit/layout.py."""

from api_model import Api
from emit import rust_types as rust

HEAD = """\
// Prints the size and offset of every struct field and the value of every constant as Rust sees them.
// Generated from bindings/api/inlay.toml by bindings/generate.py. Do not edit.
use inlay::raw::*;
use std::mem::{align_of, offset_of, size_of};

fn constant(name: &str, value: i64) {
    println!("constant {name} {value}");
}

/// The size of what the function takes out of a struct: a field, without a value of it.
const fn size_of_field<S, F>(_: fn(S) -> F) -> usize {
    size_of::<F>()
}

macro_rules! layout {
    ($name:ident) => {
        println!("struct {} size {} align {}", stringify!($name), size_of::<$name>(), align_of::<$name>())
    };
    ($name:ident, $field:ident, $text:literal) => {
        println!(
            "field {}.{} offset {} size {}",
            stringify!($name),
            $text,
            offset_of!($name, $field),
            size_of_field(|s: $name| s.$field)
        )
    };
}

"""


def emit(api: Api) -> str:
    """One function a kind of thing, so that none becomes too long for the compiler's patience."""
    constants = [f'constant("{c.name}", {c.name} as i64);' for c in api.constants]
    for e in api.enums:
        constants.append(f'println!("enum {e.name} size {{}}", size_of::<{e.name}>());')
        constants += [f'constant("{e.prefix}{v.name}", {e.prefix}{v.name} as i64);' for v in e.values]
    structs = []
    for s in api.structs:
        structs.append(f"layout!({s.name});")
        structs += [f'layout!({s.name}, {rust.identifier(f.name)}, "{f.name}");' for f in s.fields]
    return (HEAD + function("constants", constants) + "\n" + function("structs", structs)
            + "\nfn main() {\n    constants();\n    structs();\n}\n")


def function(name: str, lines: list[str]) -> str:
    return f"fn {name}() {{\n" + "".join(f"    {line}\n" for line in lines) + "}\n"
