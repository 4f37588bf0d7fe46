# SPDX-License-Identifier: Apache-2.0
"""`import fatlink` is light: it neither opens the shared library nor imports what takes long."""
import subprocess
import sys
import unittest

from fatlink_cli import gpus
from python_case import PACKAGE, PythonCase, fatlink

HEAVY = ["numpy", "torch", "cupy", "jax", "numba", "typing", "dataclasses", "inspect", "pathlib", "subprocess", "json",
         "importlib.metadata", "asyncio", "tempfile"]
SCRIPT = f"""
import sys
sys.path.insert(0, {PACKAGE!r})
import fatlink
print([name for name in {HEAVY!r} if name in sys.modules])
print(any("libfatlink" in line for line in open("/proc/self/maps")))
"""


class Import(PythonCase):
    def test_imports_only_light_modules_and_opens_no_library(self):
        """Without the modules that the site's own packages import at the start of Python: -S -E -I."""
        done = subprocess.run([sys.executable, "-I", "-S", "-c", SCRIPT], text=True, capture_output=True, timeout=60)
        self.assertEqual(done.stdout.split("\n")[:2], ["[]", "False"], done.stderr)

    def test_has_every_name_that_it_lists(self):
        for name in fatlink.__all__:
            with self.subTest(name=name):
                self.assertTrue(getattr(fatlink, name).__doc__, "has no documentation")

    def test_states_the_version_of_the_library(self):
        self.assertRegex(fatlink.version(), r"^\d+\.\d+\.\d+$")

    def test_counts_the_gpus(self):
        self.assertEqual(fatlink.gpu_count(), len(gpus()))

    def test_has_the_version_of_the_library(self):
        self.assertEqual(fatlink.__version__, fatlink.version())
        with self.assertRaisesRegex(AttributeError, "no attribute 'no_such_name'"):
            fatlink.no_such_name

    def test_has_functions_of_their_own_names_with_annotations(self):
        import typing
        for name in fatlink.__all__:
            entry = getattr(fatlink, name)
            if callable(entry):
                with self.subTest(name=name):
                    self.assertEqual(entry.__name__, name)
                    typing.get_type_hints(entry)
        for cls in (fatlink.Device, fatlink.Image, fatlink.SwapReport, fatlink.PlanArgument):
            self.assertLessEqual(set(cls.__slots__), set(cls.__annotations__))


class SharedLibrary(PythonCase):
    def fail(self, library):
        script = f"import sys; sys.path.insert(0, {PACKAGE!r}); import fatlink\ntry: fatlink.version()\n" \
                 "except fatlink.UnavailableError as error: print(error.code, error)"
        done = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True, timeout=60,
                              env={"FATLINK_LIBRARY": library})
        return done.stdout + done.stderr

    def test_that_is_missing_is_an_error_that_names_it(self):
        self.assertRegex(self.fail("/none/libfatlink.so"), r"(?s)^no-shared-library /none/libfatlink.so: .*\n  hint: install")

    def test_of_another_kind_is_an_error_that_names_it(self):
        self.assertRegex(self.fail("libc.so.6"), r"(?s)^wrong-shared-library libc.so.6: .*\n  hint: use the Python package and")


if __name__ == "__main__":
    unittest.main()
