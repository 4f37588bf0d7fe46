# SPDX-License-Identifier: Apache-2.0
"""A new operator for reduce_8, with an installed fatlink and nothing else: compiled by CMake and nvcc, or by NVRTC."""
import json
import os
import pathlib
import re
import shutil
import tempfile
import unittest

from outside_library import TOOLKIT, run

BUILD = pathlib.Path(os.environ["FATLINK_BUILD"])
SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
PROJECT = SOURCE / "tests/consumer/operator"
CMAKE = os.environ["FATLINK_CMAKE"]
MOST_LINES = {"best.cu": 5, "CMakeLists.txt": 8}


class Operator(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-operator-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        run(CMAKE, "--install", BUILD, "--prefix", cls.folder / "installed")
        cls.program = cls.folder / "installed/bin/fatlink"
        # A toolkit that only the build tree knows is no part of an install tree.
        doctor = json.loads(run(BUILD / "bin/fatlink", "doctor", "--json"))
        cls.devices = ["cpu"] + ["gpu"] * bool(doctor["gpus"])
        cls.nvrtc = doctor["nvrtc"].get("path", "") if "version" in doctor["nvrtc"] else ""
        cls.env = {"FATLINK_CACHE_DIR": str(cls.folder / "cache"), "FATLINK_NVJITLINK": doctor["nvjitlink"]["path"],
                   "FATLINK_NVRTC": cls.nvrtc}

    def assert_verified(self, transform, *words):
        for device in self.devices:
            for elements in (1, 33, 100000):
                with self.subTest(device=device, elements=elements):
                    said = json.loads(run(self.program, "run", "--library", "reduce_8", "--transform", transform,
                                          "--device", device, "--elements", elements, "--json", *words, **self.env))
                    self.assertEqual([mode["reference"][0]["verified"] for mode in said["modes"]], [True, True])

    def need_nvrtc(self):
        if not self.nvrtc:
            self.skipTest("no NVRTC on this machine")

    def test_takes_few_lines(self):
        for name, most in MOST_LINES.items():
            lines = [line for line in (PROJECT / name).read_text().splitlines() if line[:1] not in ("#", "/")]
            self.assertLessEqual(len(lines), most, name)

    def test_the_document_shows_it(self):
        text = (SOURCE / "docs/algorithms.md").read_text()
        for name, language in (("best.cu", "cuda"), ("best.json", "json")):
            code = "\n".join(line for line in (PROJECT / name).read_text().splitlines() if not line.startswith("//")).strip()
            shown = [block.removeprefix("// best.cu\n").strip() for block in re.findall(rf"```{language}\n(.*?)```", text, re.S)]
            self.assertIn(code, shown, name)

    def test_cmake_builds_it(self):
        run(CMAKE, "-S", PROJECT, "-B", self.folder / "build", "-G", "Ninja", f"-DCUDAToolkit_ROOT={TOOLKIT}",
            f"-DCMAKE_PREFIX_PATH={self.folder}/installed")
        run(CMAKE, "--build", self.folder / "build")
        self.assert_verified(self.folder / "build/best.fatbin", "--set", "init.value=-inf")

    def test_one_command_compiles_and_runs_it(self):
        self.need_nvrtc()
        self.assert_verified(PROJECT / "best.cu", "--set", "init.value=-inf")

    def test_without_a_sidecar_both_modes_agree(self):
        self.need_nvrtc()
        shutil.copy(PROJECT / "best.cu", self.folder / "other.cu")
        said = json.loads(run(self.program, "run", "--library", "reduce_8", "--transform", self.folder / "other.cu",
                              "--device", "cpu", "--json", **self.env))
        self.assertTrue(said["between"][0]["verified"])


if __name__ == "__main__":
    unittest.main()
