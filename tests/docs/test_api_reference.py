# SPDX-License-Identifier: Apache-2.0
"""The target docs: the API reference of the public headers, by Doxygen, without a warning."""
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
        """Doxygen's warnings; they do not need the pages."""
        return self.site.run_doxygen("GENERATE_HTML = NO")

    @long_test  # by default, test_site makes the site without a warning and reads its pages
    def test_is_generated_without_a_warning(self):
        done = self.site.run_doxygen()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        pages = {path.name for path in (self.folder / "html").iterdir()}
        self.assertTrue({"index.html", "classfatlink_1_1linker.html", "classfatlink_1_1fatbin.html"} <= pages, pages)

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


class WithoutDoxygen(unittest.TestCase):
    def test_the_target_fails_and_names_the_package(self):
        self.assertIn("doxygen was not found; install it (Debian, Ubuntu: doxygen)", self.output_of_target("-DFATLINK_DOXYGEN="))

    def output_of_target(self, *changes):
        with tempfile.TemporaryDirectory() as folder:
            options = ["-DFATLINK_BUILD_TESTS=OFF", "-DFATLINK_BUILD_KERNELS=OFF",
                       f"-DCUDAToolkit_ROOT={NVCC.parent.parent}", *known_checks(), *changes]
            done = subprocess.run([CMAKE, "-S", SOURCE, "-B", folder, "-G", "Ninja", *options], text=True, capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            done = subprocess.run([CMAKE, "--build", folder, "--target", "docs"], text=True, capture_output=True)
        self.assertNotEqual(done.returncode, 0)
        return done.stdout

    @long_test  # the test above leaves out Doxygen
    def test_the_target_fails_without_python_and_names_the_package(self):
        output = self.output_of_target("-DPython3_EXECUTABLE:FILEPATH=NOTFOUND", "-DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON")
        self.assertIn("python3 was not found; install it (Debian, Ubuntu: python3)", output)


if __name__ == "__main__":
    unittest.main()
