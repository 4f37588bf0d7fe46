# SPDX-License-Identifier: Apache-2.0
"""Raw LTO-IR of NVRTC, libNVVM, Numba and cuda.core as transforms: linked, inlined, executed; wrong types refused.

The committed files are of CUDA 13.0. With FATLINK_MAKERS, a folder that `make_maker_fixtures --newest` filled, the
same is tested with the newest makers and their nvJitLink; without a package index, with the makers of this Python and
the nvJitLink of this machine."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

from fatlink_cli import LIBRARY, CliTest, doctor, gpus
from run_tests import long_test

FIXTURES = pathlib.Path(__file__).parent.parent / "fixtures"
FORMS = FIXTURES / "forms"
MAKE = FIXTURES / "make_maker_fixtures"
NEWEST = os.environ.get("FATLINK_MAKERS")
MAKERS = ["nvrtc", "libnvvm", "numba", "cuda_core"]
TWINS = ["double", "two"]  # double(double), float(float, float)
WRONG = [f"{maker}_{twin}" for maker in MAKERS for twin in TWINS] + ["numba_inferred"]  # double(float)


def missing_makers(folder):
    """Why make_maker_fixtures --newest has no files of a maker in `folder`."""
    file = folder / "missing.json"
    return json.loads(file.read_text()) if file.exists() else {}


class MakerTest(CliTest):
    """Links and executes the files of one folder."""
    made = FORMS
    missing = {}  # the reason for each maker without files

    def each(self, makers):
        """The makers, each in a subtest; those without files are skipped."""
        for maker in makers:
            with self.subTest(maker=maker):
                for name, reason in self.missing.items():
                    if maker.startswith(name):
                        self.skipTest(f"{name} wrote no files: {reason}")
                yield maker

    def transform(self, name, reference=None, tolerance=0):
        """A copy of the file, with a .json if it has a reference."""
        if reference:
            self.file(f"{name}.json", json.dumps({"name": name, "summary": name, "hook": "user_transform",
                                                  "reference": reference, "tolerance_ulp": tolerance}))
        return self.file(f"{name}.ltoir", (self.made / f"{name}.ltoir").read_bytes())

    def link_json(self, transform):
        return self.fatlink_json("link", "--target", "sm_90", "--mode", "lto", "-o", "out.cubin", LIBRARY, transform)

    def cubin(self, transform):
        self.link(LIBRARY, transform)
        return (self.folder / "out.cubin").read_bytes()

    def assert_inlined(self, maker):
        said = self.link_json(self.transform(maker))
        self.assertTrue(said["inlined"])
        self.assertEqual(said["hooks"], [{"name": "user_transform", "inlined": True, "default": False}])

    def assert_verifies(self, transform, device):
        said = self.fatlink_json("run", "--device", device, "--mode", "lto", "--library", LIBRARY,
                                 "--transform", transform)
        self.assertEqual([(mode["mode"], mode["inlined"], mode["verified"]) for mode in said["modes"]],
                         [("lto", True, True)])

    def assert_refused(self, name, finding="signature-mismatch"):
        transform = self.transform(name)
        for words in (("link", "--target", "sm_90", "--mode", "lto", "-o", "out.cubin", LIBRARY, transform),
                      ("run", "--device", "cpu", "--mode", "lto", "--library", LIBRARY, "--transform", transform)):
            done = self.assert_fails(4, *words, says=[f"{name}.ltoir", f"[{finding}]"])
        return done.stderr


class Linked:
    """For a MakerTest: what every maker's file of the right type does."""

    def test_are_inlined(self):
        for maker in self.each(MAKERS):
            self.assert_inlined(maker)

    def test_execute_and_verify_on_the_reference_device(self):
        self.assert_all_verify("cpu")

    def test_execute_and_verify_on_the_gpu(self):
        if not gpus():
            self.skipTest("no GPU on this machine")
        self.assert_all_verify("gpu")

    def assert_all_verify(self, device):
        """Also a function of libdevice that Numba calls."""
        for maker in self.each(MAKERS):
            self.assert_verifies(self.transform(maker, "f32(3 * x)"), device)
        for name in self.each(["numba_tanh"]):
            self.assert_verifies(self.transform(name, "tanh(x)", tolerance=4), device)


class Makers(Linked, MakerTest):
    def setUp(self):
        super().setUp()
        self.need_nvjitlink()  # subtests of each() would take a skip in their body for an error

    def test_link_to_the_cubin_of_the_fatbin_of_the_same_source(self):
        expected = self.cubin(FIXTURES / "uncontracted.fatbin")
        for maker in MAKERS:
            with self.subTest(maker=maker):
                self.assertEqual(self.cubin(self.transform(maker)), expected)

    def test_are_refused_with_another_type(self):
        for name in WRONG:
            with self.subTest(name=name):
                self.assertIn(f"{name}.ltoir has user_transform with another type", self.assert_refused(name))


class NewerMakers(MakerTest):
    """Files of CUDA 13.5."""

    def test_are_reported_with_the_nvjitlink_that_reads_them(self):
        for maker in MAKERS:
            with self.subTest(maker=maker):
                file = self.transform(f"{maker}_13.5")
                text = self.fatlink("check", "--nvjitlink", "13.0", "--mode", "lto", LIBRARY, file, status=4).stdout
                self.assertIn(f"{maker}_13.5.ltoir holds LTO-IR of CUDA 13.5, which nvJitLink 13.0 cannot read", text)
                self.assertIn("install nvJitLink 13.5 or newer", text)
                self.assertIn("[toolkit-too-new]", text)

    def test_are_not_linked_by_an_older_nvjitlink(self):
        self.need_nvjitlink()
        version = doctor()["nvjitlink"]["version"]
        if tuple(map(int, version.split("."))) >= (13, 5):
            self.skipTest(f"nvJitLink {version} reads LTO-IR of CUDA 13.5")
        for maker in MAKERS:
            with self.subTest(maker=maker):
                self.assertIn("holds LTO-IR of CUDA 13.5", self.assert_refused(f"{maker}_13.5", "toolkit-too-new"))


@unittest.skipUnless(NEWEST, "FATLINK_MAKERS names no folder that make_maker_fixtures --newest filled")
class Newest(Linked, MakerTest):
    """What the newest makers write, linked by the nvJitLink that was installed with them."""
    made = pathlib.Path(NEWEST or "")

    def setUp(self):
        super().setUp()
        self.missing = missing_makers(self.made)
        self.nvjitlink = next(self.made.rglob("libnvJitLink.so.13"), None)
        if not any(self.made.glob("*.ltoir")):
            self.skipTest(f"{self.made} holds no files of makers: make_maker_fixtures was skipped")

    def environment(self, changes):
        own = {"FATLINK_NVJITLINK": str(self.nvjitlink)} if self.nvjitlink else {}
        return super().environment({**own, **changes})

    def test_are_refused_with_another_type(self):
        for name in self.each(WRONG):
            self.assertIn(f"{name}.ltoir has user_transform with another type", self.assert_refused(name))


@unittest.skipUnless(MAKE.exists(), "the program that makes the files is not installed")
class MakeMakerFixtures(CliTest):
    def make_without_index(self, python_path):
        """With the packages in the folder `python_path` only."""
        unset = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
        index = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1", "PIP_INDEX_URL": "http://127.0.0.1:9/",
                 "no_proxy": "127.0.0.1", "PYTHONPATH": str(python_path)}
        done = subprocess.run([sys.executable, "-S", MAKE, "--newest", self.folder / "makers"], text=True,
                              capture_output=True, env={**unset, **index})
        if "makes no virtual environment" in done.stdout:
            self.skipTest(done.stdout)
        self.assertIn("pip cannot reach a package index", done.stdout, done.stderr)
        return done

    @long_test  # makers.download runs the same program
    def test_is_skipped_with_the_reasons_without_a_package_index_and_packages(self):
        done = self.make_without_index(self.folder / "none")
        self.assertEqual(done.returncode, 77, done.stdout + done.stderr)
        self.assertIn("this Python has neither Numba nor cuda.core:", done.stdout)
        self.assertRegex(done.stdout, r"\n  numba: .*: ModuleNotFoundError: No module named 'numba'\n")
        self.assertRegex(done.stdout, r"\n  cuda_core: .*: ModuleNotFoundError: No module named 'cuda'\n")

    @long_test
    def test_uses_the_packages_of_this_python_without_a_package_index(self):
        """With a package that stands for cuda.core: what it compiles is not tested here."""
        core = self.folder / "site-packages/cuda/core"
        core.mkdir(parents=True)
        (core / "__init__.py").write_text("""import types
ProgramOptions = dict
class Program:
    def __init__(self, *_): pass
    def compile(self, _): return types.SimpleNamespace(code=b"LTO-IR")
""")
        done = self.make_without_index(self.folder / "site-packages")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual((self.folder / "makers/cuda_core.ltoir").read_bytes(), b"LTO-IR")
        subprocess.run([self.folder / "makers/venv/bin/python", "-c", "import cuda.core"], check=True, env={})
        missing = missing_makers(self.folder / "makers")
        self.assertIn("No module named 'numba'", missing["numba"])
        self.assertNotIn("cuda_core", missing)


if __name__ == "__main__":
    unittest.main()
