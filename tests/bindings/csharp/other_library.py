"""Writes the C source of a library that is like Inlay's and yet not: its functions do nothing and report success.

Usage: other_library.py older|major|lacking > FILE.c
  older    ABI 1.0, without the functions that came later
  major    ABI 2.0
  lacking  the described ABI, without inlay_tokenize
"""
import json
import pathlib
import sys

DESCRIPTION = pathlib.Path(__file__).resolve().parents[3] / "bindings/api/inlay.json"
HEAD = """#include <stdint.h>
uint32_t inlay_abi_version(void);
uint32_t inlay_abi_version(void) {{ return {major}u << 16 | {minor}u; }}
const char* inlay_version_string(void);
const char* inlay_version_string(void) {{ return "other"; }}
"""
FUNCTION = "int {0}(void);\nint {0}(void) {{ return 0; }}\n"


def source(kind, api):
    major, minor = map(int, api["abi"].split("."))
    names = [f["name"] for f in api["functions"] if kind != "older" or f["since"] == f"{major}.0"]
    if kind == "lacking":
        names.remove("inlay_tokenize")
    abi = {"older": (major, 0), "major": (major + 1, 0), "lacking": (major, minor)}[kind]
    body = [FUNCTION.format(name) for name in names if name not in ("inlay_abi_version", "inlay_version_string")]
    return HEAD.format(major=abi[0], minor=abi[1]) + "".join(body)


if __name__ == "__main__":
    print(source(sys.argv[1], json.loads(DESCRIPTION.read_text(encoding="utf-8"))), end="")
