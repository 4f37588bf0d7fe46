# SPDX-License-Identifier: Apache-2.0
"""Mutated fatbins through `fatlink link`: a documented status every time, never a signal, never past
the time limit. FATLINK_MUTATIONS says how many; the default run takes 500, the label `stress` 10,000."""
import collections
import concurrent.futures
import os
import pathlib
import random
import subprocess
import tempfile
import unittest

from fatlink_cli import LIBRARY, PROGRAM
from mutated_bytes import mutated

FIXTURES = pathlib.Path(__file__).parent.parent / "fixtures"
COUNT = int(os.environ.get("FATLINK_MUTATIONS", 500))
DOCUMENTED = {0, 3, 4}
LIMIT_S = 5


class Mutations(unittest.TestCase):
    def test_no_input_hurts_the_host(self):
        # Without digests: with them every change is refused when the file is read.
        seeds = [(FIXTURES / name).read_bytes() for name in ("transform.fatbin", "raw.fatbin", "lz4.fatbin")]
        with tempfile.TemporaryDirectory(prefix="fatlink-stress-") as folder:
            def link(number):
                rng = random.Random(number)
                file = pathlib.Path(folder, f"m{number}.fatbin")
                file.write_bytes(mutated(rng, seeds[number % len(seeds)]))
                mode = rng.choice(("ptx", "lto"))
                done = subprocess.run([PROGRAM, "link", "--target", "sm_90", "--mode", mode,
                                       "--no-cache", "--link-timeout", str(LIMIT_S), "-o", f"{file}.cubin", LIBRARY, file],
                                      capture_output=True, text=True, errors="replace", timeout=LIMIT_S + 25)
                for leftover in pathlib.Path(folder).glob(f"m{number}.*"):
                    leftover.unlink()
                return number, done.returncode, done.stderr

            statuses, deaths, late = collections.Counter(), 0, 0
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                for number, status, said in pool.map(link, range(COUNT)):
                    self.assertIn(status, DOCUMENTED, f"mutation {number}: {said}")
                    if status != 0:
                        self.assertIn("fatlink: error: ", said)
                    statuses[status] += 1
                    deaths += "nvJitLink's process died" in said
                    late += "nvJitLink did not end within" in said
        print(f"{COUNT} mutated fatbins: {dict(sorted(statuses.items()))} by exit status, "
              f"{deaths} helper deaths, {late} stopped for time")


if __name__ == "__main__":
    unittest.main()
