#!/usr/bin/env python3
"""What fuzzing found, as one file: each input's length (32 bits, little-endian) before its bytes.

usage: corpus.py pack FOLDER FILE      the inputs of a folder, by name
       corpus.py unpack FILE FOLDER
"""
import pathlib
import struct
import sys


def pack(folder, file):
    inputs = [path.read_bytes() for path in sorted(pathlib.Path(folder).iterdir())]
    pathlib.Path(file).write_bytes(b"".join(struct.pack("<I", len(data)) + data for data in inputs))


def unpack(file, folder):
    data, at, n = pathlib.Path(file).read_bytes(), 0, 0
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    while at < len(data):
        length, = struct.unpack_from("<I", data, at)
        (pathlib.Path(folder) / f"found{n:04}").write_bytes(data[at + 4:at + 4 + length])
        at, n = at + 4 + length, n + 1


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("pack", "unpack"):
        sys.exit(__doc__)
    (pack if sys.argv[1] == "pack" else unpack)(*sys.argv[2:])
