"""Wrong arguments end with code 2 and name what is wrong; failures end with code 1. Needs no model."""
import pathlib
import tempfile

import tool_case
from tool_case import ToolCase

COMMANDS = ("run", "info", "plan", "tokenize", "bench", "compare")


class Arguments(ToolCase):
    def test_help_lists_commands_and_options(self):
        text = self.run_tool("--help").stdout.decode()
        for command in COMMANDS:
            self.assertIn(f"\n  {command} ", text)
            own = self.run_tool(command, "--help").stdout.decode()
            self.assertTrue(own.startswith(f"usage: inlay {command} "), own)
            self.assertIn("--threads", own)

    def test_version_is_that_of_the_build(self):
        cache = (tool_case.BUILD / "CMakeCache.txt").read_text()
        version = next(line.split("=")[1] for line in cache.splitlines() if line.startswith("CMAKE_PROJECT_VERSION:"))
        self.assertTrue(self.run_tool("--version").stdout.decode().startswith(f"inlay {version} (ABI "))

    def test_usage_errors_name_the_argument(self):
        wrong = [
            ([], "usage:"), (["--nope"], "--nope"), (["frobnicate"], "frobnicate"),
            (["run", "m", "--frob"], "unknown option --frob"), (["run", "m", "--temp", "hot"], "--temp: 'hot'"),
            (["run", "m", "--temp", "-1"], "--temp: '-1'"), (["run", "m", "--temp", "nan"], "--temp: 'nan'"),
            (["run", "m", "--temp"], "--temp needs a value"), (["run", "m", "-n", "1x"], "-n: '1x'"),
            (["run", "m", "--quiet=1"], "--quiet takes no value"), (["run", "m", "--stop", ""], "--stop"),
            (["run", "m", "--prompt", "a", "--file", "b"], "one of --prompt and --file"),
            (["run", "m", "--device", "gpu"], "one of auto cpu cuda reference"), (["info", "a", "b"], "argument 'b'"),
            (["tokenize", "m"], "--decode"), (["tokenize", "m", "text", "--decode", "1"], "one of TEXT"),
            (["tokenize", "m", "--decode", "1,x"], "'x'"), (["bench", "m", "--layers", "2"], "--shape"),
            (["bench", "m", "--trace", "t"], "need --profile"), (["compare", "m", "--prompt", "a", "--tokens", "1"], "one of --prompt"),
            (["compare", "m", "--device-b", "gpu"], "one of auto cpu cuda reference"),
            (["bench", "m", "--pp", "1,,2"], "--pp"), (["bench", "--shape", "tiny-llama"], "--quant"),
            (["bench", "--shape", "giant", "--quant", "f16"], "no shape 'giant'"),
            (["bench", "--shape", "tiny-llama", "--quant", "q1"], "no recipe 'q1'"),
            (["bench", "m", "--shape", "tiny-llama", "--quant", "f16"], "one of MODEL and --shape"),
        ] + [([command], "no model given") for command in COMMANDS]
        for arguments, named in wrong:
            with self.subTest(arguments=arguments):
                done = self.run_tool(*arguments, code=2)
                self.assertIn(named, done.stderr.decode())
                self.assertEqual(done.stdout, b"")

    def test_what_is_no_model_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            missing = pathlib.Path(folder) / "missing.gguf"
            text = pathlib.Path(folder) / "text.gguf"
            text.write_text("This is no model.\n" * 10)
            for path, status in ((missing, "NOT_FOUND"), (text, "FORMAT")):
                for command in (["run", path, "--prompt", "a"], ["info", path], ["plan", path], ["tokenize", path, "a"]):
                    done = self.run_tool(*command, code=1)
                    self.assertIn(str(path), done.stderr.decode())
                    self.assertIn(status, done.stderr.decode())
            self.assertIn(str(missing), self.run_tool("bench", missing, code=1).stderr.decode())
            lost = pathlib.Path(folder) / "lost.txt"
            self.assertIn(str(lost), self.run_tool("run", text, "--file", lost, code=1).stderr.decode())


if __name__ == "__main__":
    tool_case.main()
