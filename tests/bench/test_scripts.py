# SPDX-License-Identifier: Apache-2.0
"""The scripts of benchmarks that need no GPU to be tried: their arguments, their tables of recorded times, and the size study
of two small fatbins. The program algorithm_bench has its own test (unit)."""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import textwrap
import unittest
import zlib

from fatlink_cli import nvjitlink

BUILD = pathlib.Path(os.environ["FATLINK_BUILD"])
SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
BENCH = SOURCE / "tests/bench"
sys.path.insert(0, str(BENCH))


def load(path):
    loader = importlib.machinery.SourceFileLoader(path.stem.replace("-", "_"), str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def printed(function, *arguments):
    with contextlib.redirect_stdout(io.StringIO()) as output:
        function(*arguments)
    return output.getvalue()


def rows(text):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")]


class Scripts(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-test-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def run_script(self, path, *words, status, env=None):
        interpreter = [] if path.name == "algorithm-bench" else [sys.executable]
        done = subprocess.run([*interpreter, path, *map(str, words)], capture_output=True, text=True, cwd=self.folder,
                              env={**os.environ, **(env or {})})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def program(self, text):
        """A build folder whose program is this Python code."""
        path = self.folder / "build/bin/fatlink"
        path.parent.mkdir(parents=True)
        path.write_text(f"#!{sys.executable}\n" + textwrap.dedent(text))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return self.folder / "build"


class FirstResults(Scripts):
    def test_wrong_arguments_are_refused(self):
        for script in "first_result.py", "cold_start.py", "python_overhead.py":
            for words, says in (((), "the following arguments are required: BUILD_FOLDER"),
                                (("nowhere",), "nowhere: has no bin/fatlink: name the folder of a build"),
                                ((BUILD, "0"), "0: expected a whole number of 1 or more"),
                                ((BUILD, "x"), "invalid count value: 'x'")):
                with self.subTest(script=script, words=words):
                    self.assertIn(says, self.run_script(BENCH / script, *words, status=2).stderr)
        self.assertIn("0: expected a whole number", self.run_script(BENCH / "first_result.py", BUILD, 1, 0, status=2).stderr)

    def test_processes_are_timed_with_caches_that_are_empty_at_first(self):
        build = self.program("""
            import json, os, pathlib, sys
            cache = pathlib.Path(os.environ["FATLINK_CACHE_DIR"])
            is_cold = not cache.exists()
            cache.mkdir(exist_ok=True)
            print(json.dumps({"verified": True, "first_ms": 5 if is_cold else 2}))
            """)
        medians = load(BENCH / "first_results.py").measure({"a": [build / "bin/fatlink"]}, 2)
        self.assertEqual([medians["a", cache][1] for cache in ("cold", "warm")], [5, 2])

    def test_figures_of_later_work_are_read_too(self):
        build = self.program("""print('{"verified": true, "first_ms": 5}\\n{"then_us": 7}\\n')""")
        self.assertEqual(load(BENCH / "first_results.py").time_process([build / "bin/fatlink"], self.folder)[1:], (5, 7))

    def test_the_time_of_opening_the_gpu_does_not_count(self):
        build = self.program("""print('{"verified": true, "device_ms": 1e6}')""")
        whole, rest = load(BENCH / "first_results.py").time_process([build / "bin/fatlink"], self.folder)
        self.assertEqual(rest, whole - 1e6)

    def test_a_process_that_fails_ends_the_measurement_with_its_error(self):
        module = load(BENCH / "first_results.py")
        for text, says in (("import sys; sys.exit('no GPU')", "did not verify: no GPU"),
                           ("print('{\"verified\": false}'); raise SystemExit(1)", 'did not verify: {"verified": false}'),
                           ("print('\"verified\"', flush=True); raise SystemExit('out of memory')", "out of memory")):
            build = self.program(text)
            with self.assertRaisesRegex(SystemExit, re.escape(says)):
                module.time_process([build / "bin/fatlink"], self.folder)
            shutil.rmtree(build)

    def test_first_results_are_measured_with_and_without_shipped_links(self):
        module = load(BENCH / "first_result.py")
        module.has_cuda_compute = lambda: True
        self.assertEqual({program for _, program in module.commands_of(self.folder, 9)}, {"fatlink run", "cuda.compute"})
        layer = self.folder / "share/fatlink/cache"
        layer.mkdir(parents=True)
        commands = module.commands_of(self.folder, 9)
        self.assertIn(f"FATLINK_SYSTEM_CACHE={layer}", commands["scan", "fatlink run, shipped links"])
        self.assertIn("FATLINK_SYSTEM_CACHE=", commands["scan", "fatlink run"])

    def test_first_results_of_a_recorded_run_are_shown(self):
        medians = {(("reduce", "fatlink run"), "cold"): [100, 50], (("reduce", "fatlink run"), "warm"): [20, 2],
                   (("reduce", "cuda.compute"), "cold"): [3000, 2000], (("reduce", "cuda.compute"), "warm"): [2900, 1900]}
        text = printed(load(BENCH / "first_result.py").print_table, medians, 9, 65536)
        self.assertIn("65536 float32 elements, medians of 9 rounds", text)
        self.assertEqual(rows(text)[1:], [["reduce", "cuda.compute", "cold", "3000.0", "30.0", "2000.0", "40.0"],
                                          ["reduce", "cuda.compute", "warm", "2900.0", "145.0", "1900.0", "950.0"],
                                          ["reduce", "fatlink run", "cold", "100.0", "1.0", "50.0", "1.0"],
                                          ["reduce", "fatlink run", "warm", "20.0", "1.0", "2.0", "1.0"]])

    def test_cold_starts_of_a_recorded_run_are_shown(self):
        medians = {("fatlink run", "cold"): [90, 30], ("fatlink run", "warm"): [60, 3], ("raw nvJitLink", "cold"): [100, 40]}
        text = printed(load(BENCH / "cold_start.py").print_table, medians, 15)
        self.assertEqual(rows(text)[1:], [["fatlink run", "cold", "90.0", "0.90", "30.0", "0.75"],
                                          ["fatlink run", "warm", "60.0", "0.60", "3.0", "0.07"],
                                          ["raw nvJitLink", "cold", "100.0", "1.00", "40.0", "1.00"]])

    def test_the_first_result_of_cuda_compute_is_timed_and_verified(self):
        """With stand-ins for CuPy and cuda.compute: what is called, and the JSON."""
        (self.folder / "numpy.py").write_text(textwrap.dedent("""
            float32 = float
            class Array(list):
                astype = lambda self, kind: self
                sum = lambda self, keepdims: Array([sum(self)])
                cumsum = lambda self, dtype: Array(sum(self[:i + 1]) for i in range(len(self)))
                get = lambda self: self
                __eq__ = lambda self, other: Same(list.__eq__(self, other))
            class Same:
                def __init__(self, value): self.value = value
                all = lambda self: self.value
            class random:
                default_rng = staticmethod(lambda seed: random)
                integers = staticmethod(lambda low, high, count: Array(i % 2 for i in range(count)))
            zeros = lambda count, kind: Array([0] * count)
            """))
        (self.folder / "cupy.py").write_text(textwrap.dedent("""
            import numpy, types
            asarray = lambda values: values
            empty = lambda count, kind: numpy.Array([9] * count)
            cuda = types.SimpleNamespace(runtime=types.SimpleNamespace(deviceSynchronize=lambda: None))
            """))
        (self.folder / "cuda/compute").mkdir(parents=True)
        (self.folder / "cuda/compute/__init__.py").write_text(textwrap.dedent("""
            import os
            def reduce_into(*, d_in, d_out, num_items, op, h_init):
                d_out[0] = op(h_init[0], sum(d_in[:num_items]))
            def inclusive_scan(*, d_in, d_out, op, init_value, num_items):
                total = init_value[0]
                for i in range(num_items - ("WRONG" in os.environ)):
                    d_out[i] = total = op(total, d_in[i])
            """))
        env = {"PYTHONPATH": str(self.folder)}
        for kind in "reduce", "scan":
            done = self.run_script(BENCH / "cuda_compute_first.py", kind, 100, status=0, env=env)
            said = json.loads(done.stdout)
            self.assertEqual(set(said), {"verified", "import_ms", "device_ms", "first_ms"})
            self.assertIs(said["verified"], True)
        done = self.run_script(BENCH / "cuda_compute_first.py", "scan", 100, status=1, env={**env, "WRONG": "1"})
        self.assertIs(json.loads(done.stdout)["verified"], False)


class Sweep(Scripts):
    @unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed for this Python")
    def test_a_case_with_a_better_neighbour_is_marked(self):
        sweep = load(BENCH / "sweep.py")
        self.assertEqual(sweep.valleys([0.6, 0.4, 0.61, 0.9]), [False, True, False, False])
        self.assertEqual(sweep.valleys([0.1, 0.2, 0.6]), [True, True, False])
        self.assertEqual(sweep.valleys([0.1, 0.6, 0.39], both=False), [False, False, True])
        self.assertEqual(sweep.valleys([0.5]), [False])

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed for this Python")
    @unittest.skipUnless(nvjitlink(), "no nvJitLink")
    def test_each_family_runs_on_the_reference_device(self):
        for family, titles in (("segments", {"segments of", "skewed segments"}), ("selectivity", {"select accepts"})):
            done = self.run_script(BENCH / "sweep.py", BUILD, "--device", "cpu", "--elements", 512, "--only", family, status=0)
            found = rows(done.stdout)[1:]
            self.assertEqual({cells[0] for cells in found}, titles)
            self.assertTrue(all(float(cells[2]) > 0 and float(cells[4]) >= 0 for cells in found), found)
            marked = sum(cells[5] == "valley" for cells in found)
            self.assertIn(f"\n{marked} valleys.\n", done.stdout)


class AlgorithmBench(Scripts):
    def test_wrong_arguments_are_refused_before_the_build(self):
        for words, says in ((("--round", 3), "unknown option --round; the options are --rounds N, --only NAME and --cccl FOLDER"),
                            (("--rounds",), "--rounds : expected a whole number of 1 or more"),
                            (("--rounds", 0), "--rounds 0: expected a whole number of 1 or more"),
                            (("--only",), "--only: has no value"), (("--cccl", "docs"), "--cccl docs: no folder with cub/cub.cuh"),
                            (("1e6",), "ELEMENTS 1e6: expected a whole number")):
            with self.subTest(words=words):
                done = self.run_script(SOURCE / "scripts/algorithm-bench", *words, status=2)
                self.assertIn(f"algorithm-bench: error: {says}", done.stderr)
                self.assertEqual(done.stdout, "")

    @unittest.skipIf(shutil.which("nvidia-smi"), "there is a GPU here, so that it would build and run")
    def test_a_machine_without_a_gpu_is_refused(self):
        done = self.run_script(SOURCE / "scripts/algorithm-bench", 1000, status=5)
        self.assertIn("algorithm-bench: error: there is no GPU here (nvidia-smi)", done.stderr)


class SizeStudy(Scripts):
    STUDY = SOURCE / "scripts/size-study"

    def test_wrong_arguments_are_refused(self):
        self.assertIn("nowhere: has no bin/fatlink: name the folder of a build", self.run_script(self.STUDY, "nowhere", status=2).stderr)
        self.assertIn("90: expected a target such as sm_90", self.run_script(self.STUDY, BUILD, "90", status=2).stderr)

    def test_nothing_that_links_is_an_error(self):
        build = self.program("""print('{"fatbins": []}')""")
        self.assertIn("size-study: no pair links", self.run_script(self.STUDY, build, "sm_90", status=1).stderr)

    def test_bytes_of_two_fatbins_and_their_cubins_are_counted(self):
        """A program of recorded answers: a library of 4,096 bytes, a transform of 1,024, cubins of 2,048 and 8,192."""
        for name, size in ("sum_4", 4096), ("add_float", 1024):
            (self.folder / f"{name}.fatbin").write_bytes(bytes(size))
        build = self.program(f"""
            import json, sys
            if sys.argv[1] == "list":
                common = {{"hidden_by": None, "problem": None}}
                print(json.dumps({{"fatbins": [
                    {{"name": "sum_4", "kind": "library", "file": {str(self.folder / "sum_4.fatbin")!r}, **common}},
                    {{"name": "add_float", "kind": "transform", "file": {str(self.folder / "add_float.fatbin")!r},
                      "libraries": [{{"library": "sum_4", "works": True}}, {{"library": "other", "works": False}}], **common}},
                    {{"name": "hidden", "kind": "transform", "file": "x", "hidden_by": "y", "problem": None}}]}}))
            else:
                size = 2048 if "sm_80" in sys.argv else 8192
                open(sys.argv[sys.argv.index("-o") + 1], "wb").write(bytes(size))
                print(json.dumps({{"link_ms": 7 if size == 2048 else 9}}))
            """)
        text = self.run_script(self.STUDY, build, "sm_80", "sm_90", status=0).stdout
        self.assertIn("Architectures: sm_80, sm_90. Links of all 2 cubins: 0 s, 8 ms each (median).", text)
        table = {row[0]: row[1:] for row in rows(text)}
        self.assertEqual(table["fragments: 1 libraries"], ["1", "4", ""])
        self.assertEqual(table["fragments: 1 transforms"], ["1", "1", ""])
        self.assertEqual(table["fragments, all, for every architecture"], ["2", "5", "1.0"])
        self.assertEqual(table["cubins: 1 pairs, 1 architecture"], ["1", "8", "1.6"])
        self.assertEqual(table["cubins: 1 pairs, 2 architectures"], ["2", "10", "2.0"])
        compressed = sum(len(zlib.compress(bytes(size), 9)) for size in (2048, 8192))
        self.assertEqual(table["cubins, compressed: 1 pairs, 2 architectures"], ["2", f"{compressed / 1024:,.0f}", f"{compressed / 5120:.1f}"])
        self.assertEqual(table["sum_4"], ["1", "4.0", "1.0", "5.0", "8", "9"])
        self.assertEqual(table["1000"][:4], ["1001", "1,004", "2000", "10,000"])

    def test_links_of_the_program_are_read(self):
        build = self.folder / "build"
        for file in "bin/fatlink", "libexec/fatlink-linkd", "share/fatlink/reduce_4.fatbin", "share/fatlink/reduce_4.json", \
                "share/fatlink/add_float.fatbin", "share/fatlink/add_float.json":
            (build / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(BUILD / file, build / file)
        if not nvjitlink():
            self.skipTest("no nvJitLink on this machine")
        home = {"HOME": str(self.folder), "FATLINK_PATH": "", "XDG_DATA_HOME": str(self.folder / "data"), "FATLINK_NVJITLINK": nvjitlink()}
        table = {row[0]: row[1:] for row in rows(self.run_script(self.STUDY, build, "sm_90", status=0, env=home).stdout)}
        sizes = [(build / f"share/fatlink/{name}.fatbin").stat().st_size for name in ("reduce_4", "add_float")]
        self.assertEqual(table["fragments: 1 libraries"][:2], ["1", f"{sizes[0] / 1024:,.0f}"])
        self.assertEqual(table["fragments, all, for every architecture"][:2], ["2", f"{sum(sizes) / 1024:,.0f}"])
        self.assertEqual(table["reduce_4"][0], "1")


if __name__ == "__main__":
    unittest.main()
