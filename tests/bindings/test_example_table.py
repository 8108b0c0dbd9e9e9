"""The examples of all languages: they take the same arguments, write the same, and stream piece by piece.

Usage: test_example_table.py MODEL -- LANGUAGE COMMAND... [-- LANGUAGE COMMAND...]...     a command has {} for the example's name
"""
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = sys.argv[1]
COMMANDS = {}
for argument in sys.argv[2:]:
    if argument == "--":
        COMMANDS[None] = []
    elif None in COMMANDS:
        COMMANDS[argument] = COMMANDS.pop(None)
    else:
        COMMANDS[list(COMMANDS)[-1]].append(argument)
del sys.argv[1:]

# The arguments of each example, and the languages that have it; tokens and call_cost are programs of the tests.
ALL = ["c", "rust", "go", "csharp", "dotnet"]
TABLE = {
    "complete": ("MODEL [PROMPT [TOKENS]]", ALL),
    "eight": ("MODEL [TOKENS [PROMPT...]]", ALL),
    "requests": ("MODEL [TOKENS [PROMPT...]]", ["c", "go", "csharp", "dotnet"]),
    "characters": ("MODEL [TOKENS [PROMPT...]]", ["rust"]),
    "cancel": ("MODEL [MILLISECONDS]", ALL),
    "game_loop": ("MODEL [SECONDS]", ALL),
    "embeddings": ("MODEL QUERY TEXT...", ALL),
    "chat": ("MODEL [SYSTEM [TOKENS]]", ["c", "rust", "go", "dotnet"]),
    "tools": ("MODEL", ["c"]),
    "http": ("MODEL [ADDRESS [BYTES]]", ["rust", "go"]),
    "web": ("MODEL [ADDRESS]", ["dotnet"]),
}
SOURCES = {"c": ("examples/c", "*.c"), "rust": ("bindings/rust/examples", "*.rs"), "go": ("bindings/go/examples", "*/main.go"),
           "csharp": ("bindings/csharp/examples", "*.cs"), "dotnet": ("bindings/csharp/examples", "**/*.cs")}
OF_TESTS = {"tokens", "call_cost"}
NOT_BUILT = {"web"}  # by the fixtures that the commands need
SHORT = ("chat", "http", "web")  # at most so many lines, of at most so many characters, in all sources of the example
MOST_LINES, MOST_CHARACTERS = 80, 132
TEXTS = ("The old fox slept in the wood.", "Do you have a room?", "A fox lay in the forest.", "The old fox slept in the wood.")
SCENE, LINE = "Mira is a kind innkeeper at an inn in Oakvale.", "Do you have a room?\n"
BUFFERED = ["sh", "-c", 'text=$("$@"); echo "$text"', "sh"]


def sources(language):
    folder, pattern = SOURCES[language]
    paths = [path for path in (ROOT / folder).glob(pattern) if not {"bin", "obj"} & set(path.parts)]
    return {path.parent.name if path.name == "main.go" else path.stem: path.read_text(encoding="utf-8") for path in paths}


def short_examples(root):
    """The text of all sources of each example that is to be short, as (language, name, text)."""
    for language, (folder, pattern) in SOURCES.items():
        for name in SHORT:
            texts = [path.read_text(encoding="utf-8") for path in sorted((root / folder).glob(pattern.replace("main", "*")))
                     if name in (path.stem, path.parent.name) and not {"bin", "obj"} & set(path.relative_to(root).parts)]
            if texts:
                yield language, name, "".join(texts)


def too_long(text):
    """What of a text is too long."""
    lines = text.splitlines()
    found = [f"{len(lines)} lines"] if len(lines) > MOST_LINES else []
    return found + [line for line in lines if len(line) > MOST_CHARACTERS]


def arguments_in(text, name):
    """All that a source or a README says of an example's arguments."""
    return re.findall(rf"\b{name} (MODEL(?: [A-Z.[\]]+)*)", text)


def command(language, name):
    return [part.replace("{}", name) for part in COMMANDS[language]]


def examples(*left_out):
    """Each example with each language that has it and is here."""
    return [(name, language) for name, (_, languages) in TABLE.items() for language in languages
            if language in COMMANDS and name not in NOT_BUILT and name not in left_out]


def run(language, name, *arguments):
    return subprocess.run([*command(language, name), *map(str, arguments)], capture_output=True, text=True, timeout=1800, check=False)


def pieces(arguments, said=""):
    """What each write of a program writes. A socket of this kind keeps writes apart, however late they are read."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs, subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=theirs, stderr=subprocess.PIPE, text=True) as process:
        theirs.close()
        process.stdin.write(said)
        process.stdin.close()
        found = []
        while piece := ours.recv(1 << 16):
            found.append(piece.decode())
        notes = process.stderr.read()
        if process.wait(1800) != 0:
            raise AssertionError(f"{arguments}: exit code {process.returncode}\n{notes}")
    return found


class Examples(unittest.TestCase):
    def same_in_all(self, name, *arguments):
        written = {}
        for language in (language for example, language in examples() if example == name):
            done = run(language, name, MODEL, *arguments)
            self.assertEqual(done.returncode, 0, f"{language}: {done.stderr}")
            written[language] = done.stdout
        first = next(iter(written.values()))
        self.assertEqual(written, {language: first for language in written})
        return first

    def test_every_example_is_in_the_table(self):
        for language in SOURCES:
            listed = {name for name, (_, languages) in TABLE.items() if language in languages}
            self.assertEqual(set(sources(language)) - OF_TESTS, listed, language)

    def test_sources_say_the_arguments(self):
        for language in SOURCES:
            for name, text in sources(language).items():
                if name not in OF_TESTS:
                    self.assertEqual(set(arguments_in(text, name)), {TABLE[name][0]}, f"{language}: {name}")

    def test_the_talking_examples_are_short(self):
        found = {(language, name): too_long(text) for language, name, text in short_examples(ROOT)}
        listed = {(language, name) for name in SHORT for language in TABLE[name][1]}
        self.assertEqual(found, dict.fromkeys(listed, []))

    def test_a_long_example_is_noticed(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, n_lines in (("go/examples/http/main.go", 40), ("go/examples/http/stream.go", 41), ("go/examples/chat/main.go", 80),
                                  ("rust/examples/chat.rs", 81), ("csharp/examples/web/web.cs", 81), ("csharp/examples/eight.cs", 81)):
                (root / "bindings" / path).parent.mkdir(parents=True, exist_ok=True)
                (root / "bindings" / path).write_text("line\n" * n_lines, encoding="utf-8")
            long = {(language, name) for language, name, text in short_examples(root) if too_long(text)}
            self.assertEqual(long, {("go", "http"), ("rust", "chat"), ("dotnet", "web")})
        self.assertEqual(too_long("a\n" * 80 + "b" * 133), ["81 lines", "b" * 133])
        self.assertEqual(too_long("a\n" * 79 + "b" * 132), [])

    def test_readmes_say_the_arguments(self):
        readmes = [path.read_text(encoding="utf-8") for path in (ROOT / "bindings").glob("*/README.md")]
        found = [(name, arguments) for name in TABLE for text in readmes for arguments in arguments_in(text, name)]
        self.assertGreater(len(found), 5)
        self.assertEqual([(name, TABLE[name][0]) for name, _ in found], found)

    def test_without_arguments_they_say_them(self):
        for name, language in examples():
            done = run(language, name)
            self.assertIn(f"usage: {name} {TABLE[name][0]}", done.stderr, language)
            self.assertNotEqual(done.returncode, 0, f"{language}: {name}")

    def test_a_model_alone_is_enough(self):
        for name, language in examples("embeddings", "chat", "http", "game_loop"):
            done = run(language, name, MODEL)
            self.assertEqual(done.returncode, 0, f"{language}: {name}: {done.stderr}")
            self.assertGreater(len(done.stdout), 20, f"{language}: {name}")

    def test_complete_writes_the_same(self):
        self.assertTrue(self.same_in_all("complete").startswith("Once upon a time"))
        other = self.same_in_all("complete", "The old fox", 12)
        self.assertTrue(other.startswith("The old fox"))
        self.assertNotEqual(other, self.same_in_all("complete", "The old fox", 11))

    def test_eight_write_the_same(self):
        written = self.same_in_all("eight", 8)
        self.assertEqual(len(set(written.splitlines())), 8)
        self.assertEqual(self.same_in_all("eight", 4, "The bear", "A boat").count("\n"), 2)

    def test_requests_write_the_same(self):
        self.assertEqual(self.same_in_all("requests", 8).count("\n"), 3)
        self.assertEqual(self.same_in_all("requests", 4, "The bear", "A boat"), self.same_in_all("eight", 4, "The bear", "A boat"))

    def test_embeddings_rank_the_same(self):
        ranked = self.same_in_all("embeddings", *TEXTS).splitlines()
        self.assertEqual(ranked[0], f"1.0000  {TEXTS[0]}")
        self.assertEqual(sorted(line.split("  ", 1)[1] for line in ranked), sorted(TEXTS[1:]))

    def test_cancel_and_game_loop_report_the_same(self):
        forms = {"cancel": (100, r"cancelled after [1-9]\d* tokens, \d+\.\d\d ms after the request"),
                 "game_loop": (1, r"silent +60 frames, ms: p50 .*\ntalking +60 frames, ms: .*\n[1-9]\d* tokens, \d+ a second")}
        for name, language in examples():
            if name in forms:
                argument, form = forms[name]
                self.assertRegex(run(language, name, MODEL, argument).stdout, "^" + form, language)

    def test_text_comes_piece_by_piece(self):
        cases = {"complete": (["Once upon a time", "30"], ""), "chat": ([SCENE], LINE)}
        for name, language in examples():
            if name in cases:
                arguments, said = cases[name]
                whole = [*command(language, name), MODEL, *arguments]
                found = pieces(whole, said)
                self.assertGreater(len(found), 5, f"{language}: {name}: {found}")
                held_back = pieces([*BUFFERED, *whole], said)  # the same text, but not streamed
                self.assertEqual("".join(held_back), "".join(found).rstrip("\n") + "\n")
                self.assertLess(len(held_back), 5, f"{language}: {name}: {held_back}")


if __name__ == "__main__":
    unittest.main()
