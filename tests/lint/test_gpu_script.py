"""tests/gpu.sh on builds of made-up programs: what it counts, and what it calls a failure. Needs no GPU."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[1] / "gpu.sh"
TOOL = """case $1 in
info) exit $INFO_CODE ;;
bench) echo '{"model":"m.gguf","pp512":12.5,"tg128@0":3.25,"latency_us":{"tokens":9,"p50":7.5,"p99":8.0},"range":{}}' ;;
esac"""
GTEST = """case $1 in
--gtest_list_tests) printf 'Suite.\\n  cuda\\n'; exit 0 ;;
esac
echo "[       OK ] Suite.cuda/1 (3 ms)"
echo "[  SKIPPED ] Suite.cuda/2 (0 ms)"
"""


class GpuScript(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name)
        (self.build / "bin").mkdir()
        self.program("inlay", TOOL)
        self.program("cuda_good", "echo 'ok     a: 1'; echo 'ok     b: 2'")
        self.program("golden_some", GTEST)

    def program(self, name, text):
        path = self.build / "bin" / name
        path.write_text("#!/bin/sh\n" + text + "\n")
        path.chmod(0o755)

    def run_script(self, groups="kernels|golden", info_code=0, bench="none", jobs=1, limit=30):
        environment = os.environ | {"INFO_CODE": str(info_code), "INLAY_BENCH": bench, "INLAY_GROUP_LIMIT": str(limit), "INLAY_FIXTURES": "",
                                    "INLAY_GPU_JOBS": str(jobs)}
        done = subprocess.run([SCRIPT, self.build, groups], capture_output=True, text=True, timeout=60, check=False, env=environment)
        rows = re.findall(r"^(\S+) +(\d+) +(\d+) +(\d+) +\d+ s  (.*)$", done.stdout, re.MULTILINE)
        return done, {row[0]: (int(row[1]), int(row[2]), int(row[3]), row[4]) for row in rows}

    def test_counts(self):
        done, rows = self.run_script()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(rows, {"device": (1, 0, 0, "passed"), "kernels.good": (2, 0, 0, "passed"), "golden.some": (1, 0, 1, "passed")})
        self.assertRegex(done.stdout, r"(?m)^together +4 +0 +1$")

    def test_failures_crashes_slowness_silence_and_a_missing_gpu_fail(self):
        self.program("cuda_bad", "echo 'ok     a: 1'; echo 'FAIL   b: 2'; exit 1")
        self.program("cuda_crash", "kill -SEGV $$")
        self.program("cuda_slow", "sleep 60")
        self.program("cuda_silent", "true")
        done, rows = self.run_script(info_code=1, limit=3)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(rows["kernels.bad"], (1, 1, 0, "FAILED, status 1"))
        self.assertEqual(rows["kernels.crash"][3], "FAILED, status 139")
        self.assertEqual(rows["kernels.slow"][3], "FAILED, over 3 s")
        self.assertEqual(rows["kernels.silent"][3], "FAILED, ran nothing")
        self.assertEqual(rows["device"][3], "FAILED, status 1")
        self.assertEqual(rows["kernels.good"][3], "passed")
        self.assertIn("5 groups failed: device kernels.bad kernels.crash kernels.silent kernels.slow", done.stdout)

    def test_groups_run_side_by_side(self):
        # Each waits for the other.
        for mine, other in ("one", "two"), ("two", "one"):
            self.program(f"cuda_{mine}", f"touch '{self.build}/{mine}'; until [ -e '{self.build}/{other}' ]; do sleep 0.02; done; echo 'ok     a: 1'")
        done, rows = self.run_script(jobs=2)
        self.assertEqual((done.returncode, rows["kernels.one"][3], rows["kernels.two"][3]), (0, "passed", "passed"), done.stdout)
        for name in "one", "two":
            (self.build / name).unlink()
        done, rows = self.run_script(jobs=1, limit=3)
        self.assertEqual((done.returncode, rows["kernels.one"][3]), (1, "FAILED, over 3 s"))

    def test_skips_of_whole_programs_are_seen(self):
        self.program("cuda_none", "echo 'skipped: no CUDA device'; exit 77")
        done, rows = self.run_script()
        self.assertEqual((done.returncode, rows["kernels.none"]), (0, (0, 0, 1, "skipped")))

    def test_programs_of_other_languages(self):
        self.program("example_tokens", "echo greedy 1 2 3")
        self.program("binding_rust_tokens", "echo greedy 1 2 3")
        self.program("binding_rust_sessions", "# RUST_TEST_THREADS\necho 'test a ... ok'; echo 'test b ... ignored'")
        self.program("binding_go_tests", "# test.timeout\n[ $1 = -test.v ] && echo '--- PASS: TestA'; echo '    --- PASS: TestA/b'")
        self.program("binding_go_complete", "exit 1")  # an example, which is not run
        done, rows = self.run_script(groups="bindings")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual({name: row[:3] for name, row in rows.items() if name != "device"},
                         {"bindings.rust_tokens": (1, 0, 0), "bindings.rust_sessions": (1, 0, 1), "bindings.go_tests": (1, 0, 0)})

    def test_other_tokens_and_failures_of_other_languages(self):
        self.program("example_tokens", "echo greedy 1 2 3")
        self.program("binding_rust_tokens", "echo greedy 1 2 4")
        self.program("binding_rust_sessions", "# RUST_TEST_THREADS\necho 'test a ... FAILED'; exit 101")
        self.program("binding_go_tests", "# test.timeout\necho '--- FAIL: TestA'; exit 1")
        done, rows = self.run_script(groups="bindings")
        self.assertEqual(done.returncode, 1)
        self.assertEqual({name: row[1:] for name, row in rows.items() if name != "device"},
                         {"bindings.rust_tokens": (0, 0, "FAILED, status 1"), "bindings.rust_sessions": (1, 0, "FAILED, status 101"),
                          "bindings.go_tests": (1, 0, "FAILED, status 1")})

    def test_benchmarks_become_a_table(self):
        done, _ = self.run_script(groups="^bench", bench="a:f16 b:q8_0")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(len(re.findall(r"(?m)^m\.gguf +12\.5 +- +3\.25 +(?:- +){5}7\.5 +8\.0 ", done.stdout)), 2)


if __name__ == "__main__":
    unittest.main()
