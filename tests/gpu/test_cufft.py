# SPDX-License-Identifier: Apache-2.0
"""Callbacks of fatlink.cufft in the cuFFT that PyTorch has loaded, compared with its transforms."""
import ctypes
import os
import pathlib
import unittest

from fatlink_cli import TESTS
from python_case import PythonCase, fatlink

try:
    import torch
except ImportError:
    torch = None

PAGE = pathlib.Path(os.environ.get("FATLINK_SOURCE", "/absent")) / "docs/cufft.md"
C2C, C2R, FORWARD = 0x29, 0x2c, -1
SCALED_LOAD, HALF_STORE = (TESTS / f"corpus/{name}.fatbin" for name in ("cufft_scaled_load", "cufft_half_store"))
STORE = """
__device__ void cufftJITCallbackStoreComplex(void* out, unsigned long long index, float2 value, void* info, void*)
{
  auto const scale = *static_cast<float const*>(info);
  static_cast<float2*>(out)[index] = {scale * value.x, -scale * value.y};
}
"""


@unittest.skipUnless(torch is not None and torch.cuda.is_available(), "no PyTorch with a GPU on this machine")
class Callbacks(PythonCase):
    def setUp(self):
        super().setUp()
        torch.zeros(1, device="cuda")
        try:
            self.cufft = ctypes.CDLL("libcufft.so.12", mode=os.RTLD_NOLOAD)
        except OSError as cause:
            self.skipTest(str(cause))
        self.plan = ctypes.c_int()
        self.check(self.cufft.cufftCreate(ctypes.byref(self.plan)))
        self.addCleanup(self.cufft.cufftDestroy, self.plan)

    def check(self, status):
        self.assertEqual(status, 0)

    def make(self, size, kind, batch):
        self.check(self.cufft.cufftMakePlan1d(self.plan, size, kind, batch, ctypes.byref(ctypes.c_size_t())))
        self.check(self.cufft.cufftSetStream(self.plan, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)))

    def execute(self, kind, source, out):
        arguments = [ctypes.c_void_p(array.data_ptr()) for array in (source, out)]
        self.check(getattr(self.cufft, f"cufftExec{kind}")(self.plan, *arguments, *([FORWARD] if kind == "C2C" else [])))
        return out

    def assert_close(self, result, expected):
        self.assertLess((result - expected).abs().max().item(), 1e-5 * expected.abs().max().item())

    def state(self, value):
        return torch.tensor([value], dtype=torch.float32, device="cuda")

    def random(self, *shape, dtype=None):
        torch.manual_seed(1)
        return torch.randn(*shape, dtype=dtype or torch.complex64, device="cuda")

    def test_load_and_store_in_a_transform_of_complex_numbers(self):
        x = self.random(4096, 8192)
        callbacks = fatlink.cufft(self.plan.value, load=SCALED_LOAD, load_state=self.state(3), store=STORE, store_state=self.state(0.5))
        self.make(8192, C2C, 4096)
        result = self.execute("C2C", x, torch.empty_like(x))
        self.assert_close(result, 0.5 * torch.fft.fft(3 * x).conj())
        self.assertIn("cufft_scaled_load", repr(callbacks))

    def test_store_numbers_of_another_type(self):
        spectrum = torch.fft.rfft(self.random(100, 1024, dtype=torch.float32) / 1024)
        callbacks = fatlink.cufft(self.plan.value, store=HALF_STORE, store_state=self.state(0.5))
        self.make(1024, C2R, 100)
        result = self.execute("C2R", spectrum.clone(), torch.empty(100, 1024, dtype=torch.float16, device="cuda"))
        expected = 0.5 * 1024 * torch.fft.irfft(spectrum)
        self.assertLess((result - expected).abs().max().item(), 2**-10 * expected.abs().max().item())
        self.assertIsNone(callbacks.load)

    def test_of_the_page_work(self):
        if not PAGE.exists():
            self.skipTest("the sources are not on this machine")
        (example,) = [block.split("```")[0] for block in PAGE.read_text().split("```python\n")[1:]]
        exec(compile(example, "cufft.md", "exec"), {})

    def test_are_refused_after_the_plan_is_made(self):
        self.make(64, C2C, 1)
        self.assert_error(fatlink.DeviceError, fatlink.cufft, self.plan.value, load=SCALED_LOAD, load_state=self.state(1),
                          says="cufftXtSetJITCallback returned", hint="before cufftMakePlan")


if __name__ == "__main__":
    unittest.main()
