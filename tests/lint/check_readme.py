#!/usr/bin/env python3
"""Fails unless README's first fenced block is two commands that exist, its C code compiles as strict C11, and each program of examples/c
with the options with which README compiles one.

Usage: check_readme.py ROOT C_COMPILER
"""
import pathlib
import re
import subprocess
import sys
import tempfile

FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAM = """#include <stdint.h>
#include <stdio.h>
#include "include/capi/inlay.h"
int fail(const inlay_error* err);
int example(void);
int example(void) {{
{body}return 0;
}}
"""


def compile_error(code, root, compiler):
    done = subprocess.run([compiler, "-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", root,
                           "-x", "c", "-"], input=PROGRAM.format(body=code), capture_output=True, text=True, check=False)
    return done.stderr if done.returncode != 0 else ""


def example_errors(sources, options, root, compiler):
    """What the compiler says of each source that it refuses."""
    checks = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    done = [subprocess.run([compiler, *options, *checks, str(source)], cwd=root, capture_output=True, text=True, check=False) for source in sources]
    return [f"{source}: {outcome.stderr}" for source, outcome in zip(sources, done, strict=True) if outcome.returncode != 0]


def main():
    root, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
    blocks = FENCED.findall((root / "README.md").read_text(encoding="utf-8"))
    problems = []
    commands = blocks[0][1].splitlines() if blocks else []
    if len(commands) != 2:
        problems.append(f"the first fenced block holds {len(commands)} lines, not 2")
    problems += [f"no such command: {c}" for c in commands if not (root / c.split()[0]).is_file()]
    code = [body for language, body in blocks if language == "c"]
    if not code:
        problems.append("there is no C code")
    problems += [error for body in code if (error := compile_error(body, root, compiler))]
    if not compile_error("inlay_load(1, 2);\n", root, compiler):
        problems.append("the compiler accepts a wrong call, so this check sees nothing")
    command = re.search(r"^cc (.*) examples/c/complete\.c ", "".join(body for _, body in blocks), re.MULTILINE)
    sources = sorted((root / "examples" / "c").glob("*.c"))
    if not command or len(sources) < 2:
        problems.append("there is no command that compiles examples/c/complete.c, or no other example")
    else:
        problems += example_errors(sources, command[1].split(), root, compiler)
        with tempfile.TemporaryDirectory() as folder:
            wrong = pathlib.Path(folder) / "wrong.c"
            wrong.write_text("int main(void) { return inlay_lost(); }\n")
            if not example_errors([wrong], command[1].split(), root, compiler):
                problems.append("the compiler accepts a function that nothing declares, so this check sees nothing")
    print("\n".join(problems) if problems else "README's commands exist, its code and the examples compile")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
