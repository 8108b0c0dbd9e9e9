#!/usr/bin/env python3
"""Inlay with a real model beside what transformers computed, which tests/real/data has. Needs the model and nothing but Python.

usage: tests/real/check_stored.py LIBRARY NAME [MODELS] [--device cpu|cuda]

Compared are the logits after each of 384 tokens (the divergence over the 32 likeliest tokens and all others as one), token ids and, where
the model has a template, a chat. Files with a fault must not pass. Exit code 77 without the model.
"""
import argparse
import hashlib
import json
import math
import pathlib
import sys
import tempfile

import faults
import portable_text
import stored
from real_models import MODELS, STORED_BOUNDS, default_folder

sys.path.append(str(pathlib.Path(__file__).parents[1] / "hf"))
from inlay_library import Engine, Library, Session, force  # noqa: E402  # pylint: disable=wrong-import-position

SKIPPED = 77
LEAST = 1e-300


def leave(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


class Divergence:
    """Sums over positions, against records of transformers."""

    def __init__(self):
        self.kl, self.same, self.truth_nll, self.nll = [], 0, 0.0, 0.0

    def add(self, row, record, following):
        tokens, expected, rest, expected_following = record
        values = row[:]
        largest = max(values)
        total = math.fsum(map(math.exp, [value - largest for value in values]))
        if not math.isfinite(total):
            self.kl.append(math.inf)
            return
        log_total = largest + math.log(total)
        ours = [values[token] - log_total for token in tokens]
        ours_rest = math.log(max(LEAST, 1 - math.fsum(map(math.exp, ours))))
        self.kl.append(math.fsum(math.exp(p) * (p - q) for p, q in zip((*expected, rest), (*ours, ours_rest))))
        self.same += values[tokens[0]] == largest
        if following is not None:
            self.truth_nll -= expected_following
            self.nll -= values[following] - log_total

    def faults(self, bounds):
        n, found = len(self.kl), []
        mean, top1 = math.fsum(self.kl) / n, self.same / n
        ratio = math.exp((self.nll - self.truth_nll) / n)
        for name, value, bad in (("KL mean", f"{mean:.2e}", not mean <= bounds.kl_mean), ("KL max", f"{max(self.kl):.2e}", not max(self.kl) <= bounds.kl_max),
                                 ("top-1", f"{top1:.4f}", not top1 >= bounds.top1_of(n)),
                                 ("perplexity x", f"{ratio:.5f}", not abs(ratio - 1) <= bounds.perplexity_of(n))):
            found.append((f"{name} {value}", bad))
        return ", ".join(text + (" OUT OF BOUNDS" if bad else "") for text, bad in found), any(bad for _, bad in found)


def divergence(library, path, device, pieces, records):
    """Decode steps of all pieces together."""
    found = Divergence()
    with Engine(library, path, device, 256, len(pieces)) as engine:
        sessions = [Session(engine) for _ in pieces]
        for session, piece in zip(sessions, pieces):
            session.prefill(piece[:1])
        for position in range(len(pieces[0])):
            following = [piece[position + 1] if position + 1 < len(piece) else None for piece in pieces]
            force(sessions, [token or 0 for token in following])
            for which, session in enumerate(sessions):
                found.add(session.copy_logits(), records[which * len(pieces[0]) + position], following[which])
        for session in sessions:
            session.close()
    return found


class Check:
    def __init__(self, library, model, path, device):
        self.library, self.model, self.path, self.device = library, model, path, device
        self.expected, self.n_failed = stored.index()[model.name], 0

    def note(self, good, text):
        self.n_failed += not good
        print(f"{'ok' if good else 'FAIL'} {self.model.name} {self.device} {text}", flush=True)

    def with_fault(self, make, work):
        with tempfile.TemporaryDirectory() as scratch:
            return work(make(self.path, f"{scratch}/wrong.gguf"))

    def logits(self):
        bounds, records = STORED_BOUNDS[self.model.name, self.device], list(stored.records(self.model.name))
        pieces = self.expected["pieces"]
        if len(records) != len(pieces) * len(pieces[0]):
            raise ValueError("the records are not those of the pieces")
        text, out = divergence(self.library, self.path, self.device, pieces, records).faults(bounds)
        self.note(not out, f"logits of {len(records)} tokens: {text}")
        for make in (faults.wrong_block, faults.wrong_rope_base):
            text, out = self.with_fault(make, lambda path: divergence(self.library, path, self.device, pieces[:1], records).faults(bounds))
            self.note(out, f"control: {make.__doc__} {text}")

    def tokens(self):
        with Engine(self.library, self.path, self.device, 64) as engine:
            text, mixed = "".join(portable_text.lines(self.expected["mixed"]["bytes"])), self.expected["mixed"]
            if hashlib.sha256(text.encode()).hexdigest() != mixed["sha256"]:
                raise ValueError("the mixed text is not the one that was tokenized")
            ids = engine.tokenize(text, bare=True)
            self.note(hashlib.sha256(json.dumps(ids).encode()).hexdigest() == mixed["tokens_sha256"], f"{len(ids)} tokens of {len(text.encode())} bytes")
            wrong = sum(engine.tokenize(text, bare=True) != expected for text, expected in self.expected["texts"])
            self.note(not wrong, f"{len(self.expected['texts'])} texts, {wrong} differ")
        make = {"bpe": faults.wrong_merges, "spm": faults.wrong_scores}[self.model.tokenizer]
        wrong = self.with_fault(make, self.texts_that_differ)
        self.note(wrong > 0, f"control: {make.__doc__} {wrong} texts differ")

    def texts_that_differ(self, path):
        with Engine(self.library, path, self.device, 64) as engine:
            return sum(engine.tokenize(text, bare=True) != expected for text, expected in self.expected["texts"])

    def chat_differs(self, path):
        with Engine(self.library, path, self.device, 64) as engine:
            chat = self.expected["chat"]
            return (stored.hash_of(engine.chat_render(chat["messages"])) != chat["text_sha256"],
                    stored.hash_of(engine.chat_tokenize(chat["messages"])) != chat["tokens_sha256"])

    def chat(self):
        self.note(self.chat_differs(self.path) == (False, False), "chat: rendering and tokens")
        self.note(self.with_fault(faults.wrong_template, self.chat_differs) == (True, True), f"control: {faults.wrong_template.__doc__}")
        self.note(self.with_fault(faults.wrong_merges, self.chat_differs) == (False, True), f"control: {faults.wrong_merges.__doc__}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("library")
    parser.add_argument("name", choices=[model.name for model in MODELS])
    parser.add_argument("models", nargs="?", type=pathlib.Path, default=default_folder())
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    model = next(model for model in MODELS if model.name == options.name)
    path = model.path(options.models)
    library = Library(options.library)
    if not library.device(options.device):
        leave("needs a GPU")
    if not path.is_file():
        leave(f"needs the real models: {options.models} has no {model.file}; tests/real/fetch.py fetches it")
    check = Check(library, model, path, options.device)
    check.logits()
    check.tokens()
    if model.chat:
        check.chat()
    sys.exit(1 if check.n_failed else 0)


if __name__ == "__main__":
    main()
