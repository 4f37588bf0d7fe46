# SPDX-License-Identifier: Apache-2.0
"""fatlink.load(…).run(…), live plans and live modules, on the reference device."""
import ctypes
import unittest

from device_arrays import OnlyDlpack
from python_case import NumpyCase, PythonCase, fatlink, numpy


class PlanCase(NumpyCase):
    def setUp(self):
        super().setUp()
        self.numbers = (numpy.arange(3000) % 17).astype(numpy.float32)


class Plans(PlanCase):
    def test_make_their_outputs(self):
        plan = fatlink.load("reduce_4", "add_float")
        self.assert_equal_arrays(plan.run(in_=self.numbers), self.numbers.sum(keepdims=True))

    def test_take_arguments_by_the_names_of_the_plan(self):
        plan = fatlink.load("reduce_4", "add_float", device="cpu")
        self.assertEqual(plan.run(**{"in": self.numbers}, n=10, init=5)[0], self.numbers[:10].sum() + 5)

    def test_write_to_the_outputs_that_are_given(self):
        out = numpy.zeros(1, numpy.float32)
        self.assertIsNone(fatlink.load("reduce_4", "add_float").run(in_=self.numbers, out=out))
        self.assertEqual(out[0], self.numbers.sum())

    def test_return_several_outputs_by_name(self):
        results = fatlink.load("partition_4", "positive_float").run(in_=self.numbers)
        self.assertEqual(results._fields, ("out", "rejected", "count"))
        self.assert_equal_arrays(results.count, numpy.array([(self.numbers > 0).sum()], numpy.uint64))

    def test_take_several_transforms_and_states(self):
        state = numpy.array([0.5, 0], numpy.float32)
        self.assert_equal_arrays(fatlink.load("convert", ["load_int8", "store_float16"]).run(
            in_=numpy.arange(8, dtype=numpy.int8), load_state=state, store_state=None),
            (numpy.arange(8) * 0.5).astype(numpy.float16))

    def test_use_the_defaults_of_the_library(self):
        stencil = fatlink.load("stencil", "smooth", mode="ptx")
        self.assertEqual(stencil.run(in_=self.numbers).shape, self.numbers.shape)

    def test_state_their_arguments(self):
        plan = fatlink.load("reduce_4", "add_float", device="cpu")
        self.assertEqual([(argument.name, argument.role) for argument in plan.arguments],
                         [("in", "input"), ("out", "output"), ("partial", "scratch"), ("n", "size"), ("limit", "input"),
                          ("init", "value")])
        self.assertEqual((plan.name, plan.arguments[0].type_name, plan.arguments[-1].has_default), ("reduce_4", "float32", True))
        self.assertGreater(plan.scratch_bytes(n=1 << 24), 0)
        self.assertEqual(plan.extents("out", n=5), (1,))
        self.assertEqual(plan.image.hooks[0].name, "combine")

    def test_take_inputs_in_memory(self):
        plan = fatlink.load("reduce_4", fatlink.Input.find("max_float"))
        self.assertEqual(plan.run(in_=self.numbers)[0], 16)


    def test_take_libraries_as_inputs_of_their_files(self):
        plan = fatlink.load(fatlink.Input.find("reduce_4"), "max_float")
        self.assertEqual(plan.run(in_=self.numbers)[0], 16)


class Refusals(PlanCase):
    def test_of_names_that_are_not_installed(self):
        self.assert_error(fatlink.FileError, fatlink.load, "reduce_5", says="reduce_5")
        self.assert_error(fatlink.FileError, fatlink.load, "reduce_4", "ad_float", says="ad_float")

    def test_of_libraries_without_a_plan(self):
        self.assert_error(fatlink.FileError, fatlink.load, "gelu", device="cpu", says="states a launch plan")

    def test_of_libraries_in_memory(self):
        data = bytes(fatlink.Input.find("stencil"))
        for name in ("reduce_4", "no such file"):
            self.assert_error(fatlink.UsageError, fatlink.load, fatlink.Input.from_bytes(data, name), says=f"library {name} is",
                              hint="pass the name or path")

    def test_of_something_else_than_a_name(self):
        self.assert_error(fatlink.UsageTypeError, fatlink.load, 3, says="library is 3")
        self.assert_error(fatlink.UsageTypeError, fatlink.load, "reduce_4", [3], says="an input is 3")

    def test_of_arguments(self):
        plan = fatlink.load("reduce_4", "add_float", device="cpu")
        self.assert_error(fatlink.UsageError, plan.run, inn=self.numbers, says="has no argument inn", hint="did you mean in?")
        self.assert_error(fatlink.UsageError, plan.run, partial=self.numbers, says="no argument partial")
        self.assert_error(fatlink.UsageError, plan.run, init=1, says="argument in of plan reduce_4 is missing", hint="in_=")
        self.assert_error(fatlink.UsageError, plan.run, in_=self.numbers, **{"in": self.numbers}, says="given twice")
        self.assert_error(fatlink.UsageTypeError, plan.run, in_=self.numbers.astype(int), says="in is an array of int64; plan "
                                                                                                "reduce_4 takes float32")
        self.assert_error(fatlink.UsageTypeError, plan.run, in_=[1, 2], says="in: builtins.list is not an array")
        self.assert_error(fatlink.UsageError, plan.run, in_=self.numbers, n=4000, says="argument in has 3000 elements")
        self.assert_error(fatlink.UsageTypeError, plan.run, in_=self.numbers, n="x", says="n is 'x'")
        self.assert_error(fatlink.UsageError, plan.run, in_=self.numbers, scratch=self.numbers, says="scratch was given")

    def test_of_sizes_that_disagree(self):
        plan = fatlink.load("segmented_reduce_4", "add_float")
        offsets = numpy.arange(9, dtype=numpy.uint64)
        self.assert_error(fatlink.UsageError, plan.run, in_=self.numbers, offsets=offsets, out=numpy.zeros(4, numpy.float32),
                          says="argument segments: is 8 according to argument offsets, but 4 according to argument out")

    def test_of_questions_before_a_device_is_known(self):
        with self.assertRaises(fatlink.UsageError) as raised:
            fatlink.load("reduce_4", "add_float").arguments
        self.assertIn("device=", raised.exception.hint)


class Live(PlanCase):
    def test_plans_are_replaced(self):
        plan = fatlink.LivePlan("cpu")
        self.assertEqual(plan.version, 0)
        self.assert_error(fatlink.UsageError, plan.run, in_=self.numbers, says="no version yet", hint="swap")
        self.assertEqual(plan.swap("reduce_4", "add_float").version, 1)
        self.assertEqual(plan.run(in_=self.numbers)[0], self.numbers.sum())
        report = plan.swap("reduce_4", "max_float")
        self.assertEqual((report.version, report.mode), (2, "lto"))
        self.assertEqual(plan.run(in_=self.numbers)[0], 16)
        self.assert_error(fatlink.RefusedError, plan.swap, "reduce_4", "less_float", says="less_4")
        self.assertEqual((plan.version, plan.run(in_=self.numbers)[0]), (2, 16))

    def test_plans_take_libraries_and_transforms_in_memory(self):
        plan = fatlink.LivePlan("cpu")
        library = fatlink.Input.find("reduce_4")
        plan.swap(library, fatlink.Input.from_bytes(bytes(fatlink.Input.find("max_float")), "max of bytes"))
        self.assertEqual(plan.run(in_=self.numbers)[0], 16)

    def test_plans_are_prepared_once(self):
        """The swap links once, in its own mode; no second plan is prepared."""
        plan = fatlink.LivePlan("cpu", mode="lto")
        prepared = []
        original = fatlink._ffi.c.plan_prepare
        self.addCleanup(setattr, fatlink._ffi.c, "plan_prepare", original)
        fatlink._ffi.c.plan_prepare = lambda *arguments: prepared.append(1) or original(*arguments)
        plan.swap("reduce_4", "max_float")
        self.assertEqual((prepared, plan.run(in_=self.numbers)[0]), ([], 16))

    def test_plans_compare_the_device_of_the_arrays(self):
        plan = fatlink.LivePlan("cpu")
        plan.swap("reduce_4", "add_float")
        self.assert_error(fatlink.UsageError, plan.run, in_=OnlyDlpack(self.numbers, (2, 0)), says="the memory of gpu:0",
                          code="wrong-device")

    def test_modules_are_replaced(self):
        module = fatlink.LiveModule("cpu")
        module.swap(["apply_transform", "identity"])
        out = numpy.zeros_like(self.numbers)
        kernel = module.kernel("apply_transform")
        count = ctypes.c_uint64(self.numbers.size)
        kernel.launch(12, 256, self.numbers, out, count)
        numpy.testing.assert_array_equal(out, self.numbers)
        self.assertEqual(module.swap(["apply_transform", "softsign"]).version, 2)
        kernel.launch(12, 256, self.numbers, out, count)
        numpy.testing.assert_allclose(out, self.numbers / (1 + self.numbers), rtol=1e-6)

    def test_kernels_that_are_missing_or_parameters_without_a_size(self):
        module = fatlink.LiveModule("cpu")
        module.swap(["apply_transform", "identity"])
        self.assert_error(fatlink.FileError, module.kernel, "no_kernel", says="no_kernel")
        self.assert_error(fatlink.UsageTypeError, module.kernel("apply_transform").launch, 1, 32, self.numbers, self.numbers, 5,
                          says="parameter 5 has no size", hint="ctypes")

    def test_parameters_of_other_sizes(self):
        module = fatlink.LiveModule("cpu")
        module.swap(["apply_transform", "identity"])
        kernel = module.kernel("apply_transform")
        for value, size in ((ctypes.c_uint8(5), 1), (b"", 0), (ctypes.c_uint32(5), 4), (numpy.uint16(5), 2)):
            self.assert_error(fatlink.UsageTypeError, kernel.launch, 1, 32, self.numbers, self.numbers, value,
                              says=f"parameter 2 has {size} bytes; kernel apply_transform takes 8", hint="ctypes.c_uint64(5)")
        self.assert_error(fatlink.UsageTypeError, kernel.launch, 1, 32, self.numbers, self.numbers,
                          says="2 parameters were given; kernel apply_transform takes 3", hint="8, 8, 8")

    def test_arrays_without_dimensions_are_passed_by_address(self):
        module = fatlink.LiveModule("cpu")
        module.swap(["apply_transform", "identity"])
        out = numpy.zeros((), numpy.float32)
        module.kernel("apply_transform").launch(1, 32, numpy.float32([7]), out, ctypes.c_uint64(1))
        self.assertEqual(out, 7)

    def test_grids_and_blocks_that_cannot_be_launched(self):
        module = fatlink.LiveModule("cpu")
        module.swap(["apply_transform", "identity"])
        launch = module.kernel("apply_transform").launch
        arguments = (self.numbers, self.numbers.copy(), ctypes.c_uint64(1))
        for grid in ((1, 1, 1, 1), 1.5, (), "1", (1.5,), True):
            self.assert_error(fatlink.UsageTypeError, launch, grid, 32, *arguments, says="grid is", hint="whole number")
        for grid in (0, -1, (4, 0), 2**32):
            self.assert_error(fatlink.UsageError, launch, grid, 32, *arguments, says="grid is", hint="pass")
        self.assert_error(fatlink.UsageError, launch, 1, 0, *arguments, says="block is 0", hint="1 or more")
        self.assert_error(fatlink.UsageError, lambda: launch(1, 32, *arguments, shared_bytes=-1), says="shared_bytes is -1")


class Devices(PythonCase):
    def test_state_facts(self):
        device = fatlink.open_device("cpu:sm_80", check_races=True)
        self.assertEqual(device.memory_pool, {"limit": 0, "reserved": 0, "used": 0})
        device.limit_memory_pool(1 << 20)
        device.trim_memory_pool(keep=1)
        self.assertEqual((device.target, device.is_gpu, device.place), ("sm_80", False, -1))
        self.assertIn("sm_80", repr(device))
        device.synchronize()

    def test_that_do_not_exist(self):
        self.assert_error(fatlink.UsageError, fatlink.open_device, "tpu", says="tpu")
        self.assert_error(fatlink.UsageTypeError, fatlink.open_device, 3, says="the name of a device must be a text or a path, not 3")
        self.assert_error(fatlink.UsageError, fatlink.open_device, "cpu\0", says="NUL")


if __name__ == "__main__":
    unittest.main()
