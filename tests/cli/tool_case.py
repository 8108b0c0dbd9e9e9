"""What the tests of the built tool share: where it is, how it is run, and which model it is given.

Environment: INLAY_BUILD, the build folder; INLAY_TEST_DEVICE, cuda to run models on the GPU, otherwise the processor
computes and programs see no GPU; INLAY_RUN_BY, the command that runs programs of another system.
"""
import os
import pathlib
import subprocess
import sys
import unittest

BUILD = pathlib.Path(os.environ["INLAY_BUILD"])
RUN_BY = os.environ.get("INLAY_RUN_BY", "").split()
ON_WINDOWS = (BUILD / "bin" / "inlay.exe").exists()
TOOL = BUILD / "bin" / ("inlay.exe" if ON_WINDOWS else "inlay")
SEPARATOR = "\\" if ON_WINDOWS else "/"  # that the tool and the library put between a folder and a name
LIBRARY = BUILD / "lib" / "libinlay.so.1"
ROOT = pathlib.Path(__file__).parents[2]
RANDOM_MODEL = ROOT / "tests" / "data" / "models" / "chat-bpe-qwen3-f32.gguf"  # its greedy text never ends
OWN_MODEL = ROOT / "examples" / "model" / "tales.gguf"
DEVICE = os.environ.get("INLAY_TEST_DEVICE") or "cpu"
WITHOUT_GPU = os.environ | {"CUDA_VISIBLE_DEVICES": "-1"}
ENVIRONMENT = os.environ if DEVICE == "cuda" else WITHOUT_GPU
SKIPPED = 77  # exit code that ctest shows as a skip


def run_program(program, *arguments, stdin=b"", timeout=1800, environment=ENVIRONMENT):
    run_by = RUN_BY if BUILD in pathlib.Path(program).parents else []
    return subprocess.run([*run_by, str(program), *map(str, arguments)], input=stdin, capture_output=True, timeout=timeout, check=False,
                          env=environment)


class ToolCase(unittest.TestCase):
    def run_tool(self, *arguments, code=0, stdin=b""):
        """The outcome of the tool, which must end with `code`."""
        done = run_program(TOOL, *arguments, stdin=stdin)
        self.assertEqual(done.returncode, code, f"inlay {' '.join(map(str, arguments))}: {done.stderr.decode(errors='replace')}")
        return done


class DeviceCase(ToolCase):
    """Commands that load a model do so on DEVICE. Skipped where it is missing."""

    @classmethod
    def setUpClass(cls):
        if DEVICE == "cuda":
            said = run_program(TOOL, "info", OWN_MODEL, "--device", DEVICE).stderr
            if b"no CUDA backend" in said:
                raise unittest.SkipTest("needs a GPU and a build with CUDA")
            if b"NO_DEVICE" in said:
                raise unittest.SkipTest("needs a GPU")

    def run_tool(self, *arguments, **options):
        chosen = () if "--device" in arguments else ("--device", DEVICE)
        return super().run_tool(*arguments, *chosen, **options)


class ModelCase(DeviceCase):
    model = RANDOM_MODEL


def main():
    """Like unittest.main, but tests of which all were skipped end with SKIPPED."""
    program = unittest.main(module="__main__", exit=False, verbosity=2)
    result = program.result
    if not result.wasSuccessful() or (result.testsRun == 0 and not result.skipped):
        sys.exit(1)
    if result.skipped:
        print("\n".join(reason for _, reason in result.skipped))
        sys.exit(SKIPPED)
