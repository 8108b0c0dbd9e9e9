#!/usr/bin/env python3
"""Builds a small project that takes the library in, as its users' projects do, and runs its programs.

usage: run.py WAY SOURCE FOLDER MODEL TOKENS_PROGRAM
  fetched    by FetchContent as a static library, in a debug build; only the C API's names are visible in it
  installed  found by find_package below a prefix, where what `fetched` has built is installed
  subfolder  by add_subdirectory; configured alone: it brings no tests, examples or files to install into the project
  MODEL      a model's file; TOKENS_PROGRAM: a program that prints which tokens the shared library draws from it
"""
import os
import pathlib
import re
import subprocess
import sys


def run(*command, **how):
    words = [str(word) for word in command]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **how)
    if done.returncode:
        sys.exit(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout[-4000:]}")
    return done.stdout


def configure(way, source, folder, *options):
    own = pathlib.Path(__file__).parent
    run("cmake", "-S", own, "-B", folder / way, "-G", "Ninja", f"-DOUTSIDE={way}", f"-DINLAY_SOURCE={source}", "-DCMAKE_BUILD_TYPE=Debug", *options)


def visible(library):
    """Names that a program sees, but for those that the C API has."""
    text = run("nm", "--defined-only", "--extern-only", library)
    names = re.findall(r"^[0-9a-f]+ \w (\S+)$", text, re.MULTILINE)
    return [name for name in names if name.startswith("inlay_")], [name for name in names if not name.startswith("inlay_")]


def check_programs(folder, model, tokens_program):
    drawn = run(folder / "host", model)
    wanted = run(tokens_program, model)
    if drawn != wanted or not re.search(r"\d+ \d+", drawn):
        sys.exit(f"the program drew {drawn}, the shared library draws {wanted}")
    run(folder / "plain")
    needed = re.findall(r"NEEDED\s+(\S+)", run("objdump", "-p", folder / "plain"))
    if any("stdc++" in name for name in needed):
        sys.exit(f"the C program needs {needed}")


def main():
    way, source, folder, model, tokens_program = sys.argv[1], *(pathlib.Path(word) for word in sys.argv[2:6])
    if way == "subfolder":
        configure(way, source, folder)
        targets = re.findall(r"^(\S+): ", run("cmake", "--build", folder / way, "--target", "help"), re.MULTILINE)
        if "inlay" not in targets:
            sys.exit(f"the project lacks targets: {targets}")
        foreign = [name for name in targets if re.match(r"archive$|unit_|golden|capi|inlay_cli|test", name)]
        installed = run("cmake", "--install", folder / way, "--prefix", folder / "nothing") if not foreign else ""
        if foreign or re.search(r"^-- (Installing|Up-to-date)", installed, re.MULTILINE):
            sys.exit(f"the project has got {foreign}, and installs:\n{installed}")
        print(f"{len(targets)} targets, none of them a test")
        return
    if way == "fetched":
        configure(way, source, folder)
        run("cmake", "--build", folder / way, "-j", os.cpu_count())
        library = next((folder / way).rglob("libinlay.a"))
        functions, others = visible(library)
        if others or len(functions) < 40:
            sys.exit(f"{library} shows {len(functions)} functions of the C API and {others[:10]}")
        run("cmake", "--install", folder / way, "--prefix", folder / "prefix")
        print(f"{len(functions)} functions are visible")
    else:
        configure(way, source, folder, f"-DCMAKE_PREFIX_PATH={folder / 'prefix'}")
        run("cmake", "--build", folder / way)
    check_programs(folder / way, model, tokens_program)
    print("both programs ran")


if __name__ == "__main__":
    main()
