# SPDX-License-Identifier: Apache-2.0
"""What Nsight Compute (ncu) shows of operators: the lines of their sources."""
import os
import shutil
import subprocess
import sys
import unittest

from fatlink_cli import PROGRAM, CliTest, gpus
from python_case import PACKAGE, fatlink, variables

NCU = next((path for path in ("ncu", "/usr/local/cuda/bin/ncu", "/opt/nvidia/nsight-compute/ncu") if shutil.which(path)), None)
ARGUMENTS = ("--target-processes", "application-only", "--section", "SourceCounters", "--page", "source", "--print-source", "cuda", "--import-source", "yes", "--launch-count", "1")
LINE = "return 0.5f * x + 0.25f * x * x;  // the marked line"
TRANSFORM = f"""extern "C" __device__ float user_transform(float x)
{{
  {LINE}
}}
"""
KERNEL = """extern "C" __device__ float user_transform(float);
extern "C" __global__ void apply_transform(float const* in, float* out, size_t n)
{
  size_t const i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = user_transform(in[i]);
}
"""
OPERATOR = f"""
import torch, fatlink
fatlink.configure(line_info=True)
x = torch.arange(1 << 20, dtype=torch.float32, device="cuda")
fatlink.map(x, op='''FATLINK_MAP1(float, float, x)
{{
  {LINE}
}}''', mode="ptx")
torch.cuda.synchronize()
"""


@unittest.skipUnless(gpus(), "no GPU on this machine")
@unittest.skipUnless(NCU, "ncu of Nsight Compute is not installed")
class SourceLines(CliTest):
    def profile(self, *command, **environment):
        """The lines of the sources of a kernel, as ncu prints them."""
        done = subprocess.run([NCU, *ARGUMENTS, *map(str, command)], cwd=self.folder, text=True, capture_output=True,
                              env={**os.environ, **environment})
        said = done.stdout + done.stderr
        if "ERR_NVGPUCTRPERM" in said:
            self.skipTest("this user may not read the GPU's performance counters (ERR_NVGPUCTRPERM)")
        self.assertEqual(done.returncode, 0, said)
        return said

    def test_of_an_operator_in_a_text_are_shown(self):
        if fatlink is None:
            self.skipTest("the Python package is not on this machine")
        try:
            import torch
        except ImportError:
            self.skipTest("PyTorch is not installed for this Python")
        if not torch.cuda.is_available():
            self.skipTest("PyTorch sees no GPU")
        said = self.profile("--kernel-name", "regex:map", sys.executable, "-c", OPERATOR, **{
            **variables(), "PYTHONPATH": PACKAGE, "FATLINK_CACHE_DIR": str(self.folder / "cache")})
        self.assertEqual(len(list((self.folder / "cache" / "sources").iterdir())), 1)
        self.assertIn(LINE, said)

    def test_of_a_transform_compiled_with_lineinfo_are_shown(self):
        self.need_nvjitlink()
        self.compile("marked", TRANSFORM, "-dlto", "-lineinfo", "-arch=sm_75")
        self.compile("library", KERNEL, "-dlto", "-lineinfo", "-arch=sm_75")
        for mode in "lto", "ptx":
            with self.subTest(mode=mode):
                said = self.profile("--kernel-name", "apply_transform", PROGRAM, "run", "--device", "gpu", "--mode", mode, "--no-cache",
                                    "--library", "./library.fatbin", "--transform", "./marked.fatbin")
                self.assertIn(LINE, said)


if __name__ == "__main__":
    unittest.main()
