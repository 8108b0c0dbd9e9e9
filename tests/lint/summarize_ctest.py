#!/usr/bin/env python3
"""Counts the results in ctest's JUnit files. The last line it prints is `N passed, N failed, N skipped`.

ctest's own summary counts a test that never ran as neither, and a GoogleTest suite that skips itself as passed; here a
test is skipped only if it said so, and everything else that did not run has failed.

Tests that need hardware which this machine lacks (their reason is one of HARDWARE) count as none of the three: one line for each
kind of hardware tells how many there are. If the machine has it after all, they are skips as any other. With --strict every skip is
an error that --expected does not name.
"""
import argparse
import fnmatch
import os
import re
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

GTEST_SKIPPED = re.compile(r"^.*:\d+: Skipped$", re.MULTILINE)
UNITTEST_SKIPPED = re.compile(r"^.* \.\.\. skipped ['\"](.*)['\"]$", re.MULTILINE)
PARAMETER = re.compile(r"\s+# GetParam\(\) = .*", re.DOTALL)  # which gtest_discover_tests adds to a name
GTEST_FAILED = "[  FAILED  ]"
GPU_FILES = ("/dev/nvidiactl", "/dev/dxg")  # on Linux, and on Linux below Windows


def has_gpu(machine):
    return any(os.path.exists(path) for path in machine.gpu_files)


def has_flags(*flags):
    return lambda machine: machine.flags.issuperset(flags)


# The reason with which a test skips: does this machine have what it needs, and how to run these tests.
HARDWARE = {
    "needs a GPU": (has_gpu, "tests/gpu.sh runs them"),
    "needs a GPU and a build with CUDA": (lambda machine: False, "tests/gpu.sh runs them"),
    "needs a machine without a GPU": (lambda machine: not has_gpu(machine), "tests/run.sh runs them on such a machine"),
    "needs a processor with avx2": (has_flags("avx2", "fma", "f16c"), "tests/run.sh runs them on such a machine"),
    "needs a processor with avx512": (has_flags("avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512_vnni"),
                                      "tests/run.sh runs them on such a machine"),
}


@dataclass
class Machine:
    flags: set
    gpu_files: tuple


@dataclass
class Outcome:
    name: str
    verdict: str  # passed, failed, skipped
    reason: str = ""
    output: str = ""


def skip_reason(output):
    """The text that followed GTEST_SKIP(), that of unittest's SkipTest, or the first line of the output."""
    if found := UNITTEST_SKIPPED.search(output):
        return found[1]
    found = GTEST_SKIPPED.search(output)
    text = output[found.end():] if found else output
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("[")]
    return lines[0].removeprefix("skipped: ") if lines else "no reason given"


def judge(case):
    name = PARAMETER.sub("", case.get("name", "(no name)"))
    status = case.get("status", "")
    output = case.findtext("system-out") or ""
    skipped = case.find("skipped")
    if status == "run":
        if GTEST_SKIPPED.search(output):
            return Outcome(name, "skipped", skip_reason(output), output)
        return Outcome(name, "passed")
    if status == "disabled":
        return Outcome(name, "skipped", "disabled", output)
    message = skipped.get("message", "") if skipped is not None else ""
    if status == "notrun" and message.startswith("SKIP_") and GTEST_FAILED not in output:
        return Outcome(name, "skipped", skip_reason(output), output)
    return Outcome(name, "failed", message or status or "no status", output)


def read_results(paths):
    outcomes = []
    for path in paths:
        cases = list(ElementTree.parse(path).getroot().iter("testcase"))
        if not cases:
            outcomes.append(Outcome(str(path), "failed", "holds no test"))
        outcomes += [judge(case) for case in cases]
    return outcomes


def processor_flags(cpuinfo):
    try:
        with open(cpuinfo, encoding="utf-8") as file:
            return {flag for line in file if line.startswith("flags") for flag in line.split()}
    except OSError:
        return set()


def read_patterns(path):
    with open(path, encoding="utf-8") as file:
        return [text for line in file if (text := line.split("#")[0].strip())]


def take_hardware(outcomes, machine):
    """Turns skips for want of hardware that this machine lacks into `left out`; returns the lines that tell how many there are."""
    lines = []
    for reason, (is_there, how) in HARDWARE.items():
        of_it = [o for o in outcomes if o.verdict == "skipped" and o.reason == reason]
        if of_it and not is_there(machine):
            lines.append(f"{len(of_it)} {'test needs' if len(of_it) == 1 else 'tests need'} {reason.removeprefix('needs ')}: {how}")
        for outcome in of_it:
            if is_there(machine):
                outcome.reason += "; this machine has it, but the library does not use it: `inlay info MODEL` says why"
            else:
                outcome.verdict = "left out"
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("junit", nargs="+", help="files of ctest --output-junit")
    parser.add_argument("--expected", help="file of name patterns of tests that may skip, one a line, # starts a comment")
    parser.add_argument("--cpuinfo", default="/proc/cpuinfo", help="where the processor's flags stand")
    parser.add_argument("--gpu-files", nargs="*", default=GPU_FILES, help="files of which one is there if there is a GPU")
    parser.add_argument("--note", help="file whose text is printed before the last line, if there is one")
    parser.add_argument("--strict", action="store_true", help="an unexpected skip is an error")
    args = parser.parse_args()

    outcomes = read_results(args.junit)
    hardware = take_hardware(outcomes, Machine(processor_flags(args.cpuinfo), tuple(args.gpu_files)))
    patterns = read_patterns(args.expected) if args.expected else []
    by_verdict = {v: [o for o in outcomes if o.verdict == v] for v in ("passed", "failed", "skipped")}
    unexpected = [o for o in by_verdict["skipped"] if not any(fnmatch.fnmatchcase(o.name, p) for p in patterns)]
    for outcome in by_verdict["skipped"]:
        mark = " (unexpected)" if args.strict and outcome in unexpected else ""
        print(f"skipped{mark}: {outcome.name}: {outcome.reason}")
    for outcome in by_verdict["failed"]:
        print(f"failed: {outcome.name}: {outcome.reason}")
    for line in hardware:
        print(line)
    if args.note and os.path.exists(args.note):
        with open(args.note, encoding="utf-8") as file:
            print(file.read().rstrip("\n"))
    print(", ".join(f"{len(by_verdict[v])} {v}" for v in ("passed", "failed", "skipped")))
    return 1 if by_verdict["failed"] or (args.strict and unexpected) else 0


if __name__ == "__main__":
    sys.exit(main())
