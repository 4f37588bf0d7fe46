# SPDX-License-Identifier: Apache-2.0
"""Shipped binaries are compiled and linked with hardening options: read from the binaries by readelf, and by
hardening-check (Debian's devscripts) where it is installed."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["FATLINK_BUILD"])
CACHE = (BUILD / "CMakeCache.txt").read_text()
PROGRAMS = [BUILD / "bin/fatlink", BUILD / "libexec/fatlink-linkd"]
LIBRARY = BUILD / "lib/libfatlink.so"
SHIPPED = [*PROGRAMS, LIBRARY]
ARCHITECTURE = {62: "x86_64", 183: "aarch64"}[int.from_bytes(LIBRARY.read_bytes()[18:20], "little")]


def readelf(*words):
    return subprocess.run(["readelf", *map(str, words)], text=True, capture_output=True, check=True,
                          env={**os.environ, "LC_ALL": "C"}).stdout


@unittest.skipIf("fsanitize" in CACHE, "sanitizers exclude hardening options")
@unittest.skipIf("FATLINK_HARDENING:BOOL=OFF" in CACHE, "FATLINK_HARDENING is off")
class Hardening(unittest.TestCase):
    def undefined(self, file):
        """The functions that a file calls in other files."""
        return set(re.findall(r"UND ([A-Za-z_]\w*)", readelf("-W", "--dyn-syms", file)))

    def test_programs_are_position_independent(self):
        for file in PROGRAMS:
            with self.subTest(file=file.name):
                self.assertRegex(readelf("-hW", file), r"Type: +DYN")
                self.assertIn("PIE", readelf("-dW", file))

    def test_functions_have_stack_protectors(self):
        for file in SHIPPED:
            with self.subTest(file=file.name):
                self.assertIn("__stack_chk_fail", self.undefined(file))

    @unittest.skipUnless(re.search(r"CMAKE_BUILD_TYPE:\w+=(Release|RelWithDebInfo|MinSizeRel)\n", CACHE),
                         "_FORTIFY_SOURCE needs an optimized build")
    def test_functions_of_the_c_library_are_fortified(self):
        for file in SHIPPED:
            with self.subTest(file=file.name):
                checked = [name for name in self.undefined(file) if re.fullmatch(r"__\w+_chk", name)]
                self.assertGreater(len(checked), 0)

    def test_relocations_are_read_only_and_bound_at_start(self):
        for file in SHIPPED:
            with self.subTest(file=file.name):
                self.assertIn("GNU_RELRO", readelf("-lW", file))
                self.assertRegex(readelf("-dW", file), r"\(FLAGS_1\).*\bNOW\b")

    def test_the_stack_is_not_executable(self):
        for file in SHIPPED:
            with self.subTest(file=file.name):
                self.assertRegex(readelf("-lW", file), r"GNU_STACK .* RW ")

    @unittest.skipIf(ARCHITECTURE != "aarch64", "of AArch64")
    def test_return_addresses_are_signed(self):
        for file in SHIPPED:
            with self.subTest(file=file.name):
                # paciasp in hexadecimal, in the order of memory. It is also the landing pad of a function.
                self.assertGreater(file.read_bytes().count(bytes.fromhex("3f2303d5")), 1000)

    @unittest.skipIf(ARCHITECTURE != "x86_64", "of x86-64")
    def test_control_flow_protection_is_stated(self):
        for file in SHIPPED:
            with self.subTest(file=file.name):
                self.assertRegex(readelf("-nW", file), r"x86 feature: IBT, SHSTK")

    @unittest.skipIf(ARCHITECTURE != "x86_64", "of x86-64")
    def test_what_the_loader_jumps_to_are_landing_pads(self):
        for file in SHIPPED:
            with self.subTest(file=file.name):
                entries = re.findall(r"\((?:INIT|FINI)\)\s+0x([0-9a-f]+)", readelf("-dW", file))
                if file in PROGRAMS:
                    entries += re.findall(r"Entry point address:\s+0x([0-9a-f]+)", readelf("-hW", file))
                self.assertGreaterEqual(len(entries), 2)
                for entry in entries:
                    code = subprocess.run(["objdump", "-d", f"--start-address=0x{entry}",
                                           f"--stop-address={int(entry, 16) + 4}", file], text=True, capture_output=True)
                    self.assertIn("endbr64", code.stdout)

    def test_hardening_check_finds_nothing(self):
        if shutil.which("hardening-check") is None:
            self.skipTest("hardening-check (package devscripts) is not installed")
        done = subprocess.run(["hardening-check", *SHIPPED], text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertNotRegex(done.stdout.replace("no, regular shared library", ""), r": no\b")


class Options(unittest.TestCase):
    """fatlink's own build, configured without a preset, as users do."""

    def test_a_plain_configuration_has_no_warnings_as_errors_and_hardening_can_be_turned_off(self):
        with tempfile.TemporaryDirectory(prefix="fatlink-plain-") as folder:
            toolkit = pathlib.Path(os.environ["FATLINK_NVCC"]).parent.parent
            subprocess.run([os.environ["FATLINK_CMAKE"], "-S", os.environ["FATLINK_SOURCE"], "-B", folder, "-G", "Ninja",
                            "-DFATLINK_BUILD_TESTS=OFF", "-DFATLINK_BUILD_KERNELS=OFF", f"-DCUDAToolkit_ROOT={toolkit}",
                            "-DFATLINK_HARDENING=OFF"], check=True, capture_output=True)
            rules = (pathlib.Path(folder) / "build.ninja").read_text()
        self.assertIn("-Wall", rules)
        self.assertNotIn("-Werror", rules)
        for option in ("-fstack-protector", "FORTIFY_SOURCE", "-fcf-protection", "relro", "landing_pads"):
            self.assertNotIn(option, rules)


if __name__ == "__main__":
    unittest.main()
