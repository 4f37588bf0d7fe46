# SPDX-License-Identifier: Apache-2.0
"""fatlink_bundle_libraries in a small project with fatlink's targets; and both bundles in fatlink's own
build, which is configured, not built."""
import os
import pathlib
import re
import shutil
import unittest

from bundle_case import BUILD, CMAKE, LICENCE, SOURCE, TOOLKIT, Bundle, digest

LIBRARIES = ["liblz4.so.1", "libnettle.so.8", "libzstd.so.1"]
PROGRAM = """
#include <lz4.h>
#include <nettle/version.h>
#include <zstd.h>
int main(void)
{
  return ZSTD_versionNumber() + LZ4_versionNumber() + nettle_version_major() > 0 ? 0 : 2;
}
"""


class Libraries(Bundle):
    """The real libraries, beside small programs under the names of fatlink's targets."""

    def configure(self, *options):
        self.put("program.c", PROGRAM)
        self.put("CMakeLists.txt", f"""
cmake_minimum_required(VERSION 3.25)
project(outsider LANGUAGES C CXX)
include(GNUInstallDirs)
include("{SOURCE}/cmake/build/dependencies.cmake")
include("{SOURCE}/cmake/build/bundle.cmake")
add_executable(fatlink_program program.c)
add_executable(fatlink_linkd program.c)
add_library(fatlink_shared SHARED program.c)
foreach(target IN ITEMS fatlink_program fatlink_linkd fatlink_shared)
  target_link_libraries(${{target}} PRIVATE
    -Wl,--no-as-needed PkgConfig::libzstd PkgConfig::liblz4 PkgConfig::nettle)
endforeach()
install(TARGETS fatlink_program fatlink_shared COMPONENT runtime)
install(TARGETS fatlink_linkd RUNTIME DESTINATION libexec COMPONENT runtime)
fatlink_bundle_libraries()
get_property(bundled GLOBAL PROPERTY FATLINK_BUNDLED_LIBRARIES)
message(STATUS "bundled: ${{bundled}}")
""")
        return [CMAKE, "-S", ".", "-B", "b", "-G", "Ninja", f"-DCUDAToolkit_ROOT={TOOLKIT}", *options]

    def install_and_move(self, *options):
        self.said = self.done(*self.configure(*options))
        self.done(CMAKE, "--build", "b")
        self.done(CMAKE, "--install", "b", "--component", "runtime", "--prefix", self.folder / "first")
        (self.folder / "first").rename(self.folder / "moved")
        return self.folder / "moved"

    def require_debian(self):
        if shutil.which("dpkg-query") is None:
            self.skipTest("licence texts are found by Debian's packages")

    def test_off_installs_nothing_and_sets_no_run_path(self):
        moved = self.install_and_move()
        self.assertEqual([path.name for path in (moved / "lib").iterdir()], ["libfatlink_shared.so"])
        self.assertFalse((moved / "share").exists())
        for name in ("bin/fatlink_program", "libexec/fatlink_linkd", "lib/libfatlink_shared.so"):
            self.assertEqual(self.run_paths(moved / name), [])

    def test_on_the_moved_programs_load_what_is_beside_them(self):
        self.require_debian()
        moved = self.install_and_move("-DFATLINK_BUNDLE_LIBRARIES=ON", "-DCMAKE_INSTALL_LIBDIR=lib/deep")
        for name, path in (("bin/fatlink_program", "$ORIGIN/../lib/deep"),
                           ("libexec/fatlink_linkd", "$ORIGIN/../lib/deep"),
                           ("lib/deep/libfatlink_shared.so", "$ORIGIN")):
            self.assertEqual(self.run_paths(moved / name), [path])
        for name in ("bin/fatlink_program", "libexec/fatlink_linkd"):
            done = self.run_(moved / name,
                             env={"LD_DEBUG": "libs", "LD_LIBRARY_PATH": "/usr/lib/x86_64-linux-gnu"})
            self.assertEqual(done.returncode, 0, done.stdout)
            loaded = {pathlib.Path(line.split(": ")[-1].strip()).resolve()
                      for line in done.stderr.splitlines() if "calling init:" in line}
            self.assertLessEqual({moved / "lib/deep" / library for library in LIBRARIES}, loaded)

    def test_on_installs_the_systems_files_with_their_licences(self):
        self.require_debian()
        moved = self.install_and_move("-DFATLINK_BUNDLE_LIBRARIES=ON")
        beside = sorted(path.name for path in (moved / "lib").iterdir())
        self.assertEqual(beside, sorted([*LIBRARIES, "libfatlink_shared.so"]))
        licences = moved / "share/doc/fatlink-runtime/licenses"
        sources = (licences / "SOURCES.txt").read_text()
        for library in LIBRARIES:
            real = next(path for path in pathlib.Path("/usr/lib").glob(f"*-linux-gnu/{library}"))
            self.assertEqual(digest(moved / "lib" / library), digest(real))
            self.assertIn("icense", (licences / library).read_text())
            self.assertRegex(sources, rf"(?m)^{library}: package \S+ \S+, source \S+ \S+$")
        bundled = re.search("bundled: (.*)", self.said)[1].split(";")
        self.assertEqual(sorted(bundled), LIBRARIES)
        self.assertIn("GNU LESSER GENERAL PUBLIC LICENSE", (licences / "common-licenses/LGPL").read_text())

    def test_misuse(self):
        command = self.configure()
        with (self.folder / "CMakeLists.txt").open("a") as lists:
            lists.write("fatlink_bundle_libraries(all)\n")
        self.assert_refused("fatlink_bundle_libraries: unknown argument: all", *command)

    def test_a_library_without_a_licence_text(self):
        dpkg = self.put("bin/dpkg-query", "#!/bin/sh\nexit 1\n")
        dpkg.chmod(0o755)
        path = f"{dpkg.parent}:{os.environ['PATH']}"
        command = self.configure("-DFATLINK_BUNDLE_LIBRARIES=ON")
        done = self.run_(*command, env={**os.environ, "PATH": path})
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(" ".join(done.stderr.split()),
                         r"libzstd\.so\.[0-9.]+: no licence text was found\. Put it in FOLDER/libzstd\.so\.1 "
                         r"and name the folder with -DFATLINK_BUNDLE_LICENSES=FOLDER\.")
        for library in LIBRARIES:
            self.put(f"texts/{library}", f"the licence of {library}\n")
        self.done(*command, f"-DFATLINK_BUNDLE_LICENSES={self.folder}/texts",
                  env={**os.environ, "PATH": path})


class Wiring(Bundle):
    """fatlink's own build: one only configured, and the tested one."""

    def configure(self, *options):
        return [CMAKE, "-S", SOURCE, "-B", "b", "-G", "Ninja", "-DFATLINK_BUILD_TESTS=OFF",
                "-DFATLINK_BUILD_KERNELS=OFF", f"-DCUDAToolkit_ROOT={TOOLKIT}", *options]

    def test_the_options_reach_fatlinks_own_rules(self):
        if shutil.which("dpkg-query") is None:
            self.skipTest("licence texts are found by Debian's packages")
        licence = self.put("licence.txt", LICENCE)
        self.done(*self.configure("-DFATLINK_BUNDLE_LIBRARIES=ON", "-DFATLINK_BUNDLE_CUDA=nvJitLink",
                                  f"-DFATLINK_CUDA_LICENSE={licence}"))
        ninja = (self.folder / "b/build.ninja").read_text()
        self.assertEqual(ninja.count(r'-Wl,-rpath,"\$$ORIGIN/../lib"'), 2)
        self.assertEqual(ninja.count(r'-Wl,-rpath,"\$$ORIGIN"'), 1)
        self.assertEqual(ninja.count("-Wl,--disable-new-dtags"), 3)
        rules = (self.folder / "b/cmake_install.cmake").read_text()
        for name in ("libnvJitLink.so.13", "CUDA-EULA.txt", *LIBRARIES):
            self.assertIn(f'RENAME "{name}"', rules)

    def test_a_refusal_stops_fatlinks_configuration(self):
        licence = self.put("licence.txt", LICENCE.replace("libnvJitLink.so", ""))
        self.assert_refused("Attachment A of", *self.configure(
            "-DFATLINK_BUNDLE_CUDA=nvJitLink", f"-DFATLINK_CUDA_LICENSE={licence}"))

    def test_without_the_option_no_binary_has_a_run_path(self):
        if "FATLINK_BUNDLE_LIBRARIES:BOOL=ON" in (BUILD / "CMakeCache.txt").read_text():
            self.skipTest("this build bundles libraries")
        for name in ("bin/fatlink", "libexec/fatlink-linkd", "lib/libfatlink.so"):
            self.assertEqual(self.run_paths(BUILD / name), [])


if __name__ == "__main__":
    unittest.main()
