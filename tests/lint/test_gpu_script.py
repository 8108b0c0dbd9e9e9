"""tests/gpu.sh beside a made-up tests/run.sh and made-up programs: what it counts, and what it calls a failure. Needs no GPU."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[1] / "gpu.sh"
TOOL = """case $1 in
bench) echo '{"model":"m.gguf","pp512":12.5,"tg128@0":3.25,"latency_us":{"tokens":9,"p50":7.5,"p99":8.0},"range":{}}' ;;
esac"""
SANITIZER = """echo "$2 $*" >>"$0.calls"
while [ $# -gt 0 ] && [ -z "${1##--*}" ]; do case $1 in --error-exitcode | --print-limit | --tool | --kernel-name-exclude) shift 2 ;; *) break ;; esac; done
exec "$@" """
GTEST = """echo "[       OK ] Suite.cuda/1 (3 ms)"
echo "[  SKIPPED ] Suite.cuda/2 (0 ms)"
"""
SANITIZED = ("cuda_host_captures", "golden", "cuda")


class GpuScript(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "tests").mkdir()
        (self.root / "build/release/bin").mkdir(parents=True)
        shutil.copy(SCRIPT, self.root / "tests/gpu.sh")
        self.program("tests/run.sh", "echo 'passed 9 of 9'; echo '40 passed, 0 failed, 2 skipped'")
        self.program("build/release/bin/inlay", TOOL)
        self.program("sanitizer", SANITIZER)
        for name in SANITIZED:
            self.program(f"build/release/bin/{name}", GTEST)

    def program(self, name, text):
        path = self.root / name
        path.write_text("#!/bin/sh\n" + text + "\n")
        path.chmod(0o755)

    def run_script(self, groups="tests|check", bench="none", limit=30, sanitizer=True):
        environment = os.environ | {"INLAY_BENCH": bench, "INLAY_GROUP_LIMIT": str(limit), "INLAY_PRESET": "release",
                                    "INLAY_COMPUTE_SANITIZER": str(self.root / "sanitizer") if sanitizer else ""}
        done = subprocess.run([self.root / "tests/gpu.sh", groups], capture_output=True, text=True, timeout=1800, check=False, env=environment)
        rows = re.findall(r"^(\S+) +(\d+) +(\d+) +(\d+) +\d+ s  (.*)$", done.stdout, re.MULTILINE)
        return done, {row[0]: (int(row[1]), int(row[2]), int(row[3]), row[4]) for row in rows}

    def test_counts(self):
        done, rows = self.run_script("tests|mixed")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(rows, {"tests": (40, 0, 2, "passed"), "memcheck.mixed_steps": (1, 0, 1, "passed"),
                                "racecheck.mixed_steps": (1, 0, 1, "passed")})
        self.assertEqual(done.stdout.splitlines()[-1], "42 passed, 0 failed, 4 skipped")

    def test_failing_tests_fail(self):
        self.program("tests/run.sh", "echo 'failed: a.B: x'; echo '40 passed, 1 failed, 2 skipped'; exit 1")
        done, rows = self.run_script("tests")
        self.assertEqual((done.returncode, rows), (1, {"tests": (40, 1, 2, "FAILED, status 1")}))
        self.assertIn("failed: a.B: x", done.stdout)

    def test_a_build_that_fails_and_a_missing_gpu_fail(self):
        self.program("tests/run.sh", "echo 'error: no compiler'")
        done, rows = self.run_script("tests")
        self.assertEqual((done.returncode, rows["tests"]), (1, (0, 0, 0, "FAILED, status 0")))
        self.program("tests/run.sh", "echo '292 tests need a GPU: tests/gpu.sh runs them'; echo '40 passed, 0 failed, 2 skipped'")
        done, rows = self.run_script("tests")
        self.assertEqual((done.returncode, rows["tests"]), (1, (40, 0, 2, "FAILED, no GPU was used")))
        self.program("tests/run.sh", "echo 'skipped: a.B: needs a GPU; this machine has it'; echo '40 passed, 0 failed, 2 skipped'")
        done, rows = self.run_script("tests")
        self.assertEqual((done.returncode, rows["tests"]), (1, (40, 0, 2, "FAILED, no GPU was used")))

    def test_failures_crashes_slowness_and_silence_fail(self):
        self.program("build/release/bin/golden", """case $1 in
*Mixed*) echo '[  FAILED  ] a (3 ms)'; exit 1 ;;
*Contexts* | *ContextCuts*) exec sleep 600 ;;
esac""")
        self.program("build/release/bin/cuda", "kill -SEGV $$")
        done, rows = self.run_script("memcheck", limit=8)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(rows, {"memcheck.mixed_steps": (0, 1, 0, "FAILED, status 1"),
                                "memcheck.abi_calls": (1, 0, 1, "passed"),
                                "memcheck.without_cublas": (0, 0, 0, "FAILED, status 139"),
                                "memcheck.contexts": (0, 0, 0, "FAILED, over 8 s"),
                                "memcheck.both_ways": (0, 0, 0, "FAILED, ran nothing"),
                                "memcheck.batching": (0, 0, 0, "FAILED, ran nothing")})
        self.assertIn("5 groups failed: memcheck.mixed_steps", done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], "1 passed, 5 failed, 1 skipped")

    def test_racecheck_leaves_out_what_it_does_not_understand(self):
        self.run_script("mixed")
        calls = (self.root / "sanitizer.calls").read_text().splitlines()
        self.assertEqual([("token_kernel" in call, call.split()[0]) for call in calls], [(False, "memcheck"), (True, "racecheck")])

    def test_a_missing_sanitizer_is_said(self):
        done, rows = self.run_script(sanitizer=False)
        self.assertEqual((done.returncode, list(rows)), (0, ["tests"]))
        self.assertIn("memcheck and racecheck were not run", done.stdout)

    def test_skips_of_whole_programs_are_seen(self):
        self.program("build/release/bin/golden", "echo 'skipped: needs a GPU'; exit 77")
        done, rows = self.run_script("memcheck.contexts")
        self.assertEqual((done.returncode, rows), (0, {"memcheck.contexts": (0, 0, 1, "skipped")}))

    def test_benchmarks_become_a_table(self):
        done, _ = self.run_script(groups="^bench", bench="a:f16 b:q8_0")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(len(re.findall(r"(?m)^m\.gguf +12\.5 +- +3\.25 +(?:- +){5}7\.5 +8\.0 ", done.stdout)), 2)


if __name__ == "__main__":
    unittest.main()
