# SPDX-License-Identifier: Apache-2.0
"""An application of the CUDA runtime (tests/consumer/interoperation), built against this build tree."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from fatlink_cli import NVCC, SANITIZED, SHARE

PROJECT = pathlib.Path(os.environ.get("FATLINK_SOURCE", "/absent")) / "tests/consumer/interoperation"
SKIPPED = 77


@unittest.skipUnless(PROJECT.exists(), "the sources are not on this machine")
@unittest.skipUnless(shutil.which(NVCC), "compiles, and FATLINK_NVCC names no nvcc")
@unittest.skipIf(SANITIZED, "the application is built without sanitizers")
class Interoperation(unittest.TestCase):
    def run_command(self, *command):
        return subprocess.run([str(word) for word in command], text=True, capture_output=True)

    def run_or_fail(self, *command):
        done = self.run_command(*command)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_kernel_runs_on_a_stream_and_with_memory_of_the_cuda_runtime(self):
        build = tempfile.TemporaryDirectory(prefix="fatlink-interoperation-")
        self.addCleanup(build.cleanup)
        cmake = os.environ["FATLINK_CMAKE"]
        toolkit = pathlib.Path(NVCC).parent.parent
        self.run_or_fail(cmake, "-S", PROJECT, "-B", build.name, f"-DCUDAToolkit_ROOT={toolkit}",
                         f"-DCMAKE_PREFIX_PATH={os.environ['FATLINK_BUILD']}")
        self.run_or_fail(cmake, "--build", build.name)
        done = self.run_command(pathlib.Path(build.name) / "interoperation", SHARE)
        if done.returncode == SKIPPED:
            self.skipTest(done.stdout.strip())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "ptx: 100000 elements verified\nlto: 100000 elements verified\n")


if __name__ == "__main__":
    unittest.main()
