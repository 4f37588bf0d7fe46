# SPDX-License-Identifier: Apache-2.0
"""What is in the wheel, and what it states about itself."""
import email
import re
import stat
import subprocess
import unittest
import zipfile

from wheel_case import SOURCE, WheelCase

PROGRAMS = {"fatlink/bin/fatlink", "fatlink/libexec/fatlink-linkd"}


class Contents(WheelCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.archive = zipfile.ZipFile(cls.wheel)
        cls.addClassCleanup(cls.archive.close)
        cls.names = set(cls.archive.namelist())
        cls.version = re.search(r"project\(fatlink VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]

    def read(self, name):
        return self.archive.read(name).decode()

    def in_metadata(self, name):
        return self.read(f"fatlink-{self.version}.dist-info/{name}")

    def test_is_for_every_python_and_a_manylinux(self):
        self.assertRegex(self.wheel.name, rf"^fatlink-{re.escape(self.version)}-py3-none-manylinux_2_28_(x86_64|aarch64)\.whl$")
        self.assertIn("Root-Is-Purelib: false", self.in_metadata("WHEEL"))

    def test_states_what_it_needs(self):
        metadata = email.message_from_string(self.in_metadata("METADATA"))
        self.assertEqual((metadata["Name"], metadata["Version"], metadata["Requires-Python"]),
                         ("fatlink", self.version, ">=3.10"))
        self.assertEqual(metadata["License-Expression"], "Apache-2.0")
        needed = sorted(re.sub(r"[\s'\"]", "", text) for text in metadata.get_all("Requires-Dist"))
        self.assertEqual(needed, ["numpy;extra==numpy", "nvidia-cuda-nvrtc<14,>=13;extra==nvrtc",
                                  "nvidia-nvjitlink<14,>=13"])
        self.assertIn("pip install", metadata.get_payload())  # the README
        self.assertIn("fatlink=fatlink.__main__:main", self.in_metadata("entry_points.txt").replace(" ", ""))

    def test_has_the_files_of_an_installation(self):
        short = ".".join(self.version.split(".")[:2])
        for name in (*PROGRAMS, "fatlink/__init__.py", "fatlink/__main__.py", f"fatlink/lib/libfatlink.so.{short}",
                     "fatlink/lib/libnettle.so.8", "fatlink/include/fatlink/linker.hpp",
                     "fatlink/include/fatlink/fatlink.h", "fatlink/lib/cmake/fatlink/fatlinkConfig.cmake",
                     "fatlink/share/fatlink/apply_transform.fatbin", "fatlink/share/fatlink/relu_poly.fatbin",
                     "fatlink/share/fatlink/reduce_4.json", "fatlink/share/fatlink/contracts/apply_transform.cmake",
                     "fatlink/share/fatlink/include/fatlink/typed_hooks.cuh",
                     "fatlink/share/doc/fatlink-runtime/licenses/libnettle.so.8",
                     "fatlink/share/doc/fatlink-runtime/licenses/libzstd.so.1"):  # is linked statically
            self.assertIn(name, self.names)
        self.assertTrue(any(name.startswith("fatlink/share/fatlink/cache/") for name in self.names))

    def test_has_neither_links_nor_copies_of_the_library_nor_what_only_a_system_uses(self):
        kinds = {stat.S_IFMT(entry.external_attr >> 16) for entry in self.archive.infolist()}
        self.assertLessEqual(kinds, {0, stat.S_IFREG, stat.S_IFDIR})
        libraries = [name for name in self.names if name.startswith("fatlink/lib/libfatlink")]
        self.assertEqual(len(libraries), 2)  # one is the linker script
        self.assertIn("INPUT(libfatlink.so.", self.read("fatlink/lib/libfatlink.so"))
        unwanted = re.compile(r"\.a$|/share/(man|bash-completion|zsh|fish)/|/fatlink-tests|__pycache__|/examples/")
        self.assertEqual([name for name in self.names if unwanted.search(name)], [])

    def test_programs_are_executable(self):
        for name in PROGRAMS:
            self.assertTrue((self.archive.getinfo(name).external_attr >> 16) & 0o111, name)

    def test_no_file_names_the_folder_of_the_build(self):
        for name in self.names:
            self.assertNotIn(str(SOURCE).encode(), self.archive.read(name), name)

    def test_auditwheel_grants_the_tag(self):
        auditwheel = SOURCE / ".venv/bin/auditwheel"
        if not auditwheel.exists():
            self.skipTest("auditwheel is not installed (scripts/bootstrap --packaging)")
        shown = subprocess.run([auditwheel, "show", self.wheel], text=True, capture_output=True)
        granted = re.search(r'consistent with the following platform tag: "manylinux_2_(\d+)_(?:x86_64|aarch64)"', " ".join(shown.stdout.split()))
        self.assertLessEqual(int(granted[1]), 28)


if __name__ == "__main__":
    unittest.main()
