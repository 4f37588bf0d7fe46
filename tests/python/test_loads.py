# SPDX-License-Identifier: Apache-2.0
"""`load=`, an operator that computes the elements that an algorithm uses, on NumPy arrays, on the reference device."""
import functools
import unittest
import unittest.mock

from python_case import fatlink, numpy
from test_algorithms import AlgorithmCase

SQUARE = "FATLINK_LOAD({0}, {0}, x) {{ return x * x; }}"
COUNT = "FATLINK_LOAD_AT(long long, char, in, index) { return index; }"
THROUGH_INDEXES = "FATLINK_LOAD_AT(float, float, in, index) { return in[static_cast<unsigned const*>(state)[index]]; }"


class Loads(AlgorithmCase):
    @classmethod
    def setUpClass(cls):
        """Lists the installed operators, which the hints of errors name, only once."""
        super().setUpClass()
        if fatlink:
            from fatlink import _operator_names
            once = unittest.mock.patch.object(_operator_names, "_installed_operators", functools.cache(_operator_names._installed_operators))
            once.start()
            cls.addClassCleanup(once.stop)

    # The result for the array that `load` makes, as NumPy computes it.
    CALLS = ((fatlink.reduce, {}, lambda x: x.sum(dtype=x.dtype)), (fatlink.scan, {}, lambda x: x.cumsum(dtype=x.dtype)),
             (fatlink.exclusive_scan, {}, lambda x: x.cumsum(dtype=x.dtype) - x),
             (fatlink.select, {"op": "nonzero"}, lambda x: x[x != 0]),
             (fatlink.histogram, {"op": "FATLINK_BIN(TYPE, x) { return static_cast<unsigned>(static_cast<long long>(x)); }", "bins": 50},
              lambda x: (x.astype(int)[:, None] == numpy.arange(50)).sum(0, dtype=numpy.uint64))) if fatlink else ()
    CUDA_NAMES = {"float32": "float", "float64": "double", "int64": "long long", "uint16": "unsigned short", "uint8": "unsigned char"}

    def assert_calls(self, x, load, expected, **options):
        """The calls on `x` with `load` are those on the array `expected`."""
        for function, own, compute in self.CALLS:
            own = {name: value.replace("TYPE", self.CUDA_NAMES[str(expected.dtype)]) if name == "op" else value for name, value in own.items()}
            with self.subTest(function=function.__name__, load=load, count=len(x)):
                numpy.testing.assert_array_equal(result := function(x, load=load, **own, **options), wanted := compute(expected))
                self.assertEqual(result.dtype, wanted.dtype)

    def test_of_every_size(self):
        for count in 0, 1, 2, 31, 33, 1023, 5000:
            x = self.numbers[:count]
            self.assert_calls(x, "square", x * x)

    def test_of_every_size_of_elements_that_it_makes(self):
        x = numpy.arange(300, dtype=numpy.int32) % 9
        for name in "uint8", "uint16", "float64":  # other tests have 4 bytes
            self.assert_calls(x, f"FATLINK_LOAD({self.CUDA_NAMES[name]}, int, x) {{ return x + 1; }}", (x + 1).astype(name))

    def test_in_both_modes(self):
        for mode in "lto", "ptx":
            self.assert_calls(self.numbers, "square", self.numbers ** 2, mode=mode)

    def test_in_every_form(self):
        x = self.numbers
        source = SQUARE.format("float")
        file = self.folder / "own.cu"
        file.write_text(source)
        compiled = fatlink.compile(source, contract="load_4", name="own.cu")
        for load in "square", "squares_float", "squares", numpy.square, source, file, str(file), compiled:
            with self.subTest(load=load):
                self.assertEqual(fatlink.reduce(x, load=load), (x * x).sum())

    def test_of_families(self):
        for name in "int8", "float16", "float64", "complex64":
            x = (self.numbers[:200] % 6).astype(name) * (1j if name == "complex64" else 1)
            for load, made in (("square", x * x), ("abs", abs(x)), ("negate", -x)):
                if (name, load) == ("complex64", "abs"):
                    continue
                with self.subTest(type=name, load=load):
                    numpy.testing.assert_array_equal(fatlink.reduce(x, load=load, dtype=name), made.sum(dtype=name))

    def test_sums_of_narrow_integers_have_64_bits(self):
        x = numpy.full(300, 200, numpy.uint8)
        squares = x.astype(numpy.uint64) ** 2
        result = fatlink.reduce(x, load="square")
        self.assertEqual((result.dtype, result), (squares.dtype, squares.sum()))
        self.assert_equal_arrays(fatlink.scan(x, load="square"), squares.cumsum())
        self.assertEqual(fatlink.reduce(x, load="square", out=numpy.zeros(1, numpy.int32))[0], squares.sum())
        self.assertEqual(fatlink.reduce(x, "max", load="square"), 200 ** 2 % 256)  # not a sum: the type of the elements

    def test_to_another_type_in_one_pass(self):
        halves = numpy.full(5000, 0.5, numpy.float16)
        self.assert_calls(halves, "widen_float16", halves.astype(numpy.float32))
        self.assert_calls(halves, "widen", halves.astype(numpy.float32))
        self.assertEqual(fatlink.reduce(halves, load="negate", dtype="float64"), -2500)

    def test_with_a_state(self):
        order = numpy.random.default_rng(1).permutation(5000).astype(numpy.uint32)
        self.assert_calls(self.numbers, THROUGH_INDEXES, self.numbers[order], load_state=order)

    def test_with_a_state_of_the_predicate(self):
        above = "FATLINK_KEEP(float, x) { return x > *static_cast<float const*>(state); }"
        scaled = "FATLINK_LOAD(float, float, x) { return x * *static_cast<float const*>(state); }"
        three, seven = numpy.array([3], numpy.float32), numpy.array([7], numpy.float32)
        made = self.numbers * 3
        self.assert_equal_arrays(fatlink.select(self.numbers, above, load=scaled, load_state=three, state=seven), made[made > 7])
        bins = "FATLINK_BIN(float, x) { return static_cast<unsigned>(static_cast<int>(x - *static_cast<float const*>(state))); }"
        self.assertEqual(list(fatlink.histogram(self.numbers, bins, bins=6, load=scaled, load_state=three, state=seven)),
                         [(made == 7 + b).sum() for b in range(6)])

    def test_of_a_range(self):
        for count in 0, 1, 33, 5000:
            self.assert_calls(range(count), COUNT, numpy.arange(count))
        self.assert_calls(range(100), "indices", numpy.arange(100))
        out = numpy.zeros(10, numpy.int64)
        self.assertIs(fatlink.scan(range(10), load=COUNT, out=out), out)
        self.assertEqual(list(out), [0, 1, 3, 6, 10, 15, 21, 28, 36, 45])

    def test_of_a_range_that_is_refused(self):
        for x in range(1, 5), range(0, 6, 2):
            self.assert_error(fatlink.UsageError, fatlink.reduce, x, load=COUNT, says=f"x is {x}", hint="pass range(n)")
        self.assert_error(fatlink.UsageError, fatlink.reduce, range(5), says="x is range(0, 5)", hint="pass range(n) and load=")
        self.assert_error(fatlink.UsageTypeError, fatlink.reduce, range(5), load=SQUARE.format("float"), says="but x is a range",
                          hint="FATLINK_LOAD_AT(type, char, in, index)")
        self.assert_error(fatlink.UsageError, fatlink.reduce, range(5), load="square", says="unknown operator 'square' for indexes",
                          hint=("indices", "FATLINK_LOAD_AT"))

    def test_of_structs(self):
        points = numpy.zeros(100, [("x", "f4"), ("y", "f4")])
        points["x"], points["y"] = self.numbers[:100], self.numbers[100:200]
        struct = "struct point { float x, y; };\n"
        dot = struct + "FATLINK_LOAD(float, point, p) { return p.x * p.y; }"
        self.assert_calls(points, dot, points["x"] * points["y"])
        self.assert_error(fatlink.UsageTypeError, fatlink.reduce, points, load=dot.replace("x, y;", "y, x;"),
                          says="the struct of the CUDA source has others, at x")
        pair = numpy.dtype([("value", "f4"), ("index", "i4")])
        numbered = """struct pair { float value; int index; };
FATLINK_LOAD_AT(pair, float, in, index) { return {in[index], static_cast<int>(index)}; }"""
        best = fatlink.reduce(self.numbers, "argmax", load=numbered, dtype=pair, init=(float("-inf"), -1))
        self.assertEqual(best["index"], self.numbers.argmax())
        out = numpy.zeros(1, pair)
        self.assertEqual(fatlink.reduce(self.numbers, "argmax", load=numbered, out=out, init=(float("-inf"), -1))["index"], best["index"])
        self.assert_error(fatlink.UsageError, fatlink.reduce, self.numbers, "argmax", load=numbered, init=0,
                          says="the CUDA source makes structs of 8 bytes", hint="dtype=")
        self.assert_error(fatlink.UsageTypeError, fatlink.reduce, self.numbers, "argmax", load=numbered, init=0,
                          dtype=[("index", "i4"), ("value", "f4")], says="dtype has the fields", hint="define the struct")

    def test_that_do_not_fit(self):
        x = self.numbers

        def refused(says, hint, load="square", function=fatlink.reduce, cls=fatlink.UsageError, **options):
            self.assert_error(cls, function, x, load=load, says=says, hint=hint, **options)
        refused("operator add_int32 takes int32, but load makes float32", "names for float32: add", op="add_int32")
        refused("the CUDA source takes float64, but load makes float32", "let load make float64",
                op="FATLINK_COMBINE(double, a, b) { return a; }", init=0)
        refused("operator finite_float16 takes float16, but load makes float32", "finite", op="finite_float16", function=fatlink.select)
        refused("operator byte_bins takes uint8, but load makes float32", "uniform_bins", op="byte_bins", function=fatlink.histogram)
        refused("the CUDA source takes int32, but load makes float32", "let load make int32", function=fatlink.histogram,
                op="FATLINK_BIN(int, x) { return x; }")
        refused("the CUDA source takes int32, but x is an array of float32", "convert x to int32", SQUARE.format("int"))
        refused("the CUDA source takes float64, but x is an array of float32", "convert x to float64", SQUARE.format("double"))
        refused("operator squares_double takes float64, but x is an array of float32", "squares_float", "squares_double")
        refused("dtype is float64, but the CUDA source makes float32", "leave dtype= out", SQUARE.format("float"), dtype="float64")
        refused("unknown operator 'squre'", "did you mean 'square'", "squre")
        refused("operator add_float is for reduce", "FATLINK_LOAD(type, from, x)", "add_float")
        refused("which defines FATLINK_COMBINE, is for reduce", "square", "FATLINK_COMBINE(float, a, b) { return a; }")
        refused("load is 3", "pass a name", 3)
        refused("load is an array of dtype('float32')", "fatlink.map", x)
        self.assert_error(fatlink.CompileError, fatlink.reduce, x, load="FATLINK_LOAD(float, float, x) { return y; }", says='"y" is undefined')

    def test_that_are_missing(self):
        for function, options in ((fatlink.reduce, {}), (fatlink.scan, {}), (fatlink.exclusive_scan, {}), (fatlink.select, {"op": "positive"}),
                                  (fatlink.histogram, {"op": "uniform_bins"})):
            self.assert_error(fatlink.UsageError, function, self.numbers, load_state=self.numbers, **options,
                              says="load_state is given without load", hint="pass load=")
        for function, op in ((fatlink.select, "positive"), (fatlink.histogram, "uniform_bins")):
            self.assert_error(fatlink.UsageError, function, self.numbers, op, dtype="float32", says="dtype is given without load")

    def test_are_found_once(self):
        from fatlink import _kept_calls
        fatlink.reduce(self.numbers, load=SQUARE.format("float"))
        with unittest.mock.patch.object(_kept_calls, "_prepare", side_effect=AssertionError):
            fatlink.reduce(self.numbers[:7], load=SQUARE.format("float"))

    def test_are_listed(self):
        names = fatlink.operators("reduce(load=…)", "float32")
        self.assertEqual(names, ["abs", "negate", "square", "magnitudes_float", "squares_float"])
        self.assertIn("widen_float16", fatlink.operators("scan(load=…)", "float16"))


if __name__ == "__main__":
    unittest.main()
