# SPDX-License-Identifier: Apache-2.0
"""The algorithms on NumPy arrays, on the reference device."""
import unittest

from python_case import NumpyCase, fatlink, numpy
from run_tests import long_test


class AlgorithmCase(NumpyCase):
    def setUp(self):
        super().setUp()
        generator = numpy.random.default_rng(0)
        self.numbers = generator.integers(-40, 40, 5000).astype(numpy.float32)  # sums are exact


class Reduce(AlgorithmCase):
    def test_adds_numbers_of_installed_and_of_other_types(self):
        for name in ("float32", "float64", "int32", "uint8", "float16", "int8", "uint64"):
            with self.subTest(type=name):
                numbers = numpy.arange(20).astype(name)
                result = fatlink.reduce(numbers, dtype=name)
                self.assertEqual((result.dtype, result), (numpy.dtype(name), numbers.sum(dtype=name)))

    def test_uses_the_identity_of_the_operator(self):
        numbers = self.numbers - 1000
        self.assertEqual(fatlink.reduce(numbers, "max"), numbers.max())
        self.assertEqual(fatlink.reduce(-numbers, "min"), (-numbers).min())
        self.assertEqual(fatlink.reduce(numbers, "abs_max"), abs(numbers).max())
        self.assertEqual(fatlink.reduce(numpy.full(5, 3, numpy.int16), "multiply"), 243)
        self.assertEqual(fatlink.reduce(numpy.full(5, -3, numpy.int16), "max"), -3)

    def test_begins_with_init(self):
        self.assertEqual(fatlink.reduce(self.numbers, init=5), self.numbers.sum() + 5)
        self.assertEqual(fatlink.reduce(self.numbers[:0], init=5), 5)

    def test_takes_arrays_of_several_dimensions(self):
        self.assertEqual(fatlink.reduce(self.numbers.reshape(50, 100)), self.numbers.sum())

    def test_folds_structs(self):
        records = numpy.zeros(100, [("value", "f4"), ("index", "i4")])
        records["value"], records["index"] = self.numbers[:100], range(100)
        best = fatlink.reduce(records, "argmax", init=(float("-inf"), -1))
        self.assertEqual(best["index"], self.numbers[:100].argmax())

    def test_writes_to_out(self):
        for shape in ((), (1,)):
            out = numpy.zeros(shape, numpy.float32)
            self.assertIs(fatlink.reduce(self.numbers, out=out), out)
            self.assertEqual(out, self.numbers.sum())

    def test_is_the_same_in_both_modes(self):
        self.assertEqual(fatlink.reduce(self.numbers, mode="ptx"), fatlink.reduce(self.numbers, mode="lto"))


class Accumulators(AlgorithmCase):
    """`dtype`, the type in which elements are combined. By default sums and products do not wrap around where NumPy's do not."""

    def assert_same(self, result, expected):
        self.assertEqual(result.dtype, expected.dtype)
        numpy.testing.assert_array_equal(result, expected)

    def test_of_narrow_integers_have_64_bits(self):
        for name in ("int8", "uint8", "int32", "bool"):
            highest = 1 if name == "bool" else numpy.iinfo(name).max
            numbers = numpy.full(300, highest, name)
            with self.subTest(type=name):
                self.assert_same(fatlink.reduce(numbers), numbers.sum())
                self.assert_same(fatlink.scan(numbers), numbers.cumsum())

    def test_of_narrow_integers_have_64_bits_in_every_form_of_a_sum(self):
        numbers = numpy.full(300, 255, numpy.uint8)
        sums = numbers.cumsum()
        self.assert_same(fatlink.exclusive_scan(numbers), sums - numbers)
        self.assert_same(fatlink.segmented_reduce(numbers, numpy.array([0, 0, 299])), numpy.array([0, 299 * 255], numpy.uint64))
        self.assert_same(fatlink.reduce(numbers, numpy.add), numbers.sum())
        self.assert_same(fatlink.reduce(numbers[:9], "multiply"), numbers[:9].prod())

    @long_test  # the test above has some of them
    def test_are_numpys_for_every_pair_of_types(self):
        names = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "bool",
                 "complex64", "complex128")
        for own in names:
            numbers = (numpy.arange(40) % 5).astype(own)
            for name in names:
                with self.subTest(own=own, dtype=name):
                    if own.startswith("complex") and not name.startswith("complex"):
                        self.assert_error(fatlink.UsageTypeError, fatlink.reduce, numbers, dtype=name,
                                          says=f"{own} does not convert to it")
                    elif name == "bool":
                        self.assert_same(fatlink.reduce(numbers, "max", dtype=name), numbers.astype(name).max())
                    else:
                        self.assert_same(fatlink.reduce(numbers, dtype=name), numbers.sum(dtype=name))

    def test_are_of_the_type_that_is_asked_for(self):
        halves = numpy.full(4096, 0.5, numpy.float16)
        self.assert_same(fatlink.reduce(halves, dtype=numpy.float32), numpy.float32(2048))
        self.assert_same(fatlink.scan(self.numbers, dtype="float64"), self.numbers.cumsum(dtype=numpy.float64))
        self.assert_same(fatlink.reduce(numpy.full(300, 255, numpy.uint8), dtype="uint8"), numpy.uint8(300 * 255 % 256))

    def test_are_of_the_type_of_out(self):
        numbers = numpy.full(300, 255, numpy.uint8)
        out = numpy.zeros(1, numpy.int32)
        self.assertEqual(fatlink.reduce(numbers, out=out), [300 * 255])
        self.assert_same(fatlink.scan(numbers, out=numbers), (numpy.arange(1, 301) * 255).astype(numpy.uint8))

    def test_of_any_operator(self):
        numbers = numpy.arange(100, dtype=numpy.int8)
        largest = "FATLINK_COMBINE(double, a, b) { return a < b ? b : a; }"
        self.assert_same(fatlink.reduce(numbers, largest, dtype="float64", init=-1), numpy.float64(99))
        self.assert_same(fatlink.reduce(numbers, "add_float", dtype="float32"), numpy.float32(4950))  # compiled for combine_4
        self.assert_same(fatlink.reduce(numbers, "add_float", dtype="float32"), numpy.float32(4950))

    def test_of_an_operator_of_another_type_are_refused(self):
        for function in (fatlink.reduce, fatlink.scan):
            self.assert_error(fatlink.UsageTypeError, function, self.numbers, "add_int32", dtype="int8", code="wrong-operator",
                              says="operator add_int32 takes int32, but x is converted to int8, the dtype of the call")
        self.assert_error(fatlink.UsageTypeError, fatlink.transform_reduce, self.numbers, "sum_squares", dtype="float64",
                          says="dtype is float64, but sum_squares makes float32")
        self.assert_error(fatlink.UsageTypeError, fatlink.scan, self.numbers, dtype="text", says="dtype is 'text'")
        records = numpy.zeros(4, [("value", "f4"), ("index", "i4")])
        self.assert_error(fatlink.UsageTypeError, fatlink.scan, records, dtype="float32", says="does not convert")


class Others(AlgorithmCase):
    def test_of_slices_are_those_of_copies(self):
        for dtype in ("uint8", "float16", "float32", "float64"):
            whole = (numpy.arange(40_000) * 7919 % 100).astype(dtype)
            view, copy = whole[1:], whole[1:].copy()
            with self.subTest(dtype):
                for function, op in ((fatlink.scan, "max"), (fatlink.exclusive_scan, "max"), (fatlink.select, "nonzero")):
                    options = {"init": 0} if function is fatlink.exclusive_scan else {}
                    expected = function(copy, op, **options)
                    out = numpy.full(40_002, 7, dtype)
                    numpy.testing.assert_array_equal(function(view, op, out=out[3:][:len(view)], **options), expected)
                    self.assertEqual((list(out[:3]), list(out[3 + len(expected):])), ([7] * 3, [7] * (39_999 - len(expected))))
                for got, expected in zip(fatlink.partition(view, "nonzero"), fatlink.partition(copy, "nonzero")):
                    numpy.testing.assert_array_equal(got, expected)

    def test_scan(self):
        self.assert_equal_arrays(fatlink.scan(self.numbers), self.numbers.cumsum(dtype=numpy.float32))

    def test_scan_in_place(self):
        array = self.numbers.copy()
        self.assertIs(fatlink.scan(array, out=array), array)
        self.assert_equal_arrays(array, self.numbers.cumsum(dtype=numpy.float32))

    def test_exclusive_scan(self):
        lengths = numpy.arange(10, dtype=numpy.int32)
        self.assert_equal_arrays(fatlink.exclusive_scan(lengths, init=5), lengths.cumsum() - lengths + 5)

    def test_segmented_reduce(self):
        for dtype in (numpy.int64, numpy.uint64):
            self.assert_equal_arrays(fatlink.segmented_reduce(self.numbers[:10], numpy.array([0, 3, 3, 10], dtype)),
                                     numpy.array([self.numbers[:3].sum(), 0, self.numbers[3:10].sum()], numpy.float32))

    def test_transform_reduce(self):
        self.assertEqual(fatlink.transform_reduce(self.numbers[:100], "sum_squares"), (self.numbers[:100] ** 2).sum())

    def test_transform_reduce_to_another_type(self):
        data = numpy.arange(200, dtype=numpy.uint8)
        self.assert_equal_arrays(numpy.asarray(fatlink.transform_reduce(data, "sum_bytes")), numpy.array(19900, numpy.uint16))
        above = fatlink.transform_reduce(self.numbers, "count_above", state=numpy.array([7], numpy.float32))
        self.assertEqual((above.dtype, above), (numpy.dtype(numpy.uint64), (self.numbers > 7).sum()))

    def test_select(self):
        self.assert_equal_arrays(fatlink.select(self.numbers, "positive"), self.numbers[self.numbers > 0])

    def test_select_with_a_state(self):
        records = numpy.zeros(100, [("score", "f4"), ("index", "i4")])
        records["score"] = self.numbers[:100]
        self.assert_equal_arrays(fatlink.select(records, "score_above", state=numpy.array([7], numpy.float32)),
                                 records[records["score"] > 7])

    def test_select_nothing(self):
        self.assertEqual(fatlink.select(abs(self.numbers) * -1, "positive").size, 0)
        self.assertEqual(fatlink.select(self.numbers[:0], "positive").size, 0)

    def test_partition(self):
        accepted, rejected = fatlink.partition(self.numbers, "positive")
        self.assert_equal_arrays(accepted, self.numbers[self.numbers > 0])
        self.assert_equal_arrays(rejected, self.numbers[self.numbers <= 0])

    def test_transform_select(self):
        self.assert_equal_arrays(fatlink.transform_select(self.numbers, "halves_of_positive"),
                                 self.numbers[self.numbers > 0].astype(numpy.float16))

    def test_sort(self):
        self.assert_equal_arrays(fatlink.sort(self.numbers), numpy.sort(self.numbers))
        self.assert_equal_arrays(fatlink.sort(self.numbers, "greater"), numpy.sort(self.numbers)[::-1])

    def test_sort_of_every_type_has_numpys_order_of_nan_and_zeros(self):
        """NumPy sorts 0 and -0 as equal, and NaN to the end; the reverse order has NaN first."""
        special = [numpy.nan, -numpy.nan, 0.0, -0.0, numpy.inf, -numpy.inf, 1.5, -1.5, 6e-8, -6e-8, 1e4, -1e4, 0.0, -0.0, numpy.nan]
        for dtype in "float16", "float32", "float64", *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)):
            data = numpy.resize(self.numbers * 37, 12345)
            data = data.astype(dtype) if dtype[0] == "f" else data.astype("int64").astype(dtype)
            if dtype[0] == "f":
                data[100:100 + len(special)] = special
            else:
                data[:2] = numpy.iinfo(dtype).min, numpy.iinfo(dtype).max
            for count in 0, 1, 33, 1000, 12345:  # of one tile, and of several
                with self.subTest(dtype=dtype, count=count):
                    order = numpy.argsort(data[:count], kind="stable")
                    keys, values = fatlink.sort_pairs(data[:count], numpy.arange(count))
                    self.assertEqual(values.tolist(), order.tolist())
                    self.assertEqual(keys.tobytes(), data[:count][order].tobytes())
                    self.assertEqual(fatlink.sort(data[:count]).tobytes(), data[:count][order].tobytes())
                    down = fatlink.sort(data[:count], "greater")
                    numpy.testing.assert_array_equal(down, numpy.sort(data[:count])[::-1])

    def test_sort_by_a_key(self):
        trades = numpy.empty(5000, [("price", "f4"), ("id", "i4")])
        trades["price"], trades["id"] = self.numbers.round(), numpy.arange(5000)
        source = "struct trade { float price; int id; };\nFATLINK_KEY(trade, x) { return fatlink::descending(x.price); }\n"
        order = numpy.argsort(-trades["price"], kind="stable")
        self.assert_equal_arrays(fatlink.sort(trades, key=source), trades[order])
        keys, values = fatlink.sort_pairs(trades, numpy.arange(5000, dtype=numpy.int32), key=source, bits=32)
        self.assert_equal_arrays(keys, trades[order])
        self.assert_equal_arrays(values, order.astype(numpy.int32))
        self.assert_equal_arrays(fatlink.sort(self.numbers, key="descending_float32"), numpy.sort(self.numbers)[::-1])

    def test_unique_consecutive(self):
        data = self.numbers.round(-1)
        for dtype in "float32", "float16", "int8", "uint64", "float64", "bool", "complex64":
            values = data.astype(dtype) if dtype != "complex64" else (data + 1j * (data > 0)).astype(dtype)
            for count in 0, 1, 2, 5000:
                x = values[:count]
                expected = x[numpy.append(True, x[1:] != x[:-1])[:count]]
                self.assert_equal_arrays(fatlink.unique_consecutive(x), expected)
        self.assert_equal_arrays(fatlink.unique_consecutive(fatlink.sort(data)), numpy.unique(data))
        near = fatlink.unique_consecutive(self.numbers, "FATLINK_EQUAL(float, a, b) { return (a > 0) == (b > 0); }")
        positive = self.numbers > 0
        self.assert_equal_arrays(near, self.numbers[numpy.append(True, positive[1:] != positive[:-1])])
        self.assert_error(fatlink.UsageError, fatlink.unique_consecutive, data, "less", says="less", hint="names for float32: equal")

    def test_keys_that_are_floats_or_signed_are_refused(self):
        for code in "return x;", "return static_cast<int>(x);", "return -1;":
            self.assert_error(fatlink.CompileError, fatlink.sort, self.numbers, key=f"FATLINK_KEY(float, x) {{ {code} }}")

    def test_fewer_bits_sort_by_the_lower_ones(self):
        data = self.numbers.view(numpy.uint32)
        low = data & 0xFFFF
        self.assert_equal_arrays(fatlink.sort(data, key="ascending_uint32", bits=16), data[numpy.argsort(low, kind="stable")])

    def test_keys_and_bits_that_are_wrong(self):
        for wrong in 0, 65, 1.5, True:
            self.assert_error(fatlink.UsageError, fatlink.sort, self.numbers, key="ascending_float32", bits=wrong, says="bits is",
                              hint="from 1 to 64")
        for op in "less", "FATLINK_LESS(float, a, b) { return a < b; }":
            self.assert_error(fatlink.UsageError, fatlink.sort, self.numbers, op, bits=8, says="bits without key", hint="pass key=")
        self.assert_error(fatlink.UsageTypeError, fatlink.sort, self.numbers, key=3, says="key is 3", hint="FATLINK_KEY")
        self.assert_error(fatlink.UsageError, fatlink.sort, self.numbers, "greater", key="ascending_float32",
                          says="op and key are both given", hint="leave out op")
        self.assert_error(fatlink.UsageTypeError, fatlink.sort, self.numbers, key=abs, says="key is a Python function",
                          hint="FATLINK_KEY")
        self.assert_error(fatlink.UsageTypeError, fatlink.sort, self.numbers, key="ascending_int32", says="ascending_int32 takes int32")
        self.assert_error(fatlink.UsageError, fatlink.sort, self.numbers, key="less_float", says="not for sort(key=…)")
        self.assert_error(fatlink.UsageError, fatlink.sort, self.numbers, "descending_float32", says="is for sort(key=…)")

    def test_sort_pairs(self):
        order = numpy.argsort(self.numbers, kind="stable")
        for dtype in (numpy.int32, numpy.float32, numpy.int64, numpy.float64):
            keys, values = fatlink.sort_pairs(self.numbers, numpy.arange(5000).astype(dtype))
            self.assert_equal_arrays(keys, self.numbers[order])
            self.assert_equal_arrays(values, order.astype(dtype))

    def test_histogram(self):
        data = self.numbers.view(numpy.uint8)
        self.assert_equal_arrays(fatlink.histogram(data, "byte_bins"), numpy.bincount(data, minlength=256).astype(numpy.uint64))

    def test_histogram_with_bins_and_a_state(self):
        counts = fatlink.histogram(self.numbers, "uniform_bins", bins=8, state=numpy.array([-40, 10], numpy.float32))
        self.assert_equal_arrays(counts, numpy.histogram(self.numbers, 8, (-40, 40))[0].astype(numpy.uint64))


class States(AlgorithmCase):
    def call(self, state):
        return fatlink.map(self.numbers, op="scale_add", state=state)

    def test_of_another_type(self):
        for dtype in ("float64", "int32", "bool", [("a", "f4"), ("b", "i4")]):
            self.assert_error(fatlink.UsageTypeError, self.call, numpy.zeros(8, dtype),
                              says=("state is an array of", "the state of scale_add has factor: float32, offset: float32"),
                              hint="structured dtype")

    def test_that_are_too_small(self):
        self.assert_error(fatlink.UsageError, self.call, numpy.zeros(1, numpy.float32),
                          says="state has 4 bytes; the state of scale_add has 8 (factor: float32, offset: float32)", hint="fields")

    def test_with_fields_in_another_order_or_of_other_names(self):
        numbers = numpy.array([2, 1], numpy.float32)
        packed = numpy.zeros(2, [("a", "i1"), ("b", "f8")])
        for state in (numbers.view([("offset", "f4"), ("factor", "f4")]), packed):
            self.assert_error(fatlink.UsageTypeError, self.call, state, says="state is an array of")
        with self.assertWarnsRegex(UserWarning, "state has the fields .* used by position"):
            self.assert_equal_arrays(self.call(numbers.view([("a", "f4"), ("b", "f4")])), self.numbers * 2 + 1)

    def test_as_numbers_structs_or_bytes(self):
        numbers = numpy.array([2, 1], numpy.float32)
        for state in (numbers, numbers.view(numpy.uint8), numbers.view([("factor", "f4"), ("offset", "f4")])):
            self.assert_equal_arrays(self.call(state), self.numbers * 2 + 1)

    def test_of_other_functions(self):
        wrong = numpy.zeros(1, numpy.int64)
        plan = fatlink.load("map1", "scale_add")
        live = fatlink.LivePlan("cpu")
        live.swap("map1", "scale_add")
        for call in (lambda: fatlink.transform_reduce(self.numbers, "count_above", state=wrong), lambda: plan.run(
                in_=self.numbers, state=wrong), lambda: live.run(in_=self.numbers, state=wrong),
                     lambda: fatlink.histogram(self.numbers, "uniform_bins", state=wrong)):
            self.assert_error(fatlink.UsageTypeError, call, says="state is an array of int64")


class Map(AlgorithmCase):
    def test_of_one_array(self):
        result = fatlink.map(self.numbers, op="scale_add", state=numpy.array([2, 1], numpy.float32))
        self.assert_equal_arrays(result, self.numbers * 2 + 1)

    def test_of_two_arrays(self):
        self.assert_equal_arrays(fatlink.map(self.numbers, self.numbers, op="add"), self.numbers * 2)

    def test_of_three_arrays(self):
        small = self.numbers / 64
        self.assert_equal_arrays(fatlink.map(small, small, small, op="multiply_add"), small * small + small)

    def test_keeps_the_shape(self):
        self.assertEqual(fatlink.map(self.numbers.reshape(50, 100), op="square").shape, (50, 100))

    def test_to_another_type(self):
        self.assert_equal_arrays(fatlink.map(self.numbers, op="float_to_half"), self.numbers.astype(numpy.float16))

    def test_families_of_every_arity_compile_for_every_type_of_numbers(self):
        from fatlink._operators import _EXPRESSIONS
        for name, dtype in (("add", "int16"), ("min", "float16"), ("divide", "float64"), ("subtract", "uint8")):
            with self.subTest(name=name, type=dtype):
                self.assertIn(name, _EXPRESSIONS["map2"])
                numbers = numpy.arange(1, 50).astype(dtype)
                function = {"min": "minimum"}.get(name, name)
                expected = getattr(numpy, function)(numbers, numbers[::-1].copy()).astype(dtype)
                self.assert_equal_arrays(fatlink.map(numbers, numbers[::-1].copy(), op=name), expected)


if __name__ == "__main__":
    unittest.main()
