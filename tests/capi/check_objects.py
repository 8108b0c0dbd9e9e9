#!/usr/bin/env python3
"""Reads what our own object files refer to: nothing that ends, prints for or reconfigures the host, nothing that throws, no static object
that is destroyed when the process ends, no guard that a child of fork() may find held.

  check_objects.py NM ARCHIVE_OR_OBJECT...
"""

import re
import subprocess
import sys

THROW = "__cxa_throw"
# nvcc registers a file's kernels in a constructor and lets go of them through atexit. A device function's body on the host, where
# nobody calls it, is a call of exit.
ADDED_BY_NVCC = {"atexit", "exit"}
# MinGW's C++ compiler destroys static objects of a library through its own atexit; a thread's numbers follow no locale for a moment
# (src/base/c_locale.h).
ON_WINDOWS = {"atexit", "setlocale"}
FORBIDDEN = {
    "ends the process": r"abort|exit|_exit|_Exit|quick_exit|raise|kill|__assert_fail",
    "prints": r"printf|puts|putchar|vprintf|perror|stdout|stderr|_ZSt4cout|_ZSt4cerr|_ZSt4clog|__printf_chk|__vprintf_chk",
    "changes the process": r"signal|sigaction|atexit|setenv|putenv|unsetenv|setlocale|chdir|system|fork|execv|srand",
    "throws": THROW,
    "has a static object that is destroyed while other threads may use it (src/base/made_once.h)": r"__cxa_atexit|__cxa_thread_atexit",
    "has a guard (src/base/made_once.h)": "__cxa_guard_acquire",
}
# No child of a process that used CUDA can load a model. The guards of the kernels' tables are taken while the library is opened
# (src/model/quantize_k.cpp). MinGW has its own ways for both, and no fork().
WITH_STATICS = r"_cuda|\.cu\.o|\.obj:?"
WITH_GUARDS = r"inlay_kernels_cpu"


def problems(text: str) -> list[str]:
    """`text` is what nm -A --undefined-only prints: FILE:[MEMBER:] U NAME."""
    out = []
    references = re.findall(r"^(\S+):\s+[Uwv] (\S+)", text, re.MULTILINE)
    # The C++ library has the throw of shared_from_this in its header, from where it comes into our files.
    inlined = {where for where, name in references if "bad_weak_ptr" in name}
    for where, name in references:
        if name == THROW and where in inlined:
            continue
        if where.endswith(".cu.o") and name in ADDED_BY_NVCC:
            continue
        if re.search(r"\.obj:?", where) and name in ON_WINDOWS:
            continue
        if name.startswith("__cxa_") and name != THROW and re.search(WITH_STATICS, where):
            continue
        if name == "__cxa_guard_acquire" and re.search(WITH_GUARDS, where):
            continue
        for what, names in FORBIDDEN.items():
            if re.fullmatch(names, name):
                out.append(f"{where} {what}: {name}")
    return out


def main(nm: str, files: list[str]) -> int:
    text = subprocess.run([nm, "-A", "--undefined-only", *files], check=True, capture_output=True, text=True).stdout
    found = problems(text)
    for problem in found:
        print(problem)
    n_references = len(text.splitlines())
    print(f"{len(files)} files, {n_references} references, {len(found)} problems")
    return 1 if found or n_references == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
