# SPDX-License-Identifier: Apache-2.0
"""The README's two commands in a new Debian with apt and git only: no compiler, no toolkit, no GPU. The checkout is below root's
home, where other users cannot enter, and elsewhere."""
import datetime
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

from debian_root import make_root

SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])


def reach_package_index(root):
    """Lets pip in the root use the index and the certificates of this machine's configuration."""
    root.env.update({name: text for name, text in os.environ.items() if name.startswith("PIP_")})
    for file in ("/etc/pip.conf", os.environ.get("PIP_CERT")):
        if file and os.path.exists(file):
            copy = root.folder / file.lstrip("/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy)


class FreshMachine(unittest.TestCase):
    CHECKOUTS = ("/root/fatlink", "/srv/fatlink")

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-root-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.root = make_root(folder / "root")
        cls.root.install("git", "ca-certificates")
        reach_package_index(cls.root)  # the installation of certificates writes a file that PIP_CERT may name

    def command(self, checkout, command):
        """What a command of the README prints in a new checkout in the root."""
        subprocess.run(["git", "clone", "-q", SOURCE, f"{self.root.folder}{checkout}"], check=True)
        return self.root.done("sh", "-c", f"cd {checkout} && {command} 2>&1")


class Demo(FreshMachine):
    def test_verifies_two_transforms(self):
        for checkout in self.CHECKOUTS:
            with self.subTest(checkout):
                printed = self.command(checkout, "./scripts/demo")
                self.assertIn("Two transforms, one host program", printed)
                self.assertEqual(printed.count("\n$ fatlink run --transform"), 2, printed)


class DefaultTests(FreshMachine):
    def test_pass_or_are_skipped(self):
        """One checkout, another one each week: $FATLINK_ROOT_CHECKOUT, if it is set."""
        week = datetime.date.today().isocalendar().week
        checkout = os.environ.get("FATLINK_ROOT_CHECKOUT") or self.CHECKOUTS[week % 2]
        start = time.monotonic()
        printed = self.command(checkout, "./scripts/test")
        print(f"{checkout}: ./scripts/test: {time.monotonic() - start:.0f} s\n" + printed[printed.find("Label Time Summary"):])
        self.assertIn("100% tests passed", printed)


if __name__ == "__main__":
    unittest.main()
