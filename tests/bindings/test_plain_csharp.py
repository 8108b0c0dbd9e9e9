"""What Mono's compiler is given of the C# binding: the sources without the marks of nullable references, and nothing else changed."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bindings/csharp"))
import plain


def stripped(text: str) -> str:
    return plain.without_marks(text, plain.value_types([text]))


class Marks(unittest.TestCase):
    def test_of_references_go(self):
        for marked, bare in {"string? a;": "string a;", "byte[]? a;": "byte[] a;", "IList<int>? a;": "IList<int> a;",
                             "f(Action<string?, IList<int?>?>? a, T? b)": "f(Action<string, IList<int?>> a, T b)",
                             "string?[] a;": "string[] a;", "(string?)a": "(string)a", "Raw.Api? a;": "Raw.Api a;",
                             "a! b()! c[0]! d<e>()!.f": "a b() c[0] d<e>().f", "null!;": "null;"}.items():
            self.assertEqual(stripped(marked), bare)

    def test_of_values_stay(self):
        for text in ["int? a;", "TimeSpan? a;", "KeyValuePair<int, string>? a;", "struct Own { } Own? a;", "enum Own { } Own? a;"]:
            self.assertEqual(stripped(text), text)

    def test_operators_stay(self):
        for text in ["a ? b : c", "f() ? -1 : 1", "a?.b", "a ?? b", "a != b", "a!=b", "if (!a && !b) return !c;", "f(!a)"]:
            self.assertEqual(stripped(text), text)

    def test_comments_strings_and_directives_stay(self):
        for text in ["// string? a!", "/* string?\n a! */", '"string? a!"', '"\\"string? a!"', '@"c:\\"; "string? a!"', "'?'; '!'; '\\''",
                     '@"a""string? b!"', "#if A! \nb", "/// <summary>string?</summary>"]:
            self.assertEqual(stripped(text), text)

    def test_lines_keep_their_numbers(self):
        self.assertEqual(stripped("a\n#nullable disable\nstring? b;\n  #nullable enable\nc"), "a\n\nstring b;\n\nc")

    def test_unclear_ones_are_refused(self):
        for text in ["a?b : c", "a?\"b\" : c", "f()\nx?[0]", "a !b!c"]:
            with self.assertRaises(plain.Unclear, msg=text):
                stripped(text)


class Program(unittest.TestCase):
    def run_on(self, text: str) -> tuple[subprocess.CompletedProcess, str]:
        with tempfile.TemporaryDirectory() as folder:
            source, out = Path(folder) / "Some.cs", Path(folder) / "out"
            source.write_text(text, encoding="utf-8")
            command = [sys.executable, "-B", plain.__file__, str(out), str(source)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            written = out / "Some.cs"
            return done, written.read_text(encoding="utf-8").replace(str(source.resolve()), "SOURCE") if written.exists() else ""

    def test_the_compiler_is_told_the_source(self):
        done, written = self.run_on("string? a;\n")
        self.assertEqual((done.returncode, written), (0, '#line 1 "SOURCE"\nstring a;\n'))

    def test_a_refusal_names_the_line(self):
        done, written = self.run_on("string? a;\nb = c?d : e;\n")
        self.assertEqual((done.returncode, written), (1, ""))
        self.assertRegex(done.stderr, r"Some\.cs: line 2: ")


class Sources(unittest.TestCase):
    def test_there_is_something_to_take_out(self):
        sources = [p.read_text(encoding="utf-8") for p in sorted((ROOT / "bindings/csharp/src").glob("*.cs"))]
        values = plain.value_types(sources)
        self.assertIn("StepEvent", values)
        self.assertNotIn("LoadOptions", values)
        changed = [text for text in sources if plain.without_marks(text, values) != text]
        self.assertGreater(len(changed), 5)
        for text in changed:
            self.assertEqual(text.count("\n"), plain.without_marks(text, values).count("\n"))


if __name__ == "__main__":
    unittest.main()
