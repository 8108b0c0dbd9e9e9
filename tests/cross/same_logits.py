#!/usr/bin/env python3
"""Fails unless the logits of the tests' models are, bit for bit, those that a build for this machine computes on the same instruction set.

Usage: same_logits.py PROCESSOR MODELS SHIFT OTHER_SHIFT PROGRAM...

PROGRAM: the command that runs logit_hashes of the other system, with the prompt OTHER_SHIFT. PROCESSOR: its kind, as platform.machine()
names this one's; another kind has the generic kernels in common.
"""
import pathlib
import platform
import sys

from emulated import output_of

ROOT = pathlib.Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests/lint"))
from needs import native_program  # noqa: E402  # pylint: disable=wrong-import-position


def hashes(program, models, shift):
    """{(model, target): hash}"""
    lines = (line.split() for line in output_of([*program, models, shift]).decode().splitlines())
    return {(model, target): found for model, target, found in lines}


def main():
    processor, models, shift, other_shift, *program = sys.argv[1:]
    native = native_program("logit_hashes")
    if not native:
        print("skipped: needs a test build for this machine")
        return 77
    found = hashes(program, models, other_shift)  # first: nothing has been written then
    wanted = hashes([native], models, shift)
    if processor != platform.machine():
        wanted = {(model, target): text for (model, target), text in wanted.items() if target == "cpu-generic"}
    if not found or found.keys() != wanted.keys():
        print(f"not the same models and targets: {sorted(found.keys() ^ wanted.keys())}")
        return 1
    different = [f"{model} on {target}" for (model, target), text in found.items() if text != wanted[model, target]]
    print(f"{len(found)} logits, {len(different)} with other bits than {native}")
    for line in different:
        print(line)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
