# SPDX-License-Identifier: Apache-2.0
"""`fatlink compile`, and sources as inputs of the other commands. LLVM IR: test_compile_ir."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess

from cache_case import TRACED
from compile_case import CONTRACT, DECLARATION, HALF, HALF_JSON, CompileCase
from fatlink_cli import LIBRARY, PROGRAM, SHARE, doctor
from run_tests import long_test

RUN = ["run", "--device", "cpu", "--elements", "1000"]
NO_HELPER = {"FATLINK_LINKD": "/nowhere"}


class Compile(CompileCase):
    def test_makes_a_fatbin_with_contract_digests_and_sidecar(self):
        done = self.compile_source("half.cu", HALF)
        self.assertRegex(done.stdout, r"^out\.fatbin: ptx:sm_75 ltoir:sm_75, contract apply_transform/1, \d+ bytes, NVRTC 13\.\d+\n$")
        self.assertEqual(done.stderr, "")
        said = self.fatlink("inspect", "out.fatbin").stdout
        self.assertIn("verified", said.splitlines()[0])
        self.assertIn("float user_transform(float)", said)
        sidecar = json.loads(self.output("out.json"))
        self.assertEqual(sidecar["sha256"], hashlib.sha256(self.output()).hexdigest())

    def test_inspect_shows_the_compiler_and_its_flags(self):
        self.compile_source("half.cu", HALF, "--sass", "90", "--arch", "75", "--ftz", "1")
        for entry in self.fatlink_json("inspect", "out.fatbin")["files"][0]["entries"]:
            self.assertRegex(entry["ident"]["producer"], r"^NVRTC 13\.\d+$")
        text = self.fatlink("inspect", "out.fatbin").stdout
        for line in (r"    compiler    NVRTC 13\.\d+", r"    float       -ftz=1 -prec_div=1 -prec_sqrt=1 -fmad=1"):
            self.assertEqual(len(re.findall(f"(?m)^{line}$", text)), 3, text)

    def test_inspect_shows_that_a_source_was_compiled(self):
        self.file("half.cu", HALF)
        self.assertRegex(self.fatlink("inspect", "half.cu").stdout, r"^half\.cu: compiled by NVRTC 13\.\d+ to \d+ bytes, verified\n")
        self.assertRegex(self.fatlink_json("inspect", "half.cu")["files"][0]["producer"], r"^NVRTC 13\.\d+$")
        self.compile_source("half.cu", HALF)
        self.assertNotIn("producer", self.fatlink_json("inspect", "out.fatbin")["files"][0])

    def test_without_a_contract_states_none(self):
        self.file("half.cu", HALF)
        done = self.fatlink("compile", "half.cu", "-o", "out.fatbin")
        self.assertIn("contract none", done.stdout)
        self.assertIn("[uncontracted]", self.fatlink("check", LIBRARY, "out.fatbin").stdout)

    def assert_same_bytes_in_two_folders(self, *options):
        """With the lines of the source and of a header: their names in the line table have no folder."""
        header = "#define ONE 1\n__device__ inline float half(float x)\n{ return 0.5F * x; }\n"
        source = '#include "half.h"\n' + HALF.replace("0.5F * x", "half(x)")
        for words in options:
            made = set()
            for folder in ("one", "two/deep"):
                (self.folder / folder / "include").mkdir(parents=True, exist_ok=True)
                self.file(f"{folder}/half.cu", source)
                self.file(f"{folder}/include/half.h", header)
                for path in (f"{folder}/half.cu", self.folder / folder / "half.cu"):
                    self.fatlink("compile", path, "-I", f"{folder}/include", "-o", "out.fatbin", *CONTRACT, "--no-cache", *words)
                    made.add(self.output())
            with self.subTest(words=words):
                self.assertEqual(len(made), 1)
                self.assertEqual(".file\t2 \"/@1/half.h\"" in self.ptx(), bool(words))
                self.assertNotIn(str(self.folder).encode(), made.pop())

    def test_two_compiles_in_two_folders_give_the_same_bytes(self):
        self.assert_same_bytes_in_two_folders([], ["--line-info"])

    @long_test  # the test above has one architecture
    def test_two_compiles_in_two_folders_give_the_same_bytes_for_several_architectures(self):
        self.assert_same_bytes_in_two_folders(["--line-info", "--arch", "75,90", "--sass", "90"])

    def test_writes_to_standard_output(self):
        self.compile_source("half.cu", HALF)
        done = subprocess.run([PROGRAM, "compile", "half.cu", *CONTRACT, "-o", "-"], cwd=self.folder, check=True,
                              capture_output=True, env=self.environment({}))
        self.assertEqual(done.stdout, self.output())
        self.assertIn(b"-: ptx:sm_75 ltoir:sm_75", done.stderr)

    def test_never_overwrites_its_source(self):
        self.file("half.cu", HALF)
        self.assert_fails(2, "compile", "half.cu", "-o", "half.cu", says=["half.cu is also an input"])

    def test_never_overwrites_a_header_that_it_reads(self):
        (self.folder / "inc/deep").mkdir(parents=True)
        header = self.file("inc/deep/k.json", "#define K 0.5F\n")
        hooks = self.file("hooks.h", DECLARATION + "\n")
        self.file("half.cu", '#include <deep/k.json>\n' + HALF.replace("0.5F", "K"))
        words = ["compile", "half.cu", "-I", "inc", "--header", "hooks.h", "-o"]
        for output, kept in (("hooks.h", "hooks.h"), ("inc/../hooks.h", "hooks.h"), ("inc/deep/k.fatbin", "k.json")):
            with self.subTest(output=output):
                self.assert_fails(2, *words, output, says=[f"{kept} is a header of the source"], hint="name another file with --output")
        self.assertEqual((header.read_text(), hooks.read_text()), ("#define K 0.5F\n", DECLARATION + "\n"))
        self.fatlink(*words, "inc/deep/half.fatbin")

    def test_no_command_overwrites_a_header_that_a_source_includes(self):
        self.need_nvjitlink()
        (self.folder / "inc").mkdir()
        headers = [self.file("inc/k.h", "#define K 0.5F\n"), self.file("inc/j.json", "#define J 1.0F\n")]
        self.file("half.cu", '#include <k.h>\n#include <j.json>\n' + HALF.replace("0.5F", "K * J"))
        pack = ["pack", "half.cu", *CONTRACT, "-o"]
        for words, kept in (([*pack, "inc/k.h"], "inc/k.h"), ([*pack, "inc/j.fatbin"], "inc/j.json"),
                            (["link", LIBRARY, "half.cu", "--target", "sm_90", "-o", "inc/k.h"], "inc/k.h"),
                            ([*RUN, "--transform", "./half.cu", "--output", "inc/k.h"], "inc/k.h")):
            with self.subTest(words=words):
                self.assert_fails(2, *words, "-I", "inc", says=[f"{kept} is a header of the source"],
                                  hint="name another file with --output")
                self.assertEqual([header.read_text() for header in headers], ["#define K 0.5F\n", "#define J 1.0F\n"])

    def test_several_architectures_and_cubins(self):
        self.compile_source("half.cu", HALF, "--arch", "75,90a", "--sass", "sm_80,90a")
        self.assertEqual(self.entries(), ["ptx:sm_75", "ltoir:sm_75", "elf:sm_80", "elf:sm_90a", "ptx:sm_90a", "ltoir:sm_90a"])
        self.compile_source("half.cu", HALF, "--sass", "90")
        self.assertEqual(self.entries(), ["elf:sm_90"])

    def test_a_cubin_links_in_sass_mode(self):
        self.need_nvjitlink()
        self.compile_source("half.cu", HALF, "--sass", "90")
        kernel = 'extern "C" __device__ float user_transform(float);\n' \
                 'extern "C" __global__ void k(float* x) { *x = user_transform(*x); }\n'
        self.file("kernel.cu", kernel)
        self.fatlink("compile", "kernel.cu", "-o", "kernel.fatbin", "--sass", "90")
        done = self.fatlink("link", "--mode", "sass", "--target", "sm_90", "-o", "o.cubin", "kernel.fatbin", "out.fatbin")
        self.assertIn("user_transform called", done.stdout)

    def test_mistakes_in_words_get_the_word_that_was_meant(self):
        self.file("half.cu", HALF)
        words = ["compile", "half.cu", "-o", "o.fatbin"]
        for word, meant in (("-lineinfo", "--line-info"), ("-use_fast_math", "--use-fast-math"), ("-std=c++20", "--std"),
                            ("-arch=sm_80", "--arch")):
            with self.subTest(word=word):
                self.assert_fails(2, *words, word, says=[f"unknown option '{word.partition('=')[0]}'; did you mean '{meant}'?"])
        self.assert_fails(2, *words, "--contract", "apply_transform/1", says=["did you mean 'apply_transform'?"],
                          hint="name it without folder and version")
        self.assert_fails(2, *words, "--contract", "hooks.cuh", says=["'hooks.cuh' is a header"], hint="include it with --header hooks.cuh")
        self.assert_fails(2, "compile", "-", "-o", "o.fatbin", says=["a source cannot be read from standard input"], hint="name a file: half.cu")
        self.assert_fails(2, *words, "--memory-limit", "1", says=["--memory-limit: '1' is not a whole number from 64 to 65536"],
                          hint="write a number from 64 to 65536")

    def test_a_folder_of_headers_that_is_none_is_a_warning(self):
        self.file("file.h", "")
        done = self.compile_source("half.cu", HALF, "-I", "nope", "-I", "file.h")
        self.assertIn("fatlink: warning: nope (-I) is not there: it is not searched for headers\n", done.stderr)
        self.assertIn("fatlink: warning: file.h (-I) is not a folder: ", done.stderr)

    def test_a_missing_folder_of_headers_is_one_warning_for_several_sources(self):
        self.file("a.cu", HALF)
        self.file("b.cu", HALF.replace("user_transform", "other"))
        done = self.fatlink("check", "a.cu", "b.cu", "-I", "nope")
        self.assertEqual(done.stderr.count("nope (-I) is not there"), 1, done.stderr)

    def test_warnings_and_compiles_are_in_json(self):
        self.need_nvjitlink()
        self.file("half.cu", HALF.replace("{ return", "{ int unused; return"))
        unused = 'half.cu:1: warning'
        linked = self.fatlink_json("link", "--target", "sm_90", "-o", "o.cubin", LIBRARY, "half.cu")
        self.assertTrue(any(unused in warning for warning in linked["warnings"]), linked["warnings"])
        ran = self.fatlink_json(*RUN, "--mode", "ptx", "--transform", "half.cu")
        self.assertTrue(any(unused in warning for warning in ran["warnings"]), ran["warnings"])
        self.assertEqual([(one["file"], one["producer"][:6]) for one in ran["compiles"]], [("half.cu", "NVRTC ")])
        self.assertRegex(self.fatlink(*RUN, "--mode", "ptx", "--transform", "half.cu").stdout,
                         r"(?m)^Compiled half\.cu with NVRTC [\d.]+, from the cache$")

    def test_an_architecture_that_is_none_is_a_usage_error(self):
        self.file("half.cu", HALF)
        compile_half = ["compile", "half.cu", "-o", "o.fatbin"]
        self.assert_fails(2, *compile_half, "--arch", "sm_7", says=["target 'sm_7'"])
        for word, meant in (("7.5", "; did you mean '75'?"), ("75 90", ""), ("9x", "")):
            done = self.assert_fails(2, *compile_half, "--arch", word, says=[f"--arch: '{word}' is not an architecture{meant}"],
                                     hint="write it as 75, 90a or sm_75; separate several by commas: 75,90")
            self.assertNotIn("sm_7.5", done.stderr)
        self.assert_fails(2, *compile_half, "--sass", "83", says=["target 'sm_83': no such architecture"])

    def test_float_flags_are_recorded_and_used(self):
        quotient = HALF.replace("0.5F * x", "1.0F / x")
        for words, flags, division in ((["--use-fast-math"], "-ftz=1 -prec_div=0 -prec_sqrt=0 -fmad=1", ".approx.ftz.f32"),
                                       (["--fma", "0"], "-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=0", "rcp.rn.f32"),
                                       (["--ftz", "1", "--prec-sqrt", "0"], "-ftz=1 -prec_div=1 -prec_sqrt=0 -fmad=1",
                                        "rcp.rn.ftz.f32")):
            with self.subTest(words=words):
                self.compile_source("inverse.cu", quotient, *words)
                self.assertIn(flags.encode(), self.output())
                self.assertIn(division, self.ptx())
        done = self.assert_fails(2, "compile", "inverse.cu", "-o", "x.fatbin", "--use-fast-math", "--ftz", "1", says=["--ftz"])
        self.assertIn("cannot be used together", done.stderr)

    def test_macros_and_the_standard(self):
        text = "#if !defined(FLAG) || __cplusplus < 202002L\n#error not as asked\n#endif\n" + HALF.replace("0.5F", "FACTOR")
        self.compile_source("half.cu", text, "-D", "FACTOR=0.5F", "--define", "FLAG", "--std", "c++20")
        self.assert_compile_fails(4, "half.cu", text, "-D", "FACTOR=0.5F", says=["half.cu:2: catastrophic error: #error", "not as asked"], hint="hint:")
        self.assert_fails(2, "compile", "x.cu", "-o", "o.fatbin", "--std", "c++2", says=["--std: 'c++2' is not one of c++03"])
        self.file("half.cu", text)
        for text in ("1X", "F(x", "F(x)", "F x=1"):
            self.assert_fails(2, "compile", "half.cu", "-o", "o.fatbin", "-D", text, says=[f"'{text}' does not define a macro"])

    def test_a_macro_with_parameters(self):
        self.compile_source("half.cu", HALF.replace("0.5F * x", "F(x)"), "-D", "F(x)=0.5F*x")

    def test_a_header_instead_of_a_contract(self):
        self.file("hooks.h", DECLARATION + "\n#define FACTOR 0.5F\n")
        self.file("half.cu", HALF.replace("0.5F", "FACTOR"))
        done = self.fatlink("compile", "half.cu", "-o", "out.fatbin", "--header", "hooks.h")
        self.assertIn("contract none", done.stdout)
        self.assert_fails(3, "compile", "half.cu", "-o", "x.fatbin", "--header", "none.h", says=["none.h: "])
        self.assert_fails(2, "compile", "half.cu", "-o", "x.fatbin", "--header", "hooks.h", *CONTRACT,
                          says=["--contract", "--header", "cannot be used together"])

    def test_headers_of_folders_and_those_beside_them(self):
        for name in ("include/detail", "more"):
            (self.folder / name).mkdir(parents=True)
        self.file("include/factor.h", '#include "detail/value.h"\n#define FACTOR VALUE\n')
        self.file("include/detail/value.h", '#include "../sign.h"\n#include <unit.h>\n#define VALUE (SIGN * UNIT * 0.5F)\n')
        self.file("include/sign.h", "#define SIGN 1\n")
        self.file("more/unit.h", "#define UNIT 1\n")
        text = '#include "factor.h"\n' + HALF.replace("0.5F", "FACTOR")
        self.compile_source("half.cu", text, "-I", "include", "--include-folder=more")
        self.assertIn("0f3F000000", self.ptx())

    # By default test_compile_headers has a header of CUDA (Contracts.test_a_header_of_cuda) and one that a macro names
    # (Names.test_a_header_that_a_macro_names_is_that_of_the_first_folder).
    @long_test
    def test_headers_of_cuda_and_those_that_macros_of_cub_name(self):
        if not doctor()["nvrtc"]["headers"]:
            self.skipTest("no headers of CUDA on this machine")
        text = "#include <cuda_fp16.h>\n#include <cub/block/block_reduce.cuh>\n" + HALF.replace(
            "0.5F * x", "__half2float(__float2half(0.5F)) * x")
        self.compile_source("half.cu", text)
        self.assertIn("user_transform", self.ptx())

    def test_an_error_in_a_header_names_the_header(self):
        (self.folder / "include").mkdir()
        self.file("include/bad.h", "\n\nint 3;\n")
        self.assert_compile_fails(4, "half.cu", '#include "bad.h"\n' + HALF, "-I", "include",
                                  says=["include/bad.h:3: error: ", "half.cu)"], hint="correct the source")
        outside = self.folder.parent / f"{self.folder.name}.include"
        (self.folder / "include").rename(outside)
        self.addCleanup(shutil.rmtree, outside)
        self.assert_compile_fails(4, "half.cu", '#include "bad.h"\n' + HALF, "-I", outside,
                                  says=[f"{outside}/bad.h:3: error: "], hint="correct the source")

    def test_an_undefined_type_of_a_source_alone_hints_to_its_contract(self):
        self.file("x.cu", 'extern "C" __device__ sample scale(sample x) { return x; }\n')
        for words in (("check", "x.cu"), ("inspect", "x.cu"), ("compile", "x.cu", "-o", "x.fatbin")):
            with self.subTest(words=words):
                self.assert_fails(4, *words, says=['x.cu:1: error: identifier "sample" is undefined'],
                                  hint="if a contract declares it, state the contract (--contract NAME)")

    def test_an_undefined_name_of_an_installed_contract_hints_to_that_one(self):
        (self.folder / "contracts").mkdir()
        self.file("contracts/mix.cuh", 'struct sample { float x; };\nextern "C" __device__ float mix(sample);\n')
        self.file("contracts/mix.json", '{"fatlink_contract": 1, "contract": "mix", "version": 1, "header": "mix.cuh", "hooks": ["mix"]}')
        for name, hint in (("sample", "the header of the contract mix names sample: state the contract (--contract NAME)"),
                           ("samp", "correct the source; or, if a contract declares it")):
            self.file("x.cu", f'extern "C" __device__ float mix({name} x) {{ return x.x; }}\n')
            self.assert_fails(4, "check", "x.cu", says=[f'identifier "{name}" is undefined'], hint=hint, env={"FATLINK_PATH": str(self.folder)})

    def test_a_hook_without_its_contract_is_named(self):
        self.file("half.cu", HALF)
        done = self.fatlink("compile", "half.cu", "-o", "out.fatbin")
        self.assertIn("warning: user_transform is a hook of the contract apply_transform: pass --contract apply_transform to check its type\n", done.stderr)
        self.assertEqual(self.fatlink("compile", "half.cu", "-o", "out.fatbin", *CONTRACT).stderr, "")

    def test_a_warning_is_shown_once_for_all_modes_and_architectures(self):
        self.file("half.cu", HALF.replace("{ return", "{ int unused; return"))
        done = self.fatlink("compile", "half.cu", "-o", "out.fatbin", "--arch", "75,90", *CONTRACT)
        self.assertEqual(done.stderr.count('variable "unused"'), 1)

    def test_shows_where_the_time_went(self):
        done = self.compile_source("half.cu", HALF, "--timing")
        self.assertRegex(done.stdout, r"\n  headers [\d.]+ ms, cache [\d.]+ ms, start [\d.]+ ms, compile [\d.]+ ms\n$")

    def test_warnings_of_the_compiler_are_shown_each_time(self):
        self.file("half.cu", HALF.replace("{ return", "{ int unused; return"))
        for _ in range(2):
            done = self.fatlink("compile", "half.cu", "-o", "out.fatbin", *CONTRACT)
            self.assertIn("fatlink: warning: half.cu:1: warning", done.stderr)
            self.assertIn('variable "unused" was declared but never referenced', done.stderr)
        self.assertIn("from the cache", done.stdout)

    def test_lines_of_the_source_for_profilers(self):
        self.compile_source("half.cu", HALF, "--line-info")
        self.assertIn(".loc\t", self.ptx())
        self.compile_source("half.cu", HALF)
        self.assertNotIn(".loc\t", self.ptx())


class Cached(CompileCase):
    def test_a_second_compile_starts_no_compiler(self):
        self.file("half.cu", HALF)
        compile_half = ["compile", "half.cu", *CONTRACT, "-o"]
        self.assertEqual(self.fatlink_json(*compile_half, "one.fatbin")["cache"], "miss")
        self.assertEqual(self.fatlink_json(*compile_half, "two.fatbin", env=NO_HELPER)["cache"], "hit")
        self.assertEqual(self.output("one.fatbin"), self.output("two.fatbin"))
        self.assertEqual(self.fatlink_json(*compile_half, "two.fatbin", "--no-cache")["cache"], "off")

    def test_what_the_result_depends_on_compiles_again(self):
        self.file("factor.h", "#define FACTOR 0.5F\n")
        self.file("half.cu", '#include "factor.h"\n' + HALF.replace("0.5F", "FACTOR"))
        words = ["compile", "half.cu", "-o", "out.fatbin", *CONTRACT, "-I", "."]
        outcome = lambda *more: self.fatlink_json(*words, *more)["cache"]
        self.assertEqual([outcome(), outcome()], ["miss", "hit"])
        for more in (["-D", "X"], ["--std", "c++20"], ["--ftz", "1"], ["--arch", "80"], ["--sass", "90"], ["--line-info"]):
            with self.subTest(more=more):
                self.assertEqual([outcome(*more), outcome(*more)], ["miss", "hit"])
        self.file("factor.h", "#define FACTOR 0.25F\n")
        self.assertEqual([outcome(), outcome()], ["miss", "hit"])

    def test_a_source_is_run_and_verified_in_both_modes(self):
        self.need_nvjitlink()
        self.file("half.cu", HALF)
        self.file("half.json", HALF_JSON)
        for _ in range(2):
            found = self.fatlink_json(*RUN, "--transform", "./half.cu")
            self.assertEqual([(mode["mode"], mode["verified"]) for mode in found["modes"]], [("ptx", True), ("lto", True)])
            self.assertTrue(found["modes"][0]["verified"])
            self.assertEqual(found["filled_hooks"], ["user_transform"])

    def test_a_second_run_starts_no_helper(self):
        self.need_nvjitlink()
        self.file("half.cu", HALF)
        first = self.fatlink(*RUN, "--transform", "half.cu", "--print", "3").stdout
        second = self.fatlink(*RUN, "--transform", "half.cu", "--print", "3", env=NO_HELPER).stdout
        self.assertEqual(first.splitlines()[-4:], second.splitlines()[-4:])
        self.assertIn("Result: both modes agree", second)

    def test_a_second_run_opens_no_compiler(self):
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        self.need_nvjitlink()
        self.file("half.cu", HALF)

        def traced():
            subprocess.run(["strace", "-f", "-y", "-o", "trace", "-e", "trace=execve,openat,mmap", PROGRAM, *RUN, "--transform",
                            "half.cu"], cwd=self.folder, check=True, capture_output=True,
                           env={**TRACED, "FATLINK_CACHE_DIR": str(self.cache)})
            lines = self.output("trace").decode().splitlines()
            mapped = [line for line in lines if "mmap(" in line and "PROT_EXEC" in line and "libnv" in line]
            opened = [line for line in lines if "openat(" in line and re.search("libnv(rtc|vm)[^/]*\\.so", line) and "= -1" not in line]
            return "\n".join(lines), mapped, opened

        cold, mapped, opened = traced()
        self.assertIn("fatlink-linkd", cold)
        self.assertTrue(any("libnvrtc" in line for line in mapped))
        self.assertTrue(opened)
        warm, mapped, opened = traced()
        self.assertNotIn("fatlink-linkd", warm)
        self.assertEqual((mapped, opened), ([], []))  # nvJitLink's file is read for its version, not mapped


class SourcesAsInputs(CompileCase):
    def test_a_source_is_compiled_for_the_contract_of_the_library(self):
        self.need_nvjitlink()
        self.file("half.cu", HALF)
        done = self.link(LIBRARY, "half.cu")
        self.assertIn("user_transform inlined", done.stdout)
        self.assertNotIn("uncontracted", done.stderr)

    def test_every_command_that_takes_inputs_takes_sources(self):
        self.need_nvjitlink()
        self.file("half.cu", HALF)
        for words in (["check", LIBRARY, "half.cu"], ["inspect", "half.cu", *CONTRACT],
                      ["cache", "warm", "--target", "sm_90", LIBRARY, "half.cu"],
                      ["pack", "-o", "packed.fatbin", "half.cu", *CONTRACT],
                      ["link", "--target", "sm_90", "-o", "o.cubin", LIBRARY, "half.cu", "-D", "X"]):
            with self.subTest(verb=words[0]):
                self.assertNotIn("uncontracted", self.fatlink(*words).stderr)
        self.assertIn("float user_transform(float)", self.fatlink("inspect", "packed.fatbin").stdout)

    def test_a_fault_on_the_reference_device_names_the_line_of_the_source(self):
        self.need_nvjitlink()
        self.file("wild.cu", 'extern "C" __device__ float user_transform(float x)\n{\n  return *reinterpret_cast<float*>(16);\n}\n')
        for mode in ("ptx", "both"):
            done = self.assert_fails(5, *RUN, "--mode", mode, "--transform", "wild.cu", says=["wild.cu:3", "reads 4 bytes at 0x10"])
            self.assertNotIn("line-info", done.stderr)
            self.assertNotRegex(done.stderr, r"\(wild\.cu:\d+")

    def test_the_standard_and_the_time_limit_of_a_source(self):
        self.need_nvjitlink()
        self.file("half.cu", "template <typename T> concept every = true;\n" + HALF)
        self.assertIn("[2] LTO link", self.fatlink(*RUN, "--transform", "half.cu", "--std", "c++20").stdout)
        self.assert_fails(4, *RUN, "--transform", "half.cu", says=["half.cu:1: error"])
        for words in ([*RUN, "--transform"], ["link", "--target", "sm_90", "-o", "o.cubin", LIBRARY], ["inspect"], ["check", LIBRARY]):
            with self.subTest(verb=words[0]):
                self.assert_fails(4, *words, "half.cu", "--compile-timeout", "0.01", "--no-cache" if words[0] in ("run", "link") else "-DX=1",
                                  says=["time limit of 0.01 s"], hint="--compile-timeout")

    def test_float_flags_of_a_source_are_those_of_its_link(self):
        self.need_nvjitlink()
        self.file("inverse.cu", HALF.replace("0.5F * x", "1.0F / x"))
        for flags in (["--use-fast-math"], ["--ftz", "1"]):
            with self.subTest(flags=flags):
                self.assertIn("Result: both modes agree", self.fatlink(*RUN, "--transform", "inverse.cu", *flags).stdout)
                self.fatlink("check", LIBRARY, "inverse.cu", *flags)
                self.link(LIBRARY, "inverse.cu", *flags, mode="ptx")
        self.link(LIBRARY, "inverse.cu", "--use-fast-math", "--emit", "ptx")
        self.assertIn("rcp.approx.ftz.f32", self.output("out.cubin").decode())

    def test_other_float_flags_are_a_warning_that_check_and_run_follow(self):
        self.need_nvjitlink()
        done = self.compile_source("inverse.cu", HALF.replace("0.5F * x", "1.0F / x"), "--use-fast-math")
        self.assertIn("fatlink: warning: inverse.cu is compiled with -ftz=1 -prec_div=0 -prec_sqrt=0 -fmad=1: an lto link", done.stderr)
        self.assertIn("or --use-fast-math)", done.stderr)
        self.assertIn("[float-contract]", self.fatlink("check", LIBRARY, "out.fatbin", status=4).stdout)
        self.fatlink("check", LIBRARY, "out.fatbin", "--use-fast-math")
        self.fatlink(*RUN, "--mode", "lto", "--transform", "./out.fatbin", "--use-fast-math")

    def test_packing_a_source_needs_the_contract_to_state_it(self):
        self.file("half.cu", HALF)
        self.assertIn("contract none", self.fatlink("pack", "-o", "packed.fatbin", "half.cu").stdout)

    def test_a_library_and_a_transform_in_source(self):
        self.need_nvjitlink()
        self.file("library.cu", 'extern "C" __device__ float user_transform(float x);\n'
                  'extern "C" __global__ void k(float const* in, float* out, size_t n)\n'
                  "{ size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; if (i < n) out[i] = user_transform(in[i]); }\n")
        self.file("half.cu", HALF)
        found = self.fatlink_json(*RUN, "--library", "library.cu", "--transform", "half.cu", "--print", "2", *CONTRACT)
        self.assertTrue(found["between"][0]["verified"])

    def shipped_sources(self, *names):
        """All of apply_transform; or these."""
        sources = {path.stem: path for path in (self.source_folder() / "kernels/transforms").glob("*.cu")}
        self.assertGreater(len(sources), 3)
        return [sources[name] for name in names or sources]

    def assert_shipped_are_verified(self, *names):
        self.need_nvjitlink()
        for path in self.shipped_sources(*names):
            shutil.copy(path, self.folder)
            sidecar = json.loads((SHARE / f"{path.stem}.json").read_text())
            sidecar.pop("sha256", None)
            self.file(f"{path.stem}.json", json.dumps(sidecar))
            with self.subTest(transform=path.stem):
                found = self.fatlink_json(*RUN, "--transform", f"./{path.name}")
                self.assertEqual([mode["verified"] for mode in found["modes"]], [True, True])

    def test_shipped_transforms_are_verified_when_nvrtc_compiles_them(self):
        self.assert_shipped_are_verified("gelu", "relu_poly")

    @long_test  # the test above has two of them
    def test_all_shipped_transforms_are_verified_when_nvrtc_compiles_them(self):
        self.assert_shipped_are_verified()

    def assert_same_code(self, links, *names):
        """Of transforms that NVRTC compiled and those that nvcc compiled, in these modes and for these targets."""
        self.need_nvjitlink()
        nvrtc = doctor()["nvrtc"]["version"]
        (shipped,) = self.fatlink_json("inspect", LIBRARY)["files"]
        toolkit = shipped["entries"][0]["ident"]["toolkit"]
        if not f"{toolkit}.".startswith(f"{nvrtc}."):
            self.skipTest(f"the transforms were compiled by nvcc {toolkit}, this NVRTC is {nvrtc}")
        for path in self.shipped_sources(*names):
            self.fatlink("compile", path, *CONTRACT, "--arch", "75", "-o", "own.fatbin")
            for mode, target in links:
                with self.subTest(transform=path.stem, mode=mode, target=target):
                    cubins = []
                    for transform in ("./own.fatbin", SHARE / f"{path.stem}.fatbin"):
                        self.link(LIBRARY, transform, mode=mode, target=target)
                        cubins.append(self.output("out.cubin"))
                    self.assertEqual(cubins[0], cubins[1])

    def test_shipped_transforms_link_to_the_same_code_whether_nvrtc_or_nvcc_compiled_them(self):
        """So the one is as fast as the other on a GPU, whatever a GPU measures."""
        self.assert_same_code([("lto", "sm_90")], "gelu", "relu_poly")

    @long_test  # the test above has LTO links of two of them for sm_90
    def test_shipped_transforms_link_to_the_same_code_in_other_modes_and_for_other_targets(self):
        self.assert_same_code([("lto", "sm_90"), ("ptx", "sm_90"), ("lto", "sm_80"), ("lto", "sm_120")])

    def source_folder(self):
        if not os.environ.get("FATLINK_SOURCE"):
            self.skipTest("FATLINK_SOURCE is not set: the source is not there")
        return pathlib.Path(os.environ["FATLINK_SOURCE"])
