#!/usr/bin/env python3
"""Makes the tiny models, their exact logits and their index. Needs numpy.

Usage: make_models.py --out FOLDER [--only NAME...] [--peer FOLDER]

--peer, or the environment variable INLAY_PEER_LIBS, is the folder of libllama and libggml (reference_library.py). Without it
only models are made whose types are packed by definition, and what libllama says of a model is taken from the index beside
this program if that model is the same, byte for byte.

NAME.gguf is the model. NAME.exact has its logits: int32 n_vocab, int32 n, then n times int32 token and n_vocab float32.
"""
import argparse
import base64
import hashlib
import json
import os
import pathlib
import struct
import sys

import numpy as np

import exact
import gguf_file
import model_weights
import reference_library
from tiny_models import BY_NAME, GENERATIONS, MODELS

HERE = pathlib.Path(__file__).resolve().parent
FEATURES = ("attn_softcap", "biases", "moe", "nrot", "rope_factors", "rope_freqs", "rope_scaling", "scales", "shared", "swa", "tied",
            "tokenizer")
HEADER = {
    "made_by": "tests/data/make_models.py, numpy " + np.__version__,
    "exact": "float64 evaluation of the stored weights by tests/data/exact.py",
    "libllama": reference_library.NAME + ", CPU, one token at a time, F32 cache, no flash attention; its logits are measured, not kept",
    "token_rule": "token i = ((1664525*(i+1)+1013904223) mod 2^32) mod n_vocab",
}


def text_of(model):
    """The tokens that the logits belong to."""
    return [((1664525 * (i + 1) + 1013904223) & 0xFFFFFFFF) % model["V"] for i in range(model.get("n", 12))]


def logits_file(tokens, rows):
    out = [struct.pack("<ii", len(rows[0]), len(tokens))]
    for token, row in zip(tokens, rows):
        out.append(struct.pack("<i", token) + np.asarray(row, np.float32).tobytes())
    return b"".join(out)


def read_logits(data):
    """(tokens, logits) of such a file's bytes."""
    n_vocab, n = struct.unpack_from("<ii", data)
    assert len(data) == 8 + n * 4 * (1 + n_vocab), "not the length that it says"
    rows = np.frombuffer(data, np.int32, n * (1 + n_vocab), 8).reshape(n, 1 + n_vocab)
    return rows[:, 0].tolist(), rows[:, 1:].copy().view(np.float32)


def short(value):
    return float("%.3g" % value)


def difference(values, expected):
    d = np.asarray(values, np.float64) - expected
    return {"max_abs": short(np.abs(d).max()), "nmse": short((d * d).mean() / (expected * expected).mean())}


def can_make(model):
    return reference_library.available() or model_weights.types_of(model) <= set(gguf_file.BY_DEFINITION)


def make_model(model):
    """(GGUF file's bytes, exact logits file's bytes, exact logits, stored weights, margins of the choices of experts)."""
    data, weights = model_weights.build(model)
    margins, tokens = [], text_of(model)
    rows = exact.logits(model, weights, tokens, margins)
    return data, logits_file(tokens, rows), rows, weights, margins


def measure_library(model, path, weights, rows):
    """How far libllama's logits are from the exact ones."""
    tokens, expected, out = text_of(model), rows, {}
    if model.get("libllama"):
        expected = exact.logits(model | model["libllama"], weights, tokens)
        out["libllama_differs"] = model["libllama_why"] + "; compared with an evaluation that does the same"
        out["libllama_way_vs_exact"] = difference(expected, rows)
    single = reference_library.logits(path, [[t] for t in tokens])
    out["libllama_vs_exact"] = difference(single, expected)
    out["libllama_batch_vs_single"] = difference(reference_library.logits(path, [tokens]), single)
    defaults = reference_library.logits(path, [[t] for t in tokens], defaults=True)
    out["libllama_default_cache_vs_exact"] = difference(defaults, expected)
    out["argmax_agree"] = int((single.argmax(1) == expected.argmax(1)).sum())
    return out


LIBRARY_FIELDS = ("libllama_differs", "libllama_way_vs_exact", "libllama_vs_exact", "libllama_batch_vs_single",
                  "libllama_default_cache_vs_exact", "argmax_agree")


def entry_of(model, folder, committed):
    data, exact_data, rows, weights, margins = make_model(model)
    name, path = model["name"], folder / (model["name"] + ".gguf")
    path.write_bytes(data)
    (folder / (name + ".exact")).write_bytes(exact_data)
    top = np.sort(rows, -1)[:, -2:]
    entry = {"name": name, "file": name + ".gguf", "exact": name + ".exact", "arch": model["arch"], "recipe": model["recipe"],
             "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), "sha256_exact": hashlib.sha256(exact_data).hexdigest(),
             "features": [f for f in FEATURES if model.get(f)], "tokens": text_of(model), "logit_std": short(rows.std()),
             "min_top2_gap": short((top[:, 1] - top[:, 0]).min())}
    if margins:
        entry["min_router_margin"] = short(min(margins))
    known = committed["models"].get(name, {})
    if reference_library.available():
        entry |= measure_library(model, str(path), weights, rows)
    elif known.get("sha256") == entry["sha256"]:
        entry |= {field: known[field] for field in LIBRARY_FIELDS if field in known}
    return entry


def generation_of(case, folder):
    """Greedy tokens by libllama, and whether the exact evaluation chooses the same."""
    model = BY_NAME[case["model"]]
    session = reference_library.Session(str(folder / (case["model"] + ".gguf")))
    vocabulary = session.vocabulary
    ids = vocabulary.encode(case["prompt"], case["add_special"])
    row, got, gaps = session.feed(ids)[-1], [], []
    for _ in range(case["n"]):
        best, second = np.sort(row)[[-1, -2]]
        gaps.append(best - second)
        got.append(int(row.argmax()))
        if got[-1] in vocabulary.ends:
            break
        row = session.feed(got[-1:])[-1]
    expected = exact.logits(model, model_weights.build(model)[1], ids + got)[len(ids) - 1:-1].argmax(1).tolist()
    out = {key: case.get(key) for key in ("name", "model", "messages", "prompt", "add_special")}
    out |= {"prompt_ids": ids, "greedy_ids": got, "ended": got[-1] in vocabulary.ends,
            "greedy_text_b64": base64.b64encode(b"".join(vocabulary.piece(token, show_special=False) for token in got)).decode(),
            "min_top2_gap": short(min(gaps)), "exact_agrees": expected == got}
    session.close()
    return out


def committed_index():
    index = json.loads((HERE / "models" / "index.json").read_text())
    return {key: {e["name"]: e for e in index[key]} for key in ("models", "generate")}


def index_text(entries, generations):
    """JSON with one line for each model."""
    head = json.dumps(HEADER, indent=1)[:-2]
    lists = ((key, ",\n".join("  " + json.dumps(e) for e in rows)) for key, rows in (("models", entries), ("generate", generations)))
    return head + "".join(',\n "%s": [\n%s\n ]' % (key, rows) for key, rows in lists) + "\n}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--only", nargs="+", choices=BY_NAME, metavar="NAME")
    parser.add_argument("--peer")
    options = parser.parse_args()
    if options.peer:
        reference_library.use(options.peer)
    committed = committed_index()
    os.makedirs(options.out, exist_ok=True)
    entries, left_out = [], []
    for model in MODELS:
        if options.only and model["name"] not in options.only:
            continue
        if not can_make(model):
            left_out.append(model["name"])
            continue
        entries.append(entry_of(model, options.out, committed))
        measured = entries[-1].get("libllama_vs_exact", {}).get("nmse", "not measured")
        print("%-26s %7d bytes, libllama's NMSE %s" % (model["name"], entries[-1]["bytes"], measured), flush=True)
    same = {e["name"] for e in entries if e["sha256"] == committed["models"].get(e["name"], {}).get("sha256")}
    generations = []
    for case in GENERATIONS:
        if case["model"] not in {e["name"] for e in entries}:
            continue
        if reference_library.available():
            generations.append(generation_of(case, options.out))
        elif case["model"] in same:
            generations.append(committed["generate"][case["name"]])
    (options.out / "index.json").write_text(index_text(entries, generations), newline="\n")
    if left_out:
        print("left out, for want of the library's quantizer: " + ", ".join(left_out), file=sys.stderr)
    return 1 if options.only and left_out else 0


if __name__ == "__main__":
    sys.exit(main())
