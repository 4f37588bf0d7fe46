# SPDX-License-Identifier: Apache-2.0
"""docs/findings.md and the JSON schema list exactly the finding ids and error codes of the headers."""
import json
import os
import pathlib
import re
import unittest

SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])


def enumeration(header, name):
    """The text forms of an enumeration's values; the source's table is checked when it is compiled."""
    text = (SOURCE / "host/include/fatlink" / header).read_text()
    body = re.search(rf"enum class {name}\b[^{{]*{{(.*?)}};", text, re.DOTALL)[1]
    body = re.sub(r"//[^\n]*", "", body)
    return {word.strip().replace("_", "-") for word in body.split(",") if word.strip()}


def section(title):
    """The first cells of the rows of a section's tables, with the numbers of their cells."""
    page = (SOURCE / "docs/findings.md").read_text()
    text = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)[1]
    return {row[0].strip(" `"): [cell.strip() for cell in row[1:]]
            for row in (line.strip("|").split("|") for line in text.splitlines() if line.startswith("| `"))}


class Findings(unittest.TestCase):
    def test_every_finding_is_documented_and_no_other(self):
        self.assertEqual(set(section("Findings")), enumeration("finding.hpp", "finding_id"))

    def test_every_error_code_is_documented_and_no_other(self):
        self.assertEqual(set(section("Error codes")), enumeration("error.hpp", "error_code"))

    def test_every_entry_has_all_cells(self):
        for title, cells in (("Findings", 4), ("Error codes", 3)):
            for code, row in section(title).items():
                with self.subTest(code=code):
                    self.assertEqual(len(row), cells)
                    self.assertTrue(all(row), row)

    def test_the_schema_lists_both_and_the_stages(self):
        schema = json.loads((SOURCE / "docs/schemas/common.json").read_text())["$defs"]
        self.assertEqual(set(schema["finding_id"]["enum"]), enumeration("finding.hpp", "finding_id"))
        self.assertEqual(set(schema["error_code"]["anyOf"][0]["enum"]), enumeration("error.hpp", "error_code"))
        self.assertEqual(set(schema["stage"]["enum"]), enumeration("error.hpp", "stage"))


if __name__ == "__main__":
    unittest.main()
