"""Logits beside transformers', as one engine or another gives them, and what becomes of them if the model's file is wrong."""
import os
import tempfile

import torch

import faults
import peer
import texts
from inlay_library import Engine
from measures import ROWS, Distance, faults_of, in_words
from reference import Truth
from ways import WAYS, token_by_token

CONTROL_PIECES, CONTROL_TOKENS = 2, 128
TYPES = ("F32", "F16", "BF16", "Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "Q4_0")


class Expected:
    """Pieces of tokens with the truth's logits."""

    def __init__(self, truth, pieces):
        self.pieces, self.rows = pieces, [truth.logits(piece) for piece in pieces]

    def cut(self, n_pieces, n_tokens):
        """The first tokens of the first pieces."""
        part = object.__new__(Expected)
        part.pieces = [piece[:n_tokens] for piece in self.pieces[:n_pieces]]
        part.rows = [rows[:n_tokens] for rows in self.rows[:n_pieces]]
        return part

    def figures(self, rows):
        """How far rows of (piece, position, logits) are from the truth."""
        distance, places, got = Distance(), [], torch.empty(ROWS, self.rows[0].shape[1])

        def take():
            if places:
                following = [self.pieces[a][i + 1] if i + 1 < len(self.pieces[a]) else -1 for a, i in places]
                distance.add(torch.stack([self.rows[a][i] for a, i in places]), got[:len(places)], following)
                places.clear()

        for which, position, row in rows:
            got[len(places)] = torch.frombuffer(row, dtype=torch.float32)
            places.append((which, position))
            if len(places) == ROWS:
                take()
        take()
        return distance.figures()


def pieces_of(run, path):
    with Engine(run.library, path, "cpu", 64) as engine:
        return texts.pieces(engine.tokenize, *run.pieces)


def judge(run, model, path, device, expected, what=""):
    """Each way to run the pieces within the device's bounds. `what`: what is special about the file."""
    bounds = run.bounds[model.name, device]
    for way, rows in WAYS.items():
        with Engine(run.library, path, device, len(expected.pieces[0]) + 8, len(expected.pieces)) as engine:
            figures = expected.figures(rows(engine, expected.pieces))
        wrong = faults_of(figures, bounds)
        run.note(not wrong, f"{model.name} {device} {what}{way}", in_words(figures) + "".join(f"; {fault}" for fault in wrong),
                 check="types" if what else "logits", model=model.name, engine="Inlay", device=device, way=way, file=what.strip(), bounds=bounds, figures=figures)


def controls(run, model, path, device, expected):
    """Files with a fault must be out of bounds in every way."""
    part, bounds = expected.cut(CONTROL_PIECES, CONTROL_TOKENS), run.bounds[model.name, device]
    for make in (faults.wrong_block, faults.wrong_rope_base):
        with tempfile.TemporaryDirectory() as scratch:
            wrong_file = make(path, f"{scratch}/wrong.gguf")
            for way, rows in WAYS.items():
                with Engine(run.library, wrong_file, device, CONTROL_TOKENS + 8, CONTROL_PIECES) as engine:
                    figures = part.figures(rows(engine, part.pieces))
                found = faults_of(figures, bounds)
                run.note(bool(found), f"{model.name} {device} control {way}", f"{make.__doc__.strip()} {in_words(figures)}; {', '.join(found) or 'not found'}",
                         check="logits", control=make.__name__, model=model.name, engine="Inlay", device=device, way=way, bounds=bounds, figures=figures)


def beside_peer(run, model, path, expected):
    if reason := peer.missing(run.peer):
        run.skip(f"{model.name} {peer.NAME}", reason)
        return
    for defaults, way in ((True, "in prompts"), (False, "in prompts, F32 cache")):
        figures = expected.figures(peer.rows(path, expected.pieces, defaults, run.n_threads))
        run.note(True, f"{model.name} {peer.NAME} {way}", in_words(figures), check="logits", model=model.name, engine="llama.cpp", device=run.peer_device, way=way,
                 figures=figures)


def past_the_window(run, model, path, device, truth):
    """A piece that is longer than the sliding window; with a wider one it must be out of bounds."""
    bounds, way = run.bounds[model.name, device], f"{model.long_piece} tokens"
    with Engine(run.library, path, device, model.long_piece + 8) as engine:
        expected = Expected(truth, [texts.long_piece(engine.tokenize, model.long_piece)])
        figures = expected.figures(token_by_token(engine, expected.pieces))
    about = {"check": "logits", "model": model.name, "engine": "Inlay", "device": device, "way": way, "bounds": bounds}
    wrong = faults_of(figures, bounds)
    run.note(not wrong, f"{model.name} {device} {way}", in_words(figures) + "".join(f"; {fault}" for fault in wrong), **about, figures=figures)
    with tempfile.TemporaryDirectory() as scratch:
        with Engine(run.library, faults.wrong_window(path, f"{scratch}/wrong.gguf"), device, model.long_piece + 8) as engine:
            figures = expected.figures(token_by_token(engine, expected.pieces))
    found = faults_of(figures, bounds)
    run.note(bool(found), f"{model.name} {device} control {way}", f"{faults.wrong_window.__doc__} {in_words(figures)}; {', '.join(found) or 'not found'}",
             **about, control="wrong_window", figures=figures)


def logits(run, model, path):
    truth = Truth(path)
    expected = Expected(truth, pieces_of(run, path))
    run.about["text of " + model.name] = texts.hash_of(expected.pieces)
    for device in run.devices:
        judge(run, model, path, device, expected)
        if model.long_piece:
            past_the_window(run, model, path, device, truth)
        controls(run, model, path, device, expected)
    beside_peer(run, model, path, expected)


def types(run, model, path):
    """Each type that `inlay convert` writes, beside transformers with the weights of that very file."""
    with tempfile.TemporaryDirectory() as scratch:
        whole = f"{scratch}/F32.gguf"
        run.library.convert(path, whole, "F32")
        for kind in TYPES:
            converted = f"{scratch}/{kind}.gguf"
            if kind != "F32":
                run.library.convert(whole, converted, kind)
            expected = Expected(Truth(converted), pieces_of(run, path))
            for device in run.devices:
                if device in run.type_devices:
                    judge(run, model, converted, device, expected, kind + " ")
            if kind != "F32":
                os.remove(converted)
