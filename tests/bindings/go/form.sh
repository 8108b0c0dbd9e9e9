#!/bin/sh
# Fails unless the Go sources in a folder are as gofmt writes them and go vet has nothing to say.
# usage: form.sh GO GOFMT FOLDER
set -eu
cd "$3"
badly_formatted=$("$2" -l .)
"$1" vet ./...
if [ -n "$badly_formatted" ]; then
  echo "badly formatted: $badly_formatted"
  exit 1
fi
