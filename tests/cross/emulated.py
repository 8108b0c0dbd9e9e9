"""Programs of another system, under its emulator."""
import subprocess
import sys


def output_of(command, **options):
    """The bytes that the program writes. One that fails ends this test with what it wrote and nothing else: by that again.py sees an emulator that ended at once."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False, **options)
    if done.returncode != 0:
        sys.exit(done.stdout.decode(errors="replace") or 1)
    return done.stdout
