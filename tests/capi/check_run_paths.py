#!/usr/bin/env python3
"""Fails where a program or library looks for others in the current folder: an empty or a relative element in its run path.

Usage: check_run_paths.py FOLDER...
"""
import pathlib
import re
import subprocess
import sys


def problems(text):
    """`text` is what readelf -dW prints of one file."""
    for path in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", text):
        for element in path.split(":"):
            if not element.startswith(("/", "$ORIGIN")):
                yield f"'{element}' in the run path '{path}'"


def main(folders):
    if list(problems(" 0x1d (RUNPATH) Library runpath: [$ORIGIN/../lib:]")) != ["'' in the run path '$ORIGIN/../lib:'"]:
        print("the check does not see an empty element")
        return 1
    n_files = n_problems = 0
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*")):
            if path.is_symlink() or not path.is_file() or path.open("rb").read(4) != b"\x7fELF":
                continue
            n_files += 1
            for problem in problems(subprocess.run(["readelf", "-dW", path], check=True, capture_output=True, text=True).stdout):
                n_problems += 1
                print(f"{path}: {problem}")
    print(f"{n_files} files, {n_problems} problems")
    return 1 if n_problems or not n_files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
