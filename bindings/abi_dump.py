#!/usr/bin/env python3
"""The second line behind abi_check.py: libabigail reads the interface from compiled code and compares it with that of each frozen version.

  abi_dump.py --check LIBRARY    fails if a frozen version is broken by the header, or by what the built library exports
  abi_dump.py --freeze           writes bindings/api/abi/<version>.abi, once, after generate.py --freeze

A library that was built without debug information says nothing about types. They come from a library of empty functions,
compiled with the header; the built library is compared by its symbols and their versions.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import api_model
import generate
from emit import c_header, empty_library, export_map, json_form


def run(command: list) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def build_interface(header: str, source: str, exports: str, folder: Path) -> Path:
    """A library of empty functions with debug information."""
    for name, text in {"inlay.h": header, "library.c": source, "exports.map": exports}.items():
        (folder / name).write_text(text, encoding="utf-8")
    library = folder / "libinlay.so.1"
    run([os.environ.get("CC", "cc"), "-g", "-shared", "-fPIC", f"-I{folder}", folder / "library.c", "-o", library,
         "-Wl,-soname,libinlay.so.1", f"-Wl,--version-script={folder / 'exports.map'}"])
    return library


def interface(api: api_model.Api, folder: Path) -> Path:
    return build_interface(c_header.emit(api), empty_library.emit(json_form.frozen(api)), export_map.emit(api), folder)


def dump(library: Path, out: Path) -> None:
    run(["abidw", "--no-show-locs", "--no-corpus-path", "--no-comp-dir-path", "--out-file", out, library])


def grown(frozen: dict, now: dict) -> list[str]:
    """Structs that have more fields than before, which abi_check.py allows at their end. libabigail 2.2 cannot be told so: what it would
    say about these is left out, and abi_check.py alone guards them."""
    before = {s["name"]: len(s["fields"]) for s in frozen["structs"]}
    return [s["name"] for s in now["structs"] if len(s["fields"]) > before.get(s["name"], len(s["fields"]))]


def difference(frozen: Path, library: Path, grown_structs: list[str], folder: Path) -> str:
    """What clients of the frozen version would notice, "" if nothing."""
    allowed = folder / "allowed.ini"
    allowed.write_text("".join(f"[suppress_type]\n  type_kind = struct\n  name = {name}\n" for name in grown_structs), encoding="utf-8")
    done = subprocess.run(["abidiff", "--no-added-syms", "--no-architecture", "--suppressions", str(allowed), str(frozen), str(library)],
                          capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode != 0 else ""


def freeze() -> int:
    api = api_model.load(generate.DESCRIPTION)
    path = generate.FROZEN / f"{api.version()}.abi"
    if path.exists() or not path.with_suffix(".json").exists():
        print(f"{path.name} exists, or its .json does not: generate.py --freeze comes first, once", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        dump(interface(api, Path(folder)), path)
    return 0


def check(library: Path) -> int:
    api = api_model.load(generate.DESCRIPTION)
    problems, versions = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        symbols = folder / "symbols_only.so"
        run([os.environ.get("STRIP", "strip"), "--strip-debug", "-o", symbols, library])
        candidates = {"the header": interface(api, folder), str(library): symbols}
        for path in sorted(generate.FROZEN.glob("*.json")):
            form, frozen = json.loads(path.read_text(encoding="utf-8")), path.with_suffix(".abi")
            versions.append(form["abi"])
            if not frozen.exists():
                problems.append(f"ABI {form['abi']} has no {frozen.name}: run bindings/abi_dump.py --freeze")
                continue
            larger = grown(form, json_form.frozen(api))
            problems += [f"ABI {form['abi']} against {what}:\n{text}" for what, candidate in candidates.items()
                         if (text := difference(frozen, candidate, larger, folder))]
    print("\n".join(problems) if problems else f"{library} serves clients of ABI {', '.join(versions)}")
    return 1 if problems else 0


def main(arguments: list[str]) -> int:
    if not shutil.which("abidiff"):
        print("skipped: needs abidiff: it is not installed")
        return 77
    if arguments == ["--freeze"]:
        return freeze()
    if len(arguments) == 2 and arguments[0] == "--check":
        return check(Path(arguments[1]))
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
