#!/usr/bin/env python3
"""Trains the byte-level BPE vocabulary of the tales model, in plain Python, and writes it in the Hugging Face layout.

usage: tokenizer.py CORPUS HF_DIR [--sample BYTES]     trains on the first BYTES of the corpus; writes tokenizer.json
                                                       and tokenizer_config.json

Ids: 0..255 the bytes in the order of their printable stand-ins, then one id for each merge in the order of training,
then the special tokens. Text is cut into words with the pattern of Llama 3 ("llama-bpe" in GGUF files), so a merge never
crosses a word. A word that is in the vocabulary as a whole becomes that token at once, also as in Llama 3.
"""
import argparse
import collections
import functools
import json
import os
import re
import sys
import unicodedata

VOCAB_SIZE = 2048
SPECIALS = ["<|begin|>", "<|end|>", "<|player|>", "<|npc|>", "<|pad|>"]
CONTEXT = 512
# As tokenizer.json states it; \p needs a regex engine with Unicode classes.
PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
           r"|\s*[\r\n]+|\s+(?!\S)|\s+")
# Roles: system (sets the scene), user (the player), assistant (the character).
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{% if message['role'] == 'system' %}{{ message['content'] }}"
    "{% elif message['role'] == 'user' %}{{ '<|player|>' + message['content'] }}"
    "{% else %}{{ '<|npc|>' + message['content'] + '<|end|>' }}{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|npc|>' }}{% endif %}")


def byte_chars():
    """The printable stand-in of each byte, by byte value (the mapping that GPT-2 introduced)."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    stand_in = {b: chr(b) for b in printable}
    stand_in.update({b: chr(256 + i) for i, b in enumerate(others)})
    return [stand_in[b] for b in range(256)]


@functools.lru_cache(maxsize=None)
def _character_class(letter):
    """The inside of a regex character class for \\p{L} or \\p{N}, which the re module lacks."""
    ranges, start = [], None
    for code in range(sys.maxunicode + 2):
        inside = code <= sys.maxunicode and unicodedata.category(chr(code))[0] == letter
        if inside and start is None:
            start = code
        elif not inside and start is not None:
            ranges.append("%s-%s" % (re.escape(chr(start)), re.escape(chr(code - 1))))
            start = None
    return "".join(ranges)


@functools.lru_cache(maxsize=None)
def word_pattern():
    # White space is Unicode's White_Space; Python's \s has four control characters more.
    space = "\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000"
    pattern = PATTERN.replace(r"[^\s\p{L}\p{N}]", "[^%s\\p{L}\\p{N}]" % space)
    pattern = pattern.replace(r"\S", "[^%s]" % space).replace(r"\s", "[%s]" % space)
    pattern = pattern.replace(r"[^\r\n\p{L}\p{N}]", "[^\\r\\n%s%s]" % (_character_class("L"), _character_class("N")))
    pattern = pattern.replace("\\p{L}\\p{N}]", _character_class("L") + _character_class("N") + "]")
    pattern = pattern.replace(r"\p{L}", "[%s]" % _character_class("L"))
    return re.compile(pattern.replace(r"\p{N}", "[%s]" % _character_class("N")))


def _special_pattern():
    return re.compile("(" + "|".join(map(re.escape, SPECIALS)) + ")")


def count_words(text):
    """Counts of the words of the text, special tokens left out; a word is a tuple of byte stand-ins."""
    counts = collections.Counter()
    for part in _special_pattern().split(text):
        if part not in SPECIALS:
            counts.update(word_pattern().findall(part))
    chars = byte_chars()
    return {tuple(chars[b] for b in word.encode()): n for word, n in counts.items()}


def merged(word, pair):
    """The symbols of a tuple, with each place where the pair stands made one symbol."""
    out, i = [], 0
    while i < len(word):
        if word[i:i + 2] == pair:
            out.append(pair[0] + pair[1])
            i += 2
        else:
            out.append(word[i])
            i += 1
    return tuple(out)


def train(word_counts, tokens_wanted):
    """The merges that make so many tokens, the most frequent pair first; among equals the pair that sorts first."""
    words = sorted(word_counts.items())
    pair_counts, places = collections.Counter(), collections.defaultdict(set)
    for index, (word, count) in enumerate(words):
        for pair in zip(word, word[1:]):
            pair_counts[pair] += count
            places[pair].add(index)
    merges, tokens = [], set()  # two pairs may make the same token
    while len(tokens) < tokens_wanted and pair_counts:
        best = min(pair_counts, key=lambda p: (-pair_counts[p], p))
        if pair_counts[best] < 1:
            break
        merges.append(best)
        tokens.add("".join(best))
        for index in places.pop(best):
            word, count = words[index]
            for pair in zip(word, word[1:]):
                pair_counts[pair] -= count
            word = merged(word, best)
            words[index] = (word, count)
            for pair in zip(word, word[1:]):
                pair_counts[pair] += count
                places[pair].add(index)
        del pair_counts[best]
    return merges


class Tokenizer:
    """Encodes and decodes with a vocabulary written by this program."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            data = json.load(f)
        self.ids = dict(data["model"]["vocab"])
        self.ranks = {tuple(pair): i for i, pair in enumerate(data["model"]["merges"])}
        self.specials = {t["content"]: t["id"] for t in data["added_tokens"]}
        self.texts = {i: t for t, i in {**self.ids, **self.specials}.items()}
        self._chars = byte_chars()
        self._bytes = {c: b for b, c in enumerate(self._chars)}
        self._cache = {}

    def _encode_word(self, text):
        word = tuple(self._chars[b] for b in text.encode())
        if "".join(word) in self.ids:
            return [self.ids["".join(word)]]
        while len(word) > 1:
            pair = min(zip(word, word[1:]), key=lambda p: self.ranks.get(p, 1 << 30))
            if pair not in self.ranks:
                break
            word = merged(word, pair)
        return [self.ids[piece] for piece in word]

    def encode(self, text):
        """Ids of the text, special tokens parsed, none added."""
        out = []
        for part in _special_pattern().split(text):
            if part in self.specials:
                out.append(self.specials[part])
                continue
            for word in word_pattern().findall(part):
                if word not in self._cache:
                    self._cache[word] = self._encode_word(word)
                out += self._cache[word]
        return out

    def decode(self, ids, skip_special=False):
        """The text of the ids; bytes that are not valid UTF-8 become U+FFFD."""
        out = b""
        for i in ids:
            text = self.texts[i]
            if text in self.specials:
                out += b"" if skip_special else text.encode()
            else:
                out += bytes(self._bytes[c] for c in text)
        return out.decode("utf-8", "replace")


def tokenizer_json(merges):
    vocab = {c: i for i, c in enumerate(sorted(byte_chars()))}
    for pair in merges:
        vocab.setdefault("".join(pair), len(vocab))
    first = len(vocab)
    added = [{"id": first + i, "content": t, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
              "special": True} for i, t in enumerate(SPECIALS)]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    begin = {"SpecialToken": {"id": SPECIALS[0], "type_id": 0}}
    text = [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}]
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": PATTERN}, "behavior": "Isolated", "invert": False}, byte_level]},
        "post_processor": {"type": "TemplateProcessing", "single": [begin, text[0]],
                           "pair": [begin, text[0], {"SpecialToken": {"id": SPECIALS[0], "type_id": 1}}, text[1]],
                           "special_tokens": {SPECIALS[0]: {"id": SPECIALS[0], "ids": [first], "tokens": [SPECIALS[0]]}}},
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": True,
                  "vocab": vocab, "merges": [list(pair) for pair in merges]},
    }


def tokenizer_config():
    return {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": SPECIALS[0], "eos_token": SPECIALS[1],
            "pad_token": SPECIALS[4], "add_bos_token": True, "add_eos_token": False, "model_max_length": CONTEXT,
            "clean_up_tokenization_spaces": False, "model_input_names": ["input_ids", "attention_mask"],
            "chat_template": CHAT_TEMPLATE}


def write_json(path, data):
    with open(path, "w", encoding="utf-8", newline="\n") as f:
        json.dump(data, f, ensure_ascii=False, indent=1)
        f.write("\n")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("  ")[0])
    parser.add_argument("corpus")
    parser.add_argument("hf_dir")
    parser.add_argument("--sample", type=int, default=20_000_000)
    args = parser.parse_args()
    with open(args.corpus, encoding="utf-8", newline="\n") as f:
        text = f.read(args.sample)
    merges = train(count_words(text), VOCAB_SIZE - 256 - len(SPECIALS))
    data = tokenizer_json(merges)
    size = len(data["model"]["vocab"]) + len(SPECIALS)
    if size != VOCAB_SIZE:
        sys.exit("%s: the text is enough for %d tokens only" % (args.corpus, size))
    os.makedirs(args.hf_dir, exist_ok=True)
    path = os.path.join(args.hf_dir, "tokenizer.json")
    write_json(path, data)
    write_json(os.path.join(args.hf_dir, "tokenizer_config.json"), tokenizer_config())
    tokenizer = Tokenizer(path)
    ids = tokenizer.encode(text[:1_000_000])
    if tokenizer.decode(ids) != text[:1_000_000]:
        sys.exit(path + ": the text does not come back as it was")
    print("%s: %d tokens, %.2f bytes of text per token" % (path, VOCAB_SIZE, 1_000_000 / len(ids)), file=sys.stderr)


if __name__ == "__main__":
    main()
