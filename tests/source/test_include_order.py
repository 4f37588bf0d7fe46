# SPDX-License-Identifier: Apache-2.0
"""scripts/include-order: holds for this tree, and fails for each way to break the rule."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])


class IncludeOrder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name)
        for part in ("src", "include"):
            shutil.copytree(SOURCE / "host" / part, cls.root / "host" / part)

    def check(self):
        return subprocess.run([sys.executable, SOURCE / "scripts/include-order", self.root],
                              capture_output=True, text=True)

    def add_line(self, path, line):
        file = self.root / "host" / path
        text = file.read_text()
        self.addCleanup(file.write_text, text)
        file.write_text(text + line + "\n")

    def expect_fault(self, *texts):
        result = self.check()
        self.assertEqual(result.returncode, 1, result.stderr)
        for text in texts:
            self.assertIn(text, result.stderr)

    def test_holds_for_this_tree(self):
        result = self.check()
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_refuses_a_folder_that_is_lower_in_the_list(self):
        self.add_line("src/util/files/read_file.cpp", '#include "device/gpu_device.hpp"')
        self.expect_fault("host/src/util/files/read_file.cpp", '"device/gpu_device.hpp"',
                          "util may include only itself and the folders above it in host/src/README.md")

    def test_refuses_a_public_header_of_a_lower_folder(self):
        self.add_line("include/fatlink/fatbin.hpp", '#include "fatlink/linker.hpp"')
        self.expect_fault("host/include/fatlink/fatbin.hpp", '"fatlink/linker.hpp" of linker/')

    def test_refuses_other_libraries_in_the_interpreter(self):
        self.add_line("src/interpreter/program.cpp", "#include <fmt/format.h>")
        self.expect_fault("host/src/interpreter/program.cpp", "<fmt/format.h>")

    def test_refuses_headers_of_the_program_and_the_helper(self):
        self.add_line("src/linker/linker.cpp", '#include "sandbox.hpp"')
        self.expect_fault("host/src/linker/linker.cpp", '"sandbox.hpp"')

    def test_refuses_a_folder_that_the_map_does_not_list(self):
        folder = self.root / "host/src/detail"
        folder.mkdir()
        self.addCleanup(folder.rmdir)
        self.expect_fault("host/src/detail/ is not in the list")

    def test_refuses_a_listed_folder_that_does_not_exist(self):
        folder, elsewhere = self.root / "host/src/catalogue", self.root / "catalogue"
        folder.rename(elsewhere)
        self.addCleanup(elsewhere.rename, folder)
        self.expect_fault("host/src/catalogue/ is in the list and does not exist")


if __name__ == "__main__":
    unittest.main()
