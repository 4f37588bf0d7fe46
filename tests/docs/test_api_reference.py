# SPDX-License-Identifier: Apache-2.0
"""The target docs: the API reference of the public headers, by Doxygen, without a warning."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["FATLINK_BUILD"])
SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
NVCC = pathlib.Path(os.environ["FATLINK_NVCC"])
CMAKE = os.environ["FATLINK_CMAKE"]
HEADERS = "host/include/fatlink"


@unittest.skipIf(shutil.which("doxygen") is None, "doxygen is not installed")
class Reference(unittest.TestCase):
    """Doxygen on a copy of the headers, with the configuration of the target docs."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-docs-"))
        self.addCleanup(shutil.rmtree, self.folder)
        shutil.copytree(SOURCE / HEADERS, self.folder / HEADERS)
        shutil.copytree(SOURCE / "cmake/build/doxygen", self.folder / "cmake/build/doxygen")
        settings = (BUILD / "docs/Doxyfile").read_text()
        for path in (BUILD / "docs", SOURCE):
            settings = settings.replace(str(path), str(self.folder))
        (self.folder / "Doxyfile").write_text(settings)

    def run_doxygen(self):
        return subprocess.run(["doxygen", "Doxyfile"], cwd=self.folder, text=True, capture_output=True)

    def append(self, text):
        with (self.folder / HEADERS / "target.hpp").open("a") as header:
            header.write(f"namespace fatlink {{\n{text}\n}}\n")

    def test_is_generated_without_a_warning(self):
        done = self.run_doxygen()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        pages = {path.name for path in (self.folder / "html").iterdir()}
        self.assertTrue({"index.html", "classfatlink_1_1linker.html", "classfatlink_1_1fatbin.html"} <= pages, pages)

    def test_an_undocumented_symbol_is_an_error(self):
        self.append("int count_links();\nstruct limits { int links = 1; };")
        self.append("/// Sizes.\nstruct sizes { int bytes = 1; };\nenum class colour { red };")
        done = self.run_doxygen()
        self.assertNotEqual(done.returncode, 0)
        for symbol in ("Member count_links() (function) of namespace fatlink is not documented",
                       "Compound fatlink::limits is not documented",
                       "Member bytes (variable) of struct fatlink::sizes is not documented",
                       "Member colour (enumeration) of namespace fatlink is not documented"):
            self.assertIn(symbol, done.stderr)

    def test_a_symbol_in_namespace_detail_needs_no_documentation(self):
        self.append("namespace detail { int count_links(); struct limits { int links; }; }")
        self.assertNotIn("links", self.run_doxygen().stderr)


class WithoutDoxygen(unittest.TestCase):
    def test_the_target_fails_and_names_the_package(self):
        with tempfile.TemporaryDirectory() as folder:
            options = ["-DFATLINK_DOXYGEN=", "-DFATLINK_BUILD_TESTS=OFF", "-DFATLINK_BUILD_KERNELS=OFF",
                       f"-DCUDAToolkit_ROOT={NVCC.parent.parent}"]
            done = subprocess.run([CMAKE, "-S", SOURCE, "-B", folder, "-G", "Ninja", *options], text=True, capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            done = subprocess.run([CMAKE, "--build", folder, "--target", "docs"], text=True, capture_output=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("doxygen was not found; install it (Debian, Ubuntu: doxygen)", done.stdout)


if __name__ == "__main__":
    unittest.main()
