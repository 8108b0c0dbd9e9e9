"""The checks of this folder notice what they are for."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import call_cost
import compare_tokens
import count_functions

NAMES = ["a", "b"]
GOOD = b"a 1 2 3\nb 4 5 6\ntogether:\na 1 2 3\nb 4 5 6\n"


class Tokens(unittest.TestCase):
    def wrong(self, output, words):
        self.assertIn(words, "\n".join(compare_tokens.output_problems(output, NAMES)))

    def test_accepts(self):
        self.assertEqual(compare_tokens.output_problems(GOOD, NAMES), [])
        self.assertEqual(compare_tokens.difference(GOOD, GOOD), "")

    def test_refuses_output_that_is_no_measure(self):
        self.wrong(GOOD.replace(b"together:", b"together"), "not 'together:'")
        self.wrong(GOOD.replace(b"b 4", b"c 4"), "names of the cases")
        self.wrong(b"a\nb 4 5\ntogether:\na\nb 4 5\n", "a has no tokens")
        self.wrong(GOOD[:-2] + b"7\n", "b draws other tokens together")
        self.wrong(GOOD[:-8], "1 cases were run together")
        self.wrong(GOOD.replace(b"4 5 6", b"1 2 3"), "two cases draw the same")

    def test_sees_one_byte(self):
        self.assertIn("line 2 is", compare_tokens.difference(GOOD, GOOD.replace(b"b 4 5 6", b"b 4 5 7", 1)))
        self.assertIn("line 1 is", compare_tokens.difference(GOOD, GOOD.replace(b"\n", b"\r\n")))
        self.assertIn("lines", compare_tokens.difference(GOOD, GOOD + b"\n"))
        self.assertTrue(compare_tokens.difference(GOOD, b""))


class Functions(unittest.TestCase):
    def test_exports_are_read(self):
        text = "0000000000001000 T inlay_load@@INLAY_1\n0000000000001100 T inlay_free@@INLAY_1\n0000 A INLAY_1\n                 U inlay_other\n"
        self.assertEqual(count_functions.exported(text), ["inlay_free", "inlay_load"])

    def test_only_code_counts(self):
        functions = ["inlay_load", "inlay_load_memory"]
        self.assertEqual(count_functions.lacking("fn inlay_load(); inlay_load_memory();", functions), [])
        self.assertEqual(count_functions.lacking("C.go_inlay_load(); C.go_inlay_load_memory()", functions), [])
        self.assertEqual(count_functions.lacking("inlay_load_memory();", functions), ["inlay_load"])
        self.assertEqual(count_functions.lacking("// inlay_load\n/* inlay_load\n */ inlay_load_memory();", functions), ["inlay_load"])


class CallCost(unittest.TestCase):
    def test_table(self):
        self.assertEqual(call_cost.split(["c", "a", "b", "--", "go", "d"]), {"c": ["a", "b"], "go": ["d"]})
        times = call_cost.parse("abi_version 2.5\nsession_get_info 30\ndecode_step 1000\n")
        self.assertIn("| go | 2.5 | 30.0 | 2000 (2.00x) |", call_cost.table({"c": times, "go": times | {"decode_step": 2000.0}}))

    def test_refuses(self):
        for output in ("", "abi_version 2.5\n", "abi_version 0\nsession_get_info 30\ndecode_step 1000\n", "abi_version 1\ndecode_step 2\nsession_get_info 3\n"):
            with self.assertRaises(ValueError):
                call_cost.parse(output)


if __name__ == "__main__":
    unittest.main()
