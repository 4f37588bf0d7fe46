# SPDX-License-Identifier: Apache-2.0
"""Offline mode: a program with a recorded layer links and compiles nothing, and without the layer the error names what is
missing."""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from python_case import BUILD, PACKAGE, NumpyCase, fatlink, missing_software, numpy, variables

FATLINK = BUILD / "bin/fatlink"
# An algorithm by name, by source and by function.
PROGRAM = """
import operator
import numpy
import fatlink
x = numpy.arange(1, 6, dtype=numpy.float32)
print(fatlink.reduce(x, "max"))
print(fatlink.reduce(x, "FATLINK_COMBINE(float, a, b) { return a + b + 1; }", init=0))
print(fatlink.map(x, op=operator.neg))
print(fatlink.reduce(x, max))
"""
RESULTS = "5.0\n20.0\n[-1. -2. -3. -4. -5.]\n5.0\n"
SOURCE = "FATLINK_COMBINE(float, a, b) { return a - b; }"


class Offline(NumpyCase):
    def setUp(self):
        super().setUp()
        if not FATLINK.exists():
            self.skipTest(f"{FATLINK} is not there")
        (self.folder / "program.py").write_text(PROGRAM)

    def environment(self, **changes):
        return {**os.environ, **variables(), "PYTHONPATH": PACKAGE, "FATLINK_CACHE_DIR": str(self.folder / "empty"), **changes}

    def offline(self, layer, **changes):
        """The environment of a server: it has the layer, no cache and no software of CUDA."""
        nowhere = dict.fromkeys(("FATLINK_NVJITLINK", "FATLINK_NVRTC", "FATLINK_LIBNVVM", "FATLINK_LINKD"), "/nowhere")
        return self.environment(FATLINK_OFFLINE="1", FATLINK_SYSTEM_CACHE=str(layer), **nowhere, **changes)

    def record(self, *words):
        self.need_links_and_compiles()
        layer = self.folder / "layer"
        done = subprocess.run([FATLINK, "cache", "record", "--json", "--layer", layer, *words, "--", sys.executable, "program.py"],
                              cwd=self.folder, env=self.environment(), text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(RESULTS, done.stderr)  # standard output is that of --json
        return layer, json.loads(done.stdout)

    def test_a_recorded_layer_is_all_that_a_program_needs(self):
        layer, report = self.record()
        self.assertEqual([compile["contract"] for compile in report["compiles"]], ["combine_4", "map1"])
        self.assertTrue(all(compile["stored"] for compile in report["compiles"]))
        self.assertEqual([link["stored"] for link in report["links"] if link["kind"] == "ptx"],
                         [[f"{link['target']} ptx"] for link in report["links"] if link["kind"] == "ptx"])
        done = subprocess.run([sys.executable, "program.py"], cwd=self.folder, env=self.offline(layer), text=True, capture_output=True)
        self.assertEqual((done.returncode, done.stdout), (0, RESULTS), done.stderr)
        shutil.rmtree(layer)
        done = subprocess.run([sys.executable, "program.py"], cwd=self.folder, env=self.offline(layer), text=True, capture_output=True)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"UnavailableError: .*offline mode is on, and no cache layer has the lto link of \S*reduce_4\.fatbin "
                                      r"and \S*max_float\.fatbin for sm_\d+ \(PTX\) \[offline\]")
        self.assertIn(f"--layer FOLDER --all-kernels {BUILD}/share/fatlink/reduce_4.fatbin", done.stderr)

    def test_nothing_is_started_and_no_library_is_searched(self):
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        layer, _ = self.record()
        environment = self.offline(layer)
        for name in ("FATLINK_NVJITLINK", "FATLINK_NVRTC", "FATLINK_LIBNVVM", "FATLINK_LINKD"):
            del environment[name]  # what could be found
        subprocess.run(["strace", "-f", "-o", "trace", "-e", "trace=execve,open,openat,access,stat,newfstatat,readlink", sys.executable,
                        "program.py"], cwd=self.folder, env=environment, check=True, capture_output=True)
        trace = (self.folder / "trace").read_text()
        self.assertIn("reduce_4.fatbin", trace)
        self.assertEqual(len(re.findall(r"execve\(.* = 0$", trace, re.M)), 1)
        self.assertEqual(re.findall(r".*(?:fatlink-linkd|libnvJitLink|libnvrtc|libnvvm).*", trace), [])

    def test_a_layer_for_another_gpu_is_made_from_a_run_on_the_reference_device(self):
        layer, report = self.record("--target", "sm_80,sm_90")
        self.assertEqual({stored for link in report["links"] for stored in link["stored"]} & {"sm_80 cubin", "sm_90 cubin"},
                         {"sm_80 cubin", "sm_90 cubin"})
        linked = [FATLINK, "link", "--offline", "-o", "o.cubin", "reduce_4", "max_float", "--target"]
        for target, status in (("sm_80", 0), ("sm_86", 0), ("sm_90", 0), ("sm_75", 5)):
            done = subprocess.run([*linked, target], cwd=self.folder, env=self.offline(layer), text=True, capture_output=True)
            self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn("for sm_75 (the layers have it for sm_80 and for sm_90)", done.stderr)


class Setting(NumpyCase):
    def setUp(self):
        super().setUp()
        missing_software()  # before links and compiles fail
        self.addCleanup(fatlink.configure, offline=False)
        fatlink.configure(offline=True)

    def test_applies_to_links_and_compiles(self):
        x = numpy.ones(4, numpy.float32)
        for function, words, code in ((fatlink.link, (["reduce_4", "add_float"],), "the lto link of "),
                                      (fatlink.compile, (SOURCE,), "the compiled source "),
                                      (fatlink.reduce, (x, SOURCE), "the compiled source operator.cu for sm_75 with the contract combine_4/1")):
            with self.subTest(function=function.__name__):
                options = {"target": "sm_90"} if function is fatlink.link else {"init": 0} if function is fatlink.reduce else {}
                self.assert_error(fatlink.UnavailableError, function, *words, code="offline", says=("offline mode is on", code),
                                  hint="fatlink cache ", **options)

    def test_applies_to_python_functions_of_numba(self):
        self.assert_error(fatlink.UnavailableError, fatlink.reduce, numpy.ones(4, numpy.float32), lambda a, b: a - b, init=0,
                          code="offline", says="Numba compiles Python functions", hint="CUDA source")

    def test_applies_to_live_plans(self):
        plan = fatlink.LivePlan("cpu")
        self.assert_error(fatlink.UnavailableError, plan.swap, "reduce_4", "add_float", code="offline", says="the lto link of ")
        plan = fatlink.LivePlan("cpu", mode="ptx")
        plan.swap("reduce_4", "add_float")

    def test_permits_what_is_not_linked(self):
        self.assertEqual(fatlink.reduce(numpy.ones(4, numpy.float32), "add", mode="ptx"), 4)

    def test_can_be_turned_off(self):
        fatlink.configure(offline=False)
        self.assertEqual(fatlink.reduce(numpy.ones(4, numpy.float32), "add"), 4)


if __name__ == "__main__":
    unittest.main()
