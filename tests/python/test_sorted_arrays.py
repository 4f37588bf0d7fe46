# SPDX-License-Identifier: Apache-2.0
"""merge, searchsorted, top_k and partition3 on NumPy arrays and CPU tensors, on the reference device."""
import importlib.util
import operator
import unittest

from device_arrays import OnlyDlpack
from python_case import NumpyCase, fatlink, numpy
from run_tests import long_test
from test_arrays import FrameworkCase

HAS_NUMBA = importlib.util.find_spec("numba") and importlib.util.find_spec("numba_cuda")
NUMBERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64")
SIZES = (0, 1, 2, 31, 32, 33, 1023, 5000)  # the last one is above a tile of merge
CUDA_NAMES = {"bool": "unsigned char", "int8": "signed char", "int16": "short", "int32": "int", "int64": "long long", "uint8": "unsigned char",
              "uint16": "unsigned short", "uint32": "unsigned", "uint64": "unsigned long long", "float16": "__half", "float32": "float",
              "float64": "double"}
TRADE = "struct trade { float price; int id; };\n"
CHEAPER = TRADE + "FATLINK_LESS(trade, a, b) { return a.price < b.price; }\n"
PRICE = TRADE + "FATLINK_KEY(trade, x) { return fatlink::descending(x.price); }\n"


def in_gpu_memory(array):
    """An array that states to be on a GPU; no test here uses its memory."""
    return OnlyDlpack(array, (2, 0))


def descending_order(x):
    """The indexes of the elements in descending order; equal elements keep their order, NaN is first."""
    return len(x) - 1 - numpy.argsort(x[::-1], kind="stable")[::-1]


class SortedCase(NumpyCase):
    def setUp(self):
        super().setUp()
        generator = numpy.random.default_rng(0)
        self.numbers = generator.integers(0, 100, 20_000)
        self.x = numpy.sort(self.numbers[:5000]).astype(numpy.int32)
        self.y = numpy.sort(self.numbers[5000:9000]).astype(numpy.int32)

    def trades(self, prices, first=0):
        trades = numpy.zeros(len(prices), [("price", "f4"), ("id", "i4")])
        trades["price"], trades["id"] = prices, numpy.arange(first, first + len(prices))
        return trades

    def refuse(self, cls, function, *arguments, says, **options):
        with self.subTest(function=function.__name__, says=says):
            self.assert_error(cls, function, *arguments, says=says, **options)


class Merge(SortedCase):
    def assert_merged(self, x, y, *arguments, **options):
        self.assert_equal_arrays(fatlink.merge(x, y, *arguments, **options), numpy.sort(numpy.concatenate([x, y]), kind="stable"))

    def test_elements_of_every_type(self):
        for name in (*NUMBERS, "bool"):
            x, y = (numpy.sort((part > 50) if name == "bool" else part.astype(name)) for part in (self.numbers[:5000], self.numbers[5000:9000]))
            with self.subTest(type=name):
                self.assert_merged(x, y)

    def test_every_pair_of_sizes(self):
        for first in SIZES:
            for second in SIZES:
                with self.subTest(sizes=(first, second)):
                    self.assert_merged(self.x[:first], self.y[:second])

    def test_one_array_before_the_other_and_equal_elements(self):
        low, high = numpy.arange(9000, dtype=numpy.int64), numpy.arange(9000, 18_000)
        for x, y in ((low, high), (high, low), (low, low), (low[::2].copy(), low[1::2].copy()), (numpy.zeros(9000), numpy.zeros(9000))):
            self.assert_merged(x, y)

    def test_slices_are_merged_like_copies(self):
        for name in "uint8", "float16", "int32", "float64":
            x, y = numpy.sort(self.numbers.astype(name))[1:], numpy.sort(self.numbers.astype(name))[3:7000]
            out = numpy.full(len(x) + len(y) + 5, 7, name)
            with self.subTest(type=name):
                self.assert_merged(x, y, out=out[3:-2])
                self.assertEqual((set(out[:3]), set(out[-2:])), ({7}, {7}))

    def test_equal_elements_of_x_come_first(self):
        x, y = self.trades(self.x % 7), self.trades(self.y % 7, first=5000)
        x, y = x[numpy.argsort(x["price"], kind="stable")], y[numpy.argsort(y["price"], kind="stable")]
        both = numpy.concatenate([x, y])
        expected = both[numpy.argsort(both["price"], kind="stable")]
        for mode in "lto", "ptx":
            self.assert_equal_arrays(fatlink.merge(x, y, CHEAPER, mode=mode), expected)

    def test_structs_of_16_and_32_bytes(self):
        for size in 16, 32:
            dtype = [("price", "f8"), ("more", "u1", size - 8)]
            x, y = numpy.zeros(5000, dtype), numpy.zeros(4000, dtype)
            x["price"], y["price"], y["more"][:] = self.x, self.y, 1
            both = numpy.concatenate([x, y])
            source = f"struct record {{ double price; unsigned char more[{size - 8}]; }};\nFATLINK_LESS(record, a, b) {{ return a.price < b.price; }}\n"
            with self.subTest(size=size):
                self.assert_equal_arrays(fatlink.merge(x, y, source), both[numpy.argsort(both["price"], kind="stable")])

    def test_every_form_of_operators(self):
        file = self.folder / "less.cu"
        file.write_text("FATLINK_LESS(int, a, b) { return a < b; }")
        for op in ("less", "less_int32", operator.lt, numpy.less, file, str(file), fatlink.compile(file.read_text(), contract="less_4", name="less.cu")):
            with self.subTest(op=op):
                self.assert_merged(self.x, self.y, op)

    def test_descending_arrays(self):
        for op in "greater", operator.gt, "FATLINK_LESS(int, a, b) { return b < a; }":
            self.assert_equal_arrays(fatlink.merge(self.x[::-1].copy(), self.y[::-1].copy(), op),
                                     numpy.sort(numpy.concatenate([self.x, self.y]))[::-1])

    def test_of_nan_is_the_order_of_sort(self):
        for name in "float16", "float32", "float64":
            x, y = numpy.array([numpy.nan, 3, 1, -0.0, numpy.inf], name), numpy.array([2, numpy.nan, 0.0, numpy.nan], name)
            both = numpy.concatenate([x, y])
            for order in "less", "greater":
                with self.subTest(type=name, order=order):
                    merged = fatlink.merge(fatlink.sort(x, order), fatlink.sort(y, order), order)
                    self.assert_equal_arrays(merged, fatlink.sort(both, order))

    def test_writes_to_out(self):
        out = numpy.zeros(9000, numpy.int32)
        self.assertIs(fatlink.merge(self.x, self.y, out=out), out)
        self.assert_equal_arrays(out, numpy.sort(numpy.concatenate([self.x, self.y])))

    def test_the_arrays_may_be_one(self):
        self.assert_merged(self.x, self.x)


class SearchSorted(SortedCase):
    def assert_found(self, x, values, *arguments, **options):
        for side in "left", "right":
            with self.subTest(side=side):
                found = fatlink.searchsorted(x, values, *arguments, side=side, **options)
                self.assert_equal_arrays(found, numpy.searchsorted(x, values, side).astype(numpy.uint64))

    def test_elements_of_every_type(self):
        for name in NUMBERS:
            with self.subTest(type=name):
                self.assert_found(numpy.sort(self.numbers[:5000].astype(name)), self.numbers[5000:9000].astype(name))

    def test_bool(self):
        self.assert_found(numpy.sort(self.numbers[:5000] > 50), self.numbers[5000:5010] > 50)

    def test_every_pair_of_sizes(self):
        values = self.numbers[5000:].astype(numpy.int32)
        for first in SIZES:
            for second in SIZES:
                with self.subTest(sizes=(first, second)):
                    self.assert_found(self.x[:first], values[:second])

    def test_arrays_larger_than_the_nodes_in_shared_memory(self):
        x = numpy.arange(0, 200_000, 2)
        self.assert_found(x, numpy.arange(-3, 200_003, 97))

    def test_values_outside_and_between(self):
        x = numpy.array([10, 20, 20, 30], numpy.int16)
        self.assert_found(x, numpy.arange(0, 40, dtype=numpy.int16))
        limits = numpy.iinfo(numpy.int64)
        self.assert_found(numpy.array([limits.min, 0, limits.max]), numpy.array([limits.min, -1, 0, 1, limits.max]))

    def test_slices_are_searched_like_copies(self):
        for name in "uint8", "float16", "int32", "float64":
            with self.subTest(type=name):
                self.assert_found(numpy.sort(self.numbers.astype(name))[1:], self.numbers.astype(name)[3:700])

    def test_structs(self):
        trades, wanted = self.trades(self.x), self.trades(self.numbers[9000:9500] - 3.5)
        for side in "left", "right":
            self.assert_equal_arrays(fatlink.searchsorted(trades, wanted, CHEAPER, side=side),
                                     numpy.searchsorted(trades["price"], wanted["price"], side).astype(numpy.uint64))

    def test_descending_arrays(self):
        x, values = self.x[::-1].copy(), self.y
        for side in "left", "right":
            self.assert_equal_arrays(fatlink.searchsorted(x, values, "greater", side=side),
                                     numpy.searchsorted(-x, -values, side).astype(numpy.uint64))

    def test_of_nan_is_the_order_of_sort(self):
        for name in "float16", "float32", "float64":
            x = numpy.sort(numpy.array([numpy.nan, 3, 1, -0.0, numpy.inf, numpy.nan], name))
            with self.subTest(type=name):
                self.assert_found(x, numpy.array([numpy.nan, 2, 0.0, -0.0, 5, numpy.inf], name))

    def test_indexes_may_be_signed(self):
        for dtype in numpy.int64, numpy.uint64:
            out = numpy.zeros(4000, dtype)
            self.assertIs(fatlink.searchsorted(self.x, self.y, out=out), out)
            self.assert_equal_arrays(out, numpy.searchsorted(self.x, self.y).astype(dtype))


class MergeAndSearchRefusals(SortedCase):
    def setUp(self):
        super().setUp()
        self.x, self.y = self.x[:6].copy(), self.y[:6].copy()
        self.functions = (fatlink.merge, "y"), (fatlink.searchsorted, "values")

    def test_arrays_of_several_dimensions(self):
        for function, argument in self.functions:
            self.refuse(fatlink.UsageError, function, self.x.reshape(2, 3), self.y, hint="x.reshape(-1)",
                        says=f"{function.__name__} takes arrays of one dimension; this one has the shape (2, 3)")
            for other in self.y.reshape(3, 2), numpy.array(3, numpy.int32):
                self.refuse(fatlink.UsageError, function, self.x, other, says=f"{argument} has the shape {other.shape}",
                            hint=f"pass {argument}.reshape(-1)")

    def test_arrays_of_several_types(self):
        for function, argument in self.functions:
            for other in "float32", "int64", "uint32", "bool":
                self.refuse(fatlink.UsageTypeError, function, self.x, self.y.astype(other),
                            says=f"{argument} is an array of {other}, x of int32", hint="convert one of them")

    def test_arrays_of_several_places(self):
        for function, argument in self.functions:
            self.refuse(fatlink.UsageError, function, self.x, in_gpu_memory(self.y), code="several-devices", hint="one device",
                        says=f"x is in the host's memory, {argument} in the memory of gpu:0")
            self.refuse(fatlink.UsageError, function, in_gpu_memory(self.x), self.y, code="several-devices",
                        says=f"x is in the memory of gpu:0, {argument} in the host's memory")
        self.refuse(fatlink.UsageError, fatlink.searchsorted, self.x, self.y, out=in_gpu_memory(numpy.zeros(6, numpy.int64)),
                    says="out in the memory of gpu:0")

    def test_numbers_and_lists(self):
        for function, argument in self.functions:
            for wrong in 3, [3], None:
                self.refuse(fatlink.UsageTypeError, function, self.x, wrong, says=(f"{argument}: ", "is not an array"))
                self.refuse(fatlink.UsageTypeError, function, wrong, self.x, says=("x: ", "is not an array"))

    def test_sides(self):
        for side in "middle", "LEFT", None, True, 0, []:
            self.refuse(fatlink.UsageError, fatlink.searchsorted, self.x, self.y, side=side, says=f"side is {side!r}",
                        hint='pass "left" or "right"')

    def test_outputs(self):
        self.refuse(fatlink.UsageError, fatlink.merge, self.x, self.y, out=numpy.zeros(11, numpy.int32),
                    says="out has the shape (11,); the result has (12,)", hint="shape")
        self.refuse(fatlink.UsageTypeError, fatlink.merge, self.x, self.y, out=numpy.zeros(12, numpy.float32), says="out is an array of float32")
        both = numpy.concatenate([self.x, self.y])
        self.refuse(fatlink.UsageError, fatlink.merge, both[:6], both[6:], out=both, says="out overlaps in")
        self.refuse(fatlink.UsageError, fatlink.searchsorted, self.x, self.y, out=numpy.zeros(5, numpy.int64),
                    says="out has the shape (5,); the result has (6,)")
        self.refuse(fatlink.UsageTypeError, fatlink.searchsorted, self.x, self.y, out=numpy.zeros(6, numpy.int32), says="out is an array of int32")

    def test_operators(self):
        for function, op in zip((fatlink.merge, fatlink.searchsorted), ("add", "FATLINK_KEY(int, x) { return fatlink::ascending(x); }")):
            self.refuse(fatlink.UsageError, function, self.x, self.y, op, code="wrong-operator", hint="FATLINK_LESS",
                        says=(" is for ", f", not for {function.__name__}"))
            self.refuse(fatlink.UsageError, function, self.x, self.y, "lesser", code="no-operator", hint="did you mean 'less'?",
                        says="unknown operator 'lesser' for int32 (contract less_4)")
        self.refuse(fatlink.UsageTypeError, fatlink.merge, self.x, self.y, "less_float", code="wrong-operator",
                    says="operator less_float takes float32, but x is an array of int32")
        for function, _ in self.functions:
            for wrong in 3, None, self.y:
                self.refuse(fatlink.UsageTypeError, function, self.x, self.y, wrong, says="op is ", hint="pass a name, a file")

    def test_elements_without_an_order(self):
        for values in self.x.astype(numpy.complex64), self.trades(self.x):
            self.refuse(fatlink.UsageError, fatlink.searchsorted, values, values, code="no-operator", says="unknown operator 'less' for ",
                        hint="FATLINK_LESS")
        large = numpy.zeros(4, [("a", "f4", 3)])
        for function, name in (fatlink.merge, "merge"), (fatlink.searchsorted, "bound"):
            self.refuse(fatlink.UsageTypeError, function, large, large, says=(name, "takes elements of 1, 2, 4, 8, 16 or 32 bytes"),
                        hint="pad the struct")

    def test_unknown_arguments(self):
        self.refuse(fatlink.UsageTypeError, fatlink.merge, self.x, self.y, descending=True, says="merge() has no argument 'descending'",
                    hint='"greater"')
        self.refuse(fatlink.UsageTypeError, fatlink.searchsorted, self.x, self.y, sorter=self.x, says="searchsorted() has no argument 'sorter'",
                    hint="index x first")
        self.refuse(fatlink.UsageTypeError, fatlink.searchsorted, self.x, self.y, right=True, says="searchsorted() has no argument 'right'")


class TopK(SortedCase):
    def assert_top(self, x, k, order, *arguments, **options):
        elements, indexes = fatlink.top_k(x, k, *arguments, **options)
        self.assert_equal_arrays(indexes, order[:k].astype(numpy.uint64))
        self.assert_equal_arrays(elements, x[order[:k]])

    def test_elements_of_every_type(self):
        for name in (*NUMBERS, "bool"):
            x = self.numbers[:9000] > 50 if name == "bool" else (self.numbers[:9000] - 50).astype(name)
            with self.subTest(type=name):
                for k in 7, 2000:
                    self.assert_top(x, k, descending_order(x))
                    self.assert_top(x, k, numpy.argsort(x, kind="stable"), "less")

    def test_sizes(self):
        x = (self.numbers * 7919 % 1000).astype(numpy.float32)
        for count in SIZES:
            for k in {0, 1, 2, 31, 32, 33, count // 2, count - 1, count}:
                if 0 <= k <= count:
                    with self.subTest(count=count, k=k):
                        self.assert_top(x[:count], k, descending_order(x[:count]))

    def test_numbers_of_results_that_take_other_kernels(self):
        """Of elements of 4 bytes: other launches for more than 5,760 elements, and for more than 1,152 and 5,760 results."""
        x = (self.numbers * 7919 % 10_007).astype(numpy.int32)
        for count, k in ((5760, 5760), (5761, 1), (20_000, 1), (20_000, 1152), (20_000, 1153), (20_000, 5760), (20_000, 5761), (20_000, 19_999),
                         (20_000, 20_000)):
            with self.subTest(count=count, k=k):
                self.assert_top(x[:count], k, descending_order(x[:count]))

    def test_equal_elements_are_returned_in_order(self):
        for x in numpy.zeros(20_000, numpy.float32), numpy.full(9000, 255, numpy.uint8), numpy.full(9000, -1, numpy.int64):
            self.assert_top(x, 3000, numpy.arange(len(x)))

    def test_order_of_nan_and_zeros(self):
        special = [numpy.nan, -numpy.nan, 0.0, -0.0, numpy.inf, -numpy.inf, 1.5, -1.5, 6e-8, -6e-8, 0.0, -0.0, numpy.nan]
        for name in "float16", "float32", "float64":
            x = numpy.resize(numpy.array(special, name), 9000)
            for k in 5, 13, 4000:
                with self.subTest(type=name, k=k):
                    self.assert_top(x, k, descending_order(x))
                    self.assert_top(x, k, numpy.argsort(x, kind="stable"), "less")

    def test_results_are_those_of_sort(self):
        x = self.numbers.astype(numpy.int16)
        for order in "less", "greater":
            elements, _ = fatlink.top_k(x, 700, order)
            self.assert_equal_arrays(elements, fatlink.sort(x, order)[:700])

    def test_every_form_of_the_order(self):
        for order in "greater", operator.gt, numpy.greater:
            self.assert_top(self.x, 5, descending_order(self.x), order)
        for order in "less", operator.lt, numpy.less:
            self.assert_top(self.x, 5, numpy.arange(5000), order)

    def test_structs_by_a_key(self):
        trades = self.trades(self.numbers[:9000])
        for mode in "lto", "ptx":
            self.assert_top(trades, 300, descending_order(trades["price"]), key=PRICE, mode=mode)
        file = self.folder / "price.cu"
        file.write_text(PRICE)
        self.assert_top(trades, 300, descending_order(trades["price"]), key=file, bits=32)

    def test_installed_keys_and_fewer_bits(self):
        x = (self.numbers * 7919 % 10_007).astype(numpy.uint32)
        for key in "ascending_uint32", "ascending":
            self.assert_top(x, 100, numpy.argsort(x, kind="stable"), key=key)
        self.assert_top(x, 100, numpy.argsort(x & 0xFF, kind="stable"), key="ascending_uint32", bits=8)
        self.assert_top(x, 100, descending_order(x), key="descending_uint32")

    def test_k_is_any_whole_number(self):
        for k in numpy.int64(3), numpy.uint8(3), numpy.array(3):
            self.assert_top(self.x, 3, descending_order(self.x))
            self.assertEqual(len(fatlink.top_k(self.x, k)[0]), 3)

    def test_writes_to_outputs(self):
        x = self.numbers.astype(numpy.float64)
        for dtype in numpy.int64, numpy.uint64:
            out, indexes = numpy.zeros(9), numpy.zeros(9, dtype)
            results = fatlink.top_k(x, 9, out=out, out_indexes=indexes)
            self.assertIs(results[0], out)
            self.assertIs(results[1], indexes)
            self.assert_equal_arrays(indexes, descending_order(x)[:9].astype(dtype))

    def test_slices_are_searched_like_copies(self):
        for name in "uint8", "float16", "float64":
            x = self.numbers.astype(name)[1:]
            with self.subTest(type=name):
                self.assert_top(x, 100, descending_order(x))

    @long_test  # test_sizes has some of them
    def test_every_number_of_results(self):
        x = (self.numbers[:7000] * 7919 % 1000).astype(numpy.float32)
        for k in range(0, 7001, 97):
            self.assert_top(x, k, descending_order(x))


class TopKRefusals(SortedCase):
    def test_numbers_of_results(self):
        for k in -1, 5001, 2**70, True, 1.0, "3", None, [3]:
            self.refuse(fatlink.UsageError, fatlink.top_k, self.x, k, says=f"k is {k!r}; x has 5000 elements",
                        hint="pass a whole number from 0 to the number of elements, at most 2^28")

    def test_orders(self):
        for op in "max", "largest", "descending", "less_int32", "FATLINK_LESS(int, a, b) { return a < b; }", operator.eq, 3, None:
            self.refuse(fatlink.UsageError, fatlink.top_k, self.x, 1, op, says="op is ", code="wrong-operator",
                        hint='pass "greater" or "less"; for another order pass key=')

    def test_keys_and_bits(self):
        for op in "less", "FATLINK_LESS(int, a, b) { return a < b; }":
            self.refuse(fatlink.UsageError, fatlink.top_k, self.x, 1, op, key="ascending_int32", says="op and key are both given",
                        hint="leave out op: the key is the order")
        self.refuse(fatlink.UsageError, fatlink.top_k, self.x, 1, bits=8, says="bits without key", hint="pass key=")
        for bits in 0, 65, -8, 1.5, True, "8":
            self.refuse(fatlink.UsageError, fatlink.top_k, self.x, 1, key="ascending_int32", bits=bits, says=f"bits is {bits!r}",
                        hint="from 1 to 64")
        self.refuse(fatlink.UsageTypeError, fatlink.top_k, self.x, 1, key=abs, says="key is a Python function", hint="FATLINK_KEY")
        self.refuse(fatlink.UsageTypeError, fatlink.top_k, self.x, 1, key=3, says="key is 3", hint="FATLINK_KEY")
        self.refuse(fatlink.UsageTypeError, fatlink.top_k, self.x, 1, key="ascending_float32", code="wrong-operator",
                    says="operator ascending_float32 takes float32, but x is an array of int32")
        self.refuse(fatlink.UsageError, fatlink.top_k, self.x, 1, key="less_int32", code="wrong-operator", says="not for top_k(key=…)",
                    hint="ascending_int32")
        self.refuse(fatlink.UsageError, fatlink.top_k, self.x, 1, key="price", code="no-operator", hint="FATLINK_KEY",
                    says="unknown operator 'price' for int32 (contract key_4)")

    def test_arrays(self):
        self.refuse(fatlink.UsageError, fatlink.top_k, self.x.reshape(50, 100), 1, hint="reshape(-1)",
                    says="top_k takes arrays of one dimension; this one has the shape (50, 100)")
        self.refuse(fatlink.UsageTypeError, fatlink.top_k, [3, 1], 1, says=("x: ", "is not an array"))
        self.refuse(fatlink.UsageError, fatlink.top_k, self.trades(self.x), 1, says="unknown operator 'descending' for {price: float32, id: int32}",
                    hint="FATLINK_KEY")
        self.refuse(fatlink.UsageTypeError, fatlink.top_k, numpy.zeros(4, [("a", "f4", 3)]), 1, key="by_value", hint="pad the struct",
                    says="top_k takes elements of 1, 2, 4, 8, 16 or 32 bytes")

    def test_outputs(self):
        self.refuse(fatlink.UsageError, fatlink.top_k, self.x, 2, out=numpy.zeros(3, numpy.int32), says="out has the shape (3,); the result has (2,)")
        self.refuse(fatlink.UsageTypeError, fatlink.top_k, self.x, 2, out=numpy.zeros(2, numpy.float32), says="out is an array of float32")
        self.refuse(fatlink.UsageError, fatlink.top_k, self.x, 2, out_indexes=numpy.zeros(3, numpy.int64),
                    says="out_indexes has the shape (3,); the result has (2,)")
        self.refuse(fatlink.UsageTypeError, fatlink.top_k, self.x, 2, out_indexes=numpy.zeros(2, numpy.int32),
                    says="out_indexes is an array of int32")
        self.refuse(fatlink.UsageError, fatlink.top_k, self.x, 2, out_indexes=in_gpu_memory(numpy.zeros(2, numpy.int64)),
                    says="out_indexes in the memory of gpu:0", code="several-devices")
        self.refuse(fatlink.UsageError, fatlink.top_k, self.x, 2, out=self.x[:2], says="out overlaps in")

    def test_unknown_arguments(self):
        self.refuse(fatlink.UsageTypeError, fatlink.top_k, self.x, 2, dim=0, says="top_k() has no argument 'dim'", hint="help(fatlink.top_k)")
        for name in "largest", "sorted":
            self.refuse(fatlink.UsageTypeError, fatlink.top_k, self.x, 2, **{name: True}, says=f"top_k() has no argument '{name}'")


class Partition3(SortedCase):
    SIGNS = "FATLINK_PART(float, x) { return x < 0 ? 0 : x > 0 ? 2 : 1; }"

    def setUp(self):
        super().setUp()
        self.values = (self.numbers % 9 - 4).astype(numpy.float32)

    def assert_parts(self, x, parts, *arguments, **options):
        results = fatlink.partition3(x, *arguments, **options)
        self.assertIsInstance(results, tuple)
        for index in range(3):
            self.assert_equal_arrays(results[index], x[parts == index])

    def test_elements_of_every_type(self):
        for name in NUMBERS:
            header = "#include <cuda_fp16.h>\n" if name == "float16" else ""
            source = f"{header}using number = {CUDA_NAMES[name]};\nFATLINK_PART(number, x) {{ return x < number(30) ? 0 : x < number(60) ? 1 : 2; }}"
            with self.subTest(type=name):
                self.assert_parts(self.numbers.astype(name), self.numbers // 30 - (self.numbers >= 90), source)

    def test_complex_elements(self):
        x = self.numbers + 1j * self.numbers[::-1]
        for name, type_name in ("complex64", "float2"), ("complex128", "double2"):
            self.assert_parts(x.astype(name), self.numbers[::-1] // 34, f"FATLINK_PART({type_name}, x) {{ return x.y < 34 ? 0 : x.y < 68 ? 1 : 2; }}")

    def test_sizes(self):
        for count in (*SIZES, 16_384, 16_385, 20_000):
            x = self.values[:count]
            with self.subTest(count=count):
                self.assert_parts(x, numpy.sign(x) + 1, "signs_float")
                bytes_of_x = self.numbers[:count].astype(numpy.uint8)
                self.assert_parts(bytes_of_x, bytes_of_x % 3, "residues_uint8")

    def test_parts_that_are_empty_or_all(self):
        for part in 0, 1, 2:
            self.assert_parts(self.values, numpy.full(20_000, part), f"FATLINK_PART(float, x) {{ return {part}; }}")

    def test_any_other_number_is_the_third_part(self):
        for other in "7", "-1", "4294967295u", "2":
            source = f"FATLINK_PART(float, x) {{ return x < 0 ? 0 : x > 0 ? {other} : 1; }}"
            with self.subTest(other=other):
                self.assert_parts(self.values[:300], numpy.sign(self.values[:300]) + 1, source)

    def test_nan_is_with_the_positive_numbers_of_signs_float(self):
        x = numpy.array([numpy.nan, -0.0, 0.0, -1, numpy.inf], numpy.float32)
        self.assert_parts(x, numpy.array([2, 1, 1, 0, 2]), "signs_float")

    def test_every_form_of_operators(self):
        file = self.folder / "signs.cu"
        file.write_text(self.SIGNS)
        x = self.values[:300]
        for op in "signs", "signs_float", self.SIGNS, file, str(file), fatlink.compile(self.SIGNS, contract="part_4", name="signs.cu"):
            with self.subTest(op=op):
                self.assert_parts(x, numpy.sign(x) + 1, op)

    def test_modes(self):
        for mode in "lto", "ptx":
            self.assert_parts(self.values, numpy.sign(self.values) + 1, "signs_float", mode=mode)

    def test_structs_and_a_state(self):
        records = numpy.zeros(5000, [("score", "f4"), ("index", "i4")])
        records["score"], records["index"] = self.values[:5000], range(5000)
        scores = records["score"]
        for low, high in (-2, 2), (0, 0), (9, 10):
            self.assert_parts(records, numpy.where(scores < low, 0, numpy.where(scores <= high, 1, 2)), "by_range",
                              state=numpy.array([low, high], numpy.float32))

    def test_slices_are_divided_like_copies(self):
        self.assert_parts(self.values[1:], numpy.sign(self.values[1:]) + 1, "signs_float")
        part = self.numbers.astype(numpy.uint8)[3:9000]
        self.assert_parts(part, part % 3, "residues_uint8")

    def test_writes_to_outputs(self):
        outputs = {name: numpy.full(20_000, 77, numpy.float32) for name in ("out", "second", "third")}
        results = fatlink.partition3(self.values, "signs_float", **outputs)
        for result, out, sign in zip(results, outputs.values(), (-1, 0, 1)):
            self.assertIs(result.base, out)
            self.assert_equal_arrays(result, self.values[numpy.sign(self.values) == sign])
            self.assertEqual(set(out[len(result):]), {77}, "elements behind the results were written")

    def test_numbers_of_elements_in_an_array(self):
        for dtype in numpy.int64, numpy.uint64:
            counts = numpy.full(2, 77, dtype)
            results = fatlink.partition3(self.values, "signs_float", counts=counts)
            self.assertEqual(counts.tolist(), [(self.values < 0).sum(), (self.values == 0).sum()])
            self.assertEqual([len(result) for result in results], [20_000] * 3)
            for result, count, sign in zip(results, (*counts, 20_000 - counts.sum()), (-1, 0, 1)):
                self.assert_equal_arrays(result[:int(count)], self.values[numpy.sign(self.values) == sign])
        fatlink.partition3(self.values[:0], "signs_float", counts=counts)
        self.assertEqual(counts.tolist(), [0, 0])


class Partition3Refusals(SortedCase):
    def setUp(self):
        super().setUp()
        self.values = self.numbers[:100].astype(numpy.float32)

    def call(self, x=None, op="signs_float", **options):
        return fatlink.partition3(self.values if x is None else x, op, **options)

    def test_arrays(self):
        self.refuse(fatlink.UsageError, self.call, self.values.reshape(10, 10), hint="reshape(-1)",
                    says="partition3 takes arrays of one dimension; this one has the shape (10, 10)")
        self.refuse(fatlink.UsageTypeError, self.call, numpy.zeros(4, [("a", "f4", 3)]), hint="pad the struct",
                    says="partition3 takes elements of 1, 2, 4, 8, 16 or 32 bytes; ")

    def test_operators(self):
        self.refuse(fatlink.UsageError, self.call, op="positive", code="wrong-operator", hint=("names for float32: signs_float", "FATLINK_PART(type, x)"),
                    says="operator positive is for select and partition, not for partition3")
        self.refuse(fatlink.UsageError, self.call, op="FATLINK_KEEP(float, x) { return x > 0; }", code="wrong-operator",
                    says="the CUDA source, which defines FATLINK_KEEP, is for select and partition, not for partition3")
        self.refuse(fatlink.UsageError, self.call, op="parts", code="no-operator", says="unknown operator 'parts' for float32 (contract part_4)")
        for op in "signs_int32", "FATLINK_PART(int, x) { return x; }", "FATLINK_PART(double, x) { return x > 0; }":
            self.refuse(fatlink.UsageTypeError, self.call, op=op, code="wrong-operator", says=" but x is an array of float32")
        for wrong in 3, None, self.values:
            self.refuse(fatlink.UsageTypeError, self.call, op=wrong, says="op is ", hint="pass a name, a file")
        self.refuse(fatlink.UsageError, lambda: fatlink.select(self.values, "signs_float"), code="wrong-operator",
                    says="operator signs_float is for partition3, not for select")

    def test_outputs(self):
        for name in "out", "second", "third":
            for shape in (99,), (10, 10):
                self.refuse(fatlink.UsageError, self.call, **{name: numpy.zeros(shape, numpy.float32)},
                            says=f"{name} has the shape {shape}; x has 100 elements",
                            hint="pass an array of one dimension with as many elements as x")
            self.refuse(fatlink.UsageTypeError, self.call, **{name: numpy.zeros(100, numpy.int32)}, says=f"{name} is an array of int32")
            self.refuse(fatlink.UsageError, self.call, **{name: in_gpu_memory(self.values)}, says="in the memory of gpu:0", code="several-devices")
        self.refuse(fatlink.UsageError, self.call, second=self.values, says="second overlaps in")
        one = numpy.zeros(100, numpy.float32)
        self.refuse(fatlink.UsageError, self.call, second=one, third=one, says=("second", "third", "overlaps"))

    def test_counts(self):
        for shape in (), (1,), (3,), (2, 1):
            self.refuse(fatlink.UsageError, self.call, counts=numpy.zeros(shape, numpy.int64),
                        says=f"counts has the shape {shape}; the result has (2,)")
        for dtype in "int32", "float64":
            self.refuse(fatlink.UsageTypeError, self.call, counts=numpy.zeros(2, dtype), says=f"counts is an array of {dtype}")
        self.refuse(fatlink.UsageTypeError, self.call, counts=[0, 0], says=("counts: ", "is not an array"))
        self.refuse(fatlink.UsageError, self.call, counts=in_gpu_memory(numpy.zeros(2, numpy.int64)), says="in the memory of gpu:0")

    def test_states(self):
        records = numpy.zeros(10, [("score", "f4"), ("index", "i4")])
        self.refuse(fatlink.UsageTypeError, lambda: fatlink.partition3(records, "by_range", state=numpy.zeros(2)), hint="structured dtype",
                    says=("state is an array of float64", "the state of by_range has low: float32, high: float32"))
        self.refuse(fatlink.UsageError, lambda: fatlink.partition3(records, "by_range", state=numpy.zeros(1, numpy.float32)),
                    says="state has 4 bytes; the state of by_range has 8")

    def test_unknown_arguments(self):
        self.refuse(fatlink.UsageTypeError, self.call, count=numpy.zeros(2, numpy.int64), says="partition3() has no argument 'count'")


class Names(SortedCase):
    def test_operators_of_each_function(self):
        for function, dtype, some in (("merge", "float32", ["less", "greater", "less_float"]), ("searchsorted", "int16", ["less", "greater"]),
                                      ("partition3", "float32", ["signs_float"]), ("partition3", "uint8", ["residues_uint8"]),
                                      ("partition3", "float64", []), ("top_k", "float32", ["greater", "less"]),
                                      ("reduce_by_key", "float32", ["add", "max", "add_float"]), ("run_lengths", "float32", ["equal", "same_float32"]),
                                      ("unique_by_key", "complex64", ["equal"]), ("run_lengths", [("a", "f4", 3)], [])):
            with self.subTest(function=function, dtype=dtype):
                names = fatlink.operators(function, dtype)
                self.assertLessEqual(set(some), set(names))
                if not some:
                    self.assertEqual(names, [])


@unittest.skipUnless(HAS_NUMBA, "Numba is not installed for this Python")
class PythonFunctions(SortedCase):
    def test_as_orders(self):
        for mode in "lto", "ptx":
            self.assert_equal_arrays(fatlink.merge(self.x, self.y, lambda a, b: a < b, mode=mode), numpy.sort(numpy.concatenate([self.x, self.y])))

    def test_as_orders_of_searches(self):
        self.assert_equal_arrays(fatlink.searchsorted(self.x, self.y, lambda a, b: a < b), numpy.searchsorted(self.x, self.y).astype(numpy.uint64))

    def test_as_parts(self):
        for mode in "lto", "ptx":
            parts = fatlink.partition3(self.x, lambda x: x // 34, mode=mode)
            for index in range(3):
                self.assert_equal_arrays(parts[index], self.x[self.x // 34 == index])

    def test_are_no_orders_of_top_k(self):
        self.assert_error(fatlink.UsageError, fatlink.top_k, self.x, 1, lambda a, b: a < b, says="op is <function", code="wrong-operator")


class Torch(FrameworkCase):
    module = "torch"

    def setUp(self):
        super().setUp()
        import torch
        self.torch = torch
        self.tensor = torch.from_numpy(self.numbers)

    def assert_tensors(self, results, expected):
        for result, wanted in zip(results, expected):
            self.assertEqual((type(result), result.dtype), (self.torch.Tensor, wanted.dtype))
            self.assertTrue(self.torch.equal(result, wanted), f"{result}, {wanted}")

    def test_results_are_tensors(self):
        torch = self.torch
        x, y = torch.sort(self.tensor).values, torch.sort(self.tensor[:70] + 1).values
        self.assert_tensors([fatlink.merge(x, y)], [torch.sort(torch.cat([x, y])).values])
        for side in "left", "right":
            self.assert_tensors([fatlink.searchsorted(x, y, side=side)], [torch.searchsorted(x, y, side=side)])
        values, indexes = torch.sort(self.tensor, descending=True, stable=True)
        self.assert_tensors(fatlink.top_k(self.tensor, 40), (values[:40], indexes[:40]))
        parts = fatlink.partition3(self.tensor, "signs_float")
        self.assert_tensors(parts, [self.tensor[self.tensor < 0], self.tensor[self.tensor == 0], self.tensor[self.tensor > 0]])

    def test_counts_in_a_tensor(self):
        counts = self.torch.zeros(2, dtype=self.torch.int64)
        parts = fatlink.partition3(self.tensor, "signs_float", counts=counts)
        self.assertEqual(counts.tolist(), [(self.numbers < 0).sum(), (self.numbers == 0).sum()])
        self.assert_tensors([parts[2][:300 - counts.sum()]], [self.tensor[self.tensor > 0]])

    def test_of_bfloat16(self):
        x = self.tensor.to(self.torch.bfloat16)
        values, indexes = self.torch.sort(x, descending=True, stable=True)
        self.assert_tensors(fatlink.top_k(x, 9), (values[:9], indexes[:9]))
        sorted_x = self.torch.sort(x).values
        self.assert_tensors([fatlink.merge(sorted_x, sorted_x)], [self.torch.sort(self.torch.cat([x, x])).values])

    def test_outputs_are_marked_as_written(self):
        out = self.torch.zeros(600)
        product = (self.torch.ones(600).requires_grad_() * out).sum()
        x = self.torch.sort(self.tensor).values
        fatlink.merge(x, x, out=out)
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
            product.backward()


if __name__ == "__main__":
    unittest.main()
