#!/usr/bin/env python3
"""Constraints by real JSON schemas, beside other engines: which schemas are refused, which instances are wrongly stopped or let through, and what a token
costs.

    python3 tests/real/constraints.py build/release/bin/bench_constraints SCHEMAS.jsonl.xz TOKENIZER.json [--part 8] [--peers llguidance,xgrammar]

SCHEMAS has lines {"name", "schema", "tests": [{"valid", "data"}]}, packed by xz or not. Instances are written as json.dumps writes them. --part N takes every
Nth schema. Needed: the packages tokenizers, numpy and those of the peers. Times are processor time of one thread; a schema's constraint is new; a
token's time is that of its mask and of the advance; the first mask's has the compilation in it. What Python takes for a call is not in a peer's times:
arguments are made before, and the time of a method that does nothing is subtracted. Caches: none that outlives a constraint, but for what an engine makes
of the vocabulary (Inlay: trees and slices; llguidance: its tries and slices; xgrammar: its sorted vocabulary). The whitespace that llguidance may write is ours;
xgrammar's is the nearest that it has.
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


def time_of(call):
    """Of the call and of the clock, where the call does nothing."""
    spent = []
    for _ in range(2001):
        begin = now()
        call()
        spent.append(now() - begin)
    return sorted(spent)[1000]


def run_llguidance(tokenizer_path, pieces, end, cases):
    import llguidance
    import numpy
    n_tokens = len(pieces)
    tokenizer = llguidance.LLTokenizer(tokenizer_path, n_vocab=n_tokens, eos_token=end, slices=llguidance.LLTokenizer.json_slices())
    mask = numpy.zeros((n_tokens + 31) // 32, dtype=numpy.int32)
    pointer, n_bytes = mask.ctypes.data, mask.nbytes
    overhead = None
    for case in cases:
        schema = json.loads(case["schema"])
        if isinstance(schema, dict):
            schema["x-guidance"] = {"whitespace_pattern": WHITESPACE}
        text = json.dumps(schema)
        begin = now()
        matcher = llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_json_schema(text), log_level=0)
        if matcher.is_error():
            yield {"error": matcher.get_error()}
            continue
        matcher.unsafe_compute_mask_ptr(pointer, n_bytes)
        spent = now() - begin
        overhead = overhead or time_of(matcher.is_error)
        row = {"first": spent - 4 * overhead, "stopped": [], "times": []}
        for test in case["tests"]:
            matcher.reset()
            row["stopped"].append(llguidance_stops(matcher, mask, (pointer, n_bytes), test["tokens"], row["times"], overhead))
        yield row


def run_xgrammar(_, pieces, end, cases):
    import numpy
    import tvm_ffi
    import xgrammar
    vocabulary = [text if kind == TEXT else b"" for kind, text in pieces]
    info = xgrammar.TokenizerInfo(vocabulary, xgrammar.VocabType.RAW, vocab_size=len(pieces), stop_token_ids=[end])
    mask = numpy.zeros((1, (len(pieces) + 31) // 32), dtype=numpy.int32)
    filled = tvm_ffi.from_dlpack(mask)
    overhead = None
    for case in cases:
        compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        begin = now()
        try:
            compiled = compiler.compile_json_schema(case["schema"], strict_mode=False, max_whitespace_cnt=20)
            matcher = xgrammar.GrammarMatcher(compiled)
            matcher.fill_next_token_bitmask(filled)
        except Exception as error:
            yield {"error": str(error)}
            continue
        spent = now() - begin
        overhead = overhead or time_of(matcher.is_terminated)
        row = {"first": spent - 3 * overhead, "stopped": [], "times": []}
        for test in case["tests"]:
            matcher.reset()
            row["stopped"].append(xgrammar_stops(matcher, mask, filled, test["tokens"], end, row["times"], overhead))
        yield row


def xgrammar_stops(matcher, mask, filled, tokens, end, times, overhead):
    for i, token in enumerate(tokens):
        begin = now()
        matcher.fill_next_token_bitmask(filled)
        spent = now() - begin - overhead
        if not int(mask[0][token >> 5]) >> (token & 31) & 1:
            return i
        begin = now()
        matcher.accept_token(token)
        times.append(max(0, spent + now() - begin - overhead))
    matcher.fill_next_token_bitmask(filled)
    return -1 if int(mask[0][end >> 5]) >> (end & 31) & 1 else len(tokens)


PEERS = {"llguidance": run_llguidance, "xgrammar": run_xgrammar}


def llguidance_stops(matcher, mask, place, tokens, times, overhead):
    for i, token in enumerate(tokens):
        begin = now()
        matcher.unsafe_compute_mask_ptr(*place)
        spent = now() - begin - overhead
        if not int(mask[token >> 5]) >> (token & 31) & 1:
            return i
        begin = now()
        matcher.consume_token(token)
        times.append(max(0, spent + now() - begin - overhead))
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
    parser.add_argument("--peers", default="llguidance", help="of " + ", ".join(PEERS) + "; empty: none")
    parser.add_argument("--json", help="a file for the rows of all")
    options = parser.parse_args()
    import tokenizers
    pieces = pieces_of(options.tokenizer, options.ends.split(","))
    end = next((i for i, (kind, _) in enumerate(pieces) if kind == END), None)
    if end is None:
        sys.exit("the vocabulary has none of the end tokens: name them by --ends")
    cases = list(read_cases(options.schemas, options.part, tokenizers.Tokenizer.from_file(options.tokenizer)))
    with tempfile.TemporaryDirectory() as folder:
        ours = run_ours(options.program, pieces, cases, pathlib.Path(folder))
    engines = {"Inlay": ours}
    for name in filter(None, options.peers.split(",")):
        engines[name] = list(PEERS[name](options.tokenizer, pieces, end, cases))
    counted = [all(is_right(case, rows[i]) for rows in engines.values()) for i, case in enumerate(cases)]
    print(f"{len(cases)} schemas, {len(pieces)} tokens; times over the {sum(counted)} schemas that are right throughout")
    print("| engine | refused | valid stopped | invalid let through | us a token, mean | p50 | p99 | p99.9 | first mask, ms, p50 | p99 |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, rows in engines.items():
        report(name, cases, rows, counted)
    memory = [row["memory"] / 1000 for row in ours if "error" not in row]
    print(f"memory of a constraint behind its instances, KB, Inlay: p50 {at(memory, .5):.0f}, p99 {at(memory, .99):.0f}, max {at(memory, 1):.0f}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"names": [case["name"] for case in cases], "engines": engines}), encoding="utf-8")


if __name__ == "__main__":
    main()
