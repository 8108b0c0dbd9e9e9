"""Trains the vocabularies of tests/data/tokenizers, with the standard library alone: the same bytes on every machine."""
import base64
import collections
import heapq
import math
import re
import struct
import unicodedata

import tokenizer_texts  # which finds examples/model
from tokenizer import byte_chars, merged

SIGN = "\u2581"   # what SentencePiece writes for a space
INNER = "\ue000"  # stands before a character that does not begin a word; no text has it
TEXT_WEIGHT = 16


def train_merges(counts, n):
    """The `n` merges of byte pair encoding for sequences of symbols: the most frequent pair first, then the one that sorts first."""
    sequences = sorted(counts)
    weights = [counts[symbols] for symbols in sequences]
    pairs, places = collections.Counter(), collections.defaultdict(set)

    def count(index, sign):
        symbols = sequences[index]
        changed = set()
        for pair in zip(symbols, symbols[1:]):
            pairs[pair] += sign * weights[index]
            places[pair].add(index)
            changed.add(pair)
        return changed

    for index in range(len(sequences)):
        count(index, 1)
    heap = [(-number, pair) for pair, number in pairs.items()]
    heapq.heapify(heap)
    merges = []
    while heap and len(merges) < n:
        number, best = heapq.heappop(heap)
        if pairs[best] != -number:
            continue  # counted anew since: its other entry counts
        if number == 0:
            break
        merges.append(best)
        changed = set()
        for index in sorted(places.pop(best)):
            changed |= count(index, -1)
            sequences[index] = merged(sequences[index], best)
            changed |= count(index, 1)
        for pair in changed - {best}:
            if pairs[pair] > 0:
                heapq.heappush(heap, (-pairs[pair], pair))
        pairs[best] = 0
    return merges


def weighted_lines():
    """Training lines with weights: those of the tales once, the texts to be tried more often."""
    counts = collections.Counter(tokenizer_texts.lines())
    for name, text in tokenizer_texts.TEXTS:
        if not name.startswith("mixture"):
            counts[text] += TEXT_WEIGHT
    return counts


# ---- byte-level BPE

BPE_SPECIALS = [("<s>", 3), ("</s>", 3), ("<|endoftext|>", 3), ("<|im_start|>", 3), ("<|im_end|>", 3), ("<tool>", 4), ("</tool>", 4)]
# Tokens that no merges lead to: a pre-tokenizer may make words that are tokens those tokens at once.
BPE_WHOLE = [" lantern", "ouse", "brown", "12", " mixed", "lined"]


def byte_level(n_merges):
    """Tokens, merges, added tokens. Merges do not stop at words, so that it shows where a pre-tokenizer cuts."""
    chars = byte_chars()
    counts = collections.Counter()
    for text, weight in weighted_lines().items():
        # Pieces of at most 24 bytes, so that no token is a whole line; runs of white space are whole.
        for piece in re.findall(r"\s{24,}|(?s:.){1,24}", text):
            counts[tuple(chars[b] for b in piece.encode())] += weight
    for run, weight in ((" ", 40), ("\n", 12), ("\t", 8)):
        for n in range(2, 20):
            counts[tuple(chars[ord(run)] for _ in range(n))] += weight
    for ending in ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'T", "'RE", "'VE", "'M", "'LL", "'D"):
        counts[tuple(ending)] += 200  # so that it shows where an ending is no word of its own
    for digits in range(100, 1000):
        counts[tuple(str(digits))] += 1
    counts = collections.Counter({symbols: n for symbols, n in counts.items() if len(symbols) > 1})
    whole = {"".join(chars[b] for b in text.encode()) for text in BPE_WHOLE}
    without = whole | {text for text, _ in BPE_SPECIALS}
    merges = [pair for pair in train_merges(counts, n_merges) if "".join(pair) not in without]
    tokens = list(dict.fromkeys(sorted(chars)))
    kept, known = [], set(tokens)
    for left, right in merges:
        if left in known and right in known:  # not what only a token without merges leads to
            kept.append((left, right))
            if left + right not in known:
                known.add(left + right)
                tokens.append(left + right)
    tokens += sorted(whole)
    return tokens, kept, BPE_SPECIALS


# ---- SentencePiece-like BPE

def words_of(text):
    """Words with the sign of a space before them."""
    return [SIGN + word for word in re.findall(r"[^ \0]+", text.replace("\n", " ")) if SIGN not in word]


def word_counts():
    counts = collections.Counter()
    for text, weight in weighted_lines().items():
        for word in words_of(text):
            counts[word] += weight
    return counts


SPM_SPECIALS = [("<unk>", 2), ("<s>", 3), ("</s>", 3)]


def sentence_piece(n_pieces, byte_tokens, phrases=False):
    """Tokens, types, scores. `phrases`: tokens may reach over spaces."""
    tokens, types = [t for t, _ in SPM_SPECIALS], [k for _, k in SPM_SPECIALS]
    scores = [0.0] * len(tokens)
    if byte_tokens:
        tokens += ["<0x%02X>" % b for b in range(256)]
        types += [6] * 256
        scores += [0.0] * 256
    counts = word_counts()
    if phrases:
        counts = collections.Counter()
        for text, weight in weighted_lines().items():
            words = words_of(text)
            for i in range(0, len(words), 3):
                counts["".join(words[i:i + 3])] += weight
    common = collections.Counter()
    for word, n in counts.items():
        for c in word:
            common[c] += n
    common = {c for c, n in common.items() if n >= 6 and (c.isascii() or c == SIGN or n >= 9)}
    allowed = collections.Counter()
    for word, n in counts.items():
        for part in re.findall("[%s]+" % re.escape("".join(sorted(common))), word):
            allowed[tuple(part)] += n
    spaces = [SIGN * n for n in (2, 3, 4, 8, 16)]
    pieces = dict.fromkeys(spaces[:3])
    for pair in train_merges(allowed, n_pieces - len(common) - len(spaces)):
        pieces.setdefault("".join(pair))
    for piece in spaces[3:]:
        pieces.setdefault(piece)
    for c in sorted(common):
        pieces.setdefault(c)
    tokens += list(pieces)
    types += [1] * len(pieces)
    scores += [float(-i) for i in range(len(pieces))]
    tokens += ["<|im_end|>", "<|endoftext|>", "<tool>"]
    types += [3, 3, 4]
    scores += [0.0, 0.0, 0.0]
    return tokens, types, scores


def merges_of(tokens, types, scores):
    """The merges that do what scores do: each split of a token into two is one, the best token first."""
    ids = {t: i for i, t in enumerate(tokens)}
    merges = []
    for text, i in ids.items():
        if types[i] == 1:
            cuts = [(text[:k], text[k:]) for k in range(1, len(text)) if text[:k] in ids and text[k:] in ids]
            merges += [(scores[i], cut) for cut in sorted(cuts, key=lambda cut: (ids[cut[0]], ids[cut[1]]))]
    merges.sort(key=lambda merge: -merge[0])
    return [cut for _, cut in merges]


# ---- Unigram

def best_cuts(word, scores, longest):
    """The most probable tokens of a word."""
    best = [(0.0, 0)] + [(-1e30, 0)] * len(word)
    for end in range(1, len(word) + 1):
        for start in range(max(0, end - longest), end):
            score = scores.get(word[start:end])
            if score is not None and best[start][0] + score > best[end][0]:
                best[end] = (best[start][0] + score, start)
    cuts, end = [], len(word)
    while end > 0:
        start = best[end][1]
        cuts.append(word[start:end])
        end = start
    return cuts[::-1]


def unigram(n_tokens):
    """Tokens and scores: the logarithms of how often the tokens occur where each word is cut as is most probable. As multiples of
    1/1024, so that sums of them are exact and all programs see the same ties."""
    longest = 8
    counts = collections.Counter()
    for word, n in word_counts().items():
        counts[unicodedata.normalize("NFKC", word)] += n
    seeds = collections.Counter()
    for word, n in counts.items():
        for start in range(len(word)):
            for end in range(start + 1, min(len(word), start + longest) + 1):
                seeds[word[start:end]] += n
    letters = {t for t, n in seeds.items() if len(t) == 1 and (n >= 6 or t in (SIGN, "A", "Z"))}
    parts = [t for t in seeds if len(t) > 1 and set(t) <= letters and t not in ("<unk>", "<pad>", "</s>")]
    parts.sort(key=lambda t: (-seeds[t] * len(t), t))
    known = letters | set(parts[:3 * n_tokens])
    used = collections.Counter({t: seeds[t] for t in known})
    words = [word for word in sorted(counts) if set(word) <= letters]
    for size in (2 * n_tokens, n_tokens, n_tokens):
        total = sum(used.values())
        scores = {t: math.log(n / total) for t, n in used.items()}
        now = collections.Counter(dict.fromkeys(letters, 1))
        for word in words:
            for cut in best_cuts(word, scores, longest):
                now[cut] += counts[word]
        keep = sorted((t for t in now if t not in letters), key=lambda t: (-now[t] * len(t), t))[:size - len(letters)]
        used = collections.Counter({t: now[t] for t in keep + sorted(letters)})
    total = sum(used.values())
    tokens = sorted(used, key=lambda t: (-used[t], t))
    return tokens, [round(math.log(used[t] / total) * 1024) / 1024 for t in tokens]


# ---- WordPiece

def word_piece(n_merges):
    """Tokens; those that go on a word begin with ##."""
    counts = collections.Counter()
    for text, weight in weighted_lines().items():
        plain = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(c))
        for word in re.findall(r"[^\W_]+|[^\w\s]|_", plain):
            if INNER not in word and SIGN not in word:
                counts[(word[0], *(INNER + c for c in word[1:]))] += weight
    symbols = collections.Counter()
    for word, n in counts.items():
        for symbol in word:
            symbols[symbol] += n
    common = {s for s, n in symbols.items() if n >= 3}
    kept = collections.Counter({word: n for word, n in counts.items() if set(word) <= common})
    pieces = dict.fromkeys(sorted(common))
    pieces.update(dict.fromkeys("".join(pair) for pair in train_merges(kept, n_merges)))

    def written(piece):
        return ("##" if piece.startswith(INNER) else "") + piece.replace(INNER, "")

    return ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + list(dict.fromkeys(map(written, pieces)))


# ---- the compiled rules of SentencePiece

def charsmap_rules():
    rules = {chr(c): unicodedata.normalize("NFKC", chr(c)) for c in [*range(0xFF01, 0xFF5F), 0x3000, 0xA0, 0xBD, 0x2460, 0x2461, 0xFB01,
                                                                    0xFB03, 0x212B, 0x2126, 0x2167, 0xB2, 0x337F, *range(0xFF66, 0xFF9E)]}
    rules.update({"\t": " ", "\n": " ", "\r": " ", "\r\n": " ", "\u200b": " ", "\x07": "", "\ufeff": ""})
    for letter in "aeiouAEIOUncs":
        for mark in "\u0300\u0301\u0302\u0303\u0308\u0327":
            whole = unicodedata.normalize("NFC", letter + mark)
            if len(whole) == 1:
                rules[letter + mark] = whole
    return rules


def charsmap(rules):
    """A double array in the layout of Darts-clone, before the replacements; each of these ends in a zero byte."""
    texts, offsets = b"", {}
    for new in sorted(set(rules.values())):
        offsets[new] = len(texts)
        texts += new.encode() + b"\0"
    trie = {}
    for old in sorted(rules):
        node = trie
        for byte in old.encode():
            node = node.setdefault(byte, {})
        node[0] = offsets[rules[old]]
    units, taken, bases = {}, {0}, set()

    def place(index, node):
        labels = sorted(node)
        base = 1
        while base in bases or any(base ^ label in taken for label in labels):
            base += 1
        bases.add(base)
        taken.update(base ^ label for label in labels)
        units[index] = units.get(index, 0) | (index ^ base) << 10 | (0x100 if 0 in node else 0)
        for label in labels:
            units[base ^ label] = 1 << 31 | node[0] if label == 0 else label
        for label in labels:
            if label:
                place(base ^ label, node[label])

    place(0, trie)
    size = (max(units) | 255) + 1
    array = struct.pack("<%dI" % size, *(units.get(i, 0) for i in range(size)))
    return base64.b64encode(struct.pack("<I", len(array)) + array + texts).decode()
