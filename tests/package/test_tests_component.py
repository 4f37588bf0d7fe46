# SPDX-License-Identifier: Apache-2.0
"""The component `tests`, installed, moved, and run on a machine that has nothing else."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["FATLINK_BUILD"])
CMAKE = os.environ["FATLINK_CMAKE"]
SOURCE = os.environ["FATLINK_SOURCE"]
COUNTS = re.compile(r"^(\w+) +(\d+) passed +(\d+) failed +(\d+) skipped$", re.MULTILINE)


def nvjitlink():
    """Leaves out modules that only the build tree has."""
    said = subprocess.run([BUILD / "bin" / "fatlink", "doctor", "--json"], capture_output=True).stdout
    return json.loads(said)["nvjitlink"]["path"]


class TestsComponent(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-tests-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        for component in ("runtime", "transforms", "tests"):
            subprocess.run([CMAKE, "--install", BUILD, "--prefix", cls.folder / "first", "--component",
                            component], check=True, capture_output=True)
        (cls.folder / "first").rename(cls.folder / "moved away")
        cls.tests = cls.folder / "moved away" / "libexec" / "fatlink-tests"
        # From the build's environment only the sanitizers' options.
        cls.env = {name: text for name, text in os.environ.items() if name.endswith("SAN_OPTIONS")}
        cls.env.update(PATH="/usr/bin:/bin", FATLINK_NVJITLINK=nvjitlink(), FATLINK_TEST_SCALE="0.02")

    def run_tests(self, *suites, status=0, env=None):
        """What `run` prints, and (passed, failed, skipped) by suite."""
        done = subprocess.run([self.tests / "run", *suites], cwd="/", text=True, capture_output=True,
                              env=self.env | (env or {}))
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        counts = {suite: tuple(map(int, numbers)) for suite, *numbers in COUNTS.findall(done.stdout)}
        return done.stdout + done.stderr, counts

    def test_runs_what_this_machine_can(self):
        # Of the libraries of algorithms the maps only: ctest runs all of these tests, and they take minutes.
        suites = ("Depths Histograms Merges Partitions3 Reductions RunLists Runs Scans Searches SegmentedReductions SegmentedSorts Selections "
                  "Sorts TopElements TransformReductions TransformSelections")
        others = ":".join(f"Cpu/{suite}.*" for suite in suites.split())
        said, counts = self.run_tests("unit", "cpu", env={"GTEST_FILTER": "-" + others})
        self.assertEqual(list(counts), ["unit", "cpu"])
        self.assertGreater(counts["unit"][0], 100)
        self.assertGreater(counts["cpu"][0], 40)
        self.assertEqual([failed for _, failed, _ in counts.values()], [0, 0])
        # Print each reason once.
        self.assertEqual(said.count("compiles, and FATLINK_NVCC names no nvcc"), 1, said)

    def test_those_of_python_need_no_cuda(self):
        """They run, or skip with the reason, where there is neither nvJitLink nor a compiler, with NumPy and without it."""
        nothing = {f"FATLINK_{name}": "/nowhere.so" for name in ("NVJITLINK", "NVRTC", "LIBNVVM")}
        (self.folder / "without" / "numpy").mkdir(parents=True)
        (self.folder / "without" / "numpy" / "__init__.py").write_text("raise ImportError('there is no NumPy')\n")
        for env in (nothing, nothing | {"PYTHONPATH": str(self.folder / "without")}):
            with self.subTest(numpy="PYTHONPATH" not in env):
                said, counts = self.run_tests("python", env=env)
                self.assertEqual(counts["python"][1], 0, said)
                self.assertGreater(counts["python"][0], 40)

    def test_a_damaged_fixture_fails_and_is_named(self):
        fixture = self.tests / "fixtures" / "several.fatbin"
        whole = fixture.read_bytes()
        self.addCleanup(fixture.write_bytes, whole)
        fixture.write_bytes(whole[:100])
        said, counts = self.run_tests("unit", status=1)
        self.assertGreater(counts["unit"][1], 0)
        self.assertIn("Failed:\n", said)
        self.assertRegex(said, r"1 \w+\.\w+ \(status 1\)\n")

    def test_a_program_that_does_not_start_fails(self):
        program = self.tests / "gpu_tests"
        program.rename(self.tests / "elsewhere")
        self.addCleanup((self.tests / "elsewhere").rename, program)
        said, _ = self.run_tests("gpu", status=1)
        self.assertIn("gpu_tests cannot be started", said)

    def test_python_tests_skip_without_python(self):
        bare = self.folder / "bare"
        bare.mkdir()
        for tool in ("awk", "bash", "cat", "dirname", "env", "grep", "mkdir", "mktemp", "readlink", "rm", "sed",
                     "sort", "timeout", "uniq"):
            (bare / tool).symlink_to(shutil.which(tool))
        said, counts = self.run_tests("cli", env={"PATH": str(bare)})
        self.assertEqual(counts, {"cli": (0, 0, 1)})
        self.assertIn("python3 is not installed (all of cli/test_*.py)", said)

    def test_without_the_program_it_says_what_to_install(self):
        program = self.folder / "moved away" / "bin" / "fatlink"
        program.rename(self.folder / "fatlink")
        self.addCleanup((self.folder / "fatlink").rename, program)
        said, _ = self.run_tests(status=1)
        self.assertIn("bin/fatlink is not there; install the components runtime and transforms", said)

    def test_usage(self):
        said, _ = self.run_tests("--help")
        self.assertIn("Usage: run [SUITE...]", said)
        said, _ = self.run_tests("unit", "fast", status=2)
        self.assertEqual(said, "run: error: unknown argument fast; the suites are: unit link cli cpu python gpu\n")

    def test_no_file_holds_a_path_of_this_machine(self):
        for file in self.tests.rglob("*"):
            if file.is_file():
                for path in (SOURCE, str(BUILD)):
                    self.assertNotIn(path.encode(), file.read_bytes(), file)


if __name__ == "__main__":
    unittest.main()
