#!/usr/bin/env python3
"""Computes the golden data of the tales model with PyTorch, in float64, from the FP16 weights in HF_DIR.

usage: golden.py HF_DIR HELDOUT.txt OUT_DIR

Writes OUT_DIR/golden.json, heldout.txt, logits.f32 and tokenization.json; README.md there says what they hold. The
token ids come from the library tokenizers where it is installed, and must equal those of tokenizer.py; the logits must
equal those of the library transformers where it is installed.
"""
import argparse
import json
import math
import os
import sys

import torch
import torch.nn.functional as F

import corpus
import model as tales_model
from tokenizer import SPECIALS, Tokenizer

BEGIN, END = SPECIALS[:2]
HELDOUT_BYTES = 50_000
NEW_TOKENS = 64
MINIMUM_GAP = 0.02

TALE_STARTS = [
    "Once upon a time, a small fox", "Once upon a time, there was a little girl named", "Lily was a",
    "One night, Tom saw a star fall from the sky.", "In the old castle, there lived",
    "Anna and Ben had one apple pie and two empty bellies.",
    "Once upon a time, a clever otter named Poppy lived by the wide river. One day, Poppy woke up and her silver bell was gone.",
    "Rusty the fox wanted to cross a narrow bridge. In the middle he met a stubborn goat named Clover.",
    "Mia was a brave girl who lived in the small village. One evening, Mia decided to build a hut.",
    "One morning, Leo heard a small voice. \"Help! Help!\" It was a tiny mouse named Dottie,",
    "Once, a ghost lived in the old tower. One night, Clara took a lantern and went there.",
    "Once upon a time, a curious fox named Rusty lived in the green forest. He loved to climb trees.\nOne day, Rusty was on the "
    "way to visit Poppy the rabbit. He came to a stone bridge, and under the bridge lived a troll.",
    "Ivy the rabbit was the fastest of all, and she said so every day. One day, Nutmeg the turtle had heard enough.",
    "The people of Oakford were afraid. A dragon had come to the hill, and every night it roared.",
    "Nora found an old map inside a book. \"A treasure map!\" cried Nora,",
    "Old Gregor gave Ella a seed. \"Plant it and wait,\" he said. Ella planted the seed",
    "Max found an old lamp in the attic. When he rubbed it, a voice said,",
]
DIALOGUES = [
    "Mira is a kind innkeeper at an inn in Oakvale.<|player|>Do you have a room?<|npc|>",
    "<|player|>Hello! Who are you?<|npc|>", "<|player|>Tell me a joke.<|npc|>",
    "You meet Tobin, a proud guard, at the gate of Ravenford.<|player|>May I come in?<|npc|>",
    "Ulric is a wizard in a tall tower near Ashdale.<|player|>Can you teach me magic?<|npc|>",
    "This is Nora, a patient healer. You meet her in the temple of Millbrook.<|player|>I am hurt.<|npc|>",
    "Hugo is a dragon in a cave full of gold in the Silent Hill.<|player|>Please do not eat me!<|npc|>",
    "Greta is a shopkeeper in a small shop in Elmford.<|player|>What do you sell?<|npc|>",
    "Otto, a blacksmith, is at the forge of Stonegate.<|player|>What is your name?<|npc|>",
    "<|player|>Tell me a story about a mouse.<|npc|>", "<|player|>How do I get to the Whispering Wood?<|npc|>",
    "Ida is a child by the well of Foxdale.<|player|>Why are you crying?<|npc|>",
    "Rowan is a ranger with you by a small fire.\nPlayer: I am afraid.\nRowan:",
]
LOGIT_PROMPTS = ["Once upon a time, a clever fox named Rusty lived in the green forest. He loved to tell stories every day.",
                 "Mira is an innkeeper at an inn in Oakvale.<|player|>Good evening! Do you have a room?<|npc|>Yes, one last room"]
TEXTS = [
    "", " ", "a", "Hello, world!", "Once upon a time, a small fox lived in the forest.", "  two  spaces   and more    ",
    "line one\nline two\n\nline four\r\nwindows", "\n", "\n\n\n", " \n \n", "tab\tand\t\ttabs ", "I'm sure you'll say we've won, it's true, they'd go, don't",
    "I'M SURE YOU'LL SAY IT'S TRUE", "'s 't 're 've 'm 'll 'd 'x", "1", "12", "123", "1234", "1234567890", "3.14159 and -42, 1,000,000",
    "x1y22z333 v2.0", "(brackets) [and] {braces}", "!!! ??? ... --- ***", "hello...world!!!\n\nnext", "e-mail: someone@example.org",
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich", "Les naïves héroïnes mangent des crêpes à Noël",
    "Съешь же ещё этих мягких французских булок", "日本語のテキスト、テスト。", "한국어 문장입니다", "مرحبا بالعالم", "नमस्ते दुनिया",
    "😀 👩‍👩‍👧 🇩🇪 e\u0301 \u00e9", "\u00a0non\u2003breaking\u3000spaces", "٣٤٥ ²³ ½ Ⅷ", "zero\u200bwidth\ufeff", "<|player|>Who are you?<|npc|>I am Mira.<|end|>",
    "<|begin|>Once<|end|><|pad|>", "not special: <|user|> <|en d|> <|end|", "\x00\x01\x7f control \x85 \u2028",
]


def encode_all(hf_dir, texts):
    """Ids by tokenizer.py, checked against the library tokenizers."""
    path = os.path.join(hf_dir, "tokenizer.json")
    own = Tokenizer(path)
    ids = [own.encode(text) for text in texts]
    try:
        import tokenizers
    except ImportError:
        print("the library tokenizers is not installed: ids are those of tokenizer.py alone")
        return ids
    library = tokenizers.Tokenizer.from_file(path)
    for text, mine in zip(texts, ids):
        theirs = library.encode(text, add_special_tokens=False).ids
        if theirs != mine:
            sys.exit("tokenizer.py and tokenizers %s disagree on %r: %s, %s" % (tokenizers.__version__, text, mine, theirs))
        if library.decode(theirs, skip_special_tokens=False) != text:
            sys.exit("%r does not come back from its ids" % text)
    print("tokenizers %s agrees on %d texts" % (tokenizers.__version__, len(texts)))
    return ids


def check_transformers(hf_dir, ids, logits):
    try:
        from transformers import AutoModelForCausalLM, __version__
    except ImportError:
        print("the library transformers is not installed: logits are those of model.py alone")
        return
    reference = AutoModelForCausalLM.from_pretrained(hf_dir, dtype=torch.float64, attn_implementation="eager").eval()
    with torch.no_grad():
        difference = float((reference(torch.tensor([ids])).logits[0] - logits.cpu()).abs().max())
    print("transformers %s: largest difference of a logit %.3g" % (__version__, difference))
    if difference > 1e-3:  # it computes the rotary angles and the norms in float32
        sys.exit("the logits differ from those of transformers")


def perplexity(model, documents, device):
    """(sum of the losses in nats, positions) of each document; every token but the first counts, <|end|> included."""
    results = []
    for ids in documents:
        tokens = torch.tensor([ids], device=device)
        with torch.no_grad():
            logits = model(tokens[:, :-1])[0]
        results.append((float(F.cross_entropy(logits, tokens[0, 1:], reduction="sum")), len(ids) - 1))
    return results


def continuations(model, tokenizer, prompts, wanted):
    """Greedy continuations that are decided clearly at every token: so many that end by themselves and as many that go on."""
    end, chosen = tokenizer.specials[END], {True: [], False: []}
    for prompt in prompts:
        ids = tokenizer.encode(BEGIN + prompt)
        new, gaps = tales_model.generate(model, ids, NEW_TOKENS, end)
        ended = new[-1] == end
        print("%.4f %s %s" % (min(gaps), "ends" if ended else "goes on", prompt))
        if min(gaps) > MINIMUM_GAP and len(chosen[ended]) < wanted:
            chosen[ended].append({"prompt": prompt, "ids": ids, "new_ids": new, "ends": ended, "min_gap": min(gaps),
                                  "text": tokenizer.decode(new, skip_special=True)})
    if min(map(len, chosen.values())) < wanted:
        sys.exit("too few prompts have clear continuations")
    return chosen[False] + chosen[True]


def take_heldout(path, tokenizer, context):
    """The first documents of the file that fit into the context, up to HELDOUT_BYTES."""
    with open(path, encoding="utf-8", newline="\n") as f:
        documents = corpus.split_documents(f.read())
    taken, size = [], 0
    for text in documents:
        if len(tokenizer.encode(text)) <= context:
            size += len(text.encode()) + 1
            if size > HELDOUT_BYTES:
                break
            taken.append(text)
    return taken


def write_json(path, data):
    with open(path, "w", encoding="utf-8", newline="\n") as f:
        json.dump(data, f, ensure_ascii=True, indent=1)
        f.write("\n")


def logits_of(model, tokenizer, prompts, device, path):
    """Writes the rows of all positions of all prompts; returns the description and the float64 rows."""
    entries, rows, first = [], [], 0
    for prompt in prompts:
        ids = tokenizer.encode(BEGIN + prompt)
        with torch.no_grad():
            rows.append(model(torch.tensor([ids], device=device))[0].cpu())
        entries.append({"prompt": prompt, "ids": ids, "first_row": first, "rows": len(ids)})
        first += len(ids)
    with open(path, "wb") as f:
        f.write(torch.cat(rows).float().numpy().astype("<f4").tobytes())
    return entries, rows


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("hf_dir")
    parser.add_argument("heldout")
    parser.add_argument("out_dir")
    args = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = tales_model.load(args.hf_dir, torch.float64).to(device)
    tokenizer = Tokenizer(os.path.join(args.hf_dir, "tokenizer.json"))
    os.makedirs(args.out_dir, exist_ok=True)

    documents = take_heldout(args.heldout, tokenizer, model.config.max_position_embeddings)
    with open(os.path.join(args.out_dir, "heldout.txt"), "w", encoding="utf-8", newline="\n") as f:
        f.write("".join(text + "\n" for text in documents))
    losses = perplexity(model, encode_all(args.hf_dir, documents), device)
    total, positions = (sum(column) for column in zip(*losses))

    logit_entries, rows = logits_of(model, tokenizer, LOGIT_PROMPTS, device, os.path.join(args.out_dir, "logits.f32"))
    check_transformers(args.hf_dir, logit_entries[0]["ids"], rows[0])
    write_json(os.path.join(args.out_dir, "golden.json"), {
        "torch": torch.__version__, "vocab_size": model.config.vocab_size, "begin_id": tokenizer.specials[BEGIN],
        "end_id": tokenizer.specials[END],
        "heldout": {"file": "heldout.txt", "documents": len(documents), "positions": positions, "sum_nats": total,
                    "mean_nats": total / positions, "perplexity": math.exp(total / positions),
                    "document_nats": [x for x, _ in losses], "document_positions": [n for _, n in losses]},
        "greedy": continuations(model, tokenizer, DIALOGUES + TALE_STARTS, 4),
        "logits": {"file": "logits.f32", "prompts": logit_entries},
    })
    ids = encode_all(args.hf_dir, TEXTS)
    write_json(os.path.join(args.out_dir, "tokenization.json"), [{"text": t, "ids": i} for t, i in zip(TEXTS, ids)])
    print("held out: %d documents, %d positions, perplexity %.6f" % (len(documents), positions, math.exp(total / positions)))


if __name__ == "__main__":
    main()
