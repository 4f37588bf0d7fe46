# SPDX-License-Identifier: Apache-2.0
"""fatlink.cufft with a libcufft that records its calls. tests/gpu/test_cufft.py uses the real one."""
import ctypes
import functools
import gc
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from fake_cufft import build_fake_cufft, digest_of
from fatlink_cli import TESTS
from python_case import EMULATED, PythonCase, fatlink

LOAD = """
__device__ float2 cufftJITCallbackLoadComplex(void* in, unsigned long long index, void* info, void*)
{
  auto const x = static_cast<float2 const*>(in)[index];
  return {2 * x.x, 2 * x.y};
}
"""
STORE = """
__device__ void cufftJITCallbackStoreDoubleReal(void* out, unsigned long long index, double value, void* info, void*)
{
  static_cast<double*>(out)[index] = *static_cast<double const*>(info) * value;
}
"""
SCALED_LOAD = TESTS / "corpus/cufft_scaled_load.fatbin"


@functools.cache
def fake_cufft():
    """The library, which the process loads once; None: there is no compiler."""
    if shutil.which("g++") is None or EMULATED:
        return None
    folder = tempfile.mkdtemp(prefix="fatlink-cufft-")
    unittest.addModuleCleanup(shutil.rmtree, folder)
    return ctypes.CDLL(str(build_fake_cufft(folder)))


class GpuArray:
    """Describes memory of a GPU that does not exist."""
    __cuda_array_interface__ = {"shape": (1,), "typestr": "<f4", "data": (0x7000, False), "version": 3}

    def __dlpack_device__(self):
        return 2, 0


class Callbacks(PythonCase):
    def setUp(self):
        super().setUp()
        self.cufft = fake_cufft()
        if self.cufft is None:
            self.skipTest("no g++ on this machine")
        self.log = self.folder / "log"
        os.environ["FAKE_CUFFT_LOG"] = str(self.log)
        self.plan = ctypes.c_int()
        self.cufft.cufftCreate(ctypes.byref(self.plan))

    def set(self, **arguments):
        return fatlink.cufft(self.plan.value, target="sm_90", **arguments)

    def make(self):
        gc.collect()
        self.cufft.cufftMakePlan1d(self.plan, 8, 0x29, 1, ctypes.byref(ctypes.c_size_t()))

    def lines(self):
        """The calls after cufftCreate, with P for the plan's number."""
        calls = self.log.read_text().splitlines()[1:]
        return [re.sub(rf"^(\w+) {self.plan.value}\b", r"\1 P", call) for call in calls]

    def refused(self, cls, says, hint=None, code=None, **arguments):
        error = self.assert_error(cls, self.set, says=says, hint=hint, code=code, **arguments)
        self.assertEqual(self.lines(), [])  # cuFFT was not called
        return error

    def test_of_files_are_read_by_cufft_when_the_plan_is_made(self):
        callbacks = self.set(load=SCALED_LOAD, load_state=GpuArray())
        self.make()
        self.assertEqual(self.lines(), [
            "set P name NULL type 0", "make P size 8 batch 1",
            f"read type 0 digest {digest_of(SCALED_LOAD.read_bytes())} info 0x7000"])
        self.assertEqual((callbacks.load.form, callbacks.store), ("fatbin", None))

    def test_of_source_are_compiled_for_their_contract(self):
        callbacks = self.set(load=LOAD, store=STORE, store_state=GpuArray())
        self.make()
        self.assertEqual(self.lines(), [
            "set P name NULL type 0", "set P name NULL type 7", "make P size 8 batch 1",
            f"read type 0 digest {digest_of(bytes(callbacks.load))} info (nil)",
            f"read type 7 digest {digest_of(bytes(callbacks.store))} info 0x7000"])

    def test_have_the_type_of_the_function_that_they_define(self):
        elements = {"Complex": ("float2", 0), "DoubleComplex": ("double2", 1), "Real": ("float", 2), "DoubleReal": ("double", 3)}
        for name, (element, number) in elements.items():
            load = f"__device__ {element} cufftJITCallbackLoad{name}(void*, unsigned long long, void*, void*) {{ return {{}}; }}\n"
            store = f"__device__ void cufftJITCallbackStore{name}(void*, unsigned long long, {element}, void*, void*) {{}}\n"
            for direction, source, type_number in (("load", load, number), ("store", store, number + 4)):
                for value in (source, fatlink.compile(source)):  # with its contract, and without
                    with self.subTest(name, direction=direction):
                        self.set(**{direction: value})
                        self.assertEqual(self.lines()[-1], f"set P name NULL type {type_number}")

    def test_take_an_object_with_a_handle(self):
        class Plan:
            handle = self.plan.value
        fatlink.cufft(Plan(), load=SCALED_LOAD, target="sm_90")
        self.assertEqual(self.lines(), ["set P name NULL type 0"])

    def test_report_what_cufft_returns(self):
        self.make()
        self.assert_error(fatlink.DeviceError, self.set, load=SCALED_LOAD, says="cufftXtSetJITCallback returned 1",
                          hint="before cufftMakePlan", code="cufftResult 1")

    def test_of_another_result_type_are_refused_with_both_types(self):
        wrong = fatlink.compile(LOAD.replace("float2 cufft", "double2 cufft").replace("return", "return double2"), name="wrong.cu")
        error = self.refused(fatlink.RefusedError, ("(b8[8]) _Z27cufftJITCallbackLoadComplexPvyS_S_", "wrong.cu",
                                                    "(b8[16]) _Z27cufftJITCallbackLoadComplexPvyS_S_"),
                             code="signature-mismatch", load=wrong)
        self.assertEqual(error.findings[0].symbol, "_Z27cufftJITCallbackLoadComplexPvyS_S_")

    def test_of_other_parameter_types_are_refused_with_both_types(self):
        wrong = fatlink.compile(LOAD.replace("unsigned long long", "unsigned"), name="wrong.cu")
        self.refused(fatlink.RefusedError, "is defined by no input", code="missing-hook", load=wrong,
                     hint="define cufftJITCallbackLoadComplex(void*, unsigned long long, void*, void*), "
                          "not cufftJITCallbackLoadComplex(void*, unsigned int, void*, void*)")

    def test_of_the_other_direction_are_refused(self):
        self.refused(fatlink.RefusedError, "defines no store callback of cuFFT", code="missing-hook", store=SCALED_LOAD,
                     hint="cufft_store_complex, cufft_store_double_complex, cufft_store_real, cufft_store_double_real")
        self.refused(fatlink.UsageError, "the source of store defines no callback", store=LOAD,
                     hint="cufftJITCallbackStoreComplex")

    def test_of_source_with_another_type_do_not_compile(self):
        self.refused(fatlink.CompileError, "cannot overload", load=LOAD.replace("float2 cufft", "double2 cufft"))
        self.refused(fatlink.CompileError, "neither defines nor calls", load=LOAD.replace("unsigned long long", "unsigned"))

    def test_of_forms_without_checked_types_are_refused(self):
        file = self.folder / "load.ptx"
        file.write_text(".version 9.0\n.target sm_75\n.address_size 64\n.visible .func f() { ret; }\n")
        self.refused(fatlink.UsageError, "is of the form ptx", hint="nvcc -fatbin", load=file)

    def test_need_a_plan_a_callback_and_states_on_the_gpu(self):
        self.refused(fatlink.UsageError, "neither load nor store", hint="pass a callback")
        self.assert_error(fatlink.UsageTypeError, fatlink.cufft, "plan", load=SCALED_LOAD, target="sm_90", says="plan is 'plan'",
                          hint="cufftHandle")
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed for this Python")
        self.refused(fatlink.UsageError, "load_state is in the host's memory", hint="GPU", load=SCALED_LOAD,
                     load_state=numpy.zeros(1, "float32"))

    def test_need_a_loaded_cufft(self):
        code = "import fatlink\ntry: fatlink.cufft(1, load='x', target='sm_90')\nexcept fatlink.UnavailableError as error: print(error)"
        done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True,
                              env={**os.environ, "PYTHONPATH": str(pathlib.Path(fatlink.__file__).parents[1])})
        self.assertIn("this process has not loaded libcufft.so.12 [no-cufft]\n  hint: make the plan with cuFFT of CUDA 13 first",
                      done.stdout, done.stderr)


if __name__ == "__main__":
    unittest.main()
