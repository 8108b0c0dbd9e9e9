"""The tool writes the same in a German locale, where a program that sets its locale writes a comma. One line for every command."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

import tool_case
from tool_case import OWN_MODEL, RANDOM_MODEL, ROOT, TOOL, WITHOUT_GPU, ToolCase, run_program

GERMAN = "de_DE.UTF-8"
FOLLOWS = "import locale; locale.setlocale(locale.LC_ALL, ''); print(locale.str(1.5))"
COMMANDS = {
    "run": [OWN_MODEL, "--raw", "--prompt", "1,5 \u00c4rger", "-n", "4", "--temp", "0.5", "--seed", "1"],
    "tokenize": [OWN_MODEL, "1,5 \u00c4rger"],
    "embed": [OWN_MODEL, "1,5", "--pooling", "mean"],
    "info": [RANDOM_MODEL],
    "plan": [RANDOM_MODEL],
    "bench": [RANDOM_MODEL, "--pp", "8", "--depths", "0", "--tg", "2", "--batch", "none", "-r", "1"],
    "compare": [RANDOM_MODEL, "--limit", "0.5", "--device-b", "cpu"],
    "perplexity": [OWN_MODEL, str(ROOT / "README.md"), "--ctx", "64", "--windows", "2"],
    "convert": [RANDOM_MODEL, "OUT", "--type", "q8_0"],
}


def without_numbers(text):
    """Measured numbers become #; a decimal point stays, and a comma would stay in its place."""
    return re.sub(rb" +", b" ", re.sub(rb"\d+", b"#", text))


class Locales(ToolCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        try:
            subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", f"{self.folder}/{GERMAN}"], capture_output=True, check=False)
        except FileNotFoundError:
            pass
        self.german = WITHOUT_GPU | {"LOCPATH": self.folder, "LC_ALL": GERMAN, "LANG": GERMAN}
        self.plain = WITHOUT_GPU | {"LC_ALL": "C", "LANG": "C"}
        said = run_program(sys.executable, "-c", FOLLOWS, environment=self.german)
        if said.returncode != 0:
            raise unittest.SkipTest("needs the locale de_DE")
        self.assertEqual(said.stdout.strip(), b"1,5")  # the control
        self.assertEqual(run_program(sys.executable, "-c", FOLLOWS, environment=self.plain).stdout.strip(), b"1.5")

    def test_every_command_has_a_line(self):
        listed = re.findall(rb"^  (\w+) ", run_program(TOOL, "--help").stdout.split(b"commands:")[1].split(b"\n\n")[0], re.MULTILINE)
        self.assertEqual({name.decode() for name in listed}, set(COMMANDS))

    def test_output_does_not_follow_it(self):
        for command, arguments in COMMANDS.items():
            for given in (arguments, ["--no-such-option"], ["--help"], ["no/such/model.gguf"]):
                given = [os.path.join(self.folder, "out.gguf") if a == "OUT" else a for a in given]
                plain, german = (run_program(TOOL, command, *given, environment=e) for e in (self.plain, self.german))
                if given[0] in (OWN_MODEL, RANDOM_MODEL):
                    self.assertEqual(plain.returncode, 0, (command, plain.stderr))
                self.assertEqual(plain.returncode, german.returncode, command)
                self.assertEqual(without_numbers(plain.stdout), without_numbers(german.stdout), command)
                self.assertEqual(without_numbers(plain.stderr), without_numbers(german.stderr), command)


if __name__ == "__main__":
    tool_case.main()
