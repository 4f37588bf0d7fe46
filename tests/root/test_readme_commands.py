# SPDX-License-Identifier: Apache-2.0
"""The README's two commands in a new Debian with apt and git only: no compiler, no toolkit, no GPU. The checkout is below
the home of root, where other users cannot enter."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from debian_root import make_root

SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
CHECKOUT = "/root/fatlink"


def reach_package_index(root):
    """Lets pip in the root use the index and the certificates of this machine's configuration."""
    root.env.update({name: text for name, text in os.environ.items() if name.startswith("PIP_")})
    for file in ("/etc/pip.conf", os.environ.get("PIP_CERT")):
        if file and os.path.exists(file):
            copy = root.folder / file.lstrip("/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy)


class ReadmeCommands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-root-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.root = make_root(folder / "root")
        reach_package_index(cls.root)
        cls.root.install("git", "ca-certificates")
        subprocess.run(["git", "clone", "-q", SOURCE, f"{cls.root.folder}{CHECKOUT}"], check=True)

    def command(self, command):
        """What a command of the README prints in the root."""
        return self.root.done("sh", "-c", f"cd {CHECKOUT} && {command} 2>&1")

    def test_1_demo_verifies_two_transforms(self):
        printed = self.command("./scripts/demo")
        self.assertIn("Two transforms, one host program", printed)
        self.assertEqual(printed.count("\nResult   "), 2, printed)

    def test_2_test_passes_or_skips_every_test(self):
        printed = self.command("./scripts/test")
        self.assertIn("100% tests passed", printed)


if __name__ == "__main__":
    unittest.main()
