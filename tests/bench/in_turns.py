#!/usr/bin/env python3
"""Measures builds of the library in turns on one machine: what drifts there meets all of them alike.

usage: in_turns.py [--tool PATH] [--rounds N] NAME=FOLDER... -- MODEL [options of inlay bench]
  NAME=FOLDER  a library, in the folder FOLDER, and what it is called
  --tool       the program `inlay` (bin/inlay beside the first FOLDER)
  --rounds     how often it goes there and back, A B B A (1)

Prints for every measure the medians of all runs, how they compare with the first library, and the smallest and largest
value of a run; `~` where the ranges of the two overlap.
"""
import json
import os
import statistics
import subprocess
import sys


def fail(message):
    sys.exit(f"in_turns.py: {message}")


def parse(arguments):
    if "--" not in arguments:
        sys.exit(__doc__)
    at = arguments.index("--")
    ours, bench = arguments[:at], arguments[at + 1:]
    tool, rounds, libraries = None, 1, {}
    while ours:
        word = ours.pop(0)
        if word in ("--tool", "--rounds"):
            if not ours:
                fail(f"{word} wants a value")
            value = ours.pop(0)
            if word == "--tool":
                tool = value
            elif not value.isdigit() or int(value) < 1:
                fail(f"--rounds wants a number above 0, not '{value}'")
            else:
                rounds = int(value)
            continue
        name, is_pair, folder = word.partition("=")
        if not is_pair or not name:
            fail(f"'{word}' is not NAME=FOLDER")
        if name in libraries:
            fail(f"'{name}' is there twice")
        if not any(entry.startswith("libinlay.so") for entry in (os.listdir(folder) if os.path.isdir(folder) else [])):
            fail(f"no libinlay.so in '{folder}'")
        libraries[name] = folder
    if not libraries or not bench:
        sys.exit(__doc__)
    first = next(iter(libraries.values()))
    return tool or os.path.join(first, "..", "bin", "inlay"), rounds, libraries, bench


def run(tool, folder, bench):
    """The measures of one run."""
    environment = dict(os.environ, LD_LIBRARY_PATH=folder)
    try:
        done = subprocess.run([tool, "bench", *bench], env=environment, capture_output=True, text=True, check=False)
    except OSError as error:
        fail(f"{tool}: {error.strerror}")
    if done.returncode != 0:
        fail(f"the library in '{folder}': status {done.returncode}: {done.stderr.strip()}")
    result = json.loads(done.stdout.splitlines()[-1])
    return {name: result[name] for name in result["range"]}


def main():
    tool, rounds, libraries, bench = parse(sys.argv[1:])
    names = list(libraries)
    values = {}  # of a measure: of a library: of every run
    for name in (names + names[::-1]) * rounds:
        for measure, value in run(tool, libraries[name], bench).items():
            values.setdefault(measure, {}).setdefault(name, []).append(value)
    for measure, of in values.items():
        for name in names:
            mine, first = of[name], of[names[0]]
            overlaps = name != names[0] and min(mine) <= max(first) and min(first) <= max(mine)
            ratio = statistics.median(mine) / statistics.median(first)
            print(f"{measure:12} {name:12} {statistics.median(mine):10.1f} {ratio:7.3f}{' ~' if overlaps else '  '}"
                  f" {min(mine):10.1f} to {max(mine):.1f}")


if __name__ == "__main__":
    main()
