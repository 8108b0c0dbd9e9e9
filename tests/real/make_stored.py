#!/usr/bin/env python3
"""Makes tests/real/data: what transformers computes in float32, for check_stored.py. Nothing in it comes from Inlay.

usage: tests/real/make_stored.py [MODELS]     the folder that fetch.py --references fills
"""
import argparse
import hashlib
import json
import pathlib
import sys

import portable_text
from gguf_reader import GgufReader
from real_models import MODELS, default_folder, references_folder
from stored import DATA, N_TOP, RECORD, hash_of

N_PIECES, N_PIECE = 4, 96
N_MIXED = 200_000  # bytes


def stored_texts(texts):
    """What logits are stored for: an English text, prompts, program text, and text of many languages, all of this project."""
    root = pathlib.Path(__file__).parents[2]
    readme = (root / "README.md").read_text(encoding="utf-8")
    languages = " ".join(text for name, text in texts.TEXTS if name.startswith("multilingual"))
    return [readme[:1500], "\n".join(texts.PROMPTS), (root / "examples/c/complete.c").read_text(encoding="utf-8")[:1500], languages]


def records_of(truth, piece):
    rows = truth.logits(piece).double().log_softmax(-1)
    for row, following in zip(rows, [*piece[1:], None]):
        top = row.topk(N_TOP)
        others = row.clone()
        others[top.indices] = -float("inf")
        yield RECORD.pack(*top.indices.tolist(), *top.values.tolist(), float(others.logsumexp(0)), 0.0 if following is None else float(row[following]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("models", nargs="?", type=pathlib.Path, default=default_folder())
    folder = parser.parse_args().models
    sys.path.append(str(references_folder(folder)))
    import tokenizers  # pylint: disable=import-outside-toplevel
    import torch  # pylint: disable=import-outside-toplevel
    import transformers  # pylint: disable=import-outside-toplevel
    import texts  # pylint: disable=import-outside-toplevel
    from reference import Truth, tokenizer_of  # pylint: disable=import-outside-toplevel
    DATA.mkdir(exist_ok=True)
    made = {"made_by": {"transformers": transformers.__version__, "PyTorch": torch.__version__.split("+", maxsplit=1)[0], "tokenizers": tokenizers.__version__}}
    for model in MODELS:
        path = model.path(folder)
        file, tokenizer = GgufReader(path), tokenizer_of(path)
        begin = [file.get("tokenizer.ggml.bos_token_id")] if file.get("tokenizer.ggml.add_bos_token") else []
        parts = stored_texts(texts)
        pieces = [[*begin, *tokenizer.encode(text)][:N_PIECE] for text in parts]
        assert len(pieces) == N_PIECES and all(len(piece) == N_PIECE for piece in pieces), [len(piece) for piece in pieces]
        truth = Truth(path)
        (DATA / f"{model.name}.top").write_bytes(b"".join(record for piece in pieces for record in records_of(truth, piece)))
        mixed = "".join(portable_text.lines(N_MIXED))
        entry = {"file": model.file, "sha256": model.sha256, "pieces": pieces, "texts": [[text, tokenizer.encode(text)] for text in parts],
                 "mixed": {"bytes": N_MIXED, "sha256": hashlib.sha256(mixed.encode()).hexdigest(),
                           "tokens_sha256": hashlib.sha256(json.dumps(tokenizer.encode(mixed)).encode()).hexdigest()}}
        if model.chat:
            chat, messages = tokenizer.for_chats(file.get("tokenizer.chat_template")), []
            for question in texts.CHAT:
                messages += [{"role": "user", "content": question}, {"role": "assistant", "content": question.upper()}]
            entry["chat"] = {"messages": messages[:-1]}
            text = chat.apply_chat_template(messages[:-1], tokenize=False, add_generation_prompt=True)
            # Hashes, since the template adds words of the model's vendor.
            entry["chat"] |= {"text_sha256": hash_of(text), "tokens_sha256": hash_of(chat(text, add_special_tokens=False)["input_ids"])}
        made[model.name] = entry
    (DATA / "index.json").write_text(json.dumps(made, ensure_ascii=False, separators=(",", ":")).replace('"pieces"', '\n"pieces"') + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
