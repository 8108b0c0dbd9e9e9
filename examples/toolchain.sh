# shellcheck shell=bash
# Sourced by the scripts: where downloaded tools and sources are kept, and the search path that finds them.
INLAY_CACHE="${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/inlay"
if [ -x "$INLAY_CACHE/cmake/bin/cmake" ]; then
  PATH="$INLAY_CACHE/cmake/bin:$PATH"
fi
export INLAY_CACHE PATH
