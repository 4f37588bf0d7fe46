# SPDX-License-Identifier: Apache-2.0
"""The library for images of docs/launch_plans.md, taken from there: built, called by its program, run and verified."""
import json
import unittest

from document_session import blocks
from outside_library import run
from page_example import BUILD, SOURCE, PageExample


class Image(PageExample):
    page = "docs/launch_plans.md"
    heading = "## Example in two dimensions"
    project = "image"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.env.update(FATLINK_PATH=str(cls.build), FATLINK_NVJITLINK=cls.doctor["nvjitlink"]["path"])

    def test_the_program_prints_what_its_comment_says_on_each_device(self):
        for device in ["cpu"] + ["gpu"] * bool(self.doctor["gpus"]):
            with self.subTest(device=device):
                self.assert_program_prints_its_comment([device])

    def test_the_commands_print_what_the_page_shows(self):
        self.assert_commands_print_what_the_page_shows(lambda line: line.replace("in image", f"in {self.folder}/image"),
                                                       FATLINK_CACHE_DIR=str(self.folder / "empty"))

    def test_it_verifies_at_any_size(self):
        for height, width in ((1, 1), (9, 33), (100, 31)):
            with self.subTest(height=height, width=width):
                said = json.loads(run(BUILD / "bin/fatlink", "run", "--device", "cpu", "--json", "--library", "image", "--transform",
                                      "ramp", "--set", f"height={height}", "--set", f"width={width}", **self.env))
                self.assertEqual([mode["reference"][0]["verified"] for mode in said["modes"]], [True, True])


class Excerpt(unittest.TestCase):
    def test_the_arguments_of_convert_are_those_of_its_plan(self):
        (excerpt,) = [json.loads(content) for _, language, content in blocks((SOURCE / Image.page).read_text()) if language == "json" and content.startswith("[")]
        self.assertEqual(excerpt, json.loads((SOURCE / "kernels/convert/convert.plan.json").read_text())["arguments"])


if __name__ == "__main__":
    unittest.main()
