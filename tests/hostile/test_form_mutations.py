# SPDX-License-Identifier: Apache-2.0
"""Damaged transforms of every form, in every link mode for sm_80 and sm_90: the host survives, no function of the wrong
type is linked, every refusal names the file. There are 4 of each form, type, mode and
target, times FATLINK_TEST_SCALE. FATLINK_FORM_SEED: other damage."""
import json
import os
import subprocess
import tempfile
import unittest

import form_files
from fatlink_cli import TESTS, nvjitlink, scaled

DRIVER = TESTS / "form_mutations"
COUNT = scaled(4)
SEED = int(os.environ.get("FATLINK_FORM_SEED", 16))


class FormMutations(unittest.TestCase):
    def test_no_damaged_form_hurts_the_host_or_links_with_another_type(self):
        if not nvjitlink():
            self.skipTest("no nvJitLink on this machine")
        with tempfile.TemporaryDirectory(prefix="fatlink-forms-") as folder:
            form_files.make(folder, "right", "double")
            done = subprocess.run([DRIVER, folder, str(COUNT), str(SEED), *form_files.FORMS], text=True,
                                  capture_output=True)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["failures"], [])
        links = COUNT * len(form_files.FORMS) * 2 * 2 * 4  # two types, two targets, four modes
        self.assertEqual(sum(report["outcomes"].values()), links)
        print(f"{links} damaged transforms of {len(form_files.FORMS)} forms: {report['outcomes']}")


if __name__ == "__main__":
    unittest.main()
