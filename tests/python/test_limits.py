# SPDX-License-Identifier: Apache-2.0
"""n=, the number of elements as an array on the device: results are those of the first n elements, and nothing else is written."""
import unittest

from python_case import NumpyCase, fatlink, numpy

COUNT = 9000
LIMITS = (0, 1, 4097, COUNT, COUNT + 5)
UNTOUCHED = -7


def number(value, dtype="int64"):
    return numpy.array([value], dtype)


class Limits(NumpyCase):
    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(1)
        self.x = random.integers(-50, 50, COUNT).astype(numpy.float32)
        self.keys = numpy.sort(random.integers(0, 900, COUNT)).astype(numpy.int32)

    def assert_first(self, result, expected, whole=True):
        """The first results are those expected; `whole`: no other element was written."""
        expected = numpy.asarray(expected)
        numpy.testing.assert_array_equal(result[:len(expected)], expected)
        if whole:
            self.assertTrue((result[len(expected):] == UNTOUCHED).all())

    def empty(self, dtype="float32"):
        return numpy.full(COUNT, UNTOUCHED, dtype)

    @staticmethod
    def limits():
        """Each limit as an array, and how many elements are within it."""
        return [(number(value), min(value, COUNT)) for value in LIMITS]

    def test_reductions(self):
        for n, count in self.limits():
            self.assertEqual(fatlink.reduce(self.x, n=n), self.x[:count].sum())
            self.assertEqual(fatlink.reduce(self.x, load="squares", n=n), (self.x[:count] ** 2).sum())
            bytes_ = self.keys.astype(numpy.uint8)
            numpy.testing.assert_array_equal(fatlink.histogram(bytes_, "byte_bins", n=n), numpy.bincount(bytes_[:count], minlength=256))

    def test_scans_and_maps(self):
        for n, count in self.limits():
            sums = numpy.cumsum(self.x[:count])
            self.assert_first(fatlink.scan(self.x, n=n, out=self.empty()), sums)
            self.assert_first(fatlink.exclusive_scan(self.x, n=n, out=self.empty()), sums - self.x[:count])
            self.assert_first(fatlink.scan(self.x, load="squares", n=n, out=self.empty()), numpy.cumsum(self.x[:count] ** 2))
            self.assert_first(fatlink.map(self.x, op="square", n=n, out=self.empty()), self.x[:count] ** 2)
            self.assert_first(fatlink.map(self.x, self.x, op="add", n=n, out=self.empty()), 2 * self.x[:count])

    def test_selections(self):
        for n, count in self.limits():
            x, keys = self.x[:count], self.keys[:count]
            numpy.testing.assert_array_equal(fatlink.select(self.x, "positive", n=n), x[x > 0])
            numpy.testing.assert_array_equal(fatlink.select(self.x, "positive", load="squares", n=n), (x ** 2)[x != 0])
            numpy.testing.assert_array_equal(fatlink.unique_consecutive(self.keys, n=n), numpy.unique(keys))

    def test_algorithms_by_key(self):
        for n, count in self.limits():
            x = self.x[:count]
            unique, heads, lengths = numpy.unique(self.keys[:count], return_index=True, return_counts=True)
            sums = numpy.add.reduceat(x, heads) if count else x
            for load, values in ((None, sums), ("squares", numpy.add.reduceat(x ** 2, heads) if count else x)):
                keys, results = fatlink.reduce_by_key(self.keys, self.x, load=load, n=n)
                numpy.testing.assert_array_equal(keys, unique)
                numpy.testing.assert_array_equal(results, values)
            keys, results = fatlink.run_lengths(self.keys, n=n)
            numpy.testing.assert_array_equal(results, lengths)
            keys, results = fatlink.unique_by_key(self.keys, self.x, n=n)
            numpy.testing.assert_array_equal(results, x[heads])
            scanned = numpy.cumsum(x) - numpy.repeat((numpy.cumsum(x) - x)[heads], lengths) if count else x
            self.assert_first(fatlink.scan_by_key(self.keys, self.x, n=n, out=self.empty()), scanned)

    def test_sorts(self):
        values = numpy.arange(COUNT, dtype=numpy.int32)
        for n, count in self.limits():
            order = numpy.argsort(self.x[:count], kind="stable")
            self.assert_first(fatlink.sort(self.x, n=n, out=self.empty()), self.x[order])
            keys, moved = fatlink.sort_pairs(self.x, values, n=n, out=self.empty(), out_values=self.empty(numpy.int32))
            self.assert_first(keys, self.x[order])
            self.assert_first(moved, values[order])
            self.assert_first(fatlink.sort(self.x, key="descending", n=n, out=self.empty()), numpy.sort(self.x[:count])[::-1])

    def test_a_chain_needs_no_number_on_the_host(self):
        count = number(0, numpy.uint64)
        kept = fatlink.select(self.x, "positive", count=count)
        ordered = fatlink.sort(kept, n=count)
        runs = number(0)
        values, lengths = fatlink.run_lengths(ordered, n=count, count=runs)
        total = fatlink.reduce(lengths, n=runs)
        expected, counts = numpy.unique(self.x[self.x > 0], return_counts=True)
        self.assert_first(values, expected, whole=False)
        self.assert_first(lengths, counts, whole=False)
        self.assertEqual(total, counts.sum())

    def test_what_is_no_number_of_elements_is_refused(self):
        for n, says in ((5, "n: builtins.int is not an array"), (numpy.zeros(2, numpy.int64), "n is an array of 2 int64"),
                        (numpy.zeros(1, numpy.int32), "n is an array of 1 int32")):
            with self.subTest(n=n), self.assertRaisesRegex(fatlink.UsageError, says):
                fatlink.reduce(self.x, n=n)
        with self.assertRaisesRegex(fatlink.UsageError, "n is given for an order that is no key"):
            fatlink.sort(self.x, "FATLINK_LESS(float, a, b) { return a < b; }", n=number(5))


if __name__ == "__main__":
    unittest.main()
