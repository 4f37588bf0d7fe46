# SPDX-License-Identifier: Apache-2.0
"""What the last run of ctest in a build folder took and left out: the slowest tests, those above a time, and the reasons of
skipped ones.
    python3 times.py BUILD_FOLDER SECONDS"""
import collections
import pathlib
import re
import sys

SHOWN = 15


def tests_of(log):
    """(name, seconds, output) of each test in Testing/Temporary/LastTest.log."""
    for part in re.split(r"(?m)^\d+/\d+ Testing: (?=\S)", log)[1:]:
        seconds = re.search(r"(?m)^<end of output>\nTest time =\s+([\d.]+) sec", part)
        if seconds:
            yield part.split("\n", 1)[0], float(seconds[1]), part


def skipped_in(output):
    """The reasons of the tests that a GoogleTest program or a file of Python tests skipped."""
    yield from re.findall(r"(?m)^\S+:\d+: Skipped\n(.+)$", output)
    yield from re.findall(r"(?m)\.\.\. skipped ['\"](.+)['\"]$", output)


def main(build, limit):
    path = pathlib.Path(build) / "Testing/Temporary/LastTest.log"
    tests = list(tests_of(path.read_text(errors="replace")))
    print(f"The {SHOWN} slowest of {len(tests)} tests:")
    for name, seconds, _ in sorted(tests, key=lambda test: -test[1])[:SHOWN]:
        print(f"  {seconds:7.1f} s  {name}{f'  (above {limit} s)' if seconds > float(limit) else ''}")
    reasons = collections.Counter(reason for _, _, output in tests for reason in skipped_in(output))
    if reasons:
        print("Skipped, by reason:")
    for reason, count in reasons.most_common():
        print(f"  {count:5} {reason}")


if __name__ == "__main__":
    main(*sys.argv[1:])
