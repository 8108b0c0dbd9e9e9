#!/usr/bin/env python3
"""Inlay beside Hugging Face transformers: small random models of every family, saved by transformers, logits at every position.

usage: tests/hf/compare_transformers.py LIBRARY [--devices cpu,cuda] [--cases REGEX] [--dtypes f32,bf16] [--folder DIR]

transformers computes in float32 on the processor, attention "eager". For each case, stored type and device it is compared:
logits of the prompt run token by token, logits of prompts of several lengths run at once, and the greedy continuation.
For each case also: a changed weight, and the model without the case's speciality, must not pass. Prints "ok", "FAIL" or
"skipped:" lines, then a table. Exit code 0 only if nothing failed, 77 without PyTorch or transformers.
"""
import argparse
import copy
import faulthandler
import json
import math
import pathlib
import random
import re
import sys
import tempfile
import time
import traceback

from families import CASES, CONFIG_NAMES, N_VOCAB
from inlay_library import Engine, Library, Session

try:
    import torch
    import transformers
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

N_DRAWN = 12
PROMPT_STRIDE = 9  # lengths at which prompts are run at once
# Smallest cosine. BF16: stored weights are the same on both sides; ours multiplies them by activations in BF16.
BOUND = {"f32": 0.9999, "bf16": 0.998}
# Part of the positions that may be below it where experts are chosen: at a near tie the last bits decide on another one.
EXPERTS_BELOW = {"f32": 0.0, "bf16": 0.25}
# Random weights are drawn until every choice of experts in the prompt is this clear, in spreads of the router's logits: keys and
# values are kept in F16, which moves logits by up to some thousandths of their spread.
CLEAR_CHOICE, MOST_DRAWS = 0.008, 100
CLEAR_GAP = {"f32": 1e-3, "bf16": 5e-2}  # of the spread of the logits: at a smaller one either token may be drawn
SAMPLE_TEXT = "The theatre is in the town. \u00e4\u00f6\u00fc 123 \u4e2d\u6587!"


def byte_alphabet():
    """GPT-2's character for each byte."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    return {b: chr(b) for b in printable} | {b: chr(256 + i) for i, b in enumerate(others)}


def write_tokenizer(folder):
    specials = ["<pad>", "<s>", "</s>"]
    alphabet = byte_alphabet()
    space = alphabet[32]
    merges = [("t", "h"), ("th", "e"), (space, "the"), ("i", "n"), (space, "t"), ("e", "r")]
    vocabulary = {text: i for i, text in enumerate([*specials, *alphabet.values(), *(a + b for a, b in merges)])}
    assert len(vocabulary) <= N_VOCAB
    added = [{"id": i, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
             for i, text in enumerate(specials)]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    tokenizer = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
                 "pre_tokenizer": byte_level, "post_processor": None, "decoder": byte_level,
                 "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                           "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "vocab": vocabulary,
                           "merges": [f"{a} {b}" for a, b in merges]}}
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")


def class_names(case):
    return CONFIG_NAMES.get(case.classes, case.classes + "Config"), case.classes + "ForCausalLM"


def make_model(case, changes=None):
    config_class, model_class = (getattr(transformers, name) for name in class_names(case))
    config = config_class(**copy.deepcopy(case.config | (changes or {})))
    config._attn_implementation = "eager"  # pylint: disable=protected-access
    model = model_class(config).float().eval()
    if hasattr(model, "set_experts_implementation"):
        model.set_experts_implementation("eager")
    return model


def has_experts(case):
    return "num_experts_per_tok" in case.config


def randomize(model, seed):
    """Weights at which every part matters: attention with clear peaks, norms and biases that are not neutral, and
    embeddings that are no larger than what the layers add."""
    generator = torch.Generator().manual_seed(seed)
    width = model.config.hidden_size
    embedding_scale = math.sqrt(width) if model.config.model_type.startswith("gemma") else getattr(
        model.config, "embedding_multiplier", 1.0)
    for name, p in model.named_parameters():
        noise = torch.randn(p.shape, generator=generator)
        if p.dim() < 2:
            p.data = p.data + 0.2 * noise
        elif "embed" in name:
            p.data = noise / embedding_scale
        else:
            p.data = noise * ((1.0 if "lm_head" in name else 1.5) / math.sqrt(p.shape[-1]))


def narrowest_choice(model, tokens):
    """How far the last expert chosen is above the first that is not, at the position and layer where that is least."""
    n_used, gaps = model.config.num_experts_per_tok, []

    def note(router, args, kwargs, _):
        x = (args[0] if args else next(iter(kwargs.values()))).reshape(-1, router.weight.shape[1])
        logits = torch.nn.functional.linear(x, router.weight, getattr(router, "bias", None))
        ordered = logits.sort(dim=-1, descending=True).values
        gaps.append(float(((ordered[:, n_used - 1] - ordered[:, n_used]) / logits.std(dim=-1)).min()))

    routers = [m for name, m in model.named_modules() if re.search(r"\.(gate|router)$", name)]
    if not routers:
        raise LookupError(f"{type(model).__name__} has no module named gate or router")
    hooks = [router.register_forward_hook(note, with_kwargs=True) for router in routers]
    reference_logits(model, tokens)
    for hook in hooks:
        hook.remove()
    if len(gaps) != len(routers):
        raise LookupError(f"of {len(routers)} routers of {type(model).__name__} {len(gaps)} were called")
    return min(gaps)


def drawn_model(case, seed):
    torch.manual_seed(seed)  # for what transformers draws itself: randomize adds to some of it
    model = make_model(case)
    randomize(model, seed)
    return model


def random_model(case, tokens):
    """With experts the one of several whose choices are clearest: a near tie would be decided by the last bits."""
    if not has_experts(case):
        return drawn_model(case, 7)
    best, widest, n_drawn = None, -1.0, 0
    while n_drawn < MOST_DRAWS and widest <= CLEAR_CHOICE:
        model = drawn_model(case, 7 + n_drawn)
        n_drawn += 1
        gap = narrowest_choice(model, tokens)
        if best is None or gap > widest:
            best, widest = model, gap
    print(f"# {case.name}: the narrowest of all choices is {widest:.4f} spreads wide, of {n_drawn} models drawn", flush=True)
    return best


def reference_logits(model, tokens):
    with torch.no_grad():
        return model(input_ids=torch.tensor([tokens]), use_cache=False).logits[0].double()


def reference_continuation(model, tokens):
    """Tokens drawn greedily, and each one's logits."""
    tokens, rows = list(tokens), []
    for _ in range(N_DRAWN):
        rows.append(reference_logits(model, tokens)[-1])
        tokens.append(int(rows[-1].argmax()))
    return tokens[-N_DRAWN:], rows


def cosine(expected, values):
    got = torch.tensor(values, dtype=torch.float64)
    return float(torch.dot(expected, got) / (expected.norm() * got.norm() + 1e-300))


class Verdict:
    """The cosines of one comparison, by position."""

    def __init__(self, case, dtype):
        self.bound = BOUND[dtype]
        self.allowed_below = EXPERTS_BELOW[dtype] if has_experts(case) else 0.0
        self.cosines = []

    def add(self, what, position, value):
        self.cosines.append((value if math.isfinite(value) else -2.0, what, position))

    def passes(self):
        below = sum(value < self.bound for value, _, _ in self.cosines)
        return below <= self.allowed_below * len(self.cosines)

    def __str__(self):
        value, what, position = min(self.cosines)
        below = sum(value < self.bound for value, _, _ in self.cosines)
        return f"worst cosine {value:.8f} ({what}, position {position}), {below} of {len(self.cosines)} below {self.bound}"


def run_inlay(engine, tokens):
    """Logits of every position token by token, of prompts by length, and the greedy continuation."""
    with Session(engine) as session:
        single = []
        for token in tokens:
            session.prefill([token])
            single.append(session.logits())
        drawn = [session.draw() for _ in range(N_DRAWN)]
    prompts = {}
    for n in sorted({*range(2, len(tokens), PROMPT_STRIDE), len(tokens)}):
        with Session(engine) as session:
            session.prefill(tokens[:n])
            prompts[n] = session.logits()
    return single, prompts, drawn


def judge(case, dtype, expected, ours):
    single, prompts, _ = ours
    verdict = Verdict(case, dtype)
    for position, values in enumerate(single):
        verdict.add("token by token", position, cosine(expected[position], values))
    for n, values in prompts.items():
        verdict.add("prompt at once", n - 1, cosine(expected[n - 1], values))
    return verdict


def wrong_draw(dtype, drawn, reference):
    """Where the continuations part although the choice was clear; None if nowhere."""
    expected, rows = reference
    for i, (a, b) in enumerate(zip(expected, drawn)):
        if a != b:
            gap = float(rows[i][a] - rows[i][b]) / float(rows[i].std())
            return f"draw {i} is {b}, expected {a}, which is {gap:.4f} spreads likelier" if gap > CLEAR_GAP[dtype] else None
    return None


class Comparison:
    """One run over the cases."""

    def __init__(self, library, devices, dtypes, folder):
        self.library, self.devices, self.dtypes, self.folder = library, devices, dtypes, folder
        self.table = []

    def note(self, word, name, text):
        print(f"{word} {name}: {text}", flush=True)
        self.table.append((word.rstrip(":"), name, text))

    def run_case(self, case):
        missing = [name for name in class_names(case) if not hasattr(transformers, name)]
        if missing:
            self.note("skipped:", case.name, f"transformers {transformers.__version__} has no {', '.join(missing)}")
            return
        draw = random.Random(case.name)
        tokens = [draw.randrange(3, N_VOCAB) for _ in range(case.n_prompt)]
        model = random_model(case, tokens)
        for dtype in self.dtypes:
            results = []
            folder = self.folder / f"{case.name}-{dtype}"
            self.save(model, folder, dtype)
            expected, continuation = reference_logits(model, tokens), reference_continuation(model, tokens)
            for device in self.devices:
                name = f"{case.name} {dtype} {device}"
                results.append(
                    self.guarded(name, lambda: self.compare(case, dtype, device, folder, tokens, expected, continuation)))
            if dtype == "f32" and results[0]:
                self.guarded(f"{case.name} controls", lambda: self.controls(case, model, tokens, results[0]))

    def guarded(self, name, work):
        try:
            return work()
        except Exception as e:  # pylint: disable=broad-except
            self.note("FAIL", name, str(e).split("\n", maxsplit=1)[0] or traceback.format_exc().splitlines()[-1])
            return None

    def save(self, model, folder, dtype):
        folder.mkdir(parents=True)
        stored = torch.bfloat16 if dtype == "bf16" else torch.float32
        for p in model.parameters():
            p.data = p.data.to(stored)
        model.save_pretrained(folder)
        for p in model.parameters():
            p.data = p.data.float()
        write_tokenizer(folder)

    def compare(self, case, dtype, device, folder, tokens, expected, continuation):
        with Engine(self.library, folder, device, case.n_context) as engine:
            ours = run_inlay(engine, tokens)
            ids = engine.tokenize(SAMPLE_TEXT)
        theirs = transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json")).encode(SAMPLE_TEXT)
        verdict, draw = judge(case, dtype, expected, ours), wrong_draw(dtype, ours[2], continuation)
        if has_experts(case):
            draw = None  # another expert is another text
        text = str(verdict) + (f"; {draw}" if draw else "") + (f"; tokens {ids}, expected {theirs}" if ids != theirs else "")
        self.note("ok" if verdict.passes() and not draw and ids == theirs else "FAIL", f"{case.name} {dtype} {device}", text)
        return ours

    def controls(self, case, model, tokens, ours):
        """Our logits beside those of another model: they must not pass."""
        matrices = [(n, p) for n, p in model.named_parameters() if re.search(r"layers\.1\..*(k_proj|qkv_proj)\.weight", n)]
        name, weight = matrices[0]
        original = weight.data.clone()
        weight.data[::2] *= 1.5  # every other row: a norm of heads or of the layer's result would undo all of them
        self.must_differ(case, f"half of {name} times 1.5", judge(case, "f32", reference_logits(model, tokens), ours))
        weight.data = original
        if case.without:
            other = make_model(case, case.without)
            other.load_state_dict(model.state_dict(), strict=False)
            self.must_differ(case, f"with {case.without}", judge(case, "f32", reference_logits(other, tokens), ours))

    def must_differ(self, case, what, verdict):
        self.note("FAIL" if verdict.passes() else "ok", f"{case.name} control", f"{what}: {verdict}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("library")
    parser.add_argument("--devices", default="cpu")
    parser.add_argument("--cases", default=".")
    parser.add_argument("--dtypes", default="f32,bf16")
    parser.add_argument("--folder", help="where the models are written and stay")
    options = parser.parse_args()
    faulthandler.enable()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    print(f"PyTorch {torch.__version__}, transformers {transformers.__version__}, Python {sys.version.split()[0]}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(options.folder or scratch)
        comparison = Comparison(Library(options.library), options.devices.split(","), options.dtypes.split(","), folder)
        for case in CASES:
            if re.search(options.cases, case.name):
                begin = time.monotonic()
                comparison.guarded(case.name, lambda case=case: comparison.run_case(case))
                print(f"# {case.name}: {time.monotonic() - begin:.1f} s", flush=True)
    print()
    for word, name, text in comparison.table:
        print(f"  {word:8} {name:32} {text}")
    failed = [name for word, name, _ in comparison.table if word == "FAIL"]
    print(f"{sum(word == 'ok' for word, _, _ in comparison.table)} passed, {len(failed)} failed: {', '.join(failed) or 'none'}")
    sys.exit(1 if failed or not comparison.table else 0)


if __name__ == "__main__":
    main()
