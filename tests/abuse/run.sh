#!/usr/bin/env bash
# A long run of all generators of abuse, each in turn for its part of the time, as many at once as there are processors. It prints a
# table, and behind it every fault with the command that runs its case again. The exit status is 1 if there is a fault.
#
# Usage: tests/abuse/run.sh [SECONDS]             600 if not given
# Environment:
#   INLAY_PRESET   configure preset to build (release); asan-ubsan: under sanitizers
#   INLAY_SEED     seed of the cases (the day's date, so that every day has others)
set -euo pipefail
seconds=${1:-600}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { echo "tests/abuse/run.sh: expected a number of seconds, got: $seconds" >&2; exit 2; }
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
preset=${INLAY_PRESET:-release}
seed=${INLAY_SEED:-$(date +%Y%m%d)}
cmake --preset "$preset" >/dev/null
cmake --build "build/$preset" --target inlay_abuse

program=$root/build/$preset/bin/inlay_abuse
logs=$root/build/$preset/abuse
rm -rf "$logs"
mkdir -p "$logs"
export ASAN_OPTIONS=allocator_may_return_null=1:${ASAN_OPTIONS:-}
mapfile -t names < <("$program" list | cut -d' ' -f1)
jobs=$(nproc)
[ "$jobs" -le "${#names[@]}" ] || jobs=${#names[@]}
part=$((seconds * jobs / ${#names[@]}))
[ "$part" -gt 0 ] || part=1
failed=0
printf '%s\n' "${names[@]}" | xargs -P "$jobs" -I{} sh -c \
  "'$program' {} --count 1e15 --seconds $part --seed $seed >'$logs/{}.txt' 2>&1" || failed=1

echo "seed $seed, preset $preset, $part seconds each"
head -1 "$logs/${names[0]}.txt"
for name in "${names[@]}"; do grep "^$name  *[0-9l]" "$logs/$name.txt" || { echo "$name ended without a row"; failed=1; }; done
for name in "${names[@]}"; do grep -v "^$name  *[0-9l]" "$logs/$name.txt" | tail -n +2; done
exit "$failed"
