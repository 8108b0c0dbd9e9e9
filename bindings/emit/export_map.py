"""src/capi/exports.map: the linker's version script. One version node for each ABI minor, so that a binding to a newer function
shows in the client's own symbol table."""

from api_model import Api


def emit(api: Api) -> str:
    out = ["/* Generated from bindings/api/inlay.toml by bindings/generate.py. Do not edit. */"]
    previous = ""
    for since in sorted({f.since for f in api.functions}, key=lambda v: tuple(map(int, v.split(".")))):
        major, minor = since.split(".")
        node = f"INLAY_{major}" if minor == "0" else f"INLAY_{major}_{minor}"
        names = "\n".join(f"    {f.name};" for f in api.functions if f.since == since)
        hide = "" if previous else "\n  local:\n    *;"
        out.append(f"{node} {{\n  global:\n{names}{hide}\n}}{' ' + previous if previous else ''};")
        previous = node
    return "\n".join(out) + "\n"
