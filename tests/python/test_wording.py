# SPDX-License-Identifier: Apache-2.0
"""Messages and hints name the arguments and functions of Python, where the library names those of C++."""
import pathlib
import re
import unittest

from python_case import SOURCE, PythonCase, fatlink

LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"(?:\s*"((?:[^"\\\n]|\\.)*)")?')  # two that follow each other are one text
NAME = re.compile(r"\b(?:link_options|link_mode|image_kind|isolation|compile_options|\w+_settings|cpu_options)::\w+")
NOT_IN_PYTHON = {"link_once_settings::wait_limit"}  # of several processes


def texts():
    """The texts of the library."""
    for path in (pathlib.Path(SOURCE) / "host/src").rglob("*.cpp"):
        for first, second in LITERAL.findall(path.read_text()):
            yield first + second


def names_in_texts():
    """The names of C++ in them."""
    return (name for text in texts() for name in NAME.findall(text))


def in_python(message):
    from fatlink._wording import in_python as translate
    return translate(message)


class Wording(PythonCase):
    @unittest.skipUnless(SOURCE, "needs the sources of the library")
    def test_every_name_of_cxx_has_one_in_python(self):
        names = set(names_in_texts()) - NOT_IN_PYTHON
        self.assertGreater(len(names), 20)
        self.assertEqual([name for name in sorted(names) if "::" in in_python(name)], [])

    def test_options_are_arguments(self):
        self.assert_error(fatlink.UsageError, fatlink.link, ["reduce_4", "add_float"], target="sm_90", max_registers=5,
                          says="max_registers: 5 is not a number", hint="set max_registers within")
        error = self.assert_error(fatlink.UsageError, fatlink.link, ["reduce_4", "add_float"], target="sm_90", kernels=["a b"],
                                  says="kernels: 'a b' is not the name of a symbol")
        self.assertEqual(error.input, "kernels")

    def test_settings_name_the_function_that_sets_them(self):
        self.assertEqual(in_python("raise linker_settings::time_limit, or link in fewer threads at once"),
                         "raise fatlink.configure(link_time_limit_ms=…), or link in fewer threads at once")

    @unittest.skipUnless(SOURCE, "needs the sources of the library")
    def test_options_of_the_program_are_arguments(self):
        self.assertEqual(in_python("add it with -I lib/a (compile_options::include_folders)"), "add it with include_folders='lib/a'")
        self.assertEqual(in_python("a folder of -I (compile_options::include_folders); searched: x"),
                         "a folder of include_folders=…; searched: x")
        for name in (text for text in texts() if "(compile_options::" in text or "(link_options::" in text):
            self.assertNotRegex(in_python(name), r"(?<![\w-])--?[A-Za-z][\w-]*(?= \w*=)")

    def test_modes_are_texts(self):
        self.assertEqual(in_python("or link in lto mode: link_mode::lto"), 'or link in lto mode: mode="lto"')

    def test_a_library_without_a_plan_is_launched_by_a_live_module(self):
        self.assertEqual(in_python("launch its kernels yourself: link_and_load"),
                         "launch its kernels yourself: fatlink.LiveModule")

    def test_findings_too(self):
        findings = fatlink.check(["reduce_4", "add_float"], target="sm_90", mode="sass")
        self.assertIn('link in lto mode (mode="lto")', findings[0].hint)

    def test_other_texts_are_unchanged(self):
        self.assertEqual(in_python("std::min: it is defined twice"), "std::min: it is defined twice")


if __name__ == "__main__":
    unittest.main()
