#!/usr/bin/env python3
"""Trains the tales model (needs PyTorch 2 and numpy, and a GPU for reasonable times).

usage: train.py CORPUS_DIR HF_DIR [--steps N] [--batch N] [--lr X] [--seed N] [--max-seconds S] [--sample-length N]
                [--no-compile]

Reads CORPUS_DIR/train.txt and heldout.txt and the tokenizer in HF_DIR; writes config.json, generation_config.json and
model.safetensors there. Every row of a batch starts at the beginning of a document and holds 512 tokens, the documents that
follow included. When training is over, all weights are rounded to FP16, and the loss reported is that of the rounded model.
"""
import argparse
import contextlib
import json
import math
import multiprocessing
import os
import time

import numpy as np
import torch
import torch.nn.functional as F

import corpus
import model as tales_model
from tokenizer import Tokenizer

PROMPTS = ["Once upon a time, a small fox", "Long ago, in a", "Lily was a",
           "Mira is a kind innkeeper at an inn in Oakvale.<|player|>Do you have a room?<|npc|>",
           "<|player|>Who are you?<|npc|>", "<|player|>Tell me a story about a mouse.<|npc|>"]

_tokenizer = None


def _start_worker(path):
    global _tokenizer
    _tokenizer = Tokenizer(path)


def _encode(documents):
    ids = [_tokenizer.encode(d) for d in documents]
    return np.array([i for d in ids for i in d], np.uint16), np.array([len(d) for d in ids])


def encode_file(path, tokenizer_path):
    """All tokens of the file's documents, and where each document starts."""
    with open(path, encoding="utf-8", newline="\n") as f:
        documents = corpus.split_documents(f.read())
    parts = [documents[i:i + 1000] for i in range(0, len(documents), 1000)]
    with multiprocessing.get_context("fork").Pool(initializer=_start_worker, initargs=(tokenizer_path,)) as pool:
        tokens, lengths = zip(*pool.map(_encode, parts))
    starts = np.concatenate([[0], np.cumsum(np.concatenate(lengths))[:-1]])
    return torch.from_numpy(np.concatenate(tokens).astype(np.int64)), torch.from_numpy(starts)


class Batches:
    """Rows of `length` + 1 tokens from the starts of documents, every document once before any comes again."""

    def __init__(self, tokens, starts, length, batch, seed, device):
        self.tokens = tokens.to(device)
        self.starts = starts[starts + length + 1 <= len(tokens)]
        self.columns = torch.arange(length + 1, device=device)
        self.batch, self.device = batch, device
        self.generator = torch.Generator().manual_seed(seed)
        self.order = torch.empty(0, dtype=torch.long)

    def next(self):
        if len(self.order) < self.batch:
            fresh = torch.randperm(len(self.starts), generator=self.generator)
            self.order = torch.cat((self.order, fresh))
        rows, self.order = self.order[:self.batch], self.order[self.batch:]
        return self.tokens[self.starts[rows].to(self.device)[:, None] + self.columns]


@torch.no_grad()
def heldout_loss(model, tokens, starts, device):
    """Mean loss in nats over every token but the first of each document, each document by itself, at most 512 tokens."""
    length = model.config.max_position_embeddings
    ends = torch.cat((starts[1:], torch.tensor([len(tokens)])))
    order = torch.argsort(ends - starts)
    total, count = 0.0, 0
    for rows in order.split(64):
        documents = [tokens[starts[r]:min(ends[r], starts[r] + length)] for r in rows]
        padded = torch.nn.utils.rnn.pad_sequence(documents, batch_first=True, padding_value=-1).to(device)
        logits = model(padded.clamp(min=0)[:, :-1]).double()
        loss = F.cross_entropy(logits.flatten(0, 1), padded[:, 1:].flatten(), ignore_index=-1, reduction="sum")
        total += float(loss)
        count += int((padded[:, 1:] >= 0).sum())
    return total / count, count


def learning_rate(step, steps, peak):
    warmup = min(300, steps // 10)
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup))))


def optimizer_for(model, lr, fused):
    matrices = [p for n, p in model.named_parameters() if p.dim() == 2 and "embed" not in n]
    others = [p for n, p in model.named_parameters() if p.dim() != 2 or "embed" in n]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=lr, betas=(0.9, 0.95), eps=1e-8, **({"fused": True} if fused else {}))


def train(model, data, heldout, args, device):
    """Returns the number of tokens seen and the held-out loss at each checkpoint."""
    cuda = device == "cuda"
    optimizer = optimizer_for(model, args.lr, cuda)
    autocast = torch.autocast("cuda", torch.bfloat16) if cuda else contextlib.nullcontext()

    def loss_of(batch):
        logits = model(batch[:, :-1])
        return F.cross_entropy(logits.float().flatten(0, 1), batch[:, 1:].flatten())

    compiled = torch.compile(loss_of) if args.compile else loss_of
    batches = Batches(*data, model.config.max_position_embeddings, args.batch, args.seed, device)
    began, history, running = time.time(), [], torch.zeros((), device=device)
    every = max(1, args.steps // 10)
    for step in range(args.steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, args.steps, args.lr)
        model.train()
        with autocast:
            loss = compiled(batches.next())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        running += loss.detach()
        if (step + 1) % every == 0:
            model.eval()
            held, _ = heldout_loss(model, *heldout, device)
            history.append((step + 1, float(running) / every, held))
            running.zero_()
            print("step %d: train %.4f, held out %.4f, %.1f s" % (*history[-1], time.time() - began), flush=True)
        if time.time() - began > args.max_seconds:
            raise SystemExit("step %d: out of time; choose fewer steps" % step)
    return args.steps * args.batch * model.config.max_position_embeddings, history


def show_samples(model, tokenizer, length):
    end_id = tokenizer.specials["<|end|>"]
    for prompt in PROMPTS if length else []:
        ids = tokenizer.encode("<|begin|>" + prompt)
        for temperature, seed in ((0.0, 0), (0.8, 1), (0.8, 2)):
            new, _ = tales_model.generate(model, ids, length, end_id, temperature, seed)
            print("--- temperature %.1f: %s\n    ...%s" % (temperature, prompt, tokenizer.decode(new)), flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("corpus_dir")
    parser.add_argument("hf_dir")
    parser.add_argument("--steps", type=int, default=9000)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-seconds", type=float, default=86400)
    parser.add_argument("--sample-length", type=int, default=300)
    parser.add_argument("--no-compile", dest="compile", action="store_false")
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer_path = os.path.join(args.hf_dir, "tokenizer.json")
    began = time.time()
    data = encode_file(os.path.join(args.corpus_dir, "train.txt"), tokenizer_path)
    heldout = encode_file(os.path.join(args.corpus_dir, "heldout.txt"), tokenizer_path)
    print("%d training tokens, %d held out, read in %.0f s" % (len(data[0]), len(heldout[0]), time.time() - began))
    model = tales_model.Llama(tales_model.Config())
    model.reset(args.seed)
    model = model.to(device)
    seen, history = train(model, data, heldout, args, device)
    model.eval().round_to_half()
    tales_model.save(model, args.hf_dir)
    loss, count = heldout_loss(model, *heldout, device)
    summary = {"parameters": sum(p.numel() for p in model.parameters()), "training_tokens": len(data[0]),
               "tokens_seen": seen, "heldout_tokens": count, "heldout_loss": loss, "heldout_perplexity": math.exp(loss),
               "seconds": round(time.time() - began), "history": history}
    print("summary " + json.dumps(summary))
    show_samples(model, Tokenizer(tokenizer_path), args.sample_length)


if __name__ == "__main__":
    main()
