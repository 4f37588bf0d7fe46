# SPDX-License-Identifier: Apache-2.0
"""Live modules on the reference device: launches while versions are swapped, refused, and helpers killed.
FATLINK_TEST_SCALE=N makes N times as many of each."""
import unittest

from fatlink_cli import scaled
from live_stress_case import LiveStressCase


class LiveStress(LiveStressCase):
    def test_each_launch_belongs_to_one_version(self):
        launches, swaps, broken, killed = map(scaled, (1500, 60, 60, 2))
        report = self.stress("cpu", launches=launches, threads=8, swaps=swaps, broken=broken, killed=killed)
        self.check(report, launches, swaps, broken)


if __name__ == "__main__":
    unittest.main()
