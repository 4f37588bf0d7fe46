# SPDX-License-Identifier: Apache-2.0
"""The library for images of docs/launch_plans.md, taken from there: built, called by its program, run and verified."""
import json
import os
import pathlib
import re
import shutil
import tempfile
import unittest

from outside_library import TOOLKIT, run
from document_session import blocks, pattern_of, steps

BUILD = pathlib.Path(os.environ["FATLINK_BUILD"])
SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
CMAKE = os.environ["FATLINK_CMAKE"]
TEXT = (SOURCE / "docs/launch_plans.md").read_text()
EXAMPLE = TEXT.split("## Example in two dimensions\n")[1].split("\n## ")[0]


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-image-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        (cls.folder / "image").mkdir()
        for name, language, content in blocks(EXAMPLE):
            if language != "console":
                (cls.folder / name).write_text(content)
        run(CMAKE, "-S", cls.folder / "image", "-B", cls.folder / "image/build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={BUILD}",
            f"-DCUDAToolkit_ROOT={TOOLKIT}", "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")
        run(CMAKE, "--build", cls.folder / "image/build")
        doctor = json.loads(run(BUILD / "bin/fatlink", "doctor", "--json"))
        cls.devices = ["cpu"] + ["gpu"] * bool(doctor["gpus"])
        cls.env = {"FATLINK_PATH": str(cls.folder / "image/build"), "FATLINK_CACHE_DIR": str(cls.folder / "cache"),
                   "FATLINK_NVJITLINK": doctor["nvjitlink"]["path"]}

    def test_the_program_prints_what_its_comment_says_on_each_device(self):
        expected = re.search(r"printf\(.*// (.*)", EXAMPLE)[1]
        for device in self.devices:
            with self.subTest(device=device):
                self.assertEqual(run(self.folder / "image/build/host", device, **self.env), expected + "\n")

    def test_the_commands_print_what_the_page_shows(self):
        (session,) = [content for _, language, content in blocks(EXAMPLE) if language == "console"]
        for command, lines in ((step.command, step.expected) for step in steps(session)):
            printed = run("bash", "-c", f"cd {self.folder}; PATH={BUILD}/bin:$PATH; {command}",
                          **{**self.env, "FATLINK_CACHE_DIR": str(self.folder / "empty")})
            for line in lines:
                with self.subTest(line=line):
                    self.assertRegex(printed, pattern_of(line.replace("in image", f"in {self.folder}/image")))

    def test_it_verifies_at_any_size(self):
        for height, width in ((1, 1), (9, 33), (100, 31)):
            with self.subTest(height=height, width=width):
                said = json.loads(run(BUILD / "bin/fatlink", "run", "--device", "cpu", "--json", "--library", "image", "--transform",
                                      "ramp", "--set", f"height={height}", "--set", f"width={width}", **self.env))
                self.assertEqual([mode["reference"][0]["verified"] for mode in said["modes"]], [True, True])


class Excerpt(unittest.TestCase):
    def test_the_arguments_of_convert_are_those_of_its_plan(self):
        (excerpt,) = [json.loads(content) for _, language, content in blocks(TEXT) if language == "json" and content.startswith("[")]
        self.assertEqual(excerpt, json.loads((SOURCE / "kernels/convert/convert.plan.json").read_text())["arguments"])


if __name__ == "__main__":
    unittest.main()
