# SPDX-License-Identifier: Apache-2.0
"""fatlink configured with other install folders, installed, and used: program, helper, data, CMake package,
pkg-config, manual and completions. A second build folder is configured; only the source that knows the
folders (or its group) is compiled there, and linked with the other objects of the build that is tested."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from known_checks import known_checks
from run_tests import long_test

BUILD = pathlib.Path(os.environ["FATLINK_BUILD"])
SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
CMAKE = os.environ["FATLINK_CMAKE"]
NVCC = pathlib.Path(os.environ["FATLINK_NVCC"])
CACHE = (BUILD / "CMakeCache.txt").read_text()
IN_GROUPS = "FATLINK_COMPILE_IN_GROUPS:BOOL=TRUE" in CACHE
# Of src/util/process/environment.cpp.
LAYOUT_OBJECT = "host/CMakeFiles/fatlink_util.dir/" + (
    "__/groups/library.util.cpp.o" if IN_GROUPS else "src/util/process/environment.cpp.o")


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], text=True, capture_output=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{words}: status {done.returncode}\n{done.stdout[-5000:]}\n{done.stderr[-5000:]}")
    return done.stdout


def cached(name):
    return re.search(rf"(?m)^{name}:\w+=(.*)$", CACHE)[1]


class OtherFolders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-folders-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.prefix = cls.folder / "prefix"
        cls.libraries = cls.folder / "libraries"
        cls.build = cls.folder / "build"
        cls.configured = run(
            CMAKE, "-S", SOURCE, "-B", cls.build, "-G", "Ninja", f"-DCUDAToolkit_ROOT={NVCC.parent.parent}",
            f"-DCMAKE_BUILD_TYPE={cached('CMAKE_BUILD_TYPE')}", f"-DCMAKE_CXX_FLAGS={cached('CMAKE_CXX_FLAGS')}",
            *known_checks(), "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG",  # compiles in half of the time
            f"-DFATLINK_COMPILE_IN_GROUPS={IN_GROUPS}", f"-DFATLINK_BENCH_KERNELS={cached('FATLINK_BENCH_KERNELS')}",
            "-DFATLINK_BUILD_TESTS=OFF", f"-DCMAKE_INSTALL_PREFIX={cls.prefix}", "-DCMAKE_INSTALL_DATADIR=data",
            "-DCMAKE_INSTALL_LIBEXECDIR=lib/helpers", f"-DCMAKE_INSTALL_LIBDIR={cls.libraries}")
        cls.link()
        run(CMAKE, "--install", cls.build)
        found = json.loads(run(BUILD / "bin/fatlink", "doctor", "--json"))["nvjitlink"]["path"]
        cls.env = {"PATH": os.environ["PATH"], "HOME": str(cls.folder), "FATLINK_NVJITLINK": found,
                   "XDG_DATA_DIRS": "/nowhere", "FATLINK_CACHE_DIR": str(cls.folder / "cache"),
                   **{name: text for name, text in os.environ.items() if name.endswith("SAN_OPTIONS")}}

    @classmethod
    def link(cls):
        """The program and both libraries in the second build folder; everything else is copied."""
        layout = cls.build / LAYOUT_OBJECT
        run("ninja", "-C", cls.build, LAYOUT_OBJECT, "documents")
        shutil.copytree(BUILD / "share/fatlink", cls.build / "share/fatlink", dirs_exist_ok=True)
        shutil.copytree(BUILD / "kernels/transforms/transforms_layer", cls.build / "kernels/transforms/transforms_layer")
        for folder in ("bin", "lib", "libexec"):
            (cls.build / folder).mkdir(exist_ok=True)
        shutil.copy(BUILD / "libexec/fatlink-linkd", cls.build / "libexec")
        archive = cls.build / "lib/libfatlink.a"
        shutil.copy(BUILD / "lib/libfatlink.a", archive)
        run("ar", "r", archive, layout)
        library = (BUILD / "lib/libfatlink.so").resolve().name
        cls.link_again(f"lib/{library}", {LAYOUT_OBJECT: layout})
        for link in (BUILD / "lib").glob("libfatlink.so*"):
            if link.is_symlink():
                (cls.build / "lib" / link.name).symlink_to(library)
        cls.link_again("bin/fatlink", {"lib/libfatlink.a": archive})
        (cls.build / "share/man/man1").mkdir(parents=True)
        page = run(cls.build / "bin/fatlink", "--manual", cls.build / "host/fatlink.1.in")
        (cls.build / "share/man/man1/fatlink.1").write_text(page)

    @classmethod
    def link_again(cls, target, replaced):
        """Runs the build's command with some inputs replaced, into the second build folder."""
        command = run("ninja", "-C", BUILD, "-t", "commands", "-s", target).splitlines()[-1]
        for before, after in {**replaced, f"-o {target}": f"-o {cls.build / target}"}.items():
            if before not in command:
                raise AssertionError(f"{before} is not in: {command}")
            command = command.replace(before, str(after))
        run("sh", "-c", command, cwd=BUILD)

    def fatlink(self, prefix, *words):
        return run(prefix / "bin/fatlink", *words, env=self.env, cwd="/")

    def assert_works(self, prefix):
        doctor = json.loads(self.fatlink(prefix, "doctor", "--json"))
        self.assertEqual(doctor["link_helper"]["path"], str(prefix / "lib/helpers/fatlink-linkd"))
        self.assertIn(str(prefix / "data/fatlink"), [folder["folder"] for folder in doctor["search_path"]])
        results = json.loads(self.fatlink(prefix, "run", "--json", "--device", "cpu", "--elements", "99"))
        self.assertEqual([(mode["verified"], mode["links"][0]["cache"]) for mode in results["modes"]],
                         [(True, "off"), (True, "hit")])  # the hit is from data/fatlink/cache
        results = json.loads(self.fatlink(prefix, "run", "--json", "--device", "cpu", "--elements", "99", "--no-cache"))
        self.assertEqual([mode["verified"] for mode in results["modes"]], [True, True])

    def test_the_program_finds_its_helper_and_its_data_also_when_the_prefix_was_moved(self):
        self.assert_works(self.prefix)
        moved = self.folder / "moved"
        shutil.copytree(self.prefix, moved, symlinks=True)
        self.assert_works(moved)

    def test_nothing_lies_in_the_usual_folders(self):
        for usual in ("libexec", "share/fatlink", "share/bash-completion"):
            self.assertFalse((self.prefix / usual).exists(), usual)
        self.assertEqual(sorted(path.name for path in self.libraries.iterdir()),
                         sorted(["pkgconfig", *(path.name for path in (BUILD / "lib").glob("libfatlink.*"))]))

    @long_test  # by default, test_consumer builds both in an installed tree that was moved
    def test_the_cmake_package_gives_shared_and_static_applications_what_they_need(self):
        build = self.folder / "application"
        run(CMAKE, "-S", SOURCE / "tests/consumer/application", "-B", build, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run(CMAKE, "--build", build)
        for kind in ("fatlink", "static"):
            with self.subTest(kind=kind):
                env = {**self.env, "FATLINK_CACHE_DIR": str(self.folder / kind)}
                program = [build / f"application_{kind}", self.prefix / "data/fatlink"]
                self.assertRegex(run(*program, env=env), r"lto: \d+ bytes, right, cache hit")
                self.assertRegex(run(*program, env={**env, "FATLINK_SYSTEM_CACHE": ""}), "lto: .*, cache miss")

    @long_test  # by default, test_consumer builds this project
    def test_a_transforms_project_finds_contract_and_fatbins(self):
        build = self.folder / "transform"
        run(CMAKE, "-S", SOURCE / "tests/consumer/transform", "-B", build, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCUDAToolkit_ROOT={NVCC.parent.parent}")
        run(CMAKE, "--build", build)
        self.assertTrue((build / "halve.fatbin").exists())

    def test_pkg_config_states_the_folders(self):
        if shutil.which("pkg-config") is None:
            self.skipTest("pkg-config is not installed")
        env = {**os.environ, "PKG_CONFIG_PATH": str(self.libraries / "pkgconfig")}
        stated = {name: run("pkg-config", f"--variable={name}", "fatlink", env=env).strip()
                  for name in ("libdir", "includedir", "link_helper", "sharedir")}
        self.assertEqual(stated, {
            "libdir": str(self.libraries), "includedir": str(self.prefix / "include"),
            "link_helper": str(self.prefix / "lib/helpers/fatlink-linkd"), "sharedir": str(self.prefix / "data/fatlink")})

    def test_manual_completions_and_documents(self):
        page = (self.prefix / "share/man/man1/fatlink.1").read_text()
        self.assertIn(".IR PREFIX /data/fatlink/cache", page)
        self.assertIn(r".IR PREFIX /lib/helpers/fatlink\-linkd", page)
        for file in ("bash-completion/completions/fatlink", "fish/vendor_completions.d/fatlink.fish"):
            self.assertTrue((self.prefix / "data" / file).exists(), file)
        self.assertEqual(len(list((self.prefix / "data/zsh").rglob("_fatlink"))), 1)
        for file in ("LICENSE", "README.md"):
            self.assertEqual((self.prefix / "share/doc/fatlink" / file).read_bytes(), (SOURCE / file).read_bytes())

    def test_all_documents_and_the_examples_are_installed(self):
        docs = [path.relative_to(SOURCE / "docs") for path in (SOURCE / "docs").rglob("*") if path.is_file()]
        self.assertIn(pathlib.Path("architecture.md"), docs)
        generated = self.build / "share/doc/fatlink"  # without tests: no table of the reference device
        self.assertEqual(sorted(path.name for path in generated.iterdir()), ["json.md", "python_reference.md"])
        for path in docs:
            original = next(folder / path for folder in (generated, SOURCE / "docs") if (folder / path).exists())
            self.assertEqual((self.prefix / "share/doc/fatlink" / path).read_bytes(), original.read_bytes())
        examples = self.prefix / "share/doc/fatlink/examples"
        self.assertEqual(sorted(path.name for path in examples.iterdir()),
                         ["README.md", "application", "cluster", "library", "transform", "wheel"])
        for path in (path for path in examples.rglob("*") if path.is_file()):
            self.assertEqual(path.read_bytes(), (SOURCE / "tests/consumer" / path.relative_to(examples)).read_bytes())


class Ways(unittest.TestCase):
    def way(self, start, end, prefix="/usr"):
        with tempfile.NamedTemporaryFile("w", suffix=".cmake") as script:
            script.write(f'set(CMAKE_INSTALL_PREFIX "{prefix}")\ninclude("{SOURCE}/cmake/build/install.cmake")\n'
                         f'fatlink_relative_install_path("{start}" "{end}" path)\nmessage("${{path}}")\n')
            script.flush()
            return subprocess.run([CMAKE, "-P", script.name], text=True, capture_output=True, check=True).stderr.strip()

    def test_between_folders_of_the_prefix_are_relative(self):
        self.assertEqual(self.way("bin", "libexec"), "../libexec")
        self.assertEqual(self.way("lib/x86_64-linux-gnu", "share/fatlink"), "../../share/fatlink")

    def test_into_or_out_of_a_folder_elsewhere_are_absolute(self):
        self.assertEqual(self.way("bin", "/opt/helpers"), "/opt/helpers")
        self.assertEqual(self.way("/opt/lib", "libexec"), "/usr/libexec")

    def test_an_absolute_folder_in_the_prefix_counts_as_relative(self):
        with tempfile.NamedTemporaryFile("w", suffix=".cmake") as script:
            script.write(f'set(CMAKE_INSTALL_PREFIX /usr)\nset(CMAKE_INSTALL_LIBDIR /usr/lib/x86_64-linux-gnu)\n'
                         f'set(CMAKE_INSTALL_LIBEXECDIR /opt/libexec)\ninclude("{SOURCE}/cmake/build/install.cmake")\n'
                         'fatlink_relative_install_folders()\nmessage("${CMAKE_INSTALL_LIBDIR} ${CMAKE_INSTALL_LIBEXECDIR}")\n')
            script.flush()
            done = subprocess.run([CMAKE, "-P", script.name], text=True, capture_output=True, check=True)
        self.assertEqual(done.stderr.strip(), "lib/x86_64-linux-gnu /opt/libexec")


if __name__ == "__main__":
    unittest.main()
