# SPDX-License-Identifier: Apache-2.0
"""What op= may be: names, families, files, Inputs, CUDA source and Python functions."""
import enum
import importlib.util
import math
import operator
import pickle
import struct
import sys
import types
import unittest
import warnings
from unittest import mock

from python_case import BUILD, NumpyCase, PythonCase, fatlink, numpy
from run_tests import long_test

SUM = "FATLINK_COMBINE(float, a, b) { return a + b; }"
HAS_NUMBA = importlib.util.find_spec("numba") and importlib.util.find_spec("numba_cuda")


class OperatorCase(NumpyCase):
    def setUp(self):
        super().setUp()
        self.numbers = (numpy.arange(300) % 17 - 8).astype(numpy.float32)


class Names(OperatorCase):
    def test_of_an_installed_operator(self):
        self.assertEqual(fatlink.reduce(self.numbers, "max_float"), 8)

    def test_of_a_family_is_the_installed_operator_of_the_type(self):
        from fatlink._elements import number_type
        from fatlink._operators import candidates
        for name, element, expected in (("add", "float32", "add_float"), ("add", "float64", "add_double"),
                                        ("add", "int32", "add_int32"), ("max", "float16", "max_float16")):
            self.assertEqual(candidates(name, "combine", [number_type(element)], "lto")[0].name, expected)

    def test_of_an_operator_of_another_type(self):
        error = self.assert_error(fatlink.UsageTypeError, fatlink.reduce, self.numbers, "add_int32",
                                  says="operator add_int32 takes int32, but x is an array of float32", code="wrong-operator",
                                  hint="names for float32: add, multiply, max, min, abs_max, add_float, max_float;")
        self.assertNotIn("add_int32", error.hint)

    def test_of_an_operator_of_another_size(self):
        self.assert_error(fatlink.UsageTypeError, fatlink.reduce, self.numbers, "add_double", code="wrong-operator",
                          says="operator add_double takes float64, but x is an array of float32", hint="names for float32: add, ")
        for function, operator, takes in ((fatlink.reduce, "add_float", "float32"), (fatlink.sort, "less_uint8", "uint8"),
                                          (fatlink.transform_reduce, "sum_squares", "float32"),
                                          (fatlink.transform_select, "floats_above", "float64"), (fatlink.histogram, "byte_bins", "uint8")):
            self.assert_error(fatlink.UsageTypeError, function, numpy.arange(9), operator, code="wrong-operator",
                              says=f"operator {operator} takes {takes}, but x is an array of int64", hint="int64")

    def test_of_an_operator_of_another_algorithm(self):
        for function, operator, says in ((fatlink.reduce, "less_float", "less_float is for sort, sort_pairs, segmented_sort, merge and searchsorted, not for reduce"),
                                         (fatlink.sort, "add", "add is for reduce, segmented_reduce, scan, exclusive_scan, reduce_by_key, scan_by_key and map, not for sort"),
                                         (fatlink.select, "gelu", "gelu is for libraries with the contract apply_transform, not for select")):
            self.assert_error(fatlink.UsageError, function, self.numbers, operator, says=f"operator {says}", code="wrong-operator",
                              hint="names for float32: ")

    def test_of_an_operator_of_another_number_of_arrays(self):
        for operator in ("add", "add_floats", numpy.add, max):
            self.assert_error(fatlink.UsageError, fatlink.map, self.numbers, op=operator, says="takes two arrays; map was given one array",
                              code="wrong-operator", hint=("fatlink.map(x, y, op=…)", "names for float32: abs, "))
        self.assert_error(fatlink.UsageError, fatlink.map, self.numbers, self.numbers, op="square",
                          says="operator square takes one array; map was given two arrays", hint="fatlink.map(x, op=…)")
        self.assert_error(fatlink.UsageError, fatlink.map, self.numbers, op="FATLINK_MAP2(float, float, a, float, b) { return a + b; }",
                          says="which defines FATLINK_MAP2, takes two arrays; map was given one array", hint="FATLINK_MAP1(type, type, x)")

    def test_of_arrays_of_several_types(self):
        for name in ("add", "multiply"):
            self.assert_error(fatlink.UsageTypeError, fatlink.map, self.numbers, numpy.arange(300), op=name, code="wrong-operator",
                              says=f"operator {name} takes arrays of one type; x is an array of float32, y of int64", hint="astype")

    def test_of_a_family_that_has_the_name_of_an_installed_operator_of_another_type(self):
        x = numpy.arange(4.0)
        self.assert_equal_arrays(fatlink.map(x, x, x, op="multiply_add"), x * x + x)

    def test_that_are_misspelt(self):
        for function, name, meant in ((fatlink.reduce, "sum", "add"), (fatlink.reduce, "mul", "multiply"), (fatlink.scan, "Add", "add"),
                                      (fatlink.sort, "desc", "greater"), (fatlink.sort, "ascending", "less"), (fatlink.reduce, "maximum", "max"),
                                      (fatlink.select, "postive", "positive"), (fatlink.reduce, numpy.sum, "add"),
                                      (fatlink.reduce, numpy.max, "max"), (fatlink.reduce, sum, "add"), (fatlink.reduce, numpy.prod, "multiply")):
            self.assert_error(fatlink.UsageError, function, self.numbers, name, says="unknown operator", code="no-operator",
                              hint=(f"did you mean '{meant}'? names for float32: ", "CUDA source"))
        error = self.assert_error(fatlink.UsageError, fatlink.map, self.numbers, self.numbers, op=numpy.logaddexp,
                                  says="unknown operator 'logaddexp'", hint="a Python function")
        self.assertNotIn("did you mean", error.hint)
        for function in (numpy.add, operator.add, "add"):
            self.assertEqual(fatlink.reduce(self.numbers, function), self.numbers.sum())
        for function in (numpy.maximum, max, "max"):
            self.assertEqual(fatlink.reduce(self.numbers, function), 8)

    def test_that_is_unknown(self):
        self.assert_error(fatlink.UsageError, fatlink.reduce, self.numbers, "ad", says="unknown operator 'ad' for float32 (contract combine_4)",
                          code="no-operator", hint="add_float")
        self.assert_error(fatlink.UsageError, fatlink.select, self.numbers, "odd", says="keep_4", hint="positive_float")

    def test_without_an_identity_need_init(self):
        records = numpy.zeros(4, [("value", "f4"), ("index", "i4")])
        self.assert_error(fatlink.UsageError, fatlink.reduce, records, "argmax", says="the identity of argmax",
                          code="no-identity", hint=("a value of {value: float32, index: int32}", "init=x[0]"))

    def assert_computes_complex_numbers(self, dtype):
        x = numpy.array([1 + 2j, 3 - 1j, 0.5j, -2], dtype)
        self.assertEqual(fatlink.reduce(x, "add"), x.sum())
        self.assertEqual(fatlink.reduce(x, "multiply"), x.prod())
        self.assertEqual(fatlink.reduce(x[:0], "add"), 0)
        self.assertEqual(fatlink.reduce(x, "add", init=1 - 1j), x.sum() + (1 - 1j))
        self.assertEqual(list(fatlink.scan(x, "add")), list(numpy.cumsum(x)))
        self.assertEqual(list(fatlink.map(x, op="square")), list(x * x))
        self.assertEqual(list(fatlink.map(x, x, op="subtract")), [0] * len(x))
        self.assertEqual(list(fatlink.map(x, x[::-1].copy(), op="multiply")), list(x * x[::-1]))
        self.assert_error(fatlink.UsageError, fatlink.reduce, x, "max",
                          says=f"unknown operator 'max' for {numpy.dtype(dtype)}", hint="add, multiply")

    def test_of_complex_numbers(self):
        self.assert_computes_complex_numbers(numpy.complex128)

    @long_test  # the test above has complex128
    def test_of_complex_numbers_in_single_precision(self):
        self.assert_computes_complex_numbers(numpy.complex64)

    def test_of_truth_values(self):
        x = numpy.array([True, False, True])
        for name, function in (("max", any), ("min", all)):
            for values in x, x[:0], ~x[1:2]:
                result = fatlink.reduce(values, name)
                self.assertEqual((result.dtype, bool(result)), (numpy.dtype(bool), function(values)))
        self.assertEqual(list(fatlink.map(x, ~x, op="max")), [True] * 3)
        self.assertEqual(list(fatlink.sort(x)), [False, True, True])
        self.assertEqual(list(fatlink.select(x, "nonzero")), [True, True])
        self.assertEqual(fatlink.reduce(x), 2)
        self.assert_error(fatlink.UsageError, fatlink.reduce, x, "add", dtype="bool", says="unknown operator 'add' for bool",
                          hint="max, min")


def call(algorithm, name, arrays, count):
    """Calls an algorithm with a listed operator. A state has any bytes."""
    function = getattr(fatlink, algorithm)
    x = [arrays] * count
    options = {"init": bytes(arrays.itemsize)} if algorithm in ("reduce", "segmented_reduce", "exclusive_scan") and not (
        arrays.dtype.kind in "iubfc" and name in ("add", "multiply", "max", "min", "abs_max")) else {}
    state = numpy.zeros(64, numpy.uint8)
    if algorithm == "transform_select":
        options = {"keep_state": state, "store_state": state}
    elif algorithm in ("select", "partition", "map", "histogram", "transform_reduce"):
        options = {"state": state}
    if algorithm == "map":
        return function(*x, op=name, **options)
    between = {"segmented_reduce": [numpy.array([0, 2, 4])], "sort_pairs": [numpy.arange(4)]}.get(algorithm, [])
    return function(*x, *between, name, **options)


class Listed(OperatorCase):
    """fatlink.operators() lists what calls accept."""

    TYPES = ("float32", "bool", [("value", "f4"), ("index", "i4")])
    OTHER_TYPES = ("float16", "float64", "int16", "uint8", "uint32", "complex64", [(name, "u8") for name in ("key", "first", "second", "third")], [("x", "f4"), ("y", "f4")])

    def assert_calls_take_what_is_listed(self, types, algorithms):
        for dtype in types:
            array = numpy.ones(4, dtype)
            for algorithm in algorithms:
                for count in (1, 2, 3) if algorithm == "map" else (1,):
                    for name in fatlink.operators(algorithm, array.dtype, count):
                        with self.subTest(algorithm=algorithm, dtype=dtype, name=name, arrays=count), warnings.catch_warnings():
                            warnings.simplefilter("ignore")  # of names of fields
                            call(algorithm, name, array, count)

    def test_are_taken(self):
        self.assert_calls_take_what_is_listed(self.TYPES, ("reduce", "transform_reduce", "select", "transform_select", "sort", "histogram", "map"))

    @long_test  # the test above has a function of each contract
    def test_are_taken_by_all_functions(self):
        others = ("segmented_reduce", "scan", "exclusive_scan", "partition", "sort_pairs")
        self.assert_calls_take_what_is_listed(self.TYPES, others)
        self.assert_calls_take_what_is_listed(self.OTHER_TYPES, (
            "reduce", "transform_reduce", "select", "transform_select", "sort", "histogram", "map"))

    def test_lack_those_of_other_types(self):
        self.assertEqual(fatlink.operators("histogram", "float32"), ["uniform_bins"])
        self.assertEqual(fatlink.operators("histogram", "uint32"), ["log2_bins"])
        self.assertEqual(fatlink.operators("map", "float64"), ["abs", "negate", "square"])
        self.assertEqual(fatlink.operators("transform_reduce", "float32"), ["count_above", "sum_squares"])

    def test_that_need_no_compiler_are_told_apart_and_work_without_one(self):
        self.assertEqual([(name, name.needs_compiler) for name in fatlink.operators("reduce", "float64")],
                         [("add", False), ("multiply", True), ("max", True), ("min", True), ("abs_max", True), ("add_double", False)])
        self.addCleanup(fatlink.configure, nvrtc=None, cache=True)
        fatlink.configure(nvrtc=str(self.folder / "none"), cache=False)
        for algorithm, dtype, count in (("reduce", "float32", 1), ("reduce", "uint8", 1), ("map", "int16", 2), ("select", "float16", 1),
                                        ("sort", "uint8", 1)):
            for name in fatlink.operators(algorithm, dtype, count):
                with self.subTest(algorithm=algorithm, dtype=dtype, name=name):
                    array = numpy.ones(4, dtype)
                    if name.needs_compiler:
                        self.assert_error(fatlink.UnavailableError, call, algorithm, name, array, count, hint="pip install nvidia-cuda-nvrtc",
                                          says=(f"operator {name}", "has to be compiled", "NVRTC"))
                    else:
                        call(algorithm, name, array, count)

    def test_are_texts_that_can_be_copied(self):
        name = fatlink.operators("reduce", "int16")[0]
        copy = pickle.loads(pickle.dumps(name))
        self.assertEqual((copy, copy.needs_compiler, f"{name}", repr(name)), ("add", True, "add", "'add'"))


class WithoutACompiler(OperatorCase):
    """Errors say what has to be compiled, and why."""

    def setUp(self):
        super().setUp()
        self.addCleanup(fatlink.configure, nvrtc=None, cache=True)
        fatlink.configure(nvrtc=str(self.folder / "none"), cache=False)

    def assert_needs(self, says, function, *arguments, **options):
        self.assert_error(fatlink.UnavailableError, function, *arguments, says=(says, "NVRTC"), hint="pip install nvidia-cuda-nvrtc", **options)

    def test_of_operators_of_other_types(self):
        self.assert_needs("operator max of int16 has to be compiled (no installed operator of this name is for this type): ",
                          fatlink.reduce, self.numbers.astype(numpy.int16), "max")

    def test_of_sums(self):
        narrow = self.numbers.astype(numpy.int16)
        self.assert_needs("operator add: the conversion of int16 to int64 has to be compiled: ", fatlink.reduce, narrow)
        self.assert_needs("operator add of int64 has to be compiled (no installed operator of this name is for this type): ", fatlink.scan, narrow)
        fatlink.scan(self.numbers.astype(numpy.float32), "add_float")  # the operator itself is linked first: skips without nvJitLink
        self.assert_needs("operator add_float: the conversion of int16 to float32 has to be compiled: ", fatlink.scan, narrow, "add_float",
                          dtype="float32")

    def test_of_sources(self):
        path = self.folder / "sum.cu"
        path.write_text(SUM)
        self.assert_needs("the CUDA source has to be compiled: ", fatlink.reduce, self.numbers, SUM, init=0)
        self.assert_needs(f"{path} has to be compiled: ", fatlink.reduce, self.numbers, path, init=0)

    def test_arrays_of_several_types_are_told_first(self):
        self.assert_error(fatlink.UsageTypeError, fatlink.map, self.numbers, numpy.arange(300), op="multiply",
                          says="operator multiply takes arrays of one type")


class Kept(OperatorCase):
    """Linked operators are kept up to a number of bytes."""

    def test_those_of_ptx_links_are_counted(self):
        from fatlink import _kept_calls
        for mode in ("ptx", "lto"):
            fatlink.reduce(self.numbers, "FATLINK_COMBINE(float, a, b) { return a + b; }", init=0, mode=mode)
            self.assertGreater(list(_kept_calls._bound.values())[-1].bytes, 1000, mode)

    def test_those_that_are_used_stay(self):
        from unittest import mock

        from fatlink import _kept_calls
        with mock.patch.object(_kept_calls, "_bound", {}), mock.patch.object(_kept_calls, "_LIMIT", 1):
            fatlink.reduce(self.numbers)
            size = next(iter(_kept_calls._bound.values())).bytes
            self.assertGreater(size, 1000)
            _kept_calls._LIMIT = 3 * size
            for number in range(6):
                fatlink.reduce(self.numbers)
                fatlink.reduce(self.numbers, f"FATLINK_COMBINE(float, a, b) {{ return a + b + 0 * {number}; }}", init=0)
            self.assertLessEqual(sum(entry.bytes for entry in _kept_calls._bound.values()), 3 * size)
            self.assertGreaterEqual(len(_kept_calls._bound), 2)
            self.assertIn("add", [key[1] for key in _kept_calls._bound])


class Structs(OperatorCase):
    """The fields of structured dtypes are compared with those of an operator's struct."""

    SOURCE = "struct best { float value; int index; };\nFATLINK_COMBINE(best, a, b) { return b.value > a.value ? b : a; }"
    SWAP = ("struct pair { float v; int i; };\nstruct swapped { int i; float v; };\n"
            "FATLINK_MAP1(swapped, pair, x) { return {x.i, x.v}; }")

    def setUp(self):
        super().setUp()
        self.records = numpy.zeros(9, [("value", "f4"), ("index", "i4")])
        self.records["value"], self.records["index"] = self.numbers[:9], range(9)
        self.largest = int(self.numbers[:9].argmax())

    def assert_positions_are_used(self, operator):
        renamed = self.records.view([("score", "f4"), ("place", "i4")])
        with self.assertWarnsRegex(UserWarning, "x has the fields {score: float32.*they are used by position") as caught:
            self.assertEqual(fatlink.reduce(renamed, operator, init=(-9, -1))["place"], self.largest)
        self.assertEqual(caught.filename, __file__)

    def test_with_other_names_are_used_by_position(self):
        self.assert_positions_are_used("argmax")
        self.assert_positions_are_used(self.SOURCE)

    def test_with_fields_of_other_types_or_in_another_order(self):
        others = ([("index", "i4"), ("value", "f4")], [("index", "f4"), ("value", "i4")], [("place", "f4"), ("value", "i4")],
                  [("value", "f4"), ("index", "u4")], [("value", "f8")])
        for dtype in others:
            self.assert_error(fatlink.UsageTypeError, fatlink.reduce, self.records.view(dtype), "argmax", init=b"\0" * 8,
                              says=f"argmax takes {{value: float32, index: int32}}, but x is an array of {{{dtype[0][0]}: ")
        for dtype in others:
            self.assert_error(fatlink.UsageTypeError, fatlink.reduce, self.records.view(dtype), self.SOURCE, init=b"\0" * 8,
                              code="wrong-operator", says=("x has the fields {", "but the struct of the CUDA source has others, at "),
                              hint="with the fields of the dtype")

    def test_in_a_file(self):
        path = self.folder / "best.cu"
        path.write_text(self.SOURCE)
        self.assertEqual(fatlink.reduce(self.records, path, init=(-9, -1))["index"], self.largest)
        self.assert_error(fatlink.UsageTypeError, fatlink.reduce, self.records.view([("index", "i4"), ("value", "f4")]), path,
                          init=b"\0" * 8, says=f"but the struct of {path} has others, at index")

    def test_with_structs_and_arrays_inside(self):
        source = ("struct point { float x, y; };\nstruct part { point at; short ids[2]; bool used; };\n"
                  "FATLINK_KEEP(part, p) { return p.at.y > 0 && p.ids[1] == 7 && p.used; }")
        inner = [("x", "f4"), ("y", "f4")]
        parts = numpy.zeros(3, numpy.dtype([("at", inner), ("ids", "i2", 2), ("used", "?")], align=True))
        parts["at"]["y"], parts["ids"][:, 1], parts["used"] = 1, (7, 0, 7), (True, True, False)
        self.assertEqual(fatlink.select(parts, source).tobytes(), parts[:1].tobytes())
        other = numpy.zeros(3, numpy.dtype([("at", inner[::-1]), ("ids", "i2", 2), ("used", "?")], align=True))
        self.assert_error(fatlink.UsageTypeError, fatlink.select, other, source, says="has others, at at.y")

    def test_of_results(self):
        pairs = numpy.ones(3, [("v", "f4"), ("i", "i4")])
        out = numpy.zeros(3, [("i", "i4"), ("v", "f4")])
        fatlink.map(pairs, op=self.SWAP, out=out)
        self.assertEqual(out.tolist(), [(1, 1.0)] * 3)
        for wrong in (None, pairs.copy()):
            self.assert_error(fatlink.UsageTypeError, fatlink.map, pairs, op=self.SWAP, out=wrong,
                              says="out has the fields {v: float32 at 0, i: int32 at 4}, but the struct of", hint="pass out=")

    def test_without_stated_types_are_not_compared(self):
        source = 'extern "C" __device__ bool keep(fatlink_element x, void const*) { return x.words[0] != 0; }'
        self.assert_error(fatlink.UsageError, fatlink.select, self.records, source, says="is not known", hint="FATLINK_ELEMENT")

    def test_whose_source_does_not_compile(self):
        error = self.assert_error(fatlink.CompileError, fatlink.reduce, self.records, self.SOURCE.replace("? b", "? c"),
                                  init=(0, 0), says="operator.cu:2")
        self.assertNotIn("fatlink_fields", error.log)

    def test_take_initial_values_by_field(self):
        swapped = numpy.zeros((), [("index", "i4"), ("value", "f4")])
        swapped["index"], swapped["value"] = 3, 99
        for operator in ("argmax", self.SOURCE):
            for init in ((99, 3), [99.0, 3], {"index": 3, "value": 99}, swapped[()], swapped):
                self.assertEqual(fatlink.reduce(self.records, operator, init=init).tolist(), (99.0, 3))
            for init, says in (((1,), "it has 1 fields, not 2"), ({"value": 1, "place": 2}, "'index'"), ((1, "z"), "'z'")):
                self.assert_error(fatlink.UsageTypeError, fatlink.reduce, self.records, operator, init=init,
                                  says=("init is", "expected", says))

    def test_of_python_objects(self):
        for dtype in ([("o", "O")], [("a", "i4"), ("o", [("p", "O")])]):
            objects = numpy.zeros(4, dtype)
            for call in (lambda: fatlink.sort(objects, self.SOURCE), lambda: fatlink.select(objects, "score_above"),
                         lambda: fatlink.map(self.numbers, op="scale_add", state=objects)):
                self.assert_error(fatlink.UsageTypeError, call, says="whose fields are Python objects", hint="numbers")


class Dtypes(OperatorCase):
    def test_of_operators_that_make_another_type(self):
        for dtype in ("float64", numpy.int32, numpy.dtype("int16")):
            self.assert_error(fatlink.UsageTypeError, fatlink.map, self.numbers, op="square", dtype=dtype, says="dtype is",
                              hint="leave dtype= out")
        self.assert_equal_arrays(fatlink.map(self.numbers, op="square", dtype="float32"), self.numbers ** 2)
        self.assert_error(fatlink.UsageTypeError, fatlink.map, self.numbers, op="FATLINK_MAP1(float, float, x) { return x; }",
                          dtype="int32", says="dtype is int32, but the CUDA source makes float32")

    def test_that_are_no_types_of_numbers(self):
        for dtype in ("number", 3, numpy.dtype("S4"), ">f4", object, ["x"]):
            for call in (lambda: fatlink.map(self.numbers, op="square", dtype=dtype), lambda: fatlink.reduce(self.numbers, dtype=dtype),
                         lambda: fatlink.scan(self.numbers, dtype=dtype), lambda: fatlink.operators("reduce", dtype)):
                self.assert_error(fatlink.UsageTypeError, call, says=("dtype is", "not a type of numbers"), hint="float32")

    def test_are_what_numpy_takes(self):
        from fatlink._elements import element_type
        for dtype in (float, int, "f8", "<i4", "double", numpy.float64, numpy.dtype("i2"), "u8", "?", bool, complex, "half"):
            self.assertEqual(element_type(dtype).name, numpy.dtype(dtype).name)
        self.assertEqual(fatlink.reduce(self.numbers, dtype=float).dtype, numpy.float64)
        self.assertEqual(fatlink.scan(self.numbers, dtype="f8").dtype, numpy.float64)
        self.assert_equal_arrays(fatlink.map(self.numbers, op="square", dtype="f4"), self.numbers ** 2)
        self.assertIn("argmax", fatlink.operators("reduce", [("value", "f4"), ("index", "i4")]))
        self.assertEqual(fatlink.operators("sort", bool), fatlink.operators("sort", "?"))


class Files(OperatorCase):
    def test_of_a_fatbin(self):
        for path in (BUILD / "share" / "fatlink" / "max_float.fatbin", str(BUILD / "share" / "fatlink" / "max_float.fatbin")):
            self.assertEqual(fatlink.reduce(self.numbers, path, init=-9), 8)

    def test_of_a_source(self):
        path = self.folder / "sum.cu"
        (self.folder / "plus.cuh").write_text("__device__ float plus(float a, float b) { return a + b; }")
        path.write_text('#include "plus.cuh"\nFATLINK_COMBINE(float, a, b) { return plus(a, b); }\n')
        self.assertEqual(fatlink.reduce(self.numbers, path, init=0), self.numbers.sum())

    def test_that_are_replaced_take_effect_at_once(self):
        source, fatbin = self.folder / "op.cu", self.folder / "op.fatbin"
        for name, expected in (("add", self.numbers.sum()), ("max", 8)):
            source.write_text("FATLINK_COMBINE(float, a, b) { return %s; }" % ("a + b" if name == "add" else "fmaxf(a, b)"))
            fatbin.write_bytes((BUILD / "share" / "fatlink" / f"{name}_float.fatbin").read_bytes())
            for path in (source, str(source), fatbin, str(fatbin)):
                self.assertEqual(fatlink.reduce(self.numbers, path, init=0), expected)

    def test_that_are_missing(self):
        for name in ("no.cu", "no.fatbin"):
            self.assert_error(fatlink.FileError, fatlink.reduce, self.numbers, self.folder / name, init=0, says=name)

    def test_whose_source_is_refused(self):
        """The error is that of the compile, not one of reading the file."""
        from fatlink import _operators

        path = self.folder / "sum.cu"
        path.write_text("FATLINK_COMBINE(float, a, b) { return a + b; }")
        refusal = fatlink.FileError("the headers are missing", code="not-installed", hint="install them")
        with mock.patch.object(_operators, "compile", side_effect=refusal):
            self.assert_error(fatlink.FileError, fatlink.reduce, self.numbers, path, init=0, says="the headers", code="not-installed",
                              hint="install them")

    def test_in_memory(self):
        self.assertEqual(fatlink.reduce(self.numbers, fatlink.Input.find("max_float"), init=-9), 8)

    def test_of_something_else(self):
        for op in (3, None, [1]):
            self.assert_error(fatlink.UsageTypeError, fatlink.reduce, self.numbers, op, says="op is", hint="CUDA source")


class Sources(OperatorCase):
    def setUp(self):
        super().setUp()

    def test_reduce(self):
        self.assertEqual(fatlink.reduce(self.numbers, SUM, init=0), self.numbers.sum())

    def test_of_structs(self):
        records = numpy.zeros(9, [("value", "f4"), ("index", "i4")])
        records["value"], records["index"] = self.numbers[:9], range(9)
        source = "struct best { float value; int index; };\nFATLINK_COMBINE(best, a, b) { return b.value > a.value ? b : a; }"
        for init in (records[0], records[0].tobytes()):
            self.assertEqual(fatlink.reduce(records, source, init=init)["index"], self.numbers[:9].argmax())

    def test_with_two_hooks(self):
        source = ("FATLINK_LOAD(int, float, x) { return x > 0; }\nFATLINK_COMBINE(int, a, b) { return a + b; }")
        self.assertEqual(fatlink.transform_reduce(self.numbers, source, init=0), (self.numbers > 0).sum())
        source = source.replace("int", "long long")  # of another size than the elements
        self.assertEqual(fatlink.transform_reduce(self.numbers, source, init=0), (self.numbers > 0).sum())
        self.assert_error(fatlink.UsageError, fatlink.transform_reduce, self.numbers, source, says="the identity of")
        self.assert_error(fatlink.UsageError, fatlink.transform_reduce, self.numbers, "add_float",
                          says="operator add_float is for reduce, segmented_reduce, scan, exclusive_scan, reduce_by_key and scan_by_key, not for transform_reduce")
        self.assert_error(fatlink.CompileError, fatlink.transform_reduce, self.numbers, source.replace("+", "*+*"), init=0,
                          says="operator.cu:2")
        source = "FATLINK_KEEP(float, x) { return x > 0; }\nFATLINK_STORE(short, float, x) { return short(x); }"
        self.assert_equal_arrays(fatlink.transform_select(self.numbers, source),
                                 self.numbers[self.numbers > 0].astype(numpy.int16))

    def test_of_another_type(self):
        self.assert_error(fatlink.UsageTypeError, fatlink.reduce, self.numbers, SUM.replace("float", "int"), init=0,
                          says="the CUDA source takes int32")

    def test_whose_warnings_reach_the_caller_once(self):
        source = "FATLINK_MAP1(float, float, x) { if (x > 4711) return x; }"
        with self.assertWarnsRegex(fatlink.CompilerWarning, 'operator.cu:1: warning .*missing return statement') as caught:
            fatlink.map(self.numbers, op=source)
        self.assertEqual(caught.filename, __file__)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fatlink.map(self.numbers, op=source, mode="ptx")
            fatlink.map(self.numbers.astype(numpy.uint16), op="abs")  # of a text that fatlink writes
        path = self.folder / "warned.cu"
        path.write_text("#include <cuda_fp16.h>\nstruct pair { float v; int i; };\nFATLINK_KEEP(pair, p) { int unused; return p.v > 0; }")
        records = numpy.zeros(3, [("v", "f4"), ("i", "i4")])
        with self.assertWarnsRegex(fatlink.CompilerWarning, "warned.cu:3: warning .*unused"):
            fatlink.select(records, path)
        with self.assertWarnsRegex(fatlink.CompilerWarning, "half.cu:1: warning .*missing return"):
            code = fatlink.compile(source, contract="map1", name="half.cu")
        self.assertIn("missing return", code.warnings)

    def test_that_do_not_compile(self):
        error = self.assert_error(fatlink.CompileError, fatlink.reduce, self.numbers, SUM.replace("a +", "c +"), init=0,
                                  says='operator.cu:1')
        self.assertIn("identifier", error.log)

    def test_of_another_size(self):
        path = self.folder / "sum.cu"
        path.write_text(SUM.replace("float", "double"))
        for operator, name in ((path.read_text(), "the CUDA source"), (path, str(path)), (str(path), str(path))):
            self.assert_error(fatlink.UsageTypeError, fatlink.reduce, self.numbers, operator, init=0, code="wrong-operator",
                              says=f"{name} takes float64, but x is an array of float32", hint="write it for float, or convert x to float64")
        self.assert_error(fatlink.UsageTypeError, fatlink.reduce, self.numbers, Structs.SOURCE, init=0,
                          says="the CUDA source takes structs of 8 bytes, but x is an array of float32", hint="or pass structs of 8 bytes")
        fatbin = BUILD / "share" / "fatlink" / "add_double.fatbin"
        for operator in (fatbin, fatlink.Input.read(fatbin)):
            self.assert_error(fatlink.UsageTypeError, fatlink.reduce, self.numbers, operator, init=0,
                              says="add_double.fatbin takes float64, but x is an array of float32", hint="convert x to float64")

    def test_of_another_algorithm(self):
        self.assert_error(fatlink.UsageError, fatlink.reduce, self.numbers, "FATLINK_LESS(float, a, b) { return a < b; }", init=0,
                          says="the CUDA source, which defines FATLINK_LESS, is for sort, sort_pairs, segmented_sort, merge and searchsorted, not for reduce",
                          hint="FATLINK_COMBINE(type, a, b)")

    def assert_families_compile(self, only=None):
        """For bfloat16 and half; `only` are the names of families to compile."""
        from fatlink._elements import number_type
        from fatlink._operators import _EXPRESSIONS, contract_for, source_of
        for base, names in _EXPRESSIONS.items():
            for name in names:
                if only and name not in only:
                    continue
                element = number_type("bfloat16" if name in ("add", "abs_max", "nonzero") else "float16")
                with self.subTest(base=base, name=name):
                    contract = contract_for(base, element.bytes)
                    self.assertEqual(fatlink.compile(source_of(name, base, element), contract=contract).form, "fatbin")

    def test_families_compile_for_bfloat16_and_half(self):
        self.assert_families_compile(only=("add", "abs_max", "less", "nonzero", "square", "multiply_add"))

    @long_test  # the test above has a family of each kind
    def test_all_families_compile_for_bfloat16_and_half(self):
        self.assert_families_compile()


class KeysOfFunctions(PythonCase):
    """Functions with equal keys share a compiled operator."""

    def keys(self, *functions):
        from fatlink._operators import key_of
        keys = [key_of(function) for function in functions]
        return len({hash(key) for key in keys}), len(set(keys))

    def assert_changes(self, source, *values):
        """A function has another key after each change of the global K, and the first one again after the changes."""
        from fatlink._operators import key_of
        function = self.define(source, K=values[0])
        keys = []
        for value in (*values, values[0]):
            function.__globals__["K"] = value
            keys.append(key_of(function))
        self.assertEqual(len(set(keys)), len(values), (source, values))
        self.assertEqual(keys[0], keys[-1])

    def define(self, source, **names):
        exec(compile(source, "source", "exec"), names)
        return names["function"]

    def test_are_equal_for_equal_functions(self):
        source = "import math\nK = 2\nfunction = lambda v: math.floor(v) * K"
        self.assertEqual(self.keys(self.define(source), self.define(source)), (1, 1))

    def test_differ_by_globals(self):
        for first, second in (("K = 2", "K = 3"), ("K = 1", "K = True"), ("K = 1", "K = 1.0"), ("K = 2", "pass"),
                              ("def K(): return 2", "def K(): return 3"), ("from math import e as K", "from math import pi as K")):
            source = "{}\nfunction = lambda v: v * K"
            self.assertEqual(self.keys(self.define(source.format(first)), self.define(source.format(second)))[1], 2)

    def test_differ_by_the_type_and_bits_of_values(self):
        nans = struct.unpack("2d", bytes.fromhex("000000000000f87f010000000000f87f"))
        kinds = enum.Enum("kinds", {"A": 1, "B": 1.5})
        whole, real = type("whole", (int,), {}), type("real", (float,), {})
        for values in ((0.0, -0.0), (0, 0.0, False, 0j), (1, 1.0, True, whole(1), real(1.0)), (complex(0, 0.0), complex(0, -0.0)), nans,
                       ((1, 2), (1.0, 2), (1, 2.0), (True, 2)), (((0.0,), 1), ((-0.0,), 1)), ([0.0], [-0.0], (0.0,)),
                       ("1", b"1", 1), ({"a": 0.0}, {"a": -0.0}), (whole(1), whole(2)), (kinds.A, kinds.B)):
            self.assert_changes("function = lambda v: v * K", *values)

    def test_differ_by_arrays_and_scalars_of_numpy(self):
        if numpy is None:
            self.skipTest("NumPy is not installed for this Python")
        f4, values = numpy.float32, numpy.array([1, 2, 3, 4], numpy.float32)
        for values in ((f4(0), f4(-0.0), numpy.float64(0), 0.0), (values, -values, values.view("i4"), values.reshape(2, 2), values[::2]),
                       ((values, 1), (values + 1, 1)), (numpy.zeros(2, "f4,i4"), numpy.zeros(2, "i4,f4")),
                       (numpy.datetime64(1, "s"), numpy.datetime64(1, "m"))):
            self.assert_changes("function = lambda v: v * K", *values)
            self.assert_changes("def helper(v): return v * K\nfunction = lambda v: helper(v)", *values)

    def test_see_changes_within_an_array(self):
        if numpy is None:
            self.skipTest("NumPy is not installed for this Python")
        from fatlink._operators import key_of
        table = numpy.zeros(3, numpy.float32)
        functions = [lambda v: v * table[0], lambda v, k=table: v * k[0], self.define("function = lambda v: v * K[0]", K=table)]
        keys = [key_of(function) for function in functions]
        table[1] = 1
        for function, key in zip(functions, keys):
            self.assertNotEqual(key_of(function), key)

    def test_refuse_large_arrays(self):
        if numpy is None:
            self.skipTest("NumPy is not installed for this Python")
        from fatlink._operators import key_of
        for source, extent in (("K[0]", 16385), ("K[0] * L[0]", 8193)):
            arrays = {"K": numpy.zeros(extent, "f4"), "L": numpy.zeros(extent, "f4")}
            function = self.define(f"function = lambda v: v * {source}", **arrays)
            self.assert_error(fatlink.UsageError, key_of, function, says=("arrays of more than 65536 bytes", source[-4]), hint="y= or z=")
        key_of(self.define("function = lambda v: v.K * L[0]", **arrays))  # K is no global in it

    def test_refuse_values_that_are_nested_too_deeply(self):
        from fatlink._operators import key_of
        value = ()
        for _ in range(100000):
            value = (value,)
        self.assert_error(fatlink.UsageError, key_of, self.define("function = lambda v: K", K=value), says="nested too deeply")

    def test_tell_apart_objects_that_compare_equal(self):
        class Equal:
            def __eq__(self, other):
                return True

            def __hash__(self):
                return 1

        self.assert_changes("function = lambda v: v * K", Equal(), Equal())

    def test_see_the_address_of_a_device_array(self):
        class DeviceArray:
            address = 4096

            @property
            def __cuda_array_interface__(self):
                return {"shape": (3,), "typestr": "<f4", "data": (self.address, False), "version": 3}

        from fatlink._operators import key_of
        array = DeviceArray()
        function = self.define("function = lambda v: v * K[0]", K=array)
        key = key_of(function)
        self.assertEqual(key_of(function), key)
        array.address += 4096
        self.assertNotEqual(key_of(function), key)

    def test_differ_by_options_of_helpers(self):
        source = ("class helper:\n  py_func = lambda v: v\n  targetoptions = {'fastmath': %s}\nfunction = lambda v: helper(v)")
        self.assertEqual(self.keys(self.define(source % True), self.define(source % False))[1], 2)

    def test_of_operators_that_numba_decorated_see_their_globals(self):
        from fatlink._operators import key_of
        namespace = {"K": 2}
        exec("class function: py_func = lambda v: v * K", namespace)
        key = key_of(namespace["function"])
        namespace["K"] = 3
        self.assertNotEqual(key_of(namespace["function"]), key)

    def test_survive_objects_whose_attributes_fail(self):
        class Failing:
            def __getattr__(self, name):
                raise RuntimeError(name)

        self.assert_changes("function = lambda v: v * K", Failing(), 2)

    def test_differ_by_globals_of_helpers_and_inner_functions(self):
        for source in ("K = {}\ndef helper(v): return v * K\ndef function(v): return helper(v)",
                       "K = {}\nfunction = lambda v: (lambda w: w * K)(v)",
                       "import types\nm = types.ModuleType('m')\nm.K = {}\nfunction = lambda v: v * m.K",
                       "K = {}\nclass numba_function: py_func = lambda v: v * K\nfunction = lambda v: numba_function(v)"):
            self.assertEqual(self.keys(self.define(source.format(2)), self.define(source.format(3)))[1], 2, source)

    def test_differ_by_defaults_and_captured_variables(self):
        for source in ("function = lambda v, k={}: v * k", "def function(v, *, k={}): return v * k",
                       "def make(k): return lambda v: v * k\nfunction = make({})"):
            self.assertEqual(self.keys(self.define(source.format(2)), self.define(source.format(3)))[1], 2, source)

    def test_of_recursive_functions(self):
        source = "def function(v): return function(v - 1) if v else {}"
        self.assertEqual(self.keys(self.define(source.format(2)), self.define(source.format(3)))[1], 2)
        self.assertEqual(self.keys(self.define(source.format(2)), self.define(source.format(2))), (1, 1))

    def test_of_functions_of_one_code_that_call_each_other(self):
        source = ("def make(inner, k):\n  return lambda v: inner(v) * k\n"
                  "function = make(make(abs, {}), 1)")
        self.assertEqual(self.keys(self.define(source.format(2)), self.define(source.format(3)))[1], 2)

    def test_of_many_shared_helpers(self):
        lines = ["def f0(v): return v"]
        for depth in range(1, 60):
            lines += [f"def g{depth}(v): return f{depth - 1}(v)", f"def f{depth}(v): return f{depth - 1}(v) + g{depth}(v)"]
        source = "\n".join(lines) + "\nfunction = f59"
        self.assertEqual(self.keys(self.define(source), self.define(source)), (1, 1))


class PythonFunctionsWithoutNumba(OperatorCase):
    def test_name_the_package(self):
        if HAS_NUMBA:
            self.skipTest("Numba is installed for this Python")
        self.assert_error(fatlink.UnavailableError, fatlink.reduce, self.numbers, lambda a, b: a + b, init=0, says="needs Numba",
                          code="no-numba", hint="numba-cuda")

    def test_name_what_installs_a_missing_library_of_cuda(self):
        """As numba-cuda fails where no toolkit is installed."""
        class DynamicLibNotFoundError(RuntimeError):
            pass

        numba = types.ModuleType("numba")
        numba.types = mock.MagicMock()
        numba.cuda = mock.MagicMock()
        numba.cuda.compile.side_effect = DynamicLibNotFoundError('Failure finding "libnvvm.so.4"')
        with mock.patch.dict(sys.modules, numba=numba):
            self.assert_error(fatlink.UnavailableError, fatlink.reduce, self.numbers, lambda a, b: a + b + 3, init=0,
                              says='finding "libnvvm.so.4"', code="no-numba", hint="numba-cuda[cu13]")

    def test_of_the_standard_library_are_families(self):
        self.assertEqual(fatlink.reduce(self.numbers, operator.add), self.numbers.sum())
        self.assertEqual(fatlink.reduce(self.numbers, numpy.add), fatlink.reduce(self.numbers, "add"))
        self.assertEqual(fatlink.reduce(self.numbers, numpy.maximum), self.numbers.max())
        self.assert_equal_arrays(fatlink.map(self.numbers, op=numpy.negative), -self.numbers)

    def test_that_divide_integers_to_floats_are_refused(self):
        whole = numpy.array([7, -7, 1], numpy.int32)
        for function in (numpy.divide, operator.truediv):
            self.assert_error(fatlink.UsageTypeError, fatlink.map, whole, whole, op=function, says="truncates", hint="floats")
            halves = whole.astype(numpy.float32)
            self.assert_equal_arrays(fatlink.map(halves, halves, op=function), halves / halves)
        self.assertEqual(fatlink.reduce(self.numbers, max), 8)


@unittest.skipUnless(HAS_NUMBA, "Numba (numba-cuda) is not installed for this Python")
class PythonFunctions(OperatorCase):
    def setUp(self):
        super().setUp()
        self.enterContext(warnings.catch_warnings()) if hasattr(self, "enterContext") else None
        warnings.simplefilter("ignore")

    def test_reduce_in_both_modes(self):
        for mode in ("lto", "ptx"):
            self.assertEqual(fatlink.reduce(self.numbers, lambda a, b: a + b, init=0, mode=mode), self.numbers.sum())

    def test_are_inlined(self):
        from fatlink import _kept_calls
        fatlink.reduce(self.numbers, lambda a, b: a + b - 0, init=0)
        image = list(_kept_calls._bound.values())[-1].prepared.image
        self.assertNotIn(b"fatlink_python_operator", bytes(image))

    def test_of_every_hook(self):
        positive = self.numbers > 0
        self.assert_equal_arrays(fatlink.select(self.numbers, lambda x: x > 0), self.numbers[positive])
        self.assert_equal_arrays(fatlink.sort(self.numbers, lambda a, b: a > b), numpy.sort(self.numbers)[::-1])
        counts = fatlink.histogram(self.numbers, lambda x: 1 if x > 0 else 0, bins=2)
        self.assertEqual(counts.tolist(), [(~positive).sum(), positive.sum()])

    def test_map_to_the_type_of_the_arrays_or_another_kind(self):
        self.assert_equal_arrays(fatlink.map(self.numbers, op=lambda x: 2.0 * x), self.numbers * 2)
        self.assert_equal_arrays(fatlink.map(self.numbers, op=lambda x: x > 0), self.numbers > 0)
        self.assert_equal_arrays(fatlink.map(self.numbers, op=lambda x: int(x), dtype="int16"), self.numbers.astype(numpy.int16))
        whole = self.numbers.astype(numpy.int32)
        self.assert_equal_arrays(fatlink.map(whole, whole, op=lambda a, b: a + b), whole * 2)

    def test_map_of_several_types_holds_every_result(self):
        for first, second, expected in (("int64", "float16", "float64"), ("uint8", "int8", "int64"), ("int8", "uint8", "int64"),
                                        ("float32", "float64", "float64"), ("int8", "int8", "int8")):
            a, b = numpy.array([100], first), numpy.array([27], second)
            self.assert_equal_arrays(fatlink.map(a, b, op=lambda a, b: a + b), numpy.array([127], expected))
        wide = fatlink.map(numpy.array([70000]), numpy.array([1], numpy.float16), op=lambda a, b: a + b)
        self.assertEqual(wide.tolist(), [70001])
        self.assertEqual(fatlink.map(numpy.array([200], numpy.uint8), numpy.array([-1], numpy.int8), op=lambda a, b: a + b)[0], 199)

    def test_map_of_functions_that_return_no_number(self):
        self.assert_error(fatlink.UsageError, fatlink.map, self.numbers, op=lambda x: (x, x), says="the Python function returns",
                          hint="dtype=")

    def test_of_halves(self):
        halves = self.numbers.astype(numpy.float16)
        self.assertEqual(fatlink.reduce(halves, lambda a, b: a + b, init=0), self.numbers.sum())

    def test_that_numba_does_not_compile(self):
        def function(a, b):
            return a + b + undefined  # noqa: F821, which the test is about
        error = self.assert_error(fatlink.CompileError, fatlink.reduce, self.numbers, function, init=0,
                                  says="Numba cannot compile", code="numba-error")
        self.assertIn("undefined", error.log)

    def test_that_use_a_global_which_changes(self):
        for factor in (2, 3):
            globals()["FACTOR"] = factor
            self.assert_equal_arrays(fatlink.map(self.numbers, op=lambda v: v * FACTOR), self.numbers * factor)  # noqa: F821

    def test_that_use_an_array_which_changes_or_is_replaced(self):
        x, table = self.numbers, numpy.array([1, 2], numpy.float32)
        nested = (table, 1)

        def function(v):
            return v * table[1] * nested[0][0]

        self.assert_equal_arrays(fatlink.map(x, op=function), x * 2)
        table[1] = 10
        self.assert_equal_arrays(fatlink.map(x, op=function), x * 10)
        table = numpy.array([1, 5], numpy.float32)
        self.assert_equal_arrays(fatlink.map(x, op=function), x * 5)
        nested = (numpy.array([2], numpy.float32), 1)
        self.assert_equal_arrays(fatlink.map(x, op=function), x * 10)

    def test_that_use_a_zero_whose_sign_changes(self):
        x = numpy.array([1, 2], numpy.float32)
        for sign, expected in ((0.0, x), (-0.0, -x), (numpy.float32(0), x), (numpy.float32(-0.0), -x)):
            self.assert_equal_arrays(fatlink.map(x, op=lambda v: math.copysign(v, sign)), expected)  # noqa: B023

    def test_with_defaults(self):
        x = numpy.array([1, 2, 3], numpy.float32)
        for k in (2, 3):
            self.assert_equal_arrays(fatlink.map(x, op=lambda v, k=k: v * k), x * k)
        self.assert_equal_arrays(fatlink.map(x, op=lambda v, k=numpy.float32(0.5), t=(1, 2.0): v * k * t[1]), x)
        self.assertEqual(fatlink.reduce(x, lambda a, b, k=1: a + b * k, init=0), 6)
        self.assert_equal_arrays(fatlink.map(x, x, op=lambda a, b=7: a + b), x * 2)

    def test_with_another_number_of_parameters(self):
        self.assert_error(fatlink.UsageTypeError, fatlink.map, self.numbers, op=lambda a, b: a, hint="parameters",
                          says="the Python function <lambda> takes 2 arguments; the call passes 1")
        self.assert_error(fatlink.UsageTypeError, fatlink.reduce, self.numbers, lambda a: a, init=0, says="takes 1 argument; the call passes 2")
        self.assert_error(fatlink.UsageTypeError, fatlink.reduce, self.numbers, lambda a, b, c, d=1: a, init=0, says="takes 3 to 4 arguments")

    def test_that_call_helpers_whose_globals_change(self):
        """Numba compiles helpers for the GPU of the machine, which this test states."""
        import numba
        from numba import cuda
        module, x = types.ModuleType("helpers"), self.numbers
        gpu = mock.patch("numba.cuda.dispatcher.get_current_device", lambda: types.SimpleNamespace(compute_capability=(7, 5)))
        for decorate in (numba.njit, cuda.jit(device=True)):
            module.helper = helper = decorate(lambda v: v * inner_factor())  # noqa: F821
            outer = decorate(lambda v: helper(v))
            for function in (lambda v: helper(v), lambda v: outer(v), lambda v: module.helper(v)):
                for factor in (2, 3):
                    globals()["inner_factor"] = decorate(eval(f"lambda: {factor}"))
                    with gpu:
                        self.assert_equal_arrays(fatlink.map(x, op=function), x * factor)
            module.helper = helper = decorate(lambda v: v * FACTOR)  # noqa: F821
            for factor in (4, 5):
                globals()["FACTOR"] = factor
                with gpu:
                    self.assert_equal_arrays(fatlink.map(x, op=lambda v: outer(v)), x * factor)
                    self.assert_equal_arrays(fatlink.map(x, op=lambda v: module.helper(v)), x * factor)

    def test_of_structs(self):
        self.assert_error(fatlink.UsageTypeError, fatlink.reduce, numpy.zeros(4, [("a", "f4"), ("b", "f4")]), lambda a, b: a,
                          init=b"\0" * 8, says="a Python function takes numbers", hint="CUDA source")

    def test_as_load(self):
        x = self.numbers
        for mode in "lto", "ptx":
            self.assertEqual(fatlink.reduce(x, load=lambda x: x * x, mode=mode), (x * x).sum())
            self.assertEqual(fatlink.reduce(x, lambda a, b: a + b, load=lambda x: x * x, init=0, mode=mode), (x * x).sum())
        self.assert_equal_arrays(fatlink.scan(x, load=lambda x: x + 0.5), (x + numpy.float32(0.5)).cumsum(dtype=x.dtype))
        self.assert_equal_arrays(fatlink.select(x, lambda x: x > 3, load=lambda x: 2 * x), (2 * x)[2 * x > 3])
        self.assertEqual(list(fatlink.histogram(x, lambda x: 1 if x else 0, load=lambda x: x > 0, bins=2)), [(x <= 0).sum(), (x > 0).sum()])

    def test_as_load_to_other_types(self):
        x = numpy.arange(200, dtype=numpy.uint8)
        for call, expected in ((lambda: fatlink.reduce(x, load=lambda x: x * x), (x.astype(numpy.uint64) ** 2).sum()),
                               (lambda: fatlink.reduce(x, "max", load=lambda x: x > 100), numpy.bool_(True)),
                               (lambda: fatlink.reduce(x, load=lambda x: x > 100), numpy.int64(99)),
                               (lambda: fatlink.reduce(x, load=lambda x: x / 2), (x / 2).sum()),
                               (lambda: fatlink.reduce(x, "max", load=lambda x: x * 2, dtype="int16"), numpy.int16(398))):
            result = call()
            self.assertEqual((result, result.dtype), (expected, expected.dtype))

    def test_as_load_of_a_range(self):
        numbers = numpy.arange(1000)
        self.assertEqual(fatlink.reduce(range(1000), load=lambda i: i * i), (numbers ** 2).sum())
        self.assert_equal_arrays(fatlink.select(range(1000), lambda x: x % 7 == 0, load=lambda i: i * 3), (numbers * 3)[numbers * 3 % 7 == 0])
        self.assert_equal_arrays(fatlink.scan(range(1000), load=lambda i: 0.5 * i), (0.5 * numbers).cumsum())

    def test_as_load_with_another_number_of_parameters(self):
        self.assert_error(fatlink.UsageTypeError, fatlink.reduce, self.numbers, load=lambda a, b: a, says="the call passes 1")

    def test_with_two_hooks(self):
        self.assert_error(fatlink.UsageTypeError, fatlink.transform_reduce, self.numbers, lambda a, b: a, says="both hooks")

    def test_are_compiled_once(self):
        from fatlink._kept_calls import _bound
        counts = set()
        for _ in range(3):
            fatlink.reduce(self.numbers, lambda a, b: a + b + 0, init=0)
            counts.add(len(_bound))
        self.assertEqual(len(counts), 1)


if __name__ == "__main__":
    unittest.main()
