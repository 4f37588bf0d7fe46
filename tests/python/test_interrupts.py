# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, and other signals whose handlers raise, end calls that take long; the next call works."""
import os
import signal
import threading
import unittest

from python_case import NumpyCase, fatlink, numpy

ENDLESS = "FATLINK_COMBINE(float, a, b) { while (a == a) a += 0 * b; return a; }"


class Stop(Exception):
    pass


class Interrupts(NumpyCase):
    def setUp(self):
        super().setUp()
        self.need_links_and_compiles()
        self.x = numpy.ones(10, numpy.float32)
        self.device = fatlink.open_device("cpu", instruction_budget=2**64 - 1)

    def assert_is_stopped(self, function, *arguments, **options):
        """The call takes minutes at least, or never ends."""
        def stop(number, frame):
            raise Stop
        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, stop))
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        try:
            with self.assertRaises(Stop):
                function(*arguments, **options)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        self.assertEqual(fatlink.reduce(self.x), 10)

    def test_in_kernels_of_the_reference_device(self):
        fatlink.reduce(self.x)
        self.assert_is_stopped(fatlink.reduce, self.x, ENDLESS, init=1, device=self.device)
        self.assert_is_stopped(fatlink.map, numpy.ones(10**6, numpy.float32), device=self.device,
                               op="FATLINK_MAP1(float, float, x) { while (x == x) x += 0; return x; }")

    def test_in_compiles(self):
        functions = [f"__device__ float f{index}(float x) {{ return sinf(x * {index}) + powf(cosf(x), {index}.5f); }}"
                     for index in range(100000)]
        self.assert_is_stopped(fatlink.compile, "\n".join(functions))
        self.assertTrue(bytes(fatlink.compile("__device__ int x;")))

    def test_with_the_handler_of_ctrl_c(self):
        timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            fatlink.reduce(self.x, ENDLESS, init=1, device=self.device)
        timer.join()
        self.assertEqual(fatlink.reduce(self.x), 10)

    def test_whose_handlers_return_end_nothing(self):
        seen = []
        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, lambda *arguments: seen.append(1)))
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        try:
            device = fatlink.open_device("cpu", instruction_budget=2**23)
            self.assert_error(fatlink.DeviceError, fatlink.reduce, self.x, ENDLESS, init=1, device=device, code="endless-kernel")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        self.assertTrue(seen)

    def test_in_another_thread_end_nothing(self):
        results = []
        thread = threading.Thread(target=lambda: results.append(fatlink.reduce(self.x)))
        thread.start()
        thread.join()
        self.assertEqual(results, [10])


if __name__ == "__main__":
    unittest.main()
