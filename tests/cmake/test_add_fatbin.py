# SPDX-License-Identifier: Apache-2.0
"""fatlink_add_contract and fatlink_add_fatbin in an outsider's project."""
import base64
import hashlib
import json
import os
import pathlib
import re
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
include(FatlinkAddCacheLayer)
include(FatlinkAddPackage)
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
                "float": "-ftz=1 -prec_div=0 -prec_sqrt=0 -fmad=1",
                "package": "outsider", "contract_package": "outsider", "format": 1,
                "hooks": {"hook": "float hook(float)"}})
            if entry["kind"] == "ltoir":
                self.assertEqual(entry["float_flags"], entry["ident"]["float"])

    def inspected(self):
        done = subprocess.run([PROGRAM, "inspect", "--json", "b/t.fatbin"], cwd=self.folder, text=True, capture_output=True)
        return done.returncode, json.loads(done.stdout)["files"][0]

    def test_a_fatbin_without_its_json_is_verified_by_digests(self):
        self.built(CONTRACT + "fatlink_add_fatbin(t SOURCES t.cu CONTRACT c ARCHITECTURES 75 90a)")
        (self.folder / "b/t.json").unlink()
        status, shown = self.inspected()
        self.assertEqual((status, shown["verified"]), (0, True))
        self.assertLess(max(len(part) for part in (self.folder / "b/t.fatbin").read_bytes().split(b"\0")), 2048)

    def test_a_flipped_bit_of_any_entry_is_noticed_without_the_json(self):
        self.built(FATBIN)
        (self.folder / "b/t.json").unlink()
        file = self.folder / "b/t.fatbin"
        content = file.read_bytes()
        for entry in self.entries():
            damaged = bytearray(content)
            damaged[entry["offset"] + 0x2C] ^= 1  # of its flags
            file.write_bytes(damaged)
            status, shown = self.inspected()
            self.assertEqual((status, shown["verified"]), (3, False))
            self.assertIn(f"the {entry['kind']}:sm_75 entry at byte {entry['offset']} does not have the bytes", shown["damage"])
            file.write_bytes(content)

    def test_an_entry_names_its_package_and_that_of_its_contract(self):
        self.built("fatlink_add_contract(c VERSION 3 HEADER hook.cuh PACKAGE libc-gpu PACKAGE_VERSION 3.1)\n"
                   "fatlink_add_fatbin(t SOURCES t.cu CONTRACT c PACKAGE my-transforms PACKAGE_VERSION 1.0~rc1)\n")
        for entry in self.entries():
            self.assertEqual(entry["ident"]["package"], "my-transforms 1.0~rc1")
            self.assertEqual(entry["ident"]["contract_package"], "libc-gpu 3.1")

    def test_is_the_same_bytes_in_any_folder(self):
        made = []
        for options in ("", " OPTIONS -use_fast_math"):
            for folder in (self.folder, self.folder / "a longer/path"):
                # What is private to a source is named after its path.
                (self.folder / "t.cu").write_text("#include \"more.cuh\"\n" + TRANSFORM.replace("2 * x", "more(x)"))
                (self.folder / "hook.cuh").write_text(HEADER + "static __device__ const char* file() { return __FILE__; }\n")
                (self.folder / "more.cuh").write_text("namespace { __device__ __noinline__ float more(float x) "
                                                      "{ static float sum; return sum += 2 * x + file()[5]; } }\n")
                (folder / "sub").mkdir(parents=True, exist_ok=True)
                for name in ("hook.cuh", "t.cu", "more.cuh"):
                    if folder != self.folder:
                        shutil.copy(self.folder / name, folder)
                (folder / "CMakeLists.txt").write_text(
                    HEAD + FATBIN.replace("CONTRACT c)", f"CONTRACT c{options})"))
                for words in (("-S", ".", "-B", "b"), ("--build", "b")):
                    done = subprocess.run([CMAKE, *words], cwd=folder, text=True, capture_output=True)
                    self.assertEqual(done.returncode, 0, done.stderr)
                made.append((folder / "b/t.fatbin").read_bytes())
        self.assertEqual(made[0], made[1])
        self.assertEqual(made[2], made[3])
        self.assertNotEqual(made[0], made[2])

    def test_is_the_same_bytes_with_a_toolkit_in_the_project(self):
        said = subprocess.run([NVCC, "-v", "__dummy"], text=True, capture_output=True).stderr
        toolkit = pathlib.Path(re.search(r"TOP=(.+)", said).group(1)).resolve()
        made = []
        for folder in (self.folder, self.folder / "a longer/path"):
            (folder / "sub").mkdir(parents=True, exist_ok=True)
            (folder / "toolkit").symlink_to(toolkit)
            (folder / "hook.cuh").write_text(HEADER)
            (folder / "sub/t.cu").write_text(TRANSFORM.replace("2 * x", "x * threadIdx.x + __shfl_sync(~0u, x, 1)"))
            (folder / "CMakeLists.txt").write_text(
                HEAD.replace(NVCC, f"{folder}/toolkit/bin/nvcc") + FATBIN.replace("t.cu", "sub/t.cu"))
            for words in (("-S", ".", "-B", "b", "-G", "Ninja"), ("--build", "b"), ("--build", "b")):
                done = subprocess.run([CMAKE, *words], cwd=folder, text=True, capture_output=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertNotIn("Compiling device code", done.stdout)
            made.append((folder / "b/t.fatbin").read_bytes())
        self.assertEqual(made[0], made[1])

    def test_in_a_folder_with_a_space_a_second_build_does_nothing(self):
        place = self.folder / "a longer/path"
        place.mkdir(parents=True)
        for name in ("hook.cuh", "t.cu"):
            shutil.copy(self.folder / name, place)
        (place / "CMakeLists.txt").write_text(HEAD + FATBIN.replace("CONTRACT c)", "CONTRACT c OPTIONS \"-DNAME=\\\"x y\\\"\")"))
        run = lambda *words: subprocess.run([CMAKE, *words], cwd=place, text=True, capture_output=True)
        self.assertEqual(run("-S", ".", "-B", "b", "-G", "Ninja").returncode, 0)
        first, second = run("--build", "b"), run("--build", "b")
        self.assertIn("Compiling device code", first.stdout, first.stdout + first.stderr)
        self.assertNotIn("Compiling device code", second.stdout)
        time.sleep(1.1)
        (place / "hook.cuh").write_text(HEADER + "// changed\n")
        self.assertIn("Compiling device code", run("--build", "b").stdout)

    def test_nvccs_errors_name_the_real_file(self):
        self.write("t.cu", "nonsense;\n")
        self.assertEqual(self.configure(FATBIN).returncode, 0)
        done = self.build()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"{self.folder}/t.cu(1): error", done.stdout + done.stderr)

    def test_lines_for_a_debugger_are_of_the_real_file(self):
        self.built(FATBIN.replace("CONTRACT c)", "CONTRACT c OPTIONS -lineinfo -Xfatbin --compress-mode=none)"))
        self.assertIn(f"{self.folder}/t.cu".encode(), (self.folder / "b/t.fatbin").read_bytes())

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
            self.write("b.cmake", f'include("{SOURCE}/cmake/detail/fatbin/base64.cmake")\n'
                       f"fatlink_base64([=[{text}]=] out)\nmessage(\"${{out}}\")")
            self.assertEqual(self.cmake("-P", "b.cmake").stderr.strip(), base64.b64encode(text.encode()).decode())


class Misuse(BuildSide):
    def assert_stops(self, lists, says):
        done = self.configure(lists)
        self.assertNotEqual(done.returncode, 0, lists)
        self.assertIn(says, " ".join(done.stderr.split()))

    def test_no_nvcc(self):
        no_nvcc = 'set(CUDAToolkit_NVCC_EXECUTABLE "")\n'
        self.assert_stops(no_nvcc + FATBIN, "fatlink_add_fatbin(t): no nvcc was found")
        layer = "fatlink_add_cache_layer(links LIBRARY a.fatbin TRANSFORMS b.fatbin)\n"
        for name in ("a", "b"):
            self.write(f"{name}.fatbin", "")
        self.assert_stops(no_nvcc + layer, "fatlink_add_cache_layer(links): no nvcc was found")

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
                ("SOURCES t.cu PACKAGE a/b", "fatlink_add_fatbin(t): PACKAGE 'a/b'"),
                ("SOURCES t.cu PACKAGE a PACKAGE_VERSION new", "fatlink_add_fatbin(t): PACKAGE_VERSION 'new'"),
                ("SOURCES t.cu PACKAGE_VERSION 1", "PACKAGE_VERSION 1 without PACKAGE"),
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
                ("c VERSION 1 HEADER hook.cuh PACKAGE é", "fatlink_add_contract(c): PACKAGE 'é'"),
                ("c VERSION 1 HEADER hook.cuh MORE", "unknown argument: MORE")):
            with self.subTest(arguments=arguments):
                self.assert_stops(f"fatlink_add_contract({arguments})", says)

    def test_of_a_contract_that_would_be_installed_without_what_it_includes(self):
        self.write("more.cuh", "#pragma once\n")
        self.write("hook.cuh", '#include "more.cuh"\n' + HEADER)
        self.assert_stops(CONTRACT.replace(")", " INSTALL_DESTINATION c)"), "would be installed without what it includes")
        self.assertEqual(self.configure(CONTRACT).returncode, 0)

    def test_of_one_contract_declared_twice(self):
        self.assert_stops(2 * CONTRACT, "fatlink_add_contract(c): is declared already")

    def test_of_fatlink_add_cache_layer_names_the_target(self):
        for arguments, says in (
                ("", "fatlink_add_cache_layer(l): LIBRARY and TRANSFORMS are needed"),
                ("LIBRARY t", "LIBRARY and TRANSFORMS are needed"),
                ("LIBRARY t TRANSFORMS none.fatbin", "none.fatbin: no such target or file"),
                ("LIBRARY fatlink_contract_c TRANSFORMS t", "is no target of fatlink_add_fatbin"),
                ("LIBRARY t TRANSFORMS t ARCHITECTURES sm_90", "fatlink_add_cache_layer(l): ARCHITECTURES sm_90"),
                ("NONSENSE LIBRARY t TRANSFORMS t", "fatlink_add_cache_layer(l): unknown argument: NONSENSE")):
            with self.subTest(arguments=arguments):
                self.assert_stops(FATBIN + f"fatlink_add_cache_layer(l {arguments})", says)

    def test_of_fatlink_add_package_names_the_package(self):
        for arguments, says in (
                ("p COMPONENT c", "fatlink_add_package(p): SUMMARY is missing"),
                ("p SUMMARY s", "fatlink_add_package(p): COMPONENT is missing"),
                ("P_ COMPONENT c SUMMARY s", "a package's name is lower-case"),
                ("pp COMPONENT c SUMMARY s", "the project has no VERSION"),
                ("pp NONSENSE COMPONENT c SUMMARY s", "fatlink_add_package(pp): unknown argument: NONSENSE")):
            with self.subTest(arguments=arguments):
                self.assert_stops(f"fatlink_add_package({arguments})", says)
        done = self.configure('set(PROJECT_VERSION 1)\nfatlink_add_package(pp COMPONENT c SUMMARY "a; b [x")\n')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("there is no LICENSE", " ".join(done.stderr.split()))
        self.assertIn("set(SUMMARY [==[a; b [x]==])", (self.folder / "b/packages/pp.cmake").read_text())
        self.assert_stops("set(PROJECT_VERSION 1)\n" + 2 * "fatlink_add_package(pp COMPONENT c SUMMARY s)\n",
                          "the component c is a package already")
        for arguments, says in (
                ("pp COMPONENT c SUMMARY s CONTRACTS other", "fatlink_add_package(pp): the contract other is not known"),
                ("pp COMPONENT c SUMMARY s LICENSE none", "none: no such file")):
            with self.subTest(arguments=arguments):
                self.assert_stops(f"set(PROJECT_VERSION 1)\nfatlink_add_package({arguments})", says)


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
