# SPDX-License-Identifier: Apache-2.0
"""The NVTX ranges that tools such as Nsight Systems show: of links, compiles, searches of the cache, loads, swaps and calls. A tool
of the tests records them."""
import os
import subprocess
import sys
import unittest

from python_case import BUILD, PACKAGE, NumpyCase, require_numba, variables

RECORDER = next((BUILD / "libexec" / "fatlink-tests").glob("libnvtx_recorder.so"), None)
REDUCE = """
import numpy, fatlink
x = numpy.arange(1, 6, dtype=numpy.float32)
print(fatlink.reduce(x, "FATLINK_COMBINE(float, a, b) { return a + b; }", init=0))
"""
SWAP = """
import numpy, fatlink
live = fatlink.LivePlan("cpu")
live.swap("map1", "scale_add")
"""
FUNCTION = """
import numpy, fatlink
print(fatlink.map(numpy.array([1, 2], numpy.float32), op=lambda x: x + 1, mode="ptx"))
"""


class Ranges(NumpyCase):
    def setUp(self):
        super().setUp()
        if RECORDER is None:
            self.skipTest("the build has no NVTX headers, and no ranges")
        self.need_links_and_compiles()

    def record(self, program, says="", **environment):
        """The events of a program's main thread: (kind, the names of the ranges around it, payload, name)."""
        record = self.folder / "record"
        record.unlink(missing_ok=True)
        done = subprocess.run([sys.executable, "-c", program], text=True, capture_output=True, env={
            **os.environ, **variables(), "PYTHONPATH": PACKAGE, "FATLINK_CACHE_DIR": str(self.folder / "cache"),
            "NVTX_INJECTION64_PATH": str(RECORDER), "NVTX_RECORD": str(record), **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(says, done.stdout)
        return self.events(record.read_text())

    def events(self, text):
        events, open_ranges, threads = [], [], set()
        for line in text.splitlines():
            thread, domain, kind, *event = line.split("\t")
            threads.add(thread)
            self.assertEqual(domain, "fatlink")
            if kind == "pop":
                open_ranges.pop()
                continue
            payload, name = event
            events.append((kind, tuple(open_ranges), int(payload), name))
            if kind == "push":
                open_ranges.append(name)
        self.assertEqual(open_ranges, [])
        self.assertEqual(len(threads), 1, threads)
        return events

    def names(self, events, *around):
        """The names of the events directly within these ranges."""
        return [name for kind, ranges, payload, name in events if ranges == around]

    def test_a_first_call_has_ranges_of_each_step(self):
        events = self.record(REDUCE, "15.0")
        self.assertEqual(self.names(events)[-4:], ["compile operator.cu", "link reduce_4.fatbin + operator.cu", "load", "run reduce_4"])
        compiled = "compile operator.cu"
        self.assertIn("NVRTC", self.names(events, compiled))
        self.assertIn("cache miss", self.names(events, compiled, "cache lookup"))
        linked = "link reduce_4.fatbin + operator.cu"
        self.assertEqual(self.names(events, linked), ["cache lookup", "nvJitLink"])
        self.assertEqual(self.names(events, linked, "cache lookup"), ["cache miss"])

    def test_hits_of_the_cache_differ_from_misses_and_state_a_size(self):
        self.record(REDUCE, "15.0")
        events = self.record(REDUCE, "15.0")
        linked = "link reduce_4.fatbin + operator.cu"
        self.assertEqual(self.names(events, linked), ["cache lookup"])
        hits = [(payload, name) for kind, ranges, payload, name in events if kind == "mark" and ranges == (linked, "cache lookup")]
        self.assertEqual([name for _, name in hits], ["cache hit"])
        self.assertGreater(hits[0][0], 100)
        self.assertNotIn("NVRTC", [name for _, _, _, name in events])

    def test_a_swap_contains_its_link_and_its_load(self):
        events = self.record(SWAP)
        self.assertEqual(self.names(events), ["swap"])
        self.assertEqual(self.names(events, "swap"), ["link map1.fatbin + scale_add.fatbin", "load"])

    def test_a_python_function_has_a_range_of_numba(self):
        require_numba(self)
        self.assertIn("Numba", self.names(self.record(FUNCTION, "[2. 3.]")))

    def test_without_a_tool_nothing_is_recorded(self):
        with self.assertRaises(FileNotFoundError):
            self.record(REDUCE, "15.0", NVTX_INJECTION64_PATH="")


if __name__ == "__main__":
    unittest.main()
