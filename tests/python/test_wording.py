# SPDX-License-Identifier: Apache-2.0
"""Messages and hints name what the caller can set in the words of the interface that was called: C++, C, the program's options, or
Python."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from python_case import BUILD, EMULATED, SOURCE, PythonCase, fatlink

MESSAGE, HINT = "{}: this option has no effect in sass mode, which compiles nothing", "do not set {}, or link in lto mode: {}"
# Word for word the same error: the names of the option, and of the link mode.
NAMES = {"C++": ("link_options::max_registers", "link_mode::lto"),
         "C": ("fatlink_link_options.max_registers", "FATLINK_MODE_LTO"),
         "program": ("--max-registers", "--mode lto"),
         "Python": ("max_registers", 'mode="lto"')}
CXX = r"""
#include <fatlink/linker.hpp>
#include <fatlink/fatlink.h>
#include <cstdio>
#include <string_view>
int main(int count, char**)
{
  if (count > 1) {
    fatlink_input* input = nullptr;
    fatlink_input_find("reduce_4", &input);
    fatlink_linker* linker = nullptr;
    fatlink_linker_create(nullptr, &linker);
    fatlink_link_options options{};
    options.size = sizeof options;
    options.target = "sm_90";
    options.mode = FATLINK_MODE_SASS;
    options.max_registers = 32;
    fatlink_image* image = nullptr;
    fatlink_error* error = fatlink_link(linker, &input, 1, &options, &image);
    std::printf("%s\n%s\n%s\n", fatlink_error_message(error), fatlink_error_input(error), fatlink_error_hint(error));
    return 0;
  }
  try {
    fatlink::link_options options{.target = "sm_90", .mode = fatlink::link_mode::sass};
    options.max_registers = 32;
    fatlink::linker().link({fatlink::input::find("reduce_4")}, options);
  } catch (fatlink::error const& error) {
    std::printf("%s\n%s\n%s\n", error.what(), error.details().input.c_str(), error.details().hint.c_str());
  }
}
"""


class Wording(PythonCase):
    def assert_words(self, interface, message, input, hint):
        option, mode = NAMES[interface]
        with self.subTest(interface=interface):
            self.assertEqual((message, input, hint), (MESSAGE.format(option), option, HINT.format(option, mode)))

    def test_python_names_arguments(self):
        with self.assertRaises(fatlink.UsageError) as raised:
            fatlink.link(["reduce_4"], target="sm_90", mode="sass", max_registers=32)
        self.assert_words("Python", raised.exception.message, raised.exception.input, raised.exception.hint)

    @unittest.skipUnless(SOURCE and shutil.which("c++") and not EMULATED, "needs the sources and a C++ compiler for this machine")
    def test_each_interface_names_the_same_in_its_own_words(self):
        self.test_python_names_arguments()
        with tempfile.TemporaryDirectory() as folder:
            source, program = pathlib.Path(folder, "x.cpp"), pathlib.Path(folder, "x")
            source.write_text(CXX)
            library = pathlib.Path(os.environ["FATLINK_LIBRARY"]).parent
            subprocess.run(["c++", "-std=c++20", f"-I{SOURCE}/host/include", source, "-o", program, f"-L{library}", "-lfatlink",
                            f"-Wl,-rpath,{library}"], check=True)
            for interface, words in (("C++", []), ("C", ["c"])):
                said = subprocess.run([program, *words], text=True, capture_output=True, check=True).stdout
                self.assert_words(interface, *said.splitlines())
        done = subprocess.run([BUILD / "bin/fatlink", "link", "--mode", "sass", "--target", "sm_90", "--max-registers", "32", "-o",
                               "/nowhere/x", "reduce_4"], text=True, capture_output=True)
        option, mode = NAMES["program"]
        self.assertEqual(done.stderr.splitlines()[0], f"fatlink: error: {MESSAGE.format(option)}")
        self.assertIn(f"hint:   {HINT.format(option, mode)}", done.stderr)

    def test_findings_too(self):
        findings = fatlink.check(["reduce_4", "add_float"], target="sm_90", mode="sass")
        self.assertIn('link in lto mode (mode="lto")', findings[0].hint)

    def test_values_of_arguments_are_named_by_the_argument(self):
        self.assert_error(fatlink.UsageError, fatlink.link, ["reduce_4", "add_float"], target="sm_90", max_registers=5,
                          says="max_registers: 5 is not a number", hint="set max_registers within")
        error = self.assert_error(fatlink.UsageError, fatlink.link, ["reduce_4", "add_float"], target="sm_90", kernels=["a b"],
                                  says="kernels: 'a b' is not the name of a symbol")
        self.assertEqual(error.input, "kernels")


if __name__ == "__main__":
    unittest.main()
