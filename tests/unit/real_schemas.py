#!/usr/bin/env python3
"""Picks real schemas with their instances for constraint_exact.cpp, and changes instances by a byte.

usage: real_schemas.py SCHEMAS.jsonl.xz OUT.jsonl [N]

SCHEMAS: as tests/real/constraints.py reads them. N of them (500), evenly spread over the file, of at most 20,000 bytes and with instances. A line of
OUT: {"name", "schema": text, "valid": [text], "invalid": [text], "broken": [text]}. Texts are written as json.dumps writes them, and have 4,000 bytes at
most. "broken" are the valid ones with one byte changed, taken out or put in, of those that no parser takes as JSON any more.
"""
import json
import lzma
import random
import sys

MOST_SCHEMA, MOST_TEXT, MOST_TEXTS = 20_000, 4_000, 4
BYTES = b'"\\{}[]:,0123456789.-+eE truefalsn\x00\x1f\x7f\x80\xc3\xff'


def texts_of(tests, valid):
    texts = (json.dumps(test["data"], ensure_ascii=False) for test in tests if test["valid"] == valid)
    return [text for text in texts if len(text.encode()) <= MOST_TEXT][:MOST_TEXTS]


def is_json(data):
    try:
        json.loads(data.decode("utf-8"), parse_constant=refuse)
        return True
    except (ValueError, RecursionError):
        return False


def refuse(name):
    raise ValueError(name)


def changed(text, chance):
    data = bytearray(text.encode())
    at = chance.randrange(len(data))
    kind = chance.randrange(3)
    if kind == 0:
        data[at] = chance.choice(BYTES)
    elif kind == 1:
        del data[at]
    else:
        data.insert(at, chance.choice(BYTES))
    return bytes(data)


def main():
    if not 3 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    n = int(sys.argv[3]) if len(sys.argv) > 3 else 500
    chance = random.Random(5)
    cases = []
    with lzma.open(sys.argv[1], "rt", encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            schema = json.dumps(case["schema"], ensure_ascii=False)
            valid, invalid = texts_of(case["tests"], True), texts_of(case["tests"], False)
            if len(schema) <= MOST_SCHEMA and valid:
                cases.append({"name": case["name"], "schema": schema, "valid": valid, "invalid": invalid})
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        for i in range(min(n, len(cases))):
            case = cases[i * len(cases) // n if len(cases) > n else i]
            # Bytes as characters of their numbers: such a text need not be UTF-8.
            broken = (changed(text, chance) for text in case["valid"] for _ in range(3))
            out.write(json.dumps(case | {"broken": [text.decode("latin-1") for text in broken if not is_json(text)]}) + "\n")


if __name__ == "__main__":
    main()
