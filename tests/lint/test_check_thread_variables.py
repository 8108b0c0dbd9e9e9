#!/usr/bin/env python3
"""Tests of check_thread_variables.py."""
import pathlib
import tempfile
import unittest

import check_thread_variables


class Variables(unittest.TestCase):
    def faults(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            everything = {"CMakeLists.txt": "foreach(alone base/a base/b)", "tests/abuse/CMakeLists.txt": "foreach(source base/a)", **files}
            for name, text in everything.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return list(check_thread_variables.faults(root))

    def test_where_they_may_be(self):
        self.assertEqual(self.faults({"src/base/a.cpp": "thread_local int x = 0;", "src/capi/c.cpp": "static thread_local int x = 0;",
                                      "src/base/d.cpp": "// a thread_local x = 0"}), [])

    def test_where_they_may_not(self):
        self.assertEqual(len(self.faults({"src/base/b.cpp": "thread_local int x = 0;"})), 1)
        self.assertEqual(len(self.faults({"src/base/c.h": "  static inline thread_local int x = 0;"})), 1)
        self.assertEqual(len(self.faults({"src/engine/e.cpp": '#include "src/backend/cuda/context.h"'})), 1)


if __name__ == "__main__":
    unittest.main()
