# SPDX-License-Identifier: Apache-2.0
"""Loaded images on the reference device, and code of cuda.core: in a link, and of an image."""
import ctypes
import gc
import sys
import types
import unittest
import weakref
from unittest import mock

from python_case import NumpyCase, PythonCase, fatlink, numpy


def linked(*inputs, **options):
    return fatlink.link(inputs, target=fatlink.open_device("cpu"), **options)


class Modules(NumpyCase):
    def setUp(self):
        super().setUp()
        self.image = linked("apply_transform", "softsign")

    def test_launch_their_kernels(self):
        x = numpy.array([-1, 0, 3], numpy.float32)
        out = numpy.zeros_like(x)
        kernel = fatlink.Module(self.image, "cpu").kernel("apply_transform")
        gc.collect()  # the kernel keeps its module
        kernel.launch(1, 256, x, out, ctypes.c_uint64(x.size))
        numpy.testing.assert_array_equal(out, numpy.array([-0.5, 0, 0.75], numpy.float32))
        self.assert_error(fatlink.UsageTypeError, kernel.launch, 1, 256, x, out,
                          says="2 parameters were given; kernel apply_transform takes 3", hint="8, 8, 8")

    def test_have_no_handles_on_the_reference_device(self):
        module = fatlink.Module(self.image, "cpu")
        kernel = module.kernel("apply_transform")
        self.assertEqual((module.cu_library, kernel.cu_kernel, kernel.cu_function), (None, None, None))
        self.assert_error(fatlink.UsageError, kernel.to_cuda_core, says="is on the reference device", hint='"gpu"')

    def test_refuse_what_they_cannot_load(self):
        self.assert_error(fatlink.UsageTypeError, fatlink.Module, b"code", "cpu", says="image is b'code'", hint="fatlink.link")
        cubin = fatlink.link(["apply_transform", "softsign"], target="sm_90")
        self.assert_error(fatlink.DeviceError, fatlink.Module, cubin, "cpu", says="cubin", code="invalid-image", hint="link")
        self.assert_error(fatlink.FileError, fatlink.Module(self.image, "cpu").kernel, "no_kernel", says="no_kernel")


def code_of(code, kind, name=""):
    """Stands for an ObjectCode, which cuda.core makes only where it is installed."""
    cls = type("ObjectCode", (), {"__module__": "cuda.core._module", "code": code, "code_type": kind, "name": name})
    return cls()


def core(**classes):
    """Replaces cuda.core by a module with these classes; without classes, it is not installed."""
    module = types.SimpleNamespace(**classes) if classes else None
    return mock.patch.dict(sys.modules, {"cuda.core": module, "cuda.core.experimental": None})


class CoreKernel:
    """Stands for cuda.core.Kernel."""

    def __init__(self, handle):
        self.handle = handle

    @classmethod
    def from_handle(cls, handle):
        return cls(handle)


class CudaCore(PythonCase):
    def test_code_is_an_input(self):
        data = bytes(fatlink.Input.find("softsign"))
        code = code_of(data, "fatbin", "half")
        self.assertEqual(bytes(linked("apply_transform", code)), bytes(linked("apply_transform", "softsign")))
        self.assertIn("contract-mismatch", [finding.id for finding in fatlink.check(["reduce_4", code], target="sm_90")])
        self.assertEqual(fatlink.check(code, target="sm_90"), fatlink.check("softsign", target="sm_90"))
        self.assertEqual(fatlink.Input.from_object_code(code).name, "half")
        self.assertEqual(fatlink.Input.from_object_code(code_of(bytearray(data), "fatbin")).name, "the fatbin of cuda.core")

    def test_code_in_a_file_is_read(self):
        path = fatlink.find_file("softsign")
        self.assertEqual(fatlink.Input.from_object_code(code_of(path, "fatbin")).name, path)

    def test_code_that_is_damaged_is_refused(self):
        self.assert_error(fatlink.FileError, fatlink.Input.from_object_code, code_of(b"nothing", "ltoir"),
                          says="the ltoir of cuda.core")
        for value in (5, code_of(None, "ltoir"), code_of(b"", None)):
            self.assert_error(fatlink.UsageTypeError, fatlink.Input.from_object_code, value, says="is not an ObjectCode",
                              hint="Program.compile")

    def assert_becomes(self, constructor, *inputs, emit):
        """The image that a link emits is passed to this constructor of ObjectCode."""
        calls = []
        image = fatlink.link(inputs, target="sm_90", emit=emit)
        with core(ObjectCode=types.SimpleNamespace(**{constructor: lambda data, **names: calls.append((data, names))})):
            image.object_code(name="half", symbol_mapping={"f": "apply_transform"})
        self.assertEqual(calls, [(bytes(image), {"name": "half", "symbol_mapping": {"f": "apply_transform"}})])

    def test_images_become_object_code(self):
        self.assert_becomes("from_cubin", "apply_transform", "softsign", emit="cubin")
        self.assert_becomes("from_ptx", "apply_transform", "softsign", emit="ptx")

    def test_images_for_another_link_become_object_code(self):
        try:
            self.assert_becomes("from_fatbin", "apply_transform", emit="relocatable")
            self.assert_becomes("from_fatbin", "apply_transform", emit="ltoir")
        except fatlink.UnavailableError as cause:
            self.assertEqual(cause.code, "nvjitlink-unavailable")
            self.skipTest(str(cause))

    def test_images_of_several_texts_do_not(self):
        image = fatlink.link(["apply_transform", "softsign"], target="sm_90", mode="ptx", emit="ptx-set")
        self.assert_error(fatlink.UsageError, image.object_code, says="of the kind ptx-set", hint="emit=")

    def test_has_to_be_installed(self):
        image = fatlink.link(["apply_transform", "softsign"], target="sm_90")
        with core():
            self.assert_error(fatlink.UnavailableError, image.object_code, says="cuda.core is not installed", code="no-cuda-core",
                              hint="pip install")

    def test_that_cannot_be_imported_is_reported_with_the_cause(self):
        image = fatlink.link(["apply_transform", "softsign"], target="sm_90")
        package = self.folder / "cuda" / "core"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("import cuda_absent_dependency\n")
        (package.parent / "__init__.py").write_text("")
        known = [name for name in sys.modules if name == "cuda" or name.startswith("cuda.")]
        with mock.patch.dict(sys.modules), mock.patch.object(sys, "path", [str(self.folder), *sys.path]):
            for name in known:
                del sys.modules[name]
            self.assert_error(fatlink.UnavailableError, image.object_code, code="no-cuda-core",
                              says="cuda.core cannot be imported: No module named 'cuda_absent_dependency'", hint="pip install")

    def test_of_this_python_takes_images(self):
        """With the installed cuda.core."""
        image = fatlink.link(["apply_transform", "softsign"], target="sm_90")
        try:
            code = image.object_code(symbol_mapping={"f": "apply_transform"})
        except fatlink.UnavailableError as cause:
            self.skipTest(str(cause))
        except Exception as cause:
            if type(cause).__module__.startswith("cuda.pathfinder"):  # versions that ask the driver for its version
                self.skipTest(f"cuda.core needs a driver: {cause}")
            raise
        self.assertEqual((code.code, code.code_type, code.name, code.symbol_mapping),
                         (bytes(image), "cubin", "fatlink", {"f": "apply_transform"}))


class CoreKernels(PythonCase):
    def setUp(self):
        super().setUp()
        self.kernel = fatlink.Module(linked("apply_transform", "softsign"), "cpu").kernel("apply_transform")
        handle = mock.patch.object(fatlink.Kernel, "cu_kernel", 0x30)
        handle.start()
        self.addCleanup(handle.stop)

    def test_keep_the_kernel(self):
        with core(Kernel=CoreKernel):
            made = self.kernel.to_cuda_core()
        self.assertEqual(made.handle, 0x30)
        alive = weakref.ref(self.kernel)
        self.kernel = None
        gc.collect()
        self.assertIsNotNone(alive())
        del made
        gc.collect()
        self.assertIsNone(alive())

    def test_need_a_newer_version(self):
        with core(Kernel=object):
            self.assert_error(fatlink.UnavailableError, self.kernel.to_cuda_core, says="takes no kernels of other libraries",
                              code="old-cuda-core", hint="get_kernel")


if __name__ == "__main__":
    unittest.main()
