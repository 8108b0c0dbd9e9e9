"""C source of a library that has all functions of an ABI version, of which only inlay_abi_version does anything: for tools that read
an interface from a library file, and for tests of programs that meet an older library."""

RESULT = {"inlay_status": "0", "int32_t": "0", "uint32_t": "0", "const char*": '""'}


def emit(frozen: dict) -> str:
    major, minor = (int(part) for part in frozen["abi"].split("."))
    out = ['#include "inlay.h"']
    for function in frozen["functions"]:
        returns = function["c"].split(f" {function['name']}(")[0]
        value = major << 16 | minor if function["name"] == "inlay_abi_version" else RESULT.get(returns)
        body = f"return {value};" if value is not None else ""
        out.append(f"{function['c']} {{ {body} }}")
    return "\n".join(out) + "\n"
