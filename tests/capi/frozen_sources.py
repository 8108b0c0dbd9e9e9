"""Writes the header of a frozen ABI version, and the source of a library of that version whose functions do nothing.

Usage: frozen_sources.py FROZEN.json FOLDER [CLAIMED]     the library says that it offers CLAIMED, if that is given
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bindings"))
from emit import empty_library, frozen_header


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    frozen, folder = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "inlay.h").write_text(frozen_header.emit(frozen), encoding="utf-8")
    claimed = frozen | {"abi": sys.argv[3] if len(sys.argv) == 4 else frozen["abi"]}
    (folder / "library.c").write_text(empty_library.emit(claimed), encoding="utf-8")


if __name__ == "__main__":
    main()
