#!/bin/sh
# Fails unless the Go module in the current folder compiles without cgo, for this system and others of 64 and 32 bits, tests
# included, its part for such builds is made from raw.go, and every call there says what is missing.
# usage: cross.sh GO [TARGET...]  a target is GOOS/GOARCH
set -eu
go=$1
shift
"$go" run ./internal/nocgo -check
for target in ${*:-windows/amd64 windows/arm64 windows/386 darwin/amd64 darwin/arm64 linux/arm64 linux/386 linux/arm}; do
  echo "$target"
  CGO_ENABLED=0 GOOS=${target%/*} GOARCH=${target#*/} "$go" vet ./...
done
CGO_ENABLED=0 "$go" vet ./...
CGO_ENABLED=0 "$go" test -run 'TestWithoutCgo|TestEnumerationsAsText' -v .
