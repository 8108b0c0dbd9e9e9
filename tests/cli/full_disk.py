"""What cannot be written: text that nobody gets is exit code 1, or SIGPIPE, and a conversion onto a full disk leaves what was there before."""
import pathlib
import resource
import signal
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


# Each command with what it prints on the standard output.
COMMANDS = [("--help",), ("--version",), ("run", "--help"), ("run", tool_case.OWN_MODEL, "-p", "a", "-n", "4"), ("info", tool_case.OWN_MODEL),
            ("info", tool_case.OWN_MODEL, "--json"), ("plan", tool_case.OWN_MODEL), ("tokenize", tool_case.OWN_MODEL, "a"), ("bench", "--list"),
            ("bench", tool_case.OWN_MODEL, "--pp", "1", "--depths", "none", "--batch", "none", "-r", "1"), ("compare", tool_case.OWN_MODEL),
            ("perplexity", tool_case.OWN_MODEL, tool_case.ROOT / "README.md", "--windows", "1"),
            ("embed", tool_case.OWN_MODEL, "a", "--pooling", "mean"), ("convert", tool_case.OWN_MODEL)]


class LostOutput(unittest.TestCase):
    def test_every_command_is_tried(self):
        listed = subprocess.run([str(tool_case.TOOL), "--help"], capture_output=True, text=True, check=True).stdout
        commands = {line.split()[0] for line in listed.partition("commands:\n")[2].partition("\n\n")[0].splitlines()}
        self.assertEqual(commands, {command[0] for command in COMMANDS if not command[0].startswith("-")})

    def test_lost_output_is_a_failure(self):
        with tempfile.TemporaryDirectory() as folder:
            for command in COMMANDS:
                words = [str(tool_case.TOOL), *map(str, command), *([f"{folder}/out.gguf"] if command[0] == "convert" else [])]
                ways = {"full": '"$@" >/dev/full', "closed": '"$@" >&-', "fine": f'"$@" >{folder}/text'}
                if command[0] != "convert":  # whose model would not be written
                    ways["limit"] = f'ulimit -f 0; "$@" >{folder}/limited'
                for way, shell in ways.items():
                    done = subprocess.run(["sh", "-c", shell, "sh", *words], capture_output=True, timeout=1800, check=False, env=tool_case.WITHOUT_GPU)
                    self.assertEqual(done.returncode, 0 if way == "fine" else 1, (way, words, done.stderr))
                    self.assertEqual(b"cannot write to the standard output" in done.stderr, way != "fine", (way, words, done.stderr))


class ReaderThatLeaves(unittest.TestCase):
    def end_without_reader(self, sigpipe, reads_on):
        command = [tool_case.TOOL, "run", tool_case.RANDOM_MODEL, "-n", "8" if reads_on else "0", "--temp", "0", "--device", "reference", "--raw", "-p", "a"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, restore_signals=False,
                              preexec_fn=lambda: signal.signal(signal.SIGPIPE, sigpipe)) as tool:
            self.assertEqual(len(tool.stdout.read(1)), 1)  # it writes
            if reads_on:
                return tool.communicate(timeout=1800)[1], tool.returncode
            tool.stdout.close()
            said = tool.stderr.read()
            return said, tool.wait(timeout=1800)

    def test_the_signal_ends_the_tool_as_it_does_others(self):
        self.assertEqual(self.end_without_reader(signal.SIG_DFL, False), (b"", -signal.SIGPIPE))

    def test_where_the_signal_is_ignored_it_is_a_failure(self):
        said, code = self.end_without_reader(signal.SIG_IGN, False)
        self.assertEqual(code, 1, said)
        self.assertIn(b"inlay: cannot write to the standard output", said)

    def test_a_reader_that_stays_is_the_control(self):
        said, code = self.end_without_reader(signal.SIG_IGN, True)
        self.assertEqual((code, b"cannot write" in said), (0, False), said)


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
