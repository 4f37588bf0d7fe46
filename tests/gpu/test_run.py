# SPDX-License-Identifier: Apache-2.0
"""The main job on a GPU."""
import hashlib
import struct
import unittest

from fatlink_cli import BUILD, HOOK, PROGRAM, SHARE, TRANSFORMS, CliTest, gpus


@unittest.skipUnless(gpus(), "no GPU on this machine")
class Run(CliTest):
    def run_json(self, *words, **options):
        return self.fatlink_json("run", *words, **options)

    def assert_verified(self, said):
        self.assertEqual([m["mode"] for m in said["modes"]], ["ptx", "lto"])
        self.assertTrue(all(m["verified"] for m in said["modes"]), said)
        self.assertEqual([m["inlined"] for m in said["modes"]], [False, True])
        self.assertTrue(said["agree"])

    def test_every_transform_at_every_size_in_both_modes(self):
        for transform in TRANSFORMS:
            for n in (1, 3, 255, 65536, 2**26 + 1):
                with self.subTest(transform=transform, n=n):
                    said = self.run_json("--transform", SHARE / f"{transform}.fatbin", "--elements", n)
                    self.assertEqual(said["elements"], n)
                    self.assert_verified(said)

    def test_from_a_file_to_a_file(self):
        values = [0.5, -2.0, 3.25, 1e-30, 1e20, -0.0, 0.3027756]
        header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)},), }}".ljust(117) + "\n"
        self.file("x.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                  + struct.pack(f"<{len(values)}f", *values))
        said = self.run_json("--input", "x.npy", "--output", "y.npy",
                             "--transform", SHARE / "identity.fatbin")
        self.assert_verified(said)
        data = (self.folder / "y.npy").read_bytes()
        self.assertEqual(data[-4 * len(values):], struct.pack(f"<{len(values)}f", *values))
        for transform in TRANSFORMS:
            self.assert_verified(self.run_json("--input", "x.npy", "--transform", SHARE / f"{transform}.fatbin"))

    def test_swapping_one_file_changes_the_function_and_not_the_host(self):
        host = [PROGRAM, *sorted((BUILD / "lib").glob("libfatlink.so*"))]
        digest = lambda: [hashlib.sha256(f.read_bytes()).hexdigest() for f in host]
        before = digest()
        answers = []
        for transform in ("relu_poly", "softsign"):
            for suffix in ("fatbin", "json"):
                self.file(f"t.{suffix}", (SHARE / f"{transform}.{suffix}").read_bytes())
            self.assert_verified(self.run_json("--transform", "t.fatbin", "--output", "y.npy"))
            answers.append((self.folder / "y.npy").read_bytes())
        self.assertNotEqual(answers[0], answers[1])
        self.assertEqual(digest(), before)

    def test_wrong_results_are_said_and_nothing_is_written(self):
        wrong = self.compile("wrong", HOOK.replace("return x", "return x == 0.25f ? 1.0f : x"))
        self.file("wrong.json", (SHARE / "identity.json").read_bytes())
        said = self.run_json("--transform", wrong, "--output", "y.npy", status=1)
        self.assertFalse(said["modes"][0]["verified"])
        self.assertEqual(said["modes"][0]["first_failure"]["input"], 0.25)
        self.assertFalse((self.folder / "y.npy").exists())

    def test_without_a_reference_only_the_modes_are_compared(self):
        done = self.fatlink("run", "--transform", self.compile("bare", HOOK))
        self.assertIn("not verified: the transform has no .json", done.stdout)
        self.assertIn("That is all that was checked.", done.stdout)

    def test_a_gpu_that_is_not_there(self):
        self.assert_fails(5, "run", "--device", "gpu:77", says=["gpu:77", "no such GPU"])
