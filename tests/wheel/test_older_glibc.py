# SPDX-License-Identifier: Apache-2.0
"""The wheel's binaries, and programs that use its library, where the loader refuses versions newer than glibc 2.28's."""
import json
import os
import re
import unittest
import zipfile

from older_glibc import NEWEST, build_start_observer, make_older_root, numbers_of
from wheel_case import SOURCE, WHEELS, WheelCase

PACKAGE = "/wheel/fatlink"
VERIFIED = [("ptx", True), ("lto", True)]
C_PROGRAM = """
#include <fatlink/fatlink.h>
#include <stdio.h>
int main(void)
{
  fatlink_device* device = NULL;
  fatlink_error* error = fatlink_device_open("cpu", NULL, &device);
  printf("%s %s\\n", fatlink_version(), error == NULL ? "opened" : fatlink_error_message(error));
  fatlink_error_free(error);
  fatlink_device_free(device);
  error = fatlink_device_open("absent", NULL, &device);
  puts(error == NULL ? "opened" : "refused");
  fatlink_error_free(error);
  return 0;
}
"""
CPP_PROGRAM = """
#include <fatlink/cache.hpp>
#include <fatlink/prepare.hpp>
#include <cstdio>
#include <stdexcept>
int main()
{
  fatlink::linker linker({.cache = std::make_shared<fatlink::link_cache>(fatlink::default_cache_settings())});
  auto const device = fatlink::open_device("cpu");
  auto const plan = fatlink::prepare(*device, linker, {.library = "apply_transform", .transforms = {"relu_poly"}});
  std::puts(plan.image().cache == fatlink::cache_outcome::hit ? "hit" : "miss");
  try { fatlink::prepare(*device, linker, {.library = "absent", .transforms = {"relu_poly"}}); }
  catch (std::runtime_error const& error) { std::puts("caught"); }
}
"""


class OlderGlibc(WheelCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.root = make_older_root(cls.folder / "root")
        for wheel in (cls.wheel, *WHEELS.glob("nvidia_nvjitlink-*.whl")):
            zipfile.ZipFile(wheel).extractall(cls.root.folder / "wheel")
        cls.package = cls.root.folder / PACKAGE[1:]
        cls.programs = [cls.package / "bin/fatlink", cls.package / "libexec/fatlink-linkd"]
        for program in cls.programs:
            program.chmod(0o755)
        cls.libraries = cls.folder / "libraries"
        cls.done("python3", "-B", SOURCE / "cmake/build/older_libraries.py", "--compiler", "c++", "--readelf", "readelf", cls.libraries)

    def fatlink(self, *words):
        return json.loads(self.root.done(f"{PACKAGE}/bin/fatlink", *words, "--json"))

    def build(self, name, text, *options):
        """A program in the root that is linked with the wheel's library, and for older libraries if `options` are given."""
        (self.folder / name).write_text(text)
        language = ["-x", "c++", "-std=c++20"] if name.endswith("cpp") else ["-x", "c"]
        program = self.root.folder / name.replace(".", "_")
        self.done("c++", *language, self.folder / name, "-x", "none", f"-I{self.package}/include", *options, f"-L{self.package}/lib",
                  "-lfatlink", f"-Wl,-rpath,{PACKAGE}/lib", f"-Wl,-rpath-link,{self.package}/lib", "-o", program)
        return f"/{program.name}"

    def build_older(self, name, text):
        start = self.folder / "start.o"
        self.done("c++", "-std=c++20", "-c", SOURCE / "host/wheel/older_start.cpp", "-o", start)
        symbols = self.folder / "symbols.o"
        self.done("c++", "-std=c++20", "-fvisibility=hidden", "-c", SOURCE / "host/wheel/older_symbols.cpp", "-o", symbols)
        return self.build(name, text, start, symbols, f"-L{self.libraries}", "-Wl,--wrap=__libc_start_main,--exclude-libs,ALL")

    def test_the_loader_refuses_a_program_that_is_linked_for_this_machine(self):
        done = self.root.run(self.build("newer.c", C_PROGRAM))
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"libc\.so\.6: version `GLIBC_2\.3\d' not found \(required by /newer_c\)")

    def test_the_loader_refuses_no_older_version(self):
        shown = [self.done("readelf", "-V", "-W", file, env={**os.environ, "LC_ALL": "C"})
                 for file in (self.root.folder / "lib").glob("*/lib*.so.*")]
        names = set(re.findall(r"Name: ([A-Z]+)_([0-9.]+)\s", "".join(shown)))
        for family, newest in NEWEST.items():
            self.assertEqual(max(numbers_of(number) for name, number in names if name == family), newest)
        self.assertIn(("XLIBC", "2.34"), names)

    def test_the_c_library_is_given_the_initializers_which_older_ones_need(self):
        library = build_start_observer(self.folder)
        for program in self.programs:
            self.assertIn("initializers given\n", self.run_(program, "--version", env={"LD_PRELOAD": str(library)}).stderr)

    def test_doctor_finds_that_links_work(self):
        report = self.fatlink("doctor")
        self.assertEqual(report["nvjitlink"]["reason"], "beside the Python package")

    def test_links_and_verifies(self):
        for words in ((), ("--no-cache",), ("--library", "reduce_4", "--transform", "add_float", "--no-cache")):
            report = self.fatlink("run", "--device", "cpu", *words)
            self.assertEqual([(mode["mode"], mode["verified"]) for mode in report["modes"]], VERIFIED)

    def test_a_c_program_uses_the_library(self):
        version = re.search(r"project\(fatlink VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
        self.assertEqual(self.root.done(self.build_older("older.c", C_PROGRAM)), f"{version} opened\nrefused\n")

    def test_a_cpp_program_uses_the_library_and_catches_its_exceptions(self):
        self.assertEqual(self.root.done(self.build_older("older.cpp", CPP_PROGRAM)), "hit\ncaught\n")

    def test_the_binaries_need_no_newer_version(self):
        for file in (*self.programs, *(self.package / "lib").glob("lib*.so.*")):
            shown = self.done("readelf", "-V", "-W", file, env={**os.environ, "LC_ALL": "C"}).partition("Version needs")[2]
            needed = set(re.findall(r"Name: ([A-Z]+)_([0-9.]+)\s", shown))
            self.assertIn("GLIBC", {family for family, _ in needed}, file)
            newer = [(family, number) for family, number in needed if family in NEWEST and numbers_of(number) > NEWEST[family]]
            self.assertEqual(newer, [], file)


if __name__ == "__main__":
    unittest.main()
