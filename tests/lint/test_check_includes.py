#!/usr/bin/env python3
"""Tests of check_includes.py: every rule has an include that must pass and one that must fail."""
import pathlib
import tempfile
import unittest

import check_includes

ALLOWED = [
    ("kernels/cpu/a.cpp", '"kernels/common/dtype.h"'),
    ("src/base/a.h", '"kernels/common/dtype.h"'),
    ("src/base/a.cpp", '"src/base/a.h"'),
    ("src/model/arch/llama.cpp", '"src/formats/gguf.h"'),
    ("src/backend/cpu/a.cpp", '"src/backend/backend.h"'),
    ("src/backend/cpu/a.cpp", '"kernels/cpu/cpu_kernels.h"'),
    ("src/engine/a.cpp", '"src/backend/backend.h"'),
    ("src/engine/a.cpp", '"src/backend/cpu/cpu_backend.h"'),
    ("src/capi/a.cpp", '"src/engine/engine.h"'),
    ("src/capi/a.cpp", '"include/capi/inlay.h"'),
    ("src/capi/a.cpp", "<vector>"),
    ("src/backend/cuda/a.cpp", "<cuda_runtime.h>"),
    ("kernels/cuda/a.cu", "<cuda_fp16.h>"),
    ("tests/unit/a.cpp", '"src/model/model.h"'),
    ("examples/cli/a.cpp", '"examples/cli/a.h"'),
]
REFUSED = [
    ("kernels/cpu/a.cpp", '"src/base/status.h"'),
    ("src/base/a.h", '"kernels/cpu/cpu_kernels.h"'),
    ("src/base/a.cpp", '"src/formats/gguf.h"'),
    ("src/formats/a.cpp", '"src/model/model.h"'),
    ("src/tokenizer/a.cpp", '"src/model/model.h"'),
    ("src/sampler/a.cpp", '"src/formats/gguf.h"'),
    ("src/model/arch/llama.cpp", '"src/plan/plan.h"'),
    ("src/plan/a.cpp", '"src/backend/backend.h"'),
    ("src/backend/cpu/a.cpp", '"src/engine/engine.h"'),
    ("src/engine/a.cpp", '"src/backend/cpu/lowering.h"'),
    ("src/engine/a.cpp", '"kernels/common/dtype.h"'),
    ("src/engine/a.cpp", '"src/capi/error.h"'),
    ("src/capi/a.cpp", '"src/model/model.h"'),
    ("src/base/a.cpp", '"status.h"'),
    ("src/newfolder/a.cpp", '"src/base/status.h"'),
    ("src/engine/a.cpp", "<cuda_runtime.h>"),
    ("tests/unit/a.cpp", "<cublas_v2.h>"),
    ("examples/cli/a.cpp", '"src/engine/engine.h"'),
]


def problems(path, header):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, path)
        file.parent.mkdir(parents=True)
        file.write_text(f"// comment\n  # include {header}\n", encoding="utf-8")
        return check_includes.check_tree(pathlib.Path(folder))


class Includes(unittest.TestCase):
    def test_allowed(self):
        for path, header in ALLOWED:
            self.assertEqual(problems(path, header), [], (path, header))

    def test_refused(self):
        for path, header in REFUSED:
            found = problems(path, header)
            self.assertEqual(len(found), 1, (path, header))
            self.assertTrue(found[0].startswith(f"{path}:2: "), found[0])


if __name__ == "__main__":
    unittest.main()
