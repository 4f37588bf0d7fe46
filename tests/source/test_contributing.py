# SPDX-License-Identifier: Apache-2.0
"""The commands of CONTRIBUTING.md that run one test and use the Python package of a build tree, and its table of presets."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
BUILD = pathlib.Path(os.environ["FATLINK_BUILD"])
DOCUMENT = (SOURCE / "CONTRIBUTING.md").read_text()


def commands(title, listed):
    """The commands below a title, in the build folder of this run. ctest only lists, in the folder `listed`: in the build folder it
    would replace the log of the run, of which tests/times.py tells."""
    text = re.search(rf"^### {title}\n.*?^```console\n(.*?)^```", DOCUMENT, re.DOTALL | re.MULTILINE)[1]
    lines = [line.removeprefix("$ ") for line in text.splitlines()]
    return [line.replace("ctest --preset default", f"ctest --test-dir {listed} -N").replace("build/default", os.path.relpath(BUILD, SOURCE))
            for line in lines]


class Commands(unittest.TestCase):
    def run_all(self, title):
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        listed = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-listed-"))
        self.addCleanup(shutil.rmtree, listed)
        (listed / "CTestTestfile.cmake").write_text(f'include("{BUILD}/tests/CTestTestfile.cmake")\n')
        done = subprocess.run(["bash", "-ec", "\n".join(commands(title, listed))], cwd=SOURCE, env=environment, text=True,
                              capture_output=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_run_one_test(self):
        output = self.run_all("One test")
        self.assertRegex(output, r"\[  PASSED  \] [1-9]\d* tests?\.")
        self.assertEqual(output.count("Total Tests: 1\n"), 2, output)  # ctest only lists: this is a test of its own
        self.assertRegex(output, r"Ran [1-9]\d* tests? in")

    def test_use_the_python_package(self):
        version = re.search(r"project\(fatlink\s+VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
        self.assertEqual(self.run_all("The Python package of a build tree").strip(), version)


class Presets(unittest.TestCase):
    def test_are_all_in_the_table(self):
        presets = json.loads((SOURCE / "CMakePresets.json").read_text())["configurePresets"]
        table = re.search(r"^\| preset \| for \|\n\|---\|---\|\n((?:\|.*\n)+)", DOCUMENT, re.MULTILINE)[1]
        self.assertEqual(set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)), {preset["name"] for preset in presets})


if __name__ == "__main__":
    unittest.main()
