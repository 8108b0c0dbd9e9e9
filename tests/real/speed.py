#!/usr/bin/env python3
"""Speed of the real models beside llama.cpp's library, in turns on one machine: ours, theirs, theirs, ours.

usage: tests/real/speed.py BUILD [MODELS] [--device cpu] [--threads N] [--rounds N] [--peer-bench COMMAND] [--only NAMES] [--json FILE]
  BUILD         a build folder, with bin/inlay
  MODELS        the folder that fetch.py fills
  --peer-bench  a program and its first arguments that measures llama.cpp's library on the model that is named next, and prints
                one line of JSON with the keys of `inlay bench` (docs/tool.md); without it only ours is measured

Measured: a prompt of 512 tokens and 128 tokens one by one, in tokens a second, and the load in seconds. Prints medians and ranges.
"""
import argparse
import datetime
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys

from compare import commit, processor
from real_models import MODELS, default_folder

KEYS = ("pp512", "tg128@0", "load_s")


def line_of(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{shlex.join(map(str, command))}: {done.stderr.strip()}")
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("models", nargs="?", type=pathlib.Path, default=default_folder())
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peer-bench", type=shlex.split, default=[])
    parser.add_argument("--only", default=",".join(model.name for model in MODELS))
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    results = []
    for model in MODELS:
        path = model.path(options.models)
        if model.name not in options.only.split(","):
            continue
        if not path.is_file():
            print(f"skipped: needs the real models: {path}")
            continue
        settings = ["--pp", 512, "--depths", 0, "--tg", 128, "--batch", "none", "-t", options.threads]
        ours = [options.build / "bin" / "inlay", "bench", path, *settings, "-r", 3, "--device", options.device]
        theirs = [*options.peer_bench, path, *settings, "-r", 3] if options.peer_bench else None
        turns = [("inlay", ours)] + ([("llama.cpp", theirs)] * 2 + [("inlay", ours)] if theirs else [])
        lines = [(engine, line_of(command)) for _ in range(options.rounds) for engine, command in turns]
        for engine in dict.fromkeys(name for name, _ in lines):
            row = {"model": model.name, "engine": engine, "device": options.device}
            for key in KEYS:
                values = sorted(line[key] for name, line in lines if name == engine)
                row[key] = {"median": statistics.median(values), "low": values[0], "high": values[-1], "runs": len(values)}
            results.append(row)
            print(f"{model.name:8} {engine:10} " + "  ".join(f"{key} {row[key]['median']:.4g} ({row[key]['low']:.4g} to {row[key]['high']:.4g})"
                                                           for key in KEYS), flush=True)
    if options.json and results:
        gpu = None
        if options.device == "cuda":
            gpu = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True, check=False).stdout.strip()
        about = {"machine": {"cpu": processor(), "threads": options.threads, "cores": len(os.sched_getaffinity(0)), "gpu": gpu},
                 "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "commit": commit(),
                 "command": "tests/real/speed.py BUILD MODELS --device " + options.device + f" --threads {options.threads} --rounds {options.rounds}",
                 "results": results}
        options.json.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
