#!/usr/bin/env python3
"""Counts the results in ctest's JUnit files. The last line it prints is `N passed, N failed, N skipped`.

ctest's own summary counts a test that never ran as neither, and a GoogleTest suite that skips itself as passed; here a
test is skipped only if it said so, and everything else that did not run has failed.

A skip is expected if its reason names something of needs.py that this machine lacks. Where that is hardware the tests count as none of
the three: one line for each kind of hardware tells how many there are. With --strict a skip that is not expected is an error.
"""
import argparse
import os
import re
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

import needs

GTEST_SKIPPED = re.compile(r"^.*:\d+: Skipped$", re.MULTILINE)
UNITTEST_SKIPPED = re.compile(r"^.* \.\.\. skipped ['\"](.*)['\"]$", re.MULTILINE)
PARAMETER = re.compile(r"\s+# GetParam\(\) = .*", re.DOTALL)  # which gtest_discover_tests adds to a name
PASSED_LINE = re.compile(r"^(ok\b|\[ RUN|\[       OK|\[--|test result: ok|--- PASS|=== )")  # which a program writes of its own tests that passed
GTEST_FAILED = "[  FAILED  ]"
PROGRAM_SKIPPED = re.compile(r"^skipped: (.*)$", re.MULTILINE)


@dataclass
class Outcome:
    name: str
    verdict: str  # passed, failed, skipped
    reason: str = ""
    output: str = ""
    expected: bool = False  # a skip for want of what the machine lacks


def skip_reason(output):
    """The text that followed GTEST_SKIP(), that of unittest's SkipTest, a line `skipped: REASON`, or the first line of the output."""
    if found := UNITTEST_SKIPPED.search(output):
        return found[1]
    if found := PROGRAM_SKIPPED.search(output):
        return found[1]
    found = GTEST_SKIPPED.search(output)
    text = output[found.end():] if found else output
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("[")]
    return lines[0] if lines else "no reason given"


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
    failure = case.find("failure")
    message = message or (failure.get("message", "") if failure is not None else "")
    # ctest does not say here which tests took too long: the time tells.
    after = f" after {float(seconds):.1f} s" if (seconds := case.get("time")) else ""
    return Outcome(name, "failed", (message or status or "no status") + after, output)


def read_results(paths):
    outcomes = []
    for path in paths:
        cases = list(ElementTree.parse(path).getroot().iter("testcase"))
        if not cases:
            outcomes.append(Outcome(str(path), "failed", "holds no test"))
        outcomes += [judge(case) for case in cases]
    return outcomes


def take_needs(outcomes, machine):
    """Marks skips that are expected, since the machine lacks what they need; those for want of hardware become `left out`. Returns the lines
    that tell how many these are."""
    lines = []
    skipped = [o for o in outcomes if o.verdict == "skipped"]
    for what, need in needs.NEEDS.items():
        of_it = [o for o in skipped if needs.named(o.reason) == what]
        if not of_it:
            continue
        is_there = need.is_there(machine)
        if need.hardware and not is_there:
            lines.append(f"{len(of_it)} {'test needs' if len(of_it) == 1 else 'tests need'} {what}: {need.how}")
        for outcome in of_it:
            if is_there:
                outcome.reason += "; this machine has it" + ("" if not need.hardware else ", but the library does not use it: `inlay info MODEL` says why")
            elif need.hardware:
                outcome.verdict = "left out"
            else:
                outcome.expected = True
    return lines


def excerpt(output, first=10, last=15):
    """What a failed test wrote, without what it says of tests that passed: its first and its last lines."""
    lines = [line.rstrip() for line in output.splitlines() if line.strip() and not PASSED_LINE.match(line)]
    left_out = len(lines) - first - last
    return lines if left_out <= 1 else lines[:first] + [f"... {left_out} lines ..."] + lines[-last:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("junit", nargs="+", help="files of ctest --output-junit")
    parser.add_argument("--cpuinfo", default="/proc/cpuinfo", help="where the processor's flags stand")
    parser.add_argument("--gpu-files", nargs="*", default=needs.GPU_FILES, help="files of which one is there if there is a GPU")
    parser.add_argument("--note", help="file whose text is printed before the last line, if there is one")
    parser.add_argument("--excerpts", type=int, default=4, help="of how many failed tests the output is shown")
    parser.add_argument("--strict", action="store_true", help="a skip that is not expected is an error")
    args = parser.parse_args()

    outcomes = read_results(args.junit)
    hardware = take_needs(outcomes, needs.this_machine(args.cpuinfo, args.gpu_files))
    by_verdict = {v: [o for o in outcomes if o.verdict == v] for v in ("passed", "failed", "skipped")}
    unexpected = [o for o in by_verdict["skipped"] if not o.expected]
    for outcome in by_verdict["skipped"]:
        mark = " (unexpected)" if args.strict and outcome in unexpected else ""
        print(f"skipped{mark}: {outcome.name}: {outcome.reason}")
    for place, outcome in enumerate(by_verdict["failed"]):
        print(f"failed: {outcome.name}: {outcome.reason}")
        for line in excerpt(outcome.output) if place < args.excerpts else []:
            print(f"    {line[:240]}")
    for line in hardware:
        print(line)
    if args.note and os.path.exists(args.note):
        with open(args.note, encoding="utf-8") as file:
            print(file.read().rstrip("\n"))
    print(", ".join(f"{len(by_verdict[v])} {v}" for v in ("passed", "failed", "skipped")))
    return 1 if by_verdict["failed"] or (args.strict and unexpected) else 0


if __name__ == "__main__":
    sys.exit(main())
