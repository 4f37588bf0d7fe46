# SPDX-License-Identifier: Apache-2.0
"""docs/python_reference.md is what scripts/python-docs makes of the package, and has every public name."""
import ast
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
PACKAGE = "host/python/fatlink"


def run_script(source):
    environment = {**os.environ, "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}",
                   "FATLINK_LIBRARY": "/none/libfatlink.so"}  # the reference needs no build
    return subprocess.run([source / "scripts/python-docs"], text=True, capture_output=True, env=environment)


def public_names():
    """The names in __all__, read without importing the package."""
    tree = ast.parse((SOURCE / PACKAGE / "__init__.py").read_text())
    return next(ast.literal_eval(node.value) for node in tree.body
                if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")


def class_of(name):
    """The syntax tree of a public class; None of functions and modules."""
    for path in (SOURCE / PACKAGE).glob("_*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and node.name == name:
                return node
    return None


def methods(node):
    return [entry.name for entry in node.body if isinstance(entry, ast.FunctionDef) and not entry.name.startswith("_")]


class Reference(unittest.TestCase):
    def setUp(self):
        self.text = (SOURCE / "docs/python_reference.md").read_text()

    def test_is_made_from_the_docstrings(self):
        done = run_script(SOURCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.text, done.stdout, "run scripts/python-docs")

    def test_has_every_public_name(self):
        headings = set(re.findall(r"^##+ (?:fatlink\.)?(\w+)$", self.text, re.MULTILINE))
        self.assertGreater(len(public_names()), 40)
        self.assertEqual(set(public_names()) - headings, set())

    def test_has_every_public_method_but_those_of_other_modules_of_the_package(self):
        headings = re.findall(r"^#### (\w+\.\w+)$", self.text, re.MULTILINE)
        classes = [node for name in public_names() if (node := class_of(name))]
        missing = {f"{node.name}.{name}" for node in classes for name in methods(node)} - set(headings)
        self.assertEqual(missing, {"Device.fail_after_fork", "Device.require_usable", "LiveKernel.fail_after_fork", "Plan.on",
                                   "PlanArgument.element"})

    def test_has_the_functions_of_the_cache(self):
        tree = ast.parse((SOURCE / PACKAGE / "cache.py").read_text())
        self.assertEqual(re.findall(r"^### cache\.(\w+)$", self.text, re.MULTILINE), methods(tree))


class Script(unittest.TestCase):
    """scripts/python-docs on a copy of the package that is changed."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-docs-"))
        self.addCleanup(shutil.rmtree, self.folder)
        for path in ("scripts/python-docs", "docs/python_reference.md"):
            (self.folder / path).parent.mkdir()
            shutil.copy(SOURCE / path, self.folder / path)
        shutil.copytree(SOURCE / PACKAGE, self.folder / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))

    def add_function(self, docstring):
        with (self.folder / PACKAGE / "__init__.py").open("a") as file:
            file.write(f'def count_links(first: int = 3) -> int:\n    {docstring}\n    return 0\n__all__.append("count_links")\n')

    def test_adds_a_new_public_function(self):
        self.add_function('"""How many links `first` and max_links made."""')
        text = run_script(self.folder).stdout
        self.assertIn("### count_links\n\n```python\ncount_links(first: int = 3) -> int\n```\n\nHow many links `first` and "
                      "`max_links` made.\n", text)

    def test_refuses_a_document_that_a_redirection_emptied(self):
        (self.folder / "docs/python_reference.md").write_text("")
        done = run_script(self.folder)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("python-docs: error: docs/python_reference.md has no introduction; write the output to another file first",
                      done.stderr)

    def test_refuses_a_public_function_without_a_docstring(self):
        self.add_function("pass")
        done = run_script(self.folder)
        self.assertEqual((done.returncode, done.stderr), (1, "python-docs: error: count_links has no docstring\n"))


if __name__ == "__main__":
    unittest.main()
