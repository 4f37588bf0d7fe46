# SPDX-License-Identifier: Apache-2.0
"""libfatlink.so exports what the public headers declare, and nothing else."""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

LIBRARIES = pathlib.Path(os.environ["FATLINK_BUILD"]) / "lib"
HEADERS = pathlib.Path(os.environ["FATLINK_SOURCE"]) / "host/include/fatlink"


def output(*words):
    return subprocess.run([str(word) for word in words], text=True, capture_output=True, check=True).stdout


def demangled(names):
    return subprocess.run(["c++filt"], input="\n".join(names), text=True, capture_output=True,
                          check=True).stdout.splitlines()


@unittest.skipIf("fsanitize" in (LIBRARIES.parent / "CMakeCache.txt").read_text(), "the sanitizers' own symbols")
class Exports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        listed = output("nm", "-D", "--defined-only", LIBRARIES / "libfatlink.so").splitlines()
        symbols = dict(line.split()[-1].split("@@") for line in listed if "@@" in line)
        cls.unversioned = [line for line in listed if "@@" not in line and line.split()[-2] != "A"]
        cls.exported = {name for name, version in symbols.items() if version == "FATLINK_CXX"}
        cls.exported_to_c = {name for name, version in symbols.items() if version == "FATLINK_C_1"}

    def test_have_a_version(self):
        self.assertEqual(self.unversioned, [])
        self.assertGreater(len(self.exported_to_c), 90)  # test_c_abi.py has their list

    def test_are_declared_in_a_public_header(self):
        declared = set(re.findall(r"\w+", "\n".join(
            re.sub(r"//[^\n]*", "", header.read_text()) for header in HEADERS.glob("*.hpp"))))
        self.assertGreater(len(self.exported), 100)
        for symbol in demangled(self.exported):
            name = re.sub(r"^(typeinfo|typeinfo name|vtable|VTT) for ", "", symbol)
            found = re.match(r"fatlink::((?:\w+::)*)~?(\w+|operator\W+)", name)
            self.assertIsNotNone(found, symbol)
            for part in (*found[1].split("::")[:-1], found[2]):
                self.assertTrue(part in declared or part.startswith("operator"), symbol)
                self.assertNotIn(part, ("detail", "cpu", "cache", "state"), symbol)

    def test_lack_nothing_that_the_headers_declare(self):
        visible = set()
        for line in output("readelf", "-sW", LIBRARIES / "libfatlink.a").splitlines():
            words = line.split()
            if len(words) == 8 and words[4] in ("GLOBAL", "WEAK") and words[5] == "DEFAULT" and words[6] != "UND":
                visible.add(words[7])
        ours = {symbol for symbol in visible if re.match(r"_Z(T[ISV])?(N[KVr]*)?7fatlink", symbol)}
        self.assertGreater(len(ours), 100)
        self.assertEqual(ours - self.exported, set())

    def test_have_the_versions_soname(self):
        dynamic = output("readelf", "-dW", LIBRARIES / "libfatlink.so")
        version = re.search(r"fatlink VERSION (\d+)\.(\d+)", (HEADERS.parents[2] / "CMakeLists.txt").read_text())
        self.assertIn(f"Library soname: [libfatlink.so.{version[1]}.{version[2]}]", dynamic)

    def test_every_header_of_c_compiles_alone(self):
        for header in HEADERS.rglob("*.h"):
            for compiler, standard, language in (("cc", "c99", "c"), ("cc", "c11", "c"), ("g++", "c++20", "c++")):
                with self.subTest(header=header.name, standard=standard):
                    subprocess.run([compiler, f"-std={standard}", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only",
                                    f"-I{HEADERS.parent}", "-include", header, "-x", language, os.devnull], check=True)

    def test_every_public_header_compiles_alone(self):
        needs_mpi, needs_cufft = HEADERS / "mpi.hpp", HEADERS / "cufft.hpp"
        toolkit = pathlib.Path(os.environ.get("FATLINK_NVCC", "/absent")).parents[1] / "include"
        for header in HEADERS.glob("*.hpp"):
            with self.subTest(header=header.name):
                if header == needs_mpi and shutil.which("mpicxx") is None:
                    self.skipTest("MPI is not installed")
                if header == needs_cufft and not (toolkit / "cufftXt.h").exists():
                    self.skipTest("the CUDA toolkit has no cuFFT")
                compiler = "mpicxx" if header == needs_mpi else "g++"
                folders = [f"-I{HEADERS.parent}", *([f"-isystem{toolkit}"] if header == needs_cufft else [])]
                subprocess.run([compiler, "-std=c++20", "-fsyntax-only", *folders, "-include",
                                header, "-x", "c++", os.devnull], check=True)


if __name__ == "__main__":
    unittest.main()
