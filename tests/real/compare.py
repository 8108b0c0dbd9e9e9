#!/usr/bin/env python3
"""Inlay with real models beside transformers, llama.cpp's library and the tokenizers' own libraries.

usage: tests/real/compare.py LIBRARY [MODELS] [--only smollm2,gemma3] [--devices cpu,cuda] [--peer DIR] [--checks CHECKS] [--quick]
                             [--json FILE]
  LIBRARY    libinlay.so.1
  MODELS     the folder that fetch.py fills; default: INLAY_REAL_MODELS, or inlay/real in the user's cache
  --peer     folder of llama.cpp's library (default: INLAY_PEER_LIBS); without it that part is skipped. tests/data/README.md says how to
             come by it
  --peer-device  where that one runs: cuda if its folder has libggml-cuda
  --checks   some of logits,greedy,chat,tokens,types (default: all). `types` converts each model to every type that `inlay convert`
             writes, and runs on cuda alone
  --quick    2 pieces of 128 tokens instead of 8 of 512, and wider bounds, to try a change
  --json     where the results are written with the machine, the versions, the date, the commit and the command

The truth is transformers in float32 on the processor with the weights that the file stands for. real_models.py has the bounds. Each
comparison has to find planted faults. Prints `ok`, `FAIL` or `skipped:` lines, then a table. Exit code 0 only if nothing failed, 77 without
PyTorch, transformers or models.
"""
import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import platform
import shlex
import subprocess
import sys
import time
import traceback

from real_models import BOUNDS, MODELS, default_folder, references_folder, wider

ROOT = pathlib.Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "hf"))
from inlay_library import Library  # noqa: E402  # pylint: disable=wrong-import-position

SKIPPED = 77
CHECKS = ("logits", "greedy", "chat", "tokens", "types")


def leave(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), platform.machine())
    except OSError:
        return platform.machine()


def commit():
    if "INLAY_COMMIT" in os.environ:  # where there is no repository
        return os.environ["INLAY_COMMIT"]
    done = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


class Run:
    """What is compared with what, and what came of it."""

    def __init__(self, library, options, devices, versions):
        self.library, self.devices, self.peer, self.peer_device = library, devices, options.peer, options.peer_device
        self.type_devices, self.pieces = options.type_devices.split(","), (2, 128) if options.quick else ()
        self.bounds = {key: wider(bounds) for key, bounds in BOUNDS.items()} if options.quick else BOUNDS
        self.n_threads = len(os.sched_getaffinity(0))
        self.file, self.results, self.table = options.json, [], []
        gpu = library.device("cuda")
        self.about = {"machine": {"cpu": processor(), "threads": self.n_threads, "gpu": bytes(gpu.name).decode() if gpu else None},
                      "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "commit": commit(),
                      "command": shlex.join(["tests/real/compare.py", *sys.argv[1:]]), "versions": versions}

    def note(self, good, name, text, **result):
        word = "ok" if good else "FAIL"
        print(f"{word} {name}: {text}", flush=True)
        self.table.append((word, name, text))
        if "bounds" in result:
            result["bounds"] = dataclasses.asdict(result["bounds"])
        self.results.append({"verdict": word, **result})

    def skip(self, name, reason):
        print(f"skipped: {reason}: {name}", flush=True)
        self.table.append(("skipped", name, reason))

    def guarded(self, name, work):
        """A check that breaks off has failed. What there is so far is written, so that a run that is cut loses one check."""
        begin = time.monotonic()
        try:
            work()
        except Exception as error:  # pylint: disable=broad-except
            traceback.print_exc()
            self.note(False, name, str(error).split("\n", maxsplit=1)[0] or type(error).__name__)
        print(f"# {name}: {time.monotonic() - begin:.1f} s", flush=True)
        if self.file:
            self.file.write_text(json.dumps(self.about | {"results": self.results}, indent=1) + "\n", encoding="utf-8")

    def finish(self):
        print()
        for word, name, text in self.table:
            print(f"  {word:8} {name:40} {text}")
        words = [word for word, _, _ in self.table]
        print(f"{words.count('ok')} passed, {words.count('FAIL')} failed, {words.count('skipped')} skipped")
        return 1 if "FAIL" in words else 0 if "ok" in words else SKIPPED


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("library")
    parser.add_argument("models", nargs="?", type=pathlib.Path, default=default_folder())
    parser.add_argument("--only", default=",".join(model.name for model in MODELS))
    parser.add_argument("--devices", default="cpu")
    parser.add_argument("--type-devices", default="cuda", help="devices that `types` runs on, if they are among --devices")
    parser.add_argument("--peer", type=pathlib.Path)
    parser.add_argument("--peer-device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--checks", default=",".join(CHECKS))
    parser.add_argument("--quick", action="store_true", help="2 pieces of 128 tokens and wider bounds, to try a change")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    checks, names = options.checks.split(","), options.only.split(",")
    for given, known in ((checks, CHECKS), (names, [model.name for model in MODELS])):
        if unknown := [name for name in given if name not in known]:
            parser.error(f"there is no {unknown[0]!r} among {', '.join(known)}")
    library = Library(options.library)
    devices = options.devices.split(",")
    if lacking := [device for device in devices if not library.device(device)]:
        leave(f"needs a GPU: the library finds no device {lacking[0]}")
    models = [model for model in MODELS if model.name in names]
    if absent := [model.file for model in models if not model.path(options.models).is_file()]:
        leave(f"needs the real models: {options.models} has no {', '.join(absent)}; tests/real/fetch.py fetches them")
    sys.path.append(str(references_folder(options.models)))
    try:
        import torch  # pylint: disable=import-outside-toplevel
        import transformers  # pylint: disable=import-outside-toplevel
    except ImportError as missing:
        leave(f"needs PyTorch and transformers: {missing}; tests/real/fetch.py --references fetches them")
    import check_greedy  # pylint: disable=import-outside-toplevel
    import check_logits  # pylint: disable=import-outside-toplevel
    import check_tokens  # pylint: disable=import-outside-toplevel
    transformers.logging.set_verbosity_error()
    versions = {"PyTorch": torch.__version__, "transformers": transformers.__version__, "Python": platform.python_version()}
    run = Run(library, options, devices, versions)
    work = {"logits": check_logits.logits, "greedy": check_greedy.greedy, "chat": check_greedy.chat, "tokens": check_tokens.tokens,
            "types": check_logits.types}
    print(", ".join(f"{name} {version}" for name, version in versions.items()), flush=True)
    for model in models:
        for check in checks:
            run.guarded(f"{model.name} {check}", lambda: work[check](run, model, model.path(options.models)))  # pylint: disable=cell-var-from-loop
    sys.exit(run.finish())


if __name__ == "__main__":
    main()
