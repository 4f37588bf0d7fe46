# SPDX-License-Identifier: Apache-2.0
"""Live modules on a GPU: launches while versions are swapped, refused, and helpers killed. FATLINK_TEST_SCALE=20 makes
10^6 launches; FATLINK_LIVE_STRESS_REPORT=FILE keeps the figures."""
import unittest

from fatlink_cli import gpus, scaled
from live_stress_case import LiveStressCase


@unittest.skipUnless(gpus(), "no GPU on this machine")
class LiveStress(LiveStressCase):
    def test_each_launch_belongs_to_one_version(self):
        launches, swaps, broken, killed = map(scaled, (50_000, 200, 200, 4))
        report = self.stress("gpu", launches=launches, threads=8, swaps=swaps, broken=broken, killed=killed,
                             elements=4096, batch=16)
        self.check(report, launches, swaps, broken)


if __name__ == "__main__":
    unittest.main()
