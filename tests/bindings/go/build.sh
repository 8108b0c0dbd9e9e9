#!/bin/sh
# Builds the programs, examples and test programs of the Go module in the current folder.
# usage: build.sh GO PREFIX [EXPERIMENT]  program NAME becomes PREFIX_NAME; the tests that check cgo's pointers are built with this
#                                         GOEXPERIMENT
set -eu
go=$1
prefix=$2
experiment=${3:-}
for package in internal/tokens internal/call_cost internal/layout examples/*; do
  "$go" build -o "${prefix}_${package##*/}" "./$package"
done
"$go" build -race -o "${prefix}_http_race" ./examples/http
GOEXPERIMENT=$experiment "$go" test -c -o "${prefix}_test" .
"$go" test -race -c -o "${prefix}_race" .
