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
from program_help import all_verbs, file_of, options_of

# The sections of the options that synopses name together.
GROUPS = {"[link-options]": "Options of run, link, cache warm and bench",
          "[source-options]": "Options of run, link, check, inspect, compile, pack, cache warm and bench"}
VARIABLE = r'"\$?((?:FATLINK|XDG)_[A-Z_]+|CUDA_HOME|CUDA_PATH|VIRTUAL_ENV|CONDA_PREFIX|HOME|TMPDIR)"'


def plain(line):
    """A line of man(7) macros as it is read."""
    line = line.replace("\\~", "\0").replace("\\-", "-").replace("\\&", "").replace("\\|", "").replace("\\:", "")
    line = re.sub(r"\\f(?:\(..|.)|\\c", "", line)
    macro = re.match(r"\.([A-Z]+) +(.*)", line)
    if not macro:
        return line.replace("\0", " ")
    words = [quoted or word for quoted, word in re.findall(r'"([^"]*)"|(\S+)', macro[2])]
    if macro[1] == "OP":
        return f"[{' '.join(words)}]"
    return ("" if re.fullmatch("[BIR]{2}", macro[1]) else " ").join(words).replace("\0", " ")


class Manual(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        page = file_of("host/man/fatlink.1.in", "share/man/man1/fatlink.1", "share/man/man1/fatlink.1.gz")
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
                for word in re.split(r",? +", plain(line))]

    def synopsis(self, verb):
        """With each group of options, as "[link-options]", followed by those that its section lists."""
        lines = self.section(verb)
        text = " ".join(map(plain, lines[:lines.index(".YS")])) if ".YS" in lines else ""
        for group, title in GROUPS.items():
            if group in text:
                text = text.replace(group, f"{group} {self.synopsis(title)}")
        return text

    def shared(self, verb):
        """Tags of the sections "Options of run, link and …" that name the verb."""
        titles = [title for line in self.lines for title in re.findall(r'^\.SS "(Options of [^"]*)"', line)]
        named = [title for title in titles
                 if verb in re.split(", | and ", title.removeprefix("Options of ")) or "every command" in title]
        return [tag for title in named for tag in self.tags(self.section(title))]

    def test_every_option_is_in_its_verbs_synopsis_and_described(self):
        for verb in all_verbs():
            described = self.tags(self.section(verb)) + self.shared(verb)
            for option in options_of(verb):
                with self.subTest(verb=verb, option=option):
                    self.assertIn(option, described)
                    if option.startswith("--") and option != "--help":
                        self.assertRegex(self.synopsis(verb), rf"{option}(?![\w-])")

    def test_no_verb_has_an_option_that_the_program_does_not_know(self):
        for verb in all_verbs():
            said = self.synopsis(verb) + " " + " ".join(self.tags(self.section(verb)))
            with self.subTest(verb=verb):
                self.assertLessEqual(set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", said)), set(options_of(verb)))

    def test_no_option_anywhere_is_unknown(self):
        known = {option for verb in ["", *all_verbs()] for option in options_of(verb)}
        text = "\n".join(map(plain, self.lines))
        self.assertLessEqual(set(re.findall(r"(?<![\w-])--[a-z][\w-]*", text)), known)

    def test_no_verb_is_unknown(self):
        titles = re.findall(r'^\.SS "?([^"\n]*)', "\n".join(self.section("COMMANDS", "SH")), re.M)
        self.assertEqual({title for title in titles if not title.startswith("Options of")}, set(all_verbs()))

    def test_values_are_those_of_the_program(self):
        for verb in all_verbs():
            for option, values in options_of(verb).items():
                if values and option.startswith("--"):  # the long one of -O, --optimize
                    with self.subTest(verb=verb, option=option):
                        self.assertIn(f"[{option} {'|'.join(values)}]", self.synopsis(verb))

    def test_exit_statuses_are_those_of_the_program(self):
        said = subprocess.run([PROGRAM, "--help"], text=True, capture_output=True).stdout
        said = " ".join(said.partition("Exit status:")[2].split())
        self.assertEqual(self.tags(self.section("EXIT STATUS", "SH")), re.findall(r"(?:^|; )(\d+) ", said))

    def test_variables_are_those_that_the_source_reads(self):
        if not os.environ.get("FATLINK_SOURCE"):
            self.skipTest("FATLINK_SOURCE is not set: the source is not there")
        source = pathlib.Path(os.environ["FATLINK_SOURCE"])
        macros = " ".join(path.read_text() for path in (source / "kernels/include").rglob("*.cuh"))
        read = {name for path in (source / "host").rglob("*.cpp") for name in re.findall(VARIABLE, path.read_text())
                if name not in macros}  # hints on misspelt macros of device code name them
        self.assertIn("FATLINK_CACHE_DIR", read)
        self.assertEqual(set(self.tags(self.section("ENVIRONMENT", "SH"))), read)

    def test_formatters_give_no_warning(self):
        page = self.source.replace("@PROJECT_VERSION@", "1.2.3")
        for tool in (["groff", "-man", "-Tutf8", "-ww", "-z"], ["mandoc", "-T", "lint"]):
            with self.subTest(tool=tool[0]):
                if not shutil.which(tool[0]):
                    self.skipTest(f"{tool[0]} is not installed")
                done = subprocess.run(tool, input=page, text=True, capture_output=True)
                said = (done.stdout + done.stderr).splitlines()
                # The page has no date, so that the same source makes the same page.
                self.assertEqual([line for line in said if "missing date" not in line], [])
