# SPDX-License-Identifier: Apache-2.0
"""The libraries against which the wheel is linked, and the functions that they lack. The linked wheel: tests/wheel."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from older_glibc import build_start_observer, numbers_of

SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
CACHE = (pathlib.Path(os.environ["FATLINK_BUILD"]) / "CMakeCache.txt").read_text()
COMPILER = re.search(r"(?m)^CMAKE_CXX_COMPILER:\w+=(.*)$", CACHE)[1]
SCRIPT = SOURCE / "cmake/build/older_libraries.py"
WHEEL = SOURCE / "host/wheel"
NEWEST = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)}
PROGRAM = """
#include <dlfcn.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <thread>
int main(int count, char**)
{
  int value = 0;
  std::thread([&] { value = count; }).join();
  try { throw std::runtime_error("thrown"); } catch (std::exception const& error) { std::cout << error.what() << '\\n'; }
  auto const folder = std::filesystem::canonical("/proc/self/fd/..");
  std::fprintf(stderr, "%d %g %d\\n", value, std::hypot(3.0 * count, 4.0), ::dlopen("/absent", RTLD_NOW) == nullptr);
  timer_t timer{};
  if (::pthread_kill(::pthread_self(), 0) != 0) return 1;
  return ::timer_create(CLOCK_REALTIME, nullptr, &timer) == 0 && folder.has_filename() && environ != nullptr ? 0 : 1;
}
"""


def run(*words, **options):
    return subprocess.run([str(word) for word in words], text=True, capture_output=True, **options)


def versions_needed(file):
    shown = run("readelf", "-V", "-W", file, env={**os.environ, "LC_ALL": "C"}).stdout.partition("Version needs section")[2]
    return set(re.findall(r"Name: ([A-Z]+)_([0-9.]+)\s", shown))


class OlderLibraries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        version = os.confstr("CS_GNU_LIBC_VERSION").split()[-1]
        if not (2, 34) <= tuple(map(int, version.split("."))) < (2, 38):
            raise unittest.SkipTest(f"glibc {version}: the wheel is linked for this machine's libraries")
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-older-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.libraries = cls.folder / "libraries"
        done = run("python3", "-B", SCRIPT, "--compiler", COMPILER, "--readelf", "readelf", cls.libraries)
        assert done.returncode == 0, done.stderr

    def link(self, name, *words):
        file = self.folder / name
        done = run(COMPILER, "-std=c++20", "-O1", "-fPIE", "-pie", *words, WHEEL / "older_symbols.cpp", WHEEL / "older_start.cpp",
                   f"-L{self.libraries}", "-Wl,--wrap=__libc_start_main,--exclude-libs,ALL", "-o", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        return file

    def assert_older(self, file):
        versions = versions_needed(file)
        self.assertIn("GLIBC", {family for family, _ in versions})
        newer = [(family, number) for family, number in versions if family in NEWEST and numbers_of(number) > NEWEST[family]]
        self.assertEqual(newer, [])
        self.assertNotRegex(run("readelf", "--dyn-syms", "-W", file).stdout, r"GLOBAL DEFAULT +UND [A-Za-z_]\w*$")

    def test_a_program_refers_to_no_newer_version_and_runs(self):
        (self.folder / "program.cpp").write_text(PROGRAM)
        for options in ((), ("-static-libstdc++",)):
            file = self.link("program", self.folder / "program.cpp", *options)
            self.assert_older(file)
            done = run(file)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "thrown\n", "1 5 1\n"))

    def test_functions_are_in_the_libraries_of_glibc_2_28(self):
        (self.folder / "program.cpp").write_text(PROGRAM)
        file = self.link("program", self.folder / "program.cpp")
        needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", "-W", file).stdout)
        for name in ("libpthread.so.0", "libdl.so.2", "librt.so.1", "libstdc++.so.6", "libgcc_s.so.1", "libm.so.6"):
            self.assertIn(name, needed)
            self.assertLess(needed.index(name), needed.index("libc.so.6"))  # libc has forwarders of the same names

    def test_functions_behave_as_those_of_glibc(self):
        file = self.link("check", SOURCE / "tests/fixtures/older_symbols_check.cpp")
        self.assert_older(file)
        for mode in ("newer", "older"):
            done = run(file, mode, timeout=60)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "constructed\ndestroyed\n", ""), mode)
        observed = run(file, "descriptors", env={"LD_PRELOAD": str(build_start_observer(self.folder))})
        self.assertEqual(observed.stderr, "initializers given\n")

    def test_a_compiler_without_libraries_is_an_error(self):
        done = run("python3", "-B", SCRIPT, "--compiler", "true", "--readelf", "readelf", self.folder / "none")
        self.assertEqual(done.returncode, 1)
        self.assertIn("true does not find libc.so.6; install the C and C++ libraries", done.stderr)


if __name__ == "__main__":
    unittest.main()
