# SPDX-License-Identifier: Apache-2.0
"""Operators of PyTorch on the reference device, and the definitions that are refused."""
import inspect
import shutil
import subprocess
import sys
import unittest

from python_case import PACKAGE, PythonCase, fatlink, require_numba
from run_tests import long_test
from torch_operators_suite import TorchCase, TorchOperators, unused_name


class Operators(TorchOperators, TorchCase):
    @unittest.skipUnless(shutil.which("g++"), "no C++ compiler for Inductor")
    @long_test  # test_are_compiled_without_a_graph_break has the other parts of torch.compile
    def test_are_compiled_by_inductor(self):
        self.compile_with_inductor()


class Definitions(TorchCase):
    def refuse(self, cls, *arguments, **options):
        return self.assert_error(cls, self.operator, *arguments, **options)

    def test_that_are_wrong_are_refused(self):
        usage, kind = fatlink.UsageError, fatlink.UsageTypeError
        for name in ("silu", "a::b::c", "a b::c", "::c", 3):
            self.refuse(usage, name, "map", "square", says="name is ", hint='"mylib::silu"')
        for algorithm in ("select", "maps", None):
            self.refuse(usage, unused_name(), algorithm, "square", says=f"algorithm is {algorithm!r}",
                        hint=["map, reduce, scan, exclusive_scan, sort", "torch.library.custom_op"])
        self.refuse(kind, unused_name(), "map", says="op is None", hint="CUDA source")
        self.refuse(kind, unused_name(), "reduce", 3, says="op is 3")
        self.refuse(kind, unused_name(), "map", "square", init=1, says="init is not an argument of map", hint="arrays, dtype, gradient")
        self.refuse(kind, unused_name(), "sort", dtype="int32", says="dtype is not an argument of sort", hint="key, bits")
        self.refuse(kind, unused_name(), "reduce", "max", gradient="square", says="gradient is not an argument of reduce",
                    hint="call register_autograd")
        self.refuse(kind, unused_name(), "reduce", dtype="no_type", says="dtype is 'no_type'")
        self.refuse(usage, unused_name(), "reduce", mode="fast", says="mode is 'fast'")

    def test_of_a_map_with_a_wrong_number_of_arrays_are_refused(self):
        usage = fatlink.UsageError
        self.refuse(usage, unused_name(), "map", lambda a, b, c, d: a, says="map takes 1 to 3 arrays; ", hint="1 to 3 arrays")
        for arrays in (0, 4, "x", True):
            self.refuse(usage, unused_name(), "map", "square", arrays=arrays, says=f"is for {arrays!r}")
        self.refuse(usage, unused_name(), "map", "multiply", gradient="square", says="takes 2 arrays; gradient has an operator for 1",
                    hint="pass a tuple")
        self.refuse(usage, unused_name(), "map", "multiply_add", gradient=("square", None, None),
                    says="a gradient of three arrays is an operator of four", hint="call register_autograd")

    def test_of_a_map_take_as_many_tensors_as_their_operator(self):
        for op, options, count in ((lambda x: x, {}, 1), (lambda x, y, factor=2: x, {}, 2), ("square", {}, 1), ("multiply", {}, 2),
                                   ("multiply_add", {}, 3), (max, {}, 2), ("scale_add", {}, 1), ("name", {"arrays": 3}, 3),
                                   ("FATLINK_MAP2(float, float, a, float, b) { return a; }", {}, 2), ("/none/file.cu", {}, 1)):
            operator = self.operator(unused_name(), "map", op, **options)
            self.assertEqual(len(operator._opoverload._schema.arguments), count, op)

    def test_of_a_python_function(self):
        require_numba(self)
        softsign = self.define("map", lambda x: x / (1 + abs(x)), gradient=lambda x, grad: grad / (1 + abs(x)) ** 2)
        self.assert_same_gradients(softsign, self.torch.nn.functional.softsign, self.tensor(20))
        self.assertTrue(self.torch.autograd.gradcheck(softsign, [self.tensor(5, dtype="float64", gradient=True)]))
        self.assertEqual(self.define("map", lambda x: x > 0)(self.tensor(3).to("meta")).dtype, self.torch.bool)

    def test_explain_every_parameter(self):
        for name in inspect.signature(self.operator).parameters:
            self.assertRegex(self.operator.__doc__, rf"(?m)^    (\w+, )*{name}(, \w+)* +\S")

    def test_are_named_by_the_errors_of_functions(self):
        self.assert_error(fatlink.UsageError, fatlink.map, self.tensor(3, gradient=True), op="square", says="requires a gradient",
                          hint="fatlink.torch.operator")
        with self.assertRaisesRegex(Exception, "fatlink.torch.operator"):
            self.torch.vmap(lambda x: fatlink.map(x, op="square"))(self.tensor(3, 2))


class WithoutPyTorch(PythonCase):
    def test_the_module_is_named_where_it_is_not_imported(self):
        script = f"import sys; sys.path.insert(0, {PACKAGE!r}); import fatlink; fatlink.torch"
        done = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True, timeout=60)
        self.assertIn("has no attribute 'torch'; write import fatlink.torch", done.stderr)


if __name__ == "__main__":
    unittest.main()
