"""Runs the commands by which a README builds a first program, in a copy of the sources whose library is built already.

Usage: readme_commands.py c|rust|go|csharp BUILD FOLDER     BUILD stands for build/native, which the quickstart would make
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

SKIPPED = 77
ROOT = pathlib.Path(__file__).resolve().parents[2]
# The README of each language, and what tells its block of commands.
BLOCKS = {"c": ("README.md", "cc "), "rust": ("bindings/rust/README.md", "cargo run"), "go": ("bindings/go/README.md", "go run"),
          "csharp": ("bindings/csharp/README.md", "mono ")}
BUILDS_THE_LIBRARY = "examples/quickstart.sh"
TALE = re.compile(r"^Once upon a time, [a-z]+ ", re.MULTILINE)


def commands_of(language):
    readme, sign = BLOCKS[language]
    blocks = re.findall(r"^```\w*\n(.*?)^```$", (ROOT / readme).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    found = [block for block in blocks if re.search(rf"^{sign}", block, re.MULTILINE)]
    if len(found) != 1:
        sys.exit(f"{readme}: {len(found)} blocks have a line that begins with `{sign}`, expected 1")
    if language != "c" and not found[0].startswith(BUILDS_THE_LIBRARY + "\n"):
        sys.exit(f"{readme}: the block begins with another command than {BUILDS_THE_LIBRARY}:\n{found[0]}")
    return found[0].removeprefix(BUILDS_THE_LIBRARY + "\n")


def clone(folder):
    shutil.rmtree(folder, ignore_errors=True)
    for part in ("bindings", "examples", "include"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("bin", "build", "obj", "target", "__pycache__"))
    (folder / "build").mkdir()


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in BLOCKS:
        sys.exit(__doc__)
    if not shutil.which("cc"):
        print("skipped: needs cc: it is not on PATH")
        sys.exit(SKIPPED)
    language, build, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve() / sys.argv[1]
    clone(folder)
    environment = {name: value for name, value in os.environ.items() if name not in ("INLAY_LIBRARY", "LD_LIBRARY_PATH")}
    commands = commands_of(language)

    def run():
        return subprocess.run(["sh", "-ec", commands], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=1800)

    without_library = run()
    if without_library.returncode == 0 or TALE.search(without_library.stdout):
        sys.exit(f"without the library the commands do not fail:\n{commands}{without_library.stdout}")
    (folder / "build/native").symlink_to(build)
    done = run()
    if done.returncode != 0 or not TALE.search(done.stdout):
        sys.exit(f"{BLOCKS[language][0]}: exit code {done.returncode}\n{commands}{done.stdout}{done.stderr}")
    print(done.stdout)


if __name__ == "__main__":
    main()
