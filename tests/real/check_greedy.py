"""Greedy texts, and a chat, beside transformers'.

The truth is computed along the tokens that were drawn, so every draw is judged. One that is not the truth's likeliest token passes only at a
near tie: the truth's logits of the two are closer than the engines' logits there, which in turn may be no further apart than the device's
bound. Not more draws may part than the bound of top-1 agreement says.
"""
import tempfile

import torch

import faults
import texts
from gguf_reader import GgufReader
from inlay_library import Engine, Session
from reference import Truth, tokenizer_of

N_DRAWN = 48
NEAR = 4.0  # differences of one position's logits, in root mean squares, that two tokens may be apart where draws part
CONTROL_PROMPTS = 6


def drawn_by(session, prompt, n, end=None):
    """Tokens drawn after a prompt, up to `end`, and the logits that each was drawn from."""
    session.prefill(prompt)
    drawn, rows = [], []
    while len(drawn) < n and (not drawn or drawn[-1] != end):
        drawn.append(session.draw())
        rows.append(torch.frombuffer(session.copy_logits(), dtype=torch.float32).clone())
    return drawn, torch.stack(rows)


class Draws:
    """All draws of one device, judged."""

    def __init__(self, bounds):
        self.bounds, self.n, self.parted, self.whole, self.wrong = bounds, 0, 0, 0, []

    def add(self, name, drawn, rows, truth_rows):
        parted = self.parted
        for i, token in enumerate(drawn):
            difference = rows[i].double() - truth_rows[i].double()
            rms = float((difference - difference.mean()).square().mean().sqrt())
            likeliest = int(truth_rows[i].argmax())
            gap = float(truth_rows[i, likeliest] - truth_rows[i, token])
            self.n += 1
            self.parted += token != likeliest
            if not rms <= self.bounds.logit_rms:
                self.wrong.append(f"{name}, draw {i}: logits {rms:.3f} apart, bound {self.bounds.logit_rms}")
            elif not gap <= NEAR * rms:
                self.wrong.append(f"{name}, draw {i} is {token}, expected {likeliest}, whose logit is {gap:.3f} above; logits are {rms:.4f} apart")
        self.whole += parted == self.parted

    def fault(self):
        if self.wrong:
            return f"{len(self.wrong)} wrong: {self.wrong[0]}"
        least = self.bounds.top1_of(self.n)
        if self.n - self.parted < least * self.n:
            return f"fewer than {least:.1%} of the draws"
        return ""

    def in_words(self, n_texts):
        return f"{self.n - self.parted} of {self.n} draws and {self.whole} of {n_texts} texts are the truth's"


def judge(run, model, path, device, truth, n_prompts):
    """The draws after each prompt; also with one draw exchanged for another token."""
    bounds = run.bounds[model.name, device]
    draws, exchanged = Draws(bounds), Draws(bounds)
    with Engine(run.library, path, device, 256) as engine:
        for text in texts.PROMPTS[:n_prompts]:
            prompt = engine.tokenize(text)
            with Session(engine) as session:
                drawn, rows = drawn_by(session, prompt, N_DRAWN)
            truth_rows = truth.logits([*prompt, *drawn[:-1]])[len(prompt) - 1:]
            draws.add(repr(text), drawn, rows, truth_rows)
            other = int(truth_rows[N_DRAWN // 2].topk(10).indices[-1])
            exchanged.add(repr(text), [*drawn[:N_DRAWN // 2], other, *drawn[N_DRAWN // 2 + 1:]], rows, truth_rows)
    return draws, exchanged


def greedy(run, model, path):
    truth = Truth(path)
    for device in run.devices:
        about = {"check": "greedy", "model": model.name, "device": device}
        n_texts = len(texts.PROMPTS)
        draws, exchanged = judge(run, model, path, device, truth, n_texts)
        fault = draws.fault()
        run.note(not fault, f"{model.name} {device} greedy", draws.in_words(n_texts) + (f"; {fault}" if fault else ""), **about,
                 figures={"draws": draws.n, "parted": draws.parted, "texts": n_texts, "equal_texts": draws.whole})
        run.note(len(exchanged.wrong) >= n_texts - len(draws.wrong), f"{model.name} {device} greedy control",
                 f"of each text one draw is the truth's tenth token: {exchanged.fault() or 'not found'}", **about, control="exchanged_draw")
        for make in (faults.wrong_block, faults.wrong_rope_base):
            with tempfile.TemporaryDirectory() as scratch:
                draws, _ = judge(run, model, make(path, f"{scratch}/wrong.gguf"), device, truth, CONTROL_PROMPTS)
            run.note(bool(draws.fault()), f"{model.name} {device} greedy control",
                     f"{make.__doc__} {draws.in_words(CONTROL_PROMPTS)}; {draws.fault() or 'not found'}", **about, control=make.__name__)


# ---- a chat

def differences(engine, tokenizer, messages):
    """How the rendering and the tokens of a conversation differ from transformers'."""
    text, tokens = engine.chat_render(messages), engine.chat_tokenize(messages)
    expected = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    expected_tokens = tokenizer(expected, add_special_tokens=False)["input_ids"]
    if text != expected:
        return f"rendered {text[-60:]!r}, expected {expected[-60:]!r}"
    return "" if tokens == expected_tokens else f"tokens {tokens[-12:]}, expected {expected_tokens[-12:]}"


def chat(run, model, path):
    if not model.chat:
        return
    file, truth = GgufReader(path), Truth(path)
    tokenizer = tokenizer_of(path).for_chats(file.get("tokenizer.chat_template"))
    for device in run.devices:
        messages, draws, wrong, sequence = [], Draws(run.bounds[model.name, device]), [], []
        with Engine(run.library, path, device, 2048) as engine, Session(engine) as session:
            for question in texts.CHAT:
                messages.append({"role": "user", "content": question})
                if fault := differences(engine, tokenizer, messages):
                    wrong.append(f"turn {len(messages) // 2 + 1}: {fault}")
                prompt = engine.chat_tokenize(messages)
                kept = next((i for i, (a, b) in enumerate(zip(sequence, prompt)) if a != b), min(len(sequence), len(prompt) - 1))
                session.truncate(kept)
                drawn, rows = drawn_by(session, prompt[kept:], N_DRAWN, file.get("tokenizer.ggml.eos_token_id"))
                sequence = [*prompt, *drawn]
                draws.add(f"turn {len(messages) // 2 + 1}", drawn, rows, truth.logits([*prompt, *drawn[:-1]])[len(prompt) - 1:])
                answer = engine.detokenize(drawn).decode(errors="replace")
                expected = tokenizer.decode(drawn, skip_special_tokens=True)
                if answer != expected:
                    wrong.append(f"turn {len(messages) // 2 + 1}: the answer is {answer!r}, expected {expected!r}")
                messages.append({"role": "assistant", "content": answer})
        if draws.fault():
            wrong.append(draws.fault())
        about = {"check": "chat", "model": model.name, "device": device}
        run.note(not wrong, f"{model.name} {device} chat", f"{len(texts.CHAT)} turns of {len(sequence)} tokens; {draws.in_words(len(texts.CHAT))}"
                 + "".join(f"; {fault}" for fault in wrong[:2]), **about, figures={"turns": len(texts.CHAT), "draws": draws.n, "parted": draws.parted})
        for make in (faults.wrong_template, faults.wrong_merges):
            with tempfile.TemporaryDirectory() as scratch, Engine(run.library, make(path, f"{scratch}/wrong.gguf"), device, 256) as engine:
                fault = differences(engine, tokenizer, messages)
            run.note(bool(fault), f"{model.name} {device} chat control", f"{make.__doc__} {fault or 'not found'}", **about, control=make.__name__)
