# SPDX-License-Identifier: Apache-2.0
"""fatlink_add_contract and fatlink_add_fatbin in an outsider's project."""
import base64
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from build_side import (CMAKE, CONTRACT, FATBIN, HEAD, HEADER, NVCC, PROGRAM, SOURCE, TRANSFORM, BuildSide, plain,
                        wait_for_another_time, without_kept_outputs)
from run_tests import long_test


class Builds(BuildSide):
    def assert_incremental(self, generator):
        self.write("extra.cuh", "#define FACTOR 2\n")
        self.write("u.cu", '#include "extra.cuh"\n' + TRANSFORM.replace("2", "FACTOR"))
        self.built(FATBIN + "fatlink_add_fatbin(u SOURCES u.cu CONTRACT c)\n", "-G", generator)
        stamp = lambda name: (self.folder / f"b/{name}.fatbin").stat().st_mtime_ns
        first = stamp("t"), stamp("u")
        self.assertNotIn("Compiling device code", self.build().stdout)
        self.assertEqual((stamp("t"), stamp("u")), first)
        wait_for_another_time(generator)
        self.write("hook.cuh", HEADER + "// changed\n")
        self.assertEqual(self.build().returncode, 0)
        second = stamp("t"), stamp("u")
        self.assertTrue(second[0] > first[0] and second[1] > first[1], "the contract's header is included by both")
        wait_for_another_time(generator)
        self.write("extra.cuh", "#define FACTOR 3\n")
        self.assertEqual(self.build().returncode, 0)
        self.assertEqual(stamp("t"), second[0])
        self.assertGreater(stamp("u"), second[1])
        self.assertNotIn("Compiling device code", self.build().stdout)

    def test_rebuilds_what_includes_a_changed_header_and_nothing_else_with_ninja(self):
        self.assert_incremental("Ninja")

    @long_test  # the test above has Ninja
    def test_rebuilds_what_includes_a_changed_header_and_nothing_else_with_make(self):
        self.assert_incremental("Unix Makefiles")

    def assert_made_files_are_used(self, generator):
        """The header of a contract, a source by its path, another one by its name, and a reference."""
        self.write("reference.in", '{"name": "s", "summary": "s"}')
        made = "".join(f"add_custom_command(OUTPUT {made} COMMAND ${{CMAKE_COMMAND}} -E copy ${{CMAKE_SOURCE_DIR}}/{source} {made} "
                       f"DEPENDS {source})\n" for made, source in (("made.cuh", "hook.cuh"), ("a.cu", "t.cu"), ("made/b.cu", "t.cu"),
                                                                ("b.json", "reference.in")))
        self.built(made + "fatlink_add_contract(c VERSION 3 HEADER made.cuh)\n"
                   "fatlink_add_fatbin(t SOURCES ${CMAKE_CURRENT_BINARY_DIR}/a.cu CONTRACT c)\n"
                   "fatlink_add_fatbin(s SOURCES made/b.cu CONTRACT c REFERENCE b.json)\n", "-G", generator)
        first = (self.folder / "b/s.fatbin").read_bytes()
        self.assertNotIn("Compiling device code", self.build().stdout)
        wait_for_another_time(generator)
        self.write("t.cu", TRANSFORM.replace("2", "3"))
        self.assertEqual(self.build().returncode, 0)
        self.assertNotEqual((self.folder / "b/s.fatbin").read_bytes(), first)

    def test_files_that_custom_commands_make_are_used_with_ninja(self):
        self.assert_made_files_are_used("Ninja")

    @long_test  # the test above has Ninja
    def test_files_that_custom_commands_make_are_used_with_make(self):
        self.assert_made_files_are_used("Unix Makefiles")

    def test_generator_expressions_in_options_are_evaluated(self):
        options = '"$<$<CONFIG:Release>:-use_fast_math;-DFACTOR=5>" $<$<CONFIG:Debug>:-DNONE=1>'
        self.write("t.cu", TRANSFORM.replace("2", "FACTOR"))
        self.built(FATBIN.replace("CONTRACT c)\n", f"CONTRACT c OPTIONS {options})\n"), "-DCMAKE_BUILD_TYPE=Release")
        for entry in self.entries():
            self.assertEqual(entry["ident"]["float"], "-ftz=1 -prec_div=0 -prec_sqrt=0 -fmad=1")
        self.built(FATBIN.replace("CONTRACT c)\n", "CONTRACT c OPTIONS $<1:-DFACTOR=5>)\n"))
        self.assertEqual({entry["ident"]["float"] for entry in self.entries()}, {"-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1"})
        self.configure(FATBIN.replace("CONTRACT c)\n", "CONTRACT c OPTIONS $<1:-G>)\n"))
        done = self.build()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("fatlink_add_fatbin(t): OPTIONS -G is not allowed", plain(done.stdout))

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

    def built_in_two_folders(self, options):
        """The bytes of a fatbin that is built in two folders."""
        made = []
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
            for words in (("-S", ".", "-B", "b", "-G", "Ninja"), ("--build", "b")):
                done = subprocess.run([CMAKE, *words], cwd=folder, text=True, capture_output=True,
                                      env=without_kept_outputs())
                self.assertEqual(done.returncode, 0, done.stderr)
            made.append((folder / "b/t.fatbin").read_bytes())
        return made

    def test_is_the_same_bytes_in_any_folder(self):
        first, second = self.built_in_two_folders("")
        self.assertEqual(first, second)

    @long_test  # the test above has no options; test_every_entry_says_how_it_was_built has this one
    def test_is_the_same_bytes_in_any_folder_with_other_options(self):
        plain = self.built_in_two_folders("")
        fast = self.built_in_two_folders(" OPTIONS -use_fast_math")
        self.assertEqual(plain[0], plain[1])
        self.assertEqual(fast[0], fast[1])
        self.assertNotEqual(plain[0], fast[0])

    @long_test  # test_is_the_same_bytes_in_any_folder
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
        wait_for_another_time()
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

    def test_compression_for_size_unless_another_is_stated(self):
        self.built(FATBIN)
        smallest = (self.folder / "b/t.fatbin").stat().st_size
        self.built(FATBIN.replace("CONTRACT c)", "CONTRACT c OPTIONS -Xfatbin --compress-mode=default)"))
        self.assertLess(smallest, (self.folder / "b/t.fatbin").stat().st_size)

    def test_several_architectures(self):
        self.built(CONTRACT + "fatlink_add_fatbin(t SOURCES t.cu ARCHITECTURES 75 90a)")
        self.assertEqual(sorted((e["kind"], e["target"]) for e in self.entries()),
                         [("ltoir", "sm_75"), ("ltoir", "sm_90a"), ("ptx", "sm_75"), ("ptx", "sm_90a")])

    def test_sass_beside_ptx_and_ltoir(self):
        self.built(CONTRACT + "fatlink_add_fatbin(t SOURCES t.cu CONTRACT c SASS 90 90a 100f)")
        self.assertEqual(sorted((e["kind"], e["target"]) for e in self.entries()),
                         [("elf", "sm_100f"), ("elf", "sm_90"), ("elf", "sm_90a"), ("ltoir", "sm_75"), ("ptx", "sm_75")])
        self.assertEqual({e["ident"]["contract"] for e in self.entries()}, {"c"})
        self.assertTrue(self.inspected()[1]["verified"])

    def test_sass_is_relocatable(self):
        self.built(CONTRACT + "fatlink_add_fatbin(t SOURCES t.cu SASS 90 OPTIONS -Xfatbin --compress-mode=none)")
        content = (self.folder / "b/t.fatbin").read_bytes()
        cubin = content.index(b"\x7fELF")
        self.assertEqual(content[cubin + 16], 1, "the ELF type of a relocatable file")

    def test_sass_that_nvcc_did_not_write_fails_the_build(self):
        self.write("nvcc", f"""#!/usr/bin/env bash
words=()
for word in "$@"; do [[ $word == *code=sm_90 ]] && word=arch=compute_80,code=sm_80; words+=("$word"); done
exec {NVCC} "${{words[@]}}"
""")
        (self.folder / "nvcc").chmod(0o755)
        self.assertEqual(self.configure(f'set(CUDAToolkit_NVCC_EXECUTABLE "{self.folder}/nvcc")\n' + CONTRACT +
                                        "fatlink_add_fatbin(t SOURCES t.cu SASS 90)").returncode, 0)
        done = self.build()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("elf:sm_90", done.stdout + done.stderr)
        self.assertIn("does not hold what was requested", done.stdout + done.stderr)
        self.assertFalse((self.folder / "b/t.fatbin").exists())

    @long_test  # test_sass_beside_ptx_and_ltoir
    def test_sass_changes_nothing_that_links_in_ptx_and_lto_mode(self):
        self.write("l.cu", "__global__ void k(float* x) { *x = hook(*x); }\n")
        lists = CONTRACT
        for name, options in (("plain", ""), ("sass", " SASS 90 100")):
            for source in ("l", "t"):
                lists += f"fatlink_add_fatbin({source}_{name} SOURCES {source}.cu CONTRACT c{options})\n"
        self.built(lists)
        for mode in ("ptx", "lto"):
            for target in ("sm_80", "sm_90", "sm_100"):
                images = set()
                for name in ("plain", "sass"):
                    done = subprocess.run([PROGRAM, "link", "--no-cache", "--target", target, "--mode", mode, "-o", "o.cubin",
                                           f"b/l_{name}.fatbin", f"b/t_{name}.fatbin"], cwd=self.folder, text=True,
                                          capture_output=True)
                    if done.returncode == 5:
                        self.skipTest("no nvJitLink on this machine")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    images.add((self.folder / "o.cubin").read_bytes())
                self.assertEqual(len(images), 1, (mode, target))

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
        self.links_in_no_mode({"dd": ("double", "double x"), "same": ("float", "float x")})

    @long_test  # the test above has another type, and the same one
    def test_against_another_version_of_the_contract_with_more_types_it_links_in_no_mode(self):
        self.links_in_no_mode({"ff": ("float", "float x, float y"), "ii": ("int", "int x"), "fp": ("float", "float const* x"),
                               "vf": ("void", "float x"), "f0": ("float", "")})

    def links_in_no_mode(self, types):
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
            self.write("b.cmake", f'include("{SOURCE}/cmake/detail/nvcc.cmake")\n'
                       f"fatlink_base64([=[{text}]=] out)\nmessage(\"${{out}}\")")
            self.assertEqual(self.cmake("-P", "b.cmake").stderr.strip(), base64.b64encode(text.encode()).decode())


class Configuration(unittest.TestCase):
    def test_a_missing_dependency_stops_it_with_the_packages_name(self):
        folder = tempfile.mkdtemp(prefix="fatlink-cmake-")  # of all three, so that the compiler is tested once
        self.addCleanup(shutil.rmtree, folder)
        for package, debian in (("CLI11", "libcli11-dev"),
                                ("nlohmann_json", "nlohmann-json3-dev"), ("CUDAToolkit", "CUDA Toolkit 13")):
            with self.subTest(package=package):
                done = subprocess.run([CMAKE, "-S", SOURCE, "-B", folder, "-UCMAKE_DISABLE_FIND_PACKAGE_*",
                                       f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON"], text=True, capture_output=True)
                self.assertNotEqual(done.returncode, 0)
                said = " ".join(done.stderr.split())
                self.assertIn(f"{package} was not found", said)
                self.assertIn(debian, said)
