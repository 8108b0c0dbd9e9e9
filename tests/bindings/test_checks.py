"""The checks of this folder notice what they are for."""
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import call_cost
import compare_tokens
import count_functions
import packages

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


NUSPEC = """<package xmlns="a"><metadata><id>Inlay</id><version>1</version><description>of 0.0 MB</description><readme>r</readme><tags>t</tags>
<authors>a</authors><repository type="git" />{more}</metadata></package>"""
README = "No licence has been given."


class Packages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.feed = Path(folder.name)

    def package(self, name, more="", **files):
        path = self.feed / name
        with zipfile.ZipFile(path, "w") as file:
            for member, content in {"Inlay.nuspec": NUSPEC.format(more=more), "README.md": README, **files}.items():
                file.writestr(member, content)
        return path

    def refused(self, words, check, *arguments):
        with self.assertRaises(SystemExit) as refused:
            check(*arguments)
        self.assertIn(words, str(refused.exception))

    def test_metadata(self):
        packages.check_metadata(self.package("a"), "Inlay", "1")
        self.refused("'2'", packages.check_metadata, self.package("a"), "Inlay", "2")
        self.refused("Inlay's licence: {'license'}", packages.check_metadata, self.package("a", "<license>MIT</license>"), "Inlay", "1")
        self.refused("readme", packages.check_metadata, self.package("a", **{"README.md": ""}), "Inlay", "1")
        self.refused("a folder of the machine: ['x.dll']", packages.check_metadata, self.package("a", **{"x.dll": f"{packages.CSHARP}/x"}), "Inlay", "1")

    def test_native(self):
        library = self.feed / "library"
        library.write_bytes(b"ELF")
        path = packages.NATIVE_FILES[packages.NATIVE]
        packages.check_native(self.package("a", **{path: "ELF"}), path, library)
        self.refused("the one given", packages.check_native, self.package("a", **{path: "ELG"}), path, library)
        self.refused("files", packages.check_native, self.package("a", **{path: "ELF"}), packages.NATIVE_FILES[packages.NATIVE_WINDOWS], library)
        self.refused("files", packages.check_native, self.package("a", **{path + "/libinlay.so.1": "ELF"}), path, library)
        library.write_bytes(bytes(200000))
        self.refused("tells 0.2 MB", packages.check_native, self.package("a", **{path: bytes(200000)}), path, library)

    def test_symbols(self):
        self.package("Inlay.1.nupkg", **{"lib/net8.0/Inlay.dll": ""})
        self.package("Inlay.1.snupkg", **{"lib/net8.0/Inlay.pdb": "\x06csharp"})
        packages.check_managed(self.feed, "1", ["net8.0"])
        self.refused("Inlay's files", packages.check_managed, self.feed, "1", ["net8.0", "net10.0"])
        part = max(*packages.CSHARP.parts[1:-2], *Path(tempfile.gettempdir()).parts[1:], key=len)
        self.package("Inlay.1.snupkg", **{"lib/net8.0/Inlay.pdb": bytes([len(part)]) + part.encode()})
        self.refused("folder of the machine", packages.check_managed, self.feed, "1", ["net8.0"])

    def test_only_what_nuget_lacks_skips(self):
        lacks = "a.csproj : error NU1101: Unable to find package runtime.linux-x64.X. [a.csproj]\n"
        self.assertEqual(packages.not_to_be_had(lacks), "Unable to find package runtime.linux-x64.X.")
        self.assertEqual(packages.not_to_be_had(lacks + "a.cs(1,1): error CS0246: no type [a.csproj]\n"), "")
        self.assertEqual(packages.not_to_be_had(lacks + lacks.replace("runtime.linux-x64.X", "Inlay")), "")
        self.assertEqual(packages.not_to_be_had("error IL2057: a warning\n"), "")


if __name__ == "__main__":
    unittest.main()
