# SPDX-License-Identifier: Apache-2.0
"""Fatbins of other Python distributions are found by name, and a distribution that is not as it should be spoils no other."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest
import unittest.mock
import warnings

from python_case import BUILD, PACKAGE, PythonCase, fatlink

SHARE = BUILD / "share/fatlink"


class Site(PythonCase):
    """A folder of packages on sys.path, as pip fills it."""

    def setUp(self):
        super().setUp()
        if not (SHARE / "gelu.fatbin").is_file():
            self.skipTest("the build has no gelu.fatbin")
        self.site = self.folder / "site"
        self.site.mkdir()
        self.addCleanup(sys.path.__setitem__, slice(None), list(sys.path))
        sys.path.append(str(self.site))

    def install(self, name, *fatbins, entry=None, folder="share/fatlink", site=None):
        """A distribution whose package has `fatbins`; importing it fails. The folder of the fatbins."""
        site = site or self.site
        data = site / name / folder
        data.mkdir(parents=True)
        (site / name / "__init__.py").write_text("raise RuntimeError('a search imports no package')\n")
        for fatbin in fatbins:
            shutil.copy(SHARE / "gelu.fatbin", data / f"{fatbin}.fatbin")
        self.declare(name, entry or f"{name} = {name}.{folder.replace('/', '.')}", site)
        return data

    def declare(self, name, entry, site=None):
        metadata = (site or self.site) / f"{name}-2.1.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 2.1\n\nName: no field\n")
        (metadata / "entry_points.txt").write_text(f"[console_scripts]\nx = y:z\n\n[fatlink.data]\n# a comment\n{entry}\n[other]\nmix=none\n")

    def python(self, *words, **variables):
        return subprocess.run([sys.executable, *words], text=True, capture_output=True, timeout=60,
                              env={**os.environ, "PYTHONPATH": f"{self.site}:{PACKAGE}", **variables})

    def program(self, *words, **variables):
        done = self.python("-m", "fatlink", *words, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


class Found(Site):
    def test_by_python(self):
        file = self.install("mix_a", "mine") / "mine.fatbin"
        self.assertEqual(fatlink.find_file("mine"), str(file))
        self.assertEqual(fatlink.Input.find("mine").name, str(file))
        with open(file, "rb") as bytes_of_file:
            self.assertEqual(bytes(fatlink.Input.find("mine")), bytes_of_file.read())

    def test_by_the_program(self):
        data = self.install("mix_a", "mine")
        found, = fatlink.installed("mine")
        self.assertEqual((found["origin"], found["distribution"], found["folder"]), ("python", "mix-a 2.1", str(data)))
        found, = json.loads(self.program("list", "mine", "--json"))["fatbins"]
        self.assertEqual(found["distribution"], "mix-a 2.1")
        self.assertIn(f"{data} (python: mix-a 2.1)", self.program("list", "mine"))
        self.assertIn(f"{data} (python: mix-a 2.1)", self.python("-m", "fatlink", "doctor").stdout)  # it may report problems

    def test_of_a_library_in_a_folder_of_its_architecture(self):
        from fatlink import _install
        for folder in ("lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu", "lib", "lib64"):
            library = f"usr/{folder}/libfatlink.so"
            with self.subTest(library=library), unittest.mock.patch.dict(os.environ, FATLINK_LIBRARY=str(self.folder / library)):
                self.assertEqual(_install.program(), str(pathlib.Path(os.path.realpath(self.folder)) / "usr/bin/fatlink"))

    def test_by_what_is_given_the_variable(self):
        data = self.install("mix_a", "mine")
        printed = self.program("--python-path").strip()
        self.assertEqual(printed, f"mix-a 2.1={data}")
        listed = subprocess.run([BUILD / "bin/fatlink", "list", "--names"], text=True, capture_output=True,
                                env={**os.environ, "FATLINK_PYTHON_PATH": printed})
        self.assertIn("mine\n", listed.stdout)

    def test_when_sys_path_grows(self):
        other = self.folder / "other"
        other.mkdir()
        self.install("mix_b", "theirs", site=other)
        self.assert_error(fatlink.FileError, fatlink.find_file, "theirs", says="theirs")
        sys.path.append(str(other))
        self.assertEqual(pathlib.Path(fatlink.find_file("theirs")).parent.parent.parent.parent, other)

    def test_headers_of_compiles(self):
        data = self.install("mix_a")
        (data / "include").mkdir()
        (data / "include/mix.cuh").write_text("#define HALF 0.5F\n")
        compiled = fatlink.compile('#include <mix.cuh>\nextern "C" __device__ float half(float x) { return HALF * x; }')
        self.assertEqual(compiled.form, "fatbin")

    def test_where_an_editable_installation_has_its_package(self):
        source = self.folder / "source"
        source.mkdir()
        self.install("mix_a", "mine", site=source)
        (source / "mix_a-2.1.dist-info").rename(self.site / "mix_a-2.1.dist-info")
        sys.path.append(str(source))
        self.assertEqual(pathlib.Path(fatlink.find_file("mine")).parts[-5:], ("source", "mix_a", "share", "fatlink", "mine.fatbin"))

    def test_without_slow_imports(self):
        self.install("mix_a", "mine")
        script = "import fatlink, sys; fatlink.find_file('mine'); print([name for name in ('importlib.metadata', 'configparser') if name in sys.modules])"
        done = self.python("-c", script)
        self.assertEqual(done.stdout, "[]\n", done.stderr)


class Order(Site):
    def test_is_after_fatlink_and_before_the_system(self):
        self.install("mix_a", "mine")
        origins = [folder["origin"] for folder in json.loads(self.program("list", "--json"))["path"]]
        order = ("environment", "user", "program", "python", "system")
        self.assertEqual([origin for origin in order if origin in origins], list(dict.fromkeys(origins)))
        self.assertIn("python", origins)

    def test_hides_the_file_of_a_later_distribution_and_says_whose_it_is(self):
        first, second = self.install("mix_a", "mine"), self.install("mix_b", "mine")
        used, hidden = fatlink.installed("mine")
        self.assertEqual((used["distribution"], used["hidden_by"]), ("mix-a 2.1", ""))
        self.assertEqual((hidden["distribution"], hidden["hidden_by"]), ("mix-b 2.1", f"{first}/mine.fatbin"))
        listed = self.program("list", "mine")
        self.assertIn(f"{second} (python: mix-b 2.1)\n    hidden by {first}/mine.fatbin (python: mix-a 2.1)\n", listed)

    def test_fatlink_path_hides_distributions(self):
        self.install("mix_a", "mine", "gelu")
        self.assertEqual(fatlink.find_file("gelu"), str(SHARE / "gelu.fatbin"))

    def test_an_older_copy_of_a_distribution_in_a_later_folder_is_not_used(self):
        later = self.folder / "later"
        later.mkdir()
        self.install("mix_a")
        self.install("mix_a", "mine", site=later)
        sys.path.append(str(later))
        self.assert_error(fatlink.FileError, fatlink.find_file, "mine", says="mine")


class Broken(Site):
    def assert_warning(self, *parts):
        """The only warning of a lookup, which finds what another distribution has; the next lookup has none."""
        self.install("whole", "mine")
        for expected in (1, 0):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                self.assertTrue(fatlink.find_file("mine").endswith("whole/share/fatlink/mine.fatbin"))
            self.assertEqual(len(caught), expected, [str(entry.message) for entry in caught])
            for part in parts[:len(parts) * expected]:
                self.assertIn(part, str(caught[0].message))
        done = self.python("-m", "fatlink", "list", "--names")
        self.assertIn("mine\n", done.stdout)
        self.assertEqual(done.stderr.count("fatlink: warning: "), 1, done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)

    def test_a_folder_that_is_missing(self):
        shutil.rmtree(self.install("mix_a"))
        self.assert_warning("mix-a 2.1: the entry point mix_a = 'mix_a.share.fatlink' of the group fatlink.data is not used: "
                            "there is no folder mix_a/share/fatlink", "hint: install mix-a 2.1 again, or ask its author to add the folder")

    def test_two_of_one_name(self):
        self.install("mix_a", "first", entry="mix = mix_a.share.fatlink")
        self.install("mix_b", "second", entry="mix = mix_b.share.fatlink")
        self.assert_warning("mix-b 2.1: the entry point mix = ", "mix-a 2.1 has an entry point of the same name",
                            "hint: uninstall one of the two distributions, or ask the author of mix-b 2.1 for another name")
        self.assertTrue(fatlink.find_file("first"))

    def test_a_package_that_is_missing(self):
        self.declare("mix_a", "mix = no_such_package_of_mix")
        self.assert_warning("mix-a 2.1: ", "there is no package no_such_package_of_mix", "hint: install mix-a 2.1 again")

    def test_a_module(self):
        (self.site / "mix_module.py").write_text("raise RuntimeError('a search imports no package')\n")
        self.declare("mix_a", "mix = mix_module")
        self.assert_warning("mix-a 2.1: ", "mix_module is a module, not a package", "ask the author of mix-a 2.1")

    def test_a_function(self):
        self.declare("mix_a", "mix = mix_a:folder")
        self.assert_warning("mix-a 2.1: ", "'mix_a:folder'", "it does not name a package", "declare it as PACKAGE.FOLDER.FOLDER")

    def test_a_folder_with_a_colon(self):
        site = self.folder / "a:b"
        site.mkdir()
        data = self.install("mix_a", site=site)
        sys.path.append(str(site))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.assert_error(fatlink.FileError, fatlink.find_file, "none", says="none")
        self.assertIn(f"mix-a 2.1: the entry point mix_a = 'mix_a.share.fatlink' of the group fatlink.data is not used: the path {data} "
                      "contains a colon\n  hint: move the Python environment", str(caught[0].message))

    def test_metadata_that_cannot_be_read(self):
        (self.site / "odd-1.dist-info").mkdir()
        (self.site / "odd-1.dist-info/entry_points.txt").write_bytes(b"\xff\x00[fatlink.data\nmix\n[fatlink.data]\n\xff = \xff\n")
        (self.site / "file-1.dist-info").write_text("")
        self.assert_warning("odd: the entry point ", "it does not name a package")


if __name__ == "__main__":
    unittest.main()
