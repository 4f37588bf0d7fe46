# SPDX-License-Identifier: Apache-2.0
"""The main job on the reference device, which every machine has."""
import unittest

from fatlink_cli import HOOK, CliTest, gpus
from run_suite import RunSuite


class Run(RunSuite, CliTest):
    DEVICE = "cpu"
    MOST = 2**20 + 1

    @unittest.skipIf(gpus(), "there is a GPU on this machine")
    def test_is_the_default_without_a_gpu_and_says_so(self):
        done = self.fatlink("run")
        self.assertRegex(done.stdout, r"^Device: reference device on \d+ CPU cores? \(sm_90\), as there is no GPU")
        said = self.fatlink_json("run")
        self.assertEqual(said["device"]["kind"], "cpu")
        self.assertIn("no CUDA driver", said["device"]["why_no_gpu"])
        self.assertFalse("why_no_gpu" in self.run_json()["device"])

    def test_links_for_the_target_it_is_told(self):
        said = self.fatlink_json("run", "--device", "cpu:sm_80")
        self.assertEqual(said["device"]["target"], "sm_80")
        self.assert_verified(said)
        self.assert_fails(2, "run", "--device", "cpu:sm_1", says=["sm_1"])

    def test_code_that_goes_wrong_ends_in_an_error_that_says_where(self):
        wild = self.compile("wild", HOOK.replace("return x", "return *reinterpret_cast<float*>(16)"),
                            "-dlto", "-arch=sm_75")
        self.assert_fails(5, "run", "--device", "cpu", "--transform", wild, "--mode", "ptx",
                          says=["kernel apply_transform, block (0,0,0) thread (0,0,0): ld.",
                                "wild.fatbin:", "reads 4 bytes at 0x10: a null pointer"])
        endless = self.compile("endless", HOOK.replace("return x;", "while (x == x) asm volatile(\"\"); return x;"),
                               "-dlto", "-arch=sm_75")
        self.assert_fails(5, "run", "--device", "cpu", "--transform", endless,
                          "--instruction-budget", 10000,
                          says=["is still running after 10000 instructions"])

    def test_unknown_instructions_are_refused_before_anything_runs(self):
        matrix = self.compile("matrix", HOOK.replace(
            "return x", "int r[4]; asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\" "
            ": \"=r\"(r[0]), \"=r\"(r[1]), \"=r\"(r[2]), \"=r\"(r[3]) : \"r\"(0)); return x + r[0]"),
            "-dlto", "-arch=sm_75")
        self.assert_fails(5, "run", "--device", "cpu", "--transform", matrix,
                          says=["matrix.fatbin:", "in user_transform", "does not execute 'ldmatrix"])

    def test_hooks_of_another_type_do_not_link(self):
        wide = self.compile("wide", 'extern "C" __device__ double user_transform(double x) { return x; }',
                            "-dlto", "-arch=sm_75")
        self.assert_fails(4, "run", "--device", "cpu", "--transform", wide, says=["user_transform"])
