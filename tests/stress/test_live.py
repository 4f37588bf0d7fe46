# SPDX-License-Identifier: Apache-2.0
"""Live modules on the reference device: launches while versions are swapped, refused, and helpers killed.
FATLINK_LIVE_STRESS=long takes the numbers that the label `stress` does."""
import os
import unittest

from live_stress_case import LiveStressCase

LONG = os.environ.get("FATLINK_LIVE_STRESS") == "long"


class LiveStress(LiveStressCase):
    def test_each_launch_belongs_to_one_version(self):
        launches, swaps, broken, killed = (10_000, 1000, 1000, 10) if LONG else (1500, 60, 60, 2)
        report = self.stress("cpu", launches=launches, threads=8, swaps=swaps, broken=broken, killed=killed)
        self.check(report, launches, swaps, broken)


if __name__ == "__main__":
    unittest.main()
