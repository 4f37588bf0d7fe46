# SPDX-License-Identifier: Apache-2.0
"""docs/expressions.md and the manual list the functions of the table in host/src/expression/functions.cpp."""
import os
import pathlib
import re
import unittest

SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])


def functions():
    """Each function of the table with the uses that it has."""
    table = (SOURCE / "host/src/expression/functions.cpp").read_text().split("k_functions{", 1)[1].split("\n};", 1)[0]
    found = {}
    for maker, name, more in re.findall(r'(\w+)(?:\(|\{\.name = )"(\w+)"(.*(?:\n {10,}.*)*)', table):
        in_formulas = maker in ("between", "of_plan") or ".in_formulas = true" in more
        found[name] = ({"formulas"} if in_formulas else set()) | ({"references"} if maker != "of_plan" else set())
    return found


class Expressions(unittest.TestCase):
    def test_the_page_lists_the_functions_of_the_table(self):
        page = (SOURCE / "docs/expressions.md").read_text().split("## Functions", 1)[1].split("\n## ", 1)[0]
        listed = {}
        for names, _, uses in re.findall(r"(?m)^\| (`.*?`) \| (.*) \| ([a-z, ]+) \|$", page):
            for name in re.findall(r"`(\w+)`", names):
                self.assertNotIn(name, listed)
                listed[name] = set(uses.split(", "))
        self.assertGreater(len(listed), 50)
        self.assertEqual(listed, functions())

    def test_the_manual_lists_those_of_references(self):
        manual = (SOURCE / "host/man/fatlink.1.in").read_text()
        text = manual.split("?:, the functions\n", 1)[1].split("round to", 1)[0]
        of_references = {name for name, uses in functions().items() if "references" in uses}
        self.assertEqual(set(re.findall(r"\w+", text)) - {"and", "which"}, of_references - {"bit_and", "bit_or", "bit_xor"})

    def test_the_page_on_launch_plans_lists_those_of_formulas(self):
        page = (SOURCE / "docs/launch_plans.md").read_text().split("## Formulas", 1)[1].split("\n## ", 1)[0]
        for name, uses in functions().items():
            if "formulas" in uses:
                self.assertRegex(page, rf"`{name}[`(]")


if __name__ == "__main__":
    unittest.main()
