# SPDX-License-Identifier: Apache-2.0
"""copy and pickle of the package's objects, each of which owns an object of the library."""
import copy
import gc
import pickle
import unittest

from python_case import PythonCase, fatlink


def objects():
    """One of each class."""
    live = fatlink.LiveModule("cpu")
    live.swap(["apply_transform", "identity"])
    plan = fatlink.load("reduce_4", "add_float", device="cpu")
    module = fatlink.Module(fatlink.link(["apply_transform", "identity"], target=fatlink.open_device("cpu")), "cpu")
    return [fatlink.Input.find("add_float"), fatlink.open_device("cpu"), plan, plan.image, fatlink.LivePlan("cpu"), live,
            live.kernel("apply_transform"), module, module.kernel("apply_transform"), fatlink.link(["reduce_4", "add_float"], target="sm_90", mode="ptx", emit="ptx-set")]


class Copies(PythonCase):
    def test_are_the_object_itself(self):
        for entry in objects():
            with self.subTest(type=type(entry).__name__):
                self.assertIs(copy.copy(entry), entry)
                self.assertIs(copy.deepcopy([entry])[0], entry)

    def test_by_pickle_are_refused(self):
        for entry in objects():
            for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
                with self.subTest(type=type(entry).__name__, protocol=protocol):
                    self.assert_error(fatlink.UsageTypeError, pickle.dumps, entry, protocol, says="cannot be pickled",
                                      hint="in the other process")

    def test_leave_the_objects_usable(self):
        device = fatlink.open_device("cpu")
        entry = fatlink.Input.find("add_float")
        copies = [copy.deepcopy([device, entry]) for _ in range(3)]
        del copies
        gc.collect()
        device.synchronize()
        self.assertEqual(len(entry.digest), 64)


if __name__ == "__main__":
    unittest.main()
