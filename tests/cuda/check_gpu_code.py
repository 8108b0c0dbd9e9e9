#!/usr/bin/env python3
"""Reads what GPU code a library holds, from its section .nv_fatbin; prints the bytes of each architecture.

  check_gpu_code.py LIBRARY --sass 80,90 --ptx 90 [--alone 90] [--limit MB]

Fails if an architecture that is named lacks code that another has, if there is one that is not named, or if the file has more than
the given millions of bytes. --alone: units that have code for this architecture and nothing else are right (sm_90a, whose code no
other GPU runs).
"""

import argparse
import collections
import os
import struct
import subprocess
import sys

MAGIC = 0xBA55ED50  # a container; entries follow its header
PTX, SASS = 1, 2


class Damaged(ValueError):
    pass


def fatbin_section(library: str) -> bytes:
    text = subprocess.run(["readelf", "-SW", library], check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        fields = line.split("]", 1)[-1].split()
        if fields and fields[0] == ".nv_fatbin":
            offset, size = int(fields[3], 16), int(fields[4], 16)
            with open(library, "rb") as file:
                file.seek(offset)
                return file.read(size)
    raise Damaged("it has no section .nv_fatbin")


def entries(section: bytes):
    """(container, kind, architecture, stored bytes) of each piece of code. Containers start at multiples of 8."""
    at, container = 0, 0
    while at + 16 <= len(section):
        magic, version, header, size = struct.unpack_from("<IHHQ", section, at)
        if magic != MAGIC:
            at += 8
            continue
        if version != 1 or at + header + size > len(section):
            raise Damaged(f"a container at {at} of version {version} and {size} bytes")
        container += 1
        entry, end = at + header, at + header + size
        while entry < end:
            kind, _, entry_header, data = struct.unpack_from("<HHIQ", section, entry)
            architecture = struct.unpack_from("<I", section, entry + 28)[0]
            if kind not in (PTX, SASS) or entry_header < 64 or entry + entry_header + data > end:
                raise Damaged(f"an entry at {entry} of kind {kind} and {data} bytes")
            yield container, kind, architecture, entry_header + data
            entry += entry_header + data
        at = end


def problems_of(found, wanted: set, alone: int | None, n_bytes: int, limit_mb: float) -> list[str]:
    """`found` as of entries(); `wanted`: (kind, architecture)."""
    out = []
    by_container = collections.defaultdict(set)
    for container, kind, architecture, _ in found:
        by_container[container].add((kind, architecture))
    name = {PTX: "compute", SASS: "sm"}
    if not by_container:
        out.append("it holds no GPU code")
    missing = collections.Counter(
        code for held in by_container.values() if held != {(SASS, alone)} for code in wanted - held)
    surplus = collections.Counter(code for held in by_container.values() for code in held - wanted)
    out += [f"{n} of {len(by_container)} units have no code for {name[k]}_{a}" for (k, a), n in sorted(missing.items())]
    out += [f"{n} of {len(by_container)} units have code for {name[k]}_{a}" for (k, a), n in sorted(surplus.items())]
    if limit_mb and n_bytes > limit_mb * 1e6:
        out.append(f"it has {n_bytes / 1e6:.1f} MB, at most {limit_mb:g} are allowed")
    return out


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--sass", required=True)
    parser.add_argument("--ptx", required=True)
    parser.add_argument("--alone", type=int)
    parser.add_argument("--limit", type=float, default=0)
    args = parser.parse_args()
    wanted = {(SASS, int(a)) for a in args.sass.split(",")} | {(PTX, int(a)) for a in args.ptx.split(",")}
    found = list(entries(fatbin_section(args.library)))
    n_bytes = os.path.getsize(args.library)
    sizes = collections.Counter()
    for _, kind, architecture, stored in found:
        sizes[kind, architecture] += stored
    for (kind, architecture), stored in sorted(sizes.items()):
        print(f"{'PTX compute' if kind == PTX else 'sm'}_{architecture}: {stored / 1e6:.2f} MB")
    print(f"the whole library: {n_bytes / 1e6:.2f} MB")
    problems = problems_of(found, wanted, args.alone, n_bytes, args.limit)
    for problem in problems:
        print(f"{args.library}: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
