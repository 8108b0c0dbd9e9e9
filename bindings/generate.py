#!/usr/bin/env python3
"""Writes everything that follows from bindings/api/inlay.toml.

  generate.py            writes the files that differ
  generate.py --check    writes nothing; fails if a file differs or the ABI broke a frozen version
  generate.py --freeze   writes bindings/api/abi/<version>.json, once, when that version is released
"""

import json
import sys
from pathlib import Path

import abi_check
import api_model
from emit import (binding_table, c_header, c_loader, c_probe, csharp_probe, csharp_raw, export_map, go_constants, go_probe, go_raw, go_since, json_form,
                  layout, reference, rust_enums, rust_probe, rust_raw, struct_sizes)

ROOT = Path(__file__).resolve().parent.parent
DESCRIPTION = ROOT / "bindings/api/inlay.toml"
FROZEN = ROOT / "bindings/api/abi"

OUTPUTS = {
    "include/capi/inlay.h": c_header.emit,
    "include/capi/inlay_dl.h": c_loader.emit,
    "src/capi/exports.map": export_map.emit,
    "src/capi/struct_sizes.h": struct_sizes.emit,
    "bindings/api/inlay.json": json_form.emit,
    "tests/capi/layout.txt": layout.emit,
    "tests/capi/layout_probe.c": c_probe.emit,
    "docs/api.md": reference.emit,
    "docs/bindings.md": binding_table.emit,
    "bindings/go/raw/inlay.h": c_header.emit,
    "bindings/go/raw/inlay_dl.h": c_loader.emit,
    "bindings/go/raw/raw.go": go_raw.emit,
    "bindings/go/raw/since.h": go_since.emit,
    "bindings/go/constants.go": go_constants.emit,
    "bindings/go/internal/layout/main.go": go_probe.emit,
    "bindings/csharp/src/Raw.cs": csharp_raw.emit,
    "tests/bindings/csharp/LayoutProbe.cs": csharp_probe.emit,
    "bindings/rust/src/enums.rs": rust_enums.emit,
    "bindings/rust/src/raw.rs": rust_raw.emit,
    "tests/bindings/rust/src/bin/layout_probe.rs": rust_probe.emit,
}


def differing(api: api_model.Api, root: Path) -> dict[Path, str]:
    """Files whose text is not what the description asks for, with the text that it asks for."""
    out = {}
    for name, emit in OUTPUTS.items():
        path, text = root / name, emit(api)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            out[path] = text
    return out


def abi_problems(api: api_model.Api) -> list[str]:
    out = []
    for path in sorted(FROZEN.glob(f"{api.major}.*.json")):
        frozen = json.loads(path.read_text(encoding="utf-8"))
        out += [f"ABI {frozen['abi']}: {problem}" for problem in abi_check.problems(frozen, json_form.frozen(api))]
    return out


def freeze(api: api_model.Api) -> int:
    path = FROZEN / f"{api.version()}.json"
    if path.exists():
        print(f"{path.name} exists: a frozen version does not change", file=sys.stderr)
        return 1
    path.write_text(json_form.emit_frozen(api), encoding="utf-8")
    return 0


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"], ["--freeze"]):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        api = api_model.load(DESCRIPTION)
        changes = differing(api, ROOT)
    except api_model.ApiError as problem:
        print(f"{DESCRIPTION.name}: {problem}", file=sys.stderr)
        return 1
    if arguments == ["--freeze"]:
        return freeze(api)
    broken = abi_problems(api)
    for problem in broken:
        print(problem, file=sys.stderr)
    for path, text in changes.items():
        if arguments == ["--check"]:
            print(f"{path.relative_to(ROOT)} is not what bindings/generate.py writes", file=sys.stderr)
        elif not broken:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    return 1 if broken or (changes and arguments) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
