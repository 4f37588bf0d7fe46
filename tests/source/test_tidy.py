# SPDX-License-Identifier: Apache-2.0
"""The arguments of scripts/tidy, which it checks before it needs a build or clang-tidy."""
import os
import pathlib
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])


class Tidy(unittest.TestCase):
    def tidy(self, *words):
        return subprocess.run([sys.executable, SOURCE / "scripts/tidy", *words], cwd=SOURCE, text=True, capture_output=True)

    def test_prints_its_usage(self):
        done = self.tidy("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.startswith("usage: scripts/tidy [FILE|FOLDER]...\n"), done.stdout)

    def test_refuses_unknown_arguments(self):
        for word, says in (("--fix", "unrecognized arguments: --fix"), ("host/src/nowhere", "host/src/nowhere does not exist")):
            with self.subTest(word=word):
                done = self.tidy(word)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, rf"(?m)^tidy: error: .*{says}$")


if __name__ == "__main__":
    unittest.main()
