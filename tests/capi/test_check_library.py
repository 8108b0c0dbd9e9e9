"""Shows that check_library.py finds what it is there to find."""

import platform
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import check_library as check

DYNAMIC = """
 0x0000000000000001 (NEEDED)             Shared library: [libm.so.6]
 0x0000000000000001 (NEEDED)             Shared library: [libc.so.6]
 0x000000000000000e (SONAME)             Library soname: [libinlay.so.1]
"""
EXPORTS = """0000000000000000 A INLAY_1@@INLAY_1
0000000000001000 T inlay_load@@INLAY_1
0000000000001100 T inlay_free@@INLAY_1
"""
FUNCTIONS = ["inlay_load", "inlay_free"]
IMPORTS = """                 U memcpy@GLIBC_2.14
                 w __gmon_start__
"""


class Dynamic(unittest.TestCase):
    def test_accepts(self):
        self.assertEqual(check.dynamic_problems(DYNAMIC), [])

    def test_refuses(self):
        self.assertEqual(check.dynamic_problems(DYNAMIC.replace("libm.so.6", "libstdc++.so.6")), ["needs libstdc++.so.6"])
        self.assertEqual(check.dynamic_problems(DYNAMIC.replace("libm.so.6", "libcuda.so.1")), ["needs libcuda.so.1"])
        self.assertTrue(check.dynamic_problems(DYNAMIC.replace("libinlay.so.1", "libinlay.so")))
        self.assertTrue(check.dynamic_problems(DYNAMIC + " 0x16 (TEXTREL) 0x0\n"))
        self.assertTrue(check.dynamic_problems(DYNAMIC + " 0x1d (RUNPATH) Library runpath: [/tmp]\n"))
        self.assertTrue(check.dynamic_problems(""))


class Descriptors(unittest.TestCase):
    RELOCATIONS = """
    Offset             Info             Type               Symbol's Value  Symbol's Name + Addend
00000000001ff000  0000000000000010 R_X86_64_DTPMOD64                         0
00000000001ff010  0000000000000012 R_X86_64_TPOFF64                          40
"""

    def test_accepts(self):
        self.assertEqual(check.descriptor_problems(self.RELOCATIONS), [])

    def test_refuses(self):
        with_one = self.RELOCATIONS + "00000000001ff020  0000000000000024 R_X86_64_TLSDESC                         18\n"
        self.assertEqual(len(check.descriptor_problems(with_one)), 1)

    if platform.machine() == "x86_64" and shutil.which("gcc"):

        def test_refuses_what_a_compiler_makes(self):
            with tempfile.TemporaryDirectory() as folder:
                source = Path(folder, "one.c")
                source.write_text("static __thread int n; int* get(void) { return &n; }\n", encoding="utf-8")
                for dialect, n in (("gnu", 0), ("gnu2", 1)):
                    library = Path(folder, f"{dialect}.so")
                    subprocess.run(["gcc", "-shared", "-fPIC", f"-mtls-dialect={dialect}", "-o", library, source], check=True)
                    self.assertEqual(len(check.descriptor_problems(check.run("readelf", "-rW", str(library)))), n, dialect)


class Exports(unittest.TestCase):
    def test_accepts(self):
        self.assertEqual(check.export_problems(EXPORTS, FUNCTIONS), [])

    def test_refuses(self):
        for extra in ("malloc", "_Znwm", "free", "mi_malloc", "inlay_secret"):
            text = EXPORTS + f"0000000000001200 T {extra}@@INLAY_1\n"
            self.assertEqual(check.export_problems(text, FUNCTIONS), [f"exports {extra}"])
        self.assertEqual(check.export_problems(EXPORTS, [*FUNCTIONS, "inlay_prefill"]), ["does not export inlay_prefill"])
        self.assertEqual(check.export_problems(EXPORTS.replace("load@@INLAY_1", "load"), FUNCTIONS), ["inlay_load has no version"])


class Imports(unittest.TestCase):
    def test_accepts(self):
        self.assertEqual(check.import_problems(IMPORTS), [])

    def test_refuses(self):
        self.assertTrue(check.import_problems(IMPORTS + "                 U cuInit\n"))
        self.assertTrue(check.import_problems(IMPORTS + "                 U _Znwm@GLIBCXX_3.4\n"))

    def test_versions(self):
        later = IMPORTS + "                 U arc4random@GLIBC_2.36\n"
        self.assertEqual(check.version_problems(later, "2.36"), [])
        self.assertEqual(check.version_problems(IMPORTS, "2.4"), ["memcpy needs version 2.14 of the C library, later than 2.4"])
        self.assertEqual(check.version_problems(later, "2.35"), ["arc4random needs version 2.36 of the C library, later than 2.35"])
        self.assertEqual(check.version_problems("", "2.36"), ["no version of the C library was read"])


if __name__ == "__main__":
    unittest.main()
