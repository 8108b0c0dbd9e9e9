#!/bin/sh
# Cross-builds what tests run on Windows: programs and the test program of the Go module in the current folder, and libraries of
# other versions. The environment's CC is the compiler of C for Windows.
# usage: windows.sh GO PYTHON PREFIX OTHERS  program NAME becomes PREFIX_NAME.exe, a library OTHERS/NAME/libinlay.dll
set -eu
go=$1
python=$2
prefix=$3
others=$4
export CGO_ENABLED=1 GOOS=windows GOARCH=amd64
for package in internal/tokens internal/layout examples/complete; do
  "$go" build -o "${prefix}_${package##*/}.exe" "./$package"
done
"$go" test -c -o "${prefix}_test.exe" .

root=../..
for library in older_library:1.0 lacking_library:1.9999 other_library:2.0; do
  folder=$others/${library%:*}
  "$python" -B $root/tests/capi/frozen_sources.py $root/bindings/api/abi/1.0.json "$folder" "${library#*:}"
  "$CC" -shared -w "-I$folder" -o "$folder/libinlay.dll" "$folder/library.c"
done
mkdir -p "$others/go_incomplete_library"
"$CC" -shared -o "$others/go_incomplete_library/libinlay.dll" $root/tests/bindings/go/incomplete_library.c
