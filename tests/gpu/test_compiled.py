# SPDX-License-Identifier: Apache-2.0
"""Sources that NVRTC compiles at run time, on a GPU. tests/bench/nvrtc_kernel_bench.cpp compares their speed with nvcc's."""
import json
import os
import pathlib
import unittest

from compile_case import CONTRACT, HALF, HALF_JSON, CompileCase
from fatlink_cli import SHARE, TRANSFORMS, gpus

SOURCE = os.environ.get("FATLINK_SOURCE")


@unittest.skipUnless(gpus(), "no GPU on this machine")
class Compiled(CompileCase):
    def setUp(self):
        super().setUp()
        self.need_nvjitlink()

    def run_verified(self, transform, **options):
        said = self.fatlink_json("run", "--device", "gpu", "--elements", 2**20 + 1, "--transform", transform, **options)
        self.assertEqual([(mode["mode"], mode["verified"], mode["inlined"]) for mode in said["modes"]],
                         [("ptx", True, False), ("lto", True, True)])
        self.assertTrue(said["between"][0]["verified"])

    @unittest.skipUnless(SOURCE, "FATLINK_SOURCE names no folder with the sources of the transforms")
    def test_every_shipped_transform_is_verified_in_both_modes(self):
        target = gpus()[0]["target"]
        for name in TRANSFORMS:
            with self.subTest(transform=name):
                self.file(f"{name}.cu", pathlib.Path(SOURCE, "kernels/transforms", f"{name}.cu").read_bytes())
                stated = json.loads((SHARE / f"{name}.json").read_text())
                del stated["sha256"]
                self.file(f"{name}.json", json.dumps(stated))
                self.fatlink("compile", f"{name}.cu", *CONTRACT, "--arch", target, "-o", f"{name}.fatbin", "--no-cache")
                self.assertEqual(self.entries(f"{name}.fatbin"), [f"ptx:{target}", f"ltoir:{target}"])
                self.run_verified(f"./{name}.fatbin")

    def test_a_source_runs_without_nvcc_in_the_path(self):
        self.file("half.cu", HALF)
        self.file("half.json", HALF_JSON)
        self.run_verified("half.cu", env={"PATH": "/nonexistent"})


if __name__ == "__main__":
    unittest.main()
