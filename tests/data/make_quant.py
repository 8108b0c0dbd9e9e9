#!/usr/bin/env python3
"""Makes blocks of every tensor type and the float32 values that they stand for. Needs numpy.

Usage: make_quant.py --out FOLDER [--only TYPE...] [--peer FOLDER]

--peer, or the environment variable INLAY_PEER_LIBS, is the folder of libggml (reference_library.py). Without it, the blocks that
its quantizer made and the values of types without a formula in dequantize.py are taken from the files beside this program.

TYPE.bin has the raw blocks, TYPE.f32 their values. The blocks are the quantizer's, then random bytes with sensible scales, then
six edge cases: a scale of zero, a subnormal one, a negative one, and quants of zeros, of ones, and alternating.
"""
import argparse
import hashlib
import json
import os
import pathlib
import sys

import numpy as np

import dequantize
import reference_library
from gguf_file import TYPES

HERE = pathlib.Path(__file__).resolve().parent
SEED, N_BLOCKS, N_HALVES, N_EDGES = 20250304, 64, 4096, 6
N_QUANTIZED = N_BLOCKS * 3 // 8
# Of a type's blocks those that are kept: of the quantizer's, of random ones, and all edge cases.
KEPT_QUANTIZED, KEPT_RANDOM = 12, 16
KEPT = [*range(KEPT_QUANTIZED), *range(N_QUANTIZED, N_QUANTIZED + KEPT_RANDOM), *range(N_BLOCKS - N_EDGES, N_BLOCKS)]
# The types in the order of their draws, each with the bytes at which a block has half-precision scales.
SCALES = {"F16": [], "BF16": [], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108],
          "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ2_XXS": [0], "IQ2_XS": [0], "IQ2_S": [0], "IQ3_XXS": [0], "IQ3_S": [0],
          "IQ1_S": [0], "IQ1_M": [], "IQ4_NL": [0], "IQ4_XS": [0], "MXFP4": [], "TQ1_0": [52], "TQ2_0": [64]}
HEADER = {
    "made_by": "tests/data/make_quant.py, numpy " + np.__version__,
    "values": reference_library.NAME + ", ggml_get_type_traits(type)->to_float",
    "checked": "what else gives the same bits: tests/data/dequantize.py, or gguf-py's numpy code in the repository named",
}


def half_patterns(name, noise):
    """Two bytes of every sign and exponent; a NaN becomes zero."""
    values = (np.arange(N_HALVES, dtype=np.uint32) * 16 + noise).astype(np.uint16)
    exponent = 0x7C00 if name == "F16" else 0x7F80
    values[((values & exponent) == exponent) & ((values & ~np.uint16(exponent | 0x8000)) != 0)] = 0
    return values.view(np.uint8).reshape(N_HALVES, 2)


def random_blocks(random, name):
    """Random bytes with scales of usual size, and what the quantizer is to quantize."""
    number_elements, block_bytes = TYPES[name][1:]
    n = N_HALVES if number_elements == 1 else N_BLOCKS
    blocks = random.integers(0, 256, (n, block_bytes), dtype=np.uint8)
    if number_elements == 1:
        return half_patterns(name, random.integers(0, 16, n)), None
    for at in SCALES[name]:
        scales = (random.normal(0, 1, n) * 10.0 ** random.uniform(-3, 0.5, n)).astype(np.float16)
        blocks[:, at:at + 2] = scales.view(np.uint8).reshape(n, 2)
    if name == "IQ1_M":
        blocks[:, 55] &= 0xBF  # its scale is spread over the block; this keeps it finite
    if name == "MXFP4":
        blocks[:, 0] = random.integers(110, 140, n)
    values = random.normal(0, 1, (N_QUANTIZED, number_elements)).astype(np.float32)
    return blocks, values * (10.0 ** random.uniform(-2, 1, (N_QUANTIZED, 1))).astype(np.float32)


def set_edges(blocks, name):
    edges = blocks[len(blocks) - N_EDGES:]
    for k, scale in enumerate((0, 6e-8, -1.5)):
        for at in SCALES[name]:
            edges[k, at:at + 2] = np.frombuffer(np.float16(scale).tobytes(), np.uint8)
    of_scales = {at + i for at in SCALES[name] for i in range(2)}
    if name == "MXFP4":
        edges[:3, 0] = 0, 1, 250
        of_scales = {0}
    if name == "IQ1_M":
        of_scales = set(range(48, 56))
    quants = [at for at in range(blocks.shape[1]) if at not in of_scales]
    edges[3, quants], edges[4, quants] = 0, 255
    edges[5, quants] = np.where(np.arange(len(quants)) % 2, 0xF0, 0x0F)


def make_blocks():
    """(name, blocks, parts) of every type. The quantizer's part is None where there is no library."""
    random = np.random.default_rng(SEED)
    for name in SCALES:
        number, block_elements, block_bytes = TYPES[name]
        blocks, values = random_blocks(random, name)
        if values is None:
            yield name, blocks, {"pattern": [0, len(blocks)]}
            continue
        set_edges(blocks, name)
        if reference_library.available():
            assert reference_library.block_size(number) == (block_elements, block_bytes), name
            blocks[:N_QUANTIZED] = reference_library.quantize(values, number, block_elements, block_bytes)
        else:
            blocks[:KEPT_QUANTIZED] = committed_blocks(name)[:KEPT_QUANTIZED]
        ends = [0, KEPT_QUANTIZED, KEPT_QUANTIZED + KEPT_RANDOM, len(KEPT)]
        yield name, blocks[KEPT], {part: ends[i:i + 2] for i, part in enumerate(("quantized", "random", "edge"))}


def committed_blocks(name):
    return np.fromfile(HERE / "quant" / (name + ".bin"), np.uint8).reshape(-1, TYPES[name][2])


def committed_index():
    return {e["type"]: e for e in json.loads((HERE / "quant" / "index.json").read_text())["types"]}


def values_of(name, blocks):
    if reference_library.available():
        return reference_library.dequantize(blocks, TYPES[name][0], len(blocks) * TYPES[name][1])
    if name in dequantize.FORMULAS:
        return dequantize.dequantize(blocks, name)
    assert (blocks == committed_blocks(name)).all(), name + ": other blocks than those whose values are known"
    return np.fromfile(HERE / "quant" / (name + ".f32"), np.float32)


def entry_of(name, blocks, parts, folder, committed):
    number, block_elements, block_bytes = TYPES[name]
    values = values_of(name, blocks)
    assert block_elements == 1 or np.isfinite(values).all(), name
    (folder / (name + ".bin")).write_bytes(blocks.tobytes())
    (folder / (name + ".f32")).write_bytes(values.tobytes())
    entry = {"type": name, "ggml_type": number, "block_elements": block_elements, "block_bytes": block_bytes, "blocks": len(blocks),
             "bin": name + ".bin", "f32": name + ".f32", "parts": parts, "sha256_bin": hashlib.sha256(blocks.tobytes()).hexdigest(),
             "sha256_f32": hashlib.sha256(values.tobytes()).hexdigest()}
    if name in dequantize.FORMULAS:
        same = dequantize.dequantize(blocks, name).tobytes() == values.tobytes()
        assert same, name + ": the formula and the library differ"
        entry["checked"] = "dequantize.py"
    elif all(committed.get(name, {}).get(key) == entry[key] for key in ("sha256_bin", "sha256_f32")):
        entry["checked"] = committed[name]["checked"]
    else:
        entry["checked"] = None
    return entry


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--only", nargs="+", choices=SCALES, metavar="TYPE")
    parser.add_argument("--peer")
    options = parser.parse_args()
    if options.peer:
        reference_library.use(options.peer)
    os.makedirs(options.out, exist_ok=True)
    committed, lines = committed_index(), []
    for name, blocks, parts in make_blocks():
        if options.only and name not in options.only:
            continue
        entry = entry_of(name, np.ascontiguousarray(blocks), parts, options.out, committed)
        lines.append("  " + json.dumps(entry))
        print("%-8s %4d blocks, checked: %s" % (name, entry["blocks"], entry["checked"]))
    text = json.dumps(HEADER, indent=1)[:-2] + ',\n "types": [\n' + ",\n".join(lines) + "\n ]\n}\n"
    (options.out / "index.json").write_text(text, newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
