# SPDX-License-Identifier: Apache-2.0
"""The binary interface of the C functions is the one that c_abi.txt keeps, and libfatlink.so exports it."""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import c_abi

LIBRARY = pathlib.Path(os.environ["FATLINK_BUILD"]) / "lib/libfatlink.so"
KEPT = pathlib.Path(__file__).with_name("c_abi.txt")
FIRST_SIZES = c_abi.SOURCE / "host/src/c_interface/structs.cpp"


@unittest.skipIf(shutil.which("cc") is None, "no C compiler")
class CAbi(unittest.TestCase):
    maxDiff = None

    def test_is_the_one_that_is_kept(self):
        self.assertEqual(c_abi.describe().splitlines(), KEPT.read_text().splitlines(),
                         "callers that are compiled already break, unless lines were only added; then write c_abi.txt again")

    def test_has_every_struct_with_its_size_first(self):
        for name, members in c_abi.structs():
            if name != "fatlink_extent":
                self.assertEqual(members[0], "size", name)

    def test_has_no_padding_at_the_end_of_a_struct(self):
        """A caller's padding is not 0: a member that is added there later would read it."""
        for name, offset, size, end in re.findall(r"^struct (\w+)\n(?:  .*\n)*  \w+ at (\d+), (\d+) bytes\n  end at (\d+)$",
                                                 KEPT.read_text(), re.MULTILINE):
            with self.subTest(struct=name):
                self.assertEqual(int(offset) + int(size), int(end))

    def test_states_the_first_size_of_every_struct(self):
        """structs.cpp does not compile when a member is appended and k_first_size is not specialized."""
        stated = set(re.findall(r"k_first_size<(\w+)> == \d+", FIRST_SIZES.read_text()))
        self.assertEqual(stated, {name for name, members in c_abi.structs() if members[0] == "size"})

    def test_is_exported_with_a_version(self):
        listed = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], text=True, capture_output=True, check=True).stdout
        exported = set(re.findall(r" T (\w+)@@FATLINK_C_1(?:\.\d+)?$", listed, re.MULTILINE))
        self.assertEqual(exported, c_abi.function_names())


if __name__ == "__main__":
    unittest.main()
