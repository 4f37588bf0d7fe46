# SPDX-License-Identifier: Apache-2.0
"""Which nvcc the CMake functions accept, and how often they run it."""
import os
import shutil
import subprocess
import tempfile
import unittest

from build_side import BUILD, CMAKE, CONTRACT, FATBIN, NVCC, SOURCE, ContractsCase, plain


class OtherVersions(ContractsCase):
    def write_nvcc(self, version="12.9.86"):
        path = self.folder / "toolkit" / "bin" / "nvcc"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/sh\necho "Cuda compilation tools, release {version[:4]}, V{version}"\n'
                        f'echo "#$ TOP={path.parent.parent}" >&2\n')
        path.chmod(0o755)
        return path

    def test_stops_the_configuration_of_a_project_that_adds_fatbins_or_a_layer(self):
        for version in ("12.9.86", "14.0.1"):
            nvcc = self.write_nvcc(version)
            lists = f'set(CUDAToolkit_NVCC_EXECUTABLE "{nvcc}")\n'
            for name in ("a", "b"):
                self.write(f"{name}.fatbin", "")
            layer = "fatlink_add_cache_layer(t LIBRARY a.fatbin TRANSFORMS b.fatbin)\n"
            for call, function in ((FATBIN, "fatlink_add_fatbin"), (layer, "fatlink_add_cache_layer")):
                done = self.configure(lists + call)
                self.assertNotEqual(done.returncode, 0)
                said = plain(done.stderr)
                self.assertIn(f"{function}(t): {nvcc} is of CUDA {version}; fatlink needs CUDA 13", said)
                self.assertIn("-DCUDAToolkit_ROOT=", said)

    def test_stops_the_configuration_of_fatlink_itself(self):
        nvcc = self.write_nvcc()
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([CMAKE, "-S", SOURCE, "-B", folder, f"-DCUDAToolkit_ROOT={nvcc.parent.parent}"],
                                  text=True, capture_output=True)
        self.assertNotEqual(done.returncode, 0)
        said = plain(done.stderr)
        self.assertIn(f"fatlink: {nvcc} is of CUDA 12.9.86; fatlink needs CUDA 13", said)
        self.assertIn("-DCUDAToolkit_ROOT=", said)


class Runs(ContractsCase):
    """An nvcc that logs its arguments and then runs the real one."""

    FIND = "find_package(fatlink REQUIRED)\n"
    OTHER_FATBIN = "fatlink_add_fatbin(u SOURCES t.cu CONTRACT c)\n"

    def configure_with_nvcc(self, lists, version=None):
        """Configures a project that finds the build tree's package; `version` replaces that of the real nvcc."""
        self.nvcc = self.folder / "nvcc"
        replaced = f'[ "$1" = --version ] && echo "release {version[:4]}, V{version}" && exit 0\n' if version else ""
        self.nvcc.write_text(f'#!/bin/sh\necho "$*" >> "{self.folder}/calls"\n{replaced}exec "{NVCC}" "$@"\n')
        self.nvcc.chmod(0o755)
        self.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.25)\nproject(outsider NONE)\n" + self.FIND + lists)
        done = self.cmake("-S", ".", "-B", "b", f"-DCUDAToolkit_NVCC_EXECUTABLE={self.nvcc}", f"-DCMAKE_PREFIX_PATH={BUILD}")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_a_toolkit_above_the_stated_floor_is_a_warning(self):
        lists = CONTRACT + "fatlink_add_fatbin(t SOURCES t.cu CONTRACT c NVJITLINK_AT_LEAST {})\n"
        warning = ("fatlink_add_fatbin(t): nvJitLink 13.0 (NVJITLINK_AT_LEAST) does not read the LTO-IR of CUDA 13.5, which compiles "
                   "this fatbin. Compile with CUDA 13.0, or state NVJITLINK_AT_LEAST 13.5")
        for version, floor, warns in (("13.5.37", "13.0", True), ("13.0.88", "13.0", False), ("13.2.7", "13.10", False)):
            with self.subTest(version, floor=floor):
                shutil.rmtree(self.folder / "b", ignore_errors=True)
                said = plain(self.configure_with_nvcc(lists.format(floor), version).stderr)
                self.assertEqual(warning in said, warns, said)

    def count_version_calls(self):
        return (self.folder / "calls").read_text().splitlines().count("--version")

    def test_nvcc_is_asked_for_its_version_once_per_build_folder(self):
        layer = "fatlink_add_cache_layer(layer LIBRARY t TRANSFORMS u)\n"
        self.configure_with_nvcc(FATBIN + self.OTHER_FATBIN + layer)
        self.configure_again()
        self.assertEqual(self.count_version_calls(), 1)

    def test_an_nvcc_that_was_upgraded_in_place_is_asked_again(self):
        for version, modified in (("13.0.88", 1700000000), ("13.1.7", 1700000060)):
            self.configure_with_nvcc(FATBIN, version)
            os.utime(self.nvcc, (modified, modified))
            self.configure_again()
            self.assertIn(f"set(TOOLKIT [==[{version}]==])", (self.folder / "b/t.settings.cmake").read_text())

    def configure_again(self):
        done = self.cmake("-S", ".", "-B", "b")
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
