# SPDX-License-Identifier: Apache-2.0
"""Algorithms on runs of equal keys, and the numbers of results in an array of the caller (count=), on NumPy arrays and CPU
tensors, on the reference device."""
import importlib.util
import operator
import unittest

from device_arrays import OnlyDlpack
from python_case import NumpyCase, fatlink, numpy
from run_tests import long_test
from test_arrays import FrameworkCase

HAS_NUMBA = importlib.util.find_spec("numba") and importlib.util.find_spec("numba_cuda")
# bool has a test of its own.
NUMBERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
SIZES = (0, 1, 2, 31, 32, 33, 1023, 5000)  # the last one is above a tile of elements of 4 bytes
SAME_PRICE = "struct trade { float price; int id; };\nFATLINK_SAME_KEY(trade, a, b) { return a.price == b.price; }\n"
LAST = "FATLINK_COMBINE(int, a, b) { return b; }"
# Equal keys of two hooks: tens of numbers.
TENS = "FATLINK_SAME_KEY(int, a, b) { return a / 10 == b / 10; }"


def in_gpu_memory(array):
    """An array that states to be on a GPU; no test here uses its memory."""
    return OnlyDlpack(array, (2, 0))


def begins(keys):
    """The index of the first element of each run of equal keys."""
    return numpy.flatnonzero(numpy.append(True, keys[1:] != keys[:-1])[:len(keys)])


def sums(keys, values, add=None):
    """The sums, or results of another universal function, of each run."""
    return (add or numpy.add).reduceat(values, begins(keys), dtype=values.dtype) if len(keys) else values[:0]


class ByKeyCase(NumpyCase):
    def setUp(self):
        super().setUp()
        generator = numpy.random.default_rng(0)
        self.numbers = generator.integers(0, 3, 20_000)  # about a third of the runs have one element
        self.keys = self.numbers.astype(numpy.int32)
        self.values = generator.integers(-40, 40, 20_000).astype(numpy.float32)  # sums are exact

    def numbers_of(self, name):
        numbers = self.numbers.astype(name)
        return numbers + 1j * self.numbers[::-1] if name in COMPLEX else numbers

    def assert_pair(self, result, *expected):
        self.assertIsInstance(result, tuple)
        self.assertEqual(len(result), len(expected))
        for array, wanted in zip(result, expected):
            self.assert_equal_arrays(array, wanted)


class ReduceByKey(ByKeyCase):
    def assert_sums(self, keys, values, *arguments, expected=None, **options):
        expected = sums(keys, values) if expected is None else expected
        self.assert_pair(fatlink.reduce_by_key(keys, values, *arguments, **options), keys[begins(keys)], expected)

    def test_keys_of_every_type(self):
        for name in NUMBERS + COMPLEX:
            keys = self.numbers_of(name).astype(name)
            with self.subTest(type=name):
                self.assert_sums(keys[:5000], self.values[:5000])

    def test_values_of_every_type(self):
        for name in NUMBERS + COMPLEX:
            values = self.values.astype(numpy.int64).astype(name)
            with self.subTest(type=name):
                self.assert_sums(self.keys[:5000], values[:5000], dtype=name)
                self.assert_sums(self.keys[:5000], values[:5000], "max" if name in NUMBERS else "multiply", expected=sums(
                    self.keys[:5000], values[:5000], numpy.maximum if name in NUMBERS else numpy.multiply))

    def test_sizes(self):
        for count in SIZES:
            with self.subTest(count=count):
                self.assert_sums(self.keys[:count], self.values[:count])

    def test_several_tiles_of_elements_of_1_byte(self):
        """A tile has 16,384 of them."""
        for count in 16_384, 16_385, 20_000:
            with self.subTest(count=count):
                self.assert_sums(self.keys[:count], self.numbers[:count].astype(numpy.uint8), dtype="uint8")

    def test_sorted_keys_one_run_and_runs_of_one_element(self):
        for keys in (numpy.sort(self.keys), numpy.zeros(20_000, numpy.int32), numpy.arange(20_000, dtype=numpy.int32)):
            self.assert_sums(keys, self.values)

    def test_runs_that_end_at_the_end_of_a_tile(self):
        for length in 4095, 4096, 4097:
            keys = numpy.repeat(numpy.arange(3, dtype=numpy.int32), length)
            with self.subTest(length=length):
                self.assert_sums(keys, self.values[:len(keys)])

    def test_slices_are_reduced_like_copies(self):
        for name in "uint8", "float16", "float64":
            keys, values = self.numbers_of(name)[1:], self.values.astype(name)[3:]
            with self.subTest(type=name):
                self.assert_sums(keys[:9999], values[:9999], dtype=name)

    def test_values_are_combined_in_order(self):
        keys = self.keys[:5000]
        ends = numpy.append(begins(keys)[1:], len(keys)) - 1
        values = numpy.arange(5000, dtype=numpy.int32)
        for mode in "lto", "ptx":
            self.assert_sums(keys, values, LAST, expected=values[ends], mode=mode)

    def test_matrices_are_multiplied_in_order(self):
        fields = [(name, "u4") for name in "abcd"]
        matrices = numpy.random.default_rng(1).integers(0, 9, (300, 4)).astype(numpy.uint32)
        keys = numpy.repeat(numpy.arange(60, dtype=numpy.int64), 5)
        products = []
        for run in matrices.reshape(60, 5, 2, 2):
            product = run[0]
            for matrix in run[1:]:
                product = product @ matrix
            products.append(product.reshape(4))
        self.assert_sums(keys, matrices.view(fields).reshape(-1), "multiply_matrices",
                         expected=numpy.array(products, numpy.uint32).view(fields).reshape(-1))

    def test_structs_as_values(self):
        records = numpy.zeros(5000, [("value", "f4"), ("index", "i4")])
        records["value"], records["index"] = numpy.random.default_rng(1).permutation(5000), range(5000)
        keys = self.keys[:5000]
        best = [begin + records["value"][begin:end].argmax() for begin, end in zip(begins(keys), [*begins(keys)[1:], 5000])]
        self.assert_sums(keys, records, "argmax", expected=records[best])

    def test_structs_as_keys(self):
        trades = numpy.zeros(5000, [("price", "f4"), ("id", "i4")])
        trades["price"], trades["id"] = self.numbers[:5000], range(5000)
        first = begins(trades["price"])
        self.assert_pair(fatlink.reduce_by_key(trades, self.values[:5000], equal=SAME_PRICE), trades[first],
                         numpy.add.reduceat(self.values[:5000], first))

    def test_keys_of_any_size(self):
        for size in 3, 12, 40:
            source = f"struct name {{ unsigned char bytes[{size}]; }};\nFATLINK_SAME_KEY(name, a, b) {{ return a.bytes[1] == b.bytes[1]; }}\n"
            keys = numpy.zeros(5000, [("bytes", "u1", size)])
            keys["bytes"] = self.numbers[:5000, None] + numpy.arange(size)
            first = begins(self.numbers[:5000])
            with self.subTest(size=size):
                self.assert_pair(fatlink.reduce_by_key(keys, self.values[:5000], equal=source), keys[first],
                                 numpy.add.reduceat(self.values[:5000], first))

    def test_every_form_of_operators(self):
        keys, values = self.keys[:300], self.values[:300]
        file = self.folder / "tens.cu"
        file.write_text(TENS)
        compiled = fatlink.compile(TENS, contract="same_key", name="tens.cu")
        for equal in ("equal", "same", "same_int32", operator.eq, numpy.equal, "FATLINK_SAME_KEY(int, a, b) { return a == b; }"):
            with self.subTest(equal=equal):
                self.assert_sums(keys, values, equal=equal)
        first = begins(keys * 7 // 10)
        for equal in TENS, str(file), file, compiled:
            with self.subTest(equal=equal):
                self.assert_pair(fatlink.reduce_by_key(keys * 7, values, equal=equal), (keys * 7)[first], numpy.add.reduceat(values, first))
        for op in "add", "add_float", operator.add, numpy.add, "FATLINK_COMBINE(float, a, b) { return a + b; }":
            with self.subTest(op=op):
                self.assert_sums(keys, values, op)

    def test_an_operator_for_the_contract_of_the_library(self):
        compiled = fatlink.compile("FATLINK_COMBINE(float, a, b) { return a + b; }", contract="by_key_4", name="add.cu")
        self.assert_sums(self.keys[:300], self.values[:300], compiled)

    def test_keys_that_are_never_equal_to_themselves(self):
        keys = numpy.array([numpy.nan, numpy.nan, 1, -0.0, 0.0], numpy.float32)
        self.assert_pair(fatlink.reduce_by_key(keys, numpy.ones(5, numpy.float32)), numpy.array([numpy.nan, numpy.nan, 1, -0.0], numpy.float32),
                         numpy.array([1, 1, 1, 2], numpy.float32))

    def test_keys_may_be_the_values(self):
        self.assert_sums(self.keys[:5000], self.keys[:5000], dtype="int32")

    def test_narrow_integers_are_added_in_64_bits(self):
        for name in "int8", "uint8", "int32", "bool":
            values = self.numbers[:5000].astype(name)
            expected = values.astype(numpy.uint64 if name[0] == "u" else numpy.int64)
            with self.subTest(type=name):
                self.assert_sums(self.keys[:5000], values, expected=sums(self.keys[:5000], expected))
                self.assert_equal_arrays(fatlink.scan_by_key(self.keys[:1], values[:1]), expected[:1])

    def test_the_type_of_out_is_that_of_sums(self):
        out = numpy.zeros(5000, numpy.int16)
        values = self.values[:5000].astype(numpy.int8)
        _, result = fatlink.reduce_by_key(self.keys[:5000], values, out=out)
        self.assertIs(result.base, out)
        self.assert_equal_arrays(result, sums(self.keys[:5000], values.astype(numpy.int16)))

    def test_values_of_another_type_are_converted(self):
        self.assert_sums(self.keys[:5000], self.values[:5000], dtype="float64",
                         expected=sums(self.keys[:5000], self.values[:5000].astype(numpy.float64)))
        records = numpy.zeros(4, [("value", "f4"), ("index", "i4")])
        self.assert_error(fatlink.UsageTypeError, fatlink.reduce_by_key, self.keys[:4], records, dtype="float32", says="does not convert")

    def test_bool_is_kept(self):
        keys, values = self.numbers[:5000] > 0, self.values[:5000] > 0
        self.assert_sums(self.keys[:5000], values, "max", expected=sums(self.keys[:5000], values, numpy.logical_or))
        self.assert_sums(keys, self.values[:5000])


class ScanByKey(ByKeyCase):
    def expected(self, keys, values):
        totals = values.cumsum(dtype=values.dtype)
        first = begins(keys)
        if not len(keys):
            return totals
        before = numpy.repeat(totals[first] - values[first], numpy.diff(first, append=len(keys)))
        return totals - before

    def test_values_of_every_type(self):
        for name in NUMBERS + COMPLEX:
            values = self.numbers[:1500].astype(name)  # float16 adds them exactly
            with self.subTest(type=name):
                self.assert_equal_arrays(fatlink.scan_by_key(self.keys[:1500], values, dtype=name), self.expected(self.keys[:1500], values))

    def test_keys_of_every_type(self):
        for name in NUMBERS + COMPLEX + ("bool",):
            keys = self.numbers_of(name).astype(name)[:5000]
            with self.subTest(type=name):
                self.assert_equal_arrays(fatlink.scan_by_key(keys, self.values[:5000]), self.expected(keys, self.values[:5000]))

    def test_sizes(self):
        for count in (*SIZES, 20_000):
            keys, values = self.keys[:count], self.values[:count]
            with self.subTest(count=count):
                self.assert_equal_arrays(fatlink.scan_by_key(keys, values), self.expected(keys, values))

    def test_one_run_is_a_scan(self):
        self.assert_equal_arrays(fatlink.scan_by_key(numpy.zeros(20_000, numpy.uint8), self.values), fatlink.scan(self.values))

    def test_values_are_combined_in_order(self):
        values = numpy.arange(5000, dtype=numpy.int32)
        self.assert_equal_arrays(fatlink.scan_by_key(self.keys[:5000], values, LAST), values)
        first = numpy.repeat(begins(self.keys[:5000]), numpy.diff(begins(self.keys[:5000]), append=5000))
        self.assert_equal_arrays(fatlink.scan_by_key(self.keys[:5000], values, "FATLINK_COMBINE(int, a, b) { return a; }"),
                                 first.astype(numpy.int32))

    def test_structs_as_values_and_keys(self):
        trades = numpy.zeros(300, [("price", "f4"), ("id", "i4")])
        trades["price"], trades["id"] = self.numbers[:300], range(300)
        later = "struct trade { float price; int id; };\nFATLINK_COMBINE(trade, a, b) { return {a.price + b.price, b.id}; }\n"
        expected = trades.copy()
        expected["price"] = self.expected(trades["price"], trades["price"])
        self.assert_equal_arrays(fatlink.scan_by_key(trades, trades, later, equal=SAME_PRICE), expected)

    def test_in_place(self):
        expected = self.expected(self.keys, self.values)
        self.assertIs(fatlink.scan_by_key(self.keys, self.values, out=self.values), self.values)
        self.assert_equal_arrays(self.values, expected)

    def test_values_are_not_changed(self):
        values = self.numbers.astype(numpy.int8)
        fatlink.scan_by_key(self.keys, values)
        self.assert_equal_arrays(values, self.numbers.astype(numpy.int8))

    def test_out_and_keys_do_not_overlap(self):
        self.assert_error(fatlink.UsageError, fatlink.scan_by_key, self.keys, self.keys, "max", out=self.keys, says="out overlaps keys")

    def test_out_of_another_shape_or_type(self):
        self.assert_error(fatlink.UsageError, fatlink.scan_by_key, self.keys, self.values, out=self.values[:5].copy(),
                          says="out has the shape (5,); the result has (20000,)")
        self.assert_error(fatlink.UsageTypeError, fatlink.scan_by_key, self.keys, self.values, out=self.keys.copy(),
                          says="out is an array of int32")


class OneSource(ByKeyCase):
    """CUDA source that defines the operator and compares the keys."""

    def test_of_the_operator_and_the_keys(self):
        self.need_links_and_compiles()
        keys, values = numpy.array([10, 11, 25, 21, 30], numpy.int32), numpy.array([1, 2, 3, 4, 5], numpy.int32)
        source = f"{LAST}\n{TENS}"
        folded = fatlink.reduce_by_key(keys, values, source)
        self.assertEqual([list(part) for part in folded], [[10, 25, 30], [2, 4, 5]])
        self.assertEqual(list(fatlink.scan_by_key(keys, values, source)), [1, 2, 3, 4, 5])
        file = self.folder / "both.cu"
        file.write_text(source)
        self.assertEqual([list(part) for part in fatlink.reduce_by_key(keys, values, file)], [[10, 25, 30], [2, 4, 5]])
        self.assert_error(fatlink.UsageTypeError, fatlink.reduce_by_key, keys.astype("f4"), values, source,
                          says="the CUDA source takes int32, but keys is an array of float32", code="wrong-operator")


class Loads(ByKeyCase):
    """`load`, an operator that computes the values."""

    def assert_calls(self, keys, x, load, expected, **options):
        """The calls with `load` are those on the array `expected`."""
        self.assert_pair(fatlink.reduce_by_key(keys, x, load=load, **options), keys[begins(keys)], sums(keys, expected))
        self.assert_equal_arrays(fatlink.scan_by_key(keys, x, load=load, **options), fatlink.scan_by_key(keys, expected))

    def test_of_every_size(self):
        for count in SIZES:
            with self.subTest(count=count):
                self.assert_calls(self.keys[:count], self.values[:count], "square", self.values[:count] ** 2)

    def test_with_other_operators_and_types(self):
        keys, numbers = self.keys[:3000], self.numbers[:3000].astype(numpy.int16)
        self.assert_calls(keys, numbers, "square", numbers.astype(numpy.int64) ** 2)
        self.assert_calls(keys, numbers, "negate", -numbers.astype(numpy.float64), dtype="float64")
        self.assert_calls(keys, range(3000), "indices", numpy.arange(3000))
        self.assert_calls(keys, self.values[:3000], "FATLINK_LOAD_AT(float, float, in, index) { return in[2999 - index]; }", self.values[2999::-1].copy())
        self.assert_pair(fatlink.reduce_by_key(keys, numbers, "max", load="negate"), keys[begins(keys)], sums(keys, -numbers, numpy.maximum))

    def test_with_a_state_and_an_operator_for_keys(self):
        keys, values, factor = self.keys[:3000], self.values[:3000], numpy.array([3], numpy.float32)
        scaled = "FATLINK_LOAD(float, float, x) { return x * *static_cast<float const*>(state); }"
        first = begins(keys > 0)
        equal = "FATLINK_SAME_KEY(int, a, b) { return (a > 0) == (b > 0); }"
        self.assert_pair(fatlink.reduce_by_key(keys, values, equal=equal, load=scaled, load_state=factor), keys[first],
                         numpy.add.reduceat(values * 3, first))
        self.assert_calls(keys, values, scaled, values * 3, load_state=factor)

    def test_with_an_operator_and_keys_in_one_source(self):
        keys, values = numpy.array([10, 11, 25, 21, 30], numpy.int32), numpy.array([1, 2, 3, 4, 5], numpy.int32)
        folded = fatlink.reduce_by_key(keys, values, f"{LAST}\n{TENS}", load="negate", dtype="int32")
        self.assertEqual([list(part) for part in folded], [[10, 25, 30], [-2, -4, -5]])

    def test_that_do_not_fit(self):
        for function in fatlink.reduce_by_key, fatlink.scan_by_key:
            def refused(says, hint, function=function, **options):
                self.assert_error(fatlink.UsageError, function, self.keys[:9], self.values[:9], says=says, hint=hint, **options)
            refused("operator add_int32 takes int32, but load makes float32", "add_float", op="add_int32", load="square")
            refused("x is an array of float32", "convert x to int32", load="FATLINK_LOAD(int, int, x) { return x; }")
            refused("but keys is an array of int32", "", load="square", equal="same_float32")
            refused("load_state is given without load", "pass load=", load_state=self.values)
            self.assert_error(fatlink.UsageError, function, self.keys[:9], range(8), load="indices", says="x has the shape (8,), keys has (9,)")


class UniqueByKey(ByKeyCase):
    def assert_first(self, keys, values, **options):
        first = begins(keys)
        self.assert_pair(fatlink.unique_by_key(keys, values, **options), keys[first], values[first])

    def test_keys_of_every_type(self):
        for name in NUMBERS + COMPLEX:
            with self.subTest(type=name):
                self.assert_first(self.numbers_of(name).astype(name)[:5000], self.values[:5000])

    def test_bool_keys(self):
        self.assert_first(self.numbers[:5000] > 0, self.values[:5000])

    def test_values_of_every_type_of_4_or_8_bytes(self):
        for dtype in "int32", "uint32", "float32", "int64", "uint64", "float64", "complex64", [("a", "i2"), ("b", "f4", 1), ("c", "i2")]:
            values = numpy.zeros(5000, dtype)
            values.view(numpy.uint8)[:] = numpy.random.default_rng(1).integers(0, 100, values.nbytes)
            with self.subTest(type=values.dtype):
                self.assert_first(self.keys[:5000], values)

    def test_sizes(self):
        for count in (*SIZES, 4096, 4097, 20_000):
            with self.subTest(count=count):
                self.assert_first(self.keys[:count], self.values[:count])

    def test_of_sorted_keys_are_those_of_numpy(self):
        keys = numpy.sort(self.keys)
        wanted, indexes = numpy.unique(keys, return_index=True)
        self.assert_pair(fatlink.unique_by_key(keys, numpy.arange(20_000)), wanted, indexes)

    def test_structs_as_keys(self):
        trades = numpy.zeros(5000, [("price", "f4"), ("id", "i4")])
        trades["price"], trades["id"] = self.numbers[:5000], range(5000)
        first = begins(trades["price"])
        self.assert_pair(fatlink.unique_by_key(trades, self.values[:5000], SAME_PRICE), trades[first], self.values[:5000][first])

    def test_values_of_other_sizes(self):
        for dtype, size in ("uint8", 1), ("float16", 2), ("complex128", 16), ("bool", 1):
            self.assert_error(fatlink.UsageError, fatlink.unique_by_key, self.keys, self.values.astype(dtype),
                              says=f"values is an array of {dtype} ({size} bytes)", hint="pass values of 4 or 8 bytes, such as indexes")


class RunLengths(ByKeyCase):
    def assert_lengths(self, keys, *arguments):
        first = begins(keys)
        self.assert_pair(fatlink.run_lengths(keys, *arguments), keys[first], numpy.diff(first, append=len(keys)).astype(numpy.uint64))

    def test_keys_of_every_type(self):
        for name in NUMBERS + COMPLEX:
            with self.subTest(type=name):
                self.assert_lengths(self.numbers_of(name).astype(name)[:5000])

    def test_bool_keys(self):
        self.assert_lengths(self.numbers[:5000] > 0)

    def test_sizes(self):
        for count in (*SIZES, 4096, 4097, 20_000):
            with self.subTest(count=count):
                self.assert_lengths(self.keys[:count])

    def test_of_sorted_keys_are_the_counts_of_numpy(self):
        keys = numpy.sort(self.values)
        wanted, counts = numpy.unique(keys, return_counts=True)
        self.assert_pair(fatlink.run_lengths(keys), wanted, counts.astype(numpy.uint64))

    def test_runs_of_several_tiles(self):
        self.assert_lengths(numpy.repeat(numpy.arange(4, dtype=numpy.int64), (1, 20_000, 4096, 3)))

    def test_structs_as_keys(self):
        trades = numpy.zeros(5000, [("price", "f4"), ("id", "i4")])
        trades["price"], trades["id"] = self.numbers[:5000], range(5000)
        first = begins(trades["price"])
        self.assert_pair(fatlink.run_lengths(trades, SAME_PRICE), trades[first], numpy.diff(first, append=5000).astype(numpy.uint64))

    def test_lengths_may_be_signed(self):
        out = numpy.zeros(20_000, numpy.int64)
        _, lengths = fatlink.run_lengths(self.keys, out=out)
        self.assertIs(lengths.base, out)
        self.assert_equal_arrays(lengths, numpy.diff(begins(self.keys), append=20_000))

    def test_an_operator_of_both_keys(self):
        self.assert_pair(fatlink.run_lengths(numpy.array([1, 5, 12, 19, 3], numpy.int32), TENS), numpy.array([1, 12, 3], numpy.int32),
                         numpy.array([2, 2, 1], numpy.uint64))


class Refusals(ByKeyCase):
    """What the functions refuse, with the argument in the message."""

    def setUp(self):
        super().setUp()
        self.keys, self.values = self.keys[:6].copy(), self.values[:6].copy()
        self.with_values = {"reduce_by_key": "x", "scan_by_key": "x", "unique_by_key": "values"}
        self.functions = *self.with_values, "run_lengths"

    def call(self, name, keys=None, values=None, **options):
        arrays = [self.keys if keys is None else keys]
        if name in self.with_values:
            arrays.append(self.values if values is None else values)
        return getattr(fatlink, name)(*arrays, **options)

    def refuse(self, cls, name, *arguments, says, hint=None, **options):
        with self.subTest(function=name, says=says):
            self.assert_error(cls, self.call, name, *arguments, says=says, hint=hint, **options)

    def test_keys_of_several_dimensions(self):
        for name in self.functions:
            self.refuse(fatlink.UsageError, name, self.keys.reshape(2, 3), self.values.reshape(2, 3), hint="reshape(-1)",
                        says=f"{name} takes arrays of one dimension; this one has the shape (2, 3)")

    def test_values_of_another_shape(self):
        for name, argument in self.with_values.items():
            for values in self.values[:5], self.values.reshape(2, 3):
                self.refuse(fatlink.UsageError, name, self.keys, values, says=f"{argument} has the shape {values.shape}, keys has (6,)",
                            hint="pass as many values as keys, both in one dimension")

    def test_arrays_of_several_places(self):
        there = in_gpu_memory(self.values)
        for name in "reduce_by_key", "scan_by_key":
            self.refuse(fatlink.UsageError, name, self.keys, there, says="x is in the memory of gpu:0, keys in the host's memory",
                        hint="move all arrays of a call to one device")
        for name, argument in (("reduce_by_key", "out"), ("unique_by_key", "out"), ("reduce_by_key", "out_keys"), ("run_lengths", "out_keys")):
            array = in_gpu_memory(self.keys if argument == "out_keys" else self.values)
            self.refuse(fatlink.UsageError, name, says=f"{argument} in the memory of gpu:0", **{argument: array})
        for name in "reduce_by_key", "unique_by_key", "run_lengths":
            self.refuse(fatlink.UsageError, name, count=in_gpu_memory(numpy.zeros(1, numpy.int64)), says="count in the memory of gpu:0")

    def test_outputs_that_are_too_small_or_have_several_dimensions(self):
        hint = "pass an array of one dimension with as many elements as keys"
        for shape in (5,), (2, 3), (1, 6):
            for name in "reduce_by_key", "unique_by_key", "run_lengths":
                self.refuse(fatlink.UsageError, name, out_keys=numpy.zeros(shape, numpy.int32), hint=hint,
                            says=f"out_keys has the shape {shape}; there are 6 keys")
            self.refuse(fatlink.UsageError, "reduce_by_key", out=numpy.zeros(shape, numpy.float32), hint=hint,
                        says=f"out has the shape {shape}; there are 6 keys")
            self.refuse(fatlink.UsageError, "unique_by_key", out=numpy.zeros(shape, numpy.float32), hint="shape",
                        says=f"out has the shape {shape}; the result has (6,)")
            self.refuse(fatlink.UsageError, "run_lengths", out=numpy.zeros(shape, numpy.int64), hint="shape",
                        says=f"out has the shape {shape}; the result has (6,)")

    def test_outputs_of_another_type(self):
        hint = "pass one of the results' type"
        for name in "reduce_by_key", "unique_by_key", "run_lengths":
            self.refuse(fatlink.UsageTypeError, name, out_keys=numpy.zeros(6, numpy.int64), says="out_keys is an array of int64", hint=hint)
        for name in "reduce_by_key", "unique_by_key":
            self.refuse(fatlink.UsageTypeError, name, out=numpy.zeros(6, numpy.float64), says="out is an array of float64", hint=hint)
        self.refuse(fatlink.UsageTypeError, "run_lengths", out=numpy.zeros(6, numpy.int32), says="out is an array of int32", hint=hint)

    def test_outputs_that_overlap_inputs(self):
        self.refuse(fatlink.UsageError, "reduce_by_key", out=self.values, says="out overlaps in")
        for name in "reduce_by_key", "unique_by_key", "run_lengths":
            self.refuse(fatlink.UsageError, name, out_keys=self.keys, says="out_keys overlaps keys")

    def test_unknown_arguments(self):
        for name in self.functions:
            self.refuse(fatlink.UsageTypeError, name, initial=3, says=f"{name}() has no argument 'initial'", hint="pass init=")
            self.refuse(fatlink.UsageTypeError, name, sort=True, says=f"{name}() has no argument 'sort'", hint=f"help(fatlink.{name})")
            self.refuse(fatlink.UsageTypeError, name, axis=0, says=f"{name}() has no argument 'axis'", hint="reshape(-1)")

    def test_lists_and_devices_that_are_not_there(self):
        for name in self.functions:
            self.refuse(fatlink.UsageTypeError, name, [1, 2, 3], says=("keys: ", "list is not an array"), hint="numpy.array")
            self.refuse(fatlink.UsageError, name, device="tpu", says="device 'tpu'", hint="cpu")
            self.refuse(fatlink.UsageError, name, mode="fast", says="mode is 'fast'", hint='"lto"')
        for name, argument in self.with_values.items():
            self.refuse(fatlink.UsageTypeError, name, self.keys, [1, 2, 3], says=(f"{argument}: ", "list is not an array"))

    def test_unknown_names_of_equal(self):
        for name in "scan_by_key", "run_lengths":
            self.refuse(fatlink.UsageError, name, equal="eq", code="no-operator",
                        says="unknown operator 'eq' for int32 (contract same_key)", hint=("names for int32: equal, same_int32", "FATLINK_SAME_KEY(type, a, b)"))

    def test_unknown_names_of_operators(self):
        for name in "reduce_by_key", "scan_by_key":
            self.refuse(fatlink.UsageError, name, op="sum", code="no-operator", says="unknown operator 'sum' for float32 (contract combine_4)",
                        hint=("did you mean 'add'?", "FATLINK_COMBINE(type, a, b)"))

    def test_operators_of_another_type(self):
        for name in "reduce_by_key", "run_lengths":
            for equal in "same_float32", "FATLINK_SAME_KEY(float, a, b) { return a == b; }", "FATLINK_SAME_KEY(double, a, b) { return a == b; }":
                self.refuse(fatlink.UsageTypeError, name, equal=equal, code="wrong-operator", says=" but keys is an array of int32")
        for name in ("scan_by_key",):
            for op in "add_int32", "FATLINK_COMBINE(int, a, b) { return a + b; }", "FATLINK_COMBINE(double, a, b) { return a + b; }":
                self.refuse(fatlink.UsageTypeError, name, op=op, code="wrong-operator", says=" but x is an array of float32")

    def test_operators_of_other_algorithms(self):
        for name in "reduce_by_key", "unique_by_key":
            for equal, says in (("less", "operator less is for sort, "), ("equal_int32", "operator equal_int32 is for unique_consecutive, not for "),
                                ("FATLINK_EQUAL(int, a, b) { return a == b; }",
                                 "the CUDA source, which defines FATLINK_EQUAL, is for unique_consecutive, not for ")):
                self.refuse(fatlink.UsageError, name, equal=equal, code="wrong-operator", says=(says, name), hint="FATLINK_SAME_KEY")
        for name in "scan_by_key", "run_lengths":
            self.refuse(fatlink.UsageError, name, equal="less", code="wrong-operator", says=("operator less is for sort, ", name))
        for name, op in (("reduce_by_key", "equal"), ("scan_by_key", "FATLINK_SAME_KEY(float, a, b) { return a == b; }")):
            self.refuse(fatlink.UsageError, name, op=op, code="wrong-operator", hint="FATLINK_COMBINE",
                        says=("unique_by_key, run_lengths, reduce_by_key(equal=…) and scan_by_key(equal=…), not for " + name))
        self.assert_error(fatlink.UsageError, fatlink.reduce, self.values, "same_float32", says="is for unique_by_key, run_lengths, ")

    def test_values_that_are_no_operators(self):
        for name in self.functions:
            for wrong in 3, None, [], self.keys:
                self.refuse(fatlink.UsageTypeError, name, equal=wrong, says=" is ", hint="pass a name, a file, a fatlink.Input, CUDA source")
        for name in "reduce_by_key", "scan_by_key":
            for wrong in 3, None, [], self.keys:
                self.refuse(fatlink.UsageTypeError, name, op=wrong, says="op is ", hint="pass a name, a file, a fatlink.Input, CUDA source")

    def test_structs_need_an_operator_and_values_a_size(self):
        records = numpy.zeros(6, [("a", "f4"), ("b", "f4"), ("c", "f4")])
        for name in "reduce_by_key", "run_lengths":
            self.refuse(fatlink.UsageError, name, records, says="unknown operator 'equal' for {a: float32, b: float32, c: float32}",
                        hint="no name is known", code="no-operator")
            self.refuse(fatlink.UsageTypeError, name, records, code="wrong-operator", says="has the fields {a: float32 at 0, ",
                        hint="define the struct with the fields of the dtype",
                        equal="struct record { float a; int b; float c; };\nFATLINK_SAME_KEY(record, x, y) { return x.a == y.a; }\n")
        for name in "reduce_by_key", "scan_by_key":
            self.refuse(fatlink.UsageTypeError, name, self.keys, records, op="argmax",
                        says=f"{name} takes elements of 1, 2, 4, 8, 16 or 32 bytes; ", hint="pad the struct")


class Counts(ByKeyCase):
    """count=, an array for the number of results, of all functions that have it."""
    PARTS = "FATLINK_PART(float, x) { return x < 0 ? 0 : x > 0 ? 2 : 1; }"

    def setUp(self):
        super().setUp()
        x, keys = self.values, self.keys
        first = begins(keys)
        lengths = numpy.diff(first, append=len(keys)).astype(numpy.uint64)
        # The call, and its results for all of the elements.
        self.calls = {
            "select": (lambda **more: (fatlink.select(x, "positive", **more),), [x[x > 0]]),
            "partition": (lambda **more: fatlink.partition(x, "positive", **more), [x[x > 0]]),
            "transform_select": (lambda **more: (fatlink.transform_select(x, "halves_of_positive", **more),), [x[x > 0].astype(numpy.float16)]),
            "unique_consecutive": (lambda **more: (fatlink.unique_consecutive(keys, **more),), [keys[first]]),
            "reduce_by_key": (lambda **more: fatlink.reduce_by_key(keys, x, **more), [keys[first], sums(keys, x)]),
            "unique_by_key": (lambda **more: fatlink.unique_by_key(keys, x, **more), [keys[first], x[first]]),
            "run_lengths": (lambda **more: fatlink.run_lengths(keys, **more), [keys[first], lengths])}

    def test_are_written_and_results_are_whole_arrays(self):
        for name, (call, expected) in self.calls.items():
            for count in (numpy.full(1, 77, numpy.int64), numpy.full(1, 77, numpy.uint64), numpy.array(77, numpy.int64)):
                with self.subTest(function=name, count=count.dtype, shape=count.shape):
                    results = call(count=count)
                    self.assertEqual(int(count), len(expected[0]))
                    for array, wanted in zip(results, expected):
                        self.assertEqual(len(array), 20_000)
                        self.assert_equal_arrays(array[:int(count)], wanted)

    def test_results_in_arrays_of_the_caller(self):
        for name, (call, expected) in self.calls.items():
            out, count = numpy.zeros(20_000, expected[-1].dtype), numpy.zeros(1, numpy.int64)
            with self.subTest(function=name):
                result = call(count=count, out=out)[0 if name == "partition" else -1]
                self.assertIs(result, out)
                self.assert_equal_arrays(out[:int(count)], expected[-1])

    def test_of_no_elements_are_0(self):
        empty = numpy.zeros(0, numpy.float32)
        count = numpy.full(1, 77, numpy.int64)
        for call in (lambda: fatlink.select(empty, "positive", count=count), lambda: fatlink.partition(empty, "positive", count=count),
                     lambda: fatlink.transform_select(empty, "halves_of_positive", count=count),
                     lambda: fatlink.unique_consecutive(empty, count=count), lambda: fatlink.reduce_by_key(empty, empty, count=count),
                     lambda: fatlink.unique_by_key(empty, empty, count=count), lambda: fatlink.run_lengths(empty, count=count)):
            count[:] = 77
            call()
            self.assertEqual(count, 0)

    def test_of_rejected_elements_are_the_others(self):
        count = numpy.zeros(1, numpy.int64)
        rejected = numpy.zeros(20_000, numpy.float32)
        accepted, others = fatlink.partition(self.values, "positive", count=count, rejected=rejected)
        self.assertIs(others, rejected)
        self.assert_equal_arrays(accepted[:int(count)], self.values[self.values > 0])
        self.assert_equal_arrays(others[:20_000 - int(count)], self.values[self.values <= 0])

    def test_of_several_calls_in_one_array(self):
        counts = numpy.zeros(3, numpy.uint64)
        for index in range(3):
            fatlink.select(self.values[index:], "positive", count=counts[index:index + 1])
        self.assertEqual(counts.tolist(), [(self.values[index:] > 0).sum() for index in range(3)])

    def test_of_another_type(self):
        for dtype in "int32", "float64", "bool", "complex64":
            for name, (call, _) in self.calls.items():
                with self.subTest(function=name, count=dtype):
                    self.assert_error(fatlink.UsageTypeError, call, count=numpy.zeros(1, dtype), says=f"count is an array of {dtype}")

    def test_of_another_shape(self):
        for shape in (0,), (2,), (1, 1):
            for name, (call, _) in self.calls.items():
                with self.subTest(function=name, shape=shape):
                    self.assert_error(fatlink.UsageError, call, count=numpy.zeros(shape, numpy.int64),
                                      says=f"count has the shape {shape}; the result has (1,)")

    def test_that_are_no_arrays_or_cannot_be_written(self):
        fixed = numpy.zeros(1, numpy.int64)
        fixed.flags.writeable = False
        for name, (call, _) in self.calls.items():
            with self.subTest(function=name):
                for wrong in 3, True, [0]:
                    self.assert_error(fatlink.UsageTypeError, call, count=wrong, says=("count: ", "is not an array"), hint="array")
                self.assert_error(fatlink.UsageError, call, count=fixed, says="count cannot be written")

    def test_elsewhere_or_in_another_output(self):
        for name, (call, _) in self.calls.items():
            with self.subTest(function=name):
                self.assert_error(fatlink.UsageError, call, count=in_gpu_memory(numpy.zeros(1, numpy.int64)),
                                  says="count in the memory of gpu:0", hint="one device", code="several-devices")
        array = numpy.zeros(20_000, numpy.uint64)
        self.assert_error(fatlink.UsageError, fatlink.run_lengths, self.keys, out=array, count=array[:1], says="count overlaps lengths")

    def test_functions_without_it_refuse_it(self):
        for function in fatlink.reduce, fatlink.scan, fatlink.sort:
            self.assert_error(fatlink.UsageTypeError, function, self.values, count=numpy.zeros(1, numpy.int64), says="no argument 'count'")

    @long_test  # sizes above have one of each kind
    def test_of_every_size(self):
        count = numpy.zeros(1, numpy.int64)
        for size in range(0, 5000, 61):
            keys = self.keys[:size]
            fatlink.run_lengths(keys, count=count)
            self.assertEqual(count, len(begins(keys)))


@unittest.skipUnless(HAS_NUMBA, "Numba is not installed for this Python")
class PythonFunctions(ByKeyCase):
    def setUp(self):
        super().setUp()
        self.keys, self.values = self.keys[:300], self.values[:300]

    def expected(self):
        first = begins(self.keys > 0)
        return first, numpy.diff(first, append=300).astype(numpy.uint64), numpy.add.reduceat(self.values, first)

    def test_as_equal(self):
        first, lengths, totals = self.expected()
        for mode in "lto", "ptx":
            with self.subTest(mode=mode):
                self.assert_pair(fatlink.run_lengths(self.keys, lambda a, b: (a > 0) == (b > 0), mode=mode), self.keys[first], lengths)
                self.assert_pair(fatlink.reduce_by_key(self.keys, self.values, equal=lambda a, b: (a > 0) == (b > 0), mode=mode),
                                 self.keys[first], totals)

    def test_as_equal_with_values(self):
        first, _, _ = self.expected()
        self.assert_pair(fatlink.unique_by_key(self.keys, self.values, lambda a, b: (a > 0) == (b > 0)), self.keys[first], self.values[first])

    def test_as_op(self):
        keys, totals = fatlink.reduce_by_key(self.keys, self.values, lambda a, b: a + b)
        self.assert_equal_arrays(totals, sums(self.keys, self.values))
        self.assert_equal_arrays(fatlink.scan_by_key(self.keys[:1], self.values[:1], lambda a, b: a + b), self.values[:1])

    def test_as_both(self):
        first, _, totals = self.expected()
        self.assert_pair(fatlink.reduce_by_key(self.keys, self.values, lambda a, b: a + b, equal=lambda a, b: (a > 0) == (b > 0)),
                         self.keys[first], totals)

    def test_as_load_with_both(self):
        first, _, totals = self.expected()
        self.assert_pair(fatlink.reduce_by_key(self.keys, self.values, lambda a, b: a + b, load=lambda x: x * 2,
                                               equal=lambda a, b: (a > 0) == (b > 0)), self.keys[first], totals * 2)

    def test_with_another_number_of_parameters(self):
        for call in (lambda: fatlink.run_lengths(self.keys, lambda a: a), lambda: fatlink.reduce_by_key(self.keys, self.values, equal=lambda a: a)):
            self.assert_error(fatlink.UsageTypeError, call, says="takes 1 argument; the call passes 2")


class Torch(FrameworkCase):
    module = "torch"

    def setUp(self):
        super().setUp()
        import torch
        self.torch = torch
        self.keys = torch.tensor([1, 1, 3, 3, 3, 2])
        self.values = torch.arange(6, dtype=torch.float32)

    def assert_tensors(self, results, *expected):
        for result, wanted in zip(results, expected):
            wanted = self.torch.as_tensor(wanted)
            self.assertEqual((type(result), result.dtype), (self.torch.Tensor, wanted.dtype))
            self.assertTrue(self.torch.equal(result, wanted), f"{result}, {wanted}")

    def test_results_are_tensors(self):
        first = self.torch.tensor([1, 3, 2])
        self.assert_tensors(fatlink.reduce_by_key(self.keys, self.values), first, [1.0, 9.0, 5.0])
        self.assert_tensors([fatlink.scan_by_key(self.keys, self.values)], [0.0, 1.0, 2.0, 5.0, 9.0, 5.0])
        self.assert_tensors(fatlink.unique_by_key(self.keys, self.values), first, [0.0, 2.0, 5.0])
        self.assert_tensors(fatlink.run_lengths(self.keys), *self.torch.unique_consecutive(self.keys, return_counts=True))

    def test_narrow_integers_are_added_in_64_bits(self):
        self.assert_tensors(fatlink.reduce_by_key(self.keys, self.values.to(self.torch.uint8)), [1, 3, 2], [1, 9, 5])

    def test_of_bfloat16(self):
        keys = self.keys.to(self.torch.bfloat16)
        self.assert_tensors(fatlink.reduce_by_key(keys, self.values.to(self.torch.bfloat16), "max"),
                            self.torch.tensor([1, 3, 2]).to(self.torch.bfloat16), self.torch.tensor([1, 4, 5]).to(self.torch.bfloat16))

    def test_bool_keys(self):
        self.assert_tensors(fatlink.run_lengths(self.keys > 1), [False, True], [2, 4])

    def test_the_number_of_runs_in_a_tensor(self):
        for shape in (1,), ():
            count = self.torch.zeros(shape, dtype=self.torch.int64)
            keys, lengths = fatlink.run_lengths(self.keys, count=count)
            self.assertEqual((count.item(), keys.shape, lengths.shape), (3, (6,), (6,)))
            self.assert_tensors([keys[:count], lengths[:count]], [1, 3, 2], [2, 3, 1])
        self.assert_error(fatlink.UsageTypeError, fatlink.run_lengths, self.keys, count=self.torch.zeros(1), says="count is an array of float32")

    def test_outputs_are_marked_as_written(self):
        out = self.torch.zeros(6)
        product = (self.torch.ones(6).requires_grad_() * out).sum()
        fatlink.scan_by_key(self.keys, self.values, out=out)
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
            product.backward()

    def test_keys_of_numpy_and_values_of_torch(self):
        keys, results = fatlink.reduce_by_key(self.keys.numpy(), self.values)
        self.assertEqual((type(keys), type(results)), (numpy.ndarray, self.torch.Tensor))


if __name__ == "__main__":
    unittest.main()
