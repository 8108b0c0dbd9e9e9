#!/usr/bin/env python3
"""Tests of left_out.py."""
import io
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from unittest import mock

import left_out

TABLE = {"a": {r"unit_base\.Thread\..*": "needs Linux: no threads", r"capi\.x": "needs Linux: no x"}}
NOT_BUILT = {"a": {"lint.*": "needs Linux: no lint"}}


def run(names, *options, sources=()):
    with tempfile.TemporaryDirectory() as folder:
        junit = pathlib.Path(folder, "j.xml")
        with mock.patch.object(left_out, "TABLE", TABLE), mock.patch.object(left_out, "NOT_BUILT", NOT_BUILT), \
                mock.patch.object(left_out, "source_tests", lambda preset: set(sources)), \
                mock.patch.object(sys, "argv", ["left_out.py", "a", str(junit), *options]), \
                mock.patch.object(sys, "stdin", io.StringIO("\n".join(names))), mock.patch.object(sys, "stdout", io.StringIO()) as out:
            left_out.main()
        cases = ElementTree.parse(junit).getroot().iter("testcase")
        return out.getvalue().strip(), {case.get("name"): case.findtext("system-out") for case in cases}


class LeftOut(unittest.TestCase):
    def test_names_what_matches(self):
        expression, cases = run(["unit_base.Thread.Runs", "unit_base.Other.Runs", "capi.xy"])
        self.assertEqual(expression, r"^unit_base\.Thread\.Runs$")
        self.assertEqual(cases, {"unit_base.Thread.Runs": "skipped: needs Linux: no threads\n"})

    def test_leaves_out_nothing(self):
        self.assertEqual(run(["capi.xy"]), ("^$", {}))

    def test_of_all_tests_every_row_names_one(self):
        cases = run(["unit_base.Thread.Runs", "capi.x"], "--all")[1]
        self.assertEqual(len(cases), 2 + len(NOT_BUILT["a"]))
        with self.assertRaisesRegex(SystemExit, r"no test is named: capi\\.x"):
            run(["unit_base.Thread.Runs"], "--all")

    def test_what_is_not_built_is_in_the_table(self):
        names = ["unit_base.All/Other.Runs/1", "capi.x"]
        expression, cases = run(names, "--all", sources=["unit_base.Thread.Runs", "unit_base.Other.Runs"])
        self.assertEqual(expression, r"^capi\.x$")
        self.assertIn("unit_base.Thread.Runs", cases)
        with self.assertRaisesRegex(SystemExit, "not built, and not in the table: unit_base.Other.Ends"):
            run(names, "--all", sources=["unit_base.Thread.Runs", "unit_base.Other.Ends"])

    def test_names_have_no_parameters(self):
        for name in ("kernels.All/Suite.Test/3", "kernels.Suite.Test", "kernels.Suite.Test/avx2.x/y"):
            self.assertEqual(left_out.without_parameters(name), "kernels.Suite.Test")
        self.assertEqual(left_out.without_parameters("capi.layout"), "capi.layout")

    def test_the_sources_have_tests(self):
        found = left_out.source_tests("windows-x64")
        self.assertGreater(len(found), 500)
        self.assertIn("unit_base.Thread.TakesNoSignalOfTheHost", found)
        self.assertIn("unit_formats.TargetFileOnWindows.WhatIsReadOnlyIsRefused", found)
        self.assertNotIn("unit_formats.TargetFileOnWindows.WhatIsReadOnlyIsRefused", left_out.source_tests("linux-arm64"))


if __name__ == "__main__":
    unittest.main()
