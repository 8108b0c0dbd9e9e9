#!/usr/bin/env python3
"""Fails unless Clang finds each lock of the library held where what it guards is used: src/base/thread_safety.h, docs/design/locks.md.

usage: check_locks.py SOURCE_DIR [--without LINE...]

--without: as if each line of src/engine that reads so, before its semicolon, were not there. Then something must be found: the check of the check.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ALONE = ("score.cpp",)  # of the engine: has names that another file has, too
OTHERS = re.compile(r"\bMutex\b|\bLock lock\(")  # files beside the engine's that have locks; those of Windows and CUDA need headers of theirs


def files_without(root, lines, folder):
    """The sources of the engine, copied to `folder` where they have one of the lines."""
    left = set(lines)
    for path in sorted((root / "src/engine").glob("*.cpp")):
        text = path.read_text()
        shorter = "".join(line if line.strip().removesuffix(";") not in lines else "\n" for line in text.splitlines(keepends=True))
        if shorter != text:
            left -= {line.strip().removesuffix(";") for line in text.splitlines()}
            path = folder / path.name
            path.write_text(shorter)
        yield path
    if left:
        sys.exit(f"no file of src/engine has the line {left.pop()}")


def faults(root, paths):
    command = ["clang++", "-std=c++20", "-fsyntax-only", f"-I{root}", "-DINLAY_HAS_CUDA=0", "-Wno-everything", "-Wthread-safety", "-ferror-limit=0", "-x", "c++", "-"]
    engine = [path for path in paths if path.name not in ALONE]
    others = [path for path in (root / "src").rglob("*.cpp") if not {"engine", "cuda"} & set(path.parts) and not path.stem.endswith("_windows")]
    for group in (engine, *([path] for path in paths if path.name in ALONE), *([path] for path in others if OTHERS.search(path.read_text()))):
        text = "".join(f'#include "{path}"\n' for path in group)
        run = subprocess.run(command, input=text, capture_output=True, text=True)
        found = re.findall(r"^.*(?:warning|error): .*$", run.stderr, re.MULTILINE)
        yield from found
        if run.returncode != 0 and not found:
            yield run.stderr.strip()


def main():
    root, without = pathlib.Path(sys.argv[1]).resolve(), sys.argv[3:]
    if not shutil.which("clang++"):
        return print("skipped: needs clang++: it is not installed")
    with tempfile.TemporaryDirectory() as folder:
        paths = list(files_without(root, without, pathlib.Path(folder)))
        found = list(faults(root, paths))
    print("\n".join(found) or f"{len(paths)} files of the engine and those with locks beside it hold their locks")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
