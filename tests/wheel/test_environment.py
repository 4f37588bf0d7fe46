# SPDX-License-Identifier: Apache-2.0
"""The wheel in a virtual environment: the program, and projects that find_package(fatlink) and pkg-config find in it."""
import json
import os
import shutil
import unittest

from wheel_case import CMAKE, NVCC, SOURCE, WHEELS, Environment

PROGRAM = """
#include <fatlink/search_path.hpp>
#include <cstdio>
int main() { std::puts(fatlink::installed_data_folder().c_str()); }
"""


class Projects(Environment):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.package = cls.done(cls.python, "-m", "fatlink", "--prefix").strip()
        cls.cmake_dir = cls.done(cls.python, "-m", "fatlink", "--cmake-dir").strip()

    def build(self, name, source, *options):
        build = self.folder / name
        self.done(CMAKE, "-S", source, "-B", build, "-G", "Ninja", f"-Dfatlink_DIR={self.cmake_dir}",
                  f"-DCUDAToolkit_ROOT={NVCC.parent.parent}", *options)
        self.done(CMAKE, "--build", build)
        return build

    def test_a_transforms_project_of_ten_lines(self):
        build = self.build("transform", SOURCE / "tests/consumer/transform")
        report = json.loads(self.fatlink("run", "--device", "cpu", "--json", "--transform", build / "halve.fatbin"))
        self.assertEqual([mode["verified"] for mode in report["modes"]], [True, True])
        self.done("ctest", "--test-dir", build, "--output-on-failure", env={**os.environ, **self.env})

    def test_a_library_with_a_contract_and_a_host(self):
        build = self.build("library", SOURCE / "tests/consumer/library")
        self.done("ctest", "--test-dir", build, "--output-on-failure", env={**os.environ, **self.env})

    def test_an_application_links_the_shared_library(self):
        source = self.folder / "application-source"
        shutil.copytree(SOURCE / "tests/consumer/application", source)
        lists = source / "CMakeLists.txt"
        lists.write_text(lists.read_text().replace("ITEMS fatlink static", "ITEMS fatlink")
                         .replace("install(TARGETS application_static)\n", ""))
        build = self.build("application", source)
        said = self.done(build / "application_fatlink", f"{self.package}/share/fatlink", env=self.env)
        self.assertRegex(said, r"lto: \d+ bytes, right, cache (hit|miss)")

    def test_pkg_config_and_a_compiler(self):
        if shutil.which("pkg-config") is None:
            self.skipTest("pkg-config is not installed")
        (self.folder / "program.cpp").write_text(PROGRAM)
        env = {**os.environ, "PKG_CONFIG_PATH": f"{self.package}/lib/pkgconfig"}
        flags = self.done("pkg-config", "--cflags", "--libs", "fatlink", env=env).split()
        self.done("c++", "-std=c++20", "program.cpp", "-o", "program", *flags, f"-Wl,-rpath,{self.package}/lib")
        self.assertEqual(self.done(self.folder / "program", env=self.env), f"{self.package}/share/fatlink\n")

    def test_the_static_library_is_not_offered(self):
        (self.folder / "none").mkdir()
        (self.folder / "none/CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(none LANGUAGES CXX)\nfind_package(fatlink REQUIRED)\n"
            "if(TARGET fatlink::static)\n  message(FATAL_ERROR offered)\nendif()\n")
        self.build("none-build", self.folder / "none")


BLEND = """
#include <fatlink/cache.hpp>
#include <fatlink/prepare.hpp>
#include <cstdio>
int main()
{
  fatlink::linker linker({.cache = std::make_shared<fatlink::link_cache>(fatlink::default_cache_settings())});
  auto const plan = fatlink::prepare(*fatlink::open_device("cpu"), linker, {.library = "blend", .transforms = {"screen_blend"}});
  std::puts(plan.image().cache == fatlink::cache_outcome::hit ? "hit" : "miss");
}
"""
FIRST_CALLS = """
import fatlink
import numpy
for element in ("float32", "int32"):
    x = numpy.arange(1, 6, dtype=element)
    print(fatlink.reduce(x).item(), fatlink.reduce(x, "max").item(), fatlink.scan(x).tolist()[-1], fatlink.sort(x, "greater").tolist()[0],
          fatlink.map(x, x, op="multiply").tolist()[-1])
print(fatlink.cache.statistics()["misses"])
"""


class NamedOperators(Environment):
    def test_their_first_calls_compile_and_link_nothing(self):
        self.done(self.environment / "bin/pip", "install", "-q", "--no-index", "--find-links", WHEELS, "numpy")
        env = {**self.env, "FATLINK_CACHE_DIR": str(self.folder / "first"), "FATLINK_LINKD": "/nowhere"}
        said = self.done(self.python, "-c", FIRST_CALLS, env=env).split("\n")
        self.assertEqual(said[:3], ["15.0 5.0 15.0 5.0 25.0", "15 5 15 5 25", "0"])

    def test_are_shown_by_the_program(self):
        layers = json.loads(self.fatlink("doctor", "--json"))["cache"]["layers"]
        package = self.done(self.python, "-m", "fatlink", "--prefix").strip()
        self.assertEqual([layer["folder"] for layer in layers], [f"{package}/share/fatlink/cache"])
        self.assertGreater(layers[0]["entries"], 800)


class ExampleWheel(Environment):
    """As tests/consumer/test_wheel.py, with fatlink's wheel and with pip's isolated build, in offline mode."""
    RUN = ("run", "--library", "blend", "--transform", "screen_blend", "--device", "cpu", "--mode", "lto", "--json")
    LOAD = "import fatlink; print(fatlink.load('blend', 'screen_blend', device='cpu').image.cache)"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        project = shutil.copytree(SOURCE / "tests/consumer/wheel", cls.folder / "project")
        pip = cls.environment / "bin/pip"
        cls.done(pip, "wheel", "-q", "--no-deps", "--no-index", "--find-links", WHEELS, "-w", cls.folder, project,
                 "--config-settings", "cmake.define.BLEND_ARCHITECTURES=90",
                 env={**os.environ, "CUDAToolkit_ROOT": str(NVCC.parent.parent)})
        cls.done(pip, "install", "-q", "--no-index", cls.folder / "fatlink_blend-1.0-py3-none-any.whl")
        cls.env["FATLINK_OFFLINE"] = "1"  # a link would fail

    def test_is_found_by_the_program(self):
        report = json.loads(self.fatlink(*self.RUN))
        self.assertEqual([mode["reference"][0]["verified"] for mode in report["modes"]], [True])

    def test_is_found_by_python(self):
        self.assertEqual(self.done(self.python, "-c", self.LOAD, env=self.env), "hit\n")

    def test_is_found_by_a_cpp_program_that_links_nothing(self):
        (self.folder / "blend.cpp").write_text(BLEND)
        package = self.done(self.python, "-m", "fatlink", "--prefix").strip()
        folders = self.done(self.python, "-m", "fatlink", "--python-path", env=self.env).strip()
        self.assertRegex(folders, r"^fatlink-blend 1\.0=/.*/site-packages/fatlink_blend/share/fatlink$")
        self.done("c++", "-std=c++20", "blend.cpp", "-o", "blend", f"-I{package}/include", f"-L{package}/lib", "-lfatlink",
                  f"-Wl,-rpath,{package}/lib")
        self.assertEqual(self.done(self.folder / "blend", env={**self.env, "FATLINK_PYTHON_PATH": folders}), "hit\n")

    def test_starts_no_helper_and_opens_no_nvjitlink(self):
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        trace = self.folder / "trace"
        tracer = ("strace", "-f", "-o", trace, "-e", "trace=execve,open,openat")
        for words in ((self.python, "-c", self.LOAD), (self.environment / "bin/fatlink", *self.RUN)):
            self.done(*tracer, *words, env=self.env)
            opened = trace.read_text()
            self.assertIn("blend.fatbin", opened)
            for name in ("fatlink-linkd", "libnvJitLink", "libnvrtc", "libnvvm"):
                self.assertNotIn(name, opened)


class Program(Environment):
    def test_gives_the_arguments_and_the_exit_status_of_the_program(self):
        self.assertIn("fatlink ", self.fatlink("--version"))
        done = self.run_(self.environment / "bin/fatlink", "rnu", env=self.env)
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean 'run'?", done.stderr)

    def test_links_compiles_and_verifies(self):
        report = json.loads(self.fatlink("run", "--device", "cpu", "--no-cache", "--json"))
        self.assertEqual([mode["verified"] for mode in report["modes"]], [True, True])
        report = json.loads(self.fatlink("run", "--device", "cpu", "--library", "reduce_4", "--transform", "max_float",
                                         "--json"))
        self.assertEqual([mode["reference"][0]["verified"] for mode in report["modes"]], [True, True])


if __name__ == "__main__":
    unittest.main()
