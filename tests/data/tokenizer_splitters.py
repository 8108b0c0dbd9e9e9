"""The pre-tokenizers that GGUF files name in tokenizer.ggml.pre, as a tokenizer.json states them.

SPLITTERS: one row for each that cuts differently or has other flags: the names, then the patterns, each of which cuts what the one
before left, in the syntax of Oniguruma; None where only libllama knows the rules. The texts of tokenizer_texts.py tell the rows
apart.
"""
CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
WORDS = r"[^\r\n\p{L}\p{N}]?\p{L}+"
SIGNS = r" ?[^\s\p{L}\p{N}]+[\r\n]*"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
ASCII_SIGNS = r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]"""
KANA_AND_HAN = "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
EAST_ASIAN = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
SENTENCE = r" ?[^(\s|.,!?…。，、।۔،)]+"


def rules(*parts):
    return "|".join(parts)


def cased(tail, digits, signs=r" ?[^\s\p{L}\p{N}]+[\r\n/]*", upper=UPPER, lower=LOWER, before=r"[^\r\n\p{L}\p{N}]?"):
    return rules(before + upper + "*" + lower + "+" + tail, before + upper + "+" + lower + "*" + tail, digits, signs, SPACES)


def sign_words(*rest):
    return rules(ASCII_SIGNS + "[A-Za-z]+", r"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+", *rest)


NOT_HAN_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]"
NOT_HAN_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]"
SPACE_RUNS = rules(*(r"\s{%d}(?!\S)" % n for n in (512, 256, 128, 64, 32, 16, 8, 4)))

SPLITTERS = [
    ("gpt-2 phi-2 mpt olmo jais jina-es jina-de jina-v2-es jina-v2-de gigachat a.x-4.0 mellum trillion granite-docling exaone4 "
     "modern-bert jina-v1-en jina-v2-code roberta-bpe", [GPT2]),
    ("llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano",
     [rules(CONTRACTION, WORDS, r"\p{N}{1,3}", SIGNS, SPACES)], "whole_words_first", "adds_bos"),
    ("dbrx smaug-bpe glm4 chatglm-bpe", [rules(CONTRACTION, WORDS, r"\p{N}{1,3}", SIGNS, SPACES)]),
    ("qwen2 deepseek-r1-qwen stablelm2 megrez hunyuan kormo grok-2 solar-open f2llmv2",
     [rules(CONTRACTION, WORDS, r"\p{N}", SIGNS, SPACES)]),
    ("qwen35", [rules(CONTRACTION, r"[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+", r"\p{N}", r" ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*", SPACES)]),
    ("starcoder refact command-r smollm codeshell exaone minerva-7b mellum2", [r"\p{N}", GPT2]),
    ("deepseek-llm", None),
    ("deepseek-coder", [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", EAST_ASIAN, r"\p{N}"]),
    ("deepseek-v3 hunyuan-dense joyai-llm hy_v4", [r"\p{N}{1,3}", KANA_AND_HAN, sign_words(r" ?[\p{P}\p{S}]+[\r\n]*", SPACES)]),
    ("spark2_5", [r"\p{N}{1,3}", KANA_AND_HAN, sign_words(r" ?[\p{P}\p{S}]+", r"[\r\n]", r"\s+(?!\S)", r"\s+"), r"\p{N}"]),
    ("youtu", [rules("[\uac00-\ud7a3\u3131-\u318e]+", "[！…“”‘’—：；，\u3001-\u303f\ufe30-\ufe4f]+", "[\u3105-\u312f]+", KANA_AND_HAN),
               cased(CONTRACTION + "?", r"\p{N}")], "whole_words_first"),
    ("falcon", [r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"]),
    ("default", [r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"]),
    ("tekken", [cased("", r"\p{N}")], "whole_words_first", "adds_bos"),
    ("gpt-4o llama4 kanana2 talkie minimax-m2", [cased(CONTRACTION + "?", r"\p{N}{1,3}")]),
    ("granite-embed-multi-97m", [cased(CONTRACTION + "?", r"\p{N}{1,3}")], "whole_words_first"),
    ("tiny_aya cohere2moe", [r"\d{1,3}(?=(?:\d{3})*\b)", cased(CONTRACTION + "?", r"\p{N}{1,3}")]),
    ("kimi-k2", [r"\p{Han}+|" + cased(CONTRACTION + "?", r"\p{N}{1,3}", SIGNS, NOT_HAN_UPPER, NOT_HAN_LOWER)]),
    ("superbpe", [r"\p{N}+", r"(?=(\d{3})+(?!\d))"]),
    ("bailingmoe bailingmoe2 llada-moe",
     [rules("'(?i:[sdmt]|ll|ve|re)", WORDS, r"\p{N}", SIGNS, r"\s*[\r\n]", r"\s+(?!\S)", r"\s+")]),
    ("seed-coder", [rules(CONTRACTION, WORDS, r"\p{N}", r" ?[^\s\p{L}\p{N}\r\n]+", SPACES)]),
    ("ufakzeka", [rules(WORDS, r"\p{N}", SIGNS, SPACES)]),
    ("afmoe", [r"\p{N}{1,3}(?=(?:\p{N}{3})*(?:\P{N}|$))",
               "[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u3040-\u309f\u30a0-\u30ff\uff65-\uff9f\u2f00-\u2fdf\u0e40-\u0e7f\u0e80-\u0eff"
               "\u1780-\u17ff\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff\uac00-\ud7af\u1100-\u11ff]+",
               sign_words(r" ?[\p{P}\p{S}]+[\r\n]*", SPACES)]),
    ("laguna", [r"[^\n]+|[\n]+", rules(CONTRACTION, WORDS, r"\p{N}", SIGNS, SPACES)]),
    ("exaone-moe", [rules(CONTRACTION, r"[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+", r"\p{N}",
                          r" ?[^\s\p{L}\p{N}]+[\r\n/]?", r"\s*[\r\n]", r"\s+(?!\S)", r"\s+")]),
    ("minicpm5", [r"\p{N}{1,3}", rules(CONTRACTION, WORDS, r"\p{N}+", SIGNS, SPACES)], "whole_words_first"),
    ("jais-2", [rules(CONTRACTION, WORDS, r"\p{N}{1,3}", SIGNS, r"\s*[\r\n]+", SPACE_RUNS, r"\s{1,2}(?!\S)", r"\s")]),
    ("chameleon", ["<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", r"[\t\n]|    |  ", r"\p{N}",
                   r"[\p{P}!-/:-@\[-`{-~]", GPT2], "adds_bos"),
    ("poro-chat bloom gpt3-finnish", [SENTENCE]),
    ("viking", [SENTENCE, r"\p{N}"]),
]


def pre_tokenizer(patterns):
    """The pre_tokenizer of a tokenizer.json that cuts so."""
    steps = [{"type": "Split", "pattern": {"Regex": p}, "behavior": "Isolated", "invert": False} for p in patterns]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    return {"type": "Sequence", "pretokenizers": steps + [byte_level]}
