#!/usr/bin/env python3
"""What a model loses by being quantized: every type that `inlay convert` writes, and the same recipes of llama.cpp's quantizer.

usage: tests/real/recipes.py BUILD [MODELS] [--device cuda] [--peer DIR] [--only smollm2,gemma3,tales] [--windows N] [--json FILE]
  BUILD     a build folder, with bin/inlay
  MODELS    the folder that fetch.py fills; a model that is not there is left out
  --device  where they run. A GPU computes with weights as they are; the CPU adds what its activations cost
  --peer    folder of llama.cpp's library (default: INLAY_PEER_LIBS); without it only ours are measured

Each model is written as F32 first, and that file is quantized by both. Each file is compared with the F32 one by `inlay perplexity`: windows of
512 tokens whose second half is scored. Prints a table.
"""
import argparse
import datetime
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

import texts
from compare import ROOT, commit, processor
from gguf_reader import GgufReader
from real_models import MODELS, default_folder

sys.path.append(str(ROOT / "tests" / "data"))
from gguf_file import TYPES as BLOCKS  # noqa: E402  # pylint: disable=wrong-import-position
import reference_library  # noqa: E402  # pylint: disable=wrong-import-position

# By the name of `convert`: llama.cpp's number of the recipe, llama_ftype.
RECIPES = {"f16": 1, "bf16": 32, "q8_0": 7, "q6_k": 18, "q5_k_m": 17, "q4_k_m": 15, "q4_0": 2}
TALES = ROOT / "examples" / "model" / "tales.gguf"
TALES_TEXT = ROOT / "tests" / "golden" / "data" / "tales" / "heldout.txt"


def bits_a_weight(path):
    """Of the tensors, norms included."""
    bits = weights = 0
    sizes = {number: (elements, size) for number, elements, size in BLOCKS.values()}
    for tensor in GgufReader(path).tensors.values():
        count = 1
        for n in tensor.shape:
            count *= n
        elements, size = sizes[tensor.number]
        bits += count // elements * size * 8
        weights += count
    return bits / weights


class Study:
    def __init__(self, options, scratch):
        self.tool, self.device, self.windows = options.build / "bin" / "inlay", options.device, options.windows
        self.scratch, self.rows = pathlib.Path(scratch), []

    def run(self, *arguments):
        done = subprocess.run([str(self.tool), *map(str, arguments)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"inlay {shlex.join(map(str, arguments))}: {done.stderr.strip()}")
        return done.stdout

    def measure(self, model, quantizer, kind, path, whole, text):
        arguments = ["perplexity", path, text, "--json", "--special", "--device", self.device, "--against", whole, "--against-device", self.device]
        figures = json.loads(self.run(*arguments, *(["--windows", self.windows] if self.windows else [])))
        row = {"model": model, "quantizer": quantizer, "type": kind, "bits": bits_a_weight(path)}
        row |= {key: figures[key] for key in ("scored", "perplexity", "against_perplexity", "ratio", "ratio_error", "kl_mean", "kl_error",
                                              "kl_p99", "same_best", "device")}
        self.rows.append(row)
        print(f"{model:8} {quantizer:10} {kind:7} {row['bits']:6.2f} bits  perplexity {row['perplexity']:9.4f}  ratio {row['ratio']:8.5f}"
              f" +- {row['ratio_error']:.5f}  KL {row['kl_mean']:.3e} +- {row['kl_error']:.1e}  same best {100 * row['same_best']:.2f} %",
              flush=True)

    def study(self, model, source, text):
        whole = self.scratch / "whole.gguf"
        self.run("convert", source, whole, "--type", "f32")
        for kind, number in RECIPES.items():
            ours = self.scratch / "ours.gguf"
            self.run("convert", whole, ours, "--type", kind)
            self.measure(model, "inlay", kind, ours, whole, text)
            if reference_library.available():
                theirs = self.scratch / "theirs.gguf"
                reference_library.quantize_file(str(whole), str(theirs), number)
                self.measure(model, "llama.cpp", kind, theirs, whole, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("models", nargs="?", type=pathlib.Path, default=default_folder())
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--peer")
    parser.add_argument("--only", default="smollm2,gemma3,tales")
    parser.add_argument("--windows", type=int)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    if options.peer:
        reference_library.use(options.peer)
    with tempfile.TemporaryDirectory() as scratch:
        study = Study(options, scratch)
        prose = study.scratch / "prose.txt"
        prose.write_text("\n\n".join(texts.sources()), encoding="utf-8")
        wanted = [(m.name, m.path(options.models), prose) for m in MODELS] + [("tales", TALES, TALES_TEXT)]
        for name, path, text in wanted:
            if name not in options.only.split(","):
                continue
            if not path.is_file():
                print(f"skipped: needs the real models: {path}")
                continue
            study.study(name, path, text)
        gpu = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True, check=False).stdout \
            if options.device == "cuda" else ""
    if options.json:
        about = {"machine": {"cpu": processor(), "threads": len(os.sched_getaffinity(0)), "gpu": gpu.strip() or None},
                 "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "commit": commit(),
                 "command": shlex.join(["tests/real/recipes.py", *sys.argv[1:]]), "results": study.rows}
        options.json.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
