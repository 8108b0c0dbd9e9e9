# shellcheck shell=bash
# Sourced by the scripts: where downloaded tools and sources are kept, and the search path that finds them.
# Without a home folder it is the project's own .cache. src/base/mimalloc.cmake looks in the same place.
INLAY_CACHE="${XDG_CACHE_HOME:-${HOME:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}/.cache}/inlay"
if [ -x "$INLAY_CACHE/cmake/bin/cmake" ]; then
  PATH="$INLAY_CACHE/cmake/bin:$PATH"
fi
if [ -n "${INLAY_MIMALLOC_ROOT:-}" ]; then
  INLAY_MIMALLOC_ROOT=$(cd "$INLAY_MIMALLOC_ROOT" && pwd)
  export INLAY_MIMALLOC_ROOT
fi
export INLAY_CACHE PATH
