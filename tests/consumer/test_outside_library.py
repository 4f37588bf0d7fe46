# SPDX-License-Identifier: Apache-2.0
"""A library that fatlink has never seen (six parameters, a struct by value, two hooks, a state), run by name by the installed
program: by the plan that the library's author ships, with a transform of another author."""
import hashlib
import json
import os
import pathlib
import shutil
import struct
import subprocess
import tarfile
import tempfile
import unittest

from outside_library import install, install_mix, run

BUILD = pathlib.Path(os.environ["FATLINK_BUILD"])
RUN = ("run", "--library", "mix", "--transform", "soft_mix", "--json")


def npy(*values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)},), }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}f", *values)


class OutsideLibrary(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-outside-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.prefix = cls.folder / "fatlink"
        run(os.environ["FATLINK_CMAKE"], "--install", BUILD, "--prefix", cls.prefix)
        cls.before = cls.digests()
        projects = cls.prefix / "share/doc/fatlink/examples"
        doctor = json.loads(run(BUILD / "bin/fatlink", "doctor", "--json"))
        cls.env = {"FATLINK_PATH": install_mix(projects, cls.folder, cls.prefix),
                   "FATLINK_CACHE_DIR": str(cls.folder / "cache"),
                   "FATLINK_NVJITLINK": doctor["nvjitlink"]["path"]}
        cls.devices = ["cpu"] + ["gpu"] * bool(doctor["gpus"])

    @classmethod
    def digests(cls):
        return {file: hashlib.sha256(file.read_bytes()).hexdigest() for file in cls.prefix.rglob("*") if file.is_file()}

    def fatlink(self, *words):
        return json.loads(run(self.prefix / "bin/fatlink", *words, **self.env))

    def test_verifies_in_both_modes_on_each_device(self):
        for device in self.devices:
            with self.subTest(device=device):
                said = self.fatlink(*RUN, "--device", device, "--elements", 100000)
                self.assertEqual(said["devices"][0]["kind"], device)
                self.assertEqual({mode["mode"]: [(result["output"], result["verified"], result["elements"])
                                                 for result in mode["reference"]] for mode in said["modes"]},
                                 {"ptx": [("out", True, 100000)], "lto": [("out", True, 100000)]})
                self.assertEqual([result["verified"] for result in said["between"]], [True])

    def test_gets_the_struct_and_the_state_of_the_user(self):
        (self.folder / "left.npy").write_bytes(npy(1, -8, 0))
        (self.folder / "right.npy").write_bytes(npy(2, 1, 4))
        for device in self.devices:
            with self.subTest(device=device):
                self.fatlink(*RUN, "--device", device, "--input", f"left={self.folder}/left.npy",
                             "--input", f"right={self.folder}/right.npy", "--output", f"out={self.folder}/out.npy",
                             "--set", "factors.left=0.5", "--set", "factors.right=1", "--set", "state.limit=4")
                written = struct.unpack("<3f", (self.folder / "out.npy").read_bytes()[-12:])
                self.assertEqual([round(value, 6) for value in written], [round(8 / 6, 6), -2, 2])

    def alone(self, program, *words):
        """The output of a program that knows of the installed fatlink and of itself only."""
        empty = self.folder / "empty"
        env = {"PATH": os.environ["PATH"], "HOME": str(empty), "XDG_DATA_DIRS": str(empty),
               **{name: self.env[name] for name in ("FATLINK_CACHE_DIR", "FATLINK_NVJITLINK")}}
        done = subprocess.run([program, *words], cwd="/", env=env, text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_its_program_is_moved_and_finds_its_fatbins_and_those_installed_beside_them(self):
        moved = self.folder / "moved"
        for project in ("library", "transform"):
            shutil.copytree(self.folder / f"{project}-installed", moved, dirs_exist_ok=True)
        self.assertEqual(self.alone(moved / "bin/mix_signals", "cpu"), "1.5\n2.25\n3\n")
        # The louder of 0.5 left and 0.25 right, x, is limited to 1: x / (1 + x).
        self.assertEqual(self.alone(moved / "bin/mix_signals", "cpu", "soft_mix"), "0.5\n0.555556\n0.6\n")

    def test_its_program_is_moved_with_fatlink(self):
        both = self.folder / "both"
        shutil.copytree(self.prefix, both, symlinks=True)
        run(os.environ["FATLINK_CMAKE"], "--install", self.folder / "library-build", "--prefix", both)
        away = self.prefix.rename(self.folder / "away")
        self.addCleanup(away.rename, self.prefix)
        self.assertEqual(self.alone(both / "bin/mix_signals", "cpu"), "1.5\n2.25\n3\n")
        self.assertIn("linear_mix", self.alone(both / "bin/fatlink", "list", "--names"))

    def cpack(self, kind, project="library"):
        return subprocess.run([pathlib.Path(shutil.which(os.environ["FATLINK_CMAKE"])).with_name("cpack"), "--config",
                               self.folder / f"{project}-build/CPackConfig.cmake", "-G", kind, "-B", self.folder / "packages"],
                              text=True, capture_output=True)

    def test_a_deb_may_hold_a_link_to_a_file_of_another_package(self):
        if shutil.which("dpkg-deb") is None:
            self.skipTest("dpkg-deb is not installed")
        project = self.folder / "linked"
        project.mkdir()
        shutil.copy(self.prefix / "share/doc/fatlink/examples/library/LICENSE", project)
        (project / "CMakeLists.txt").write_text("""cmake_minimum_required(VERSION 3.25)
project(linked VERSION 1.0 LANGUAGES NONE)
find_package(fatlink REQUIRED)
install(CODE [[
  file(MAKE_DIRECTORY "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib")
  file(CREATE_LINK libelsewhere.so.1 "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib/libelsewhere.so" SYMBOLIC)
]] COMPONENT main)
fatlink_add_package(linked COMPONENT main ANY_ARCHITECTURE SUMMARY "a link")
""")
        install(project, self.folder, [self.prefix])
        done = self.cpack("DEB", "linked")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        deb, = (self.folder / "packages").glob("linked*.deb")
        self.assertIn("lib/libelsewhere.so -> libelsewhere.so.1", run("dpkg-deb", "-c", deb))

    def test_its_package_has_the_program_the_fatbins_and_the_contract(self):
        done = self.cpack("TGZ")
        self.assertEqual(done.returncode, 0, done.stderr)
        archive, = (self.folder / "packages").glob("mix-2.1-*.tar.gz")
        with tarfile.open(archive) as opened:
            names = {name.partition("/")[2] for name in opened.getnames()}
        share = {f"share/fatlink/{name}" for name in ("mix.fatbin", "mix.json", "linear_mix.fatbin", "linear_mix.json",
                                                      "contracts/mix.json", "contracts/mix/mix.cuh")}
        self.assertEqual({"bin/mix_signals", *share} - names, set())

    def test_a_package_for_every_architecture_refuses_programs_and_takes_cubins(self):
        project = self.folder / "any"
        project.mkdir()
        (project / "cubin").write_bytes(b"\x7fELF\x02\x01\x01".ljust(18, b"\0") + b"\xbe\0")
        (project / "CMakeLists.txt").write_text(f"""cmake_minimum_required(VERSION 3.25)
project(any VERSION 1.0 LANGUAGES NONE)
find_package(fatlink REQUIRED)
install(FILES cubin DESTINATION share COMPONENT main)
if(WITH_PROGRAM)
  install(PROGRAMS {self.prefix}/bin/fatlink DESTINATION bin COMPONENT main)
endif()
file(WRITE "${{CMAKE_CURRENT_SOURCE_DIR}}/LICENSE" "free")
fatlink_add_package(any COMPONENT main ANY_ARCHITECTURE SUMMARY "data")
""")
        install(project, self.folder, [self.prefix])
        done = self.cpack("TGZ", "any")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        install(project, self.folder, [self.prefix], "-DWITH_PROGRAM=ON")
        done = self.cpack("TGZ", "any")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("bin/fatlink is code for the host's processor, and the package is ANY_ARCHITECTURE",
                      " ".join(done.stderr.split()))

    def test_a_deb_of_a_program_with_the_static_library_warns_unless_it_depends_on_the_helper(self):
        if shutil.which("dpkg-shlibdeps") is None:
            self.skipTest("dpkg-shlibdeps is not installed")
        project = self.folder / "static"
        project.mkdir()
        (project / "LICENSE").write_text("free")
        (project / "main.cpp").write_text("#include <fatlink/linker.hpp>\n"
                                          "int main() { (void)fatlink::linker().link(std::vector<fatlink::input>(), {}); }\n")
        (project / "CMakeLists.txt").write_text("""cmake_minimum_required(VERSION 3.25)
project(static VERSION 1.0 LANGUAGES CXX)
find_package(fatlink REQUIRED)
add_executable(main main.cpp)
target_link_libraries(main PRIVATE fatlink::static)
install(TARGETS main COMPONENT main)
fatlink_add_package(static-main COMPONENT main DEB_DEPENDS ${DEPENDS} SUMMARY "a program")
""")
        for depends, warns in (("libc6", True), ("fatlink-runtime", False)):
            with self.subTest(depends=depends):
                install(project, self.folder, [self.prefix], f"-DDEPENDS={depends}")
                done = self.cpack("DEB", "static")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIs("main is linked with fatlink::static" in " ".join(done.stderr.split()), warns, done.stderr)

    def test_a_deb_of_the_program_needs_one_of_the_library(self):
        if shutil.which("dpkg-query") is None:
            self.skipTest("dpkg-query is not installed")
        if subprocess.run(["dpkg-query", "-S", "*/libfatlink.so.*"], capture_output=True).returncode == 0:
            self.skipTest("a package of this machine has libfatlink")
        done = self.cpack("DEB")
        self.assertNotEqual(done.returncode, 0)
        said = " ".join(done.stderr.split())
        self.assertRegex(said, r"usr/bin/mix_signals is linked with libfatlink\.so\.[0-9.]+, which is in no Debian package")
        self.assertIn("or link with fatlink::static", said)
        self.assertIn("cpack -G TGZ", said)

    def test_rebuilds_nothing_of_fatlink(self):
        self.fatlink(*RUN, "--device", "cpu")
        self.assertEqual(self.digests(), self.before)


if __name__ == "__main__":
    unittest.main()
