# SPDX-License-Identifier: Apache-2.0
"""The files of this build in the folder of a Python package, as a wheel has them: the program, the shared library in a
process of another program, and `python -m fatlink` find what belongs to them. The wheel itself: tests/wheel."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["FATLINK_BUILD"])
SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
CXX = re.search(r"(?m)^CMAKE_CXX_COMPILER:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text())[1]
CXX_FLAGS = re.search(r"(?m)^CMAKE_CXX_FLAGS:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text())[1].split()
NVJITLINK = "nvidia/cu13/lib/libnvJitLink.so.13"
REASON = "beside the Python package"
HOST = """
#include <fatlink/find_link_helper.hpp>
#include <fatlink/nvjitlink.hpp>
#include <fatlink/search_path.hpp>
#include <cstdio>
int main()
{
  auto const file = fatlink::nvjitlink::locate();
  std::printf("%s\\n%s\\n%s\\n%s\\n", fatlink::find_link_helper().c_str(), fatlink::installed_data_folder().c_str(),
              file ? file->path.c_str() : "", file ? file->reason.c_str() : "");
}
"""


class PythonPackage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-python-")).resolve()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.site = cls.folder / "site-packages"
        cls.package = cls.site / "fatlink"
        shutil.copytree(SOURCE / "host/python/fatlink", cls.package, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("bin/fatlink", "libexec/fatlink-linkd"):
            (cls.package / name).parent.mkdir()
            shutil.copy(BUILD / name, cls.package / name)
        (cls.package / "lib").mkdir()
        cls.library = cls.package / "lib" / cls.soname()
        shutil.copy(BUILD / "lib/libfatlink.so", cls.library)
        (cls.package / "share").mkdir()
        (cls.package / "share/fatlink").symlink_to(BUILD / "share/fatlink")

    @staticmethod
    def soname():
        shown = subprocess.run(["readelf", "-dW", BUILD / "lib/libfatlink.so"], text=True, capture_output=True, check=True)
        return re.search(r"\(SONAME\).*\[(.*)\]", shown.stdout)[1]

    def setUp(self):
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "XDG_DATA_DIRS": "/nowhere",
                    "FATLINK_CACHE_DIR": str(self.folder / "cache"), "PYTHONPATH": str(self.site),
                    "PYTHONDONTWRITEBYTECODE": "1",
                    **{name: text for name, text in os.environ.items() if name.endswith("SAN_OPTIONS")}}

    def run_(self, *words, **options):
        return subprocess.run([str(word) for word in words], text=True, capture_output=True,
                              **{"env": self.env, "cwd": self.folder, **options})

    def python(self, *words, **options):
        return self.run_(sys.executable, "-m", "fatlink", *words, **options)


class Search(PythonPackage):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        doctor = subprocess.run([BUILD / "bin/fatlink", "doctor", "--json"], text=True, capture_output=True)
        found = json.loads(doctor.stdout)["nvjitlink"].get("path")
        if not found:
            raise unittest.SkipTest("there is no nvJitLink")
        cls.wheel = cls.site / NVJITLINK
        cls.wheel.parent.mkdir(parents=True)
        cls.wheel.symlink_to(os.path.realpath(found))

    def nvjitlink(self, **env):
        self.env.update(env)
        return json.loads(self.run_(self.package / "bin/fatlink", "doctor", "--json").stdout)["nvjitlink"]

    def test_the_program_uses_the_nvjitlink_of_the_vendors_wheel_beside_the_package(self):
        found = self.nvjitlink()
        self.assertEqual((found["reason"], found["tried"][0]["path"]), (REASON, str(self.wheel)))

    def test_it_goes_before_toolkits_and_environments(self):
        other = self.folder / "toolkit/lib64/libnvJitLink.so.13"
        other.parent.mkdir(parents=True)
        shutil.copy(os.path.realpath(self.wheel), other)
        found = self.nvjitlink(CUDA_HOME=str(self.folder / "toolkit"), VIRTUAL_ENV=str(self.folder))
        self.assertEqual(found["reason"], REASON)
        self.assertEqual(self.nvjitlink(FATLINK_NVJITLINK=str(other))["reason"], "$FATLINK_NVJITLINK")

    def test_a_folder_that_is_no_python_package_has_no_wheels_beside_it(self):
        mark = self.package / "__init__.py"
        mark.rename(self.folder / "kept")
        self.addCleanup((self.folder / "kept").rename, mark)
        self.assertNotIn(REASON, [place["reason"] for place in self.nvjitlink()["tried"]])

    def test_links_and_runs_with_the_helper_of_the_package(self):
        done = self.run_(self.package / "bin/fatlink", "run", "--device", "cpu", "--elements", "99", "--no-cache", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([mode["verified"] for mode in json.loads(done.stdout)["modes"]], [True, True])

    def test_the_library_in_another_program_finds_helper_data_and_nvjitlink(self):
        (self.folder / "elsewhere").mkdir()
        (self.folder / "host.cpp").write_text(HOST)
        host = self.folder / "elsewhere/host"
        done = self.run_(CXX, *CXX_FLAGS, "-std=c++20", "-I", SOURCE / "host/include", "host.cpp", "-o", host,
                         self.library, f"-Wl,-rpath,{self.library.parent}", env=os.environ)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.run_(host).stdout.splitlines(),
                         [str(self.package / "libexec/fatlink-linkd"), str(self.package / "share/fatlink"),
                          str(self.wheel), REASON])

    def test_a_file_of_the_programs_name_in_the_working_folder_is_not_taken_for_it(self):
        trap = self.folder / "trap"
        (trap / "bin").mkdir(parents=True)
        (trap / "bin/fatlink").touch()
        (trap / "libexec").mkdir()
        shutil.copy(BUILD / "libexec/fatlink-linkd", trap / "libexec")
        self.env["PATH"] = f"{self.package}/bin:{self.env['PATH']}"
        found = json.loads(self.run_("fatlink", "doctor", "--json", cwd=trap / "bin").stdout)["link_helper"]["path"]
        self.assertEqual(found, str(self.package / "libexec/fatlink-linkd"))


class Module(PythonPackage):
    def test_prints_the_folders_of_the_package(self):
        for option, below in (("--prefix", "."), ("--include-dir", "include"), ("--cmake-dir", "lib/cmake/fatlink")):
            self.assertEqual(self.python(option).stdout, f"{self.package / below}\n")

    def test_with_fatlink_library_they_are_those_of_its_tree(self):
        self.env["FATLINK_LIBRARY"] = str(BUILD / "lib/libfatlink.so")
        self.assertEqual(self.python("--cmake-dir").stdout, f"{BUILD.resolve() / 'lib/cmake/fatlink'}\n")

    def test_other_arguments_go_to_the_program(self):
        done = self.python("--version")
        self.assertEqual((done.returncode, done.stdout), (0, self.run_(BUILD / "bin/fatlink", "--version").stdout))
        done = self.python("rnu")
        self.assertEqual((done.returncode, done.stderr), (2, self.run_(BUILD / "bin/fatlink", "rnu").stderr))

    def test_the_help_is_that_of_the_program_and_names_the_folders(self):
        program = self.run_(BUILD / "bin/fatlink", "--help").stdout
        for option in ("--help", "-h"):
            done = self.python(option)
            self.assertEqual((done.returncode, done.stdout[:len(program)]), (0, program))
            for folder in ("--cmake-dir", "--include-dir", "--prefix"):
                self.assertIn(folder, done.stdout[len(program):])

    def test_a_folder_takes_no_other_arguments(self):
        done = self.python("--prefix", "list")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (2, "", "fatlink: error: --prefix takes no other arguments\n"))

    def test_a_missing_program(self):
        self.env["FATLINK_LIBRARY"] = str(self.folder / "lib/libfatlink.so")
        done = self.python("list")
        self.assertEqual((done.returncode, done.stdout), (5, ""))
        self.assertEqual(done.stderr, f"fatlink: error: {self.folder}/bin/fatlink: No such file or directory\n"
                         "  hint:   install the wheel again, or name a build's lib/libfatlink.so in $FATLINK_LIBRARY\n")

    def test_the_shared_library_is_the_file_of_the_soname(self):
        code = "from fatlink import _install as i; print(i.shared_library())"
        self.assertEqual(self.run_(sys.executable, "-c", code).stdout, f"{self.library}\n")
        self.env["FATLINK_LIBRARY"] = "/other/libfatlink.so"
        self.assertEqual(self.run_(sys.executable, "-c", code).stdout, "/other/libfatlink.so\n")


if __name__ == "__main__":
    unittest.main()
