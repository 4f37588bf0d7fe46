# SPDX-License-Identifier: Apache-2.0
"""On a GPU, a library of another project (tests/consumer/library) by its plan, with a transform of a third."""
import os
import pathlib
import shutil
import unittest

from fatlink_cli import BUILD, NVCC, CliTest, gpus
from outside_library import install_mix

PROJECTS = pathlib.Path(os.environ.get("FATLINK_SOURCE", "/absent")) / "tests/consumer"


@unittest.skipUnless(gpus(), "no GPU on this machine")
@unittest.skipUnless(PROJECTS.exists() and shutil.which(NVCC), "the sources or nvcc are not on this machine")
class OutsideLibrary(CliTest):
    def test_verifies_in_both_modes_and_beside_the_reference_device(self):
        path = install_mix(PROJECTS, self.folder, BUILD)
        said = self.fatlink_json("run", "--device", "gpu", "--library", "mix", "--transform", "soft_mix",
                                 "--elements", 100000, "--compare-cpu", env={"FATLINK_PATH": path})
        self.assertEqual([mode["reference"][0]["verified"] for mode in said["modes"]], [True, True])
        self.assertEqual([result["verified"] for result in said["between"] + said["reference_device"]],
                         [True] * len(said["between"] + said["reference_device"]))
        self.assertNotEqual(said["reference_device"], [])


if __name__ == "__main__":
    unittest.main()
