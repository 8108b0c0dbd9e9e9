#!/usr/bin/env python3
"""Fails on an #include of our own that the layering does not allow, and on CUDA headers outside the CUDA backend.

Usage: check_includes.py [ROOT]
"""
import fnmatch
import pathlib
import re
import sys

# Folder: patterns of the headers it may include, besides its own. The longest folder that matches a file decides.
ALLOWED = {
    "kernels": ["kernels/*"],
    "src/base": ["kernels/common/*"],
    "src/formats": ["src/base/*"],
    "src/tokenizer": ["src/base/*", "src/formats/*"],
    # The tokenizer's knowledge of characters, not the tokenizer.
    "src/template": ["src/base/*", "src/formats/*", "src/tokenizer/utf8.h", "src/tokenizer/unicode_class.h"],
    # The tokenizer's knowledge of characters, and the vocabulary by an interface of its own.
    "src/constraint": ["src/base/*", "src/formats/*", "src/tokenizer/utf8.h", "src/tokenizer/unicode_class.h"],
    "src/chat_format": ["src/base/*", "src/formats/*", "src/tokenizer/tokenizer.h", "src/tokenizer/utf8.h"],
    "src/sampler": ["src/base/*", "kernels/common/*"],
    "src/profile": ["src/base/*"],
    "src/model": ["kernels/common/*", "kernels/ref/dequantize.h", "kernels/cpu/cpu_kernels.h", "src/base/*", "src/formats/*"],
    "src/plan": ["src/base/*", "src/model/*"],
    "src/backend": ["src/base/*", "src/plan/*", "src/sampler/*", "kernels/*"],
    # The engine sees a backend through the interface and the one header that creates it.
    "src/engine": ["src/base/*", "src/formats/*", "src/tokenizer/*", "src/template/*", "src/constraint/*", "src/chat_format/*", "src/sampler/*", "src/profile/*",
                   "src/model/*", "src/plan/*", "src/backend/*.h", "src/backend/*/*_backend.h"],
    "src/capi": ["src/base/*", "src/engine/*", "include/capi/*"],
    "include": [],
    "examples": ["include/capi/*", "src/base/printable.h", "src/base/wide_path.h", "src/base/windows_api.h",
                 "src/formats/json.h"],  # files that stand alone, and a reader of JSON
}
CUDA_FOLDERS = ("kernels/cuda/", "src/backend/cuda/", "tests/cuda/")
CUDA_HEADER = re.compile(r"^(cuda|cublas|cooperative_groups|cub/|nvrtc|nvml|nvtx|nccl|mma\.h)")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
SUFFIXES = {".h", ".hpp", ".c", ".cc", ".cpp", ".cu", ".cuh", ".inc"}
SOURCE_ROOTS = ("kernels", "src", "include", "examples", "tests")


def folder_of(path):
    """The entry of ALLOWED that rules over a file, or None."""
    parts = path.split("/")[:-1]
    for length in range(len(parts), 0, -1):
        folder = "/".join(parts[:length])
        if folder in ALLOWED:
            return folder
    return None


def matches(header, pattern):
    """fnmatch where a star followed by a slash stands for one folder, and a star at the end for anything below."""
    if pattern.endswith("/*"):
        return header.startswith(pattern[:-1])
    return header.count("/") == pattern.count("/") and fnmatch.fnmatchcase(header, pattern)


def check_include(path, header, quoted):
    """The reason why `path` may not include `header`, or None."""
    if CUDA_HEADER.match(header) and not path.startswith(CUDA_FOLDERS):
        return f"CUDA header {header} outside {' and '.join(CUDA_FOLDERS)}"
    if not quoted or path.startswith("tests/"):
        return None
    folder = folder_of(path)
    if folder is None:
        return f"no rule for this folder; add it to ALLOWED in {pathlib.Path(__file__).name}"
    if not header.startswith(SOURCE_ROOTS):
        beside = pathlib.PurePosixPath(path).parent / header
        if folder in ("include", "examples"):  # the public headers and C programs are self-contained
            return None
        return f'"{header}" is not rooted at the repository: write "{beside}"'
    if header.startswith(folder + "/") or any(matches(header, pattern) for pattern in ALLOWED[folder]):
        return None
    return f"{folder} may not include {header}"


def check_tree(root):
    problems = []
    for source_root in SOURCE_ROOTS:
        for file in sorted((root / source_root).rglob("*")):
            if file.suffix not in SUFFIXES or not file.is_file():
                continue
            path = file.relative_to(root).as_posix()
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                found = INCLUDE.match(line)
                reason = found and check_include(path, found.group(2), found.group(1) == '"')
                if reason:
                    problems.append(f"{path}:{number}: {reason}")
    return problems


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    problems = check_tree(root)
    print("\n".join(problems) if problems else "every include is allowed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
