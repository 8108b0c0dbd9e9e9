#!/usr/bin/env python3
"""The data are what their programs make: parts are made again and compared, and the indexes say what is there.

Exits with status 77, after a line that says what to install, where numpy is missing: what needs numpy is most of it. Whoever adds
a folder adds a TestCase for it here, beside Models and Quant.
"""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
DEBIANS_PYTHON = "/usr/bin/python3"
MAX_BYTES = 15_000_000  # of the whole folder
# numpy's logarithms and sums may differ in their last bits between processors.
MAX_NMSE_OF_EXACT = 1e-13


def find_numpy():
    """Goes on with the distribution's Python where this one has no numpy."""
    try:
        import numpy  # noqa: F401  # pylint: disable=import-outside-toplevel,unused-import
        return
    except ImportError:
        pass
    if os.path.exists(DEBIANS_PYTHON) and os.path.realpath(DEBIANS_PYTHON) != os.path.realpath(sys.executable):
        found = subprocess.run([DEBIANS_PYTHON, "-c", "import numpy"], stderr=subprocess.DEVNULL, check=False)
        if found.returncode == 0:
            os.execv(DEBIANS_PYTHON, [DEBIANS_PYTHON, *sys.argv])
    print("skipped: needs numpy: install python3-numpy")
    sys.exit(77)


if __name__ == "__main__":
    find_numpy()
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import numpy as np  # noqa: E402  # pylint: disable=wrong-import-position

import dequantize  # noqa: E402  # pylint: disable=wrong-import-position
import exact  # noqa: E402  # pylint: disable=wrong-import-position
import gguf_file  # noqa: E402  # pylint: disable=wrong-import-position
import make_models  # noqa: E402  # pylint: disable=wrong-import-position
import make_quant  # noqa: E402  # pylint: disable=wrong-import-position
import model_weights  # noqa: E402  # pylint: disable=wrong-import-position
import tiny_models  # noqa: E402  # pylint: disable=wrong-import-position


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def run_without_library(program, *arguments):
    """Runs a program of this folder as if there were no reference library; returns what it printed."""
    environment = {key: value for key, value in os.environ.items() if key != "INLAY_PEER_LIBS"} | {"PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, HERE / program, *arguments], env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError("%s failed: %s" % (program, done.stderr))
    return done.stdout


def files_that_differ(made, committed, names):
    return [name for name in names if (made / name).read_bytes() != (committed / name).read_bytes()]


def index_errors(folder, entries, hashes):
    """What is wrong with an index: files that are missing, not listed, or of another hash. `hashes` maps the fields of entries
    that name files to the fields that have their hashes."""
    listed, errors = {"index.json"}, []
    for entry in entries:
        for file_field, hash_field in hashes.items():
            path = folder / entry[file_field]
            listed.add(path.name)
            if not path.exists():
                errors.append(path.name + " is missing")
            elif sha256(path) != entry[hash_field]:
                errors.append(path.name + " has another hash")
    present = {p.name for p in folder.iterdir()}
    return errors + [name + " is not listed" for name in sorted(present - listed)]


class MadeAgain(unittest.TestCase):
    def setUp(self):
        self.out = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.out)

    def copy_of(self, folder):
        copy = self.out / "copy"
        shutil.copytree(folder, copy)
        return copy

    def change_a_byte(self, path, at):
        data = bytearray(path.read_bytes())
        data[at] ^= 1
        path.write_bytes(data)


class Models(MadeAgain):
    FOLDER = HERE / "models"
    HASHES = {"file": "sha256", "exact": "sha256_exact"}
    # One of each type that needs no library, and of the families what differs most.
    SOME = ("llama-f32", "llama-f16", "llama-bf16", "qwen3-q8_0", "gemma3-linear-f32", "phi3-longrope-f32", "qwen2moe-f32",
            "gpt-oss-mxfp4", "olmo3-f32", "granite-f32", "smollm3-f32", "chat-bpe-qwen3-f32", "chat-spm-llama-f32")

    def entries(self):
        return json.loads((self.FOLDER / "index.json").read_text())["models"]

    def test_the_index_is_the_folder(self):
        self.assertEqual(index_errors(self.FOLDER, self.entries(), self.HASHES), [])
        self.assertEqual([e["name"] for e in self.entries()], [m["name"] for m in tiny_models.MODELS])

    def test_errors_of_an_index_are_found(self):
        copy = self.copy_of(self.FOLDER)
        self.change_a_byte(copy / "llama-f32.gguf", -1)
        self.change_a_byte(copy / "qwen2-f32.exact", 20)
        (copy / "gemma2-f32.gguf").unlink()
        (copy / "surplus.gguf").touch()
        self.assertEqual(index_errors(copy, self.entries(), self.HASHES),
                         ["llama-f32.gguf has another hash", "qwen2-f32.exact has another hash", "gemma2-f32.gguf is missing",
                          "surplus.gguf is not listed"])

    def test_every_model_is_evaluated(self):
        table = (HERE.parent / "golden" / "fixture_models.cpp").read_text()
        self.assertEqual([e["name"] for e in self.entries() if '{"%s", ' % e["name"] not in table], [])
        self.assertNotIn('{"llama-f", ', table)

    def test_models_made_again_are_the_same(self):
        run_without_library("make_models.py", "--out", str(self.out), "--only", *self.SOME)
        self.assertEqual(files_that_differ(self.out, self.FOLDER, [name + ".gguf" for name in self.SOME]), [])
        for name in self.SOME:
            tokens, rows = make_models.read_logits((self.out / (name + ".exact")).read_bytes())
            expected_tokens, expected = make_models.read_logits((self.FOLDER / (name + ".exact")).read_bytes())
            self.assertEqual(tokens, expected_tokens, name)
            self.assertLess(make_models.difference(rows, expected.astype(np.float64))["nmse"], MAX_NMSE_OF_EXACT, name)
        facts = {e["name"]: e for e in self.entries()}
        for entry in json.loads((self.out / "index.json").read_text())["models"]:
            self.assertEqual(entry["libllama_vs_exact"], facts[entry["name"]]["libllama_vs_exact"])

    def test_another_seed_is_another_model(self):
        model = tiny_models.BY_NAME["olmo2-f32"] | {"seed": 7}
        data, logits_data, rows, _, _ = make_models.make_model(model)
        self.assertNotEqual(data, (self.FOLDER / "olmo2-f32.gguf").read_bytes())
        expected = make_models.read_logits((self.FOLDER / "olmo2-f32.exact").read_bytes())[1]
        self.assertGreater(make_models.difference(rows, expected.astype(np.float64))["nmse"], 0.1)
        self.assertEqual(len(logits_data), (self.FOLDER / "olmo2-f32.exact").stat().st_size)

    # Fields of the model, or of its family, without which the logits must be others.
    SPECIALITIES = (
        ("llama-window-biases-f32", {"swa": 0}), ("llama-window-biases-f32", {"otherwise": {"interleaved": False}}),
        ("qwen2moe-f32", {"otherwise": {"experts_normalized": True}}), ("qwen2moe-f32", {"shared": 0}),
        ("gemma3-linear-f32", {"rope_scaling": None}), ("gemma3-linear-f32", {"otherwise": {"window_unscaled": False}}),
        ("gemma3-linear-f32", {"otherwise": {"period": 5}}), ("gemma3-linear-f32", {"otherwise": {"gelu": False}}),
        ("phi3-partial-window-f32", {"swa": 0}), ("phi3-partial-window-f32", {"nrot": 16}),
        ("gpt-oss-f32", {"otherwise": {"sinks": False}}), ("gpt-oss-f32", {"otherwise": {"yarn_truncates": True}}),
        ("gpt-oss-f32", {"otherwise": {"period": 1}}), ("gpt-oss-mxfp4", {"otherwise": {"expert_bias": False}}),
        ("granite-f32", {"scales": {"residual": 0.4, "attention": 0.11, "logit": 3.0}}),
        ("granite-f32", {"scales": {"embedding": 6.0, "attention": 0.11, "logit": 3.0}}),
        ("granite-f32", {"scales": {"embedding": 6.0, "residual": 0.4, "logit": 3.0}}),
        ("granite-f32", {"scales": {"embedding": 6.0, "residual": 0.4, "attention": 0.11}}),
        ("olmo2-f32", {"otherwise": {"post_norms": False}}), ("olmo3-f32", {"otherwise": {"window_unscaled": False}}),
        ("olmo3-f32", {"otherwise": {"period": 1}}), ("olmo3-f32", {"rope_scaling": None}),
        ("smollm3-f32", {"otherwise": {"no_rope": 0}}), ("smollm3-f32", {"otherwise": {"no_rope": 5}}),
    )

    def test_what_is_special_makes_a_difference(self):
        for name, change in self.SPECIALITIES:
            model = tiny_models.BY_NAME[name]
            weights, tokens = model_weights.build(model)[1], make_models.text_of(model)
            expected = exact.logits(model, weights, tokens)
            same, other = exact.logits(dict(model), weights, tokens), exact.logits(model | change, weights, tokens)
            self.assertEqual(make_models.difference(same, expected)["nmse"], 0, "negative control")
            self.assertGreater(make_models.difference(other, expected)["nmse"], 1e-4, (name, change))

    def test_both_references_agree(self):
        """Where libllama computes in float32 it differs by rounding alone, or by its table of GELU."""
        for entry in self.entries():
            types = model_weights.types_of({"recipe": entry["recipe"]})
            limit = 1e-6 if entry["arch"].startswith("gemma") else 1e-12 if types == {"F32"} else 5e-4
            self.assertLess(entry["libllama_vs_exact"]["nmse"], limit, entry["name"])

    def test_choices_of_experts_are_clear(self):
        margins = [e["min_router_margin"] for e in self.entries() if "moe" in e["features"]]
        self.assertGreater(len(margins), 5)
        self.assertGreater(min(margins), 0.05)


class Quant(MadeAgain):
    FOLDER = HERE / "quant"
    HASHES = {"bin": "sha256_bin", "f32": "sha256_f32"}

    def entries(self):
        return json.loads((self.FOLDER / "index.json").read_text())["types"]

    def test_the_index_is_the_folder(self):
        self.assertEqual(index_errors(self.FOLDER, self.entries(), self.HASHES), [])
        self.assertEqual([e["type"] for e in self.entries()], list(make_quant.SCALES))
        for entry in self.entries():
            self.assertEqual([entry["ggml_type"], entry["block_elements"], entry["block_bytes"]], list(gguf_file.TYPES[entry["type"]]))
            self.assertTrue(entry["checked"], entry["type"])

    def test_errors_of_an_index_are_found(self):
        copy = self.copy_of(self.FOLDER)
        self.change_a_byte(copy / "Q4_K.bin", 17)
        self.change_a_byte(copy / "IQ1_M.f32", 5)
        self.assertEqual(index_errors(copy, self.entries(), self.HASHES), ["Q4_K.bin has another hash", "IQ1_M.f32 has another hash"])

    def test_blocks_made_again_are_the_same(self):
        run_without_library("make_quant.py", "--out", str(self.out))
        names = [p.name for p in self.FOLDER.iterdir() if p.name != "index.json"]
        self.assertEqual(len(names), 2 * len(make_quant.SCALES))
        self.assertEqual(files_that_differ(self.out, self.FOLDER, names), [])
        self.assertEqual(json.loads((self.out / "index.json").read_text())["types"], self.entries())

    def test_values_are_those_of_the_definitions(self):
        for name in dequantize.FORMULAS:
            blocks, expected = (self.FOLDER / (name + ".bin")).read_bytes(), (self.FOLDER / (name + ".f32")).read_bytes()
            self.assertEqual(dequantize.dequantize(blocks, name).tobytes(), expected, name)
            changed = bytearray(blocks)
            changed[len(blocks) // 2 + 1] ^= 0x11
            self.assertNotEqual(dequantize.dequantize(bytes(changed), name).tobytes(), expected, name)


class Size(unittest.TestCase):
    def test_the_folder_is_small(self):
        size = sum(p.stat().st_size for p in HERE.rglob("*") if p.is_file() and p.parent.name != "__pycache__")
        self.assertGreater(size, 1024 * 1024)
        self.assertLess(size, MAX_BYTES)


if __name__ == "__main__":
    unittest.main()
