"""Wrong arguments end with code 2 and name what is wrong; failures end with code 1. Needs no model."""
import pathlib
import re
import shlex
import subprocess
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
            (["run", "m", "--frob"], "unknown option --frob"), (["run", "m", "--temp", "hot"], "--temp is expected to be a number from 0 to 100, not 'hot'"),
            (["run", "m", "--temp", "-1"], "100, not '-1'"), (["run", "m", "--temp", "nan"], "100, not 'nan'"),
            (["run", "m", "--temp"], "--temp needs a value: a number from 0 to 100"), (["run", "m", "-n", "-2"], "2147483647, not '-2'"),
            (["run", "m", "-n", "1x"], "-n is expected to be a whole number from -1 to 2147483647, not '1x'"),
            (["run", "m", "--stop-token", "x"], "--stop-token is expected to be a token's id, a whole number; it is 'x'"),
            (["run", "m", "Once", "upon"], "'Once': a prompt is given with -p"), (["info", "m", "-m", "n"], "argument 'm', as -m gives the model"),
            (["info", "-m", "n", "m"], "unexpected argument 'm'"), (["info", "-m"], "-m needs a value"),
            (["run", "m", "-ngl", "20"], "-ngl is expected to be 0 for the CPU, or all, -1 or 99 for the GPU"),
            (["run", "m", "-ngl", "some"], "not 'some'"),
            (["run", "m", "--quiet=1"], "--quiet takes no value"), (["run", "m", "--stop", ""], "--stop"),
            (["run", "m", "--seed", "-2"], "2^64 - 1, or -1 for one that changes, not '-2'"), (["tokenize", "m", "a", "--json", "--ids"], "one of --json and --ids"),
            (["info", "m", "--json", "--template"], "one of --json and --template"), (["compare", "m", "-p", "a", "-f", "b"], "one of --prompt, --file and"),
            (["run", "m", "--logit-bias", "15"], "as 15+2, 15-1.5 or 15-inf, not '15'"), (["run", "m", "-l", "15+inf"], "not '15+inf'"),
            (["run", "m", "-l", "a+1"], "not 'a+1'"), (["run", "m", "--logprobs", "21"], "20, not '21'"),
            (["run", "m", "--chat-template-kwargs", "x=1"], "a JSON object"), (["run", "m", "--raw", "--chat-template", "x"], "--raw leaves out"),
            (["run", "m", "--chat-template", "a", "--chat-template-file", "b"], "give one of --chat-template and"),
            (["run", "m", "--logprobs", "1", "--echo"], "--echo"),
            (["convert", "m", "q4_k_m"], "q4_k_m is a type, which --type takes"), (["convert", "m", "Q8_0"], "Q8_0 is a type"),
            (["run", "m", "--device", "gpu"], "one of auto, cpu, cuda, reference, not 'gpu'"), (["info", "a", "b"], "argument 'b'"),
            (["tokenize", "m"], "--decode"), (["tokenize", "m", "text", "--decode", "1"], "one of TEXT"),
            (["tokenize", "m", "--decode", "1,x"], "--decode is expected to be token ids, whole numbers from 0 on, not 'x'"), (["bench", "m", "--layers", "2"], "--shape"),
            (["bench", "m", "--trace", "t"], "need --profile"), (["compare", "m", "--prompt", "a", "--tokens", "1"], "one of --prompt, --file and --tokens"),
            (["compare", "m", "--device-b", "gpu"], "one of auto, cpu, cuda, reference"),
            (["compare", "a", "b", "c"], "argument 'c'"),
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

    def test_what_the_library_calls_an_argument_is_one(self):
        for arguments, named in ((["run", "-p", "a", "--tuning", "lost=1"], "lost"), (["run", "-p", "a", "--pre", "lost"], "lost"),
                                 (["run", "-p", "a", "-c", "4096"], "--ctx asks for"), (["run", "-p", "a", "--stop-token", "99999"], "99999"),
                                 (["tokenize", "--decode", "99999"], "99999"), (["run", "-p", "a", "--system", "b", "--raw"], "--system"),
                                 (["run", "-p", "a", "--special"], "--special")):
            done = self.run_tool(*arguments, "-m", tool_case.OWN_MODEL, "--device", "cpu", code=2)
            self.assertIn(named, done.stderr.decode())

    def test_a_file_beside_the_weights_names_the_folder(self):
        folder = tool_case.OWN_MODEL.parent / "hf"
        for name in ("tokenizer.json", "tokenizer_config.json", "generation_config.json"):
            said = self.run_tool("info", folder / name, code=1).stderr.decode()
            self.assertEqual(said, f"inlay: {folder / name} is one file of a model; the model is the folder: give {folder}\n")
        self.run_tool("info", folder / "config.json", "--device", "cpu")  # which stands for the model

    def test_a_model_is_no_command(self):
        for path in (str(tool_case.OWN_MODEL), str(tool_case.OWN_MODEL.parent)):
            self.assertEqual(self.run_tool(path, code=2).stderr.decode(), f"inlay: {path} is no command; for a model: inlay run {path}\n")

    def test_the_transcript_has_the_messages_of_the_tool(self):
        transcript = re.search(r"^```console\n(.*?)^```$", (tool_case.ROOT / "docs" / "tool.md").read_text(), re.MULTILINE | re.DOTALL)[1]
        n_compared = 0
        for part in re.split(r"^\$ ", transcript, flags=re.MULTILINE):
            command, _, said = part.partition("\n")
            if not command.startswith("inlay ") or not re.fullmatch("(inlay: .*\n)+", said):
                continue  # it prints more than messages
            done = subprocess.run([*tool_case.RUN_BY, tool_case.TOOL, *shlex.split(command)[1:]], cwd=tool_case.ROOT, capture_output=True, check=False)
            self.assertNotEqual(done.returncode, 0, command)
            self.assertEqual(done.stderr.decode().replace(tool_case.SEPARATOR, "/"), said, command)
            n_compared += 1
        self.assertGreaterEqual(n_compared, 4)

    def test_what_is_no_model_is_named(self):
        separator = tool_case.SEPARATOR
        with tempfile.TemporaryDirectory() as folder:
            missing = pathlib.Path(folder) / "missing.gguf"
            text = pathlib.Path(folder) / "text.gguf"
            text.write_text("This is no model.\n" * 10)
            for path, status in ((missing, "NOT_FOUND"), (text, "FORMAT")):
                for command in (["run", path, "--prompt", "a"], ["info", path], ["plan", path], ["tokenize", path, "a"]):
                    done = self.run_tool(*command, code=1)
                    self.assertEqual(done.stderr.decode().count(str(path)), 1)
                    self.assertIn(status, done.stderr.decode())
            self.assertIn(str(missing), self.run_tool("bench", missing, code=1).stderr.decode())
            (folder_of_folders := pathlib.Path(folder) / "models" / "one").mkdir(parents=True)
            for command in (["run", "{}", "--prompt", "a"], ["info", "{}"], ["bench", "{}"], ["convert", "{}", "out.gguf"]):
                def said_of(path):
                    return self.run_tool(*(word.replace("{}", str(path)) for word in command), code=1).stderr.decode()  # noqa: B023
                self.assertIn(f"{folder} is a folder; the model is the file in it: give {folder}{separator}text.gguf\n", said_of(folder))
                self.assertIn("is a folder without a model: it has no config.json and no GGUF file", said_of(folder_of_folders))
                for name in ("b-00001-of-00002.gguf", "b-00002-of-00002.gguf", "a.gguf"):
                    (folder_of_folders / name).touch()
                self.assertIn(f"give one of the files in it:\n  {folder_of_folders}{separator}a.gguf\n  {folder_of_folders}{separator}b-00001-of-00002.gguf\n",
                              said_of(folder_of_folders))
                for name in folder_of_folders.iterdir():
                    name.unlink()
            lost = pathlib.Path(folder) / "lost.txt"
            self.assertIn(str(lost), self.run_tool("run", text, "--file", lost, code=1).stderr.decode())


if __name__ == "__main__":
    tool_case.main()
