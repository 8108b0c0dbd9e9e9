"""Fails unless the library exports exactly the functions that are described, and every language's raw layer has all of them.

Usage: count_functions.py NM LIBRARY
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bindings"))
import generate

LANGUAGES = ["csharp", "go", "rust"]
# Comments of C, Rust, Go and C#: names in the documentation do not count.
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
EXPORTED = re.compile(r"^[0-9a-f]+ T (inlay_\w+)", re.MULTILINE)


def exported(nm_output):
    return sorted(EXPORTED.findall(nm_output))


def lacking(text, functions):
    """Functions that a raw layer does not name in its code; Go calls go_inlay_load, which calls through the table."""
    names = set(re.findall(r"\b(?:go_)?(inlay_\w+)", COMMENT.sub("", text)))
    return [f for f in functions if f not in names]


def raw_layers():
    """The generated files that give a language the functions, by language."""
    return {emit.__module__.split(".")[-1].removesuffix("_raw"): name for name, emit in generate.OUTPUTS.items()
            if emit.__module__.endswith("_raw")}


def main():
    nm, library = sys.argv[1:]
    described = sorted(f["name"] for f in json.loads((ROOT / "bindings/api/inlay.json").read_text(encoding="utf-8"))["functions"])
    found = exported(subprocess.run([nm, "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout)
    problems = [f"{name} is exported but not described" for name in found if name not in described]
    problems += [f"{name} is described but not exported" for name in described if name not in found]
    print(f"{library}: exports {len(found)} functions, {len(described)} are described")
    layers = raw_layers()
    if sorted(layers) != LANGUAGES:
        problems.append(f"there are raw layers of {sorted(layers)}, not of {LANGUAGES}")
    for layer in ["include/capi/inlay.h", "include/capi/inlay_dl.h", *layers.values()]:
        missing = lacking((ROOT / layer).read_text(encoding="utf-8"), described)
        problems += [f"{layer} lacks {name}" for name in missing]
        print(f"{layer}: {len(described) - len(missing)} of {len(described)} functions")
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
