# SPDX-License-Identifier: Apache-2.0
"""The main job on a GPU."""
import unittest

from fatlink_cli import CliTest, gpus
from run_suite import RunSuite


@unittest.skipUnless(gpus(), "no GPU on this machine")
class Run(RunSuite, CliTest):
    DEVICE = "gpu"
    MOST = 2**26 + 1

    def test_a_gpu_that_is_not_there(self):
        self.assert_fails(5, "run", "--device", "gpu:77", says=["gpu:77", "no such GPU"])
