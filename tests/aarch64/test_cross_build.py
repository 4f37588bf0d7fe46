# SPDX-License-Identifier: Apache-2.0
"""fatlink for AArch64: cross-compiled and run in qemu, where scripts/bootstrap --arch aarch64 has installed both. By default: the
filter of system calls. The long test builds all, and runs the tests of the preset aarch64."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from run_tests import long_test

SOURCE, BUILD = pathlib.Path(os.environ["FATLINK_SOURCE"]), pathlib.Path(os.environ["FATLINK_BUILD"])
SYSROOT = SOURCE / ".aarch64/sysroot"
RUN = SOURCE / "cmake/build/run_aarch64"
COMPILER = "aarch64-linux-gnu-g++"
LABELS = "^(unit|link|compile|cpu|cli|python)$"


def missing_tools():
    """Why nothing can be built or run for AArch64; empty if it can."""
    if not SYSROOT.exists() or not shutil.which(COMPILER):
        return "no cross compiler or sysroot; scripts/bootstrap --arch aarch64 installs both"
    if subprocess.run([RUN, "true"], capture_output=True).returncode != 0:
        return "no user namespace with binfmt_misc, in which qemu runs; that needs Linux 6.7"
    return ""


@unittest.skipIf(missing_tools(), missing_tools())
class Aarch64(unittest.TestCase):
    def run_command(self, *words, **options):
        done = subprocess.run(list(map(str, words)), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
        self.assertEqual(done.returncode, 0, done.stdout[-8000:])
        return done.stdout

    def test_the_filter_of_system_calls_has_the_numbers_of_aarch64(self):
        with tempfile.TemporaryDirectory(prefix="fatlink-test-") as folder:
            program = pathlib.Path(folder) / "filter"
            self.run_command(COMPILER, f"--sysroot={SYSROOT}", "-std=c++20", f"-I{SOURCE}", f"-I{SOURCE}/host/linkd",
                             f"-I{SOURCE}/tests/fixtures", SOURCE / "tests/hostile/seccomp_filter_test.cpp",
                             SOURCE / "host/linkd/seccomp.cpp", "-static", "-lgmock_main", "-lgmock", "-lgtest", "-o", program)
            self.assertIn("[  PASSED  ] 5 tests", self.run_command(RUN, program))

    @long_test  # test_the_filter_of_system_calls_has_the_numbers_of_aarch64 compiles and runs a part
    def test_the_tests_of_the_preset_pass(self):
        self.run_command("cmake", "--build", BUILD, "--target", "device_code")
        self.run_command("cmake", "--preset", "aarch64", f"-DFATLINK_NATIVE_BUILD={BUILD}", cwd=SOURCE)
        self.run_command("cmake", "--build", "--preset", "aarch64", cwd=SOURCE)
        self.run_command("ctest", "--preset", "aarch64", "-L", LABELS, cwd=SOURCE)


if __name__ == "__main__":
    unittest.main()
