#!/usr/bin/env python3
"""A library for Windows as a host has it: what it exports, which others it needs, how it moves vectors.

usage: check_dll.py OBJDUMP LIBRARY [EXPORTS]
  OBJDUMP  of binutils or LLVM, for 64-bit Windows
  EXPORTS  the version script whose names the library exports, and no other; without it only the vectors are looked at

Windows aligns stacks to 16 bytes, and GCC may keep vectors of 32 and 64 bytes there (GCC bug 54412). A move that asks for their alignment
ends the process now and then, so there is none to or from memory. Prints what is wrong; exit code 1 if anything is.
"""
import pathlib
import re
import subprocess
import sys

# Parts of Windows 10 itself, also those of its UCRT.
SYSTEM = re.compile(r"(kernel32|advapi32|bcrypt|ntdll|msvcrt|ucrtbase|api-ms-win-(core|crt)-[a-z0-9-]+)\.dll", re.IGNORECASE)
ALIGNED = re.compile(r"\t(vmovaps|vmovapd|vmovdqa(?:32|64)?|vmovntp[sd]|vmovntdqa?)\s+(.*)")


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def aligned_moves(objdump, library):
    found = []
    for line in output_of(objdump, "-d", "--no-show-raw-insn", library).splitlines():
        move = ALIGNED.search(line)
        if move and re.search(r"[yz]mm\d", move[2]) and "(" in move[2]:
            found.append(line.strip())
    return found


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    objdump, library = sys.argv[1:3]
    wrong = [f"an aligned move of a vector: {line}" for line in aligned_moves(objdump, library)[:10]]
    if len(sys.argv) == 4:
        headers = output_of(objdump, "-p", library)
        exported = set(re.findall(r"^\s+\[ *\d+\](?: \+base\[ *\d+\] [0-9a-f]+)? (\S+)$", headers, re.MULTILINE))
        wanted = set(re.findall(r"^ +(\w+);$", pathlib.Path(sys.argv[3]).read_text(encoding="utf-8"), re.MULTILINE)) - {"*"}
        wrong += [f"exported, but not in the version script: {name}" for name in sorted(exported - wanted)]
        wrong += [f"not exported: {name}" for name in sorted(wanted - exported)]
        needed = re.findall(r"DLL Name: (\S+)", headers)
        wrong += [f"needs {name}, which is no part of Windows" for name in needed if not SYSTEM.fullmatch(name)]
        print(f"{len(exported)} functions exported; needs {', '.join(needed)}")
    for line in wrong:
        print(f"{library}: {line}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
