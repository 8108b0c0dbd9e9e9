"""Tests of tests/planted_faults.py: that its faults fit the sources, and what it calls found."""
import importlib.util
import io
import os
import pathlib
import tempfile
import unittest
from contextlib import redirect_stderr

SCRIPT = pathlib.Path(__file__).parents[1] / "planted_faults.py"
spec = importlib.util.spec_from_file_location("planted_faults", SCRIPT)
planted = importlib.util.module_from_spec(spec)
spec.loader.exec_module(planted)

RAN = "echo '[ RUN      ] A.b'\n"
RESULTS = [  # what the program does, and what that comes to
    ("passes", RAN + "echo '[       OK ] A.b (1 ms)'", "passed"),
    ("fails", RAN + "echo '[  FAILED  ] A.b, where GetParam() = 1 (2 ms)'\necho '[  FAILED  ] A.c (2 ms)'\nexit 1", "by A.b"),
    ("crashes", RAN + "exit 134", "ended with status 134"),
    ("hangs", RAN + "exec sleep 60", "no end after 1 s"),
    ("skips", RAN + "echo '[  SKIPPED ] A.b (0 ms)'", "all tests of A.* skip"),
    ("runs nothing", "true", "no test matches A.*"),
]


class PlantedFaults(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def test_each_fits_the_sources(self):
        self.assertEqual(len({fault.name for fault in planted.FAULTS}), len(planted.FAULTS))
        for fault in planted.FAULTS:
            self.assertNotEqual(planted.with_fault(fault, planted.ROOT), pathlib.Path(planted.path_of(fault, planted.ROOT)).read_text(encoding="utf-8"))

    def test_a_text_must_be_there_once(self):
        (self.root / "src/engine").mkdir(parents=True)
        fault = planted.Fault("a name", "f.cpp", "A.*", [("one", "two")])
        for text, n in (("one, one", 2), ("one of two", 1), ("", 0)):
            (self.root / "src/engine/f.cpp").write_text(text, encoding="utf-8")
            if n == 1:
                self.assertEqual(planted.with_fault(fault, self.root), text.replace("one", "two"))
                continue
            with self.assertRaises(SystemExit) as ended:
                planted.with_fault(fault, self.root)
            self.assertIn(f"'a name': its text is {n} times in src/engine/f.cpp", str(ended.exception))

    def test_a_fault_has_a_file_and_a_program(self):
        for file, path, program in (("f.cpp", "src/engine/f.cpp", planted.PROGRAM), ("constraint/f.cpp", "src/constraint/f.cpp", planted.CONSTRAINT_PROGRAM)):
            fault = planted.Fault("a name", file, "A.*", [])
            self.assertEqual(planted.path_of(fault, str(self.root)), str(self.root / path))
            self.assertEqual(planted.program_of(fault), program)

    def test_what_counts_as_found(self):
        (self.root / "bin").mkdir()
        program = self.root / "bin" / planted.PROGRAM
        for what, script, wanted in RESULTS:
            planted.LIMIT_S = 1 if what == "hangs" else 60
            program.write_text("#!/bin/sh\n" + script + "\n", encoding="utf-8")
            program.chmod(0o755)
            with self.subTest(what):
                try:
                    self.assertEqual(planted.tests_of(str(self.root), "A.*", str(self.root / "log")), wanted)
                except SystemExit as ended:
                    self.assertIn(wanted, str(ended))

    def test_a_name_that_is_none_is_refused(self):
        with self.assertRaises(SystemExit) as ended, redirect_stderr(io.StringIO()):
            planted.main(["no such fault", "--folder", os.devnull])
        self.assertIn("no fault 'no such fault'", str(ended.exception))


if __name__ == "__main__":
    unittest.main()
