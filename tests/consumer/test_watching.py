# SPDX-License-Identifier: Apache-2.0
"""The example of docs/watching.md, taken from the document: it compiles without a warning, and takes a new transform while it runs."""
import re
import shutil
import subprocess
import tempfile
import pathlib
import unittest

from fatlink_cli import BUILD, SHARE
from test_tutorial import SOURCE, WARNINGS

EXAMPLE = re.search(r"^```cpp\n(.*?)^```$", (SOURCE / "docs/watching.md").read_text(), re.MULTILINE | re.DOTALL)[1]


class Watching(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-watching-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def replace(self, transform):
        """The .json first, as a build does."""
        for ending in ("json", "fatbin"):
            shutil.copy(SHARE / f"{transform}.{ending}", self.folder / "new")
            (self.folder / "new").rename(self.folder / f"t.{ending}")

    def test_the_example_takes_a_new_transform(self):
        (self.folder / "host.cpp").write_text(EXAMPLE)
        subprocess.run(["c++", "-std=c++20", *WARNINGS, f"-I{SOURCE}/host/include", "host.cpp", f"-L{BUILD}/lib", "-lfatlink",
                        f"-Wl,-rpath,{BUILD}/lib", "-o", "host"], cwd=self.folder, check=True)
        self.replace("gelu")
        host = subprocess.Popen([self.folder / "host", SHARE / "apply_transform.fatbin", "t.fatbin"], cwd=self.folder, text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(host.communicate)
        self.assertEqual(host.stdout.readline(), "f(1) = 0.841345\n")
        self.replace("relu_poly")
        self.assertEqual(host.stdout.readline(), "f(1) = 3\n")


if __name__ == "__main__":
    unittest.main()
