# SPDX-License-Identifier: Apache-2.0
"""Errors of rare states: missing programs and packages, scratch memory, arrays that state too little."""
import os
import sys
import unittest
from types import SimpleNamespace
from unittest import mock

from device_arrays import OnlyDlpack
from python_case import NumpyCase, PythonCase, fatlink, numpy


class Programs(PythonCase):
    def test_that_are_missing(self):
        from fatlink import _install
        with mock.patch.dict(os.environ, PATH="/none"), mock.patch.object(os, "access", lambda path, mode: False):
            self.assert_error(fatlink.UnavailableError, _install.find_program, says="the program fatlink is not found",
                              code="no-program", hint="PATH")

    def test_that_fail(self):
        from fatlink import _install
        program = self.folder / "fatlink"
        for script, says, code in (("echo cause >&2; exit 1", "fatlink list failed: cause", "no-list"),
                                   ("echo '{}'", "fatlink list failed", "no-list"),
                                   ('echo \'{"error": {"message": "m", "code": "c", "hint": "h"}}\'', "m", "c")):
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(0o755)
            with mock.patch.object(_install, "find_program", lambda: str(program)), self.assertRaises(fatlink.Error) as raised:
                fatlink.installed()
            self.assertIn(says, raised.exception.message)
            self.assertEqual(raised.exception.code, code)


class Packages(PythonCase):
    def test_that_are_missing(self):
        from fatlink import _arrays
        with mock.patch.dict(sys.modules, numpy=None):
            self.assert_error(fatlink.UnavailableError, _arrays.numpy_kind, says="NumPy is not installed", code="no-numpy",
                              hint="pip install numpy")


class Settings(PythonCase):
    def test_without_a_cache(self):
        self.addCleanup(fatlink.configure, cache=True)
        fatlink.configure(cache=False)
        for call in (fatlink.cache.statistics, fatlink.cache.folder, fatlink.cache.clear, fatlink.cache.prune):
            self.assert_error(fatlink.UsageError, call, says="the cache is off", hint="configure(cache=True)")


class Arrays(NumpyCase):
    def test_of_types_that_a_framework_lacks(self):
        from fatlink import _arrays
        from fatlink._elements import number_type
        with mock.patch.object(_arrays, "imported", lambda name: None):
            self.assert_error(fatlink.UsageError, _arrays.dtype_of, number_type("bfloat16"), says="NumPy has no bfloat16",
                              hint="ml_dtypes")
        kind = SimpleNamespace(torch=SimpleNamespace())
        self.assert_error(fatlink.UsageError, _arrays.TorchArrays.dtype_of, kind, number_type("uint64"),
                          says="PyTorch has no elements of type uint64", hint="out=")

    def test_that_do_not_state_their_gpu(self):
        from fatlink import _arrays
        array = SimpleNamespace(__cuda_array_interface__={"shape": (0,), "typestr": "<f4", "data": (0, False)})
        with mock.patch.object(_arrays.c, "gpu_count", lambda: 2):
            self.assert_error(fatlink.UsageError, fatlink.reduce, array, says="is empty and does not state on which of the GPUs",
                              code="several-devices", hint="__dlpack_device__")

    def test_of_a_plan_without_any(self):
        plan = fatlink.load("reduce_4", "add_float", device="cpu")
        from fatlink import _plans
        self.assert_error(fatlink.UsageError, _plans.run, plan.on("cpu"), (), [], says="plan reduce_4 was given no array",
                          hint="inputs")

    def test_of_structs_that_are_not_known(self):
        from fatlink._plans import element_for_output
        from fatlink._arrays import view
        argument = SimpleNamespace(name="out", element=None, type_name="pair", element_bytes=8, scalar=16)
        self.assert_error(fatlink.UsageError, element_for_output, argument, view(numpy.zeros(1, numpy.float32)),
                          says="out has elements of pair, for which fatlink knows no dtype", hint="out=")


class Scratch(NumpyCase):
    def scratch(self, array):
        from fatlink import _plans
        return _plans._scratch(array, 0)

    def test_on_another_device(self):
        self.assert_error(fatlink.UsageError, self.scratch, OnlyDlpack(numpy.zeros(4), (2, 1)),
                          says="scratch is in the memory of gpu:1, the other arrays in the memory of gpu:0", hint="same device")

    def test_that_cannot_be_written(self):
        array = SimpleNamespace(__cuda_array_interface__={"shape": (1,), "typestr": "<f4", "data": (4096, True)},
                                __dlpack_device__=lambda: (2, 0))
        self.assert_error(fatlink.UsageError, self.scratch, array, says="scratch cannot be written", hint="writable")


if __name__ == "__main__":
    unittest.main()
