# SPDX-License-Identifier: Apache-2.0
"""What is refused before anything reaches a device, and what the errors say."""
import ctypes
import errno
import pickle
import re
import unittest

from python_case import NumpyCase, PythonCase, fatlink, numpy


class Arrays(NumpyCase):
    def setUp(self):
        super().setUp()
        self.numbers = numpy.arange(100, dtype=numpy.float32)

    def test_lists_and_numbers(self):
        for value in ([1.0, 2.0], (1, 2), 3.0):
            self.assert_error(fatlink.UsageTypeError, fatlink.reduce, value, says=("x: ", "is not an array"), hint="numpy.array")
        self.assert_error(TypeError, fatlink.reduce, "text", says="builtins.str is not an array", hint="__dlpack__")

    def test_that_are_not_contiguous(self):
        self.assert_error(ValueError, fatlink.reduce, self.numbers[::2], says="is not contiguous", hint="ascontiguousarray")
        self.assert_error(fatlink.UsageError, fatlink.map, numpy.zeros((4, 4), numpy.float32).T, op="square", says="contiguous")

    def test_of_types_that_fatlink_does_not_have(self):
        for dtype in (numpy.longdouble, "datetime64[s]", "U4", object):
            self.assert_error(fatlink.UsageTypeError, fatlink.reduce, numpy.zeros(4, dtype), says="which fatlink does not have",
                              hint="convert it to one of float16")

    def test_of_the_other_byte_order(self):
        self.assert_error(fatlink.UsageTypeError, fatlink.reduce, self.numbers.astype(">f4"), says="byte order", hint="astype")

    def test_that_are_masked(self):
        self.assert_error(fatlink.UsageTypeError, fatlink.reduce, numpy.ma.masked_array(self.numbers, self.numbers > 3),
                          says="masked", hint="filled")

    def test_of_structs_without_a_library(self):
        self.assert_error(fatlink.UsageTypeError, fatlink.reduce, numpy.zeros(4, [("a", "f4"), ("b", "f4"), ("c", "f4")]),
                          says="has 12", hint="pad the struct")

    def test_of_several_dimensions_where_one_is_needed(self):
        square = self.numbers.reshape(10, 10)
        for call in (fatlink.scan, fatlink.exclusive_scan, fatlink.sort, lambda x: fatlink.select(x, "positive"),
                     lambda x: fatlink.segmented_reduce(x, numpy.array([0, 1]))):
            self.assert_error(fatlink.UsageError, call, square, says="one dimension", hint="reshape(-1)")

    def test_of_different_shapes(self):
        self.assert_error(fatlink.UsageError, fatlink.map, self.numbers, self.numbers[1:], op="add",
                          says="y has the shape (99,), x has")

    def test_that_overlap(self):
        self.assert_error(fatlink.UsageError, fatlink.scan, self.numbers[:-4], out=self.numbers[4:], says="overlaps in")
        self.assert_error(fatlink.UsageError, fatlink.sort, self.numbers, out=self.numbers, says="overlaps in")
        numbers = numpy.zeros(16, numpy.float32)
        self.assert_error(fatlink.UsageError, fatlink.map, numbers[4:8], op="scale_add", state=numbers[:2], out=numbers[:4],
                          says="out overlaps state")

    def test_that_are_not_aligned_as_the_plan_states(self):
        pairs = numpy.zeros(9, numpy.float32)[1:].view([("value", "f4"), ("index", "i4")])
        self.assert_error(fatlink.UsageError, fatlink.scan, pairs, "argmax", says="not a multiple of 8 bytes", hint="x.copy()")

    def test_a_dlpack_capsule(self):
        self.assert_error(fatlink.UsageTypeError, fatlink.reduce, self.numbers.__dlpack__(), says="consumed",
                          hint="pass the array")

    def test_offsets_of_another_type_or_shape(self):
        self.assert_error(fatlink.UsageTypeError, fatlink.segmented_reduce, self.numbers, numpy.array([0, 5], numpy.int32),
                          says="offsets is an array of int32", hint="int64 or uint64")
        for offsets in (numpy.array([[0], [5]]), numpy.array([], numpy.int64), numpy.array(5)):
            self.assert_error(fatlink.UsageError, fatlink.segmented_reduce, self.numbers, offsets,
                              says=f"offsets has the shape {offsets.shape}", hint="one dimension")

    def test_offsets_that_are_not_of_segments(self):
        for offsets, says in (([0, 40, 20], "offsets[2] is 20, which is less than offsets[1], 40"), ([-1, 5], "offsets[0] is -1, which is negative"),
                              ([0, 5, 101], "offsets[2] is 101, beyond the end of x, which has 100 elements")):
            out = numpy.full(len(offsets) - 1, 7, numpy.float32)
            self.assert_error(fatlink.UsageError, fatlink.segmented_reduce, self.numbers, numpy.array(offsets), out=out, says=says,
                              hint="from 0 to len(x)")
            self.assertEqual(set(out), {7})
        self.assert_error(fatlink.UsageError, fatlink.segmented_reduce, self.numbers, numpy.array([0, 2**63], numpy.uint64),
                          says="beyond the end")
        self.assertEqual(fatlink.segmented_reduce(self.numbers, numpy.array([2, 2, 100])).tolist(), [0, 4949])

    def test_masks(self):
        for function in (fatlink.select, fatlink.partition, fatlink.transform_select):
            self.assert_error(fatlink.UsageTypeError, function, self.numbers, self.numbers > 3, says="op is an array of dtype('bool')",
                              hint=("x[mask]", "FATLINK_KEEP", "lambda"))
        self.assert_error(fatlink.UsageTypeError, fatlink.reduce, self.numbers, self.numbers, says="op is an array of", hint="fatlink.map")

    def test_values_of_another_size_or_number(self):
        for values in (numpy.zeros(100, numpy.int16), numpy.zeros(99, numpy.int32)):
            self.assert_error(fatlink.UsageError, fatlink.sort_pairs, self.numbers, values, says="values is", hint="4 or 8 bytes")


class Outputs(NumpyCase):
    def setUp(self):
        super().setUp()
        self.numbers = numpy.arange(100, dtype=numpy.float32)

    def test_that_cannot_be_written(self):
        out = self.numbers.copy()
        out.flags.writeable = False
        self.assert_error(fatlink.UsageError, fatlink.scan, self.numbers, out=out, says="out cannot be written",
                          code="read-only-output", hint="writable")

    def test_of_another_type(self):
        self.assert_error(fatlink.UsageTypeError, fatlink.scan, self.numbers, out=self.numbers.astype(numpy.int32),
                          says="out is an array of int32")

    def test_of_another_shape(self):
        self.assert_error(fatlink.UsageError, fatlink.scan, self.numbers, out=self.numbers[:9].copy(), says="shape (9,)")
        self.assert_error(fatlink.UsageError, fatlink.reduce, self.numbers, out=self.numbers[:9].copy(), says="has 9 elements")
        self.assert_error(fatlink.UsageError, fatlink.select, self.numbers, "positive", out=self.numbers[:9].copy(),
                          says="out has the shape (9,)", hint="as many elements as x")

    def test_of_structs_that_plans_do_not_describe(self):
        source = "struct pair { float a, b; };\nFATLINK_MAP1(pair, float, x) { return {x, x}; }"
        self.assert_error(fatlink.UsageError, fatlink.map, self.numbers, op=source, says="out has elements of", hint="out=")
        out = numpy.zeros(100, [("a", "f4"), ("b", "f4")])
        fatlink.map(self.numbers, op=source, out=out)
        numpy.testing.assert_array_equal(out["b"], self.numbers)

    def test_read_only_inputs_are_taken(self):
        self.numbers.flags.writeable = False
        self.assertEqual(fatlink.reduce(self.numbers), 4950)


class Calls(NumpyCase):
    def setUp(self):
        super().setUp()
        self.numbers = numpy.arange(100, dtype=numpy.float32)

    def test_with_an_unknown_mode(self):
        self.assert_error(fatlink.UsageError, fatlink.reduce, self.numbers, mode="fast", says="mode is 'fast'", hint='"lto"')

    def test_with_a_stream_on_the_reference_device(self):
        self.assert_error(fatlink.UsageError, fatlink.reduce, self.numbers, stream=1, says="a stream was given")

    def test_with_something_else_than_a_stream(self):
        from fatlink._devices import stream_handle
        self.assert_error(fatlink.UsageTypeError, stream_handle, "s", says="stream is 's'", hint="__cuda_stream__")

    def test_of_streams_in_every_form(self):
        from types import SimpleNamespace
        from fatlink._devices import stream_handle
        of_cupy = type("ExternalStream", (), {"__module__": "cupy.cuda.stream", "ptr": 7, "device_id": -1})
        for stream in (7, SimpleNamespace(cuda_stream=7, device_index=0), of_cupy(),
                       SimpleNamespace(__cuda_stream__=lambda: (0, 7)), SimpleNamespace(__cuda_stream__=(0, 7))):
            self.assertEqual(stream_handle(stream, 0), 7)

    def test_of_objects_that_are_no_streams(self):
        from types import SimpleNamespace
        from fatlink._devices import stream_handle
        event = type("Event", (), {"__module__": "cupy.cuda.stream", "ptr": 7})
        for stream in (True, -5, 2**64, SimpleNamespace(ptr=7), event(), SimpleNamespace(__cuda_stream__=(1, 7)),
                       SimpleNamespace(cuda_stream=True)):
            self.assert_error(fatlink.UsageTypeError, stream_handle, stream, says="stream is", hint="__cuda_stream__")

    def test_of_streams_of_another_gpu(self):
        from types import SimpleNamespace
        from fatlink._devices import stream_handle
        for name in ("device_index", "device_id"):
            stream = SimpleNamespace(cuda_stream=7, **{name: 1})
            self.assertEqual(stream_handle(stream, 1), 7)
            self.assert_error(fatlink.UsageError, stream_handle, stream, 0, says="the stream is of gpu:1, the arrays are in the "
                              "memory of gpu:0", code="several-devices", hint="of the arrays' GPU")

    def test_with_something_else_than_a_device(self):
        self.assert_error(fatlink.UsageTypeError, fatlink.reduce, self.numbers, device=3, says="device is 3", hint='"gpu"')
        self.assert_error(fatlink.UsageError, fatlink.reduce, self.numbers, device="tpu", says="tpu")

    def test_on_a_gpu_with_arrays_of_the_host(self):
        from fatlink import _plans

        class Gpu(fatlink.Device):
            __slots__ = ()

            def __init__(self):
                self._as_parameter_, self.is_gpu, self.ordinal = None, True, 0
        error = self.assert_error(fatlink.UsageError, _plans.device_for, -1, Gpu(), says="the host's memory, and gpu:0 uses",
                                  code="wrong-device", hint="cupy.asarray")
        self.assertNotIn("x.cpu", error.hint)

    def test_with_arrays_of_several_devices(self):
        from fatlink import _arrays
        views = {name: _arrays.View(None, None, 0, 0, (), None, place) for name, place in (("in", 0), ("out", 1))}
        self.assert_error(fatlink.UsageError, _arrays.require_one_place, views, says="in is in the memory of gpu:0, out in the",
                          code="several-devices", hint="one device")

    def test_with_an_initial_value_that_is_no_number(self):
        self.assert_error(fatlink.UsageTypeError, fatlink.reduce, self.numbers, init="z", says="init is 'z'; expected float32")
        self.assert_error(fatlink.UsageTypeError, fatlink.reduce, numpy.zeros(4, numpy.int8), init=2**63, says="init is 9223372")
        self.assert_error(fatlink.UsageTypeError, fatlink.reduce, numpy.zeros(4, numpy.int8), init=1.5, says="init is 1.5")

    def test_with_bins_that_are_no_number(self):
        for bins in (0, -1, 2.5, "8", True):
            self.assert_error(fatlink.UsageError, fatlink.histogram, self.numbers.view(numpy.uint8), "byte_bins", bins=bins,
                              says=f"bins is {bins!r}")


    def test_with_options_that_are_lists(self):
        """The error names the option that is wrong."""
        for name in ("mode", "device"):
            self.assert_error(fatlink.UsageError, fatlink.reduce, self.numbers, **{name: ["x"]}, says=f"{name} is ['x']")
        self.assert_error(fatlink.UsageTypeError, fatlink.map, self.numbers, op="square", dtype=["x"], says="dtype is ['x']")

    def test_of_map_without_an_operator(self):
        self.assertRaisesRegex(TypeError, "required keyword-only argument: 'op'", fatlink.map, self.numbers, "square")

    def test_with_arguments_of_numpy(self):
        for function, name, hint in ((fatlink.reduce, "axis", "segmented_reduce"), (fatlink.sort, "descending", '"greater"'),
                                     (fatlink.scan, "axis", "reshape"), (fatlink.reduce, "unknown", "help(fatlink.reduce)")):
            self.assert_error(fatlink.UsageTypeError, function, self.numbers, **{name: 0}, says=f"no argument '{name}'", hint=hint)

    def test_of_functions_of_numpy(self):
        for name, instead in (("sum", "reduce(x)"), ("cumsum", "scan(x)"), ("argsort", "sort_pairs")):
            self.assertRaisesRegex(AttributeError, f"no attribute '{name}'; write fatlink.{re.escape(instead)}", getattr, fatlink, name)
        self.assertRaisesRegex(AttributeError, "no attribute 'other'$", getattr, fatlink, "other")

    def test_of_functions_of_numpy_compute_the_same(self):
        """What the errors say to write."""
        x, y = numpy.array([3, -1, 2, 2, 0.5], numpy.float32), numpy.array([4, 5, 1, -2, 3], numpy.float32)
        pairs = numpy.zeros(5, [("value", "f4"), ("index", "i4")])
        pairs["value"], pairs["index"] = x, range(5)
        names = {"x": x, "y": y, "pairs": pairs, "mask": x > 1, "offsets": numpy.array([0, 2, 5]), "k": 2, "numpy": numpy,
                 "fatlink": fatlink, "bins": numpy.sort(y), "values": y}
        of_algorithms = {"fold": "add", "accumulate": "add", "filter": "positive", "compress": "positive", "extract": "positive",
                         "masked_select": "positive", "transform": "square"}
        expected = {"norm": numpy.linalg.norm(x), "reduceat": [2, 4.5], "cummax": [3, 3, 3, 3, 3], "cummin": [3, -1, -1, -1, -1],
                    "topk": [3, 2], "clip": [1, 0, 1, 1, 0.5], "fold": 6.5, "accumulate": [3, 2, 4, 6, 6.5], "transform": x * x,
                    "inclusive_scan": x.cumsum(), "argpartition": [1, 4], "adjacent_difference": numpy.diff(x),
                    "lower_bound": numpy.searchsorted(numpy.sort(x), y), "upper_bound": numpy.searchsorted(numpy.sort(x), y, "right"),
                    "digitize": numpy.digitize(x, numpy.sort(y)), "where": numpy.where(x > 1, x, y), "diff": numpy.diff(x),
                    **dict.fromkeys(("filter", "compress", "extract", "masked_select"), [3, 2, 2, 0.5])}
        takes_two = ("dot", "vdot", "inner", "add", "subtract", "multiply", "divide", "maximum", "minimum")
        for name, recipe in fatlink._ELSEWHERE.items():
            with self.subTest(name=name):
                if recipe == f"import fatlink.{name}":  # of a framework that need not be installed
                    continue
                if name == "bincount":
                    bytes_ = numpy.array([0, 2, 2], numpy.uint8)
                    self.assertEqual(list(eval(recipe, {**names, "x": bytes_}))[:3], list(numpy.bincount(bytes_)))
                    continue
                if name == "run_length_encode":
                    keys, lengths = eval(recipe, names)
                    self.assertEqual((list(keys), list(lengths)), ([3, -1, 2, 0.5], [1, 1, 2, 1]))
                    continue
                array = numpy.sort(x) if name in ("lower_bound", "upper_bound") else x
                result = eval(recipe, {**names, "x": array, "op": of_algorithms.get(name)})
                known = expected.get(name)
                if known is None:
                    known = getattr(numpy, name)(*(x, y)[:1 + (name in takes_two)])
                numpy.testing.assert_allclose(numpy.asarray(result), known, rtol=1e-6)

    def test_of_an_operator_for_structs(self):
        self.assert_error(fatlink.UsageTypeError, fatlink.reduce, self.numbers, "argmax",
                          says="takes {value: float32, index: int32}", hint="('index', 'int32')")

    def test_of_the_operators_of_no_algorithm(self):
        self.assert_error(fatlink.UsageError, fatlink.operators, "sorted", "float32", says="'sorted'", hint="reduce, ")
        self.assert_error(fatlink.UsageError, fatlink.operators, "map", "float32", 4, says="arrays is 4")
        self.assert_error(fatlink.UsageTypeError, fatlink.operators, "sort", "text", says="dtype is 'text'")

    def test_of_a_third_array_without_a_second(self):
        self.assert_error(fatlink.UsageError, fatlink.map, self.numbers, z=self.numbers, op="multiply_add", says="no y",
                          hint="second array as y")

    def test_name_the_arrays_of_map_and_of_plans(self):
        self.assert_error(fatlink.UsageError, fatlink.map, self.numbers, self.numbers[::2], op="add", says="y: ")
        plan = fatlink.load("reduce_4", "add_float")
        self.assert_error(fatlink.UsageError, plan.run, in_=self.numbers[::2], says="in: the array is not contiguous")


class Numbers(PythonCase):
    """ctypes takes numbers modulo 2**32."""

    def test_of_links(self):
        for value in (-1, 2**32 + 4):
            self.assert_error(fatlink.UsageError, fatlink.check, ["reduce_4", "add_float"], target="sm_90", threads=value,
                              says=f"threads is {value}", hint="from 0 to 4294967295")
        self.assert_error(fatlink.UsageTypeError, fatlink.check, ["reduce_4"], target="sm_90", max_registers="8",
                          says="max_registers is '8'", hint="whole number")

    def test_of_devices(self):
        self.assert_error(fatlink.UsageError, fatlink.open_device, "cpu", instruction_budget=-1, says="instruction_budget is -1")
        device = fatlink.open_device("cpu")
        self.assert_error(fatlink.UsageError, device.limit_memory_pool, -1, says="size is -1")
        self.assert_error(fatlink.UsageTypeError, device.trim_memory_pool, "all", says="keep is 'all'")

    def test_of_settings_change_nothing(self):
        from fatlink import _linking
        before = dict(_linking._settings)
        for name, value in (("link_time_limit_ms", -1), ("link_time_limit_ms", "x"), ("cache_folder_limit", 2**64),
                            ("cache", "no"), ("nvrtc", 3)):
            self.assert_error(fatlink.UsageError, fatlink.configure, in_process=True, **{name: value}, says=name)
        self.assertEqual(_linking._settings, before)


class Settings(NumpyCase):
    def test_hold_for_the_next_call(self):
        from fatlink import _kept_calls
        numbers = numpy.arange(100, dtype=numpy.float32)
        fatlink.reduce(numbers)
        self.assertTrue(_kept_calls._bound)
        fatlink.configure(link_time_limit_ms=0)
        self.assertFalse(_kept_calls._bound)
        self.assertEqual(fatlink.reduce(numbers), 4950)


class Errors(PythonCase):
    def test_are_a_family_with_fields(self):
        error = self.assert_error(fatlink.FileError, fatlink.Input.find, "no_such_transform", says="no_such_transform")
        self.assertIsInstance(error, fatlink.Error)
        self.assertEqual((error.kind, error.findings), ("file", ()))
        self.assertTrue(error.code and error.stage and error.log)

    def test_survive_pickling(self):
        error = fatlink.UsageTypeError("a message", code="code", hint="a hint", findings=(fatlink.Finding("id", True, ("f",), "s",
                                                                                                          "m", "h"),))
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(copy), str(copy), copy.hint), (fatlink.UsageTypeError, str(error), "a hint"))
        self.assertEqual(str(copy.findings[0]), "error: m [id]\n  hint: h")

    def test_are_errors_that_python_programs_expect(self):
        self.assertTrue(issubclass(fatlink.UsageError, ValueError))
        self.assertTrue(issubclass(fatlink.UsageTypeError, TypeError))
        self.assertTrue(issubclass(fatlink.OutOfMemoryError, MemoryError))
        self.assertTrue(issubclass(fatlink.FileError, OSError))

    def test_of_files_have_the_fields_of_os_errors(self):
        missing = self.folder / "missing.fatbin"
        with self.assertRaises(OSError) as raised:
            fatlink.Input.read(missing)
        error = raised.exception
        self.assertEqual((error.filename, error.strerror), (str(missing), error.message))
        self.assertTrue(str(error).startswith(error.message))
        self.assertEqual((error.errno, fatlink.FileError("full", code="ENOSPC").errno), (None, errno.ENOSPC))
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(copy), str(copy), copy.filename), (fatlink.FileError, str(error), str(missing)))

    def test_of_classes_have_kinds_of_their_own(self):
        from fatlink._errors import CLASSES
        self.assertEqual([cls.kind for cls in CLASSES.values()], [
            "usage", "file", "refused", "link", "compile", "device", "unavailable", "memory", "defect"])
        self.assertTrue(all("kind" in vars(cls) for cls in CLASSES.values()))

    def test_of_missing_memory(self):
        from fatlink._ffi import c, output, raise_error
        size = 1 << 62

        def allocate():
            raise_error(c.buffer_allocate(fatlink.open_device("cpu"), size, ctypes.byref(output())))
        error = self.assert_error(MemoryError, allocate, says="cannot allocate", code="out-of-memory", hint="less memory")
        self.assertEqual((type(error), error.kind), (fatlink.OutOfMemoryError, "memory"))

    def test_of_a_missing_gpu_say_what_to_do(self):
        if fatlink.gpu_count():
            self.skipTest("this machine has a GPU")
        error = self.assert_error(fatlink.UnavailableError, fatlink.open_device, "gpu", says="to run on", hint="cpu")
        self.assertIn(error.code, ("driver-unavailable", "gpu-unavailable"))


if __name__ == "__main__":
    unittest.main()
