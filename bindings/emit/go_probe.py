"""bindings/go/internal/layout/main.go: prints what the Go compiler makes of package raw, in the canonical text of emit/layout.py."""

from api_model import Api
from emit import go_names

HEAD = """\
// Code generated from bindings/api/inlay.toml by bindings/generate.py; DO NOT EDIT.

// Command layout prints the size and offset of every struct field and the value of every constant as the Go compiler
// sees them.
package main

import (
\t"fmt"
\t"unsafe"

\t"inlay.dev/inlay/raw"
)

func constant(name string, value int64) { fmt.Printf("constant %s %d\\n", name, value) }

func enum(name string, size uintptr) { fmt.Printf("enum %s size %d\\n", name, size) }

func layout(name string, size, align uintptr) {
\tfmt.Printf("struct %s size %d align %d\\n", name, size, align)
}

func field(name string, offset, size uintptr) {
\tfmt.Printf("field %s offset %d size %d\\n", name, offset, size)
}

func main() {
"""


def emit(api: Api) -> str:
    out = [f'constant("{c.name}", int64(raw.{go_names.public(c.name)}))' for c in api.constants]
    for e in api.enums:
        out.append(f'enum("{e.name}", unsafe.Sizeof(raw.{go_names.public(e.name)}(0)))')
        out += [f'constant("{e.prefix}{v.name}", int64(raw.{go_names.enum_value(e, v.name)}))' for v in e.values]
    out = [f"\t{line}" for line in out]
    for s in api.structs:
        out += ["\t{", f"\t\tvar s raw.{go_names.public(s.name)}",
                f'\t\tlayout("{s.name}", unsafe.Sizeof(s), unsafe.Alignof(s))']
        for f in s.fields:
            go = go_names.camel(f.name)
            out.append(f'\t\tfield("{s.name}.{f.name}", unsafe.Offsetof(s.{go}), unsafe.Sizeof(s.{go}))')
        out.append("\t}")
    return HEAD + "\n".join(out) + "\n}\n"
