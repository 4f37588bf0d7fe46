# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/python_transforms.md: each file is written, each command runs, and prints what the document shows.

Needs FATLINK_MAKERS, a folder that `make_maker_fixtures --newest` filled, with Numba and cuda.core in a virtual
environment, and nvJitLink: that of the folder, otherwise that of this machine. What commands print is compared only if the
makers are the newest: others print other warnings."""
import os
import pathlib
import re
import subprocess
import unittest

from fatlink_cli import PROGRAM, SHARE, CliTest
from test_makers import missing_makers

SOURCE = os.environ.get("FATLINK_SOURCE")
DOCUMENT = pathlib.Path(SOURCE or "") / "docs" / "python_transforms.md"
MAKERS = os.environ.get("FATLINK_MAKERS")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)


def scripts():
    """The text of each script, by the name that its first line states."""
    return {re.match(r"# (\S+\.py)\n", text)[1]: text for text in blocks("python")}


def commands():
    """Each command with the lines that it prints, without those that install."""
    found = []
    for block in blocks("console"):
        for text in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = text.partition("\n")
            if not command.startswith("pip "):
                found.append((command, output))
    return found


def without_numbers(text):
    """Times, sizes, lines and the number of cores differ; so does the padding before them."""
    return re.sub(r" +", " ", re.sub(r"\d[\d.,]*", "N", text))


@unittest.skipUnless(SOURCE, "FATLINK_SOURCE names no folder with the documents")
class Document(unittest.TestCase):
    def test_has_the_scripts_that_its_commands_run(self):
        run = [command.split()[1] for command, _ in commands() if command.startswith("python ")]
        self.assertEqual(sorted(run), sorted(scripts()))

    def test_shows_scripts_that_are_python(self):
        for name, text in scripts().items():
            with self.subTest(name=name):
                compile(text, name, "exec")


@unittest.skipUnless(SOURCE, "FATLINK_SOURCE names no folder with the documents")
@unittest.skipUnless(MAKERS, "FATLINK_MAKERS names no folder that make_maker_fixtures --newest filled, which needs PyPI")
class Examples(CliTest):
    def setUp(self):
        super().setUp()
        self.python = pathlib.Path(MAKERS, "venv", "bin")
        self.are_newest = not pathlib.Path(MAKERS, "missing.json").exists()
        for maker in ("numba", "cuda_core"):
            if reason := missing_makers(pathlib.Path(MAKERS)).get(maker):
                self.skipTest(f"the examples need {maker}: {reason}")
        if not any(pathlib.Path(MAKERS).glob("*.ltoir")):
            self.skipTest(f"{MAKERS} holds no files of makers: make_maker_fixtures was skipped")
        nvjitlink = next(pathlib.Path(MAKERS).rglob("libnvJitLink.so.13"), None)
        own = {"FATLINK_NVJITLINK": str(nvjitlink)} if nvjitlink else {}
        self.variables = self.environment({**own, "PYTHONDONTWRITEBYTECODE": "1",
                                           "PATH": f"{self.python}:{PROGRAM.parent}:{os.environ['PATH']}"})
        for name, text in scripts().items():
            self.file(name, text)

    def run_command(self, command):
        done = subprocess.run(["bash", "-c", command.replace("/usr/share/fatlink", str(SHARE))], cwd=self.folder, text=True,
                              capture_output=True, env=self.variables, timeout=300)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout

    def test_print_what_the_document_shows(self):
        for command, output in commands():
            with self.subTest(command=command):
                printed = self.run_command(command)
                if output and self.are_newest:
                    self.assertEqual(without_numbers(printed), without_numbers(output))

    def test_of_numba_is_reported_with_its_traps(self):
        """The table's errors, from changes to the first script."""
        if not self.are_newest:
            self.skipTest("the makers are those of this machine, not the newest")
        text = scripts()["make_silu.py"]
        for old, new, code in (("float32(float32)", "(float32,)", "signature-mismatch"),
                               ('abi="c"', 'abi="numba"', "signature-mismatch"),
                               ('"user_transform"}', '"transform"}', "missing-hook"), ("cc=(7, 5)", "cc=(12, 0)", "arch-too-new")):
            with self.subTest(change=new):
                self.assertIn(old, text)
                self.file("trap.py", text.replace(old, new).replace("float32(1)", "1.0"))
                self.run_command("python trap.py")
                self.run_command("fatlink pack -o silu.fatbin silu_75.ptx silu_75.ltoir")
                done = subprocess.run([PROGRAM, "check", "apply_transform", "silu.fatbin", "--target", "sm_90"],
                                      cwd=self.folder, text=True, capture_output=True, env=self.variables)
                self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
                self.assertIn(f"[{code}]", done.stdout)


if __name__ == "__main__":
    unittest.main()
