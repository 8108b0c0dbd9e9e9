"""Token ids of a mixed text beside those of the tokenizer's own library: Hugging Face's tokenizers, SentencePiece."""
import tempfile

import faults
import texts
from inlay_library import Engine
from reference import tokenizer_of

CONTROL_TEXTS = 12


def first_difference(ours, theirs):
    at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
    return f"token {at}: {ours[at:at + 6]}, expected {theirs[at:at + 6]}"


def differing(engine, tokenizer, parts):
    """(which text, how) of each that is cut otherwise, or that its tokens do not give back; and the number of tokens."""
    found, n_tokens = [], 0
    for which, text in enumerate(parts):
        ours, theirs = engine.tokenize(text, bare=True), tokenizer.encode(text)
        n_tokens += len(theirs)
        if ours != theirs:
            found.append((which, first_difference(ours, theirs)))
        elif engine.detokenize(ours) != tokenizer.decode(theirs).encode():
            found.append((which, "another text from the tokens"))
    return found, n_tokens


def tokens(run, model, path):
    try:
        tokenizer = tokenizer_of(path)
    except ImportError as missing:
        run.skip(f"{model.name} tokens", f"needs {missing.name}")
        return
    parts = texts.mixed_texts()
    size = sum(len(text.encode()) for text in parts)
    about = {"check": "tokens", "model": model.name}
    with Engine(run.library, path, "cpu", 64) as engine:
        found, n_tokens = differing(engine, tokenizer, parts)
    run.about["mixed text"] = texts.hash_of(parts)
    run.note(not found, f"{model.name} tokens", f"{n_tokens} of {size} bytes in {len(parts)} texts, {len(found)} of these differ"
             + "".join(f"; text {which}, {how}" for which, how in found[:2]), **about,
             figures={"bytes": size, "texts": len(parts), "tokens": n_tokens, "differing": len(found)})
    make = {"bpe": faults.wrong_merges, "spm": faults.wrong_scores}[model.tokenizer]
    with tempfile.TemporaryDirectory() as scratch, Engine(run.library, make(path, f"{scratch}/wrong.gguf"), "cpu", 64) as engine:
        found, _ = differing(engine, tokenizer, parts[:CONTROL_TEXTS])
    run.note(bool(found), f"{model.name} tokens control", f"{make.__doc__} {len(found)} of {CONTROL_TEXTS} texts differ", **about, control=make.__name__)
