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
# A program's $ORIGIN, by which the tool finds the library, is told by /proc alone.
find_library_without_proc() {  # find_library_without_proc BUILD_FOLDER
  [ -e /proc/self/exe ] || export LD_LIBRARY_PATH="$1/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
}
export INLAY_CACHE PATH
