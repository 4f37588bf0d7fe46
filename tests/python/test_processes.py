# SPDX-License-Identifier: Apache-2.0
"""64 threads, and child processes of fork."""
import multiprocessing
import os
import signal
import threading
import time
import traceback
import unittest
from unittest import mock

from fatlink_cli import SANITIZED
from python_case import NumpyCase, fatlink, numpy
from run_tests import long_test

SECONDS = 240


class Threads(NumpyCase):
    def test_run_algorithms_at_once(self):
        self.need_links_and_compiles()
        numbers = numpy.arange(1000, dtype=numpy.float32)
        expected = {"add": 499500, "max": 999, "min": 0, "abs_max": 999}
        names = list(expected)
        failures = []
        start = threading.Barrier(64)

        def work(index):
            start.wait()
            try:
                for turn in range(8):
                    name = names[(index + turn) % len(names)]
                    assert fatlink.reduce(numbers, name) == expected[name], name
                    assert fatlink.scan(numbers)[-1] == 499500
            except BaseException:  # the test reports what a thread raises
                failures.append(traceback.format_exc())

        threads = [threading.Thread(target=work, args=(index,)) for index in range(64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS)
        self.assertEqual(failures, [])

    def test_release_the_gil(self):
        """ctypes keeps it only in functions of ctypes.PyDLL; the one that reads Python's objects releases it itself."""
        from ctypes import pythonapi
        from fatlink import _ffi
        keeps_gil = pythonapi.PyObject_Hash._flags_ & ~_ffi.c.version._flags_
        self.assertTrue(keeps_gil)
        for name in _ffi.PROTOTYPES:
            function = getattr(_ffi.c, name)
            function = getattr(function, "__wrapped__", function)
            self.assertEqual(bool(function._flags_ & keeps_gil), name == "plan_run_objects", name)


class Forks(NumpyCase):
    def setUp(self):
        super().setUp()
        self.numbers = numpy.arange(1000, dtype=numpy.float32)

    def run_in_child(self, function):
        """Runs `function` in a child process of fork, whose exit status says whether it raised."""
        child = os.fork()
        if child == 0:
            status = 1
            try:
                function()
                status = 0
            except BaseException:  # of the child
                traceback.print_exc()
            finally:
                os._exit(status)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                self.assertEqual(os.waitstatus_to_exitcode(status), 0)
                return
            time.sleep(0.02)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        self.fail(f"the child did not end in {SECONDS} s")

    def check_sum(self):
        assert fatlink.reduce(self.numbers) == 499500

    def test_after_import(self):
        self.need_links_and_compiles()
        self.run_in_child(self.check_sum)

    def test_after_use_of_the_reference_device(self):
        self.check_sum()
        self.run_in_child(self.check_sum)
        self.check_sum()

    def test_link_and_load_in_the_child(self):
        self.check_sum()

        def use():
            assert fatlink.reduce(self.numbers, "min") == 0
            assert fatlink.sort(self.numbers, "greater")[0] == 999
        self.run_in_child(use)

    def assert_children_work_while_other_threads_do(self, children):
        """Locks that threads hold in the parent are free in the child: of the library and of the package."""
        if SANITIZED:
            self.skipTest("locks of the sanitizer's own allocator stay held in the child (seen with GCC 13)")
        self.check_sum()
        is_done = threading.Event()

        def work(index):
            numbers = self.numbers[:1]  # short kernels: the locks of the reference device's memory are held often
            while not is_done.is_set():
                if index == 0:
                    fatlink.link(["reduce_4", "add_float"], target="sm_90", mode="ptx", emit="ptx-set")
                else:
                    fatlink.reduce(numbers)
        threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(children):
                self.run_in_child(self.use_everything)
        finally:
            is_done.set()
            for thread in threads:
                thread.join(SECONDS)

    def test_while_other_threads_link_and_run(self):
        self.assert_children_work_while_other_threads_do(children=15)

    @long_test  # the test above has fewer children
    def test_while_other_threads_link_and_run_with_more_children(self):
        self.assert_children_work_while_other_threads_do(children=50)

    def use_everything(self):
        self.check_sum()
        assert fatlink.scan(self.numbers, "max")[-1] == 999
        assert fatlink.link(["reduce_4", "max_float"], target="sm_90", mode="ptx", emit="ptx-set").kind == "ptx-set"

    def test_while_another_thread_opens_the_library(self):
        from fatlink import _ffi
        functions = _ffi._Functions()
        is_held, is_done = threading.Event(), threading.Event()

        def hold():
            with functions._lock:
                is_held.set()
                is_done.wait(SECONDS)
        thread = threading.Thread(target=hold)
        thread.start()
        is_held.wait()
        try:
            self.run_in_child(lambda: functions.version())
        finally:
            is_done.set()
            thread.join()

    def test_refuse_live_plans(self):
        plan = fatlink.LivePlan("cpu")
        plan.swap("reduce_4", "add_float")

        def use():
            for call in (lambda: plan.run(in_=self.numbers), lambda: plan.swap("reduce_4", "max_float"), lambda: plan.version):
                try:
                    call()
                except fatlink.UnavailableError as error:
                    assert error.code == "forked" and "spawn" in error.hint, error
                else:
                    raise AssertionError("no error")
        self.run_in_child(use)
        self.assertEqual(plan.run(in_=self.numbers)[0], 499500)

    def test_refuse_gpus_that_were_opened_before(self):
        """Without a GPU: an object as one of a GPU."""
        from fatlink._ffi import disable_after_fork

        device = fatlink.open_device("cpu")
        plan = fatlink.load("reduce_4", "add_float", device=device)
        disable_after_fork(device)
        disable_after_fork(plan.on(device))

        def use():
            for call in (device.synchronize, lambda: plan.image, lambda: plan.extents("out", n=5), lambda: plan.scratch_bytes(n=5),
                         lambda: plan.run(in_=self.numbers)):
                try:
                    call()
                except fatlink.UnavailableError as error:
                    assert error.code == "forked", error
                else:
                    raise AssertionError("no error")
        self.run_in_child(use)
        device.synchronize()

    def test_forget_the_algorithms_of_gpus(self):
        """Without a GPU: an entry as one of a GPU."""
        from fatlink import _kept_calls

        fatlink.reduce(self.numbers)
        key = next(reversed(_kept_calls._bound))
        entry = mock.Mock()
        entry.prepared.device.is_gpu = True
        with mock.patch.dict(_kept_calls._bound, {"gpu": entry}):
            def use():
                assert key in _kept_calls._bound and "gpu" not in _kept_calls._bound
            self.run_in_child(use)
            self.assertIn("gpu", _kept_calls._bound)

    def test_pool_of_multiprocessing(self):
        with multiprocessing.get_context("fork").Pool(2) as pool:
            self.assertEqual(pool.map(_sum, [10, 20, 30]), [45, 190, 435])


def _sum(count):
    return float(fatlink.reduce(numpy.arange(count, dtype=numpy.float32)))


if __name__ == "__main__":
    unittest.main()
