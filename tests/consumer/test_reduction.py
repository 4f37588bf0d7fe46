# SPDX-License-Identifier: Apache-2.0
"""The program of docs/launch_plans.md, taken from there: built with an installed fatlink, it runs a reduction by its plan."""
import json
import os
import pathlib
import shutil
import tempfile
import unittest

from outside_library import TOOLKIT, run
from document_session import blocks

BUILD = pathlib.Path(os.environ["FATLINK_BUILD"])
SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
CMAKE = os.environ["FATLINK_CMAKE"]
MOST_LINES = 15


class Reduction(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-reduction-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        text = (SOURCE / "docs/launch_plans.md").read_text()
        (cls.program,) = [content for _, _, content in blocks(text, "cpp") if "// reduction" in content]
        (cls.folder / "sum.cpp").write_text(cls.program)
        run(CMAKE, "--install", BUILD, "--prefix", cls.folder / "installed")
        run(CMAKE, "-S", SOURCE / "tests/consumer/reduction", "-B", cls.folder / "build", "-G", "Ninja",
            f"-DPROGRAM={cls.folder}/sum.cpp", f"-DCMAKE_PREFIX_PATH={cls.folder}/installed",
            f"-DCUDAToolkit_ROOT={TOOLKIT}")
        run(CMAKE, "--build", cls.folder / "build")
        doctor = json.loads(run(BUILD / "bin/fatlink", "doctor", "--json"))
        cls.devices = ["cpu"] + ["gpu"] * bool(doctor["gpus"])
        cls.env = {"FATLINK_PATH": str(cls.folder / "build"), "FATLINK_CACHE_DIR": str(cls.folder / "cache"),
                   "FATLINK_NVJITLINK": doctor["nvjitlink"]["path"]}

    def test_prints_the_sum_on_each_device(self):
        for device in self.devices:
            with self.subTest(device=device):
                self.assertEqual(run(self.folder / "build/sum", device, **self.env), "200000\n")

    def test_takes_at_most_15_lines(self):
        code = self.program.split("// reduction\n")[1].split("  // end\n")[0]
        self.assertIn("fatlink::prepare", code)
        self.assertLessEqual(len(code.splitlines()), MOST_LINES)

    def test_verifies_by_the_plan_at_any_size(self):
        for elements in (1, 511, 8193, 100000):
            with self.subTest(elements=elements):
                said = json.loads(run(self.folder / "installed/bin/fatlink", "run", "--device", "cpu", "--json",
                                      "--library", "reduce", "--transform", "add", "--elements", elements, **self.env))
                self.assertEqual([mode["reference"][0]["verified"] for mode in said["modes"]], [True, True])

    def test_an_error_names_cause_and_remedy(self):
        with self.assertRaisesRegex(AssertionError, r"status 1\n\nreduce: no fatbin of that name is installed\n(did you mean reduce_N, for [^?]*\? )?pass "):
            run(self.folder / "build/sum", "cpu", **{**self.env, "FATLINK_PATH": "/absent"})


if __name__ == "__main__":
    unittest.main()
