# SPDX-License-Identifier: Apache-2.0
"""Outsiders' projects against the build tree, an install tree, and one that was moved; with this CMake, and
with the newest that can be had."""
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["FATLINK_BUILD"])
CMAKE = os.environ["FATLINK_CMAKE"]
NVCC = pathlib.Path(os.environ["FATLINK_NVCC"])
PROJECTS = pathlib.Path(__file__).parent
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
        run(CMAKE, "--install", BUILD, "--prefix", cls.folder / "installed")
        run(CMAKE, "--install", BUILD, "--prefix", cls.folder / "first")
        (cls.folder / "first").rename(cls.folder / "moved")
        cls.tested = set()  # build folders of projects that were built and passed their tests
        cls.trees = {"build": BUILD, "install": cls.folder / "installed", "moved": cls.folder / "moved"}
        # A toolkit that only the build tree knows is no part of an install tree.
        found = json.loads(run(BUILD / "bin" / "fatlink", "doctor", "--json"))["nvjitlink"]["path"]
        cls.env = {"FATLINK_CACHE_DIR": str(cls.folder / "cache"), "FATLINK_NVJITLINK": found}

    def use(self, cmake, tree, project):
        prefix = self.trees[tree]
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
            shutil.copytree(self.trees[tree] / "share/doc/fatlink/examples" / project, source)
        return source

    def test_with_this_cmake(self):
        for tree in self.trees:
            for project in GENERATORS:
                with self.subTest(tree=tree, project=project):
                    self.use(shutil.which(CMAKE), tree, project)

    def test_with_the_newest_cmake(self):
        if newest_cmake() is None:
            self.skipTest("the newest CMake cannot be downloaded")
        for tree in self.trees:
            for project in GENERATORS:
                with self.subTest(tree=tree, project=project):
                    self.use(newest_cmake(), tree, project)

    def test_the_moved_program_runs_from_anywhere(self):
        program = self.trees["moved"] / "bin" / "fatlink"
        said = run(program, "run", "--device", "cpu", "--elements", "1000", cwd="/", env=self.env)
        self.assertIn("Both modes agree.", said)

    def test_no_file_holds_a_path_of_this_machine(self):
        for file in (self.folder / "installed").rglob("*"):
            if file.is_file() and not file.is_symlink():
                text = file.read_bytes()
                for path in (str(BUILD.parent.parent), str(self.folder)):
                    self.assertNotIn(path.encode(), text, file)

    def test_a_transform_installed_beside(self):
        build = self.use(shutil.which(CMAKE), "install", "transform")
        run(CMAKE, "--install", build, "--prefix", self.folder / "installed")
        self.assertTrue((self.folder / "installed/share/fatlink/halve.fatbin").exists())

    def run_alone(self, program, tree, **env):
        """Runs an application with an empty cache and nothing of fatlink's in the system's folders."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        return run(program, self.trees[tree] / "share/fatlink", cwd="/", env={
            "FATLINK_NVJITLINK": self.env["FATLINK_NVJITLINK"], "FATLINK_CACHE_DIR": str(folder / "cache"),
            "XDG_DATA_DIRS": str(folder), "XDG_DATA_HOME": str(folder), "HOME": str(folder), **env})

    def test_an_embedding_application_gets_its_first_link_from_the_installed_layer(self):
        for tree in ("install", "moved"):
            build = self.use(shutil.which(CMAKE), tree, "application")
            for kind in ("fatlink", "static"):
                with self.subTest(tree=tree, kind=kind):
                    printed = self.run_alone(build / f"application_{kind}", tree)
                    self.assertRegex(printed, r"(?m)^lto: \d+ bytes, right, cache hit$")

    def test_a_static_application_in_another_folder_finds_the_installed_helper(self):
        for tree in self.trees:
            with self.subTest(tree=tree):
                build = self.use(shutil.which(CMAKE), tree, "application")
                printed = self.run_alone(build / "application_static", tree, FATLINK_SYSTEM_CACHE="")
                self.assertRegex(printed, r"(?m)^lto: \d+ bytes, right, cache miss$")

    def test_a_static_application_in_the_moved_prefix_finds_the_helper_there(self):
        prefix = self.folder / "before"
        run(CMAKE, "--install", BUILD, "--prefix", prefix)
        self.trees = {**self.trees, "before": prefix}
        build = self.use(shutil.which(CMAKE), "before", "application")
        run(CMAKE, "--install", build, "--prefix", prefix)
        self.trees["after"] = prefix.rename(self.folder / "after")
        printed = self.run_alone(self.trees["after"] / "bin/application_static", "after", FATLINK_SYSTEM_CACHE="")
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
        helper = self.trees["moved"] / "libexec/fatlink-linkd"
        program = (build / "application_static").read_bytes()
        self.assertTrue(str(helper).encode() in program, f"{helper} is not stated in the program")
        other = self.folder / "application-other-helper"
        run(CMAKE, "-S", PROJECTS / "application", "-B", other, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={self.trees['moved']}", "-DFATLINK_LINK_HELPER=/opt/elsewhere/fatlink-linkd")
        run(CMAKE, "--build", other, "--target", "application_static")
        program = (other / "application_static").read_bytes()
        self.assertTrue(b"/opt/elsewhere/fatlink-linkd" in program)
        self.assertFalse(str(helper).encode() in program)

    def test_pkg_config_finds_the_moved_library(self):
        if shutil.which("pkg-config") is None:
            self.skipTest("pkg-config is not installed")
        moved = self.trees["moved"]
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
        run(CMAKE, "-S", source, "-B", build, "-G", "Ninja", f"-DCUDAToolkit_ROOT={NVCC.parent.parent}")
        targets = run("ninja", "-C", build, "-t", "targets", "all")
        self.assertIn("fatlink/libexec/fatlink-linkd", targets.replace("bin/", ""))
        self.assertNotIn("unit_tests", targets)
        self.assertNotIn("FatlinkTargets", targets)
        self.assertNotIn("-Werror", (build / "build.ninja").read_text())


if __name__ == "__main__":
    unittest.main()
