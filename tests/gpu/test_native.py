# SPDX-License-Identifier: Apache-2.0
"""--target native where there is a GPU; tests/cli/test_targets.py has what happens where there is none."""
import unittest

from fatlink_cli import LIBRARY, SHARE, CliTest, gpus

PAIR = [LIBRARY, SHARE / "relu_poly.fatbin"]


@unittest.skipUnless(gpus(), "no GPU on this machine")
class Native(CliTest):
    def test_native_is_the_target_of_the_gpu(self):
        targets = list(dict.fromkeys(gpu["target"] for gpu in gpus()))
        found = self.fatlink_json("link", "--target", "native", "-o", "o.{target}", *PAIR)
        self.assertEqual([one["target"] for one in found["images"]], targets)
        found = self.fatlink_json("check", "--target", "native", "--mode", "lto", *PAIR)
        self.assertEqual([one["target"] for one in found["targets"]], targets)
        found = self.fatlink_json("cache", "warm", "--target", "native", "--mode", "lto", *PAIR)
        self.assertEqual([one["target"] for one in found["links"]], targets)
        self.assert_fails(3, "inspect", "--expect", "elf:native", LIBRARY, says=[f"holds no elf:{targets[0]} entry"])
