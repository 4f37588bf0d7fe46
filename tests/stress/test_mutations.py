# SPDX-License-Identifier: Apache-2.0
"""Mutated fatbins through `fatlink link`: a documented status every time, never a signal, never past
the time limit. There are 250 mutants, times FATLINK_TEST_SCALE."""
import collections
import concurrent.futures
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import unittest

from fatlink_cli import LIBRARY, PROGRAM, TESTS, scaled
from mutated_bytes import mutated

FIXTURES = pathlib.Path(__file__).parent.parent / "fixtures"
COUNT = scaled(120)
DOCUMENTED = {0, 3, 4}
LIMIT_S = 5


HANGING = {"FATLINK_NVJITLINK": str(TESTS / "libhostile_nvjitlink.so"), "FATLINK_HOSTILE": "hang"}
CRASHING = {**HANGING, "FATLINK_HOSTILE": "crash"}


def link(file, mode, limit, env=None):
    return subprocess.run([PROGRAM, "link", "--target", "sm_90", "--mode", mode, "--no-cache",
                           "--link-timeout", str(limit), "-o", f"{file}.cubin", LIBRARY, file],
                          capture_output=True, text=True, errors="replace", timeout=limit + 25,
                          env={**os.environ, **(env or {})})


def is_helper_death(message):
    return "nvJitLink's process died" in message


def is_time_out(message):
    return "the link took longer than its time limit" in message


class Mutations(unittest.TestCase):
    def test_a_link_that_hangs_counts_as_time_out(self):
        with tempfile.TemporaryDirectory(prefix="fatlink-stress-") as folder:
            file = shutil.copy(FIXTURES / "uncontracted.fatbin", folder)
            result = link(file, "ptx", 1, HANGING)
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertTrue(is_time_out(result.stderr), result.stderr)
        self.assertFalse(is_helper_death(result.stderr), result.stderr)

    def test_a_crash_of_nvjitlink_counts_as_helper_death(self):
        with tempfile.TemporaryDirectory(prefix="fatlink-stress-") as folder:
            file = shutil.copy(FIXTURES / "uncontracted.fatbin", folder)
            result = link(file, "ptx", LIMIT_S, CRASHING)
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertTrue(is_helper_death(result.stderr), result.stderr)
        self.assertFalse(is_time_out(result.stderr), result.stderr)

    def test_no_input_hurts_the_host(self):
        # Without digests: with them every change is refused when the file is read.
        seeds = [(FIXTURES / name).read_bytes() for name in ("uncontracted.fatbin", "raw.fatbin", "lz4.fatbin")]
        with tempfile.TemporaryDirectory(prefix="fatlink-stress-") as folder:
            def link_mutant(number):
                rng = random.Random(number)
                file = pathlib.Path(folder, f"m{number}.fatbin")
                file.write_bytes(mutated(rng, seeds[number % len(seeds)]))
                result = link(file, rng.choice(("ptx", "lto")), LIMIT_S)
                for leftover in pathlib.Path(folder).glob(f"m{number}.*"):
                    leftover.unlink()
                return number, result.returncode, result.stderr

            statuses, deaths, late = collections.Counter(), 0, 0
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                for number, status, message in pool.map(link_mutant, range(COUNT)):
                    self.assertIn(status, DOCUMENTED, f"mutation {number}: {message}")
                    if status != 0:
                        self.assertIn("fatlink: error: ", message)
                    statuses[status] += 1
                    deaths += is_helper_death(message)
                    late += is_time_out(message)
        print(f"{COUNT} mutated fatbins: {dict(sorted(statuses.items()))} by exit status, "
              f"{deaths} helper deaths, {late} stopped for time")


if __name__ == "__main__":
    unittest.main()
