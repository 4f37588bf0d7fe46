# SPDX-License-Identifier: Apache-2.0
"""Damaged fatbins through `fatlink check` and `fatlink inspect`: a documented status every time, in a
fixed address space. There are 250 mutants by default, 25,000 with FATLINK_TEST_SCALE=100. Mutants of the stress test go
through `link`."""
import collections
import concurrent.futures
import os
import pathlib
import random
import resource
import subprocess
import tempfile
import unittest

from fatlink_cli import PROGRAM, SANITIZED, SHARE, scaled
from mutated_bytes import mutated, spliced

FIXTURES = pathlib.Path(__file__).parent.parent / "fixtures"
COUNT = scaled(250)
MEMORY = 1 << 30  # bytes of address space for each run
DOCUMENTED = {0, 3, 4}
VERBS = (("check", "--nvjitlink", "13.0", "--target", "all"), ("inspect", "--json"))


def seeds():
    files = [*sorted(FIXTURES.glob("*.fatbin")), *sorted(SHARE.glob("*.fatbin")),
             *sorted(FIXTURES.glob("toolkits/*.fatbin"))]
    return [file.read_bytes() for file in files]


@unittest.skipIf(SANITIZED, "the address space cannot be limited with sanitizers")
class Mutants(unittest.TestCase):
    def test_no_input_hurts_check_or_inspect(self):
        originals = seeds()
        self.assertGreater(len(originals), 15)
        before = resource.getrlimit(resource.RLIMIT_AS)
        statuses = collections.Counter()
        with tempfile.TemporaryDirectory(prefix="fatlink-mutants-") as folder:
            def judge(number):
                rng = random.Random(number)
                data = originals[number % len(originals)]
                data = spliced(rng, data, rng.choice(originals)) if number % 7 == 0 else mutated(rng, data)
                file = pathlib.Path(folder, f"m{number}.fatbin")
                file.write_bytes(data)
                results = []
                for verb in VERBS:
                    done = subprocess.run([PROGRAM, *verb, file], stdout=subprocess.DEVNULL,
                                          stderr=subprocess.PIPE, text=True, errors="replace",
                                          env={**os.environ, "FATLINK_PATH": folder + "/none"})
                    results.append((verb[0], done.returncode, done.stderr))
                file.unlink()
                return number, results

            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, before[1]))
            try:
                with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                    for number, results in pool.map(judge, range(COUNT)):
                        for verb, status, errors in results:
                            self.assertIn(status, DOCUMENTED, f"{verb} of mutant {number}: {errors}")
                            if status == 3:
                                self.assertIn("fatlink: error: ", errors)
                            statuses[verb, status] += 1
            finally:
                resource.setrlimit(resource.RLIMIT_AS, before)
        print(f"{COUNT} mutants: {dict(sorted(statuses.items()))} by verb and exit status")


if __name__ == "__main__":
    unittest.main()
