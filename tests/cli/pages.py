"""The manual page and the completions for bash and zsh: they are what the tool's help makes of them, and all can be read."""
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile

import tool_case
from pseudo_terminal import skip_without_terminals

CLI = tool_case.ROOT / "examples" / "cli"
sys.path.insert(0, str(CLI))
import make_pages  # noqa: E402

COMPLETE = 'source "$1"; COMP_WORDS=("${@:2}"); COMP_CWORD=$(($# - 2)); _inlay; echo "${COMPREPLY[@]}"'

# In zsh a key puts all that fits into the line, and another shows the line.
ZSH = r"""PS1=; fpath=(%s $fpath); autoload -U compinit; compinit -D -u
zle -C all complete-word _generic; zstyle ':completion:all:*' completer _all_matches _complete; zstyle ':completion:all:*' insert yes
show() { print -r -- "<<$BUFFER>>"; BUFFER= }
zle -N show; bindkey '^I' all; bindkey '^X' show; print READ''Y
"""
COMPLETED = ((["inlay", "pe"], ["perplexity"]), (["inlay", "run", "--kv", "f"], ["f16", "f32", "fp8"]),
             (["inlay", "run", "m.gguf", "--repeat-l"], ["--repeat-last-n"]), (["inlay", "convert", "m", "o", "--type", "q4"], ["q4_0", "q4_k_m"]),
             (["inlay", "run", "m.gguf", "-p", "any"], []), (["inlay", "lost", "-"], []), (["inlay", "compare", "--device-a", "c"], ["cpu", "cuda"]))


def help_of(*command):
    return tool_case.run_program(tool_case.TOOL, *command, "--help").stdout.decode()


def completed(*words):
    done = subprocess.run(["bash", "-c", COMPLETE, "bash", str(CLI / "inlay.bash"), *words], capture_output=True, text=True, check=True)
    return done.stdout.split()


class Zsh:
    """An interactive one, which needs a terminal."""

    def __init__(self, folder):
        self.ours, theirs = pty.openpty()
        self.shell = subprocess.Popen(["zsh", "-f", "-i"], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, cwd=folder,
                                      env=os.environ | {"TERM": "dumb", "HOME": folder})
        os.close(theirs)
        self.typed(ZSH % folder, "READY\r\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shell.kill()
        self.shell.wait()
        os.close(self.ours)

    def typed(self, text, answer):
        os.write(self.ours, text.encode())
        seen = b""
        while answer.encode() not in seen:
            seen += os.read(self.ours, 65536)
        return seen.decode()

    def completed(self, *words):
        line = self.typed(" ".join(words) + "\t\x18", ">>\r\n").rpartition("<<")[2].partition(">>")[0]
        added = line.split()[len(words) - 1:]
        return [] if added == [words[-1]] else added


class Pages(tool_case.ToolCase):
    def test_they_are_what_the_help_says(self):
        for name, text in make_pages.pages_of(help_of).items():
            self.assertEqual((CLI / name).read_text(encoding="utf-8"), text, "examples/cli/make_pages.py TOOL writes it again")
        # Negative control: with another option both are others.
        for name, text in make_pages.pages_of(lambda *command: help_of(*command).replace("--top-k ", "--top-j ")).items():
            self.assertNotEqual((CLI / name).read_text(encoding="utf-8"), text)

    def test_every_option_of_every_command_is_there(self):
        page, zsh, n_options = (CLI / "inlay.1").read_text(encoding="utf-8"), (CLI / "inlay.zsh").read_text(encoding="utf-8"), 0
        commands = re.findall(r"^  (\w+) +\S", help_of().partition("commands:")[2], re.MULTILINE)
        self.assertGreater(len(commands), 8)
        for command in commands:
            part = page.partition(f".SS {command}\n")[2].partition("\n.SS ")[0].replace("\\-", "-")
            for names in re.findall(r"^  (-[\w-]+(?:, -[\w-]+)*)", help_of(command), re.MULTILINE):
                for name in names.split(", "):
                    self.assertIn(f"\\fB{name}\\fR", part, command)
                    self.assertIn(f"      '*'{name}'[", zsh.partition(f"  {command})\n")[2].partition(";;")[0], command)
                    n_options += 1
        self.assertGreater(n_options, 150)

    def test_bash_completes(self):
        for typed, wanted in COMPLETED:
            self.assertEqual(completed(*typed), wanted, typed)

    def test_zsh_completes(self):
        if not shutil.which("zsh"):
            return  # as with groff
        skip_without_terminals()
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(CLI / "inlay.zsh", f"{folder}/_inlay")
            (pathlib.Path(folder) / "model.gguf").touch()
            with Zsh(folder) as zsh:
                for typed, wanted in COMPLETED:
                    self.assertEqual(zsh.completed(*typed), wanted, typed)
                for typed in (["inlay", "info", "mod"], ["inlay", "run", "m", "-f", "mod"]):
                    self.assertEqual(zsh.completed(*typed), ["model.gguf"], typed)
            os.unlink(f"{folder}/_inlay")
            with Zsh(folder) as zsh:  # the control: without the file it knows names of files
                self.assertEqual([zsh.completed(*typed) for typed, _ in COMPLETED], [[]] * len(COMPLETED))

    def test_the_page_is_well_formed(self):
        if not shutil.which("groff"):
            return  # the page is the same everywhere, and checked where there is one
        page = CLI / "inlay.1"
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", str(page)], capture_output=True, check=True)
        self.assertEqual(done.stderr, b"")
        wrong = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=b".TH A 1\n.XY\n", capture_output=True, check=False)
        self.assertNotEqual(wrong.stderr, b"")  # the control
        self.assertTrue(b"0 done, 1 failed" in done.stdout)


if __name__ == "__main__":
    tool_case.main()
