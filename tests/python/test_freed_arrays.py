# SPDX-License-Identifier: Apache-2.0
"""Arrays of a first call, which tries several operators, are freed as soon as the caller drops them."""
import gc
import unittest
import weakref

from python_case import NumpyCase, fatlink, numpy

CALLS = {
    "map": lambda x: fatlink.map(x, op="negate"),
    "map with a family": lambda x: fatlink.map(x, x, op="subtract"),
    "reduce": lambda x: fatlink.reduce(x, out=numpy.empty((), x.dtype)),
    "scan": fatlink.scan,
    "select": lambda x: fatlink.select(x, "positive"),
    "sort": fatlink.sort,
    "run_lengths": lambda x: fatlink.run_lengths(x)[1],
    "reduce_by_key": lambda x: fatlink.reduce_by_key(x, x)[1],
    "unique_by_key": lambda x: fatlink.unique_by_key(x, x)[1],
    "load": lambda x: fatlink.scan(x, load="square"),
}


class FreedArrays(NumpyCase):
    def setUp(self):
        super().setUp()
        self.need_links_and_compiles()
        fatlink.configure()  # makes the next call of each algorithm a first call
        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)

    def test_of_first_calls(self):
        for name, call in CALLS.items():
            with self.subTest(name):
                x = numpy.arange(10, dtype=numpy.int32)
                result = call(x)
                kept = weakref.ref(x), weakref.ref(result)
                del x, result
                self.assertEqual([array() is None for array in kept], [True, True])


if __name__ == "__main__":
    unittest.main()
