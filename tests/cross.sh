#!/usr/bin/env bash
# Builds for another system and runs here, under an emulator, those tests that mean something there: tests/cross/left_out.py names the
# others. The last line it prints is `N passed, N failed, N skipped`.
#
# Usage: tests/cross.sh PRESET [CTEST_OPTIONS...]     e.g. tests/cross.sh linux-arm64 -R capi; windows-x64 runs under wine
# Environment: INLAY_TARGET, INLAY_FIXTURES, INLAY_MIMALLOC_ROOT, CI and INLAY_STRICT_SKIPS as for tests/run.sh
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=${1:?usage: tests/cross.sh PRESET [CTEST_OPTIONS...]}
shift

"$root/examples/setup.sh" --cross "$preset"
# shellcheck source=examples/toolchain.sh
. "$root/examples/toolchain.sh"
cd "$root"
build=build/$preset
cmake --preset "$preset" ${CI:+-DINLAY_WERROR=ON} ${INLAY_FIXTURES:+-DINLAY_FIXTURES="$INLAY_FIXTURES"} ${INLAY_MIMALLOC_ROOT:+-DINLAY_MIMALLOC_ROOT="$INLAY_MIMALLOC_ROOT"}
cmake --build "$build" --target "${INLAY_TARGET:-all}"

export INLAY_EMULATOR=1
keeper=
cpuinfo=/dev/null  # of the emulator's processor nothing is said
case $preset in
  windows-*)
    export WINEPREFIX=${WINEPREFIX:-$root/$build/wine} WINEDEBUG=${WINEDEBUG:--all}
    wine=$(PATH=$PATH:/usr/lib/wine command -v wine64 wine | head -n 1)
    "$wine" wineboot -i >/dev/null 2>&1 || "$wine" wineboot -i >/dev/null 2>&1  # before several programs would begin it
    # One program runs all the time: without any, Wine's services end, and each test would begin them again.
    mkfifo "$root/$build/keeps_wine" 2>/dev/null || true
    "$wine" cmd <>"$root/$build/keeps_wine" >/dev/null 2>&1 &
    keeper=$!
    trap 'kill "$keeper" 2>/dev/null || true' EXIT
    cpuinfo=/proc/cpuinfo
    ;;
esac
junit=$root/$build/junit.xml left_out=$root/$build/left_out.xml
rm -f "$junit" "$left_out"
all=--all
[ $# = 0 ] || all=
names_of_all() { (cd "$build" && ctest -N "$@" | sed -n 's/^ *Test *#[0-9]*: //p'); }
names=$(names_of_all "$@") || names=$(names_of_all "$@")  # it starts each program, and Wine fails now and then
# shellcheck disable=SC2086
expression=$(printf '%s\n' "$names" | python3 tests/cross/left_out.py "$preset" "$left_out" $all)
ctest_status=0
(cd "$build" && ctest --output-on-failure -j "$(nproc)" --output-junit "$junit" "$@" -E "$expression" </dev/null) || ctest_status=$?
[ -z "$keeper" ] || [ "$ctest_status" = 0 ] || kill -0 "$keeper" 2>/dev/null || { echo "tests/cross.sh: the program that keeps Wine's services running has ended" >&2; exit 1; }
[ -f "$junit" ] || { echo "tests/cross.sh: ctest wrote no results (status $ctest_status)" >&2; exit 1; }
[ -z "$keeper" ] || python3 tests/cross/again.py "$build" "$junit"

text=$build/tests/cross/text.txt
[ ! -f "$text" ] || { echo "What the target's tool writes:"; cat "$text"; echo; }
results=("$junit")
! grep -q "<testcase" "$left_out" || results+=("$left_out")
summary=(--note "$build/without_mimalloc.txt" --cpuinfo "$cpuinfo" --gpu-files)
[ "${INLAY_STRICT_SKIPS:-0}" = 0 ] || summary+=(--strict)
python3 tests/lint/summarize_ctest.py "${results[@]}" "${summary[@]}"
