#!/usr/bin/env bash
# Prints the N-th line of README's first fenced block, which holds exactly two.
# Usage: tests/lint/readme_command.sh N
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
awk -v wanted="${1:?usage: tests/lint/readme_command.sh N}" '
  /^```/ { if (inside) exit; inside = 1; next }
  inside { lines[++n] = $0 }
  END {
    if (n != 2) print "the first fenced block of README.md must hold exactly two lines" >"/dev/stderr"
    if (n != 2 || !(wanted in lines)) exit 1
    print lines[wanted]
  }' README.md
