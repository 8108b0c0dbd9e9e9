#!/usr/bin/env python3
"""Writes the corpus that the tales model is trained on: small tales and dialogues with characters of a game.

usage: corpus.py --out DIR [--seed SEED] [--bytes N] [--heldout-bytes N] [--jobs N]

Writes DIR/train.txt and DIR/heldout.txt. The text comes from the grammar in grammar/, so it is as free as this repository.
It depends on the seed and the sizes alone: document i of a seed is the same whatever the number of jobs. Each document
begins with <|begin|>, ends with <|end|> and is followed by a newline that does not belong to it. The held-out documents
come from another seed, and none of them occurs in the training text.
"""
import argparse
import functools
import multiprocessing
import os
import sys

from grammar import dialogues, tales
from grammar.expand import Dice

BEGIN, END = "<|begin|>", "<|end|>"
BLOCK = 500  # documents a worker makes at a time


def document(seed, index):
    dice = Dice("%s/%d" % (seed, index))
    x = dice.below(100)
    if x < 45:
        return BEGIN + tales.tale_about(dice)[1] + END
    if x < 55:
        return BEGIN + tales.journey(dice) + END
    if x < 60:
        return BEGIN + tales.short_tale_about(dice)[1] + END
    if x < 92:
        return BEGIN + dialogues.chat(dice)
    if x < 96:
        return BEGIN + dialogues.story_chat(dice)
    return BEGIN + dialogues.script(dice)


def block(seed, number):
    return [document(seed, i) for i in range(number * BLOCK, (number + 1) * BLOCK)]


def split_documents(text):
    """The documents of a corpus file, as written."""
    return [(BEGIN + d).removesuffix("\n") for d in text.split(BEGIN)[1:]]


def generate(seed, size, excluded, jobs):
    """Yields documents until `size` bytes have been reached, none of the excluded ones and none twice."""
    total = 0
    with multiprocessing.Pool(jobs) as pool:
        for documents in pool.imap(functools.partial(block, seed), range(1 << 30)):
            for text in documents:
                if text in excluded:
                    continue
                excluded.add(text)
                total += len(text.encode()) + 1
                if total > size:
                    pool.terminate()
                    return
                yield text


def write_corpus(path, documents):
    """Writes the documents; returns the set of them."""
    seen, size = set(), 0
    with open(path, "w", encoding="utf-8", newline="\n") as out:
        for text in documents:
            out.write(text + "\n")
            seen.add(text)
            size += len(text.encode()) + 1
    print("%s: %d documents, %d bytes" % (path, len(seen), size), file=sys.stderr)
    return seen


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("--seed", default="tales")
    parser.add_argument("--bytes", type=int, default=200_000_000)
    parser.add_argument("--heldout-bytes", type=int, default=1_000_000)
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    train = write_corpus(os.path.join(args.out, "train.txt"), generate(args.seed, args.bytes, set(), args.jobs))
    heldout = generate(args.seed + "-heldout", args.heldout_bytes, train, args.jobs)
    write_corpus(os.path.join(args.out, "heldout.txt"), heldout)


if __name__ == "__main__":
    main()
