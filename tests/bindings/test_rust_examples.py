"""Each public function of the Rust crate has an example in its documentation, which `bindings.rust_documentation` compiles and, unless it is
marked `no_run`, runs. Of generated code the raw layer and the enumerations' numbers are left out; setters say what they set."""
import pathlib
import re
import unittest

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "bindings/rust/src"
GENERATED = {"raw.rs", "enums.rs"}
# What a program cannot do beside others, or without a model of its own: convert writes a file, and the library's path is the program's.
NOT_RUN = {"Engine::convert", "Engine::convert_with", "Library::convert", "Library::convert_with", "Library::open", "Library::linked"}


def functions(text):
    """Each public function with the fence that begins its example, or None."""
    owner, documentation = "", []
    for line in text.split("#[cfg(test)]\nmod tests")[0].splitlines():
        if impl := re.match(r"impl(?:<[^>]*>)? (?:.* for )?(\w+)", line):
            owner = impl[1]
        elif found := re.match(r"(\s*)pub (?:const |unsafe )*fn (\w+)", line):
            fences = [doc for doc in documentation if doc.startswith("```")]
            yield (f"{owner}::" if found[1] else "") + found[2], fences[0] if len(fences) >= 2 else None
        if line.strip().startswith("///"):
            documentation.append(line.strip()[3:].strip())
        elif not re.match(r"\s*#\[", line):
            documentation = []


def all_functions():
    return [f for path in sorted(SOURCES.glob("*.rs")) if path.name not in GENERATED for f in functions(path.read_text(encoding="utf-8"))]


class Examples(unittest.TestCase):
    def test_each_function_has_one(self):
        found = all_functions()
        self.assertEqual([name for name, fence in found if fence is None], [])
        self.assertEqual({name for name, fence in found if fence != "```"}, NOT_RUN)
        self.assertGreater(len(found), 100)
        print(f"{len(found)} functions")

    def test_one_without_is_noticed(self):
        with_one = "impl A {\n    /// Does.\n    ///\n    /// ```\n    /// a();\n    /// ```\n    #[must_use]\n    pub fn a() {}\n"
        self.assertEqual(list(functions(with_one + "    /// Does too.\n    pub fn b() {}\n}\n")), [("A::a", "```"), ("A::b", None)])
        self.assertEqual(list(functions("/// ```no_run\n/// x\n/// ```\npub unsafe fn c() {}\nfn d() {}\n")), [("c", "```no_run")])


if __name__ == "__main__":
    unittest.main()
