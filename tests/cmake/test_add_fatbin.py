# SPDX-License-Identifier: Apache-2.0
"""fatlink_add_contract and fatlink_add_fatbin in an outsider's project."""
import base64
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
PROGRAM = pathlib.Path(os.environ["FATLINK_BUILD"]) / "bin" / "fatlink"
CMAKE = os.environ["FATLINK_CMAKE"]
NVCC = os.environ["FATLINK_NVCC"]

HEAD = f"""
cmake_minimum_required(VERSION 3.25)
project(outsider NONE)
set(CUDAToolkit_NVCC_EXECUTABLE "{NVCC}")
set(CUDAToolkit_VERSION 13.0.88)
list(APPEND CMAKE_MODULE_PATH "{SOURCE}/cmake")
include(FatlinkAddContract)
include(FatlinkAddFatbin)
add_executable(fatlink::program IMPORTED)
set_target_properties(fatlink::program PROPERTIES IMPORTED_LOCATION "{PROGRAM}")
"""
HEADER = 'extern "C" __device__ float hook(float);\n'
TRANSFORM = 'extern "C" __device__ float hook(float x) { return 2 * x; }\n'


class BuildSide(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-cmake-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.write("hook.cuh", HEADER)
        self.write("t.cu", TRANSFORM)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def cmake(self, *words):
        return subprocess.run([CMAKE, *words], cwd=self.folder, text=True, capture_output=True)

    def configure(self, lists, *options):
        self.write("CMakeLists.txt", HEAD + lists)
        return self.cmake("-S", ".", "-B", "b", *options)

    def build(self):
        return self.cmake("--build", "b")

    def built(self, lists, *options):
        done = self.configure(lists, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.build()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def entries(self, name="t"):
        done = subprocess.run([PROGRAM, "inspect", "--json", f"b/{name}.fatbin"], cwd=self.folder,
                              text=True, capture_output=True, check=True)
        return json.loads(done.stdout)["files"][0]["entries"]


CONTRACT = "fatlink_add_contract(c VERSION 3 HEADER hook.cuh)\n"
FATBIN = CONTRACT + "fatlink_add_fatbin(t SOURCES t.cu CONTRACT c)\n"


class Builds(BuildSide):
    def assert_incremental(self, generator):
        self.write("extra.cuh", "#define FACTOR 2\n")
        self.write("u.cu", '#include "extra.cuh"\n' + TRANSFORM.replace("2", "FACTOR"))
        self.built(FATBIN + "fatlink_add_fatbin(u SOURCES u.cu CONTRACT c)\n", "-G", generator)
        stamp = lambda name: (self.folder / f"b/{name}.fatbin").stat().st_mtime_ns
        first = stamp("t"), stamp("u")
        self.assertNotIn("Compiling device code", self.build().stdout)
        self.assertEqual((stamp("t"), stamp("u")), first)
        time.sleep(1.1)  # Make compares whole seconds on some file systems
        self.write("hook.cuh", HEADER + "// changed\n")
        self.assertEqual(self.build().returncode, 0)
        second = stamp("t"), stamp("u")
        self.assertTrue(second[0] > first[0] and second[1] > first[1], "the contract's header is included by both")
        time.sleep(1.1)
        self.write("extra.cuh", "#define FACTOR 3\n")
        self.assertEqual(self.build().returncode, 0)
        self.assertEqual(stamp("t"), second[0])
        self.assertGreater(stamp("u"), second[1])
        self.assertNotIn("Compiling device code", self.build().stdout)

    def test_rebuilds_what_includes_a_changed_header_and_nothing_else_with_ninja(self):
        self.assert_incremental("Ninja")

    def test_rebuilds_what_includes_a_changed_header_and_nothing_else_with_make(self):
        self.assert_incremental("Unix Makefiles")

    def test_every_entry_says_how_it_was_built(self):
        self.built(FATBIN.replace(")\n", " OPTIONS -use_fast_math)\n", 2).replace("hook.cuh OPTIONS -use_fast_math", "hook.cuh"))
        for entry in self.entries():
            self.assertEqual(entry["ident"], {
                "contract": "c", "version": 3, "toolkit": "13.0.88",
                "header_sha256": hashlib.sha256(HEADER.encode()).hexdigest(),
                "float": "-ftz=1 -prec_div=0 -prec_sqrt=0 -fmad=1"})
            if entry["kind"] == "ltoir":
                self.assertEqual(entry["float_flags"], entry["ident"]["float"])

    def test_several_architectures(self):
        self.built(CONTRACT + "fatlink_add_fatbin(t SOURCES t.cu ARCHITECTURES 75 90a)")
        self.assertEqual(sorted((e["kind"], e["target"]) for e in self.entries()),
                         [("ltoir", "sm_75"), ("ltoir", "sm_90a"), ("ptx", "sm_75"), ("ptx", "sm_90a")])

    def test_the_reference_lies_beside_the_fatbin_under_its_name(self):
        self.write("r.json", "{}")
        self.built(CONTRACT + "fatlink_add_fatbin(x SOURCES t.cu CONTRACT c REFERENCE r.json OUTPUT_NAME y)")
        self.assertTrue((self.folder / "b/y.json").exists())
        self.assertTrue((self.folder / "b/y.fatbin").exists())

    def test_a_transform_of_the_wrong_type_does_not_compile(self):
        self.write("t.cu", TRANSFORM.replace("float", "double"))
        self.assertEqual(self.configure(FATBIN).returncode, 0)
        done = self.build()
        self.assertNotEqual(done.returncode, 0)
        self.assertFalse((self.folder / "b/t.fatbin").exists())

    def test_against_another_version_of_the_contract_it_links_in_no_mode(self):
        types = {"dd": ("double", "double x"), "ff": ("float", "float x, float y"), "ii": ("int", "int x"),
                 "fp": ("float", "float const* x"), "vf": ("void", "float x"), "f0": ("float", ""),
                 "same": ("float", "float x")}
        lists = ""
        for name, (result, parameters) in types.items():
            self.write(f"{name}.cuh", f'extern "C" __device__ {result} user_transform({parameters});\n')
            self.write(f"{name}.cu", f'extern "C" __device__ {result} user_transform({parameters}) '
                       f'{{ {"" if result == "void" else "return {};"} }}\n')
            lists += f"fatlink_add_contract({name} VERSION 2 HEADER {name}.cuh)\n"
            lists += f"fatlink_add_fatbin({name}_fatbin OUTPUT_NAME {name} SOURCES {name}.cu CONTRACT {name})\n"
        self.built(lists)
        library = PROGRAM.parent.parent / "share" / "fatlink" / "apply_transform.fatbin"
        for name in types:
            for mode in ("ptx", "lto"):
                done = subprocess.run([PROGRAM, "link", "--target", "sm_90", "--mode", mode, "-o", "o.cubin",
                                       library, f"b/{name}.fatbin"], cwd=self.folder, text=True, capture_output=True)
                self.assertEqual(done.returncode, 4, done.stderr)
                self.assertIn("[contract-mismatch]", done.stderr)
                self.assertIn(f"{name}/2", done.stderr)

    def test_a_missing_entry_fails_the_build(self):
        self.write("nvcc", f'#!/bin/sh\nexec "{NVCC}" $(echo "$@" | sed "s/code=.compute_75,lto_75./code=lto_75/")\n')
        (self.folder / "nvcc").chmod(0o755)
        done = self.configure(f'set(CUDAToolkit_NVCC_EXECUTABLE "{self.folder}/nvcc")\n' + FATBIN)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.build()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("holds no ptx:sm_75 entry", done.stdout + done.stderr)
        self.assertFalse((self.folder / "b/t.fatbin").exists())

    def test_base64_of_every_length(self):
        for length in range(9):
            text = "{\"abcdefg"[:length]
            self.write("b.cmake", f'include("{SOURCE}/cmake/detail/base64.cmake")\n'
                       f"fatlink_base64([=[{text}]=] out)\nmessage(\"${{out}}\")")
            self.assertEqual(self.cmake("-P", "b.cmake").stderr.strip(), base64.b64encode(text.encode()).decode())


class Misuse(BuildSide):
    def assert_stops(self, lists, says):
        done = self.configure(lists)
        self.assertNotEqual(done.returncode, 0, lists)
        self.assertIn(says, " ".join(done.stderr.split()))

    def test_of_fatlink_add_fatbin_names_the_target(self):
        for arguments, says in (
                ("", "fatlink_add_fatbin(t): SOURCES takes one file, not 0"),
                ("SOURCES t.cu u.cu", "fatlink_add_fatbin(t): SOURCES takes one file, not 2"),
                ("SOURCES none.cu", "none.cu: no such file"),
                ("SOURCES t.cu NONSENSE 1", "fatlink_add_fatbin(t): SOURCES takes one file, not 3"),
                ("NONSENSE SOURCES t.cu", "fatlink_add_fatbin(t): unknown argument: NONSENSE"),
                ("SOURCES t.cu CONTRACT other", "fatlink_add_fatbin(t): CONTRACT other is not known"),
                ("SOURCES t.cu ARCHITECTURES sm_90", "fatlink_add_fatbin(t): ARCHITECTURES sm_90"),
                ("SOURCES t.cu ARCHITECTURES 70", "CUDA 13 begins at 75"),
                ("SOURCES t.cu REFERENCE none.json", "none.json: no such file"),
                ("SOURCES t.cu OPTIONS -arch=sm_90", "fatlink_add_fatbin(t): OPTIONS -arch=sm_90 is not allowed"),
                ("SOURCES t.cu OPTIONS -G", "OPTIONS -G is not allowed"),
                ("SOURCES t.cu CONTRACT", "fatlink_add_fatbin(t): no value for CONTRACT")):
            with self.subTest(arguments=arguments):
                self.assert_stops(CONTRACT + f"fatlink_add_fatbin(t {arguments})", says)

    def test_of_fatlink_add_contract_names_it(self):
        for arguments, says in (
                ("c HEADER hook.cuh", "fatlink_add_contract(c): VERSION must be a positive integer"),
                ("c VERSION 0 HEADER hook.cuh", "not '0'"),
                ("c VERSION 1", "fatlink_add_contract(c): HEADER is missing"),
                ("c VERSION 1 HEADER none.cuh", "none.cuh: no such file"),
                ("c-d VERSION 1 HEADER hook.cuh", "letters, digits and underscores"),
                ("c VERSION 1 HEADER hook.cuh MORE", "unknown argument: MORE")):
            with self.subTest(arguments=arguments):
                self.assert_stops(f"fatlink_add_contract({arguments})", says)


class Configuration(unittest.TestCase):
    def test_a_missing_dependency_stops_it_with_the_packages_name(self):
        for package, debian in (("muparser", "libmuparser-dev"), ("CLI11", "libcli11-dev"),
                                ("nlohmann_json", "nlohmann-json3-dev"), ("CUDAToolkit", "CUDA Toolkit 13")):
            with self.subTest(package=package), tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([CMAKE, "-S", SOURCE, "-B", folder, f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON"],
                                      text=True, capture_output=True)
                self.assertNotEqual(done.returncode, 0)
                said = " ".join(done.stderr.split())
                self.assertIn(f"{package} was not found", said)
                self.assertIn(debian, said)
