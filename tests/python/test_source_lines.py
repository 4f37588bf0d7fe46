# SPDX-License-Identifier: Apache-2.0
"""Operators with line information: CUDA source in a text is kept as a file, whose name is in the line table."""
import pathlib
import re
import unittest
import warnings
from unittest import mock

from python_case import NumpyCase, fatlink, numpy, require_numba

from fatlink import _python_operators

SUM = "FATLINK_COMBINE(float, a, b)\n{\n  return a + b;\n}\n"


class SourceLines(NumpyCase):
    def setUp(self):
        super().setUp()
        self.sources = self.folder / "cache" / "sources"
        fatlink.configure(cache_folder=self.folder / "cache")
        self.addCleanup(fatlink.configure, cache_folder=None, line_info=False)

    def names(self):
        return sorted(path.name for path in self.sources.iterdir()) if self.sources.exists() else []

    def reduce(self, op):
        self.assertEqual(fatlink.reduce(numpy.arange(1, 6, dtype=numpy.float32), op, init=0), 15)

    def test_keep_a_source_in_a_text(self):
        self.reduce(SUM)
        self.assertEqual(self.names(), [])
        fatlink.configure(line_info=True)
        self.reduce(SUM)
        name, = self.names()
        self.assertRegex(name, r"^operator\.[0-9a-f]{16}\.cu$")
        self.assertEqual((self.sources / name).read_text(), SUM)

    def test_of_compile_need_no_setting(self):
        compiled = fatlink.compile(SUM, contract="combine_4", name="sum.cu", line_info=True)
        name, = self.names()
        self.assertTrue(name.startswith("sum."), name)
        image = bytes(fatlink.link(["reduce_4", compiled], target="sm_90", mode="ptx"))
        self.assertIn(str(self.sources).encode(), image)
        self.assertIn(name.encode(), image)

    def test_of_python_functions_are_those_of_their_files(self):
        fatlink.configure(line_info=True)
        require_numba(self)
        compiled = []

        def compile_and_keep(*arguments, **options):
            compiled.append(compile_function(*arguments, **options))
            return compiled[-1]

        compile_function = _python_operators._compile
        with warnings.catch_warnings(), mock.patch.object(_python_operators, "_compile", compile_and_keep):
            warnings.simplefilter("ignore")  # of Numba
            result = fatlink.map(numpy.ones(2, numpy.float32), op=lambda x: x + 1, mode="ptx")
        self.assertEqual(result.tolist(), [2, 2])
        (ptx, _), *_ = compiled
        self.assertRegex(ptx, rb'\.file\s+1\s+"[^"]*/' + re.escape(pathlib.Path(__file__).name).encode() + b'"')
        self.assertEqual(self.names(), [])

    def test_need_true_or_false(self):
        self.assert_error(fatlink.UsageError, fatlink.configure, line_info=1, says="line_info is 1", hint="True or False")


if __name__ == "__main__":
    unittest.main()
