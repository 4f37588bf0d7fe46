# SPDX-License-Identifier: Apache-2.0
"""The build tree's links to the libraries of a toolkit that is in no folder that is searched at run time."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
CMAKE = os.environ["FATLINK_CMAKE"]
NAMES = ["libnvJitLink.so.13", "libnvrtc.so.13", "libnvvm.so.4"]


class ToolkitLinks(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-links-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def put(self, *paths):
        for path in paths:
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).touch()

    def links(self):
        """Name and file of each link, as paths in the folder of the test."""
        settings = {"CUDAToolkit_LIBRARY_DIR": "toolkit/lib64", "CUDAToolkit_BIN_DIR": "toolkit/bin",
                    "PROJECT_BINARY_DIR": "build", "FATLINK_DEFAULT_TOOLKIT": "default"}
        subprocess.run([CMAKE, *(f"-D{name}={self.folder / path}" for name, path in settings.items()), "-P",
                        SOURCE / "cmake/build/toolkit_links.cmake"], check=True)
        return {link.name: str(link.resolve().relative_to(self.folder)) for link in self.folder.glob("build/lib/*")}

    def test_lead_to_the_libraries_of_wheels(self):
        self.put(*(f"toolkit/lib64/{name}" for name in NAMES))
        self.assertEqual(self.links(), {name: f"toolkit/lib64/{name}" for name in NAMES})

    def test_lead_to_the_libnvvm_of_a_toolkit(self):
        self.put("toolkit/bin/nvcc", "toolkit/nvvm/lib64/libnvvm.so.4")
        self.assertEqual(self.links(), {"libnvvm.so.4": "toolkit/nvvm/lib64/libnvvm.so.4"})

    def test_are_not_made_to_what_the_default_toolkit_has(self):
        self.put(*(f"toolkit/lib64/{name}" for name in NAMES), "default/lib64/libnvrtc.so.13", "default/nvvm/lib64/libnvvm.so.4")
        self.assertEqual(list(self.links()), ["libnvJitLink.so.13"])

    def test_are_not_made_to_what_is_not_there(self):
        self.put("toolkit/bin/nvcc")
        self.assertEqual(self.links(), {})


if __name__ == "__main__":
    unittest.main()
