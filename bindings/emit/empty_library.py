"""C source of a library that has all functions of an ABI version, which do nothing: for tools that read an interface from a library file,
and for tests of programs that meet an older library. Calls succeed, but for decode_step: who asks for tokens would wait for ever."""

RESULT = {"inlay_status": "INLAY_OK", "int32_t": "0", "uint32_t": "0", "const char*": '""'}
ERROR = '(inlay_error){ .status = INLAY_UNSUPPORTED, .message_len = 16, .message = "an empty library" }'


def emit(frozen: dict) -> str:
    out = ['#include "inlay.h"']
    for function in frozen["functions"]:
        out.append(f"{function['c']} {{ {body(function, frozen['abi'])} }}")
    return "\n".join(out) + "\n"


def body(function: dict, abi: str) -> str:
    if function["name"] == "inlay_abi_version":
        major, minor = (int(part) for part in abi.split("."))
        return f"return {major << 16 | minor};"
    if function["name"] == "inlay_decode_step":
        return f"if (err) *err = {ERROR}; return INLAY_UNSUPPORTED;"
    clear = "if (err) *err = (inlay_error){ .status = INLAY_OK }; " if "inlay_error* err" in function["c"] else ""
    value = RESULT.get(function["c"].split(f" {function['name']}(")[0])
    return clear + (f"return {value};" if value else "")
