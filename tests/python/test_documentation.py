# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/python.md and docs/algorithms.md run, and print what the documents show."""
import doctest
import importlib.util
import inspect
import re
import unittest

from python_case import SOURCE, NumpyCase, fatlink, numpy, require_numba
from python_examples import DOCUMENT, examples, run_example


def algorithm_examples():
    """The same for docs/algorithms.md; the title is the number of the example."""
    text = DOCUMENT.with_name("algorithms.md").read_text()
    found = re.findall(r"^```python\n(.*?)^```\n+```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [(f"algorithms.md, example {number}", *example) for number, example in enumerate(found, 1)]


@unittest.skipUnless(SOURCE, "FATLINK_SOURCE names no folder with the documents")
class Examples(NumpyCase):
    def test_print_what_the_document_shows(self):
        self.assertEqual(len(examples()), 15)
        self.assertEqual(len(algorithm_examples()), 10)
        for title, script, output in (*examples(), *algorithm_examples()):
            with self.subTest(title=title):
                if "on a GPU" in title:
                    self.skipTest("tests/gpu/test_interoperation.py runs it")
                if "in Python" in title or "Numba" in title:
                    require_numba(self)
                if "JAX" in title and not importlib.util.find_spec("jax"):
                    self.skipTest("JAX is not installed for this Python")
                if "PyTorch" in title and not importlib.util.find_spec("torch"):
                    self.skipTest("PyTorch is not installed for this Python")
                self.assertEqual(run_example(self, script), output)

    def test_names_every_function_of_the_package(self):
        text = DOCUMENT.read_text()
        classes = {"Finding", "Hook", "LiveKernel", "Kernel", "PlanArgument", "SwapReport", "Device", "Image", "version"}
        for name in set(fatlink.__all__) - classes:
            with self.subTest(name=name):
                self.assertRegex(text, rf"`(?:fatlink\.)?{name}[(`.\]]|`{name}\b[^`]*`")


ALGORITHMS = ["reduce", "transform_reduce", "segmented_reduce", "scan", "exclusive_scan", "map", "select", "partition",
              "transform_select", "sort", "sort_pairs", "histogram", "partition3", "unique_consecutive", "reduce_by_key", "scan_by_key",
              "unique_by_key", "run_lengths", "top_k", "merge", "searchsorted", "segmented_sort"]


class Docstrings(NumpyCase):
    def test_explain_every_parameter(self):
        for name in ALGORITHMS:
            function = getattr(fatlink, name)
            for parameter in inspect.signature(function).parameters.values():
                if parameter.kind is not parameter.VAR_KEYWORD:
                    with self.subTest(function=name, parameter=parameter.name):
                        self.assertRegex(function.__doc__, rf"(?m)^    (\w, )*{parameter.name}(, \w)* +\S")

    def test_have_an_example_that_prints_what_it_shows(self):
        for name in [*ALGORITHMS, "operators"]:
            examples = doctest.DocTestParser().get_examples(getattr(fatlink, name).__doc__)
            self.assertEqual(len(examples), 1, name)
            with self.subTest(function=name):
                shown = re.sub(r"np\.\w+\((.*?)\)", r"\1", repr(eval(examples[0].source, {"fatlink": fatlink, "numpy": numpy})))
                self.assertEqual(shown, examples[0].want.strip())


if __name__ == "__main__":
    unittest.main()
