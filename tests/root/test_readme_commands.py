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

from debian_root import make_root, reach_package_index

SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])


CHECKOUTS = ("/root/fatlink", "/srv/fatlink")
WEEK = datetime.date.today().isocalendar().week


class FreshMachine(unittest.TestCase):
    """Each command runs in one of the checkouts, and in another one each week; $FATLINK_ROOT_CHECKOUT names one."""

    checkout = ""

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-root-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.root = make_root(folder / "root")
        cls.root.install("git", "ca-certificates")
        reach_package_index(cls.root)  # the installation of certificates writes a file that PIP_CERT may name

    def command(self, command):
        """What a command of the README prints in a new checkout in the root."""
        checkout = os.environ.get("FATLINK_ROOT_CHECKOUT", self.checkout)
        subprocess.run(["git", "clone", "-q", SOURCE, f"{self.root.folder}{checkout}"], check=True)
        return self.root.done("sh", "-c", f"cd {checkout} && {command} 2>&1")


class Demo(FreshMachine):
    checkout = CHECKOUTS[(WEEK + 1) % 2]

    def test_verifies_two_transforms(self):
        printed = self.command("./scripts/demo")
        self.assertIn("Two transforms, one host program", printed)
        self.assertEqual(printed.count("\n$ fatlink run --transform"), 2, printed)


class DefaultTests(FreshMachine):
    checkout = CHECKOUTS[WEEK % 2]

    def test_pass_or_are_skipped(self):
        start = time.monotonic()
        printed = self.command("./scripts/test")
        print(f"./scripts/test: {time.monotonic() - start:.0f} s\n" + printed[printed.find("Label Time Summary"):])
        self.assertIn("100% tests passed", printed)


if __name__ == "__main__":
    unittest.main()
