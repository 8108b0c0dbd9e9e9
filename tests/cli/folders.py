"""The tool on a Hugging Face folder, and convert."""
import json
import pathlib
import shutil
import tempfile

import tool_case
from tool_case import OWN_MODEL, DeviceCase

FOLDER = OWN_MODEL.parent / "hf"
TALE = ("--raw", "--prompt", "Once upon a time, a small fox", "-n", "24", "--temp", "0", "-q")


class Folders(DeviceCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)

    def test_a_folder_writes_what_its_gguf_file_writes(self):
        text = self.run_tool("run", OWN_MODEL, *TALE).stdout
        self.assertGreater(len(text), 40)
        for path in (FOLDER, FOLDER / "config.json", FOLDER / "model.safetensors"):
            self.assertEqual(self.run_tool("run", path, *TALE).stdout, text)

    def test_info_plan_and_bench_take_a_folder(self):
        self.assertIn("llama.block_count = 6\n", self.run_tool("info", FOLDER).stdout.decode())
        self.assertIn("model.layers.5.mlp.down_proj.weight[192x512 F16]", self.run_tool("plan", FOLDER).stdout.decode())
        line = self.run_tool("bench", FOLDER, "--pp", "16", "--depths", "0", "--tg", "4", "--batch", "none", "-r", "1").stdout
        sizes = [json.loads(self.run_tool("bench", path, "--pp", "16", "--depths", "none", "--batch", "none", "-r", "1").stdout)["model_bytes"]
                 for path in (FOLDER, FOLDER / "model.safetensors")]
        self.assertGreater(json.loads(line)["tg4@0"], 0)
        self.assertEqual(sizes[0], sizes[1])
        self.assertGreaterEqual(sizes[0], (FOLDER / "model.safetensors").stat().st_size)

    def test_convert_keeps_the_text_and_shrinks_the_file(self):
        text = self.run_tool("run", OWN_MODEL, *TALE).stdout
        sizes = []
        for kind in ("f16", "q8_0", "q4_0"):
            made = self.scratch / f"{kind}.gguf"
            tool_case.ToolCase.run_tool(self, "convert", FOLDER, made, "--type", kind, "--threads", "2")
            sizes.append(made.stat().st_size)
            written = self.run_tool("run", made, *TALE).stdout
            if kind == "f16":
                self.assertEqual(written, text)
        self.assertEqual(sizes, sorted(sizes, reverse=True))

    def test_a_decoder_used_as_an_encoder_embeds_and_writes_nothing(self):
        both_ways = self.scratch / "both_ways"
        shutil.copytree(FOLDER, both_ways)
        config = json.loads((both_ways / "config.json").read_text())
        (both_ways / "config.json").write_text(json.dumps(config | {"is_causal": False}))
        embed = lambda path, text: tool_case.ToolCase.run_tool(self, "embed", path, "--pooling", "first", text).stdout  # on any device that can
        first = [embed(path, text) for path in (both_ways, FOLDER) for text in ("A fox.", "A fox ran home.")]
        self.assertNotEqual(first[0], first[1])  # the first token has seen what comes behind it
        self.assertEqual(first[2], first[3])
        made = self.scratch / "made.gguf"
        tool_case.ToolCase.run_tool(self, "convert", both_ways, made)
        self.assertEqual(embed(made, "A fox."), first[0])
        for path, key in ((both_ways, "is_causal"), (made, "llama.attention.causal")):
            for arguments in (("run", path, "--prompt", "x"), ("bench", path), ("perplexity", path, FOLDER / "config.json", "--ctx", "64")):
                self.assertIn(f"{key} is false: the model's tokens see those behind them", tool_case.ToolCase.run_tool(self, *arguments, code=1).stderr.decode())

    def test_what_is_wrong_is_named(self):
        def failure(*arguments):
            return tool_case.ToolCase.run_tool(self, *arguments, code=1).stderr.decode()

        broken = self.scratch / "broken"
        shutil.copytree(FOLDER, broken)
        config = json.loads((broken / "config.json").read_text())
        (broken / "config.json").write_text(json.dumps(config | {"quantization_config": {"quant_method": "bitsandbytes"}}))
        self.assertIn(f"{broken}{tool_case.SEPARATOR}config.json: quantization_config.quant_method is 'bitsandbytes', expected awq", failure("info", broken))
        (broken / "config.json").write_text(json.dumps(config | {"model_type": "mamba"}))
        self.assertIn("model_type is 'mamba'", failure("run", broken, "--prompt", "x"))
        (broken / "config.json").write_text(json.dumps(config))
        weights = (FOLDER / "model.safetensors").read_bytes()
        (broken / "model.safetensors").write_bytes(weights[:-1000])
        self.assertIn(f"{broken}{tool_case.SEPARATOR}model.safetensors: the file has {len(weights) - 1000} bytes, but its header asks for {len(weights)}:", failure("plan", broken))
        self.assertIn("config.json", failure("convert", self.scratch, self.scratch / "x.gguf"))
        self.assertEqual(sorted(p.name for p in self.scratch.iterdir()), ["broken"])


if __name__ == "__main__":
    tool_case.main()
