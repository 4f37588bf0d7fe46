# SPDX-License-Identifier: Apache-2.0
"""Sources that do not compile: status, line and remedy, from `compile` and from `run --transform`; the next one compiles."""
import os
import pathlib
import shutil
import unittest

from compile_case import CONTRACT, DECLARATION, HALF, CompileCase
from fatlink_cli import EMULATED, NVCC, CliTest, doctor
from run_tests import long_test

CONTRACT_HINT = f"the contract apply_transform/1 declares: {DECLARATION}"


def macro_bomb(depth=40):
    lines = "".join(f"#define A{i} A{i - 1},A{i - 1}\n" for i in range(1, depth))
    return f"#define A0 1,1\n{lines}__device__ int numbers[] = {{A{depth - 1}}};\n"


def template_bomb(depth=60):
    return ("template <int A, long long B> struct pair { enum { value = pair<A - 1, 2 * B>::value + pair<A - 1, 2 * B + 1>::value }; };\n"
            "template <long long B> struct pair<0, B> { enum { value = 1 }; };\n"
            f"__device__ int number = pair<{depth}, 1>::value;\n")


class BadSources(CompileCase):
    def assert_refused(self, text, *words, says, hint, name="bad.cu", code=None):
        done = self.assert_compile_fails(4, name, text, *words, says=says, hint=hint)
        if code:
            self.assertIn(code, done.stderr)
        self.compile_source("half.cu", HALF)
        return done

    def test_a_wrong_type(self):
        text = "\n" + HALF.replace("float user", "double user")
        self.assert_refused(text, says=["bad.cu:2: error: "], hint=CONTRACT_HINT, code="compile-failed")
        self.assert_refused(HALF.replace("float x", "int x").replace("user", "user").replace('extern "C" ', 'extern "C"\n'),
                            says=["bad.cu:2: error: ", "overload"],
                            hint=f"user_transform has a different type than in the contract: {CONTRACT_HINT}")

    def test_a_second_definition(self):
        self.assert_refused(HALF + HALF, says=["bad.cu:2: error: ", '"user_transform" has already been defined'],
                            hint=CONTRACT_HINT)

    def test_a_syntax_error(self):
        done = self.assert_refused(HALF.replace("* x", "* "), says=["bad.cu:1: error: expected an expression"],
                                   hint="hint:")
        self.assertIn("1 error detected", done.stderr)

    def test_the_file_has_the_name_that_was_given(self):
        (self.folder / "deep").mkdir()
        self.file("deep/bad.cu", "int 3;\n")
        done = self.fatlink("compile", "deep/bad.cu", "-o", "x.fatbin", *CONTRACT, status=4)
        self.assertIn("fatlink: error: deep/bad.cu:1: error: ", done.stderr)

    def test_a_header_that_is_in_no_folder(self):
        (self.folder / "include").mkdir()
        done = self.assert_refused('#include "missing.h"\n' + HALF, "-I", "include",
                                   says=["bad.cu:1: the header missing.h is in none of the folders"], hint="add its folder with -I",
                                   code="header-not-found")
        self.assertIn(f"searched: {self.folder}/include", done.stderr)
        self.assertNotIn("no directories in search list", done.stderr)
        self.assertEqual("the headers of CUDA come with NVRTC 13.3 and newer" in done.stderr, not doctor()["nvrtc"]["headers"])

    def test_a_header_that_a_header_includes(self):
        (self.folder / "include").mkdir()
        self.file("include/middle.h", '\n#include "missing.h"\n')
        self.assert_refused('#include "middle.h"\n' + HALF, "-I", "include",
                            says=["include/middle.h:2: the header missing.h is in none of the folders"], hint="add its folder with -I")

    def test_a_header_of_the_standard_library(self):
        self.assert_refused("#include <vector>\n" + HALF, says=["the header vector is in none"],
                            hint="NVRTC has no C++ standard library", code="header-not-found")

    def assert_is_outside_of_the_folders(self, *forms):
        """Names that are outside, in each of the forms of #include."""
        secret = self.file("secret.h", "#define SECRET 31337\nint 3;\n")
        (self.folder / "include").mkdir()
        (self.folder / "include/link.h").symlink_to(secret)
        for name in ("../secret.h", str(secret), "link.h", "/etc/passwd", "/dev/zero"):
            for form in forms:
                with self.subTest(name=name, form=form):
                    done = self.assert_refused(f"#include {form.format(name)}\n" + HALF, "-I", "include",
                                               says=["bad.cu:1: the header ", "is outside of the folders"], hint="-I",
                                               code="header-not-found")
                    self.assertNotIn("31337", done.stderr)
                    self.assertNotIn("root:", done.stderr)

    def test_a_header_outside_of_the_folders(self):
        self.assert_is_outside_of_the_folders('"{}"')

    @long_test  # the test above has the other form, test_hostile_sources both
    def test_a_header_outside_of_the_folders_in_angle_brackets(self):
        self.assert_is_outside_of_the_folders("<{}>")

    def test_a_header_beside_the_source_is_not_read_for_angle_brackets(self):
        self.file("near.h", "#define SECRET 31337\n")
        done = self.assert_refused("#include <near.h>\n" + HALF, says=["near.h is in none of the folders"],
                                   hint='it is beside the source, but that folder is searched only for #include "near.h": '
                                        "use quotes, or add the folder with -I .")
        self.assertNotIn("31337", done.stderr)

    def test_a_header_that_is_a_fifo_or_a_device(self):
        (self.folder / "include").mkdir()
        os.mkfifo(self.folder / "include/pipe.h")
        for folder, name in (("include", "pipe.h"), ("/dev", "zero")):
            with self.subTest(name=name):
                self.assert_refused(f"#include <{name}>\n" + HALF, "-I", folder,
                                    says=[f"the header {name} is not a regular file"], hint="-I", code="header-not-found")

    @long_test  # compile.HostileSources
    def test_endless_macros_and_templates(self):
        for text in (macro_bomb(), template_bomb()):
            done = self.assert_fails(4, "compile", self.file("bomb.cu", text), "-o", "x.fatbin", "--timeout", "1",
                                     says=["bomb.cu: the compile took longer than its time limit of 1 s"],
                                     hint="raise --compile-timeout")
            self.assertIn("compile-timeout", done.stderr)
            self.compile_source("half.cu", HALF)

    @unittest.skipIf(EMULATED, "the emulator does not limit the address space")
    @long_test  # compile.HostileSources
    def test_more_memory_than_the_limit(self):
        done = self.assert_fails(4, "compile", self.file("bomb.cu", template_bomb()), "-o", "x.fatbin", "--memory-limit", "256",
                                 says=["bomb.cu: the compile needed more than its memory limit of 256 MiB"],
                                 hint="raise --memory-limit of fatlink compile")
        self.assertIn("compile-memory", done.stderr)
        self.compile_source("half.cu", HALF)

    def test_a_source_without_the_hook(self):
        kernel = 'extern "C" __global__ void user_transform_kernel(float* x) { *x = 1; }\n'
        unlinked = HALF.replace('extern "C"', "static")
        for text, hint in (("", CONTRACT_HINT), ("// nothing\n", CONTRACT_HINT), (kernel, DECLARATION),
                           (unlinked, f"{CONTRACT_HINT} (a static or inline definition does not count)"),
                           (kernel.replace("user_transform_kernel", "half"),
                            f"define a __device__ function, which the library's kernel calls; {CONTRACT_HINT}"),
                           (HALF.replace("user_transform", "user_transfrom"), "did you mean user_transform?"),
                           (f"namespace a {{ {HALF.replace(chr(34) + 'C' + chr(34), '').replace('extern', '')} }}",
                            f'declare it extern "C": {DECLARATION}')):
            with self.subTest(text=text):
                self.assert_refused(text, says=["bad.cu: ", "neither defines nor calls a hook of the contract apply_transform/1"],
                                    hint=hint, code="missing-hook")

    def test_a_kernel_is_named_where_a_hook_is_missing(self):
        self.assert_refused('extern "C" __global__ void half(float* x) { *x = 1; }\n', hint=DECLARATION,
                            says=["a hook of the contract apply_transform/1; it defines the kernel half"])
        self.assert_refused("", says=["a hook of the contract apply_transform/1; it defines no function"], hint=DECLARATION)

    def test_a_source_without_code_and_without_a_contract(self):
        for text in ("", HALF.replace('extern "C"', "static")):
            self.file("bad.cu", text)
            done = self.fatlink("compile", "bad.cu", "-o", "x.fatbin")
            self.assertIn("fatlink: warning: bad.cu: defines no function that a link sees", done.stderr)
        self.file("data.cu", "__device__ int number;\n")
        self.assertEqual(self.fatlink("compile", "data.cu", "-o", "x.fatbin").stderr, "")

    def test_cuda_that_is_named_as_llvm_ir(self):
        self.assert_refused(HALF, name="bad.ll", says=["bad.ll: is not LLVM IR"], hint="a file of CUDA C++ must be named .cu", code="compile-failed")

    def test_bad_inline_ptx(self):
        text = HALF.replace("return", 'asm("garbage %0;" : "+f"(x)); return')
        done = self.assert_refused(text, says=["bad.cu: ", "ptxas", "line", "garbage"], hint="correct the asm statement; line",
                                   code="compile-failed")
        self.assertRegex(done.stderr, r"of the PTX is: \s*garbage %")

    def test_text_that_is_not_utf8_a_nul_and_too_many_bytes(self):
        for content, says in (((HALF + "// \N{LATIN SMALL LETTER A WITH DIAERESIS}\n").encode("latin-1"), "line 2 has bytes that are not UTF-8"),
                              (b"\n\nint\0x;\n", "line 3 has a NUL byte"),
                              (b" " * (1 << 24) + b"\n", "has 16777217 bytes; the limit is 16 MiB for CUDA C++")):
            with self.subTest(says=says):
                self.assert_compile_fails(3, "bad.cu", content, says=["bad.cu", says], hint="hint:")

    def test_a_file_that_is_none(self):
        (self.folder / "folder.cu").mkdir()
        os.mkfifo(self.folder / "pipe.cu")
        for name, says in (("none.cu", "no such file"), ("folder.cu", "is a directory"), ("pipe.cu", "is not a regular file")):
            with self.subTest(name=name):
                self.assert_fails(3, "compile", name, "-o", "x.fatbin", says=[name, says])

    def test_a_contract_that_is_not_installed(self):
        self.file("half.cu", HALF)
        self.assert_fails(3, "compile", "half.cu", "-o", "x.fatbin", "--contract", "aply_transform",
                          says=["the contract aply_transform is not installed"], hint="did you mean apply_transform?")


class MissingCompilers(CliTest):
    """Needs none."""

    def assert_missing(self, name, text, env, says, hint):
        done = self.assert_fails(5, "compile", self.file(name, text), "-o", "x.fatbin", "--no-cache", says=says, hint=hint, env=env)
        self.assertIn("-unavailable", done.stderr)

    def test_nvrtc(self):
        self.assert_missing("half.cu", HALF, {"FATLINK_NVRTC": "/nowhere"}, ["NVRTC", "/nowhere"],
                            "correct or unset FATLINK_NVRTC: while it is set, no other file is tried")

    def test_the_helper(self):
        self.assert_missing("half.cu", HALF, {"FATLINK_LINKD": "/nowhere"}, ["/nowhere"], "hint:")


class MissingBuiltins(CompileCase):
    def test_are_named_with_what_to_install(self):
        copy = shutil.copy(self.nvrtc(), self.folder / "libnvrtc.so.13")
        for builtins in self.nvrtc().parent.glob("libnvrtc-builtins.so.13.*"):
            self.file(builtins.name, "damaged, which also hides those that the loader finds")
        self.file("half.cu", HALF)
        env = {"FATLINK_NVRTC": str(copy), "LD_LIBRARY_PATH": str(self.folder)}
        done = self.assert_fails(5, "compile", "half.cu", "-o", "x.fatbin", "--no-cache", says=["NVRTC: ", str(copy), "cannot compile"],
                                 hint="libnvrtc-builtins.so.13.", env=env)
        self.assertIn("nvrtc-unavailable", done.stderr)

    def nvrtc(self):
        """That of the toolkit of the build."""
        path = pathlib.Path(NVCC).resolve().parent.parent / "lib64/libnvrtc.so.13"
        if not path.exists():
            self.skipTest("FATLINK_NVCC names no nvcc of a toolkit with NVRTC")
        return path


if __name__ == "__main__":
    unittest.main()
