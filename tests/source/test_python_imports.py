# SPDX-License-Identifier: Apache-2.0
"""The modules of the Python package import each other without circles, also where an import is within a function."""
import ast
import graphlib
import os
import pathlib
import tempfile
import unittest

PACKAGE = pathlib.Path(os.environ["FATLINK_SOURCE"]) / "host/python/fatlink"


def imports_of(text):
    """The modules of its package that a module imports: of `from . import a` and `from .a import name`, on any line."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level:
            yield from [node.module] if node.module else [alias.name for alias in node.names]


def circle_in(folder):
    """The modules of a circle, the first one again at its end; None where there is none."""
    try:
        graphlib.TopologicalSorter({file.stem: set(imports_of(file.read_text())) for file in folder.glob("*.py")}).prepare()
    except graphlib.CycleError as cause:
        return cause.args[1]
    return None


class Imports(unittest.TestCase):
    def test_have_no_circle(self):
        self.assertGreater(sum(1 for file in PACKAGE.glob("*.py") for _ in imports_of(file.read_text())), 50)
        self.assertIsNone(circle_in(PACKAGE))

    def test_are_only_relative(self):
        """An import by the package's name is not seen by the test above."""
        for file in PACKAGE.glob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else (
                    [node.module] if isinstance(node, ast.ImportFrom) and not node.level else [])
                self.assertNotIn("fatlink", [name.partition(".")[0] for name in names], file.name)

    def test_of_functions_are_found(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "arrays.py").write_text("from .devices import open\n")
            (folder / "devices.py").write_text("def open():\n    from . import arrays\n")
            self.assertEqual(set(circle_in(folder)), {"arrays", "devices"})


if __name__ == "__main__":
    unittest.main()
