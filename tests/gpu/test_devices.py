# SPDX-License-Identifier: Apache-2.0
"""`fatlink run` on several GPUs."""
import json
import os
import sys
import unittest

from devices_suite import DevicesSuite
from fatlink_cli import CliTest, gpus

# 2^30: 8 GiB of memory on one GPU.
ELEMENTS = int(os.environ.get("FATLINK_THROUGHPUT_ELEMENTS", 2**30))
LEAST_GAIN = 1.9


@unittest.skipUnless(len(gpus()) > 1, "fewer than two GPUs on this machine")
class Devices(DevicesSuite, CliTest):
    ONE = "gpu:0"
    TWO = "gpu:0,1"

    def test_all_is_every_gpu(self):
        said = self.run_json("all", "--elements", 100_000)
        self.assertEqual([device["device"] for device in said["devices"]], [f"gpu:{i}" for i in range(len(gpus()))])
        self.assertEqual([row["verified"] for row in said["modes"][1]["devices"]], [True] * len(gpus()))

    def test_a_gpu_that_is_not_there_does_not_stop_the_others(self):
        said = json.loads(self.fatlink("run", "--device", "gpu:0,77", "--elements", 1000, "--json", status=5).stdout)
        self.assertEqual([device["error"] and device["error"]["code"] for device in said["devices"]], [None, "gpu-unavailable"])

    def test_throughput_of_two_is_nearly_twice_that_of_one(self):
        words = ("--mode", "lto", "--elements", ELEMENTS)
        one = max(self.run_json(self.ONE, *words)["modes"][0]["total"]["gb_per_s"] for _ in range(2))
        two = max((self.run_json(self.TWO, *words)["modes"][0] for _ in range(2)), key=lambda mode: mode["total"]["gb_per_s"])
        rate = two["total"]["gb_per_s"]
        print(f"{ELEMENTS} elements: one GPU {one:.0f} GB/s, two {rate:.0f} GB/s, {rate / one:.3f} times; {len(two['links'])} link", file=sys.stderr)
        self.assertEqual([row["verified"] for row in two["devices"]], [True, True])
        self.assertEqual(len(two["links"]), 1)
        self.assertGreaterEqual(rate, LEAST_GAIN * one)


@unittest.skipUnless(gpus(), "no GPU on this machine")
class Mixed(CliTest):
    def test_a_gpu_and_the_reference_device_have_links_of_their_own(self):
        said = self.fatlink_json("run", "--device", "gpu:0,cpu", "--elements", 2000, "--mode", "lto")
        self.assertEqual(sorted(link["kind"] for link in said["modes"][0]["links"]), ["cubin", "ptx"])
        self.assertEqual([row["verified"] for row in said["modes"][0]["devices"]], [True, True])

    def test_resources_of_each_link(self):
        said = self.fatlink_json("run", "--device", "all", "--elements", 100_000, "--resources")
        for mode in said["modes"]:
            self.assertEqual(mode["links"][0]["resources"][0]["kernel"], "apply_transform")
