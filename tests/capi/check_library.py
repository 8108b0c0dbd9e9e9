#!/usr/bin/env python3
"""Reads the shared library as the loader will: what it needs, what it exports, what it expects others to define.

  check_library.py LIBRARY bindings/api/inlay.json [--newest-glibc 2.28]

With --newest-glibc nothing may need a later version of the C library: it is what the oldest supported system has.
"""

import json
import re
import subprocess
import sys

# The C library and the loader; libgcc and libstdc++ are inside.
ALLOWED_NEEDED = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def dynamic_problems(text: str) -> list[str]:
    """`text` is what readelf -dW prints."""
    out = []
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", text)
    if not needed:
        out.append("no NEEDED entry was read")
    out += [f"needs {name}" for name in needed if name not in ALLOWED_NEEDED]
    soname = re.findall(r"\(SONAME\).*\[(.+)\]", text)
    if soname != ["libinlay.so.1"]:
        out.append(f"its soname is {soname}")
    if "(TEXTREL)" in text:
        out.append("it has text relocations")
    if re.search(r"\((RPATH|RUNPATH)\)", text):
        out.append("it has a run path")
    return out


def export_problems(text: str, functions: list[str]) -> list[str]:
    """`text` is what nm -D --defined-only prints. Version nodes are absolute symbols (A)."""
    exported = {}
    for line in text.splitlines():
        _, kind, name = line.split()
        base, _, version = name.partition("@@")
        exported[base] = (kind, version)
    names = {name for name, (kind, _) in exported.items() if kind != "A"}
    out = [f"exports {name}" for name in sorted(names - set(functions))]
    out += [f"does not export {name}" for name in functions if name not in names]
    out += [f"{name} has no version" for name in functions if name in names and not exported[name][1].startswith("INLAY_")]
    return out


def import_problems(text: str) -> list[str]:
    """`text` is what nm -D --undefined-only prints: all of it must come from the C library, or be optional (weak)."""
    out = []
    for line in text.splitlines():
        kind, name = line.split()
        if kind != "w" and not re.search(r"@(GLIBC_[0-9.]+|GLIBC_PRIVATE)$", name):
            out.append(f"expects {name} from somewhere")
    return out


def version_problems(text: str, newest: str) -> list[str]:
    """`text` as for import_problems; `newest` as 2.28."""
    def numbers(version: str) -> list[int]:
        return [int(part) for part in version.split(".")]

    found = re.findall(r"(\S+)@GLIBC_([0-9.]+)$", text, re.MULTILINE)
    if not found:
        return ["no version of the C library was read"]
    return [f"{name} needs version {version} of the C library, later than {newest}" for name, version in found if numbers(version) > numbers(newest)]


def descriptor_problems(text: str) -> list[str]:
    """`text` is what readelf -rW prints. A variable found by a TLS descriptor is not found through __tls_get_addr, which thread_storage.cpp replaces."""
    return [f"has a TLS descriptor{' of ' + name if name else ''}" for name in re.findall(r"R_X86_64_TLSDESC\S*[ \t]*\S*[ \t]*(\S*)", text)]


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(library: str, description: str, *options: str) -> int:
    with open(description, encoding="utf-8") as file:
        functions = [f["name"] for f in json.load(file)["functions"]]
    problems = dynamic_problems(run("readelf", "-dW", library))
    problems += descriptor_problems(run("readelf", "-rW", library))
    problems += export_problems(run("nm", "-D", "--defined-only", library), functions)
    imports = run("nm", "-D", "--undefined-only", library)
    problems += import_problems(imports)
    if options:
        option, newest = options
        assert option == "--newest-glibc", option
        problems += version_problems(imports, newest)
    for problem in problems:
        print(f"{library}: {problem}")
    print(f"{len(functions)} functions, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
