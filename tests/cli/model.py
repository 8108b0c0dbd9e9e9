"""run, info, plan and tokenize on a model with a tokenizer."""
import json
import math
import os
import pathlib
import re
import tempfile

import tool_case
from tool_case import OWN_MODEL, RANDOM_MODEL, ModelCase

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


class Run(ModelCase):
    def text(self, *arguments, **options):
        return self.run_tool("run", self.model, "--raw", *arguments, **options)

    def test_a_prompt_goes_through_the_template(self):
        def answer(*arguments, **options):
            return self.run_tool("run", OWN_MODEL, "-n", "12", "--temp", "0", *arguments, **options)
        line, system = "Do you have a room?", "Mira is kind."
        for sources, written in ((("-p", line), f"<|player|>{line}<|npc|>"), (("-p", line, "--system", system), f"{system}<|player|>{line}<|npc|>")):
            through = answer(*sources)
            self.assertEqual(through.stdout, answer("--raw", "--special", "-p", written).stdout)
            n = len(self.run_tool("tokenize", OWN_MODEL, written, "--special", "--ids").stdout.split())
            self.assertIn(f"prompt: {n} tokens in".encode(), through.stderr)
        begun, whole = "The cellar", answer("-p", line, "--answer", "The cellar")
        rest = answer("--raw", "--special", "-p", f"<|player|>{line}<|npc|>{begun}").stdout
        self.assertEqual(whole.stdout, begun.encode() + rest)
        self.assertFalse(answer("-p", line).stdout.startswith(begun.encode()))
        self.assertIn(b"--answer needs the chat template, which --raw", answer("-p", line, "--answer", begun, "--raw", code=1).stderr)
        self.assertEqual(answer(stdin=line.encode()).stdout, answer("-p", line).stdout)
        self.assertNotEqual(answer("--raw", "-p", line).stdout, answer("-p", line).stdout)
        for option in ("--special", "--no-bos"):
            self.assertIn(f"{option} is for text as it stands: give --raw".encode(), answer("-p", line, option, code=2).stderr)
        self.assertIn(b"--system needs the chat template, which --raw", answer("-p", line, "--system", system, "--raw", code=2).stderr)

    def test_names_of_llama_cpp_are_understood(self):
        ours = self.text("-p", "the fox", "-n", "9", "--seed", "3", "--temp", "1", "--ctx", "64", "--device", "cpu", "--threads", "1")
        theirs = tool_case.ToolCase.run_tool(self, "run", "-m", self.model, "--raw", "-p", "the fox", "-n", "9", "-s", "3", "--temp", "1", "-c", "64",
                                             "-ngl", "0", "-t", "1")
        self.assertEqual(ours.stdout, theirs.stdout)
        self.assertIn(b"seed 3", theirs.stderr)
        sampled = ["-p", "the fox", "--seed", "5", "-q"]
        for names, value in (("-n --predict --n-predict --tokens", "7"), ("--temp --temperature", "0.1"), ("-c --ctx --ctx-size", "20"),
                             ("--typical --typical-p", "0.1"), ("--top-n-sigma --top-nsigma", "0.1"), ("--stop -r --reverse-prompt", "e")):
            written = [self.text(*sampled, name, value).stdout for name in names.split()]
            self.assertEqual(len(set(written)), 1, names)
            self.assertNotEqual(written[0], self.text(*sampled).stdout, names)
        endless = [self.text("-p", "the fox", "-n", n, "--ctx", "40", "--temp", "0").stdout for n in ("0", "-1", "12")]
        self.assertEqual(endless[0], endless[1])
        self.assertNotEqual(endless[0], endless[2])
        for layers in ("all", "99", "-1", "999"):
            done = tool_case.run_program(tool_case.TOOL, "run", self.model, "-p", "a", "-ngl", layers, environment=tool_case.WITHOUT_GPU)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"NO_DEVICE", done.stderr)

    def test_the_same_text_again_and_from_every_source_of_the_prompt(self):
        plain = ["-n", "12", "--temp", "0"]
        first = self.text("--prompt", "the fox", *plain)
        self.assertEqual(self.text("--prompt=the fox", *plain).stdout, first.stdout)
        self.assertEqual(self.text(*plain, stdin=b"the fox").stdout, first.stdout)
        self.assertEqual(self.text("--file", "-", *plain, stdin=b"the fox").stdout, first.stdout)
        self.assertEqual(self.text("--prompt", "the fox", "-n", "12", "--top-k", "1", "--seed", "9").stdout, first.stdout)
        self.assertEqual(self.text("--prompt", "the fox", "--device", "reference", *plain).stdout, first.stdout)
        echoed = self.text("--prompt", "the fox", "--echo", *plain)
        self.assertEqual(echoed.stdout, b"the fox" + first.stdout)

    def test_speeds_count_the_tokens(self):
        ids = self.run_tool("tokenize", self.model, "the fox", "--ids").stdout.split()
        said = self.text("--prompt", "the fox", "-n", "12", "--temp", "0").stderr.decode()
        self.assertIn(f"prompt: {len(ids)} tokens", said)
        self.assertRegex(said, r"text: \d+ tokens in \d+\.\d+ s, \d+\.\d tokens/s")
        self.assertEqual(self.text("--prompt", "the fox", "-n", "2", "--temp", "0", "-q").stderr, b"")

    def test_a_text_of_stop_and_a_stop_token_are_reasons(self):
        plain = ["-p", "the fox", "-n", "12", "--temp", "0"]
        whole = self.text(*plain)
        self.assertRegex(whole.stderr, rb", as many as -n allows\n$")
        stop = whole.stdout.decode()[len(whole.stdout.decode()) // 2]
        self.assertRegex(self.text(*plain, "--stop", stop).stderr, rb", at a text of --stop\n$")
        token = self.run_tool("tokenize", OWN_MODEL, ".", "--no-bos", "--ids").stdout.decode().strip()
        done = self.run_tool("run", OWN_MODEL, "--raw", "-p", "Once upon a time", "--temp", "0", "--stop-token", token)
        self.assertRegex(done.stderr, rb", at a --stop-token\n$")

    def test_a_file_stands_behind_the_prompt(self):
        greedy = ["-n", "4", "--temp", "0", "--echo"]
        self.assertEqual(self.text("-p", "the", "-f", "-", *greedy, stdin=b"fox").stdout, self.text("-p", "the\nfox", *greedy).stdout)
        said = self.text("-p", "the fox", *greedy, stdin=b"and then").stderr
        self.assertEqual(said.count(b"the standard input is not read, as -p is the prompt; -f - puts it behind that\n"), 1)
        self.assertNotIn(b"not read", self.text("-p", "the fox", *greedy).stderr)

    def test_a_model_without_a_template_says_so_once(self):
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / "plain.gguf"
            model.write_bytes(OWN_MODEL.read_bytes().replace(b"tokenizer.chat_template", b"tokenizer.old_template_", 1))
            done = self.run_tool("run", model, "-p", "a", "-n", "2")
            self.assertEqual(done.stderr.count(b"the model has no chat template"), 1)
            for arguments in ((model, "--raw"), (model, "-q"), (OWN_MODEL,)):
                self.assertNotIn(b"no chat template", self.run_tool("run", *arguments, "-p", "a", "-n", "2").stderr)
            self.assertIn(b"has no chat template", self.run_tool("info", model, "--template", code=1).stderr)
        self.assertIn(b"<|im_start|>{{ m.role }}", self.run_tool("info", RANDOM_MODEL, "--template").stdout)

    def test_json_of_plan_and_tokenize(self):
        text = self.run_tool("plan", OWN_MODEL).stdout.decode()
        plan = json.loads(self.run_tool("plan", OWN_MODEL, "--json").stdout)
        self.assertEqual(list(plan), ["operations", "log"])
        rows = [row.split() for row in text.splitlines() if re.match(r" *\d+ +(\d+|-) \w+ ", row)]
        for row, operation in zip(rows, plan["operations"], strict=True):
            self.assertEqual(row[:3], [str(operation["op"]), str(operation.get("layer", "-")), operation["kind"]])
            self.assertEqual([int(n) for n in row[3:7]], [operation[key] for key in ("weight_bytes", "kv_bytes", "activation_bytes", "flops")])
            self.assertEqual(" ".join(row[7:]), " ".join(operation["weights"]))
        total = [int(n) for n in re.search(r"^ *total +(\d+) +(\d+) +(\d+) +(\d+)", text, re.MULTILINE).groups()]
        self.assertEqual(total[0], sum(operation["weight_bytes"] for operation in plan["operations"]))
        self.assertEqual(total[3], sum(operation["flops"] for operation in plan["operations"]))
        self.assertTrue(plan["log"])
        line = json.loads(self.run_tool("tokenize", OWN_MODEL, 'Say "a".', "--json").stdout)
        self.assertEqual(line["ids"], [int(n) for n in self.run_tool("tokenize", OWN_MODEL, 'Say "a".', "--ids").stdout.split()])
        self.assertEqual("".join(line["pieces"]), '<|begin|>Say "a".')
        ids = ",".join(map(str, line["ids"][1:]))
        self.assertEqual(json.loads(self.run_tool("tokenize", OWN_MODEL, "--decode", ids, "--json").stdout), {"text": 'Say "a".'})

    def test_a_seed_of_minus_one_changes(self):
        seeds = {re.search(rb"seed (\d+)", self.text("-p", "a", "-n", "1", "--seed", "-1").stderr)[1] for _ in range(3)}
        self.assertGreater(len(seeds), 1)

    def test_logprobs_are_those_of_the_text(self):
        done = self.run_tool("run", OWN_MODEL, "-p", "Do you have a room?", "--temp", "0", "--logprobs", "3")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        text = self.run_tool("run", OWN_MODEL, "-p", "Do you have a room?", "--temp", "0").stdout.decode()
        self.assertEqual("".join(line["piece"] for line in lines).removesuffix("<|end|>"), text.removesuffix("\n"))
        for line in lines:
            self.assertEqual(line["top"][0], {key: line[key] for key in ("id", "piece", "logprob")})  # greedy
            probabilities = [math.exp(token["logprob"]) for token in line["top"]]
            self.assertEqual(probabilities, sorted(probabilities, reverse=True))
            self.assertTrue(len(probabilities) == 3 and sum(probabilities) <= 1.0001)

    def test_ends_can_be_ignored(self):
        plain = ["-p", "Do you have a room?", "--temp", "0", "-n", "60", "-q"]
        whole, longer = (self.run_tool("run", OWN_MODEL, *plain, *more).stdout.decode() for more in ([], ["--ignore-eos"]))
        self.assertTrue(longer.startswith(whole.removesuffix("\n")) and len(longer) > len(whole) + 20, longer)

    def test_another_template_and_its_variables(self):
        def answer(*arguments, prompt="Hello", **options):
            return self.run_tool("run", OWN_MODEL, "-q", "-n", "12", "--temp", "0", "-p", prompt, *arguments, **options)
        template = "{% if think %}Think. {% endif %}<|player|>{{ messages[0].content }}<|npc|>"
        raw = [answer("--raw", "--special", "--no-bos", prompt=before + "<|player|>Hello<|npc|>").stdout for before in ("", "Think. ")]
        self.assertNotEqual(*raw)
        own = ["--chat-template", template]
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "a.jinja").write_text(template)
            for how in (own, ["--chat-template-file", f"{folder}/a.jinja"]):
                self.assertEqual(answer(*how).stdout, raw[0])
                for variables, wanted in (('{"think":true}', 1), (' {"a":{"b":{}}, "think":1}\n', 1), ('{"think":false}', 0), ("{}", 0)):
                    self.assertEqual(answer(*how, "--chat-template-kwargs", variables).stdout, raw[wanted], variables)
        self.assertIn(b"FORMAT", answer(*own, "--chat-template-kwargs", '{"think":}', code=1).stderr)

    def test_seeds_tell_texts_apart(self):
        def drawn(seed):
            return self.text("--prompt", "the", "-n", "24", "--temp", "2", "--top-k", "0", "--top-p", "1", "--seed", seed).stdout
        self.assertEqual(drawn(1), drawn(1))
        self.assertGreater(len({drawn(seed) for seed in range(6)}), 1)

    def test_samplers_beyond_the_usual_ones(self):
        def drawn(*arguments):
            return self.text("--prompt", "the fox", "-n", "40", "--seed", "3", "-q", *arguments).stdout
        greedy, hot = drawn("--temp", "0"), ["--temp", "3", "--top-k", "0", "--top-p", "1"]
        plain = drawn(*hot)
        self.assertNotEqual(plain, greedy)
        for few in (["--top-n-sigma", "0.0001"], ["--mirostat-ent", "0.0001", "--mirostat-lr", "0.0001"]):
            self.assertEqual(drawn(*hot, *few), greedy, few)
        for other in (["--typical", "0.2"], ["--dynatemp-range", "2.9"], ["--dynatemp-range", "2.9", "--dynatemp-exp", "9"],
                      ["--xtc-probability", "1", "--xtc-threshold", "0.0005"], ["--adaptive-target", "0.02"],
                      ["--adaptive-target", "0.02", "--adaptive-decay", "0.1", "--min-p", "0.01"], ["--mirostat-ent", "2"]):
            self.assertNotIn(drawn(*hot, *other), (plain, greedy), other)
        # Token after token: the likeliest one is banned, and other tokens come as they are made likelier.
        first, second = (json.loads(self.text("-p", "the fox", "-n", "1", "--temp", "0", "--logprobs", "2").stdout)["top"][i]["id"] for i in (0, 1))
        for bias, id_drawn in ((f"{first}-inf", second), (f"{first}-90", second), (f"{second}+90", second), (f"{second}-90", first)):
            line = json.loads(self.text("-p", "the fox", "-n", "1", "--temp", "0", "--logprobs", "0", "-l", bias).stdout)
            self.assertEqual(line["id"], id_drawn, bias)
        for penalties in (["--frequency-penalty", "-9"], ["--presence-penalty", "-9"], ["--repeat-penalty", "0.1"]):
            some = {n: drawn("--temp", "0", *penalties, "--repeat-last-n", n) for n in ("0", "1", "64", "-1")}
            self.assertEqual(some["0"], greedy, penalties)
            self.assertEqual(some["-1"], some["64"], penalties)  # the whole text is shorter
            self.assertNotEqual(some["1"], greedy, penalties)
            self.assertEqual(drawn("--temp", "0", *penalties), some["64"], penalties)
        repeating = ["--temp", "0", "--repeat-penalty", "0.1"]  # makes what was drawn likelier
        dry = repeating + ["--dry-multiplier", "20"]
        texts = [drawn(*arguments) for arguments in (
            repeating, dry, dry + ["--dry-base", "1.01"], dry + ["--dry-allowed-length", "9"], dry + ["--dry-penalty-last-n", "4"])]
        self.assertGreater(len(set(texts)), 3)
        self.assertNotEqual(texts[0], texts[1])
        self.assertEqual(drawn(*dry, "--dry-penalty-last-n", "0"), texts[0])

    def test_a_stop_string_ends_the_text(self):
        whole = self.text("--prompt", "the fox", "-n", "12", "--temp", "0").stdout.decode().rstrip("\n")
        stop = whole[len(whole) // 2]
        cut = self.text("--prompt", "the fox", "-n", "12", "--temp", "0", "--stop", stop).stdout.decode().rstrip("\n")
        self.assertEqual(cut, whole[:whole.index(stop)].rstrip("\n"))

    def test_a_gpu_that_is_not_there_is_named(self):
        done = tool_case.run_program(tool_case.TOOL, "run", self.model, "--prompt", "a", "--device", "cuda",
                                     environment=tool_case.WITHOUT_GPU)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"NO_DEVICE", done.stderr)

    def test_a_full_context_ends_the_text(self):
        done = self.text("--prompt", "the fox", "-n", "0", "--ctx", "32", "--temp", "0")
        self.assertRegex(done.stderr, rb"text: \d+ tokens.*, the context is full\n$")
        quiet = self.text("--prompt", "the fox", "-n", "0", "--ctx", "32", "--temp", "0", "-q")
        self.assertEqual(quiet.stderr, b"inlay: the text ends here: the context is full\n")
        cut = self.text("--prompt", "the fox", "-n", "5", "--temp", "0").stderr  # is full only where it is
        self.assertRegex(cut, rb"text: 5 tokens.*, as many as -n allows\n$")
        self.assertNotIn(b"full", cut)

    def test_one_token_is_one(self):
        self.assertRegex(self.text("--prompt", "the fox", "-n", "1", "--temp", "0").stderr, rb"\ntext: 1 token, ")
        self.assertRegex(self.text("--prompt", "a", "--no-bos", "-n", "2", "--temp", "0").stderr, rb"^prompt: 1 token in .*\ntext: 2 tokens in ")

    def test_a_prompt_that_does_not_fit_is_an_error(self):
        n = len(self.run_tool("tokenize", self.model, "the fox " * 50, "--ids").stdout.split())
        said = self.text("--prompt", "the fox " * 50, "--ctx", "8", code=1).stderr.decode()
        self.assertRegex(said, rf"the prompt is {n} tokens, and a context of 8 has no room for it and a text; --ctx N .*, up to the \d+ of")

    def test_a_context_beyond_the_training_names_both(self):
        for command in (["run", "-p", "a"], ["info"]):
            said = self.run_tool(command[0], OWN_MODEL, *command[1:], "--ctx", "9000", code=2).stderr.decode()
            self.assertEqual(said, f"inlay: --ctx asks for a context of 9000 tokens, and {OWN_MODEL} was trained for contexts of at most 512\n")


if __name__ == "__main__":
    tool_case.main()
