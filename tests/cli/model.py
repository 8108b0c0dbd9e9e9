"""info, plan, tokenize and embed on a model with a tokenizer."""
import json
import os
import pathlib
import re
import tempfile

import tool_case
from tool_case import OWN_MODEL, ModelCase

SAID = 'a "quoted\\word" \t\x01 ö 🙂\n'
TEXT = "Once upon a time the fox said: \"hello\", twice.\nTab\there; Zoë, 水, 🙂."


def unescaped(piece):
    """The bytes that a quoted piece stands for."""
    short = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b'"': b'"', b"\\": b"\\"}
    return re.sub(rb"\\(x[0-9a-f]{2}|.)", lambda m: short.get(m[1]) or bytes.fromhex(m[1][1:].decode()), piece[1:-1].encode())


class Info(ModelCase):
    def test_sizes_memory_and_metadata(self):
        text = self.run_tool("info", self.model, "--ctx", "64", "--sessions", "2").stdout.decode()
        facts = dict(re.findall(r"^(\S.*?)  +(\S.*)$", text, re.MULTILINE))
        metadata = dict(re.findall(r"^(\S+) = (.*)$", text, re.MULTILINE))
        arch = metadata["general.architecture"]
        for fact, key in (("layers", "block_count"), ("width", "embedding_length"), ("heads", "attention.head_count")):
            self.assertEqual(facts[fact], metadata[f"{arch}.{key}"])
        self.assertEqual((facts["context"], facts["sessions"]), ("64", "2"))
        parts = [int(facts[name].split()[0]) for name in ("weights", "KV pool", "workspace", "together")]
        self.assertEqual(sum(parts[:3]), parts[3])
        larger = self.run_tool("info", self.model, "--ctx", "128", "--sessions", "2").stdout.decode()
        self.assertGreater(int(re.search(r"^KV pool +(\d+)", larger, re.MULTILINE)[1]), parts[1])

    def test_fp8_weights_are_shown_and_smaller(self):
        def weights(*arguments):
            text = self.run_tool("info", self.model, *arguments).stdout.decode()
            return int(re.search(r"^weights +(\d+)", text, re.MULTILINE)[1]), re.search(r"^type of weights +(.*)$", text, re.MULTILINE)[1]
        stored, fp8 = weights(), weights("--weights", "fp8")
        self.assertEqual((stored[1], fp8[1]), ("the file's", "fp8"))
        self.assertLess(fp8[0], 0.6 * stored[0])
        plan = self.run_tool("plan", self.model, "--weights=fp8").stdout.decode()
        self.assertRegex(plan, r"attn_q\.weight\[\d+x\d+ F8_E4M3\]")
        self.assertNotIn("F8_E4M3", self.run_tool("plan", self.model).stdout.decode())
        self.assertIn("--weights", self.run_tool("info", self.model, "--weights", "fp4", code=2).stderr.decode())

    def test_devices_and_contexts_are_explained(self):
        text = self.run_tool("info", self.model).stdout.decode()
        trained = int(re.search(r"^trained context +(\d+)", text, re.MULTILINE)[1])
        self.assertRegex(text, r"(?m)^  yes  CPU, .*: takes [\d.]+ MiB of +[\d.]+ MiB that are free$")
        self.assertRegex(text, r"(?m)^  yes  reference interpreter: ")
        rows = re.findall(r"^(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)$", text, re.MULTILINE)
        self.assertEqual(int(rows[-1][0]), trained)
        for row in rows:
            self.assertAlmostEqual(sum(map(float, row[1:4])), float(row[4]), delta=0.2)
        self.assertEqual(int(re.search(r"^(\d+) +is the longest that fits", text, re.MULTILINE)[1]), trained)
        types = re.findall(r"^([A-Z]\w+) +(\d+) +(\d+) +([\d.]+)$", text, re.MULTILINE)
        self.assertEqual(sum(int(row[2]) for row in types), int(re.search(r"^parameters +(\d+)", text, re.MULTILINE)[1]))

    def test_json_has_the_same_facts(self):
        text = self.run_tool("info", self.model, "--ctx", "64").stdout.decode()
        shown = self.run_tool("info", self.model, "--ctx", "64", "--json").stdout
        self.assertEqual(shown.count(b"\n"), 1)
        found = json.loads(shown)
        self.assertEqual(list(found), ["path", "error", "model", "tokenizer", "chat_template", "tensors", "devices", "contexts"])
        self.assertIsNone(found["error"])
        facts = dict(re.findall(r"^(\S.*?)  +(\S.*)$", text, re.MULTILINE))
        model = found["model"]
        self.assertEqual((found["path"], model["name"], f"{model['n_context_train']} tokens"),
                         (facts["path"], facts["model"], re.search(r"^trained context +(\d+ tokens)", text, re.MULTILINE)[1]))
        self.assertIn(f"{model['family']}, ", facts["family"])
        self.assertEqual(", ".join(model["features"]) or "none beyond the plainest decoder", facts["features"])
        for device in found["devices"]:
            self.assertIn(f"  {'no ' if device['error'] else 'yes'}  {device['name']}: ", text)
        for tensors in found["tensors"]:
            self.assertRegex(text, rf"(?m)^{tensors['type']} +{tensors['n_tensors']} +{tensors['n_elements']} ")
        self.assertEqual([c["n_context"] for c in found["contexts"]["each"]],
                         [int(n) for n in re.findall(r"^(\d+) +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+$", text, re.MULTILINE)])
        self.assertIn(f"{found['contexts']['longest']} ", re.search(r"^.*is the longest that fits", text, re.MULTILINE)[0])
        for needs in [*found["devices"], *found["contexts"]["each"]]:
            self.assertEqual(needs["weight_bytes"] + needs["kv_bytes"] + needs["scratch_bytes"], needs["total_bytes"])

    def test_what_does_not_run_says_why(self):
        with tempfile.TemporaryDirectory() as folder:
            other = pathlib.Path(folder) / "other.gguf"
            data = tool_case.OWN_MODEL.read_bytes()
            other.write_bytes(data.replace(b"llama", b"lamma"))
            done = self.run_tool("info", other, code=1)
            self.assertRegex(done.stdout.decode(), r"runs nowhere: .*other\.gguf.*'lamma'")
            self.assertRegex(done.stdout.decode(), r"(?m)^F\d+ +\d+ +\d+ ")
            self.assertIn(b"no device runs", done.stderr)
            other.write_bytes(data[:len(data) // 2])
            self.assertRegex(self.run_tool("info", other, code=1).stderr.decode(), r"other\.gguf: the file has \d+ bytes.*tensor '\w+")

    def test_long_arrays_are_cut_short(self):
        text = self.run_tool("info", self.model).stdout.decode()
        tokens = re.search(r"^tokenizer\.ggml\.tokens = (.*)$", text, re.MULTILINE)[1]
        self.assertRegex(tokens, r"\.\.\. ")
        self.assertLess(max(map(len, text.splitlines())), 400)


class Plan(ModelCase):
    def test_totals_are_the_sums(self):
        text = self.run_tool("plan", self.model).stdout.decode()
        rows = re.findall(r"^ *\d+ +(?:\d+|-) (\w+) +(\d+) +(\d+) +(\d+) +(\d+) ", text, re.MULTILINE)
        total = re.search(r"^ +total +(\d+) +(\d+) +(\d+) +(\d+)$", text, re.MULTILINE)
        n_ops = int(re.search(r"^(\d+) ops", text, re.MULTILINE)[1])
        n_layers = int(re.search(r" (\d+) layers", text)[1])
        self.assertEqual(len(rows), n_ops)
        self.assertEqual(n_ops, 5 * n_layers + 3)
        self.assertRegex(text, r"(?m)^# loaded ")
        self.assertEqual([row[0] for row in rows[1:6]], ["attn_in", "attention", "attn_out", "ffn_in", "ffn_out"])
        for column in range(4):
            self.assertEqual(sum(int(row[1 + column]) for row in rows), int(total[1 + column]))
            self.assertGreater(int(total[1 + column]), 0)


class Tokenize(ModelCase):
    def ids(self, *arguments, **options):
        return self.run_tool("tokenize", self.model, "--ids", "--no-bos", *arguments, **options).stdout.decode()

    def decode(self, ids):
        return self.run_tool("tokenize", self.model, "--decode", ids).stdout

    def test_round_trip(self):
        ids = self.ids(TEXT)
        self.assertEqual(self.decode(ids), TEXT.encode() + b"\n")
        self.assertEqual(self.ids("--file", "-", stdin=TEXT.encode()), ids)
        self.assertNotEqual(self.decode(" ".join(ids.split()[:-1])), TEXT.encode() + b"\n")

    def test_lines_hold_the_same_ids_and_their_pieces(self):
        lines = self.run_tool("tokenize", self.model, "--no-bos", SAID).stdout.decode().splitlines()
        self.assertEqual(" ".join(line.split("\t")[0] for line in lines), self.ids(SAID).strip())
        pieces = [line.split("\t")[1] for line in lines]
        self.assertTrue(all(re.fullmatch(r'"(?:[^"\\]|\\.)+"', piece) for piece in pieces), pieces)
        text = b"".join(unescaped(piece) for piece in pieces)
        self.assertEqual(text, SAID.encode())

    def test_bytes_that_are_no_text_become_tokens(self):
        latin1 = "Caf\u00e9 na\u00efve, \u00e4\u00f6\u00fc\u00c4\u00d6\u00dc".encode("latin-1") + bytes(range(0x80, 0x100))
        said = latin1.decode(errors="replace").encode() + b"\n"
        ids = self.ids("--file", "-", stdin=latin1)
        self.assertGreater(len(ids.split()), len(latin1) + 2)
        self.assertEqual(self.ids(os.fsdecode(latin1)), ids)
        self.assertEqual(self.decode(ids), said)
        for model, *raw in ((self.model, "--raw"), (OWN_MODEL, "--raw"), (OWN_MODEL,)):
            texts = [self.run_tool("run", model, *raw, "--prompt", prompt, "-n", "2", "--temp", "0", "-q").stdout
                     for prompt in (os.fsdecode(latin1), latin1.decode(errors="replace"))]
            self.assertEqual(texts[0], texts[1])
        self.run_tool("embed", self.model, os.fsdecode(latin1), "--pooling", "mean")

    def test_ids_out_of_range_are_named(self):
        self.assertIn("999999999", self.run_tool("tokenize", self.model, "--decode", "999999999", code=2).stderr.decode())


class Embed(ModelCase):
    def vectors(self, *arguments, stdin=b""):
        lines = self.run_tool("embed", self.model, *arguments, stdin=stdin).stdout.splitlines()
        return [[float(word) for word in line.split()] for line in lines]

    def test_vectors_have_length_one_unless_raw(self):
        unit, other = self.vectors("the fox", "and then", "--pooling", "mean")
        raw, = self.vectors("the fox", "--pooling", "mean", "--raw")
        self.assertAlmostEqual(sum(x * x for x in unit), 1, places=4)
        length = sum(x * x for x in raw) ** 0.5
        self.assertGreater(abs(length - 1), 0.01)
        for x, y in zip(unit, raw, strict=True):
            self.assertAlmostEqual(x * length, y, delta=2e-2 * length)
        self.assertNotEqual(unit, other)
        last, = self.vectors("the fox", "--pooling", "last")
        self.assertNotEqual(unit, last)

    def test_a_file_has_a_text_a_line(self):
        self.assertEqual(self.vectors("--file", "-", "--pooling", "mean", stdin=b"the fox\nand then"),
                         self.vectors("the fox", "and then", "--pooling", "mean"))
        refused = self.run_tool("embed", self.model, "--file", "-", "--pooling", "mean", stdin=b"the fox\n\nand then\n", code=1)
        self.assertIn(b"the standard input: line 2 is empty", refused.stderr)

    def test_json_has_the_same_numbers(self):
        texts = ["the fox", "and then", "--pooling", "mean"]
        for options, key in (([], "embeddings"), (["--similarity"], "similarities")):
            line = json.loads(self.run_tool("embed", self.model, *texts, *options, "--json").stdout)
            self.assertEqual(list(line), [key])
            for row, shown in zip(line[key], self.vectors(*texts, *options), strict=True):
                for x, y in zip(row, shown, strict=True):
                    self.assertAlmostEqual(x, y, delta=1e-4)

    def test_similarities_are_a_table(self):
        (a, b), (c, d) = self.vectors("the fox", "and then", "--pooling", "mean", "--similarity")
        self.assertEqual((a, d), (1, 1))
        self.assertEqual(b, c)
        self.assertLess(b, 0.999)

    def test_what_cannot_be_is_named(self):
        self.assertIn(b"pooling_type", self.run_tool("embed", self.model, "x", code=1).stderr)
        for wrong in (["x", "--file", "y"], [], ["x", "--raw", "--similarity"]):
            self.run_tool("embed", self.model, *wrong, code=2)
        self.assertIn(b"the standard input has no texts", self.run_tool("embed", self.model, "--file", "-", code=1).stderr)


if __name__ == "__main__":
    tool_case.main()
