# SPDX-License-Identifier: Apache-2.0
"""The handlers of XLA's custom calls, on the reference device and without XLA. test_jax.py runs them within JAX."""
import ctypes
import unittest

from python_case import NumpyCase, fatlink, numpy
from xla_frames import Api, Caller

INVALID, UNAVAILABLE = 3, 14  # codes of absl::Status


class XlaCase(NumpyCase):
    def setUp(self):
        super().setUp()
        from fatlink._ffi import c
        self.host, self.cuda = c.xla_run_host, c.xla_run_cuda
        self.numbers = (numpy.arange(3000) % 17).astype(numpy.float32)

    def register(self, name, operands=("in",), results=("out",), values=(), **changes):
        """Registers reduce_4 with add_float."""
        from fatlink._devices import opened
        from fatlink._ffi import XlaCall, c, raise_error
        from fatlink._plans import Prepared, Slot
        self.plan = Prepared(opened("cpu"), "reduce_4", [fatlink.Input.find("add_float")], "lto")
        texts = [(ctypes.c_char_p * len(names))(*[text.encode() for text in names]) for names in (operands, results)]
        slot = Slot(tuple(dict(values)), self.plan._encoded)
        slot.fill([self.plan.value(*value) for value in values])
        request = self.plan.request()
        members = {"linker": self.plan.linker._as_parameter_, "request": ctypes.addressof(request), "plan": self.plan.handle,
                   "operands": texts[0], "operand_count": len(operands), "results": texts[1], "result_count": len(results),
                   "values": slot.address, "value_count": len(values), **changes}
        raise_error(c.xla_register(name.encode(), ctypes.byref(XlaCall(**members))))

    def run_host(self, name, operands, results):
        """The error of a call on the reference device: (code, message); None: it succeeded."""
        caller = Caller()
        caller.run(self.host, operands, results, call=name)
        return caller.errors[0] if caller.errors else None


class Calls(XlaCase):
    def test_reduce_the_elements_of_arrays_of_any_rank(self):
        self.register("ranks")
        for shape in ((3000,), (30, 100), (1, 3000, 1)):
            out = numpy.zeros((), numpy.float32)
            self.assertIsNone(self.run_host("ranks", [self.numbers.reshape(shape)], [out]))
            self.assertEqual(out, self.numbers.sum())

    def test_use_values(self):
        self.register("values", values=[("init", 5)])
        out = numpy.zeros(1, numpy.float32)
        self.assertIsNone(self.run_host("values", [numpy.zeros(0, numpy.float32)], [out]))
        self.assertEqual(out, 5)

    def test_ignore_scratch_memory_on_the_host(self):
        self.register("scratch")
        out, scratch = numpy.zeros(1, numpy.float32), numpy.full(4096, 7, numpy.uint8)
        self.assertIsNone(self.run_host("scratch", [self.numbers], [out, scratch]))
        self.assertEqual((out, scratch.min()), (self.numbers.sum(), 7))

    def test_keep_the_first_call_of_a_name(self):
        self.register("twice", values=[("init", 1)])
        self.register("twice", values=[("init", 2)])
        out = numpy.zeros(1, numpy.float32)
        self.assertIsNone(self.run_host("twice", [numpy.zeros(0, numpy.float32)], [out]))
        self.assertEqual(out, 1)

    def test_keep_the_plan_that_python_frees(self):
        self.register("freed")
        del self.plan
        out = numpy.zeros(1, numpy.float32)
        self.assertIsNone(self.run_host("freed", [self.numbers], [out]))

    def test_state_their_version_and_that_cuda_graphs_may_record_them(self):
        for handler, traits in ((self.host, 0), (self.cuda, 1)):
            self.assertEqual(Caller(minor=3).ask(handler), ((0, 3), traits))
            self.assertEqual(Caller(minor=1).ask(handler), ((0, 1), traits))


class Refusals(XlaCase):
    def assert_refused(self, error, *says, code=INVALID):
        self.assertIsNotNone(error)
        self.assertEqual(error[0], code, error)
        for part in ("fatlink: ", "\n  hint: ", *says):
            self.assertIn(part, error[1])

    def test_of_names_that_are_not_registered(self):
        self.assert_refused(self.run_host("absent", [], []), "this process has no operator absent", "trace a call of it in this process")

    def test_of_calls_without_a_name(self):
        caller = Caller()
        self.assertFalse(caller.run(self.host, [], [], other="x"))
        self.assert_refused(caller.errors[0], "no attribute call", "fatlink_xla_register")

    def test_of_other_numbers_of_arrays(self):
        self.register("counts")
        out = numpy.zeros(1, numpy.float32)
        for operands, results in (([], [out]), ([self.numbers] * 2, [out]), ([self.numbers], []), ([self.numbers], [out] * 3)):
            self.assert_refused(self.run_host("counts", operands, results), f"{len(operands)} operands and {len(results)} results",
                                "pass 1 operands, and 1 results")

    def test_of_other_types(self):
        self.register("types")
        out = numpy.zeros(1, numpy.float32)
        self.assert_refused(self.run_host("types", [self.numbers.astype(numpy.float64)], [out]),
                            "in has elements of 8 bytes; the plan's are float32")

    def test_of_outputs_that_are_too_small(self):
        self.register("small", operands=("in",), results=("out",))
        self.assert_refused(self.run_host("small", [self.numbers], [numpy.zeros(0, numpy.float32)]), "out")

    def test_of_other_versions_of_the_interface(self):
        self.register("versions")
        older = Caller(minor=1, size=ctypes.sizeof(Api) - 8)  # it does not tell the GPU
        for handler, caller in ((self.host, Caller(major=1)), (self.cuda, Caller(major=1)), (self.cuda, older)):
            self.assertFalse(caller.run(handler, [self.numbers], [numpy.zeros(1, numpy.float32)], call="versions"))
            version = f"{caller.api.version.major}.{caller.api.version.minor}"
            self.assert_refused(caller.errors[0], f"XLA has version {version} of its foreign function interface", "install a version of jaxlib")

    def test_of_gpus_that_are_not_there(self):
        self.register("gpus")
        caller = Caller()
        self.assertFalse(caller.run(self.cuda, [self.numbers], [numpy.zeros(1, numpy.float32)], call="gpus"))
        self.assert_refused(caller.errors[0], code=UNAVAILABLE)

    def test_of_plans_without_the_arrays(self):
        for changes, says in (({"operands": ("inn",)}, "plan reduce_4 has no array inn"), ({"results": ("init",)}, "has no array init"),
                              ({"results": ("partial",)}, "has no array partial"), ({"plan": None}, "call.plan is NULL"),
                              ({"linker": None}, "call.linker is NULL"), ({"request": None}, "call.request is NULL")):
            self.assert_error(fatlink.UsageError, self.register, "refused", says=says, **changes)
        self.assert_refused(self.run_host("refused", [], []), "no operator refused")


if __name__ == "__main__":
    unittest.main()
