# SPDX-License-Identifier: Apache-2.0
"""A build of fatlink_add_fatbin replaces the fatbin and its .json: atomically, and only if it succeeds."""
import os
import pathlib
import signal
import subprocess
import threading
import time

from build_side import CMAKE, NVCC, BuildSide
from run_tests import long_test
from watch_case import WatchingHost, digest

LISTS = "fatlink_add_fatbin(t SOURCES t.cu)\n"
SOURCE = 'extern "C" __device__ float user_transform(float x) {{ return {} * x; }}\n'


class Replacement(BuildSide):
    def setUp(self):
        super().setUp()
        self.fatbin, self.json = self.folder / "b/t.fatbin", self.folder / "b/t.json"

    def write_source(self, factor):
        time.sleep(0.01)
        self.write("t.cu", SOURCE.format(factor))

    def pair(self):
        return self.fatbin.read_bytes(), self.json.read_bytes()

    def assert_pair(self, expected):
        self.assertEqual(self.pair(), expected)
        self.assertEqual(sorted(path.name for path in (self.folder / "b").glob("t.*.partial")), [])

    def look(self, seen, ended):
        """Reads both files again and again; a file that is not there ends it with an exception."""
        while not ended.is_set():
            for file in (self.fatbin, self.json):
                try:
                    seen.add(file.read_bytes())
                except OSError as missing:
                    seen.add(missing)
                    return

    def test_a_watching_host_sees_each_build_and_no_error(self):
        self.write_source(1)
        self.built(LISTS)
        host = WatchingHost(self, self.fatbin)
        seen, ended, complete, results = set(), threading.Event(), set(self.pair()), []
        looking = threading.Thread(target=self.look, args=(seen, ended))
        looking.start()
        try:
            for factor in (1, 2, 3, 4):
                self.write_source(factor)
                self.assertEqual(self.build().returncode, 0)
                complete.update(self.pair())
                self.assertTrue(host.saw(digest(self.fatbin.read_bytes())))
                results.append((digest(self.fatbin.read_bytes()), factor))
        finally:
            ended.set()
            looking.join()
        self.assertEqual(host.end(), 0)
        self.assertEqual((host.versions, host.errors), (results, []))
        self.assertLessEqual(seen, complete, "no file, or a half-written one")

    def assert_a_build_that_fails_leaves_the_pair(self, generator):
        self.write_source(1)
        self.built(LISTS, "-G", generator)
        before = self.pair()
        self.write("t.cu", "nonsense;\n")
        self.assertNotEqual(self.build().returncode, 0)
        self.assert_pair(before)

    def test_a_build_that_fails_leaves_the_pair_of_the_one_before(self):
        self.assert_a_build_that_fails_leaves_the_pair("Ninja")

    @long_test  # the test above has Ninja
    def test_a_build_that_fails_leaves_the_pair_of_the_one_before_with_make(self):
        self.assert_a_build_that_fails_leaves_the_pair("Unix Makefiles")

    def assert_a_build_that_is_interrupted_leaves_the_pair(self, generator):
        self.write("nvcc", f'#!/bin/sh\n[ -e started ] || [ ! -e {self.folder}/slow ] || '
                   f'{{ touch {self.folder}/started; sleep 60; }}\nexec {NVCC} "$@"\n')
        (self.folder / "nvcc").chmod(0o755)
        self.write_source(1)
        self.built(f'set(CUDAToolkit_NVCC_EXECUTABLE "{self.folder}/nvcc")\n' + LISTS, "-G", generator)
        before = self.pair()
        self.write_source(2)
        self.interrupt_build()
        self.assert_pair(before)
        self.assertEqual(self.build().returncode, 0)
        self.assertNotEqual(self.pair(), before)

    def test_a_build_that_is_interrupted_leaves_the_pair_of_the_one_before(self):
        self.assert_a_build_that_is_interrupted_leaves_the_pair("Ninja")

    @long_test  # the test above has Ninja
    def test_a_build_that_is_interrupted_leaves_the_pair_of_the_one_before_with_make(self):
        self.assert_a_build_that_is_interrupted_leaves_the_pair("Unix Makefiles")

    def interrupt_build(self):
        """As with Ctrl-C, while nvcc runs; also where the tests run in the background of a shell, which ignores it."""
        slow, started = self.folder / "slow", self.folder / "started"
        slow.touch()
        build = subprocess.Popen([CMAKE, "--build", "b"], cwd=self.folder, start_new_session=True, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        while not started.exists():
            self.assertIsNone(build.poll())
            time.sleep(0.05)
        slow.unlink()
        os.killpg(build.pid, signal.SIGINT)
        build.communicate(timeout=60)
        self.assertNotEqual(build.returncode, 0)
        started.unlink()

    def test_a_pair_that_cannot_be_copied_is_not_replaced(self):
        self.write_source(1)
        self.built(LISTS)
        before = self.pair()
        self.write("half.fatbin", "a fatbin without a .json\n")
        self.assert_not_replaced(self.replace("half.fatbin"))
        self.assert_pair(before)

    def test_a_pair_that_cannot_be_renamed_leaves_no_temporary_file(self):
        for file in ("t.fatbin", "t.json"):
            with self.subTest(file):
                self.write("new.fatbin", "a fatbin\n")
                self.write("new.json", "{}\n")
                self.fatbin = self.folder / f"occupied.{file}" / "t.fatbin"
                (self.fatbin.parent / file).mkdir(parents=True)  # in the place of the file
                self.assert_not_replaced(self.replace("new.fatbin"))
                self.assertEqual(list(self.fatbin.parent.glob("*.partial")), [])

    def replace(self, built):
        script = pathlib.Path(os.environ["FATLINK_SOURCE"]) / "cmake/detail/replace_fatbin.cmake"
        return self.cmake(f"-DBUILT={built}", f"-DFATBIN={self.fatbin}", "-P", str(script))

    def assert_not_replaced(self, done):
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"{self.fatbin} was not replaced: ", " ".join(done.stderr.split()))
