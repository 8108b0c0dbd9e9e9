#!/usr/bin/env python3
"""Makes tests/data/tokenizers: small vocabularies of every tokenizer model, and what other programs make of texts with them.

usage: make_tokenizers.py OUT                  everything; asks the programs that tokenizer_references.py names
       make_tokenizers.py --vocabularies OUT   the vocabularies and the texts alone, with the standard library

The vocabularies are trained on text of this project, under fixed seeds: each run writes the same bytes.
"""
import argparse
import base64
import hashlib
import json
import os
import struct
import tempfile

import tokenizer_references
import tokenizer_splitters
import tokenizer_training as training
from tokenizer_references import JS, LIBLLAMA, RUST
from tokenizer_texts import INVALID, TEXTS

BASE_SPLITTER = "llama-bpe"  # of bpe.gguf and bpe.tokenizer.json as they are
EXAMPLE = "Hello world"


# ---- files

def gguf_string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def gguf(values):
    """A GGUF without tensors. A value is a string, bool, int, float, or (element type, list)."""
    def encoded(value):
        if isinstance(value, str):
            return struct.pack("<I", 8) + gguf_string(value)
        if isinstance(value, bool):
            return struct.pack("<IB", 7, value)
        if isinstance(value, int):
            return struct.pack("<II", 4, value)
        if isinstance(value, float):
            return struct.pack("<If", 6, value)
        kind, items = value
        code, form = {"texts": (8, ""), "i32": (5, "i"), "f32": (6, "f"), "u8": (0, "B")}[kind]
        data = b"".join(map(gguf_string, items)) if kind == "texts" else struct.pack("<%d%s" % (len(items), form), *items)
        return struct.pack("<IIQ", 9, code, len(items)) + data

    llama = {"block_count": 1, "context_length": 128, "embedding_length": 64, "feed_forward_length": 64, "attention.head_count": 1,
             "attention.layer_norm_rms_epsilon": 1e-5}
    values = {"general.architecture": "llama", **{"llama." + k: v for k, v in llama.items()}, **values}
    data = b"GGUF" + struct.pack("<IQQ", 3, 0, len(values))
    data += b"".join(gguf_string(key) + encoded(value) for key, value in values.items())
    return data + bytes(-len(data) % 32)


def gguf_values(model, tokens, types, **others):
    keys = {"model": model, "tokens": ("texts", tokens), "token_type": ("i32", types), **others}
    return {"tokenizer.ggml." + key: value for key, value in keys.items()}


def added(tokens, types, kinds=(2, 3, 4), start=0):
    return [{"id": start + i, "content": t, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
             "special": k != 4} for i, (t, k) in enumerate(zip(tokens, types)) if k in kinds]


def template(before, after, ids):
    parts = [{"SpecialToken": {"id": t, "type_id": 0}} for t in before] + [{"Sequence": {"id": "A", "type_id": 0}}]
    parts += [{"SpecialToken": {"id": t, "type_id": 0}} for t in after]
    special = {t: {"id": t, "ids": [ids[t]], "tokens": [t]} for t in [*before, *after]}
    return {"type": "TemplateProcessing", "single": parts, "pair": [*parts, {"Sequence": {"id": "B", "type_id": 0}}],
            "special_tokens": special}


def tokenizer_json(model, added_tokens, normalizer, pre_tokenizer, post_processor, decoder):
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added_tokens, "normalizer": normalizer,
            "pre_tokenizer": pre_tokenizer, "post_processor": post_processor, "decoder": decoder, "model": model}


def bpe_model(vocab, merges, **options):
    return {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
            "fuse_unk": False, "byte_fallback": False, "ignore_merges": False, **options, "vocab": vocab, "merges": merges}


def sequence(kind, *steps):
    return {"type": "Sequence", kind: list(steps)}


def replace(old, new):
    return {"type": "Replace", "pattern": old if isinstance(old, dict) else {"String": old}, "content": new}


SIGN = training.SIGN
STRIP = {"type": "Strip", "strip_left": True, "strip_right": True}
METASPACE = {"type": "Metaspace", "replacement": SIGN, "prepend_scheme": "always", "split": True}


def splitter(name):
    return next(row for row in tokenizer_splitters.SPLITTERS if row[0].split()[0] == name)


def byte_level_files():
    tokens, merges, specials = training.byte_level(1800)
    n = len(tokens)
    texts, types = tokens + [t for t, _ in specials], [1] * n + [k for _, k in specials]
    ids = {t: i for i, t in enumerate(texts)}
    row = splitter(BASE_SPLITTER)
    model = bpe_model({t: i for i, t in enumerate(tokens)}, [list(m) for m in merges], ignore_merges="whole_words_first" in row)
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    file = tokenizer_json(model, added([t for t, _ in specials], [k for _, k in specials], start=n), None,
                          tokenizer_splitters.pre_tokenizer(row[1]), template(["<s>"], [], ids), byte_level)
    return {
        "bpe.gguf": gguf_values("gpt2", texts, types, pre=BASE_SPLITTER, merges=("texts", [" ".join(m) for m in merges]),
                                    bos_token_id=ids["<s>"], eos_token_id=ids["<|im_end|>"]),
        "bpe.tokenizer.json": file,
        "bpe.tokenizer_config.json": {"bos_token": "<s>", "eos_token": "<|im_end|>", "add_bos_token": True}}


def sentence_piece_files(name, byte_tokens):
    tokens, types, scores = training.sentence_piece(1000 if byte_tokens else 600, byte_tokens, phrases=not byte_tokens)
    ids = {t: i for i, t in enumerate(tokens)}
    merges = [list(m) for m in training.merges_of(tokens, types, scores)]
    model = bpe_model(ids, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=byte_tokens)
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    fallback = [{"type": "ByteFallback"}] if byte_tokens else []
    file = tokenizer_json(model, added(tokens, types), sequence("normalizers", {"type": "Prepend", "prepend": SIGN}, replace(" ", SIGN)),
                          None, template(["<s>"], [], ids),
                          sequence("decoders", replace(SIGN, " "), *fallback, {"type": "Fuse"}, strip))
    return {
        name + ".gguf": gguf_values("llama", tokens, types, pre="default", scores=("f32", scores), bos_token_id=1, eos_token_id=2,
                                        unknown_token_id=0),
        name + ".tokenizer.json": file,
        name + ".tokenizer_config.json": {"bos_token": "<s>", "eos_token": {"content": "</s>"}, "add_bos_token": True}}


def unigram_files():
    parts, scores = training.unigram(900)
    tokens, types = ["<unk>", "</s>", "<pad>", *parts], [2, 3, 3] + [1] * len(parts)
    scores = [0.0, 0.0, 0.0, *scores]
    charsmap = training.charsmap(training.charsmap_rules())
    ids = {t: i for i, t in enumerate(tokens)}
    normalizer = sequence("normalizers", {"type": "Precompiled", "precompiled_charsmap": charsmap},
                          STRIP, replace({"Regex": " {2,}"}, " "))
    model = {"type": "Unigram", "unk_id": 0, "byte_fallback": False, "vocab": [list(pair) for pair in zip(tokens, scores)]}
    file = tokenizer_json(model, added(tokens, types), normalizer, METASPACE, template([], ["</s>"], ids), METASPACE)
    return {
        "unigram.gguf": gguf_values("t5", tokens, types, pre="default", scores=("f32", scores), eos_token_id=1, unknown_token_id=0,
                                        padding_token_id=2, add_bos_token=False, add_eos_token=True, remove_extra_whitespaces=True,
                                        precompiled_charsmap=("u8", list(base64.b64decode(charsmap)))),
        "unigram.tokenizer.json": file,
        "unigram.tokenizer_config.json": {"eos_token": "</s>"}}


def word_piece_files():
    tokens = training.word_piece(700)
    types = [3, 2, 3, 3, 3] + [1] * (len(tokens) - 5)
    ids = {t: i for i, t in enumerate(tokens)}
    normalizer = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": True, "lowercase": True}
    model = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
             "vocab": ids}
    file = tokenizer_json(model, added(tokens, types), normalizer, {"type": "BertPreTokenizer"}, template(["[CLS]"], ["[SEP]"], ids),
                          {"type": "WordPiece", "prefix": "##", "cleanup": False})
    written = [t if i < 5 else t[2:] if t.startswith("##") else SIGN + t for i, t in enumerate(tokens)]
    return {
        "wordpiece.gguf": gguf_values("bert", written, types, pre="default", token_type_count=2, bos_token_id=2, eos_token_id=3,
                                          unknown_token_id=1, cls_token_id=2, seperator_token_id=3, padding_token_id=0,
                                          mask_token_id=4),
        "wordpiece.tokenizer.json": file,
        "wordpiece.tokenizer_config.json": {"bos_token": "[CLS]", "eos_token": "[SEP]"}}


def texts_of():
    """All texts: those in bytes that are not UTF-8 have U+FFFD for each part that is ill-formed as far as it can be told."""
    rows = [{"id": name, "text": text} for name, text in TEXTS]
    return rows + [{"id": name, "b64": base64.b64encode(data).decode(), "text": data.decode("utf-8", "replace")} for name, data in INVALID]


def dump(value):
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def write_vocabularies(out):
    """Writes the vocabularies and the texts into the folder; returns by file name what is in JSON files and the keys of GGUF files."""
    files = {**byte_level_files(), **sentence_piece_files("spm", True), **sentence_piece_files("spm-plain", False), **unigram_files(),
             **word_piece_files()}
    os.makedirs(out, exist_ok=True)
    for name, content in files.items():
        with open(os.path.join(out, name), "wb") as f:
            f.write(gguf(content) if name.endswith(".gguf") else (dump(content) + "\n").encode())
    write_lines(os.path.join(out, "texts.jsonl"), texts_of())
    return files


def write_lines(path, rows):
    with open(path, "w", encoding="ascii", newline="\n") as f:
        f.writelines(dump(row) + "\n" for row in rows)


# ---- what is tried

def normalizers(charsmap):
    bert = {"type": "BertNormalizer", "clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False}
    out = {form: {"type": form} for form in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents")}
    out.update({
        "NFD-StripAccents": sequence("normalizers", {"type": "NFD"}, {"type": "StripAccents"}),
        "Replace": replace(" the", "_"), "Replace-Regex": replace({"Regex": r"[0-9]+|\s{2,}"}, "#"),
        "Prepend": {"type": "Prepend", "prepend": "the "},
        "Strip": STRIP,
        "Strip-left": {"type": "Strip", "strip_left": True, "strip_right": False},
        "Strip-right": {"type": "Strip", "strip_left": False, "strip_right": True},
        "Precompiled": {"type": "Precompiled", "precompiled_charsmap": charsmap},
        "Bert-clean": {**bert, "clean_text": True}, "Bert-chinese": {**bert, "handle_chinese_chars": True},
        "Bert-accents": {**bert, "strip_accents": True}, "Bert-lowercase": {**bert, "lowercase": True},
        "Bert": {**bert, "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
        "NFKC-Lowercase-Strip": sequence("normalizers", {"type": "NFKC"}, {"type": "Lowercase"}, STRIP)})
    return out


def entries(files):
    """What is tried: a vocabulary, what is set in it, the tokenizer.json that the Rust library is asked with (None: libllama alone),
    and which program's ids are expected where the two disagree."""
    bpe = files["bpe.tokenizer.json"]
    out = []
    for row in tokenizer_splitters.SPLITTERS:
        name, *also = row[0].split()
        twin = None
        if row[1] is not None:
            twin = {**bpe, "pre_tokenizer": tokenizer_splitters.pre_tokenizer(row[1]),
                    "model": {**bpe["model"], "ignore_merges": "whole_words_first" in row}}
        out.append({"name": name, "also": also, "file": "bpe.gguf", "set": {"tokenizer.ggml.pre": name}, "twin": twin,
                    "right": "tokenizers" if twin else "libllama"})
    out.append({"name": "bpe-json", "file": "bpe.tokenizer.json", "set": {}, "twin": bpe, "right": "tokenizers"})
    charsmap = files["unigram.tokenizer.json"]["normalizer"]["normalizers"][0]["precompiled_charsmap"]
    for name, normalizer in normalizers(charsmap).items():
        out.append({"name": name, "file": "bpe.tokenizer.json", "set": {"normalizer": normalizer}, "twin": {**bpe, "normalizer": normalizer},
                    "right": "tokenizers"})
    for name in ("spm", "spm-plain", "unigram", "wordpiece"):
        twin = files[name + ".tokenizer.json"]
        out.append({"name": name, "file": name + ".gguf", "set": {}, "twin": twin, "right": "tokenizers"})
        out.append({"name": name + "-json", "file": name + ".tokenizer.json", "set": {}, "twin": twin, "right": "tokenizers"})
    spm = files["spm.tokenizer.json"]
    unprefixed = {**spm, "normalizer": replace(" ", SIGN), "decoder": sequence("decoders", *spm["decoder"]["decoders"][:-1])}
    # Phi-3: the added tokens take the white space after them, but for three.
    greedy = [{**t, "rstrip": t["content"] not in ("<unk>", "<s>", "<|endoftext|>")} for t in spm["added_tokens"]]
    for name, change, twin in (
            ("no-space-prefix", {"tokenizer.ggml.add_space_prefix": False}, unprefixed),
            ("phi-3", {"general.name": "Phi-3 mini"}, {**spm, "added_tokens": greedy}),
            ("adds-eos", {"tokenizer.ggml.add_bos_token": False, "tokenizer.ggml.add_eos_token": True}, spm)):
        out.append({"name": name, "file": "spm.gguf", "set": change, "twin": twin, "right": "tokenizers"})
    return out


# ---- what the other programs make of the texts

def without_specials(tokenizer):
    """The same tokenizer when special tokens in a text are text: no text has their names."""
    special = {t["content"] for t in tokenizer["added_tokens"] if t["special"]}
    model = dict(tokenizer["model"])
    if model["type"] == "Unigram":
        model["vocab"] = [["\ue001" + t if t in special else t, s] for t, s in model["vocab"]]
    else:  # what else is added keeps its ids
        model["vocab"] = {**model["vocab"], **{t["content"]: t["id"] for t in tokenizer["added_tokens"] if not t["special"]}}
    return {**tokenizer, "model": model, "post_processor": None,
            "added_tokens": [t for t in tokenizer["added_tokens"] if not t["special"]]}


def checked(answers):
    for answer in answers:
        if "error" in answer:
            raise SystemExit("tokenizers: " + answer["error"])
    return answers


def ask_libllama(values, path, texts):
    """For each text ids, ids without special tokens parsed, the text of the ids; and facts of the vocabulary."""
    with open(path, "wb") as f:
        f.write(gguf(values))
    vocabulary = tokenizer_references.libllama_vocabulary(path)
    pieces = [vocabulary.piece(i) for i in range(vocabulary.n)]
    rows = []
    for text in texts:
        ids = vocabulary.encode(text)
        # libllama drops spaces before punctuation from texts of byte-level ids: there the pieces one after the other count.
        whole = b"".join(pieces[i] for i in ids) if values["tokenizer.ggml.model"] == "gpt2" else vocabulary.decode(ids)
        rows.append({"ids": ids, "plain": vocabulary.encode(text, parse_special=False), "decoded": whole.decode("utf-8", "replace")})
    digest = hashlib.sha256(b"".join(struct.pack("<I", len(p)) + p for p in pieces)).hexdigest()
    example = vocabulary.encode(EXAMPLE, add_special=True)
    facts = {"n_tokens": vocabulary.n, "bos": vocabulary.bos, "eos": vocabulary.eos, "adds_bos": example[0] == vocabulary.bos,
             "adds_eos": example[-1] == vocabulary.eos, "control_ids": vocabulary.controls, "eog_ids": vocabulary.ends,
             "example": {"text": EXAMPLE, "ids": example}}
    if values["tokenizer.ggml.model"] != "bert":  # there libllama leaves out spaces that belong to the tokens
        facts["pieces_sha256"] = digest
    vocabulary.close()
    return rows, facts


def result(right, others):
    """What is expected of one text; `alt` has the ids of programs that disagree."""
    out = {"ids": right["ids"]}
    if right["plain"] != right["ids"]:
        out["ids_plain"] = right["plain"]
    if right["decoded"] != right["text"]:
        out["decoded"] = right["decoded"]
    if right.get("skipped", right["decoded"]) != right["decoded"]:
        out["decoded_skip_special"] = right["skipped"]
    alt = {name: row["ids"] for name, row in others.items() if row["ids"] != right["ids"]}
    if alt:
        out["alt"] = alt
    return out


def ask(entry, files, answers, path, texts):
    """The entry's lines and its part of the index."""
    is_gguf = entry["file"].endswith(".gguf")
    stem = entry["file"].removesuffix(".gguf").removesuffix(".tokenizer.json")
    index = {key: entry[key] for key in ("name", "also", "file", "set") if key in entry}
    index["results"] = "bpe-%s.results.jsonl" % ("gguf" if is_gguf else "json") if stem == "bpe" else stem + ".results.jsonl"
    programs = {}
    if is_gguf:
        # libllama ends the process where a character has neither token nor bytes.
        asked = [] if entry["name"] == "spm-plain" else texts
        rows, facts = ask_libllama({**files[entry["file"]], **entry["set"]}, path, asked)
        index.update(facts)
        if rows:
            programs["libllama"] = rows
        for name in entry.get("also", []):
            same = ask_libllama({**files[entry["file"]], "tokenizer.ggml.pre": name}, path, texts)
            if same != (rows, facts):
                raise SystemExit("libllama: %s is not as %s" % (name, entry["name"]))
    if entry["twin"]:
        one, plain = answers
        rust = checked(one["rust"])
        for row, other in zip(rust, checked(plain["rust"])):
            row["plain"] = other["ids"]
        programs["tokenizers"] = rust
        if not is_gguf:
            programs["hf-js"] = one["js"]
            example = rust[-1]
            index["example"] = {"text": EXAMPLE, "ids": example["special"]}
    lines = []
    for i, text in enumerate(texts):
        # GGUF files are in use with contractions that ignore case in ASCII only: U+017F is no s, as libllama has it.
        right = "libllama" if is_gguf and "also" in entry and "\u017f" in text else entry["right"]
        others = {name: rows[i] for name, rows in programs.items() if name != right and "error" not in rows[i]}
        lines.append(result({**programs[right][i], "text": text}, others))
    names = {"libllama": LIBLLAMA, "tokenizers": RUST, "hf-js": JS}
    index["reference"] = names[entry["right"]]
    for name in (name for name in programs if name != entry["right"]):
        n = sum(row.get("ids") != expected["ids"] for row, expected in zip(programs[name], programs[entry["right"]]))
        index.setdefault("also_asked", []).append({"program": names[name], "other_ids": n, "of": len(lines)})
    return lines, index


def merged(lines_by_name):
    """One line for a text: what most entries give under "*", what others give under their names."""
    out = []
    for i in range(len(next(iter(lines_by_name.values())))):
        groups = {}
        for name, lines in lines_by_name.items():
            groups.setdefault(dump(lines[i]), []).append(name)
        most = max(groups.values(), key=len)
        out.append({"*" if names == most else " ".join(names): json.loads(line) for line, names in
                    sorted(groups.items(), key=lambda group: group[1] != most)})
    return out


def write_results(out, files):
    texts = [row["text"] for row in texts_of()]
    listed = entries(files)
    jobs = []
    for entry in listed:
        if entry["twin"]:
            config = files.get(entry["file"].replace(".json", "_config.json"), {}) if entry["file"].endswith(".json") else {}
            jobs += [(entry["twin"], config, texts + [EXAMPLE]), (without_specials(entry["twin"]), config, texts)]
    answers = iter(tokenizer_references.hugging_face(jobs))
    index, results = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for entry in listed:
            answer = (next(answers), next(answers)) if entry["twin"] else None
            lines, about = ask(entry, files, answer, os.path.join(folder, "vocabulary.gguf"), texts)
            index.append(about)
            results.setdefault(about["results"], {})[entry["name"]] = lines
    for file, lines_by_name in results.items():
        write_lines(os.path.join(out, file), merged(lines_by_name))
    with open(os.path.join(out, "index.json"), "w", encoding="ascii", newline="\n") as f:
        f.write('{"texts":"texts.jsonl","n_texts":%d,"vocabularies":[\n%s\n]}\n' % (len(texts), ",\n".join(map(dump, index))))


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--vocabularies", action="store_true")
    parser.add_argument("out")
    arguments = parser.parse_args()
    files = write_vocabularies(arguments.out)
    if not arguments.vocabularies:
        write_results(arguments.out, files)


if __name__ == "__main__":
    main()
