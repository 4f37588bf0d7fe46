# SPDX-License-Identifier: Apache-2.0
"""The main job on a GPU."""
import re
import unittest

from fatlink_cli import SHARE, CliTest, gpus
from run_suite import RunSuite


@unittest.skipUnless(gpus(), "no GPU on this machine")
class Run(RunSuite, CliTest):
    DEVICE = "gpu"
    MOST = 2**26 + 1

    def test_a_gpu_that_is_not_there(self):
        self.assert_fails(5, "run", "--device", "gpu:77", says=["gpu:77", "no such GPU"])

    def test_kernel_time_and_bandwidth_are_those_of_the_kernel(self):
        text = self.fatlink("run", "--device", "gpu", "--elements", 2**24).stdout
        self.assertEqual(len(re.findall(r"; launches [\d.]+ ms, [\d.]+ GB/s read and written$", text, re.M)), 2, text)
        for mode in self.run_json("--elements", 2**24)["modes"]:
            total = mode["total"]
            self.assertAlmostEqual(total["gb_per_s"], 8 * 2**24 / total["run_ms"] / 1e6, delta=1)
            self.assertGreater(total["gb_per_s"], 100)

    @unittest.skipUnless((SHARE / "bench/bench.fatbin").exists(), "the target bench_kernels is not built")
    def test_bench_compares_with_single_source_and_a_function_pointer(self):
        bench = self.fatlink_json("bench", "--only", "kernels", "--repeat", 2, "--elements", 4096)
        self.assertEqual([row["variant"] for row in bench["kernels"]],
                         ["device-to-device copy", "PTX link", "LTO link", "single source", "function pointer"])

    def test_resources_of_the_kernel_in_each_mode(self):
        words = ["run", "--device", "gpu", "--elements", 64, "--max-registers", 32, "--resources"]
        for mode in self.fatlink_json(*words)["modes"]:
            (kernel,) = mode["links"][0]["resources"]
            self.assertEqual(kernel["kernel"], "apply_transform")
            self.assertLessEqual(kernel["registers"], 32)
        text = self.fatlink(*words).stdout
        self.assertEqual(len(re.findall(r"^  apply_transform: \d+ registers; bytes: ", text, re.M)), 2, text)
