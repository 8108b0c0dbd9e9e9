"""tests/capi/layout_probe.c: prints what a C compiler makes of the header, in the canonical text of emit/layout.py."""

from api_model import Api

HEAD = """\
// Prints the size and offset of every struct field and the value of every constant as the C compiler sees them.
// Generated from bindings/api/inlay.toml by bindings/generate.py. Do not edit.
// clang-format off
#include <stdio.h>

#include "include/capi/inlay.h"

#define CONSTANT(name) printf("constant " #name " %lld\\n", (long long)(name));
#define ENUM(type) printf("enum " #type " size %zu\\n", sizeof(type));
#define STRUCT(type) printf("struct " #type " size %zu align %zu\\n", sizeof(type), (size_t)_Alignof(type));
#define FIELD(type, name) \\
  printf("field " #type "." #name " offset %zu size %zu\\n", offsetof(type, name), sizeof(((type*)0)->name));

int main(void) {
"""


def emit(api: Api) -> str:
    out = [f"CONSTANT({c.name})" for c in api.constants]
    for e in api.enums:
        out.append(f"ENUM({e.name})")
        out += [f"CONSTANT({e.prefix}{v.name})" for v in e.values]
    for s in api.structs:
        out.append(f"STRUCT({s.name})")
        out += [f"FIELD({s.name}, {f.name})" for f in s.fields]
    return HEAD + "".join(f"  {line}\n" for line in out) + "  return 0;\n}\n"
