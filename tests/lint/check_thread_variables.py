#!/usr/bin/env python3
"""Fails unless each thread-local variable of the library is in a file that can be compiled for memory that comes at the first use.

usage: check_thread_variables.py SOURCE_DIR

A library that is opened late has little memory for variables of threads: src/capi/thread_storage.cpp. Files that have such a variable are compiled alone
(inlay_unity_build in CMakeLists.txt) and again for tests/abuse; no header has one, but for one of the CUDA backend.
"""
import pathlib
import re
import sys

HEADERS = {"src/backend/cuda/context.h": "src/backend/cuda/"}  # and who may include it
VARIABLE = re.compile(r"^(?!\s*//).*\bthread_local\b[^;()]*=", re.MULTILINE)


def faults(root):
    alone = re.search(r"foreach\(alone ([^)]*)\)", (root / "CMakeLists.txt").read_text()).group(1).split()
    again = re.search(r"foreach\(source ([^)]*)\)", (root / "tests/abuse/CMakeLists.txt").read_text()).group(1).split()
    sources = {str(path.relative_to(root)): path.read_text() for path in sorted((root / "src").rglob("*")) if path.suffix in (".cpp", ".h")}
    for name, text in sources.items():
        for header, user in HEADERS.items():
            if f'#include "{header}"' in text and not name.startswith(user):
                yield f"{name} includes {header}, whose variable of a thread is for {user} alone"
        if not VARIABLE.search(text) or name in HEADERS or name.startswith("src/capi/"):
            continue
        stem = name.removeprefix("src/").removesuffix(".cpp")
        if stem not in alone or stem not in again:
            yield f"{name} has a variable of a thread, but is not compiled alone (CMakeLists.txt) and again (tests/abuse/CMakeLists.txt)"


def main():
    found = list(faults(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "each variable of a thread is where it may be")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
