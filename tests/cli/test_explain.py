# SPDX-License-Identifier: Apache-2.0
"""`fatlink explain`: every finding id and error code, with what docs/findings.md says of it."""
import os
import pathlib
import re
import unittest

import json_schemas
from fatlink_cli import CliTest


def documented():
    """The rows of the tables of docs/findings.md: code, and the text of the other cells."""
    if not os.environ.get("FATLINK_SOURCE"):
        raise unittest.SkipTest("FATLINK_SOURCE is not set: the source is not there")
    page = (pathlib.Path(os.environ["FATLINK_SOURCE"]) / "docs/findings.md").read_text()
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in page.splitlines() if line.startswith("| `")]
    return [(code, row[1:]) for row in rows for code in re.findall("`([^`]+)`", row[0])]


class Explain(CliTest):
    def codes(self, *words):
        return self.fatlink_json("explain", *words)["codes"]

    def test_every_id_and_code_of_the_headers_has_a_cause_and_a_remedy(self):
        shared = json_schemas.load("common")["$defs"]
        codes = {*shared["finding_id"]["enum"], *shared["error_code"]["anyOf"][0]["enum"]}
        listed = self.codes()
        self.assertLessEqual(codes, {entry["code"] for entry in listed})
        for entry in listed:
            if entry["code"] in codes:
                with self.subTest(code=entry["code"]):
                    self.assertTrue(entry["meaning"] and entry["cause"] and entry["remedy"], entry)

    def test_says_of_every_code_what_the_document_says(self):
        listed = self.codes()
        rows = documented()
        self.assertEqual([entry["code"] for entry in listed], [code for code, _ in rows])
        for entry, (code, cells) in zip(listed, rows):
            with self.subTest(code=code):
                said = [entry[key] for key in ("severity", "meaning", "cause", "remedy", "reported_by", "exit_status") if entry[key]]
                plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", cell.replace("`", "")) for cell in cells]
                self.assertEqual(said, [cell.removesuffix(" |") for cell in plain])

    def test_explains_every_code_by_its_name(self):
        for code in ("missing-hook", "no-ltoir", "invalid-argument", "defect"):
            entry, = self.codes(code)
            self.assertEqual(entry["code"], code)
        self.assertEqual([entry["section"] for entry in self.codes("unknown-kernel")],
                         ["Symbols", "Files: exit status 3"])

    def test_text_has_lines_for_each_fact_of_at_most_100_columns(self):
        text = self.fatlink("explain", "missing-hook").stdout
        self.assertRegex(text, r"(?s)^missing-hook \(Symbols\)\n  severity +.*\n  meaning +.*\n  cause +.*\n  remedy +")
        self.assertNotIn("`", text)
        for words in ([], ["missing-hook"], ["header-not-found"]):
            self.assertEqual([line for line in self.fatlink("explain", *words).stdout.splitlines() if len(line) > 100], [])

    def test_an_example_is_what_the_program_prints(self):
        with_example = [entry for entry in self.codes() if entry["example"]]
        self.assertEqual([entry["code"] for entry in with_example], ["missing-hook"])
        command, _, output = with_example[0]["example"].strip().partition("\n")
        words = command.removeprefix("$ fatlink ").split()
        self.assertIn(output.strip(), self.fatlink(*words, status=4).stdout)
        self.assertIn("  " + command, self.fatlink("explain", "missing-hook").stdout)

    def test_lists_all_codes_with_a_line_each(self):
        text = self.fatlink("explain").stdout
        self.assertRegex(text, r"(?m)^Symbols\n  missing-hook +No input defines a function that an input calls\.$")
        self.assertEqual(text.count("\n  "), len(self.codes()))

    def test_codes_of_other_software_by_their_pattern(self):
        entry, = self.codes("NVJITLINK_ERROR_INTERNAL")
        self.assertEqual((entry["code"], entry["exit_status"]), ("NVJITLINK_ERROR_INTERNAL", "4"))
        self.assertIn("nvJitLinkResult", entry["reported_by"])
        self.assertIn("the signal that ended the helper", self.fatlink("explain", "SIGABRT").stdout)

    def test_an_unknown_code_is_answered_with_the_nearest(self):
        self.assert_fails(2, "explain", "mising-hook", says=["unknown code 'mising-hook'; did you mean 'missing-hook'?"],
                          hint="fatlink explain lists the codes")
        self.assert_fails(2, "explain", "xyzzy", says=["unknown code 'xyzzy'"])


if __name__ == "__main__":
    unittest.main()
