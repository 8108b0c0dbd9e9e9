#!/bin/sh
# Writes the C header in the form that LuaJIT's ffi.cdef takes: without #include lines and comments, and with each number that #define names as a constant.
# usage: make_header.sh [OUT]      beside this script, inlay_cdef.h, where no OUT is given
set -eu
here=$(cd "$(dirname "$0")" && pwd)
header="$here/../../include/capi/inlay.h"
out=${1:-$here/inlay_cdef.h}
{
  # LuaJIT knows the types of stddef.h and stdint.h.
  sed '/^#include/d' "$header" | cc -E -P -x c -
  sed -nE 's,^#define (INLAY_[A-Z0-9_]+) (\(?-?[0-9]+u?\)?) *(//.*)?$,static const int \1 = \2;,p' "$header"
} >"$out.new"
mv "$out.new" "$out"
