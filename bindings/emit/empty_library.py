"""C source of a library that has all functions of an ABI version, of which only inlay_abi_version does anything; the others say
UNSUPPORTED: for tools that read an interface from a library file, and for tests of programs that meet an older library."""

RESULT = {"inlay_status": "INLAY_UNSUPPORTED", "int32_t": "0", "uint32_t": "0", "const char*": '""'}

ERROR = '(inlay_error){ .status = INLAY_UNSUPPORTED, .message_len = 16, .message = "an empty library" }'


def emit(frozen: dict) -> str:
    major, minor = (int(part) for part in frozen["abi"].split("."))
    out = ['#include "inlay.h"']
    for function in frozen["functions"]:
        returns = function["c"].split(f" {function['name']}(")[0]
        value = major << 16 | minor if function["name"] == "inlay_abi_version" else RESULT.get(returns)
        body = f"return {value};" if value is not None else ""
        if "inlay_error* err" in function["c"]:
            body = f"if (err) *err = {ERROR}; {body}"
        out.append(f"{function['c']} {{ {body} }}")
    return "\n".join(out) + "\n"
