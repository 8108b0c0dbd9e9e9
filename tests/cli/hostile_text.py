"""What files say cannot command the terminal: no command of the tool prints a control character that stood in a model's file."""
import pathlib
import re
import tempfile

import tool_case
from tool_case import OWN_MODEL, TOOL, DeviceCase, run_program

ATTACK = "\x1b]0;x\x07\x9b2J\u202e\r".encode()  # sets the title, clears the screen, turns the text round, overwrites the line
# Each stands in the file in bytes of its own, and is replaced by the attack and as many x as it takes.
PLACES = [b"A small model that writes tales", b"The Inlay authors", b"general.description", b"general.author", b"blk.3.attn_output.weight",
          b"output_norm.weight", b"llama.rope.dimension_count", b"{% for message in messages %}", b"<|begin|>"]
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
ARGUMENTS = {"run": ["{model}", "--prompt", "Once", "-n", "1"], "info": ["{model}"], "plan": ["{model}"], "tokenize": ["{model}", "Once"],
             "bench": ["{model}", "--pp", "8", "--depths", "0", "--batch", "none", "-r", "1"], "compare": ["{model}", "--prompt", "Once"],
             "embed": ["{model}", "Once"], "convert": ["{model}", "{folder}/out.gguf"],
             "perplexity": ["{model}", "{folder}/text.txt", "--ctx", "4"]}


class HostileText(DeviceCase):
    def test_every_command_and_place(self):
        commands = re.findall(r"^  (\w+) +\S", run_program(TOOL, "--help").stdout.decode().partition("commands:")[2].partition("\n\n")[0], re.MULTILINE)
        self.assertEqual(sorted(commands), sorted(ARGUMENTS), "a command without a case here")
        good = OWN_MODEL.read_bytes()
        n_shown = 0
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / "model.gguf"
            (pathlib.Path(folder) / "text.txt").write_text("Once upon a time, there lived a baker.", encoding="utf-8")
            for place in PLACES:
                self.assertEqual(good.count(place), 1, place)
                attack = ATTACK[:len(place)].decode(errors="ignore").encode()
                model.write_bytes(good.replace(place, attack + b"x" * (len(place) - len(attack))))
                for command, arguments in [*((c, ARGUMENTS[c]) for c in commands), ("info", ["{model}", "--json"])]:
                    done = run_program(TOOL, command, *(a.format(model=model, folder=folder) for a in arguments))
                    shown = (done.stdout + done.stderr).decode()  # UTF-8, whatever the file holds
                    n_shown += "\\x1b]0;x" in shown
                    with self.subTest(place=place, command=command):
                        self.assertIsNone(OBEYED.search(shown), shown)
        self.assertGreaterEqual(n_shown, len(PLACES) - 2, "negative control: the attacks are shown, as escapes")


if __name__ == "__main__":
    tool_case.main()
