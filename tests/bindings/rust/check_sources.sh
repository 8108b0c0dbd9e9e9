#!/bin/sh
# Checks the sources of the crate and of the programs here with a subcommand of cargo, with each feature.
# usage: check_sources.sh format|clippy|documentation|package CARGO TARGET_FOLDER       INLAY_LIBRARY: the library to link with
set -eu
check=$1 cargo=$2
export CARGO_TARGET_DIR="$3" RUSTDOCFLAGS=-Dwarnings
INLAY_LIB_DIR=$(dirname "$INLAY_LIBRARY")
export INLAY_LIB_DIR
here=$(cd "$(dirname "$0")" && pwd)
crate=$here/../../../bindings/rust

needs() {  # needs SUBCOMMAND: not every toolchain has all of them
  "$cargo" "$1" --version >/dev/null 2>&1 || { echo "skipped: needs cargo $1: this toolchain has none"; exit 77; }
}

run() {  # run FOLDER SUBCOMMAND OPTIONS...
  cd "$1"
  shift
  "$cargo" "$@"
}

case $check in
  format)
    needs fmt
    run "$crate" fmt --check
    run "$here" fmt --check
    ;;
  clippy)
    needs clippy
    strict="clippy --offline --locked --quiet --all-targets"
    # shellcheck disable=SC2086
    run "$crate" $strict -- -D warnings
    # shellcheck disable=SC2086
    run "$crate" $strict --no-default-features --features=link -- -D warnings
    # shellcheck disable=SC2086
    run "$here" $strict -- -D warnings
    ;;
  documentation)
    for features in dlopen link dlopen,link; do
      run "$crate" doc --offline --locked --quiet --no-deps --no-default-features --features=$features
    done
    run "$crate" test --offline --locked --quiet --doc
    run "$crate" test --offline --locked --quiet --doc --features=link -- Library::linked
    ;;
  package)
    # Of what cargo would like to know, a licence and an address on the network alone are missing.
    said=$(run "$crate" package --offline --locked --no-verify --allow-dirty 2>&1) || { echo "$said"; exit 1; }
    echo "$said" | grep -q "Packaged" || { echo "$said"; exit 1; }
    if echo "$said" | grep "^warning" | grep -v "^warning: manifest has no license, license-file, documentation, homepage or repository$"; then exit 1; fi
    ;;
  *)
    echo "check_sources.sh: no check $check" >&2
    exit 2
    ;;
esac
