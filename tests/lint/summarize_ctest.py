#!/usr/bin/env python3
"""Counts the results in ctest's JUnit files. The last line it prints is `N passed, N failed, N skipped`.

ctest's own summary counts a test that never ran as neither, and a GoogleTest suite that skips itself as passed; here a
test is skipped only if it said so, and everything else that did not run has failed.
"""
import argparse
import fnmatch
import os
import re
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

GTEST_SKIPPED = re.compile(r"^.*:\d+: Skipped$", re.MULTILINE)
PARAMETER = re.compile(r"\s+# GetParam\(\) = .*", re.DOTALL)  # which gtest_discover_tests adds to a name
GTEST_FAILED = "[  FAILED  ]"
WITHOUT = re.compile(r"without (\w+): *(.*)")  # a pattern for processors that lack what the flag stands for


@dataclass
class Outcome:
    name: str
    verdict: str  # passed, failed, skipped
    reason: str = ""
    output: str = ""


def skip_reason(output):
    """The text that followed GTEST_SKIP(), or the first line of the output."""
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


def read_patterns(path, flags):
    """The patterns of the file, but for those `without` a flag that the processor has."""
    patterns = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            text = line.split("#")[0].strip()
            condition = WITHOUT.fullmatch(text)
            if condition and condition[1] in flags:
                continue
            patterns += [condition[2] if condition else text] if text else []
    return patterns


def is_expected(outcome, patterns, without_fixtures):
    if without_fixtures and "fixture" in outcome.reason.lower():
        return True
    return any(fnmatch.fnmatchcase(outcome.name, pattern) for pattern in patterns)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("junit", nargs="+", help="files of ctest --output-junit")
    parser.add_argument("--expected", help="file of name patterns of tests that may skip, one a line, # starts a comment")
    parser.add_argument("--cpuinfo", default="/proc/cpuinfo", help="where the processor's flags stand")
    parser.add_argument("--note", help="file whose text is printed before the last line, if there is one")
    parser.add_argument("--without-fixtures", action="store_true", help="tests that miss the fixtures may skip")
    parser.add_argument("--strict", action="store_true", help="an unexpected skip is an error")
    args = parser.parse_args()

    outcomes = read_results(args.junit)
    patterns = read_patterns(args.expected, processor_flags(args.cpuinfo)) if args.expected else []
    by_verdict = {v: [o for o in outcomes if o.verdict == v] for v in ("passed", "failed", "skipped")}
    unexpected = [o for o in by_verdict["skipped"] if not is_expected(o, patterns, args.without_fixtures)]
    for outcome in by_verdict["skipped"]:
        mark = " (unexpected)" if args.strict and outcome in unexpected else ""
        print(f"skipped{mark}: {outcome.name}: {outcome.reason}")
    for outcome in by_verdict["failed"]:
        print(f"failed: {outcome.name}: {outcome.reason}")
    if args.note and os.path.exists(args.note):
        with open(args.note, encoding="utf-8") as file:
            print(file.read().rstrip("\n"))
    print(", ".join(f"{len(by_verdict[v])} {v}" for v in ("passed", "failed", "skipped")))
    return 1 if by_verdict["failed"] or (args.strict and unexpected) else 0


if __name__ == "__main__":
    sys.exit(main())
