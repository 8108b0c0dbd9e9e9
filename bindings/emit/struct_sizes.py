"""src/capi/struct_sizes.h: the smallest struct_size or stride that a client of this major version can have."""

from api_model import Api

HEAD = """\
// Size of each struct in the ABI version that it appeared in: what is shorter cannot come from any header.
// Generated from bindings/api/inlay.toml by bindings/generate.py. Do not edit.
// clang-format off
#pragma once

#include <cstddef>

#include "src/capi/exported.h"

namespace inlay::capi {

template <class T>
inline constexpr size_t kFirstSize = 0;
"""


def emit(api: Api) -> str:
    lines = [f"template <>\ninline constexpr size_t kFirstSize<{s.name}> = {s.first_size()};" for s in api.structs
             if s.growth != "fixed"]
    return HEAD + "\n".join(lines) + "\n\n}  // namespace inlay::capi\n"
