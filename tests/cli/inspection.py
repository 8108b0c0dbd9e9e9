"""bench --profile and compare: the tables add up, the trace is JSON, and a damaged weight is found at its operation."""
import json
import pathlib
import struct
import tempfile

import tool_case
from tool_case import DEVICE, OWN_MODEL, ModelCase, ToolCase

KINDS = ["embed", "attn_in", "attention", "attn_out", "ffn_in", "ffn_out", "head", "sample"]
N_LAYERS = 6  # of OWN_MODEL


def tensor_offset(path, wanted):
    """Where a tensor's bytes begin in a GGUF file, read from its directory."""
    data = pathlib.Path(path).read_bytes()
    at = 8

    def take(form):
        nonlocal at
        (value,) = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize(form)
        return value

    def text():
        nonlocal at
        n = take("Q")
        at += n
        return data[at - n:at].decode(errors="replace")

    scalars = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}

    def value(kind):
        if kind == 8:
            return text()
        if kind == 9:
            element = take("I")
            return [value(element) for _ in range(take("Q"))]
        return take(scalars[kind])

    n_tensors, n_entries = take("Q"), take("Q")
    alignment, offset = 32, None
    for _ in range(n_entries):
        name = text()
        read = value(take("I"))
        alignment = read if name == "general.alignment" else alignment
    for _ in range(n_tensors):
        name = text()
        for _ in range(take("I")):
            take("Q")
        take("I")
        begin = take("Q")
        offset = begin if name == wanted else offset
    return (at + alignment - 1) // alignment * alignment + offset


class Inspection(ModelCase):
    def profile(self, *arguments):
        return self.run_tool("bench", OWN_MODEL, "--profile", "-t", 2, "-r", 3, *arguments).stdout.decode()

    def compare(self, *arguments, code=0):
        return ToolCase.run_tool(self, "compare", *arguments, "--device-b", DEVICE, code=code).stdout.decode()

    def test_profile_of_a_token_and_of_a_prompt(self):
        tables = self.profile("--depths", 20, "--pp", 32, "--pp-depths", "0,9").strip().split("\n\n")
        self.assertEqual(len(tables), 3)
        self.assertTrue(tables[0].startswith("1 token after 20 cached on "), tables[0])
        self.assertTrue(tables[1].startswith("32 tokens after 0 cached on "), tables[1])
        self.assertTrue(tables[2].startswith("32 tokens after 9 cached on "), tables[2])
        for table in tables:
            rows = {line.split()[0]: line.split() for line in table.splitlines()[2:]}
            self.assertEqual(list(rows), KINDS + ["sum", "whole"])
            for column in (1, 4):  # calls and bytes
                self.assertEqual(int(rows["sum"][column]), sum(int(rows[kind][column]) for kind in KINDS))
            self.assertAlmostEqual(float(rows["sum"][2]), sum(float(rows[kind][2]) for kind in KINDS), delta=1)
            self.assertEqual(int(rows["attention"][1]), N_LAYERS)

    def test_timeline_and_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.json"
            text = self.profile("--pp", "none", "--timeline", "--trace", path)
            trace = json.loads(path.read_text())
        ops = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        self.assertEqual(len(ops), 5 * N_LAYERS + 3)
        self.assertEqual([op["name"] for op in ops][-2:], ["head", "sample"])
        lines = [line.split() for line in text.split("\n\n")[0].splitlines()[2:]]
        self.assertEqual([line[2] for line in lines], [op["name"] for op in ops])
        for before, after in zip(ops, ops[1:]):
            self.assertAlmostEqual(before["ts"] + before["dur"], after["ts"], delta=0.01)

    def test_where_it_cannot_write_is_named(self):
        done = self.run_tool("bench", OWN_MODEL, "--profile", "--pp", "none", "-r", 1, "--trace", "/nowhere/trace.json", code=1)
        self.assertIn("/nowhere/trace.json", done.stderr.decode())

    def test_two_devices_agree(self):
        text = self.compare(self.model)
        self.assertIn("no op has an NMSE above 0.001", text)
        self.assertIn("on reference", text.splitlines()[0])
        # Negative control: nothing is as equal as that.
        text = self.compare(self.model, "--limit", "0", code=1)
        self.assertRegex(text.splitlines()[-1], "^first above 0: ")

    def test_two_files_run_on_one_device(self):
        text = ToolCase.run_tool(self, "compare", OWN_MODEL, OWN_MODEL, "--limit", "0").stdout.decode()
        (first, second) = text.splitlines()[:2]
        self.assertEqual(first.replace("a: ", "b: "), second)
        self.assertNotIn("on reference", first)
        # Negative control: with one file the reference interpreter counts as right.
        self.assertIn("on reference", self.compare(OWN_MODEL).splitlines()[0])

    def test_two_devices_agree_on_models_with_experts(self):
        for shape in ("tiny-qwen3moe", "tiny-gpt-oss"):
            with self.subTest(shape=shape), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "experts.gguf"
                self.run_tool("bench", "--shape", shape, "--quant", "f32", "--layers", 2, "--save", path, "--pp", 1, "--depths", "none",
                              "--batch", "none", "-r", 1)
                text = self.compare(path)
                self.assertIn("no op has an NMSE above 0.001", text)
                for op, what in (("moe_route", "router"), ("moe_in", "experts"), ("moe_out", "hidden")):
                    self.assertRegex(text, f"{op} +.*{what}")

    def test_a_prompt_in_words(self):
        text = self.compare(OWN_MODEL, "--prompt", "Mira is a kind innkeeper")
        self.assertIn("prompt", text)
        self.assertIn("decode", text)

    def test_one_damaged_byte_is_found(self):
        tensors = {"attn_q": "attn_in", "attn_output": "attn_out", "ffn_gate": "ffn_in", "ffn_down": "ffn_out"}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "damaged.gguf"
            for tensor, op in tensors.items():
                with self.subTest(tensor=tensor):
                    data = bytearray(OWN_MODEL.read_bytes())
                    data[tensor_offset(OWN_MODEL, f"blk.1.{tensor}.weight") + 1] = 0x60  # the first block's scale, an F16
                    path.write_bytes(data)
                    text = self.compare(OWN_MODEL, path, code=1)
                    self.assertRegex(text.splitlines()[-1], f"^first above 0.001: prompt, op [0-9]+, {op} of layer 1, NMSE ")


if __name__ == "__main__":
    tool_case.main()
