"""The line editor of a conversation: what is typed at a terminal that can move its cursor. Needs a build with libedit."""
import json
import pathlib
import re
import signal
import tempfile
import termios
import unittest

import tool_case
from pseudo_terminal import Talk, skip_without_terminals
from tool_case import OWN_MODEL, DeviceCase

UP, LEFT, RIGHT, HOME, BACKSPACE, CTRL_C, CTRL_D, META_ENTER = "\033[A", "\033[D", "\033[C", "\033[H", "\x7f", "\x03", "\x04", "\033\r"
READY = "\033[?2004h> "  # the prompt of the editor; from here on the terminal marks what is pasted


def pasted(text):
    return f"\033[200~{text}\033[201~"


def has_editor():
    cache = (tool_case.BUILD / "CMakeCache.txt").read_text()
    return re.search(r"^INLAY_LIBEDIT:FILEPATH=/", cache, re.MULTILINE) and not re.search(r"^INLAY_LINE_EDITOR:\w+=OFF", cache, re.MULTILINE)


class Editor(DeviceCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        skip_without_terminals()
        if not has_editor():
            raise unittest.SkipTest("needs libedit: this build has none")

    def talk(self, *options):
        talk = Talk(OWN_MODEL, "-n", "2", *options)
        self.addCleanup(talk.__exit__)
        talk.until(READY)
        return talk

    def turns(self, *typed):
        """What the model was given as turns, when this was typed, each up to the next prompt."""
        talk = self.talk()
        for keys in typed:
            talk.type(keys)
            talk.until(READY)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "saved.json"
            talk.line(f"/save {path}")
            talk.until(READY)
            return [message["content"] for message in json.loads(path.read_text()) if message["role"] == "user"]

    def test_keys_change_the_line(self):
        self.assertEqual(self.turns(f"a{LEFT}b{RIGHT}c{HOME}d\r"), ["dbac"])
        self.assertEqual(self.turns(f"r\u00f6\u6c34x{BACKSPACE}{BACKSPACE}m{LEFT}{LEFT}{BACKSPACE}R\r"), ["R\u00f6m"])

    def test_tab_completes_commands(self):
        talk = self.talk()
        for typed, seen in (("/he\t\r", "lists these commands"), ("/cl\t\r", "all turns are forgotten"), ("/lost\t\r", "no command /lost;")):
            talk.type(typed)
            self.assertIn(seen, talk.until(READY))
        self.assertEqual(self.turns("a\tb\r"), ["ab"])  # elsewhere it does nothing

    def test_lines_come_back(self):
        self.assertEqual(self.turns("one\r", "two\r", f"{UP}{UP}\r", f"{UP}!\r"), ["one", "two", "one", "one!"])

    def test_a_pasted_text_is_one_turn(self):
        self.assertEqual(self.turns(f"Say: {pasted('one' + chr(13) + '/bye' + chr(13) + 'drei Stra' + chr(223) + 'en' + chr(13))}!\r"),
                         ["Say: one\n/bye\ndrei Stra\u00dfen!"])
        long = "\r".join(f"line {n} of a long text" for n in range(12))
        self.assertEqual(self.turns(pasted(long) + "\r", UP + "\r"), [long.replace("\r", "\n")] * 2)
        self.assertEqual(self.turns("one\r", "two\r"), ["one", "two"])  # the control: line ends that are typed

    def test_a_line_end_can_be_typed(self):
        self.assertEqual(self.turns(f"one{META_ENTER}two\r"), ["one\ntwo"])

    def test_ctrl_c_drops_the_line(self):
        self.assertEqual(self.turns(f"nonsense{CTRL_C}", "sense\r"), ["sense"])

    def test_ctrl_c_twice_at_an_empty_line_and_ctrl_d_end_the_conversation(self):
        for line in (f"x{CTRL_C}", "Hello\r"):  # neither counts as the first
            talk = self.talk()
            talk.type(CTRL_C)
            talk.until("Ctrl-C again, Ctrl-D or /bye ends the conversation")
            talk.until(READY)
            if line == "Hello\r":
                talk.type(line)
                talk.until(READY)
                talk.type(CTRL_C)
                talk.until("ends the conversation")
                talk.until(READY)
            talk.type(CTRL_C)
            self.assertEqual(talk.end(), 130)
        talk = self.talk()
        talk.type(CTRL_D)
        self.assertEqual(talk.end(), 0)

    def test_ctrl_c_in_an_answer_brings_the_editor_back(self):
        talk = Talk(tool_case.RANDOM_MODEL, "-n", "0", "--raw", "--device", "reference")
        self.addCleanup(talk.__exit__)
        talk.until(READY)
        talk.line("a")
        talk.until("\033[?2004l")
        talk.some()
        talk.type(CTRL_C)
        talk.until(READY)
        talk.line("/bye")
        self.assertEqual(talk.end(), 0)

    def test_the_terminal_is_as_before_however_it_ends(self):
        for end, code in ((lambda talk: talk.line("/bye"), 0), (lambda talk: talk.type(CTRL_C * 2), 130),
                          (lambda talk: talk.tool.send_signal(signal.SIGTERM), -signal.SIGTERM)):
            talk = Talk(OWN_MODEL)
            self.addCleanup(talk.__exit__)
            before = talk.settings_before
            self.assertTrue(before[3] & termios.ICANON)
            talk.until(READY)
            self.assertFalse(talk.settings()[3] & termios.ICANON, "negative control: the editor changes the terminal")
            end(talk)
            self.assertEqual(talk.end(), code)
            self.assertEqual(talk.settings(), before)
            self.assertTrue(talk.said.rfind(b"\033[?2004l") > talk.said.rfind(b"\033[?2004h"), talk.said)  # pastes are not marked any more


if __name__ == "__main__":
    tool_case.main()
