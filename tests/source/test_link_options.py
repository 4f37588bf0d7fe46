# SPDX-License-Identifier: Apache-2.0
"""Every option of a link is in every interface, table and document that lists such options, or is named here with the reason why
it is not. docs/architecture.md, "Add an option of a link", has the list of files."""
import re
import unittest

from link_option_fields import SOURCE, link_option_fields

FIELDS = link_option_fields()
CXX_ONLY = "the C interface has no member for it, and C callers have not needed one; wording.cpp says so"
ABSENT_FROM_C = {field: CXX_ONLY for field in ("fast_compile", "stack_protector", "driver_cache", "nvvm")}
# Fields that have another name: C and Python have one switch for the only level that changes code.
C_NAMES = {"optimization": "no_optimization"}
# A keyword that switches something off, and the one that is named after the flag --optimize.
CMAKE_NAMES = {"optimization": "OPTIMIZE", "driver_cache": "NO_DRIVER_CACHE"}
ABSENT_FROM_CMAKE = {"require_inlined": "it is not part of the key: the layer's links would be the same"}


def text_of(path):
    return (SOURCE / path).read_text()


def block(path, pattern):
    """The part of a file that the first group of `pattern` finds."""
    found = re.search(pattern, text_of(path), re.DOTALL | re.MULTILINE)
    if not found:
        raise AssertionError(f"{path} has nothing like {pattern}")
    return found[1]


def words(text):
    return set(re.findall(r"\w+", text))


def flag_of(field):
    """The program's name of a field, such as --ftz, by the table of host/src/base/wording.cpp."""
    return block("host/src/base/wording.cpp", rf'worded_name\{{"link_options::{field}", "[^"]*", "(--[\w-]+)"')


class LinkOptions(unittest.TestCase):
    def assert_lists(self, path, listed, names=None, absent=None):
        """`listed` has the name of each field but those in `absent`, which it must not have."""
        expected = {(names or {}).get(field, field) for field in FIELDS if field not in (absent or {})}
        self.assertEqual(expected - listed, set(), f"{path} lacks these options of a link")
        self.assertEqual(set(absent or {}) & listed, set(), f"{path} has these options: remove the exception in this test")

    def test_are_found_in_the_struct(self):
        self.assertGreater(len(FIELDS), 20)
        self.assertLessEqual({"allow_calls", "kernels", "ftz", "latest_nvvm", "require_inlined"}, set(FIELDS))

    def test_have_a_row_in_the_table_of_effects(self):
        path = "host/src/linker/link_options.cpp"
        rows = re.findall(r'option_effect\{"link_options::(\w+)"', text_of(path))
        self.assertEqual(sorted(rows), sorted(FIELDS), f"k_effects of {path} has one row for each option of a link")

    def test_have_a_change_in_the_unit_test(self):
        path = "tests/unit/linker/options_test.cpp"
        changes = block(path, r"changes\(\)\n\{(.*?)^\}")
        self.assert_lists(path, set(re.findall(r'\{"(\w+)", \[\]\(link_options& o\)', changes)))

    def test_have_a_name_in_every_interface(self):
        path = "host/src/base/wording.cpp"
        self.assert_lists(path, set(re.findall(r'worded_name\{"link_options::(\w+)"', text_of(path))))

    def test_have_a_flag_of_the_program(self):
        sources = "".join(file.read_text() for file in sorted((SOURCE / "host/cli").rglob("*.cpp")))
        for field in FIELDS:
            with self.subTest(field=field):
                self.assertRegex(sources, rf'[",]{flag_of(field)}"', "no file of host/cli adds this flag")

    def test_are_in_the_table_of_the_document(self):
        path = "docs/using.md"
        rows = re.findall(r"^\| `-.*?\| ([^|]*) \|", block(path, r"^\| option \| `link_options` \|.*?\n(.*?)\n\n"), re.MULTILINE)
        self.assert_lists(path, words(" ".join(rows)))

    def test_are_in_the_c_interface(self):
        path = "host/include/fatlink/c/link.h"
        members = block(path, r"^typedef struct fatlink_link_options \{(.*?)^\}")
        self.assert_lists(path, set(re.findall(r"(\w+);", members)), C_NAMES, ABSENT_FROM_C)

    def test_are_read_from_the_struct_of_the_c_interface(self):
        path = "host/src/c_interface/structs.cpp"
        self.assert_lists(path, set(re.findall(r"\boptions\.(\w+) = ", text_of(path))), absent=ABSENT_FROM_C)

    def test_are_in_the_struct_of_the_python_package(self):
        path = "host/python/fatlink/_ffi.py"
        members = block(path, r'_struct\("fatlink_link_options", (.*?)\)\)\n')
        self.assert_lists(path, set(re.findall(r'\("(\w+)"', members)), C_NAMES, ABSENT_FROM_C)

    def test_are_arguments_of_the_python_package(self):
        path = "host/python/fatlink/_linking.py"
        names = block(path, r"^(_FLAGS = .*?)^def link_options")
        self.assert_lists(path, set(re.findall(r'"(\w+)"', names)), C_NAMES, ABSENT_FROM_C)

    def test_are_in_the_docstring_of_the_python_package(self):
        path = "host/python/fatlink/_linking.py"
        docstring = block(path, r'^def link\(.*?"""(.*?)"""')
        self.assert_lists(path, words(docstring.partition("options  ")[2]), C_NAMES, ABSENT_FROM_C)

    def test_are_keywords_of_the_cmake_function(self):
        path = "cmake/FatlinkAddCacheLayer.cmake"
        names = {field: CMAKE_NAMES.get(field, field.upper()) for field in FIELDS}
        absent = {names[field]: reason for field, reason in ABSENT_FROM_CMAKE.items()}
        for part, text in (("signature", block(path, r"^  fatlink_add_cache_layer\(<target>(.*?)\)\n\n")),
                           ("arguments", " ".join(re.findall(r"^set\(_fatlink_link_\w+ (.*)\)", text_of(path), re.MULTILINE)))):
            with self.subTest(part=part):
                expected = set(names.values()) - set(absent)
                self.assertEqual(expected - words(text), set(), f"{path} lacks these options of a link")
                self.assertEqual(set(absent) & words(text), set(), f"{path} has these options: remove the exception in this test")


if __name__ == "__main__":
    unittest.main()
