#!/usr/bin/env python3
"""Runs those failed tests once more that the emulator itself has ended, and puts their new results into the JUnit file. It names each.

Wine 8 sometimes loses its connection to its own server, or ends a program as it starts, before it has written anything (often without its
preloader, which examples/setup.sh installs). Any other failure stays one.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

WINE_FAILED = re.compile(r"^\s*(wine client error:.*)$", re.MULTILINE)
AT_ONCE = 30  # seconds: what runs for longer has begun
MOST = 20  # more have something else in common


def why_again(case):
    """What the emulator did to this test, or None."""
    if case.get("status") != "fail":
        return None
    output = case.findtext("system-out") or ""
    if found := WINE_FAILED.search(output):
        return found[1]
    return None if output.strip() or float(case.get("time", 0)) > AT_ONCE else "ended before it wrote anything"


def run_ctest(build, names, junit):
    expression = "|".join(f"^{re.escape(name)}$" for name in names)
    subprocess.run(["ctest", "--test-dir", build, "--output-on-failure", "-R", expression, "-FA", ".", "--output-junit", junit], stdin=subprocess.DEVNULL, check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="folder in which ctest has run")
    parser.add_argument("junit", help="what it wrote there")
    args = parser.parse_args()

    first = ElementTree.parse(args.junit)
    suite = first.getroot()
    cases = {case.get("name"): case for case in suite.iter("testcase") if why_again(case)}
    if not cases or len(cases) > MOST:
        return
    for name, case in cases.items():
        print(f"once more, since Wine itself has failed: {name}: {why_again(case)}", flush=True)
    second = pathlib.Path(args.junit).resolve().with_name("again.xml")
    second.unlink(missing_ok=True)
    run_ctest(args.build, list(cases), str(second))
    for case in ElementTree.parse(second).getroot().iter("testcase"):
        old = cases.pop(case.get("name"))
        place = list(suite).index(old)
        suite.remove(old)
        suite.insert(place, case)
    if cases:
        sys.exit(f"not run again: {', '.join(cases)}")
    first.write(args.junit, encoding="UTF-8", xml_declaration=True)


if __name__ == "__main__":
    main()
