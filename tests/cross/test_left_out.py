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

TABLE = {"a": {r"unit_base\.Thread\..*": "no threads", r"capi\.x": "no x"}}


def run(names, *options):
    with tempfile.TemporaryDirectory() as folder:
        junit = pathlib.Path(folder, "j.xml")
        with mock.patch.object(left_out, "TABLE", TABLE), mock.patch.object(sys, "argv", ["left_out.py", "a", str(junit), *options]), \
                mock.patch.object(sys, "stdin", io.StringIO("\n".join(names))), mock.patch.object(sys, "stdout", io.StringIO()) as out:
            left_out.main()
        cases = ElementTree.parse(junit).getroot().iter("testcase")
        return out.getvalue().strip(), {case.get("name"): case.findtext("system-out") for case in cases}


class LeftOut(unittest.TestCase):
    def test_names_what_matches(self):
        expression, cases = run(["unit_base.Thread.Runs", "unit_base.Other.Runs", "capi.xy"])
        self.assertEqual(expression, r"^unit_base\.Thread\.Runs$")
        self.assertEqual(cases, {"unit_base.Thread.Runs": "skipped: needs the system itself: no threads\n"})

    def test_leaves_out_nothing(self):
        self.assertEqual(run(["capi.xy"]), ("^$", {}))

    def test_of_all_tests_every_row_names_one(self):
        cases = run(["unit_base.Thread.Runs", "capi.x"], "--all")[1]
        self.assertEqual(len(cases), 2 + len(left_out.NOT_BUILT))
        with self.assertRaisesRegex(SystemExit, r"names no test: capi\\.x"):
            run(["unit_base.Thread.Runs"], "--all")


if __name__ == "__main__":
    unittest.main()
