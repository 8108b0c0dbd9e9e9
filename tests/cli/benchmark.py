"""bench: the line of JSON, on models that are made in memory. Needs no model."""
import json
import math
import os
import tempfile

import tool_case
from tool_case import DeviceCase

SMALL = ["--layers", "2", "--scale", "0.1"]
SHORT = ["--pp", "16,40", "--pp-depths", "0,24", "--depths", "0,24", "--batch", "2,3", "--tg", "6", "--batch-prompt", "9", "--batch-steps", "4"]
SPEEDS = ["pp16", "pp40", "pp16@24", "pp40@24", "tg6@0", "tg6@24", "batch2", "batch3"]
# Bytes of the published shapes under the recipes, as a GGUF writer of another project gives them.
KNOWN_BYTES = {("qwen2.5-1.5b", "q4_k_m"): 980117536, ("llama3.2-1b", "bf16"): 2471773504, ("llama3.1-8b", "q4_k_m"): 4912916384,
               ("qwen3-8b", "q8_0"): 8703585984, ("qwen3-4b", "q6_k"): 3300328576, ("qwen2.5-7b", "q5_k_m"): 5438897728,
               ("qwen3-0.6b", "f32"): 2384218656, ("qwen3-1.7b", "f16"): 3441416736, ("llama3.2-3b", "q4_0"): 1909368576,
               ("qwen3-30b-a3b", "q4_k_m"): 18550753696, ("qwen3-30b-a3b", "mxfp4"): 17076515232, ("gpt-oss-20b", "mxfp4"): 12096587328,
               ("gpt-oss-20b", "q4_k_m"): 15792157248, ("gpt-oss-20b", "q5_k_m"): 16880083008}


class Benchmark(DeviceCase):
    def bench(self, *arguments, code=0):
        done = self.run_tool("bench", *arguments, code=code)
        self.assertEqual(done.stdout.count(b"\n"), 1)
        return json.loads(done.stdout)

    def compare_times(self, check, attempts=6):
        """Runs `check` again while it fails: another program may have slowed down one of the measurements that it compares."""
        for _ in range(attempts - 1):
            try:
                return check()
            except self.failureException:
                pass
        return check()

    def test_keys_and_ranges(self):
        line = self.bench("--shape", "qwen2.5-1.5b", "--quant", "q4_k_m", *SMALL, *SHORT, "-r", "3", "-t", "2")
        self.assertEqual(line["model"], "qwen2.5-1.5b-2layers-x0.1.q4_k_m.gguf")
        self.assertEqual((line["engine"], line["reps"], line["threads"]), ("inlay", 3, 2))
        for key in ("model_bytes", "params"):
            self.assertGreater(line[key], 1000000)
        for key in ("load_s", "others", "generate_s"):
            self.assertGreaterEqual(line[key], 0)
        self.assertTrue(line["device"] and line["version"])
        for part in ("header", "placement", "backend"):
            self.assertRegex(line["load_times"], part + r" \d+\.\d{3} s")
        self.assertNotIn("error", line)
        self.assertEqual(sorted(line["range"]), sorted(SPEEDS))
        for key in SPEEDS:
            low, high = line["range"][key]
            self.assertTrue(0 < low <= line[key] <= high < math.inf, key)

    def test_every_family_and_recipe_loads_and_runs(self):
        for shape in ("tiny-llama", "tiny-qwen2", "tiny-qwen3", "tiny-qwen3moe", "tiny-gpt-oss"):
            quants = ["f32", "f16", "bf16", "q4_0", "q8_0", "q4_k_m", "q5_k_m", "q6_k"]
            for quant in quants + (["mxfp4"] if shape in ("tiny-qwen3moe", "tiny-gpt-oss") else []):
                with self.subTest(shape=shape, quant=quant):
                    line = self.bench("--shape", shape, "--quant", quant, "--quick", "--tg", "4", "--pp", "8", "-t", "2")
                    self.assertEqual(line["model"], f"{shape}.{quant}.gguf")
                    self.assertIs(line["quick"], True)
                    self.assertIn("tg4@0", line)

    def test_fp8_weights_take_half_the_bytes(self):
        short = ["--shape", "tiny-llama", "--quant", "bf16", "--pp", "8", "--depths", "none", "--batch", "none", "-r", "1"]
        stored, fp8 = self.bench(*short), self.bench(*short, "--weights", "fp8")
        self.assertEqual((stored["weights"], fp8["weights"]), ("default", "fp8"))
        self.assertTrue(0.5 < fp8["weight_bytes"] / stored["weight_bytes"] < 0.75, (stored, fp8))
        self.assertEqual(fp8["model_bytes"], stored["model_bytes"])

    def test_none_leaves_measurements_out(self):
        line = self.bench("--shape", "tiny-llama", "--quant", "q8_0", "--pp", "8", "--depths", "none", "--batch", "none", "-r", "1")
        self.assertEqual(list(line["range"]), ["pp8"])

    def test_latencies_of_single_tokens(self):
        def latency(layers, n):
            line = self.bench("--shape", "tiny-llama", "--quant", "f32", "--layers", layers, "--pp", "none", "--depths", "none",
                              "--batch", "none", "--latency", n, "--batch-prompt", "8", "-t", "1")
            self.assertEqual(line["range"], {})
            return line["latency_us"]
        def more_layers_take_longer():
            few, many = latency(4, 200), latency(32, 50)
            self.assertEqual((few["tokens"], many["tokens"]), (200, 50))
            for measured in (few, many):
                self.assertTrue(0 < measured["p50"] <= measured["p99"] <= measured["max"], measured)
            self.assertGreater(many["p50"], 2 * few["p50"])
        self.compare_times(more_layers_take_longer)
        self.assertNotIn("latency_us", self.bench("--shape", "tiny-llama", "--quant", "q8_0", "--quick", "--pp", "8", "--depths", "none"))

    def test_slices_of_tokens(self):
        def measured(units):
            return self.bench("--shape", "tiny-llama", "--quant", "f32", "--layers", 16, "--pp", "none", "--depths", "none", "--batch",
                              "none", "--latency", 50, "--batch-prompt", "8", "-t", "1", *(["--slices", units] if units else []))
        def slices_are_short():
            whole, cut = measured(None), measured(2)
            self.assertNotIn("slice_us", whole)
            slices = cut["slice_us"]
            self.assertEqual(slices["units"], 2)
            self.assertGreater(slices["step_units"], 16)
            self.assertTrue(0 < slices["p50"] <= slices["p99"] <= slices["max"], slices)
            self.assertLess(slices["p50"], whole["latency_us"]["p50"] / 3)  # 2 of 18 units
            self.assertGreater(cut["latency_us"]["p50"], 3 * slices["p50"])
        self.compare_times(slices_are_short)
        self.run_tool("bench", "--slices", "2", "--shape", "tiny-llama", "--quant", "f32", code=2)

    def test_more_work_takes_longer(self):
        def seconds(layers):
            line = self.bench("--shape", "tiny-llama", "--quant", "f32", "--layers", layers, "--pp", "64", "--depths", "none",
                              "--batch", "none", "-t", "1")
            return 64 / line["range"]["pp64"][1]
        self.compare_times(lambda: self.assertGreater(seconds(32), 2 * seconds(4)))

    def test_a_saved_model_is_the_one_that_is_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "saved.gguf")
            short = ["--pp", "8", "--depths", "none", "--batch", "none", "-r", "1"]
            made = self.bench("--shape", "tiny-llama", "--quant", "q4_k_m", "--save", path, *short)
            self.assertEqual(made["model"], "tiny-llama.q4_k_m.gguf")
            self.assertEqual(os.path.getsize(path), made["model_bytes"])
            read = self.bench(path, *short)
            self.assertEqual((read["model"], read["params"]), ("saved.gguf", made["params"]))
            done = self.run_tool("bench", "--shape", "tiny-llama", "--quant", "q8_0", "--save", os.path.join(folder, "no", "x"), code=1)
            self.assertIn("cannot write", done.stderr.decode())
        self.assertIn("--save needs --shape", self.run_tool("bench", "x.gguf", "--save", "y.gguf", code=2).stderr.decode())

    def test_a_depth_beyond_the_model_is_an_error(self):
        done = self.run_tool("bench", "--shape", "tiny-llama", "--quant", "q8_0", "--depths", "9000", code=2)
        self.assertRegex(done.stderr.decode(), "need a context of 9128 tokens, and .* was trained for contexts of at most 8192")

    def test_the_defaults_fit_the_model(self):
        for model in (tool_case.OWN_MODEL, tool_case.OWN_MODEL.parent / "hf"):
            done = self.run_tool("bench", model, "-r", "1", "--batch", "2", "--batch-steps", "4")
            self.assertIn(b"fitted to the context that the model was trained for: --pp 256 --depths 0\n", done.stderr)
            self.assertEqual(list(json.loads(done.stdout)["range"]), ["pp256", "tg128@0", "batch2"])
        whole = self.run_tool("bench", tool_case.OWN_MODEL, "-r", "1")
        self.assertEqual(sorted(json.loads(whole.stdout)["range"]), sorted(["pp256", "tg128@0"] + [f"batch{n}" for n in (2, 4, 8, 16, 32)]))
        # What was asked for stays, and does not run.
        for asked in (["--pp", "512"], ["-p", "512"], ["--depths=500", "--tg", "128"]):
            self.assertIn(b"was trained for contexts of at most 512", self.run_tool("bench", tool_case.OWN_MODEL, *asked, code=2).stderr)
        self.assertIn("256 tokens after 0", self.run_tool("bench", tool_case.OWN_MODEL, "--profile", "-r", "1").stdout.decode())
        fits = self.run_tool("bench", "--shape", "tiny-llama", "--quant", "q8_0", "-r", "1", "--pp", "8", "--depths", "0", "--tg", "2", "--batch", "none")
        self.assertNotIn(b"fitted", fits.stderr)

    def test_the_first_stands_beside_the_median(self):
        line = self.bench("--shape", "tiny-llama", "--quant", "q8_0", "--pp", "24,8", "--depths", "none", "--batch", "none", "-r", "1")
        self.assertEqual(list(line["first_ms"]), ["pp24", "step@24"])
        for first, median in line["first_ms"].values():
            self.assertTrue(0 < first < 60000 and 0 < median < 60000)
        self.assertEqual(self.bench("--shape", "tiny-llama", "--quant", "q8_0", "--pp", "none", "--depths", "none", "--batch", "2", "--batch-steps", "2",
                                    "-r", "1")["first_ms"], {})

    def test_prompts_run_in_chunks_of_the_length_that_is_asked_for(self):
        prompt = ["--shape", "tiny-llama", "--quant", "q8_0", "--pp", "64", "--depths", "none", "--batch", "none", "-r", "1"]
        self.assertIn("pp64", self.bench(*prompt, "--prefill-chunk", "16"))
        done = self.run_tool("bench", *prompt, "--prefill-chunk", "5000", code=2)
        self.assertIn("prefill_chunk is 5000, expected 0 to 4096", done.stderr.decode())

    def test_what_was_measured_before_an_error_is_reported(self):
        # A token takes 4 KiB: 4 heads of 64, keys and values of 2 bytes, 4 layers. So four sessions of 100 are too many.
        line = self.bench("--shape", "tiny-llama", "--quant", "q4_0", "--pp", "8", "--depths", "none", "--batch", "2,4",
                          "--batch-prompt", "100", "--batch-steps", "2", "--kv-mib", "1", "-r", "1", code=1)
        self.assertEqual(list(line["range"]), ["pp8", "batch2"])
        self.assertIn("KV_FULL", line["error"])

    def test_sizes_are_those_of_the_real_files(self):
        rows = [row.split() for row in self.run_tool("bench", "--list").stdout.decode().splitlines()]
        recipes = rows[0][2:]
        sizes = {(row[0], recipe): int(n) for row in rows[1:] for recipe, n in zip(recipes, row[1:]) if n != "-"}
        for key, n_bytes in KNOWN_BYTES.items():
            self.assertEqual(sizes[key], n_bytes, key)
        self.assertNotIn(("llama3.1-8b", "mxfp4"), sizes)

    def test_mxfp4_is_for_models_with_experts(self):
        done = self.run_tool("bench", "--shape", "tiny-llama", "--quant", "mxfp4", "--quick", code=2)
        self.assertIn("'tiny-llama' has none", done.stderr.decode())


if __name__ == "__main__":
    tool_case.main()
