#!/usr/bin/env python3
"""Tests of again.py."""
import io
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from unittest import mock

import again

LOST = "[ RUN      ] A.B\n  wine client error:4ec: sendmsg: Socket operation on non-socket\ntool.cpp:110: Failure\n"


def suite(*cases):
    rows = "".join(f'<testcase name="{name}" status="{status}"><system-out>{output}</system-out></testcase>' for name, status, output in cases)
    return f'<testsuite name="(empty)">{rows}</testsuite>'


def run(first, second):
    """Names that ran again, what was printed, and the (status, output) of each test afterwards."""
    asked = []

    def run_ctest(build, names, junit):
        asked.extend(names)
        pathlib.Path(junit).write_text(second, encoding="utf-8")

    with tempfile.TemporaryDirectory() as folder:
        junit = pathlib.Path(folder, "junit.xml")
        junit.write_text(first, encoding="utf-8")
        with mock.patch.object(again, "run_ctest", run_ctest), mock.patch.object(sys, "argv", ["again.py", folder, str(junit)]), \
                mock.patch.object(sys, "stdout", io.StringIO()) as out:
            again.main()
        cases = ElementTree.parse(junit).getroot().iter("testcase")
        return asked, out.getvalue(), {case.get("name"): (case.get("status"), case.findtext("system-out")) for case in cases}


class Again(unittest.TestCase):
    def test_what_wine_ended_runs_once_more(self):
        first = suite(("a", "run", ""), ("b.c", "fail", "\n"), ("d", "fail", LOST), ("e", "fail", "tool.cpp:1: Failure"))
        asked, text, after = run(first, suite(("d", "run", "fine"), ("b.c", "fail", "")))
        self.assertEqual(asked, ["b.c", "d"])
        self.assertIn("Wine itself has failed: b.c: ended before it wrote anything\n", text)
        self.assertIn("Wine itself has failed: d: wine client error:4ec: sendmsg", text)
        self.assertEqual({name: status for name, (status, _) in after.items()}, {"a": "run", "b.c": "fail", "d": "run", "e": "fail"})
        self.assertEqual(after["d"][1], "fine")

    def test_what_failed_by_itself_stays(self):
        first = suite(("a", "run", "wine client error: 1"), ("b", "fail", "terminate called"), ("c", "notrun", ""))
        first = first.replace("</testsuite>", '<testcase name="hangs" status="fail" time="900"/></testsuite>')
        asked, text, after = run(first, "")
        self.assertEqual((asked, text), ([], ""))
        self.assertEqual(after["b"], ("fail", "terminate called"))

    def test_where_all_fail_none_runs_again(self):
        self.assertEqual(run(suite(*((f"t{i}", "fail", "") for i in range(again.MOST + 1))), "")[0], [])

    def test_what_is_asked_for_has_to_run(self):
        with self.assertRaisesRegex(SystemExit, "not run again: b"):
            run(suite(("a", "fail", ""), ("b", "fail", "")), suite(("a", "run", "")))

    def test_ctest_runs_those_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            lines = "".join(f'add_test({name} "{sys.executable}" -c "{code}")\n' for name, code in (("a.b", "print(1)"), ("axb", "print(1)"), ("c", "raise SystemExit(3)")))
            pathlib.Path(folder, "CTestTestfile.cmake").write_text(lines, encoding="utf-8")
            junit = pathlib.Path(folder, "out.xml")
            again.run_ctest(folder, ["a.b", "c"], str(junit))
            cases = {case.get("name"): again.why_again(case) for case in ElementTree.parse(junit).getroot().iter("testcase")}
        self.assertEqual(cases, {"a.b": None, "c": "ended before it wrote anything"})


if __name__ == "__main__":
    unittest.main()
