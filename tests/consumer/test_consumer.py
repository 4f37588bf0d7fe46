# SPDX-License-Identifier: Apache-2.0
"""Outsiders' projects against an install tree that was moved; in the long tests also against the build tree and an install
tree, and with the newest CMake that can be had."""
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from known_checks import known_checks
from run_tests import long_test

BUILD = pathlib.Path(os.environ["FATLINK_BUILD"])
CMAKE = os.environ["FATLINK_CMAKE"]
NVCC = pathlib.Path(os.environ["FATLINK_NVCC"])
PROJECTS = pathlib.Path(__file__).parent
TREES = ("build", "install", "moved")
GENERATORS = {"library": "Ninja", "transform": "Unix Makefiles", "application": "Ninja"}


def run(*words, cwd=None, env=None):
    done = subprocess.run([str(word) for word in words], cwd=cwd, text=True, capture_output=True,
                          env={**os.environ, **(env or {})})
    if done.returncode != 0:
        raise AssertionError(f"{words}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


@functools.cache
def newest_cmake():
    """The newest CMake, installed for these tests; nothing where it cannot be had."""
    folder = BUILD / "newest-cmake"
    program = folder / "bin" / "cmake"
    if not program.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True)
        subprocess.run([folder / "bin" / "pip", "install", "-q", "--disable-pip-version-check", "cmake"],
                       capture_output=True)
    return program if program.exists() else None


class Consumers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-consumer-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.tested = set()  # build folders of projects that were built and passed their tests
        # A toolkit that only the build tree knows is no part of an install tree.
        found = json.loads(run(BUILD / "bin" / "fatlink", "doctor", "--json"))["nvjitlink"]["path"]
        cls.env = {"FATLINK_CACHE_DIR": str(cls.folder / "cache"), "FATLINK_NVJITLINK": found}

    @classmethod
    @functools.cache
    def tree(cls, name):
        """The prefix of a tree of TREES, which is installed once."""
        if name == "build":
            return BUILD
        prefix = cls.folder / ("first" if name == "moved" else name)
        run(CMAKE, "--install", BUILD, "--prefix", prefix)
        return prefix.rename(cls.folder / name)

    def use(self, cmake, tree, project):
        prefix = self.tree(tree)
        build = self.folder / f"{project}-{tree}-{pathlib.Path(cmake).parent.parent.name}"
        if build in self.tested:
            return build
        run(cmake, "-S", self.source_of(tree, project), "-B", build, "-G", GENERATORS[project],
            f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCUDAToolkit_ROOT={NVCC.parent.parent}")
        self.assertIn(str(prefix), (build / "CMakeCache.txt").read_text())
        run(cmake, "--build", build)
        run(pathlib.Path(cmake).parent / "ctest", "--test-dir", build, "--no-tests=error", "--output-on-failure",
            env=self.env)
        self.tested.add(build)
        return build

    def source_of(self, tree, project):
        """A copy of the installed example; of an uninstalled build tree, the sources."""
        if tree == "build":
            return PROJECTS / project
        source = self.folder / f"examples-{tree}" / project
        if not source.exists():
            shutil.copytree(self.tree(tree) / "share/doc/fatlink/examples" / project, source)
        return source

    def use_all(self, cmake, trees):
        for tree in trees:
            for project in GENERATORS:
                with self.subTest(tree=tree, project=project):
                    self.use(cmake, tree, project)

    def test_with_this_cmake(self):
        self.use_all(shutil.which(CMAKE), ["moved"])

    @long_test  # the test above has one tree
    def test_with_this_cmake_in_every_tree(self):
        self.use_all(shutil.which(CMAKE), TREES)

    @long_test  # test_with_this_cmake
    def test_with_the_newest_cmake(self):
        if newest_cmake() is None:
            self.skipTest("the newest CMake cannot be downloaded")
        self.use_all(newest_cmake(), TREES)

    def test_the_moved_program_runs_from_anywhere(self):
        program = self.tree("moved") / "bin" / "fatlink"
        said = run(program, "run", "--device", "cpu", "--elements", "1000", cwd="/", env=self.env)
        self.assertIn("Result: verified in both modes", said)

    def test_no_file_holds_a_path_of_this_machine(self):
        for file in self.tree("moved").rglob("*"):
            if file.is_file() and not file.is_symlink():
                text = file.read_bytes()
                for path in (str(BUILD.parent.parent), str(self.folder)):
                    self.assertNotIn(path.encode(), text, file)

    @long_test  # test_with_this_cmake builds the transform
    def test_a_transform_installed_beside(self):
        build = self.use(shutil.which(CMAKE), "install", "transform")
        run(CMAKE, "--install", build, "--prefix", self.tree("install"))
        self.assertTrue((self.tree("install") / "share/fatlink/halve.fatbin").exists())

    def run_alone(self, program, prefix, **env):
        """Runs an application with an empty cache and nothing of fatlink's in the system's folders."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        return run(program, prefix / "share/fatlink", cwd="/", env={
            "FATLINK_NVJITLINK": self.env["FATLINK_NVJITLINK"], "FATLINK_CACHE_DIR": str(folder / "cache"),
            "XDG_DATA_DIRS": str(folder), "XDG_DATA_HOME": str(folder), "HOME": str(folder), **env})

    def assert_first_link_is_from_the_installed_layer(self, tree):
        build = self.use(shutil.which(CMAKE), tree, "application")
        for kind in ("fatlink", "static"):
            with self.subTest(tree=tree, kind=kind):
                printed = self.run_alone(build / f"application_{kind}", self.tree(tree))
                self.assertRegex(printed, r"(?m)^lto: \d+ bytes, right, cache hit$")

    @long_test  # cmake.test_cache_layer has a layer in a build folder, test_with_this_cmake an application
    def test_an_embedding_application_gets_its_first_link_from_the_installed_layer(self):
        self.assert_first_link_is_from_the_installed_layer("moved")

    @long_test  # the test above has the tree that was moved
    def test_an_embedding_application_gets_its_first_link_from_the_layer_of_a_tree_that_was_not_moved(self):
        self.assert_first_link_is_from_the_installed_layer("install")

    def assert_static_application_finds_the_helper(self, tree):
        build = self.use(shutil.which(CMAKE), tree, "application")
        printed = self.run_alone(build / "application_static", self.tree(tree), FATLINK_SYSTEM_CACHE="")
        self.assertRegex(printed, r"(?m)^lto: \d+ bytes, right, cache miss$")

    @long_test  # package.test_install_folders has the program, which looks in the same places
    def test_a_static_application_in_another_folder_finds_the_installed_helper(self):
        self.assert_static_application_finds_the_helper("moved")

    @long_test  # the test above has one tree
    def test_a_static_application_in_another_folder_finds_the_helper_of_every_tree(self):
        for tree in TREES:
            with self.subTest(tree=tree):
                self.assert_static_application_finds_the_helper(tree)

    @long_test  # the tests above have a static application outside of the prefix
    def test_a_static_application_in_the_moved_prefix_finds_the_helper_there(self):
        build = self.use(shutil.which(CMAKE), "before", "application")
        prefix = self.tree("before")
        run(CMAKE, "--install", build, "--prefix", prefix)
        after = prefix.rename(self.folder / "after")
        self.addCleanup(after.rename, prefix)
        printed = self.run_alone(after / "bin/application_static", after, FATLINK_SYSTEM_CACHE="")
        self.assertRegex(printed, r"(?m)^lto: \d+ bytes, right, cache miss$")

    def test_a_program_without_a_helper_beside_it_searches_the_usual_libexec_folders(self):
        program = self.folder / "alone/bin/fatlink"
        program.parent.mkdir(parents=True)
        shutil.copy(BUILD / "bin/fatlink", program)
        done = subprocess.run([program, "doctor", "--json"], text=True, capture_output=True)
        helper = json.loads(done.stdout)["link_helper"]
        usual = [f"{folder}/fatlink-linkd" for folder in
                 ("/usr/local/libexec", "/usr/libexec", "/usr/local/lib/fatlink", "/usr/lib/fatlink")]
        if helper["found"]:  # fatlink is installed on this machine
            self.assertIn(helper["path"], usual)
        else:
            self.assertIn(f"no fatlink-linkd at {self.folder}/alone/libexec/fatlink-linkd, {', '.join(usual)}",
                          helper["reason"])

    def test_the_package_states_the_helper_and_a_project_may_state_another(self):
        build = self.use(shutil.which(CMAKE), "moved", "application")
        helper = self.tree("moved") / "libexec/fatlink-linkd"
        program = (build / "application_static").read_bytes()
        self.assertTrue(str(helper).encode() in program, f"{helper} is not stated in the program")
        other = self.folder / "application-other-helper"
        run(CMAKE, "-S", PROJECTS / "application", "-B", other, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={self.tree('moved')}", "-DFATLINK_LINK_HELPER=/opt/elsewhere/fatlink-linkd")
        run(CMAKE, "--build", other, "--target", "application_static")
        program = (other / "application_static").read_bytes()
        self.assertTrue(b"/opt/elsewhere/fatlink-linkd" in program)
        self.assertFalse(str(helper).encode() in program)

    def test_pkg_config_finds_the_moved_library(self):
        if shutil.which("pkg-config") is None:
            self.skipTest("pkg-config is not installed")
        moved = self.tree("moved")
        flags = run("pkg-config", "--cflags", "--libs", "fatlink",
                    env={"PKG_CONFIG_PATH": str(moved / "lib/pkgconfig")}).split()
        program = self.folder / "by_pkg_config"
        run("g++", "-std=c++20", PROJECTS / "application/application.cpp", "-o", program, *flags,
            f"-Wl,-rpath,{moved}/lib")
        self.assertIn("lto: ", run(program, moved / "share/fatlink", env=self.env))

    def test_as_a_subdirectory_it_builds_no_tests_and_installs_nothing(self):
        source = self.folder / "super"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(super LANGUAGES C CXX)\n"
            f"add_subdirectory({os.environ['FATLINK_SOURCE']} fatlink)\n"
            "add_executable(used ${CMAKE_CURRENT_SOURCE_DIR}/used.cpp)\n"
            "target_link_libraries(used PRIVATE fatlink::fatlink)\n")
        (source / "used.cpp").write_text("#include <fatlink/fatbin.hpp>\nint main() { return 0; }\n")
        build = self.folder / "super-build"
        run(CMAKE, "-S", source, "-B", build, "-G", "Ninja", f"-DCUDAToolkit_ROOT={NVCC.parent.parent}", *known_checks())
        targets = run("ninja", "-C", build, "-t", "targets", "all")
        self.assertIn("fatlink/libexec/fatlink-linkd", targets.replace("bin/", ""))
        self.assertNotIn("unit_tests", targets)
        self.assertNotIn("FatlinkTargets", targets)
        self.assertNotIn("-Werror", (build / "build.ninja").read_text())


if __name__ == "__main__":
    unittest.main()
