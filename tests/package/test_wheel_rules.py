# SPDX-License-Identifier: Apache-2.0
"""pyproject.toml, and the install rules of the wheel in a build that is only configured. The built wheel: tests/wheel."""
import re
import shutil
import unittest

from bundle_case import CMAKE, SOURCE, TOOLKIT, Bundle
from known_checks import known_checks

try:
    import tomllib
except ImportError:  # Python 3.10
    tomllib = None


@unittest.skipIf(tomllib is None, "this Python reads no TOML")
class Project(unittest.TestCase):
    def setUp(self):
        self.stated = tomllib.loads((SOURCE / "pyproject.toml").read_text())

    def test_the_version_is_that_of_cmake(self):
        rule = self.stated["tool"]["scikit-build"]["metadata"]["version"]
        lists = (SOURCE / rule["input"]).read_text()
        version = re.search(rule["regex"], lists)["value"]
        self.assertEqual(version, re.search(r"(?m)^project\(fatlink VERSION (\S+)", lists)[1])

    def test_needs_nvjitlink_of_the_major_version_that_fatlink_opens(self):
        project = self.stated["project"]
        self.assertEqual(project["dependencies"], ["nvidia-nvjitlink>=13,<14"])
        self.assertEqual(project["optional-dependencies"]["nvrtc"], ["nvidia-cuda-nvrtc>=13,<14"])
        self.assertIn("libnvJitLink.so.13", (SOURCE / "host/src/toolkit/nvjitlink.cpp").read_text())

    def test_the_entry_point_exists(self):
        module, function = self.stated["project"]["scripts"]["fatlink"].split(":")
        file = SOURCE / "host/python" / (module.replace(".", "/") + ".py")
        self.assertIn(f"def {function}()", file.read_text())

    def test_the_package_and_the_files_that_it_names_exist(self):
        for name in (*self.stated["tool"]["scikit-build"]["wheel"]["packages"], self.stated["project"]["readme"],
                     *self.stated["project"]["license-files"]):
            self.assertTrue((SOURCE / name).exists(), name)

    def test_the_cmake_options_exist(self):
        cmake = "".join(file.read_text() for file in [SOURCE / "CMakeLists.txt", *SOURCE.glob("cmake/**/*.cmake")])
        for name in self.stated["tool"]["scikit-build"]["cmake"]["define"]:
            self.assertRegex(cmake, rf"\b{name}\b")


class Rules(Bundle):
    def test_a_wheel_has_one_file_of_the_library_and_no_static_one(self):
        if shutil.which("dpkg-query") is None:
            self.skipTest("licence texts are found by Debian's packages")
        self.done(CMAKE, "-S", SOURCE, "-B", "b", "-G", "Ninja", "-DFATLINK_BUILD_TESTS=OFF", "-DFATLINK_BUILD_KERNELS=OFF",
                  *known_checks(), f"-DCUDAToolkit_ROOT={TOOLKIT}", "-DFATLINK_WHEEL=ON", "-DFATLINK_BUNDLE_LIBRARIES=ON",
                  "-DCMAKE_INSTALL_LIBDIR=lib", "-DCMAKE_INSTALL_DOCDIR=share/doc/fatlink-runtime")
        rules = "".join(file.read_text() for file in (self.folder / "b").glob("**/cmake_install.cmake"))
        self.assertEqual(len(set(re.findall(r"lib/libfatlink\.so\.[0-9.]+(?=\")", rules))), 1)
        self.assertNotIn("libfatlink.a", rules)
        for unwanted in ("fatlink.1", "bash-completion", "share/doc/fatlink/", "CPack"):
            self.assertNotIn(unwanted, rules)
        exported = "".join(file.read_text() for file in (self.folder / "b").glob("**/fatlinkTargets*.cmake"))
        self.assertIn("fatlink::program", exported)
        self.assertNotIn("fatlink::static", exported)
        script = (self.folder / "b/install_side/libfatlink.so").read_text()
        self.assertRegex(script, r"INPUT\(libfatlink\.so\.\d+\.\d+\)")


if __name__ == "__main__":
    unittest.main()
