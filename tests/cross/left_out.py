#!/usr/bin/env python3
"""Which tests of a build for another system skip here, and why.

Usage: left_out.py PRESET JUNIT [--all] <NAMES

Of the names of tests, one a line, it prints an expression for ctest's -E that leaves out those of the table, and writes them into JUNIT as
skipped. With --all the names are those of all tests: a row that names none of them is an error.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

NEED = "needs the system itself: "
# What a cross build does not build. The same checks run in this machine's own build, or need programs of the target that start each other.
NOT_BUILT = {
    "bindings": "Rust, Go, Mono and .NET of the target would load the library",
    "cli": "scripts start the tool as a program of their own",
    "abuse": "it limits memory and threads of processes, which are the emulator's here",
    "fuzz": "the replays take an emulator hours",
    "lint": "it reads the sources, as in this machine's build",
    "data": "it makes the test data again, as in this machine's build",
    "real": "real models take an emulator hours",
}
# Expressions of names of tests, by preset.
TABLE = {
    "linux-arm64": {
        r"unit_base\.HostLimits\.LimitsOfResources": "qemu sets no limit of address space for the programs that it runs",
        r"capi\.Devices/Lifetime\.AThousandSessionsLeaveNothing/.*": "a thousand sessions take an emulator more than ten minutes",
    },
}


def skips(preset, names):
    """[(name, reason)], and the expressions that match nothing."""
    found, stale = [], []
    for expression, reason in TABLE[preset].items():
        matching = [name for name in names if re.fullmatch(expression, name)]
        found += [(name, reason) for name in matching]
        if not matching:
            stale.append(expression)
    return found, stale


def main():
    preset, junit, *options = sys.argv[1:]
    found, stale = skips(preset, sys.stdin.read().split("\n"))
    if options == ["--all"]:
        if stale:
            sys.exit(f"tests/cross/left_out.py names no test: {', '.join(stale)}")
        cases = found + [(f"{area}.*", reason) for area, reason in NOT_BUILT.items()]
    else:
        cases = found
    suite = ElementTree.Element("testsuite")
    for name, reason in cases:
        case = ElementTree.SubElement(suite, "testcase", name=name, status="notrun")
        ElementTree.SubElement(case, "skipped", message="SKIP_RETURN_CODE=77")
        ElementTree.SubElement(case, "system-out").text = f"skipped: {NEED}{reason}\n"
    ElementTree.ElementTree(suite).write(junit)
    print("|".join(f"^{re.escape(name)}$" for name, _ in found) or "^$")


if __name__ == "__main__":
    main()
