# SPDX-License-Identifier: Apache-2.0
"""fatlink with other libraries of CUDA: an application of the CUDA runtime (tests/consumer/interoperation), built against this
build tree; the examples of docs/python.md with CuPy, Numba and cuda.core; handles of loaded images."""
import ctypes
import importlib.util
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from fatlink_cli import NVCC, SANITIZED, SHARE, gpus
from python_case import SOURCE, NumpyCase, fatlink, require_numba
from python_examples import examples, run_example

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


def is_missing(name):
    """Whether a module is not installed."""
    try:
        return importlib.util.find_spec(name) is None
    except ImportError:  # of the package that contains it
        return True


@unittest.skipUnless(gpus(), "no GPU")
@unittest.skipUnless(SOURCE, "FATLINK_SOURCE names no folder with the documents")
class Examples(NumpyCase):
    def run_with(self, library, *modules):
        """Runs the example whose title names this library, if its modules are installed."""
        missing = [name for name in modules if is_missing(name)]
        if missing:
            self.skipTest(f"not installed for this Python: {', '.join(missing)}")
        (script, output), = [entry for title, *entry in examples() if library in title and title.endswith("on a GPU")]
        try:
            self.assertEqual(run_example(self, script), output)
        except AssertionError as failed:
            if "toolkit-too-new" in str(failed):
                self.skipTest("the compiler of this Python is newer than nvJitLink")
            raise

    def test_an_image_in_cupy(self):
        self.run_with("CuPy", "cupy")

    def test_a_transform_in_a_kernel_of_numba(self):
        require_numba(self)
        self.run_with("Numba")

    def test_code_of_cuda_core_in_a_link_and_back(self):
        self.run_with("cuda.core", "cupy", "cuda.core._module")


@unittest.skipUnless(gpus(), "no GPU")
class Handles(NumpyCase):
    def test_of_a_kernel_and_its_module_belong_together(self):
        device = fatlink.open_device("gpu")
        module = fatlink.Module(fatlink.link(["apply_transform", "softsign"], target=device), device)
        kernel = module.kernel("apply_transform")
        driver = ctypes.CDLL("libcuda.so.1")
        library, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.assertEqual(driver.cuKernelGetLibrary(ctypes.byref(library), ctypes.c_void_p(kernel.cu_kernel)), 0)
        self.assertEqual(library.value, module.cu_library)
        self.assertEqual(driver.cuKernelGetFunction(ctypes.byref(function), ctypes.c_void_p(kernel.cu_kernel)), 0)
        self.assertEqual(function.value, kernel.cu_function)


if __name__ == "__main__":
    unittest.main()
