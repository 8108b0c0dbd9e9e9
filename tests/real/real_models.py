"""The real models that tests/real runs, where they are, and how far from the truth each device may be. Needs nothing but Python."""
import dataclasses
import math
import os
import pathlib
import sys


def default_folder():
    """The folder of the models: INLAY_REAL_MODELS, or one in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(os.environ.get("INLAY_REAL_MODELS") or pathlib.Path(cache) / "inlay" / "real")


def references_folder(folder):
    """Where fetch.py installs PyTorch and transformers for this Python."""
    return pathlib.Path(folder) / f"references-{sys.version_info[0]}.{sys.version_info[1]}"


@dataclasses.dataclass(frozen=True)
class Model:
    name: str
    file: str
    sha256: str
    tokenizer: str  # bpe: byte-level BPE, spm: SentencePiece's BPE
    chat: bool  # it has a chat template
    long_piece: int = 0  # tokens of a piece that is longer than the model's sliding window

    def path(self, folder):
        return pathlib.Path(folder) / self.file


MODELS = (
    Model("smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf", "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53", "bpe", True),
    Model("gemma3", "gemma-3-270m-q4_k_m.gguf", "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818", "spm", False, 1024),
)


@dataclasses.dataclass(frozen=True)
class Bounds:
    kl_mean: float  # of the Kullback-Leibler divergence, in nats, over the positions of each way to run them
    kl_max: float  # at one position
    top1: float  # least part of the positions with the same likeliest token, if there are very many
    perplexity: float  # how far its ratio may be from 1, likewise
    logit_rms: float  # root mean square of the logits' difference at one position, each row less its mean

    def top1_of(self, n):
        """The same for a sample of n positions: three standard deviations less."""
        return self.top1 - 3 * math.sqrt(self.top1 * (1 - self.top1) / n)

    def perplexity_of(self, n):
        """Likewise. A log-probability varies by about the square root of twice the divergence."""
        return self.perplexity + 3 * math.sqrt(2 * self.kl_mean / n)


# By model and device. A GPU multiplies with activations of 16 bits. On a CPU activations of quantized matrices have 16 bits where they
# matter most, and 8 bits elsewhere: at most a fifth of the divergence that llama.cpp's library has.
BOUNDS = {
    ("smollm2", "cpu"): Bounds(6.8e-4, 0.1, 0.98, 0.005, 0.6),
    ("gemma3", "cpu"): Bounds(6.8e-4, 0.1, 0.98, 0.005, 0.6),
    ("smollm2", "cuda"): Bounds(1e-5, 1e-2, 0.99, 1e-3, 0.05),
    ("gemma3", "cuda"): Bounds(1e-5, 1e-2, 0.99, 1e-3, 0.05),
}
# The same for the pieces of tests/real/data, which are fewer and harder: prompts, program text, text of many languages.
STORED_BOUNDS = {
    ("smollm2", "cpu"): Bounds(7.5e-4, 0.1, 0.98, 0.01, 0.6),
    ("gemma3", "cpu"): Bounds(7.5e-4, 0.1, 0.98, 0.01, 0.6),
    ("smollm2", "cuda"): Bounds(1.5e-5, 1e-2, 0.99, 1e-3, 0.05),
    ("gemma3", "cuda"): Bounds(1.5e-5, 1e-2, 0.99, 1e-3, 0.05),
}


def wider(bounds):
    """Bounds for fewer positions than those of BOUNDS, to try a change with."""
    return dataclasses.replace(bounds, kl_mean=2 * bounds.kl_mean)
