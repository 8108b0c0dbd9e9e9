#!/usr/bin/env python3
"""Constraints by real JSON schemas, beside another engine: which schemas are refused, which instances are wrongly stopped or let through, and what a token
costs.

    python3 tests/real/constraints.py build/release/bin/bench_constraints SCHEMAS.jsonl.xz TOKENIZER.json [--part 8] [--without-peer]

SCHEMAS has lines {"name", "schema", "tests": [{"valid", "data"}]}, packed by xz or not. Instances are written as json.dumps writes them. --part N takes every
Nth schema. Needed: the packages tokenizers, and for the peer llguidance and numpy. Times are processor time of one thread; a schema's constraint is new; a
token's time is that of its mask and of the advance; the first mask's has the compilation in it. The whitespace that the peer may write is ours.
"""
import argparse
import json
import lzma
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

WHITESPACE = r"( |\n[ \t]{0,19})?"
TEXT, CONTROL, END, UNUSED = range(4)


def byte_alphabet():
    """The bytes that the characters of a byte-level vocabulary stand for."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + i): byte for i, byte in enumerate(others)}


def pieces_of(path, ends):
    model = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    alphabet = byte_alphabet()
    added = {token["id"]: token for token in model["added_tokens"]}
    size = 1 + max(*model["model"]["vocab"].values(), *added)
    pieces = [(UNUSED, b"")] * size
    for text, number in model["model"]["vocab"].items():
        pieces[number] = (TEXT, bytes(alphabet[c] for c in text))
    for number, token in added.items():
        kind = END if token["content"] in ends else CONTROL if token["special"] else TEXT
        pieces[number] = (kind, token["content"].encode())
    return pieces


def read_cases(path, part, tokenizer):
    opened = lzma.open(path, "rt", encoding="utf-8") if path.endswith(".xz") else open(path, encoding="utf-8")
    with opened as lines:
        for number, line in enumerate(lines):
            if number % part:
                continue
            case = json.loads(line)
            tests = []
            for test in case["tests"]:
                text = json.dumps(test["data"], ensure_ascii=False)
                tests.append({"valid": test["valid"], "tokens": tokenizer.encode(text, add_special_tokens=False).ids})
            yield {"name": case["name"], "schema": json.dumps(case["schema"], ensure_ascii=False), "tests": tests}


def run_ours(program, pieces, cases, folder):
    vocabulary, inputs = folder / "pieces", folder / "cases.jsonl"
    vocabulary.write_bytes(b"".join(struct.pack("<BI", kind, len(text)) + text for kind, text in pieces))
    inputs.write_text("".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases), encoding="utf-8")
    output = subprocess.run([program, vocabulary, inputs], stdout=subprocess.PIPE, check=True, text=True).stdout
    return [json.loads(line) for line in output.splitlines()]


def now():
    return time.clock_gettime_ns(time.CLOCK_THREAD_CPUTIME_ID) / 1000


def run_peer(tokenizer_path, n_tokens, end, cases):
    import llguidance
    import numpy
    tokenizer = llguidance.LLTokenizer(tokenizer_path, n_vocab=n_tokens, eos_token=end, slices=llguidance.LLTokenizer.json_slices())
    mask = numpy.zeros((n_tokens + 31) // 32, dtype=numpy.int32)
    overhead = sorted(-(now() - now()) for _ in range(2001))[1000]
    for case in cases:
        schema = json.loads(case["schema"])
        if isinstance(schema, dict):
            schema["x-guidance"] = {"whitespace_pattern": WHITESPACE}
        begin = now()
        matcher = llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_json_schema(json.dumps(schema)), log_level=0)
        if matcher.is_error():
            yield {"error": matcher.get_error()}
            continue
        matcher.unsafe_compute_mask_ptr(mask.ctypes.data, mask.nbytes)
        row = {"first": now() - begin, "stopped": [], "times": []}
        for test in case["tests"]:
            matcher.reset()
            row["stopped"].append(peer_stops(matcher, mask, test["tokens"], row["times"], overhead))
        yield row


def peer_stops(matcher, mask, tokens, times, overhead):
    for i, token in enumerate(tokens):
        begin = now()
        matcher.unsafe_compute_mask_ptr(mask.ctypes.data, mask.nbytes)
        spent = now() - begin - overhead
        if not int(mask[token >> 5]) >> (token & 31) & 1:
            return i
        begin = now()
        matcher.consume_token(token)
        times.append(spent + now() - begin - overhead)
    return -1 if matcher.is_accepting() else len(tokens)


def at(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0


def is_right(case, row):
    return "error" not in row and all((stop == -1) == test["valid"] for test, stop in zip(case["tests"], row["stopped"]))


def report(name, cases, rows, counted):
    n = {"refused": 0, "valid": 0, "stopped": 0, "invalid": 0, "let through": 0}
    for case, row in zip(cases, rows):
        if "error" in row:
            n["refused"] += 1
            continue
        for test, stop in zip(case["tests"], row["stopped"]):
            n["valid" if test["valid"] else "invalid"] += 1
            n["stopped"] += test["valid"] and stop != -1
            n["let through"] += not test["valid"] and stop == -1
    times = [t for row, use in zip(rows, counted) if use for t in row["times"]]
    first = [row["first"] for row, use in zip(rows, counted) if use]
    mean = sum(times) / max(1, len(times))
    print(f"| {name} | {n['refused']} of {len(rows)} | {n['stopped']} of {n['valid']} | {n['let through']} of {n['invalid']} | {mean:.1f} | {at(times, .5):.1f} | "
          f"{at(times, .99):.0f} | {at(times, .999):.0f} | {at(first, .5) / 1000:.2f} | {at(first, .99) / 1000:.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("schemas")
    parser.add_argument("tokenizer")
    parser.add_argument("--part", type=int, default=1)
    parser.add_argument("--ends", default="<|im_end|>,<|endoftext|>,</s>,<|end_of_text|>,<|eot_id|>")
    parser.add_argument("--without-peer", action="store_true")
    parser.add_argument("--json", help="a file for the rows of both")
    options = parser.parse_args()
    import tokenizers
    pieces = pieces_of(options.tokenizer, options.ends.split(","))
    end = next((i for i, (kind, _) in enumerate(pieces) if kind == END), None)
    if end is None:
        sys.exit("the vocabulary has none of the end tokens: name them by --ends")
    cases = list(read_cases(options.schemas, options.part, tokenizers.Tokenizer.from_file(options.tokenizer)))
    with tempfile.TemporaryDirectory() as folder:
        ours = run_ours(options.program, pieces, cases, pathlib.Path(folder))
    peer = [] if options.without_peer else list(run_peer(options.tokenizer, len(pieces), end, cases))
    counted = [is_right(case, row) for case, row in zip(cases, ours)]
    if peer:
        counted = [use and is_right(case, row) for use, case, row in zip(counted, cases, peer)]
    print(f"{len(cases)} schemas, {len(pieces)} tokens; times over the {sum(counted)} schemas that are right throughout")
    print("| engine | refused | valid stopped | invalid let through | us a token, mean | p50 | p99 | p99.9 | first mask, ms, p50 | p99 |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    report("Inlay", cases, ours, counted)
    if peer:
        report("llguidance", cases, peer, counted)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"names": [case["name"] for case in cases], "ours": ours, "peer": peer}), encoding="utf-8")


if __name__ == "__main__":
    main()
