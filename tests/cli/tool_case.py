"""What the tests of the built tool share: where it is, how it is run, and which model it is given.

Environment: INLAY_BUILD, the build folder; INLAY_FIXTURES, the folder of the conformance fixtures, empty without them.
"""
import os
import pathlib
import subprocess
import sys
import unittest

BUILD = pathlib.Path(os.environ["INLAY_BUILD"])
TOOL = BUILD / "bin" / "inlay"
LIBRARY = BUILD / "lib" / "libinlay.so.1"
FIXTURES = os.environ.get("INLAY_FIXTURES", "")
FIXTURE_MODEL = pathlib.Path(FIXTURES or "/nonexistent") / "models" / "chat-bpe-qwen3-f32.gguf"
OWN_MODEL = pathlib.Path(__file__).parents[2] / "examples" / "model" / "tales.gguf"
SKIPPED = 77  # exit code that ctest shows as a skip


def model_path():
    """A model with a tokenizer; None if there is none."""
    return next((m for m in (FIXTURE_MODEL, OWN_MODEL) if m.is_file()), None)


def run_program(program, *arguments, stdin=b"", timeout=300):
    return subprocess.run([str(program), *map(str, arguments)], input=stdin, capture_output=True, timeout=timeout, check=False)


class ToolCase(unittest.TestCase):
    def run_tool(self, *arguments, code=0, stdin=b""):
        """The outcome of the tool, which must end with `code`."""
        done = run_program(TOOL, *arguments, stdin=stdin)
        self.assertEqual(done.returncode, code, f"inlay {' '.join(map(str, arguments))}: {done.stderr.decode(errors='replace')}")
        return done


class ModelCase(ToolCase):
    """Skipped where there is no model."""

    @classmethod
    def setUpClass(cls):
        cls.model = model_path()
        if cls.model is None:
            raise unittest.SkipTest("no model: neither INLAY_FIXTURES nor examples/model/tales.gguf")


def main():
    """Like unittest.main, but tests of which all were skipped end with SKIPPED."""
    program = unittest.main(module="__main__", exit=False, verbosity=2)
    result = program.result
    if not result.wasSuccessful() or (result.testsRun == 0 and not result.skipped):
        sys.exit(1)
    if result.skipped:
        print("\n".join(reason for _, reason in result.skipped))
        sys.exit(SKIPPED)
