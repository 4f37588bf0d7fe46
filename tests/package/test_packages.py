# SPDX-License-Identifier: Apache-2.0
"""Packages that projects outside fatlink make: fatlink's transforms built separately, and those of another project. What they
hold, what they depend on, that they are the same bytes from any folder, and that what they install is found."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest

from fatlink_cli import TRANSFORMS

BUILD = pathlib.Path(os.environ["FATLINK_BUILD"])
SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
CMAKE = os.environ["FATLINK_CMAKE"]
NVCC = pathlib.Path(os.environ["FATLINK_NVCC"])
EPOCH = "1700000000"


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], text=True, capture_output=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{words}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def needs(tool):
    return unittest.skipIf(shutil.which(tool) is None, f"{tool} is not installed")


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-packages-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.prefix = cls.folder / "installed"
        for component in ("runtime", "development"):
            run(CMAKE, "--install", BUILD, "--prefix", cls.prefix, "--component", component)
        kinds = ["TGZ"] + ["DEB"] * bool(shutil.which("dpkg-deb")) + ["RPM"] * bool(shutil.which("rpmbuild"))
        cls.made = {place: cls.transforms(cls.folder / place, kinds) for place in ("one", "another/longer")}
        shutil.copytree(SOURCE / "tests/consumer/transform", cls.folder / "halve")
        cls.halve = cls.package(cls.folder / "halve", cls.folder / "halve", kinds)

    @classmethod
    def transforms(cls, place, kinds):
        """fatlink-transforms from a copy of its sources, as a distributor has them; of each list of operators, and of each
        contract in the table, the first one: the build that is tested compiles all."""
        shutil.copytree(SOURCE / "kernels/transforms", place / "kernels/transforms")
        lists = place / "kernels/transforms/CMakeLists.txt"
        text, count = re.subn(r"set\((\w+_operators) ([\w/]+)[^)]*\)", r"set(\1 \2)", lists.read_text())
        assert count >= 7, count
        lists.write_text(text)
        table = lists.with_name("number_operators.cmake")
        head, *rows = re.split(r"(?m)^(?=add_operator\()", table.read_text())
        first = {row.split()[1]: row for row in reversed(rows)}
        assert 10 <= len(first) < len(rows), first
        table.write_text(head + "".join(first.values()))
        for file in ("LICENSE", "CHANGELOG.md"):
            shutil.copy(SOURCE / file, place)
        return cls.package(place / "kernels/transforms", place, kinds)

    @classmethod
    def package(cls, source, place, kinds):
        """{"fatlink-halve_1.0_all.deb": path, …} of a project that finds the installed fatlink."""
        run(CMAKE, "-S", source, "-B", place / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={cls.prefix}",
            f"-DCUDAToolkit_ROOT={NVCC.parent.parent}")
        run(CMAKE, "--build", place / "build")
        for kind in kinds:
            run(pathlib.Path(shutil.which(CMAKE)).with_name("cpack"), "--config", place / "build/CPackConfig.cmake",
                "-G", kind, "-B", place / "packages", env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH})
        return {file.name: file for file in (place / "packages").iterdir() if file.is_file()}

    def of(self, packages, ending):
        found = [file for name, file in packages.items() if name.endswith(ending)]
        if not found:
            self.skipTest(f"no tool here makes {ending}")
        return found[0]

    def test_are_the_same_bytes_from_any_folder(self):
        one, other = self.made.values()
        self.assertEqual(one.keys(), other.keys())
        for name in one:
            self.assertEqual(one[name].read_bytes(), other[name].read_bytes(), name)

    def test_are_one_file_a_kind_with_the_projects_version(self):
        names = set(self.made["one"])
        self.assertIn("fatlink-transforms-0.1.0-any.tar.gz", names)
        self.assertLessEqual(names, {"fatlink-transforms-0.1.0-any.tar.gz", "fatlink-transforms_0.1.0_all.deb",
                                     "fatlink-transforms-0.1.0-1.noarch.rpm"})

    def contracts_of(self, packages):
        """What the fatbins in the packages state: {"fatlink-contract-combine-4-1", …}."""
        fatbins = sorted(self.unpacked(packages).glob("share/fatlink/*.fatbin"))
        files = json.loads(run(BUILD / "bin/fatlink", "inspect", "--json", *fatbins))["files"]
        idents = [file["entries"][0]["ident"] for file in files]
        return {f"fatlink-contract-{ident['contract'].replace('_', '-')}-{ident['version']}" for ident in idents}

    def test_of_debian_depend_on_the_contracts_of_their_transforms_by_name_and_version(self):
        for packages in (self.made["one"], self.halve):
            depends = run("dpkg-deb", "-f", self.of(packages, ".deb"), "Depends")
            self.assertEqual(set(depends.strip().split(", ")), self.contracts_of(packages))

    @needs("rpm")
    def test_of_rpm_require_them_too(self):
        required = run("rpm", "-qp", "--requires", self.of(self.made["one"], ".rpm")).splitlines()
        self.assertLessEqual(self.contracts_of(self.made["one"]), set(required))

    def test_of_transforms_require_contracts_that_the_runtime_provides(self):
        settings = (BUILD / "CPackConfig.cmake").read_text()
        provided = re.search(r'set\(CPACK_DEBIAN_RUNTIME_PACKAGE_PROVIDES "([^"]*)"', settings)[1].split(", ")
        self.assertLessEqual(self.contracts_of(self.made["one"]), set(provided))

    @needs("rpm")
    def test_state_the_licence_and_supplier_of_their_project(self):
        self.assertEqual(run("rpm", "-qp", "--qf", "%{LICENSE}", self.of(self.halve, ".rpm")), "0BSD")
        stated = json.loads((self.unpacked(self.halve) / "share/doc/fatlink-transform-halve"
                             / "fatlink-transform-halve.spdx.json").read_text())["packages"][0]
        self.assertEqual((stated["licenseDeclared"], stated["supplier"]), ("0BSD", "Organization: The developers of halve"))

    @needs("lintian")
    def test_of_debian_pass_lintian(self):
        for packages in (self.made["one"], self.halve):
            done = subprocess.run(["lintian", "--allow-root", self.of(packages, ".deb")], text=True, capture_output=True)
            self.assertEqual(done.stdout, "", done.stderr)

    def test_carry_documents_of_what_is_in_them(self):
        root = self.unpacked(self.made["one"])
        documents = root / "share/doc/fatlink-transforms"
        for name in ("copyright", "changelog.gz"):
            self.assertGreater((documents / name).stat().st_size, 0)
        stated = json.loads((documents / "fatlink-transforms.spdx.json").read_text())
        self.assertEqual(stated["spdxVersion"], "SPDX-2.3")
        files = {file["fileName"] for file in stated["files"]}
        self.assertTrue(any(name.endswith("share/fatlink/gelu.fatbin") for name in files), files)

    def unpacked(self, *many):
        place = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        for packages in many:
            run("tar", "xzf", self.of(packages, ".tar.gz"), "-C", place, "--strip-components=1")
        return place

    def fatlink(self, root, *words, env=None, status=0):
        done = subprocess.run([root / "bin/fatlink", *words], text=True, capture_output=True, cwd="/",
                              env={"PATH": os.environ["PATH"], "HOME": str(self.folder / "home"), **(env or {})})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def installed_with(self, *packages):
        root = self.unpacked(*packages)
        run(CMAKE, "--install", BUILD, "--prefix", root, "--component", "runtime")
        return root

    def test_an_outsiders_transform_installed_beside_is_listed_and_runs_by_name(self):
        root = self.installed_with(self.halve)
        shown = json.loads(self.fatlink(root, "list", "--json", "halve"))["fatbins"][0]
        self.assertEqual(shown["package"], "fatlink-transform-halve 1.0")
        self.assertEqual(shown["libraries"][0]["works"], True)
        self.assertIn("works with apply_transform", self.fatlink(root, "list", "halve"))
        said = self.fatlink(root, "run", "--transform", "halve", "--device", "cpu", "--mode", "ptx", "--elements", "99")
        self.assertIn("verified", said)

    def test_an_operator_that_is_built_separately_runs_with_its_library(self):
        root = self.installed_with(self.made["one"])
        operator = json.loads(self.fatlink(root, "list", "--json", "add_uint8"))["fatbins"][0]
        self.assertEqual(operator["package"], "fatlink-transforms 0.1.0")
        ran = json.loads(self.fatlink(root, "run", "--json", "--library", "reduce_1", "--transform", "add_uint8", "--device", "cpu",
                                      "--mode", "ptx", "--elements", "1000"))
        self.assertEqual([mode["reference"][0]["verified"] for mode in ran["modes"]], [True])

    def test_links_that_are_shipped_serve_a_machine_without_nvjitlink(self):
        root = self.installed_with(self.made["one"])
        nowhere = {"FATLINK_NVJITLINK": "/nowhere"}
        for transform in TRANSFORMS:
            ran = json.loads(self.fatlink(root, "run", "--json", "--device", "cpu", "--elements", "999",
                                          "--transform", transform, env=nowhere))
            self.assertEqual([mode["verified"] for mode in ran["modes"]], [True, True])
            self.assertEqual(ran["modes"][1]["links"][0]["cache"], "hit")
        for target in ("sm_75", "sm_90", "sm_121"):
            for mode in ("ptx", "lto"):
                said = self.fatlink(root, "link", "--target", target, "--mode", mode, "-o",
                                    str(self.folder / "o.cubin"), "apply_transform", "gelu", env=nowhere)
                self.assertIn("from the cache", said)

    def test_have_the_time_of_the_project_without_another(self):
        env = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
        done = subprocess.run(["cpack", "--config", self.folder / "halve/build/CPackConfig.cmake", "-G", "TGZ"],
                              cwd=self.folder, text=True, capture_output=True, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        archive = next(self.folder.glob("*.tar.gz"))
        time = (self.folder / "halve/CMakeLists.txt").stat().st_mtime
        with tarfile.open(archive) as members:
            self.assertEqual({member.mtime for member in members}, {int(time)})


class Archives(unittest.TestCase):
    """fatlink's own archives of runtime and transforms, made of the build that is tested."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-archives-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        run(pathlib.Path(shutil.which(CMAKE)).with_name("cpack"), "--config", BUILD / "CPackConfig.cmake", "-G", "TGZ",
            "-D", "CPACK_COMPONENTS_ALL=runtime;transforms", "-B", cls.folder, env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH})
        cls.files = {}
        for name in ("runtime", "transforms"):
            run("tar", "xzf", next(cls.folder.glob(f"fatlink-{name}-*.tar.gz")), "--one-top-level=" + name, "-C", cls.folder)
            cls.files[name] = {path.relative_to(cls.folder / name): path for path in (cls.folder / name).rglob("*")
                               if path.is_file() and not path.is_symlink()}

    def test_of_the_runtime_run_the_default_transform_alone_and_without_nvjitlink(self):
        program = next((self.folder / "runtime").glob("*/bin/fatlink"))
        home = self.folder / "home"
        results = json.loads(run(program, "run", "--json", "--device", "cpu", "--elements", "999", cwd="/", env={
            "PATH": os.environ["PATH"], "HOME": str(home), "XDG_DATA_DIRS": "/nowhere", "FATLINK_NVJITLINK": "/nowhere",
            **{name: text for name, text in os.environ.items() if name.endswith("SAN_OPTIONS")}}))
        self.assertEqual([(mode["verified"], mode["links"][0]["cache"]) for mode in results["modes"]], [(True, "off"), (True, "hit")])

    def test_have_the_same_bytes_in_every_file_that_both_have(self):
        common = self.files["runtime"].keys() & self.files["transforms"].keys()
        self.assertTrue(any(path.name == "relu_poly.fatbin" for path in common), common)
        for path in common:
            self.assertEqual(self.files["runtime"][path].read_bytes(), self.files["transforms"][path].read_bytes(), path)
            self.assertEqual(self.files["runtime"][path].stat().st_mode, self.files["transforms"][path].stat().st_mode)

    def test_state_all_their_files(self):
        for name, files in self.files.items():
            document = next(path for path in files.values() if path.name == f"fatlink-{name}.spdx.json")
            stated = {pathlib.Path(file["fileName"]) for file in json.loads(document.read_text())["files"]}
            self.assertEqual({path for path in files if path.name != document.name}, stated)


class TooOld(unittest.TestCase):
    def test_a_fatlink_that_is_too_old_names_the_package_to_install(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "CMakeLists.txt").write_text(
                "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES NONE)\nfind_package(fatlink 0.9 REQUIRED)\n")
            done = subprocess.run([CMAKE, "-S", folder, "-B", f"{folder}/b", f"-DCMAKE_PREFIX_PATH={BUILD}"],
                                  text=True, capture_output=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("install the package fatlink-development 0.9", " ".join(done.stderr.split()))


if __name__ == "__main__":
    unittest.main()
