# SPDX-License-Identifier: Apache-2.0
"""The example `wheel`: built by pip with the CMake package of the build, installed in a new virtual environment, and found by
name from Python, the program and C. tests/wheel builds and uses it with fatlink's own wheel."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

BUILD = pathlib.Path(os.environ["FATLINK_BUILD"])
SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
NVCC = pathlib.Path(os.environ.get("FATLINK_NVCC", "/absent"))
RUN = ("run", "--library", "blend", "--transform", "screen_blend", "--device", "cpu", "--mode", "lto", "--json")
LOAD = "import fatlink; plan = fatlink.load('blend', 'screen_blend', device='cpu'); print(plan.image.cache, plan.image.warnings)"
PROGRAM = """
#include <fatlink/fatlink.h>
#include <stdio.h>
int main(void)
{
  char* file = NULL;
  if (fatlink_find_file("screen_blend", &file) != NULL) return 1;
  puts(file);
  fatlink_text_free(file);
  return 0;
}
"""


def builder():
    """A Python with pip and scikit-build-core; skips the tests if there is none."""
    for python in (sys.executable, SOURCE / ".venv/bin/python"):
        code = "import pip, scikit_build_core"
        if os.access(python, os.X_OK) and subprocess.run([python, "-c", code], capture_output=True).returncode == 0:
            return python
    raise unittest.SkipTest("no Python with pip and scikit-build-core: .venv, which scripts/package makes, has them")


class ExampleWheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not NVCC.exists():
            raise unittest.SkipTest("nvcc is not installed")
        python = builder()
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-example-wheel-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        project = shutil.copytree(SOURCE / "tests/consumer/wheel", cls.folder / "project")
        cls.done(python, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--no-index", "-w", cls.folder, project,
                 "--config-settings", "cmake.define.BLEND_ARCHITECTURES=90", fatlink_DIR=f"{BUILD}/lib/cmake/fatlink", CUDAToolkit_ROOT=NVCC.parent.parent)
        cls.wheel, = cls.folder.glob("*.whl")
        cls.done(sys.executable, "-m", "venv", cls.folder / "environment")
        cls.python = cls.folder / "environment/bin/python"
        cls.done(cls.python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", cls.wheel)
        library, = (BUILD / "lib").glob("**/libfatlink.so")
        cls.env = {"FATLINK_LIBRARY": library, "PYTHONPATH": SOURCE / "host/python", "FATLINK_CACHE_DIR": cls.folder / "cache",
                   "HOME": cls.folder, "FATLINK_LINKD": "/nowhere"}  # a link would fail

    @classmethod
    def done(cls, *words, **variables):
        done = subprocess.run([str(word) for word in words], text=True, capture_output=True, cwd=cls.folder,
                              env={**os.environ, **{name: str(value) for name, value in variables.items()}})
        if done.returncode != 0:
            raise AssertionError(f"{words}: status {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
        return done.stdout

    def data(self):
        data, = self.folder.glob("environment/lib/python3*/site-packages/fatlink_blend/share/fatlink")
        return data

    def test_is_for_every_python_and_machine_and_has_the_data(self):
        self.assertEqual(self.wheel.name, "fatlink_blend-1.0-py3-none-any.whl")
        with zipfile.ZipFile(self.wheel) as archive:
            names = set(archive.namelist())
        share = "fatlink_blend/share/fatlink/"
        expected = ("blend.fatbin", "blend.json", "screen_blend.fatbin", "screen_blend.json", "contracts/blend.json",
                    "contracts/blend.cmake", "contracts/blend/blend.cuh")
        self.assertEqual({share + name for name in expected} - names, set())
        self.assertTrue([name for name in names if name.startswith(share + "cache/")])
        self.assertEqual([name for name in names if not name.startswith(("fatlink_blend/", "fatlink_blend-1.0.dist-info/"))], [])

    def test_python_finds_it_and_links_nothing(self):
        self.assertEqual(self.done(self.python, "-c", LOAD, **self.env), "hit []\n")

    def test_the_program_finds_it_and_links_nothing(self):
        report = json.loads(self.done(self.python, "-m", "fatlink", *RUN, **self.env))
        self.assertEqual([mode["reference"][0]["verified"] for mode in report["modes"]], [True])
        self.assertEqual([link["cache"] for mode in report["modes"] for link in mode["links"]], ["hit"])
        listed = json.loads(self.done(self.python, "-m", "fatlink", "list", "--json", "blend", **self.env))["fatbins"]
        self.assertEqual([(entry["distribution"], entry["folder"]) for entry in listed], [("fatlink-blend 1.0", str(self.data()))])

    def test_the_program_lists_its_contract(self):
        printed = self.done(self.python, "-m", "fatlink", "list", "--kind", "contract", "--names", **self.env)
        self.assertIn("blend\n", printed)

    def test_a_c_program_finds_it_through_the_variable(self):
        if shutil.which("cc") is None:
            self.skipTest("no C compiler is installed")
        (self.folder / "program.c").write_text(PROGRAM)
        self.done("cc", "program.c", "-o", "program", f"-I{SOURCE}/host/include", self.env["FATLINK_LIBRARY"],
                  f"-Wl,-rpath,{BUILD}/lib")
        folders = self.done(self.python, "-m", "fatlink", "--python-path", **self.env).strip()
        self.assertEqual(self.done("./program", **self.env, FATLINK_PYTHON_PATH=folders), f"{self.data()}/screen_blend.fatbin\n")

    def test_projects_find_its_contract(self):
        project = self.folder / "darken"
        project.mkdir()
        (project / "darken.cu").write_text('extern "C" __device__ float blend_values(float a, float b) { return fminf(a, b); }\n')
        (project / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(darken LANGUAGES NONE)\n"
                                                "find_package(fatlink REQUIRED)\n"
                                                "fatlink_add_fatbin(darken SOURCES darken.cu CONTRACT blend)\n")
        self.done(os.environ["FATLINK_CMAKE"], "-S", project, "-B", project / "build", f"-Dfatlink_DIR={BUILD}/lib/cmake/fatlink",
                  f"-DCMAKE_PREFIX_PATH={self.data().parent.parent}", f"-DCUDAToolkit_ROOT={NVCC.parent.parent}")
        self.done(os.environ["FATLINK_CMAKE"], "--build", project / "build")
        self.assertTrue((project / "build/darken.fatbin").is_file())


if __name__ == "__main__":
    unittest.main()
