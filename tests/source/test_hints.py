# SPDX-License-Identifier: Apache-2.0
"""Hints of the library name its API, not the program; each name in them is one of the table of host/src/base/wording.cpp."""
import os
import pathlib
import re
import unittest

from link_option_fields import link_option_fields

SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
LIBRARY = [file for folder in ("src", "linkd") for file in sorted((SOURCE / "host" / folder).rglob("*.[ch]pp"))
           if file.name != "wording.cpp"]
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
NAME = r"\b(?:link_options|link_mode|image_kind|isolation|compile_options|(?:linker|compiler|cache|live)_settings|cpu_options)::\w+"
# Layers are made with the program, whatever interface links and compiles.
LAYER_COMMANDS = r"\bfatlink cache (warm|record)\b[^;,]*"
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
                    self.assertNotRegex(re.sub(LAYER_COMMANDS, "", text), rf"\bfatlink ({VERBS})\b|(?<![\w-])--[a-z]{{2,}}-?[a-z]* [A-Z]")

    def test_the_table_of_words_has_every_name_in_a_text_and_no_other(self):
        table = (SOURCE / "host/src/base/wording.cpp").read_text()
        known = set(re.findall(r'worded_name\{\s*"((?:[^"\\]|\\.)*)"', table))
        self.assertGreater(len(known), 50)
        texts = [text for file in LIBRARY for text in literals(file)]
        # Names that are inserted: "<link_options::{}>".
        fields = {f"link_options::{field}" for field in ("target", *link_option_fields())}
        named = {name for text in texts for name in re.findall(r"<([^<>{}]+)>", text) if "::" in name or name in known}
        self.assertEqual(named - known - {"fatlink::target"}, set())
        self.assertEqual(known - named - fields, set())

    def test_names_of_the_interface_stand_between_angle_brackets(self):
        for file in LIBRARY:
            if file.parent.name == "linker" and file.stem == "link_options":  # tables of names
                continue
            for text in literals(file):
                with self.subTest(file=str(file.relative_to(SOURCE)), text=text):
                    self.assertNotRegex(re.sub(r"<[^<>]*>", "", text), NAME)


if __name__ == "__main__":
    unittest.main()
