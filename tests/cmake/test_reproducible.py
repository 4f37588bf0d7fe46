# SPDX-License-Identifier: Apache-2.0
"""A shipped fatbin has the same bytes in whatever folder the project is. The long test package.reproducible compares all
packages."""
import os
import shutil
import subprocess
import unittest

from build_side import BUILD, CMAKE, CONTRACT, HEAD, SOURCE, BuildSide, without_kept_outputs

# The first is a source that CMake wrote and includes fatlink's device headers, the second has a folder of the project among its
# options.
FATBINS = {"add_float": "transforms/add_float", "sort_1": "algorithms/sort_1_fatbin"}

HEADER = """#pragma once
template <typename T>
__device__ __forceinline__ T same(T const& x)
{
  return __builtin_bit_cast(T, x);
}
"""
WRITTEN = CONTRACT + """
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/t.cu" [[
#include <same.cuh>
extern "C" __device__ float hook(float x) { return same(x); }
]])
fatlink_add_fatbin(t SOURCES "${CMAKE_CURRENT_BINARY_DIR}/t.cu" CONTRACT c OPTIONS "-I${CMAKE_CURRENT_SOURCE_DIR}/include")
"""


class Reproducible(BuildSide):
    def compiled_in(self, checkout):
        """The bytes of the fatbins, compiled in a copy of what they are compiled of."""
        shutil.copytree(SOURCE / "kernels", checkout / "kernels")
        if (SOURCE / ".cuda").is_dir():  # the toolkit that scripts/bootstrap installed
            (checkout / ".cuda").symlink_to(SOURCE / ".cuda")
        contracts = BUILD / "kernels/algorithms"
        for folder in ("sized_contracts", "plans"):
            shutil.copytree(contracts / folder, checkout / contracts.relative_to(SOURCE) / folder)
        written = BUILD / "kernels/transforms/combine"
        shutil.copytree(written, checkout / written.relative_to(SOURCE))
        for hooks in contracts.glob("fatlink_contract_*_hooks.cmake"):
            shutil.copy(hooks, checkout / hooks.relative_to(SOURCE))
        environment = {name: text for name, text in os.environ.items() if name != "FATLINK_NVCC_CACHE"}
        images = []
        for name, settings in FATBINS.items():
            text = (BUILD / f"kernels/{settings}.settings.cmake").read_text()
            (checkout / "settings.cmake").write_text(text.replace(str(SOURCE), str(checkout)))
            subprocess.run([CMAKE, f"-DSETTINGS={checkout}/settings.cmake", f"-DINSPECT={BUILD}/bin/fatlink",
                            "-P", SOURCE / "cmake/detail/compile_fatbin.cmake"], check=True, env=environment)
            built, = checkout.rglob(f"{name}.fatbin")
            images.append(built.read_bytes())
        return images

    @unittest.skipUnless(SOURCE in BUILD.parents, "the build folder is not in the project")
    def test_fatbins_do_not_depend_on_the_folder(self):
        self.assertEqual(self.compiled_in(self.folder / "one"), self.compiled_in(self.folder / "another/longer place"))

    def written_source_in(self, folder):
        """The bytes of the fatbin of a source that CMake writes to a build folder outside of the project, and that includes
        headers of the project."""
        self.write(f"{folder}/project/include/same.cuh", HEADER)
        self.write(f"{folder}/project/hook.cuh", 'extern "C" __device__ float hook(float);\n')
        self.write(f"{folder}/project/CMakeLists.txt", HEAD + WRITTEN)
        place = self.folder / folder
        for words in (("-S", place / "project", "-B", place / "build", "-G", "Ninja"), ("--build", place / "build")):
            done = subprocess.run([CMAKE, *words], text=True, capture_output=True, env=without_kept_outputs())
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return (place / "build/t.fatbin").read_bytes()

    def test_fatbins_of_written_sources_do_not_depend_on_the_folder(self):
        self.assertEqual(self.written_source_in("one"), self.written_source_in("another/longer place"))


if __name__ == "__main__":
    unittest.main()
