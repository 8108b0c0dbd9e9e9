#!/usr/bin/env bash
# README's two commands in bare Debian systems, made with debootstrap: run by hand and before a release, as root. Prints a table.
#
# Usage: tests/distributions.sh [12|13 ...]     all of them without an argument
# Environment:
#   INLAY_DEBIAN_MIRROR    where packages come from; otherwise the mirror of this machine's apt sources, or debootstrap's own
#   INLAY_SYSTEMS          folder for the systems and their logs (/var/tmp/inlay-distributions); a system is made anew each time
#   INLAY_KEEP_SYSTEMS     1: they are not removed at the end
#   INLAY_WITHOUT_MOUNTS   1: without /proc and /dev/pts, to see which tests need them
#   INLAY_MIMALLOC_ROOT    unpacked source of mimalloc, copied into the systems, where the mirror has no source packages
#
# What is committed is cloned into a system and runs there as root, in a chroot with its own mount and process namespace:
# nothing is mounted outside of it, and with the script all that it started ends. Mounted there are /proc, for the race
# detector of Go and the tests that measure memory, and /dev/pts, for the test that converses at a terminal.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=${INLAY_SYSTEMS:-/var/tmp/inlay-distributions}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

complain() {
  echo "tests/distributions.sh: $*" >&2
  exit 2
}

codename() {
  case $1 in
    12) echo bookworm ;;
    13) echo trixie ;;
    *) return 1 ;;
  esac
}

[ $# -gt 0 ] || set -- 12 13
for version in "$@"; do
  codename "$version" >/dev/null || complain "no Debian $version here, only 12 and 13"
done
[ "$(id -u)" -eq 0 ] || complain "needs root, for debootstrap and chroot: run it with sudo"
for tool in debootstrap unshare git; do
  command -v "$tool" >/dev/null || complain "needs $tool: apt-get install debootstrap debian-archive-keyring util-linux git"
done
start_command=$("$root/tests/lint/readme_command.sh" 1)
test_command=$("$root/tests/lint/readme_command.sh" 2)

mirror=${INLAY_DEBIAN_MIRROR:-}
if [ -z "$mirror" ]; then
  mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
    grep -v '^ *#' | grep -oE '(https?|ftp|file):/[^ ]*/debian/?( |$)' | head -n 1 | tr -d ' ') || true
fi

# What runs is a child in the background, so that a signal is heard at once; it takes all of its namespace with it.
child=
trap '[ -z "$child" ] || kill -KILL "$child" 2>/dev/null || true' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
isolated() {  # isolated COMMAND...
  local status=0
  unshare --mount --pid --fork --kill-child "$@" </dev/null &
  child=$!
  wait "$child" || status=$?
  child=
  return "$status"
}

inside='
  if [ "$2" = mounted ]; then
    mount -t proc proc "$1/proc"
    mkdir -p "$1/dev/pts"
    mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$1/dev/pts"
  fi
  cd "$1" || exit 1
  exec chroot "$1" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb \
    http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" no_proxy="${no_proxy:-}" $4 /bin/bash -c "cd /inlay && $3"'
mounts=mounted
[ "${INLAY_WITHOUT_MOUNTS:-0}" = 0 ] || mounts=bare
run_inside() {  # run_inside SYSTEM COMMAND
  isolated bash -euc "$inside" inside "$1" "$mounts" "$2" "${INLAY_MIMALLOC_ROOT:+INLAY_MIMALLOC_ROOT=/opt/mimalloc}"
}

remove() {  # remove SYSTEM: never what is mounted in it
  [ ! -e "$1" ] || rm -rf --one-file-system "$1"
}

make_system() {  # make_system SYSTEM CODENAME
  local options=(--variant=minbase)
  [ ! -r "$keyring" ] || options+=(--keyring="$keyring")
  case $mirror in
    https:*) options+=(--include=ca-certificates) ;;
  esac
  remove "$1"
  isolated debootstrap "${options[@]}" "$2" "$1" ${mirror:+"$mirror"} || return 1
  # The network and apt's way to the mirror as they are here.
  cp -L /etc/resolv.conf /etc/hosts "$1/etc/"
  apt-config dump Acquire | grep -E '^Acquire::((http|https|ftp)::|Check-(Valid-Until|Date) |Retries ).*"[^"]+";$' \
    >"$1/etc/apt/apt.conf.d/90host" || true
  case $mirror in
    https:*) cp -L /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/" ;;
  esac
  git clone -q --no-hardlinks "$root" "$1/inlay"
  if [ -n "${INLAY_MIMALLOC_ROOT:-}" ]; then
    cp -rL "$INLAY_MIMALLOC_ROOT" "$1/opt/mimalloc"
  fi
}

# The version that a program of the system tells, or a line.
version_of='
  tell() { "$@" 2>/dev/null | grep -oE "[0-9]+([.][0-9]+)+" | head -n 1 | grep . || echo -; }
  echo "$(tell c++ -dumpfullversion) | $(tell cmake --version) | $(tell python3 --version) | $(tell go version)"'

rows=() remarks=() failed=0
try() {  # try VERSION
  local version=$1 system log status first second seconds versions
  system=$folder/debian-$version
  log=$system.log
  echo "tests/distributions.sh: Debian $version, log in $log"
  if ! make_system "$system" "$(codename "$version")" >"$log" 2>&1; then
    tail -n 5 "$log"
    rows+=("| Debian $version | - | - | - | - | not made | | | |")
    failed=1
    return
  fi
  seconds=$SECONDS status=worked
  run_inside "$system" "$start_command" >>"$log" 2>&1 || { status=failed; failed=1; }
  first="$status | $((SECONDS - seconds))"
  echo "tests/distributions.sh: Debian $version: $start_command: $status"
  seconds=$SECONDS
  run_inside "$system" "$test_command" >>"$log" 2>&1 || failed=1
  second="$(tail -n 1 "$log") | $((SECONDS - seconds))"
  versions=$(run_inside "$system" "$version_of") || versions="- | - | - | -"
  rows+=("| $(cat "$system/etc/debian_version") | $versions | $first | $second |")
  while IFS= read -r line; do
    remarks+=("Debian $version: $line")
  done <<<"$(grep -E '^failed: |^-- Inlay allocator: |^built without mimalloc|warning: ' "$log" | sort -u)"
  [ "${INLAY_KEEP_SYSTEMS:-0}" = 1 ] || remove "$system"
}

mkdir -p "$folder"
for version in "$@"; do
  try "$version"
done

echo
echo "| Debian | GCC | CMake | Python | Go | \`$start_command\` | seconds | \`$test_command\` | seconds |"
echo "|---|---|---|---|---|---|---|---|---|"
printf '%s\n' "${rows[@]}"
for line in "${remarks[@]}"; do
  [ "${line#*: }" = "" ] || echo "$line"
done
exit "$failed"
