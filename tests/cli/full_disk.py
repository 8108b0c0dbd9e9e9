"""A conversion onto a full disk: it says so, its temporary file goes, and what was there before stays."""
import pathlib
import resource
import subprocess
import tempfile
import unittest

import tool_case

CONVERT = [str(tool_case.TOOL), "convert", str(tool_case.OWN_MODEL)]
# In a name space of its own: a file system in memory of the size $1 on $2, with an old file on it. It prints what is there afterwards.
ON_SMALL_DISK = """mount -t tmpfs -o size=$1 none "$2" || exit 99
echo old >"$2/out.gguf"
shift; folder=$1; shift
"$@" "$folder/out.gguf"
code=$?
ls "$folder"
head -c 3 "$folder/out.gguf"
exit $code"""


class FullDisk(unittest.TestCase):
    def test_a_limit_of_file_sizes(self):
        for limit, code, files in ((100_000, 1, b"old\n"), (100_000_000, 0, None)):
            with tempfile.TemporaryDirectory() as name:
                out = pathlib.Path(name) / "out.gguf"
                out.write_bytes(b"old\n")
                done = subprocess.run([*CONVERT, str(out)], capture_output=True, timeout=1800, check=False,
                                      preexec_fn=lambda most=limit: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
                self.assertEqual((done.returncode != 0, [file.name for file in pathlib.Path(name).iterdir()]), (code != 0, ["out.gguf"]), done)
                if files:
                    self.assertEqual(out.read_bytes(), files)
                    self.assertRegex(done.stderr, rb"out.gguf: cannot write the file: the file would be larger")

    def on_disk_of(self, size):
        with tempfile.TemporaryDirectory() as name:
            return subprocess.run(["unshare", "-rm", "sh", "-c", ON_SMALL_DISK, "sh", size, name, *CONVERT], capture_output=True, timeout=1800,
                                  check=False)

    def test_a_small_file_system(self):
        try:
            permitted = subprocess.run(["unshare", "-rm", "sh", "-c", 'mount -t tmpfs none "$1"', "sh", "/mnt"], capture_output=True, check=False)
        except FileNotFoundError:
            permitted = None
        if permitted is None or permitted.returncode != 0:
            return  # the limit above goes the same way, and tests/capi/system_calls.cpp lets write fail with ENOSPC
        done = self.on_disk_of("200k")
        self.assertTrue(done.returncode not in (0, 99) and done.stdout == b"out.gguf\nold", done)
        self.assertRegex(done.stderr, rb"out.gguf: cannot write the file: no space is left on the device")
        done = self.on_disk_of("100m")  # the control
        self.assertTrue(done.returncode == 0 and done.stdout.endswith(b"out.gguf\nGGU"), done)


if __name__ == "__main__":
    tool_case.main()
