#!/usr/bin/env python3
"""Tests of check_text.py: each kind of problem is found, and only that."""
import pathlib
import tempfile
import unittest

import check_text


def problems(name, text):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode())
        return [p.split(": ", 1)[1] for p in check_text.check_tree(root)]


class Text(unittest.TestCase):
    def test_clean(self):
        self.assertEqual(problems("src/a.cpp", "int f();  // a relative path: ../work/x\n"), [])
        self.assertEqual(problems("a.sh", 'cache="${HOME}/work/x"\n'), [])
        self.assertEqual(problems("b/a.go", "\tx := 1\n"), [])
        self.assertEqual(problems("build/a.cpp", "int x;\t\n"), [])

    def test_lines(self):
        for line, problem in [
            ("int x; ", "trailing blank"),
            ("int\tx;", "tab"),
            ("int x;\r", "carriage return"),
            ("// TO" "DO: later", "leftover word TO" "DO"),
            ("// FIX" "ME", "leftover word FIX" "ME"),
            ("# XX" "X", "leftover word XX" "X"),
            ("// a place" "holder", "leftover word place" "holder"),
            ('open("/wor' 'k/model")', "path of one machine: /wor" "k/"),
            ("cd /ro" "ot/x", "path of one machine: /ro" "ot/"),
        ]:
            found = problems("src/a.cpp", f"int f();\n{line}\n")
            self.assertIn(problem, found, line)

    def test_calls_that_follow_the_locale(self):
        for line, problem in [
            ('  std::snprintf(text, sizeof text, "%g", x);', "snprintf("), ("  x = std::stod(text);", "stod("), ("  return strtod(p, &end);", "strtod("),
            ("  const char* text = strerror(errno);", "strerror("), ("  if (std::isalpha(c)) return;", "isalpha("),
            ("  c = std::tolower(c);", "tolower("), ("  std::system_category().message(n);", "std::system_category"),
            ("  text = e.what();", ".what()"), ("#include <sstream>", "#include <sstream>"), ('  sscanf(line, "%lf", &x);', "sscanf("),
            ("  const char* text = dlerror();", "dlerror("),
        ]:
            for name in ("src/a.cpp", "kernels/a.h"):
                self.assertEqual(problems(name, f"{line}\n"), [f"follows the host's locale: {problem}"], line)
            self.assertEqual(problems("tests/a.cpp", f"{line}\n"), [])
        self.assertEqual(problems("src/base/format.cpp", "  std::vsnprintf(out, n, format, args);\n"), [])
        self.assertEqual(problems("src/a.cpp", "  append_format(out, format, x);\n  is_ascii_digit(c);\n"), [])

    def test_calls_of_the_tool_that_follow_the_locale(self):
        for line, problem in [
            ('  std::setlocale(LC_ALL, "");', "sets a locale, which what is printed would follow: setlocale("),
            ("  std::cout.imbue(x);", "sets a locale, which what is printed would follow: imbue("),
            ('  auto x = std::locale("");', "sets a locale, which what is printed would follow: std::locale"),
            ("#include <clocale>", "sets a locale, which what is printed would follow: #include <clocale>"),
            ('  std::snprintf(text, sizeof text, "%g", x);', "follows the locale: snprintf("), ("  x = std::stod(text);", "follows the locale: stod("),
            ("  x = std::strtod(text, &end);", "follows the locale: strtod("), ("  if (std::isspace(c)) return;", "follows the locale: isspace("),
            ('  std::fscanf(file, "%lf", &x);', "follows the locale: fscanf("), ("#include <cctype>", "follows the locale: #include <cctype>"),
        ]:
            self.assertEqual(problems("examples/cli/a.cpp", f"{line}\n"), [problem], line)
            self.assertEqual(problems("tests/a.cpp", f"{line}\n"), [])
        self.assertEqual(problems("examples/cli/line_reader.cpp", "  uselocale(utf8);\n"), [])
        self.assertEqual(problems("examples/cli/line_reader.cpp", "  x = std::stod(text);\n"), ["follows the locale: stod("])
        self.assertEqual(problems("examples/cli/a.cpp", '  std::printf("%.1f", x);\n  std::fscanf(file, "cpu %llu", &n);\n'), [])

    def test_library_calls(self):
        for line, problem in [
            ("  assert(x);", "not in a library: assert("),
            ("  std::abort();", "not in a library: abort("),
            ("  if (x) throw 1;", "not in a library: ) throw"),
            ('  printf("x");', "not in a library: printf("),
            ("  std::cerr << x;", "not in a library: std::cerr"),
            ('  auto v = getenv("X");', "not in a library: the environment is read"),
        ]:
            self.assertEqual(problems("src/a.cpp", line + "\n"), [problem], line)
            self.assertEqual(problems("tests/a.cpp", line + "\n"), [], line)
        self.assertEqual(problems("src/base/environment.cpp", 'auto v = getenv("X");\n'), [])
        for line in ("static_assert(true);", "append_format(b, x);", "// abort() is never called", "f(printf, 2, 3);"):
            self.assertEqual(problems("src/a.cpp", line + "\n"), [], line)

    def test_uncounted_calls_of_cuda(self):
        for call in ("cudaStreamSynchronize(", "cudaEventSynchronize(", "cudaDeviceSynchronize(", "cudaMemcpy(", "cudaMalloc(", "cudaMallocAsync(",
                     "cudaHostAlloc(", "cudaFree(", "cudaFreeHost(", "cudaGraphLaunch("):
            self.assertEqual(problems("src/backend/cuda/a.cpp", f"  {call}x);\n"), [f"only by src/backend/cuda/device.h: {call}"])
            self.assertEqual(problems("src/backend/cuda/device.cpp", f"  {call}x);\n"), [])
            self.assertEqual(problems("tests/cuda/a.cu", f"  {call}x);\n"), [])
        self.assertEqual(problems("src/backend/cuda/a.cpp", "  cudaMemcpyAsync(x); cudaMemGetInfo(y);\n"), [])

    def test_limits_of_the_process(self):
        for use in ("hardware_concurrency(", "sched_getaffinity(", "sysinfo(", "get_nprocs(", "_SC_NPROCESSORS_ONLN", "_SC_PHYS_PAGES", "/proc/meminfo"):
            self.assertEqual(problems("src/a.cpp", f"  {use};\n"), [f"only by src/base/host_limits.h: {use}"])
            self.assertEqual(problems("src/base/host_limits.cpp", f"  {use};\n"), [])
        self.assertEqual(problems("src/a.cpp", "  sysconf(_SC_PAGESIZE);\n"), [])

    def test_files_left_behind(self):
        for name in ("src/a.cpp.orig", "src/a.cpp.rej", "docs/a.md.bak", "src/a.cpp~"):
            self.assertEqual(problems(name, "int f();\n"), ["left behind by a patch or an editor"], name)
        self.assertEqual(problems("src/original.cpp", "int f();\n"), [])

    def test_files(self):
        self.assertEqual(problems("src/a.cpp", "int x;"), ["no newline at the end"])
        self.assertEqual(problems("src/a.cpp", "int x;\n" * 700), [])
        self.assertEqual(problems("src/a.cpp", "int x;\n" * 701), ["701 lines, more than 700"])
        self.assertEqual(problems("src/a.cpp", "// Generated by b.py.\n" + "int x;\n" * 701), [])


if __name__ == "__main__":
    unittest.main()
