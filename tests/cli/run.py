"""run on a model with a tokenizer."""
import json
import math
import pathlib
import re
import tempfile

import tool_case
from tool_case import OWN_MODEL, RANDOM_MODEL, ModelCase


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
