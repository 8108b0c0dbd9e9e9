#!/usr/bin/env python3
"""Tests of summarize_ctest.py on the forms that ctest 3.25 writes."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import needs

SCRIPT = pathlib.Path(__file__).with_name("summarize_ctest.py")

PASSED = '<testcase name="a.Pass" status="run"><system-out>ok</system-out></testcase>'
FAILED = '<testcase name="a.Fail" status="fail"><failure message=""/><system-out>x</system-out></testcase>'
SKIPPED = ('<testcase name="a.Skip" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>'
           "<system-out>[ RUN      ] A.Skip\nx.cpp:5: Skipped\nno fixtures\n[  SKIPPED ] A.Skip (0 ms)\n"
           "</system-out></testcase>")
GPU = SKIPPED.replace("no fixtures", "needs a GPU")
PROGRAM_GPU = ('<testcase name="kernels" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>'
               "<system-out>skipped: needs a GPU\n</system-out></testcase>")
UNITTEST_GPU = PROGRAM_GPU.replace("skipped: needs a GPU", "setUpClass (__main__.Embed) ... skipped 'needs a GPU'\n\nRan 0 tests\nneeds a GPU")
LIBRARY = SKIPPED.replace("no fixtures", "needs INLAY_FIXTURES: not in this repository")
PROGRAM_LIBRARY = PROGRAM_GPU.replace("a GPU", "INLAY_FIXTURES")
NOISY_LIBRARY = PROGRAM_LIBRARY.replace("skipped:", "what a tool said\nskipped:")
AVX2, AVX512 = (SKIPPED.replace("no fixtures", f"needs a processor with {isa}") for isa in ("avx2", "avx512"))
WITHOUT_GPU = SKIPPED.replace("no fixtures", "needs a machine without a GPU")
BOTH = SKIPPED.replace("no fixtures", "no fixtures\n[  FAILED  ] A.Other")
SUITE_SKIPPED = '<testcase name="a.Suite" status="run"><system-out>x.cpp:9: Skipped\nno GPU\n</system-out></testcase>'
MISSING = ('<testcase name="a_NOT_BUILT" status="notrun"><skipped message="Unable to find executable"/>'
           "<system-out>Unable to find executable: a</system-out></testcase>")
DEPENDS = '<testcase name="a.Needs" status="notrun"><skipped message="Fixture dependency failed"/></testcase>'
DISABLED = '<testcase name="a.Off" status="disabled"><system-out>Disabled</system-out></testcase>'
UNKNOWN = '<testcase name="a.What"/>'


def summarize(*cases, flags=(), processor="fpu", gpu=False, environment=None):
    with tempfile.TemporaryDirectory() as folder:
        junit = pathlib.Path(folder, "j.xml")
        cpuinfo = pathlib.Path(folder, "cpuinfo")
        cpuinfo.write_text(f"processor\t: 0\nflags\t\t: {processor}\n", encoding="utf-8")
        junit.write_text("<testsuite>" + "".join(cases) + "</testsuite>", encoding="utf-8")
        device = pathlib.Path(folder, "device")
        if gpu:
            device.touch()
        done = subprocess.run([sys.executable, SCRIPT, junit, "--cpuinfo", cpuinfo, "--gpu-files", device, *flags],
                              capture_output=True, text=True, check=False, env=os.environ | (environment or {}))
    return done.returncode, done.stdout.splitlines()


class Summary(unittest.TestCase):
    def expect(self, last_line, code, *cases, **options):
        self.assertEqual((code, last_line), (lambda r: (r[0], r[1][-1]))(summarize(*cases, **options)))

    def test_counts(self):
        self.expect("1 passed, 0 failed, 0 skipped", 0, PASSED)
        self.expect("1 passed, 1 failed, 1 skipped", 1, PASSED, FAILED, SKIPPED)

    def test_whatever_did_not_run_has_failed(self):
        for case in (MISSING, DEPENDS, UNKNOWN, BOTH):
            self.expect("1 passed, 1 failed, 0 skipped", 1, PASSED, case)
        self.expect("0 passed, 1 failed, 0 skipped", 1)

    def test_skips_are_seen_in_every_form(self):
        for case in (SKIPPED, SUITE_SKIPPED, DISABLED):
            self.expect("1 passed, 0 failed, 1 skipped", 0, PASSED, case)
            self.expect("1 passed, 0 failed, 1 skipped", 1, PASSED, case, flags=["--strict"])

    def test_expected_skips(self):
        """What the machine lacks is expected; what it has, and any other reason, is not."""
        for case in (LIBRARY, PROGRAM_LIBRARY, NOISY_LIBRARY):
            self.expect("0 passed, 0 failed, 1 skipped", 0, case, flags=["--strict"], environment={"INLAY_FIXTURES": ""})
            self.expect("0 passed, 0 failed, 1 skipped", 1, case, flags=["--strict"], environment={"INLAY_FIXTURES": "/fixtures"})
        self.expect("0 passed, 0 failed, 1 skipped", 1, SUITE_SKIPPED, flags=["--strict"])
        self.expect("0 passed, 0 failed, 1 skipped", 1, LIBRARY.replace("INLAY_FIXTURES", "patience"), flags=["--strict"])

    def test_hardware_is_a_group_of_its_own(self):
        code, lines = summarize(PASSED, GPU, PROGRAM_GPU, UNITTEST_GPU, AVX512, flags=["--strict"])
        self.assertEqual((code, lines), (0, ["3 tests need a GPU: tests/gpu.sh runs them",
                                             "1 test needs a processor with avx512: tests/run.sh runs them on such a machine",
                                             "1 passed, 0 failed, 0 skipped"]))

    def test_hardware_that_is_there_is_no_reason(self):
        strict = {"flags": ["--strict"]}
        self.expect("0 passed, 0 failed, 1 skipped", 1, GPU, gpu=True, **strict)
        self.expect("0 passed, 0 failed, 0 skipped", 0, WITHOUT_GPU, gpu=True, **strict)
        self.expect("0 passed, 0 failed, 1 skipped", 1, WITHOUT_GPU, **strict)
        self.expect("0 passed, 0 failed, 1 skipped", 1, AVX2, processor="avx2 fma f16c", **strict)
        self.expect("0 passed, 0 failed, 0 skipped", 0, AVX2, processor="avx2_more fma f16c", **strict)
        self.expect("0 passed, 0 failed, 1 skipped", 0, GPU, gpu=True)  # as with a GPU that is too old
        self.assertIn("skipped: a.Skip: needs a GPU; this machine has it, but the library does not use it: `inlay info MODEL` says why",
                      summarize(GPU, gpu=True)[1])

    def test_a_note_stands_before_the_last_line(self):
        with tempfile.TemporaryDirectory() as folder:
            note = pathlib.Path(folder, "note.txt")
            flags = ["--note", str(note)]
            self.assertNotIn("built without it", summarize(SKIPPED, flags=flags)[1])
            note.write_text("built without it\n", encoding="utf-8")
            self.assertEqual(summarize(SKIPPED, flags=flags)[1][-2:], ["built without it", "0 passed, 0 failed, 1 skipped"])

    def test_shows_what_failed_tests_wrote(self):
        wrote = "\n".join(["ok      One (1 ms)", "begins", *(f"line {i}" for i in range(40)), "", "[       OK ] A.Two (0 ms)", "ends"])
        _, lines = summarize(PASSED, FAILED.replace(">x<", f">{wrote}<"))
        self.assertEqual(lines[0], "failed: a.Fail: fail")
        self.assertEqual(lines[1:-1], [f"    {line}" for line in ["begins", *(f"line {i}" for i in range(9)), "... 17 lines ...",
                                                                    *(f"line {i}" for i in range(26, 40)), "ends"]])
        shown = [line for line in summarize(*[FAILED] * 3, flags=["--excerpts", "2"])[1] if line.startswith("    ")]
        self.assertEqual(shown, ["    x", "    x"])
        self.assertNotIn("    ok", summarize(PASSED)[1])

    def test_says_why(self):
        regex = FAILED.replace('message=""', 'message="Regex=[hm]"').replace("<testcase", '<testcase time="1.00391"')
        self.assertEqual([line for line in summarize(MISSING, regex, UNKNOWN)[1] if line.startswith("failed: ")],
                         ["failed: a_NOT_BUILT: Unable to find executable", "failed: a.Fail: Regex=[hm] after 1.0 s", "failed: a.What: no status"])
        self.assertIn("skipped: a.Skip: no fixtures", summarize(SKIPPED)[1])
        self.assertIn("skipped (unexpected): a.Suite: no GPU", summarize(SUITE_SKIPPED, flags=["--strict"])[1])


# A reason as it stands in a test's source.
WRITTEN = re.compile(r"""(?:GTEST_SKIP\(\)\s*<<\s*|SkipTest\(f?|skip\(f?)"([^"]*)|["']skipped: ([^"'\\]*)""")


class Reasons(unittest.TestCase):
    def test_every_skip_of_the_sources_names_a_need(self):
        found, root = 0, pathlib.Path(__file__).parents[1]
        for path in sorted(root.rglob("*")):
            if path.suffix not in (".cpp", ".cu", ".h", ".c", ".py", ".sh", ".cmake") or path.parent.name == "lint":
                continue
            for match in WRITTEN.finditer(path.read_text(encoding="utf-8")):
                if "needs a processor with " in match[0]:
                    continue  # the rest is the name of an instruction set
                reason = re.sub(r"cargo \$1", "cargo fmt", match[1] or match[2] or "")
                if not reason or re.match(r"(needs )?\$?{", reason):
                    continue  # made of a variable
                found += 1
                self.assertIsNotNone(needs.named(reason), f"{path}: {reason}")
        self.assertGreater(found, 30)

    def test_other_reasons_name_none(self):
        for reason in ("needs patience", "a GPU", "needs", "needs a GPUs"):
            self.assertIsNone(needs.named(reason))
        self.assertEqual(needs.named("needs cuBLAS: not found: a: b"), "cuBLAS")

    def test_needs_within_others_are_in_the_table(self):
        self.assertLessEqual({need.within for need in needs.NEEDS.values()} - {""}, needs.NEEDS.keys())


if __name__ == "__main__":
    unittest.main()
