#!/usr/bin/env python3
"""Fails unless a library's operator new and delete lead to a mimalloc of its own, which nobody outside can see.

Usage: check_allocator.py LIBRARY [OBJDUMP]    OBJDUMP: of the library's processor
"""
import subprocess
import sys

CALLS = {"_Znwm": "mi_malloc", "_ZnwmSt11align_val_t": "mi_malloc_aligned", "_ZdlPv": "mi_free"}
ON_WINDOWS = {name.replace("_Znwm", "_Znwy"): function for name, function in CALLS.items()}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    library, objdump = (*sys.argv[1:], "objdump")[:2]
    problems = []
    is_dll = "pei-x86-64" in output(objdump, "-f", library)
    for operator, function in (ON_WINDOWS if is_dll else CALLS).items():
        code = output(objdump, "-d", "--no-show-raw-insn", f"--disassemble={operator}", library)
        if f"<{operator}>:" not in code:
            problems.append(f"{operator} is not inside")
        elif f"<{function}>" not in code:
            problems.append(f"{operator} does not lead to {function}")
    for line in [] if is_dll else output("nm", "-D", library).splitlines():  # of a DLL check_dll.py knows what is visible
        name = line.split()[-1].split("@")[0]
        if name.startswith(("mi_", "_mi_")) or name in CALLS:
            problems.append(f"{name} is visible from outside or comes from there")
    print("\n".join(problems) if problems else "the allocator is private")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
