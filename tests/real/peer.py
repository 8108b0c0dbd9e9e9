"""llama.cpp's library beside the truth: tests/data/reference_library.py, with which the models of tests/data were judged."""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parents[1] / "data"))
import reference_library  # noqa: E402  # pylint: disable=wrong-import-position

NAME = "llama.cpp's library"
BATCH = 256


def missing(folder):
    """Why it cannot be used; None if it can."""
    if folder:
        reference_library.use(str(folder))
    if reference_library.available():
        return None
    return f"needs {NAME}: --peer or INLAY_PEER_LIBS names its folder"


def rows(path, pieces, defaults, n_threads):
    """(piece, position, logits) of pieces that are run as prompts. `defaults`: the library's own settings, else an F32 cache without flash
    attention."""
    for which, piece in enumerate(pieces):
        session = reference_library.Session(str(path), n_context=len(piece), defaults=defaults, n_threads=n_threads)
        for begin in range(0, len(piece), BATCH):
            for i, row in enumerate(session.feed(piece[begin:begin + BATCH])):
                yield which, begin + i, row
        session.close()


def vocabulary(path):
    return reference_library.Vocabulary(str(path))
