#!/usr/bin/env python3
"""Local time on Windows is that of the zone, summer time included: over this year, beside Python's table of zones.

usage: local_time.py PROGRAM ZONES [TRUTH] -- EMULATOR...
  PROGRAM  windows_local_time
  ZONES    each given to Wine by TZ; with commas
  TRUTH    the zone to compare with, in place of the one that is given
"""
import datetime
import os
import pathlib
import sys
import zoneinfo

sys.path.append(str(pathlib.Path(__file__).parents[1] / "cross"))
from emulated import output_of  # noqa: E402  # pylint: disable=wrong-import-position

STEP = 1800 * 5 + 7


def main():
    given, emulator = sys.argv[1:sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1:]
    program, zones, *truth = given
    year = datetime.date.today().year
    begin = int(datetime.datetime(year, 1, 2, tzinfo=datetime.timezone.utc).timestamp())
    count = 363 * 86400 // STEP
    n_wrong = 0
    for name in zones.split(","):
        zone = zoneinfo.ZoneInfo(truth[0] if truth else name)
        lines = output_of([*emulator, program, str(begin), str(STEP), str(count)], env=os.environ | {"TZ": name}).decode().splitlines()
        wrong, offsets = [], set()
        for i in range(count):
            time = datetime.datetime.fromtimestamp(begin + i * STEP, zone)
            offsets.add(str(time.utcoffset()))
            wanted = f"{time:%Y-%m-%d %H:%M:%S} {time.isoweekday() % 7} {time.timetuple().tm_yday - 1}"
            if i >= len(lines) or lines[i] != wanted:
                wrong.append(f"{lines[i] if i < len(lines) else 'nothing'} in place of {wanted}")
        print(f"{name}: {count} times, at {', '.join(sorted(offsets))}: {len(wrong)} wrong", *wrong[:3], sep="\n  ")
        n_wrong += len(wrong)
    sys.exit(1 if n_wrong else 0)


if __name__ == "__main__":
    main()
