# SPDX-License-Identifier: Apache-2.0
"""The manual page says what the program does: neither less nor more."""
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from fatlink_cli import PROGRAM
from program_help import all_verbs, built, options_of

VARIABLE = r'"\$?((?:FATLINK|XDG)_[A-Z_]+|CUDA_HOME|CUDA_PATH|VIRTUAL_ENV|CONDA_PREFIX|HOME|TMPDIR|NO_COLOR|TERM)"'


def plain(line):
    """A line of man(7) as it is read, without the name of its macro."""
    line = re.sub(r"^\.[A-Z]+ ", "", line.replace("\\-", "-"))
    return re.sub(r"\\f.|\\[&|:c]", "", line).replace('"', "")


class Manual(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        page = built("share/man/man1/fatlink.1", "share/man/man1/fatlink.1.gz")
        content = page.read_bytes()
        cls.source = (gzip.decompress(content) if page.suffix == ".gz" else content).decode()
        cls.lines = [line for line in cls.source.splitlines() if not line.startswith('.\\"')]

    def section(self, title, macro="SS"):
        """The lines of a section or subsection, up to the next one."""
        heads = [f".{macro} {title}", f'.{macro} "{title}"']
        starts = [i for i, line in enumerate(self.lines) if line in heads]
        self.assertEqual(len(starts), 1, f"one section {title}")
        ends = r"\.SH " if macro == "SH" else r"\.S[HS] "
        rest = self.lines[starts[0] + 1:]
        return rest[:next((i for i, line in enumerate(rest) if re.match(ends, line)), len(rest))]

    def tags(self, lines):
        """What is described: the words of the lines that follow .TP."""
        return [word for macro, line in zip(lines, lines[1:]) if macro == ".TP"
                for word in re.split("[ ,]+", plain(line))]

    def test_every_option_is_described_with_its_values(self):
        for verb in all_verbs():
            lines = self.section(verb)
            for group in ("Link options", "Source options"):
                lines = lines + (self.section(group) if any(group in line for line in lines) else [])
            described = [(plain(term), text) for macro, term, text in zip(lines, lines[1:], lines[2:]) if macro == ".TP"]
            for option, values in options_of(verb).items():
                if option in ("-h", "--help", "--help-all", "--json"):  # in one section of all commands
                    continue
                with self.subTest(verb=verb, option=option):
                    found = [(term, text) for term, text in described if option in re.split("[ ,]+", term)]
                    self.assertEqual(len(found), 1)
                    self.assertIn("|".join(values), found[0][0])
                    self.assertRegex(found[0][1], r"\w")

    def test_options_of_every_verb_are_described_once(self):
        self.assertEqual(self.tags(self.section("Options of every command")), ["-h", "--help", "--help-all", "--json"])

    def test_synopses_name_what_is_required(self):
        said = " ".join(map(plain, self.section("link")))
        self.assertTrue(said.startswith("fatlink link --target TARGET,... --output FILE [ option ...] INPUT ..."), said)

    def test_no_option_anywhere_is_unknown(self):
        known = {option for verb in ["", *all_verbs()] for option in options_of(verb)}
        text = "\n".join(map(plain, self.lines)).replace("python -m fatlink --python-path", "")
        self.assertLessEqual(set(re.findall(r"(?<![\w-])--[a-z][\w-]*", text)), known)

    def test_no_verb_is_unknown(self):
        titles = re.findall(r'^\.SS ([^\n]*)', "\n".join(self.section("COMMANDS", "SH")), re.M)
        self.assertEqual({title.strip('"') for title in titles},
                         {*all_verbs(), "Options of every command", "Link options", "Source options"})

    def test_exit_statuses_are_those_of_the_program(self):
        said = subprocess.run([PROGRAM, "--help"], text=True, capture_output=True).stdout
        said = " ".join(said.partition("Exit status:")[2].split())
        self.assertEqual(self.tags(self.section("EXIT STATUS", "SH")), re.findall(r"(?:^|; )(\d+) ", said))

    def test_variables_are_those_that_the_source_reads(self):
        if not os.environ.get("FATLINK_SOURCE"):
            self.skipTest("FATLINK_SOURCE is not set: the source is not there")
        source = pathlib.Path(os.environ["FATLINK_SOURCE"])
        macros = " ".join(path.read_text() for path in (source / "kernels/include").rglob("*.cuh"))
        read = {name for path in (source / "host").rglob("*.[ch]pp") for name in re.findall(VARIABLE, path.read_text())
                if name not in macros and path.name != "wording.cpp"}  # hints on misspelt macros of device code name them
        self.assertIn("FATLINK_CACHE_DIR", read)
        self.assertEqual(set(self.tags(self.section("ENVIRONMENT", "SH"))), read)

    def test_formatters_give_no_warning(self):
        for tool in (["groff", "-man", "-Tutf8", "-ww", "-z"], ["mandoc", "-T", "lint"]):
            with self.subTest(tool=tool[0]):
                if not shutil.which(tool[0]):
                    self.skipTest(f"{tool[0]} is not installed")
                done = subprocess.run(tool, input=self.source, text=True, capture_output=True)
                said = (done.stdout + done.stderr).splitlines()
                # The page has no date, so that the same source makes the same page.
                self.assertEqual([line for line in said if "missing date" not in line], [])
