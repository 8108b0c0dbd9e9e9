"""bindings/go/raw/since.h: which minor version of the ABI brought each function."""

from api_model import Api

HEAD = """\
// X-macro over all functions, with the minor version of the ABI since which the library has them.
// Generated from bindings/api/inlay.toml by bindings/generate.py. Do not edit.
// clang-format off
#ifndef INLAY_GO_SINCE_H
#define INLAY_GO_SINCE_H

#define INLAY_GO_FUNCTIONS(X) \\
"""


def emit(api: Api) -> str:
    lines = [f"  X({f.name}, {f.since.split('.')[1]})" for f in api.functions]
    return HEAD + " \\\n".join(lines) + "\n\n#endif\n"
