# SPDX-License-Identifier: Apache-2.0
"""The target docs: the public headers as Doxygen reads them, without a warning."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from known_checks import known_checks
from run_tests import long_test
from site_copy import HEADERS, SOURCE, SiteCopy

NVCC = pathlib.Path(os.environ["FATLINK_NVCC"])
CMAKE = os.environ["FATLINK_CMAKE"]


@unittest.skipIf(shutil.which("doxygen") is None, "doxygen is not installed")
class Reference(unittest.TestCase):
    """Doxygen on a copy of the headers, with the configuration of the target docs."""

    def setUp(self):
        self.site = SiteCopy()
        self.addCleanup(self.site.remove)
        self.folder = self.site.folder

    def append(self, text):
        self.site.append(f"{HEADERS}/target.hpp", f"namespace fatlink {{\n{text}\n}}\n")

    def check_documentation(self):
        return self.site.run_doxygen()

    def test_an_undocumented_symbol_is_an_error(self):
        self.append("int count_links();\nstruct limits { int links = 1; };")
        self.append("/// Sizes.\nstruct sizes { int bytes = 1; };\nenum class colour { red };")
        done = self.check_documentation()
        self.assertNotEqual(done.returncode, 0)
        for symbol in ("Member count_links() (function) of namespace fatlink is not documented",
                       "Compound fatlink::limits is not documented",
                       "Member bytes (variable) of struct fatlink::sizes is not documented",
                       "Member colour (enumeration) of namespace fatlink is not documented"):
            self.assertIn(symbol, done.stderr)

    def test_a_symbol_in_namespace_detail_needs_no_documentation(self):
        self.append("namespace detail { int count_links(); struct limits { int links; }; }")
        self.assertNotIn("links", self.check_documentation().stderr)


class WithoutTools(unittest.TestCase):
    def test_the_target_fails_and_names_the_packages(self):
        output = self.output_of_target("-DFATLINK_SPHINX=")
        self.assertIn("sphinx-build was not found; install the tools (Debian, Ubuntu: doxygen python3-sphinx ", output)

    def output_of_target(self, *changes):
        with tempfile.TemporaryDirectory() as folder:
            options = ["-DFATLINK_BUILD_TESTS=OFF", "-DFATLINK_BUILD_KERNELS=OFF",
                       f"-DCUDAToolkit_ROOT={NVCC.parent.parent}", *known_checks(), *changes]
            done = subprocess.run([CMAKE, "-S", SOURCE, "-B", folder, "-G", "Ninja", *options], text=True, capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            done = subprocess.run([CMAKE, "--build", folder, "--target", "docs"], text=True, capture_output=True)
        self.assertNotEqual(done.returncode, 0)
        return done.stdout

    @long_test  # the test above leaves out Sphinx
    def test_the_target_fails_without_python_or_doxygen(self):
        output = self.output_of_target("-DPython3_EXECUTABLE:FILEPATH=NOTFOUND", "-DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON")
        self.assertIn("python3 was not found; install the tools", output)
        self.assertIn("doxygen was not found", self.output_of_target("-DFATLINK_DOXYGEN="))


if __name__ == "__main__":
    unittest.main()
