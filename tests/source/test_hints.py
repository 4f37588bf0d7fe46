# SPDX-License-Identifier: Apache-2.0
"""Hints of the library name its API, not the program; the program replaces names that the library uses."""
import os
import pathlib
import re
import unittest

SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
LIBRARY = [file for folder in ("src", "linkd") for file in sorted((SOURCE / "host" / folder).rglob("*.[ch]pp"))]
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
VERBS = "bench|cache|check|doctor|inspect|link|list|run"


def literals(file):
    """The string literals of a source file, adjacent ones joined."""
    lines = [line for line in file.read_text().splitlines() if not line.lstrip().startswith(("//", "#include"))]
    return LITERAL.findall(re.sub(r'(?<!\\)"\s*\n\s*"', "", "\n".join(lines)))


class Hints(unittest.TestCase):
    def test_the_library_names_no_verb_of_the_program(self):
        for file in LIBRARY:
            for text in literals(file):
                with self.subTest(file=str(file.relative_to(SOURCE))):
                    self.assertNotRegex(text, rf"\bfatlink ({VERBS})\b|(?<![\w-])--[a-z]{{2,}}-?[a-z]* [A-Z]")

    def test_every_replaced_name_is_in_a_text_of_the_library(self):
        table = (SOURCE / "host/cli/use_options.cpp").read_text()
        names = re.findall(r'option_name\{"((?:[^"\\]|\\.)*)"', table)
        self.assertGreater(len(names), 5)
        texts = [text for file in LIBRARY for text in literals(file)]
        for name in names:
            with self.subTest(name=name):
                self.assertTrue(any(name in text for text in texts))


if __name__ == "__main__":
    unittest.main()
