# SPDX-License-Identifier: Apache-2.0
"""What installed Python tests need, and do not state: where CUDA is missing, and NumPy, each runs or is skipped with its reason.
Here they run in the build tree; package.test_tests_component (long) runs them where they are installed."""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("cli", "cpu", "gpu", "python")  # ../install.cmake
WITHOUT_CUDA = {f"FATLINK_{name}": "/nowhere/missing" for name in ("NVCC", "NVJITLINK", "NVRTC", "LIBNVVM")}
SKIPPED = 77  # of run_tests.py: all tests were skipped
FAILED = re.compile(r"^(?:FAIL|ERROR): (.*)$", re.MULTILINE)


def failures(folder, modules, env):
    """The tests of these files that fail with this environment."""
    done = subprocess.run([sys.executable, "-m", "run_tests", *modules], cwd=TESTS / folder, text=True, capture_output=True,
                          env={**os.environ, **env}, timeout=600)
    if done.returncode in (0, SKIPPED):
        return []
    return FAILED.findall(done.stderr) or [f"{folder}: {' '.join(modules)}: {done.stderr}"]


class Needs(unittest.TestCase):
    def test_are_stated(self):
        folder_of_numpy = tempfile.TemporaryDirectory(prefix="fatlink-without-")
        self.addCleanup(folder_of_numpy.cleanup)
        numpy = pathlib.Path(folder_of_numpy.name, "numpy")
        numpy.mkdir()
        (numpy / "__init__.py").write_text("raise ImportError('there is no NumPy')\n")
        without_numpy = {"PYTHONPATH": f"{os.environ['PYTHONPATH']}:{folder_of_numpy.name}"}
        jobs = []
        for folder in FOLDERS:
            modules = sorted(path.stem for path in (TESTS / folder).glob("test_*.py"))
            self.assertTrue(modules, folder)
            jobs += [(folder, modules[start::2], WITHOUT_CUDA | without_numpy) for start in (0, 1)]
            if folder != "cli":  # its tests use no NumPy
                jobs += [(folder, modules, WITHOUT_CUDA)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            failed_tests = sorted({name for names in pool.map(lambda job: failures(*job), jobs) for name in names})
        self.assertEqual(failed_tests, [], "these tests use what they neither have nor state")


if __name__ == "__main__":
    unittest.main()
