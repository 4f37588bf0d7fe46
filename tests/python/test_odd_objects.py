# SPDX-License-Identifier: Apache-2.0
"""Whatever object is passed for an argument, a call works or raises one of fatlink's own errors."""
import os
import pathlib
import tempfile
import unittest

from python_case import NumpyCase, fatlink, numpy


class Raising:
    """Raises `error` when it is looked at in any way but by its class."""

    def __init__(self, error):
        self.__dict__["error"] = error

    def __getattr__(self, name):
        raise self.__dict__["error"]

    def __repr__(self):
        raise self.__dict__["error"]

    def __fspath__(self):
        raise self.__dict__["error"]

    def __index__(self):
        raise self.__dict__["error"]

    def __bool__(self):
        raise self.__dict__["error"]


class Producer:
    """An array by DLPack whose device, or whose export, is what is given."""

    def __init__(self, device, capsule):
        self.device = device
        self.capsule = capsule

    def __dlpack_device__(self):
        return _given(self.device)

    def __dlpack__(self, **options):
        return _given(self.capsule)


class Interface:
    def __init__(self, members):
        self.members = members

    @property
    def __cuda_array_interface__(self):
        return _given(self.members)


def _given(value):
    if isinstance(value, Exception):
        raise value
    return value


def odd_values():
    errors = [ValueError("a"), KeyError("k"), OSError("o"), RuntimeError("r"), BufferError("b"), SystemError("s")]
    yield from ("a\ud800b", "\udc80", "a\0b", "", "x" * 1000, "{\ud800}", "/tmp/x.cu/")
    yield from (None, 3, -1, 2**63, 2**64, 10**400, 1.5, float("nan"), 1j, True, b"\xff", (), [], {}, {1}, int, unittest, object())
    yield from (pathlib.Path("a\ud800b"), pathlib.Path("a\0b"), pathlib.Path("/tmp"), lambda: 0, lambda *a: a[0])
    yield from map(Raising, errors)
    if numpy is not None:
        yield from (numpy.array(["a"]), numpy.array([object()]), numpy.float32(1), numpy.dtype("M8[s]"), numpy.zeros((2, 2)))
    for device in (*errors, None, (), (1,), ("a", "b"), (1, 0, 0), (2, "x"), (2, -5), (2, 2**70), (2**70, 0), (99, 0)):
        yield Producer(device, None)
    for capsule in (*errors, None, "x", object()):
        yield Producer((1, 0), capsule)
        yield Producer((2, 0), capsule)
    good = {"typestr": "<f4", "shape": (4,), "data": (0, False), "version": 3}
    changes = [("typestr", value) for value in ("", "<", "<fx", 3, "|O8", None)]
    changes += [("shape", value) for value in (None, (-1,), (2**63,), (2**40, 2**40), ("a",), (1.5,), (0,))]
    changes += [("data", value) for value in (None, (1,), ("a", False), (-1, False), (2**70, False), (4096, False))]
    changes += [("strides", (1, 2, 3)), ("strides", "ab"), ("stream", "x"), ("mask", 1), ("descr", 3)]
    for members in (*errors, None, {}, 3, *[{**good, name: value} for name, value in changes]):
        yield Interface(members)


class OddObjects(NumpyCase):
    def assert_own_errors(self, function, *arguments, **options):
        """Each argument in turn is each odd value."""
        for value in odd_values():
            for index in range(len(arguments)):
                self.call(function, [*arguments[:index], value, *arguments[index + 1:]], options)
            for name in options:
                self.call(function, arguments, {**options, name: value})

    def call(self, function, arguments, options):
        try:
            function(*arguments, **options)
        except (fatlink.Error, MemoryError):
            pass
        except BaseException as error:
            shown = [type(value).__name__ if isinstance(value, Raising) else ascii(value)[:80] for value in (
                *arguments, *options.items())]
            raise AssertionError(f"{function.__name__}({', '.join(shown)}) raises {type(error).__name__}") from error

    def setUp(self):
        super().setUp()
        self.x = numpy.arange(8, dtype=numpy.float32)

    def test_as_arguments_of_algorithms(self):
        self.assert_own_errors(fatlink.reduce, self.x, op="add", dtype=None, init=None, out=None, stream=None, device=None, mode="lto")
        self.assert_own_errors(fatlink.scan, self.x, dtype=None, out=None)
        self.assert_own_errors(fatlink.select, self.x, "positive", state=None)
        self.assert_own_errors(fatlink.histogram, self.x, "FATLINK_BIN(float, x) { return 0; }", bins=4)

    def test_as_arguments_of_maps(self):
        self.assert_own_errors(fatlink.map, self.x, self.x, op="add", dtype=None, state=None, out=None)

    def test_as_arguments_of_segmented_reductions_and_sorts(self):
        self.assert_own_errors(fatlink.segmented_reduce, self.x, numpy.array([0, 8]))
        self.assert_own_errors(fatlink.sort_pairs, self.x, self.x, op="less", out_values=None)

    def test_as_arguments_of_compiles_and_links(self):
        self.assert_own_errors(fatlink.compile, "__device__ int f;", contract=None, name=None, architectures=(), sass=(),
                               definitions=(), include_folders=(), standard=None, ftz=None, line_info=False)
        self.assert_own_errors(fatlink.check, ["reduce_4", "add_float"], target="sm_90", mode="lto", max_registers=32, kernels=["a"],
                               ptxas=[], line_info=True, emit="cubin", ftz=None)

    def test_as_names_and_files(self):
        self.assert_own_errors(fatlink.Input.find, "add_float")
        self.assert_own_errors(fatlink.Input.read, "add_float")
        self.assert_own_errors(fatlink.Input.from_bytes, b"abc", name="x")
        self.assert_own_errors(fatlink.find_file, "a")
        self.assert_own_errors(fatlink.open_device, "cpu", check_races=False, instruction_budget=0)
        self.assert_own_errors(fatlink.load, "reduce_4", "add_float", device="cpu", mode="lto")

    def test_as_files_that_are_written(self):
        operator = fatlink.Input.find("add_float")
        with tempfile.TemporaryDirectory() as folder:
            self.addCleanup(os.chdir, os.getcwd())
            os.chdir(folder)  # where the odd names are written
            self.assert_own_errors(operator.save, "a")

    def test_as_arguments_of_plans(self):
        plan = fatlink.load("reduce_4", "add_float", device="cpu")
        self.assert_own_errors(plan.run, **{"in": self.x, "init": 0.0, "out": None, "stream": None, "scratch": None})
        self.assert_own_errors(plan.scratch_bytes, **{"in": self.x, "n": None})
        self.assert_own_errors(plan.extents, "in", **{"in": self.x})
        self.assert_own_errors(plan.on, "cpu")


class FromBytes(NumpyCase):
    def test_takes_buffers_and_no_number(self):
        data = bytes(fatlink.Input.find("add_float"))
        for buffer in (data, bytearray(data), memoryview(data), numpy.frombuffer(data, numpy.uint8)):
            self.assertEqual(fatlink.Input.from_bytes(buffer).digest, fatlink.Input.find("add_float").digest)
        self.assert_error(fatlink.UsageTypeError, fatlink.Input.from_bytes, 3, says="data is 3")


if __name__ == "__main__":
    unittest.main()
