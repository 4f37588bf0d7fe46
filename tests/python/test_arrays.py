# SPDX-License-Identifier: Apache-2.0
"""What fatlink sees of arrays: by __cuda_array_interface__ and DLPack, whose objects here hold no GPU memory, and those of
PyTorch and JAX on the CPU, where they are installed. tests/gpu/test_python.py has the GPU's."""
import importlib.util
import unittest
from types import SimpleNamespace
from unittest import mock

from device_arrays import OnlyDlpack
from python_case import NumpyCase, fatlink, numpy


class Interface:
    """An object with __cuda_array_interface__."""

    def __init__(self, **changes):
        self.__cuda_array_interface__ = {"shape": (4, 2), "typestr": "<f4", "data": (4096, False), "version": 3, **changes}

    def __dlpack_device__(self):
        return 2, 1


class Interfaces(NumpyCase):
    def view(self, **changes):
        from fatlink._arrays import view
        return view(Interface(**changes))

    def test_states_address_shape_type_and_gpu(self):
        seen = self.view(data=(8192, True))
        self.assertEqual((seen.address, seen.count, seen.shape, seen.element.name, seen.place, seen.read_only),
                         (8192, 8, (4, 2), "float32", 1, True))

    def test_of_every_type_of_numbers(self):
        for typestr, name in (("<f2", "float16"), ("<f8", "float64"), ("|i1", "int8"), ("<i8", "int64"), ("|u1", "uint8"),
                              ("<u2", "uint16"), ("<c8", "complex64"), ("<c16", "complex128"), ("|b1", "bool")):
            self.assertEqual(self.view(typestr=typestr).element.name, name)

    def test_of_structs(self):
        seen = self.view(typestr="|V8", descr=[("value", "<f4"), ("index", "<i4")])
        self.assertEqual((seen.element.name, seen.element.bytes), ("{value: float32, index: int32}", 8))

    def test_with_strides_of_row_major_order(self):
        self.assertEqual(self.view(strides=(8, 4)).count, 8)
        self.assertEqual(self.view(strides=(64, 4), shape=(1, 2)).count, 2)
        self.assertEqual(self.view(strides=(1, 1), shape=(0, 2)).count, 0)

    def test_that_is_not_contiguous(self):
        self.assert_error(fatlink.UsageError, self.view, strides=(4, 16), says="not contiguous")

    def test_without_memory(self):
        self.assert_error(fatlink.UsageError, self.view, data=(0, False), says="has no memory", code="freed-array")
        self.assertEqual(self.view(data=(0, False), shape=(0,)).count, 0)

    def test_with_a_mask_or_another_type(self):
        self.assert_error(fatlink.UsageTypeError, self.view, mask=Interface(), says="masked")
        self.assert_error(fatlink.UsageTypeError, self.view, typestr=">f4", says="byte order")
        self.assert_error(fatlink.UsageTypeError, self.view, typestr="<M8", says="M64")

    def test_of_the_gpu_that_the_driver_states_for_an_address(self):
        """For an object without __dlpack_device__; here it is not a driver that answers."""
        from fatlink import _arrays
        from fatlink._arrays import view

        def get_device(address, ordinal, kind):
            ordinal._obj.value = address // 4096
        array = SimpleNamespace(**vars(Interface(data=(3 * 4096, False))))
        with mock.patch.object(_arrays.c, "address_get_device", get_device):
            self.assertEqual(view(array).place, 3)

    def test_whose_address_is_not_of_cuda(self):
        from fatlink import _arrays
        from fatlink._arrays import view

        def refuse(address, ordinal, kind):
            raise fatlink.UsageError("the address 0x1000 is not in memory of CUDA")
        with mock.patch.object(_arrays.c, "address_get_device", refuse):
            self.assert_error(fatlink.UsageError, view, SimpleNamespace(**vars(Interface())), code="freed-array",
                              says=("has no memory of a GPU", "0x1000"), hint="still has it")

    def test_in_a_child_process_of_one_that_used_the_driver(self):
        from fatlink import _arrays
        from fatlink._arrays import view
        for code, cls, says in (("CUDA_ERROR_NOT_INITIALIZED", fatlink.UnavailableError, "child process"),
                                ("CUDA_ERROR_UNKNOWN", fatlink.DeviceError, "locating failed")):
            def fail(address, ordinal, kind):
                raise fatlink.DeviceError("locating failed", code=code, hint="restart")
            with mock.patch.object(_arrays.c, "address_get_device", fail):
                self.assert_error(cls, view, SimpleNamespace(**vars(Interface())), says=says)

    def test_of_machines_without_a_driver(self):
        from fatlink._arrays import view
        if fatlink.gpu_count():
            self.skipTest("this machine has a GPU")
        self.assert_error(fatlink.UnavailableError, view, SimpleNamespace(**vars(Interface())), says="no CUDA driver", hint="cpu")

    def test_of_one_object_of_a_class(self):
        """The attribute of an object says nothing of others of its class."""
        from fatlink._arrays import view
        array = SimpleNamespace(**vars(Interface()), __dlpack_device__=lambda: (2, 0))
        self.assertEqual(view(array).count, 8)
        self.assert_error(fatlink.UsageTypeError, view, SimpleNamespace(), says="SimpleNamespace is not an array")

    def test_makes_no_results(self):
        from fatlink._arrays import view
        seen = view(Interface())
        self.assert_error(fatlink.UsageError, seen.kind.make, seen, (1,), seen.element, says="makes no arrays of", hint="out=")


class Streams(NumpyCase):
    """Which streams are waited for, before a call on `stream`."""

    def waits(self, array, stream):
        from fatlink import _arrays
        from fatlink._arrays import view
        handles = []
        for module, name, value in ((_arrays, "device_at", lambda place: None),
                                    (_arrays.c, "synchronize", lambda device, handle: handles.append(handle))):
            self.addCleanup(setattr, module, name, getattr(module, name))
            setattr(module, name, value)
        entry = view(array)
        entry.kind.wait_for(entry, stream)
        return handles

    def test_of_the_interface(self):
        self.assertEqual(self.waits(Interface(stream=7), 9), [7])
        self.assertEqual(self.waits(Interface(stream=1), 9), [1])
        self.assertEqual(self.waits(Interface(), 9), [])
        self.assert_error(fatlink.UsageError, self.waits, Interface(stream=0), 9, says="the stream 0", hint="1 for the legacy")

    def test_of_dlpack(self):
        exports = []

        class Recorded(OnlyDlpack):
            def __dlpack__(self, *, stream=None, **options):
                exports.append(stream)
                return super().__dlpack__()
        array = Recorded(numpy.zeros(4, numpy.float32), (2, 0))
        self.assertEqual((self.waits(array, 9), self.waits(array, 0), exports), ([0], [], [1, 1]))

    def test_of_several_frameworks_wait_for_each_other(self):
        from fatlink import _plans
        from fatlink._arrays import View
        from fatlink._elements import number_type
        order = []
        self.addCleanup(setattr, _plans.c, "synchronize", _plans.c.synchronize)
        _plans.c.synchronize = lambda device, handle: order.append(("wait", handle))
        prepared = SimpleNamespace(device=None, name="plan", run=lambda handle, *rest: order.append(("run", handle)))

        def run(*streams, stream=None):
            kinds = [SimpleNamespace(is_ordered=handle is not None, current_stream=lambda place, handle=handle: handle,
                                     wait_for=lambda view, handle: order.append(("export", handle))) for handle in streams]
            order.clear()
            views = [View(None, kind, 0, 0, (), number_type("float32"), 0) for kind in kinds]
            _plans.run(prepared, ("in", "out"), views, stream)
            return list(order)
        self.assertEqual(run(5, 5), [("run", 5)])
        self.assertEqual(run(5, 6), [("wait", 6), ("run", 5), ("wait", 5)])
        self.assertEqual(run(None, 6), [("export", 6), ("run", 6), ("wait", 6)])
        self.assertEqual(run(5, 6, stream=8), [("wait", 6), ("run", 8), ("wait", 8)])

    def test_results_are_made_in_the_stream_of_the_call(self):
        """Frameworks order the reuse of freed memory by the stream that is current when an array is made."""
        import contextlib
        from fatlink._arrays import ArrayKind, View
        from fatlink._elements import number_type
        current = []

        class Kind(ArrayKind):
            @contextlib.contextmanager
            def using(self, stream, place):
                current.append((stream, place))
                yield
                current.append("end")

            def make_now(self, like, shape, element):
                current.append("made")
        element = number_type("float32")
        like = View(None, Kind(), 0, 0, (), element, 3)
        like.kind.make(like, (1,), element)
        like.kind.make(like, (1,), element, 7)
        self.assertEqual(current, ["made", (7, 3), "made", "end"])


class Dlpack(NumpyCase):
    def test_of_host_memory_is_an_input(self):
        numbers = numpy.arange(10, dtype=numpy.float32)
        out = numpy.zeros((), numpy.float32)
        self.assertEqual(fatlink.reduce(OnlyDlpack(numbers), out=out), 45)
        self.assert_error(fatlink.UsageError, fatlink.scan, numbers, out=OnlyDlpack(numbers.copy()), says="cannot be written")

    def test_of_a_gpu_states_address_shape_and_type(self):
        from fatlink._arrays import view
        numbers = numpy.arange(12, dtype=numpy.int16).reshape(3, 4)
        seen = view(OnlyDlpack(numbers, (2, 3)))
        self.assertEqual((seen.address, seen.count, seen.shape, seen.element.name, seen.place),
                         (numbers.ctypes.data, 12, (3, 4), "int16", 3))

    def test_that_is_not_contiguous(self):
        from fatlink._arrays import view
        self.assert_error(fatlink.UsageError, view, OnlyDlpack(numpy.zeros((4, 4), numpy.float32).T, (2, 0)),
                          says="not contiguous")

    def test_without_memory(self):
        from fatlink import _arrays
        from fatlink._arrays import view
        original = _arrays._tensor
        self.addCleanup(setattr, _arrays, "_tensor", original)

        def freed_tensor(capsule):
            tensor = _arrays._DLTensor.from_buffer_copy(original(capsule))
            tensor.data, tensor.byte_offset = None, 64
            return tensor
        _arrays._tensor = freed_tensor
        self.assert_error(fatlink.UsageError, view, OnlyDlpack(numpy.zeros(4), (2, 0)), says="has no memory", code="freed-array")
        self.assertEqual(view(OnlyDlpack(numpy.zeros(0), (2, 0))).count, 0)

    def test_that_the_producer_refuses(self):
        from fatlink._arrays import view

        class Refusing(OnlyDlpack):
            def __dlpack__(self, *, stream=None, **options):
                raise BufferError("not exported")

        class WithoutDevice:
            def __dlpack__(self, *, stream=None, **options):
                raise AssertionError
        for array, says in ((Refusing(numpy.zeros(4), (2, 0)), "Refusing is not passed by DLPack: not exported"),
                            (Refusing(numpy.zeros(4)), "not exported"), (WithoutDevice(), "no attribute '__dlpack_device__'")):
            self.assert_error(fatlink.UsageTypeError, view, array, says=says, hint="__dlpack_device__")

    def test_of_other_devices(self):
        from fatlink._arrays import view
        interface_on_host = type("OnHost", (Interface,), {"__dlpack_device__": lambda self: (1, 0)})
        self.assert_error(fatlink.UsageError, view, interface_on_host(), says="states the host's memory", hint="CUDA device")
        self.assert_error(fatlink.UsageError, view, OnlyDlpack(numpy.zeros(4), (10, 0)), says="DLPack's type 10")


class Outputs(NumpyCase):
    def test_of_the_caller_are_marked_as_written(self):
        from fatlink._arrays import NumpyArrays
        arrays = []
        self.addCleanup(setattr, NumpyArrays, "mark_written", NumpyArrays.mark_written)
        NumpyArrays.mark_written = lambda kind, array: arrays.append(array)
        numbers = numpy.arange(10, dtype=numpy.float32)
        out = numpy.zeros(10, numpy.float32)
        fatlink.scan(numbers)
        self.assertEqual(arrays, [])
        fatlink.scan(numbers, out=out)
        self.assertIs(arrays[0], out)


class Numpy(NumpyCase):
    def test_is_not_copied(self):
        from fatlink._arrays import view
        numbers = numpy.arange(10, dtype=numpy.float32)
        seen = view(numbers)
        self.assertEqual((seen.address, seen.place), (numbers.ctypes.data, -1))

    def test_structs_are_named_by_their_fields(self):
        from fatlink._arrays import view
        aligned = numpy.zeros(1, numpy.dtype([("a", "i1"), ("b", "f8")], align=True))
        self.assertEqual(view(aligned).element.name, "{a: int8, b: float64}")
        packed = numpy.zeros(1, [("a", "i1"), ("b", "f8")])  # C++ has no such struct without attributes
        self.assertNotIn("{a: int8", view(packed).element.name)


class Values(NumpyCase):
    def pack(self, value, type_name, scalar=None, size=None):
        from fatlink._elements import NUMBERS, pack
        known = NUMBERS.get(type_name, (16, 0))
        return pack(value, SimpleNamespace(name="v", scalar=scalar or known[0], type_name=type_name,
                                           element_bytes=size or known[1]))

    def test_of_every_type_of_numbers_are_those_of_numpy(self):
        from fatlink._elements import NUMBERS
        for name in NUMBERS:
            if name != "bfloat16":
                for value in (0, 1, 3, numpy.dtype(name).type(5)):
                    self.assertEqual(self.pack(value, name), numpy.dtype(name).type(value).tobytes())

    def test_of_bfloat16_are_rounded_to_nearest_even(self):
        for value, bits in ((1.0, 0x3F80), (1.00390625, 0x3F80), (1.01171875, 0x3F82), (-2.0, 0xC000), (float("inf"), 0x7F80),
                            (float("nan"), 0x7FC0), (3.4e38, 0x7F80)):
            self.assertEqual(int.from_bytes(self.pack(value, "bfloat16"), "little"), bits)

    def test_above_the_range_of_a_float_are_infinite(self):
        self.assertEqual(self.pack(1e300, "float32"), numpy.float32("inf").tobytes())

    def test_of_structs(self):
        name = "{a: int8, b: float64}"
        expected = b"\1" + bytes(7) + numpy.float64(2).tobytes()
        for value in ((1, 2.0), {"b": 2.0, "a": 1}, [1, 2]):
            self.assertEqual(self.pack(value, name, 16, 16), expected)
        self.assert_error(fatlink.UsageTypeError, self.pack, (1,), name, 16, 16, says="it has 1 fields, not 2")
        self.assert_error(fatlink.UsageTypeError, self.pack, b"123", name, 16, 16, says="v has 3 bytes")
        self.assert_error(fatlink.UsageTypeError, self.pack, 5, "bytes8", 15, 8, says="no fields", hint="structured dtype")


class FrameworkCase(NumpyCase):
    module = ""

    def setUp(self):
        super().setUp()
        if importlib.util.find_spec(self.module) is None:
            self.skipTest(f"{self.module} is not installed for this Python")
        self.numbers = (numpy.arange(300) % 17 - 8).astype(numpy.float32)


class Torch(FrameworkCase):
    module = "torch"

    def setUp(self):
        super().setUp()
        import torch
        self.torch = torch
        self.tensor = torch.from_numpy(self.numbers)

    def test_results_are_tensors_of_the_cpu(self):
        total = fatlink.reduce(self.tensor)
        self.assertEqual((type(total), total.shape, total.item()), (self.torch.Tensor, (), self.numbers.sum()))
        self.assertTrue(self.torch.equal(fatlink.select(self.tensor, "positive"), self.tensor[self.tensor > 0]))
        counts = fatlink.histogram(self.tensor.view(self.torch.uint8), "byte_bins")
        self.assertEqual((counts.dtype, counts.sum().item()), (self.torch.int64, 1200))
        plan = fatlink.load("reduce_4", "add_float")
        self.assertEqual(plan.run(in_=self.tensor).item(), self.numbers.sum())

    def test_outputs_are_marked_as_written(self):
        """Autograd finds out that a tensor that it saved was changed."""
        out = self.torch.zeros_like(self.tensor)
        factor = self.torch.ones_like(self.tensor).requires_grad_()
        product = (factor * out).sum()
        fatlink.scan(self.tensor, out=out)
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
            product.backward()

    def test_of_bfloat16(self):
        self.assertEqual(fatlink.reduce(self.tensor.to(self.torch.bfloat16), "max").dtype, self.torch.bfloat16)

    def test_that_are_refused(self):
        torch = self.torch
        freed = self.tensor.clone()
        freed.untyped_storage().resize_(0)
        for tensor, says in ((self.tensor[::2], "not contiguous"), (self.tensor.clone().requires_grad_(), "requires a gradient"),
                             (freed, "was freed"), (self.tensor.to("meta"), "device meta"),
                             (self.tensor.to_sparse(), "layout torch.sparse_coo"),
                             (self.tensor.to(torch.float8_e4m3fn), "float8_e4m3fn"),
                             (torch.complex(self.tensor, self.tensor).conj(), "conjugated")):
            self.assert_error(fatlink.UsageError, fatlink.reduce, tensor, says=says)


class Jax(FrameworkCase):
    module = "jax"

    def setUp(self):
        super().setUp()
        import jax
        self.jax = jax
        self.array = jax.device_put(self.numbers, jax.devices("cpu")[0])

    def test_results_are_arrays_of_jax(self):
        total = fatlink.reduce(self.array)
        self.assertIsInstance(total, self.jax.Array)
        self.assertEqual((total.shape, float(total)), ((), self.numbers.sum()))
        self.assertEqual(fatlink.select(self.array, "positive").tolist(), self.numbers[self.numbers > 0].tolist())
        numpy.testing.assert_array_equal(fatlink.scan(self.array), self.numbers.cumsum())
        numpy.testing.assert_array_equal(self.array, self.numbers)

    def test_that_are_refused(self):
        deleted = self.jax.numpy.ones(4)
        deleted.delete()
        self.assert_error(fatlink.UsageError, fatlink.reduce, deleted, says="deleted", code="freed-array")
        self.assert_error(fatlink.UsageTypeError, self.jax.jit(fatlink.reduce), self.array, says="tracer",
                          hint="outside of jax.jit")
        self.assert_error(fatlink.UsageError, fatlink.scan, self.array, out=self.array, says="cannot be written")
        self.assert_error(fatlink.UsageTypeError, fatlink.reduce, self.jax.random.key(0), says="which fatlink does not have")
        if not self.jax.config.jax_enable_x64:
            self.assert_error(fatlink.UsageError, fatlink.histogram, self.array, "uniform_bins",
                              says="JAX makes no arrays of uint64", hint="jax_enable_x64")


if __name__ == "__main__":
    unittest.main()
