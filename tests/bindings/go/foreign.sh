#!/bin/sh
# Cross-builds what tests run under an emulator: programs and the test program of the Go module in the current folder, and libraries of
# other versions. The environment's CC is the compiler of C for that system.
# usage: foreign.sh SYSTEM/PROCESSOR GO PYTHON PREFIX OTHERS      as Go names them: windows/amd64, linux/arm64
# A program NAME becomes PREFIX_NAME, with .exe on Windows, a library OTHERS/NAME/ and its name on the system.
set -eu
target=$1
go=$2
python=$3
prefix=$4
others=$5
export CGO_ENABLED=1 GOOS="${target%/*}" GOARCH="${target#*/}"
ending='' file=libinlay.so.1
if [ "$GOOS" = windows ]; then
  ending=.exe file=libinlay.dll
fi
for package in internal/tokens internal/layout examples/complete; do
  "$go" build -o "${prefix}_${package##*/}$ending" "./$package"
done
"$go" test -c -o "${prefix}_test$ending" .

root=../..
for library in older_library:1.0 lacking_library:1.9999 other_library:2.0; do
  folder=$others/${library%:*}
  "$python" -B $root/tests/capi/frozen_sources.py $root/bindings/api/abi/1.0.json "$folder" "${library#*:}"
  "$CC" -shared -fPIC -w "-I$folder" -o "$folder/$file" "$folder/library.c"
done
mkdir -p "$others/go_incomplete_library"
"$CC" -shared -fPIC -o "$others/go_incomplete_library/$file" $root/tests/bindings/go/incomplete_library.c
