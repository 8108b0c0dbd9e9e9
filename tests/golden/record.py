#!/usr/bin/env python3
"""Fails unless two builds do the same, bit for bit, in the seeded programs of calls that record.cpp runs.

usage: record.py BEFORE AFTER MODELS [--runs cpu|cuda] [--programs N] [--before OPTIONS] [--after OPTIONS]
  BEFORE, AFTER        the program `record` of each build
  --runs               compares these runs (one without options): cpu: 1 and 3 threads, run-ahead, each instruction set of this processor;
                       cuda: as loaded, without the token kernel, without cuBLAS, run-ahead
  --before, --after    options of one of the two alone
  --needs WHAT         exits with 77 where the machine lacks it (tests/lint/needs.py)

Prints a line for each run, with the first line in which the two differ.
"""
import argparse
import itertools
import shlex
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lint"))
import needs  # noqa: E402  # pylint: disable=wrong-import-position


def is_there(what):
    return needs.NEEDS[what].is_there(needs.this_machine())


NO_CUBLAS, RUN_AHEAD = 1, 4
RUNS = {
    None: [[]],
    "cpu": [["--threads", "1"], ["--threads", "3"], ["--flags", str(RUN_AHEAD)], ["--tuning", "isa=generic"],
            *(["--tuning", f"isa={name}"] for name in ("avx2", "avx512") if is_there(f"a processor with {name}"))],
    "cuda": [["--device", "cuda", *options] for options in ([], ["--tuning", "token_kernel=0"], ["--flags", str(NO_CUBLAS)], ["--flags", str(RUN_AHEAD)])],
}


def lines(process):
    for line in process.stdout:
        yield line.rstrip("\n")


def first_difference(commands):
    """(lines compared, None or the lines that differ, with the ones that began their program and their call)"""
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    n, load, call, different = 0, "", "", None
    for before, after in itertools.zip_longest(*map(lines, processes)):
        if before != after:
            different = (load, call, before, after)
            break
        if " load " in before:
            load = before
        elif not before.startswith(" "):
            call = before
        n += 1
    for process in processes:
        if different:
            process.kill()
        if process.wait() and not different:
            sys.exit(f"{shlex.join(process.args)} ended with {process.returncode}")
    return n, different


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("models")
    parser.add_argument("--runs", choices=[name for name in RUNS if name])
    parser.add_argument("--programs", default="300")
    parser.add_argument("--before-options", "--before", default="")
    parser.add_argument("--after-options", "--after", default="")
    parser.add_argument("--needs")
    options = parser.parse_args()
    if options.needs and not is_there(options.needs):
        print(f"skipped: needs {options.needs}")
        return 77
    status = 0
    for run in RUNS[options.runs]:
        common = [options.models, "--programs", options.programs, *run]
        n, different = first_difference([[options.before, *common, *shlex.split(options.before_options)],
                                         [options.after, *common, *shlex.split(options.after_options)]])
        name = shlex.join(run) or "as loaded"
        if not different:
            if n == 0:
                sys.exit(f"{name}: nothing was recorded")
            print(f"{name}: {n} lines, all the same")
            continue
        status = 1
        load, call, before, after = different
        print(f"{name}: line {n + 1} differs\n  program: {load}\n  call:    {call}\n  before:  {before}\n  after:   {after}")
    return status


if __name__ == "__main__":
    sys.exit(main())
