"""The texts that the models run over: pieces of real text, prompts, a chat, and a mixed text for tokenizers.

Real text is what every machine with Python has, its documentation and its library's sources, and this project's documents. It changes
with their versions: what it is compared with is computed from the same text, and results name its hash.
"""
import hashlib
import json
import pathlib
import sys
import sysconfig
from pydoc_data.topics import topics

import portable_text

ROOT = pathlib.Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "data"))
from tokenizer_texts import TEXTS  # noqa: E402  # pylint: disable=wrong-import-position
N_PIECES, N_PIECE = 8, 512
LONG_TOPIC = "specialnames"


def library_source(name):
    return (pathlib.Path(sysconfig.get_path("stdlib")) / name).read_text(encoding="utf-8")


def sources():
    """Real texts, each far longer than a piece: four of Python's documentation, two of program text, two of this project's documents."""
    return [*(topics[name] for name in ("assignment", "execmodel", "typesmapping", "formatstrings")),
            *(library_source(name) for name in ("textwrap.py", "json/decoder.py")),
            *((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("architecture.md", "tool.md"))]


def pieces(tokenize, n_pieces=N_PIECES, n=N_PIECE):
    """The first n tokens of each source."""
    cut = [tokenize(text)[:n] for text in sources()[:n_pieces]]
    if len(cut) != n_pieces or any(len(piece) != n for piece in cut):
        raise ValueError(f"a source has fewer than {n} tokens")
    return cut


def long_piece(tokenize, n):
    piece = tokenize(topics[LONG_TOPIC])[:n]
    if len(piece) != n:
        raise ValueError(f"{LONG_TOPIC} has fewer than {n} tokens")
    return piece


def hash_of(pieces_of_tokens):
    return hashlib.sha256(json.dumps(pieces_of_tokens).encode()).hexdigest()[:16]


PROMPTS = (
    "The capital of France is",
    "Water boils at a temperature of",
    "def fibonacci(n):\n    \"\"\"Return the n-th Fibonacci number.\"\"\"\n",
    "Once upon a time, in a village at the edge of a forest, there lived",
    "The three laws of thermodynamics can be stated as follows:\n1.",
    "A list of the planets, in order of their distance from the sun: Mercury, Venus,",
    "SELECT name, COUNT(*) FROM orders WHERE",
    "Dear Sir or Madam,\n\nI am writing to",
    "In 1969, the first human beings",
    "Ingredients:\n- 2 eggs\n- 200 g of flour\n-",
    "The difference between a compiler and an interpreter is that",
    "import os\nimport sys\n\ndef main():\n",
    "To be or not to be,",
    "The patient was admitted to the hospital with",
    "<html>\n<head>\n<title>",
    "Photosynthesis is the process by which",
    "Q: What is the square root of 144?\nA:",
    "Le chat est assis sur",
    "The stock market fell sharply on Monday after",
    "She opened the old wooden door and saw",
)
CHAT = (
    "Hello! Who are you?",
    "Name three animals that can fly.",
    "What were the differences between them? Answer in one sentence.",
    "Write a Python function that adds two numbers, with an example: {\"a\": 1, \"b\": 2}",
    "Thank you \N{WAVING HAND SIGN} \u2014 what did I ask you first?",
)

# SentencePiece takes U+2581 for a space, also in tokens of several spaces, which a GGUF file has as plain spaces.
WRITTEN = [text for _, text in TEXTS if "\u2581" not in text]


def mixed_line(draw):
    """A line of portable_text.py, or one of the texts of tests/data."""
    return draw.choice(WRITTEN) + draw.choice(portable_text.SPACES) if draw.chance(15) else portable_text.line(draw)


def mixed_texts(n_bytes=2 << 20):
    """Texts of 1 to 60 KB that are n_bytes together: program text and documentation, and every other one words of twelve scripts."""
    draw = portable_text.Draw(42)
    real = [library_source(name) for name in ("argparse.py", "ast.py", "difflib.py", "doctest.py", "inspect.py", "pickle.py", "typing.py", "html/entities.py",
                                              "tarfile.py", "statistics.py", "threading.py", "turtle.py")]
    real += [topics[name] for name in sorted(topics)]
    made, size = [], 0
    while size < n_bytes:
        room, text = draw.between(1000, 60000), ""
        if len(made) % 2 == 0:
            text = real[len(made) // 2 % len(real)][:room]
        while len(made) % 2 == 1 and len(text) < room // 3:
            text += mixed_line(draw)
        made.append(text)
        size += len(text.encode())
    return made
