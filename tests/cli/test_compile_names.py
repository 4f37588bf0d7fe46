# SPDX-License-Identifier: Apache-2.0
"""What names and texts of a source do not change: options, errors, other users' messages."""
import os
import pathlib
import shutil
import subprocess
import unittest

from compile_case import CONTRACT, DECLARATION, HALF, CompileCase
from fatlink_cli import NVCC, PROGRAM, SHARE
from helper_process import LINKD
from run_tests import long_test


class SourceNames(CompileCase):
    def test_letters_of_options_and_of_ptx_have_no_meaning(self):
        for name in ("./-x.cu", 'a"b.cu', "a b.cu", "ä.cu"):
            with self.subTest(name=name):
                self.file(name, HALF)
                self.fatlink("compile", name, "-o", "out.fatbin", *CONTRACT, "--line-info", "--no-cache")

    def test_a_message_has_the_name_as_it_was_given(self):
        self.assert_fails(4, "compile", self.file("a b.cu", "int 3;\n"), "-o", "x.fatbin", says=["a b.cu:1: error: "])

    def test_letters_of_a_terminal_are_shown_as_text(self):
        done = self.assert_fails(4, "compile", self.file("e\x1b[31m.cu", "int 3;\n"), "-o", "x.fatbin", says=["error: "])
        self.assertNotIn("\x1b", done.stderr)


class SourceTexts(CompileCase):
    def refusal(self, text):
        return self.fatlink("compile", self.file("bad.cu", text), "-o", "x.fatbin", *CONTRACT, "--no-cache", status=4).stderr

    def test_a_mark_of_utf8_at_the_start_is_skipped(self):
        self.file("half.cu", b"\xef\xbb\xbf" + HALF.encode())
        self.fatlink("compile", "half.cu", "-o", "out.fatbin", *CONTRACT, "--no-cache")

    def test_words_of_the_source_choose_no_error(self):
        self.assertIn("code:   compile-failed", self.refusal("int x = ; // Memory allocation failure\n"))
        self.assertIn("code:   compile-failed", self.refusal('#error could not open source file "/etc/shadow"\n'))

    def test_the_name_of_a_line_chooses_no_error(self):
        for name in ('could not open source file \\"/etc/shadow\\"', "out of memory"):
            text = f'#line 1 "x): catastrophic error: {name}"\nint x = ;\n'
            self.assertIn("code:   compile-failed", self.refusal(text))

    def test_the_declaration_is_shown_for_errors_of_types_only(self):
        self.assertNotIn(DECLARATION, self.refusal(HALF.replace("* x", "* y")))
        self.assertIn(DECLARATION, self.refusal(HALF.replace("float user", "double user")))

    def test_a_library_without_ending_is_not_taken_for_a_standard_header(self):
        self.assertNotIn("C++ standard library", self.refusal("#include <mylib/core>\n"))

    @long_test  # test_a_syntax_error and others of test_bad_sources have refusals of the compiler, this file those of texts
    def test_a_source_of_too_much_code_is_refused(self):
        text = "__device__ unsigned char numbers[1 << 25] = {1};\n" + HALF
        self.assert_fails(4, "compile", self.file("large.cu", text), "-o", "x.fatbin", "--no-cache", "--arch", "75,80",
                          "--timeout", 300, says=["large.cu: compiles to more than 64 MiB"], hint="use smaller arrays")


class Warnings(CompileCase):
    WARNING = "#warning first\n" + HALF

    def test_from_the_cache_have_the_name_of_this_source(self):
        for folder in ("a", "b"):
            (self.folder / folder).mkdir()
            done = self.fatlink("compile", self.file(f"{folder}/half.cu", self.WARNING), "-o", "out.fatbin", *CONTRACT)
            self.assertIn(f"{folder}/half.cu:1: warning", done.stderr)
        self.assertIn("from the cache", done.stdout)

    def test_are_cut_and_cached(self):
        self.file("half.cu", "".join(f"#warning w{i}\n" for i in range(3000)) + HALF)
        for outcome in ("", "from the cache"):
            done = self.fatlink("compile", "half.cu", "-o", "out.fatbin", *CONTRACT)
            self.assertIn(outcome, done.stdout)
            self.assertLess(done.stderr.count("fatlink: warning: "), 110)
            self.assertIn("more warnings", done.stderr)
            self.assertNotIn("diag-suppress", done.stderr)


class Unconfined(CompileCase):
    """Where the kernel refuses the sandbox, and the user permits that."""

    def setUp(self):
        super().setUp()
        program = pathlib.Path(os.environ["FATLINK_BUILD"]) / "libexec/fatlink-tests/refuse_seccomp"
        if not program.exists():
            program = pathlib.Path(os.environ["FATLINK_BUILD"]) / "bin/refuse_seccomp"
        if not program.exists():
            self.skipTest("refuse_seccomp is not built")
        self.env = {"FATLINK_LINKD": str(program), "FATLINK_REAL_LINKD": str(LINKD)}

    def test_warns_and_writes_the_same_bytes_in_every_folder(self):
        outputs = set()
        for folder in ("a", "b/deep"):
            (self.folder / folder).mkdir(parents=True)
            done = self.fatlink("compile", self.file(f"{folder}/half.cu", HALF), "-o", "out.fatbin", *CONTRACT, "--no-cache",
                                "--allow-unconfined", env=self.env)
            self.assertRegex(done.stderr, "warning: .*NVRTC 13.* runs without its sandbox")
            outputs.add(self.output())
        self.assertEqual(len(outputs), 1)

    def test_reads_no_file_that_a_directive_names(self):
        secret = self.file("secret.h", "#define SECRET 31337\nint 3;\n")
        done = self.fatlink("compile", self.file("bad.cu", f'#include "{secret}"\n' + HALF), "-o", "x.fatbin", "--no-cache",
                            "--allow-unconfined", env=self.env, status=4)
        self.assertIn("is outside of the folders", done.stderr)

    def test_is_refused_without_the_permission(self):
        done = self.fatlink("compile", self.file("half.cu", HALF), "-o", "x.fatbin", "--no-cache", env=self.env, status=5)
        self.assertIn("compiles are not safe without it", done.stderr)
        self.assertNotIn("link without", done.stderr)


class Compilers(CompileCase):
    def test_a_compiler_that_cannot_be_opened_is_not_replaced_by_another(self):
        real = pathlib.Path(NVCC).resolve().parent.parent / "lib64/libnvrtc.so.13"
        if not real.exists():
            self.skipTest("FATLINK_NVCC names no nvcc of a toolkit with NVRTC")
        (self.folder / "home/lib64").mkdir(parents=True)
        content = real.read_bytes().replace(b"libm.so.6\0", b"libX.so.6\0")
        (self.folder / "home/lib64/libnvrtc.so.13").write_bytes(content)
        for builtins in real.parent.glob("libnvrtc-builtins.so.13.*"):
            shutil.copy(builtins, self.folder / "home/lib64")
        (self.folder / "bin").mkdir()
        program = shutil.copy(PROGRAM, self.folder / "bin")  # no libraries beside it
        self.file("half.cu", HALF)
        env = self.environment({"CUDA_HOME": str(self.folder / "home"), "FATLINK_LINKD": str(LINKD), "FATLINK_NVRTC": None})
        done = subprocess.run([program, "compile", "half.cu", "-o", "x.fatbin", "--no-cache"], cwd=self.folder, capture_output=True,
                              text=True, env=env)
        self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
        self.assertIn("home/lib64/libnvrtc.so.13", done.stderr)


class Helper(CompileCase):
    def test_that_is_missing_is_an_error_of_the_compile(self):
        done = self.fatlink("compile", self.file("half.cu", HALF), "-o", "x.fatbin", "--no-cache", env={"FATLINK_LINKD": "/nowhere"},
                            status=5)
        self.assertIn("the compiler's helper cannot be used: /nowhere", done.stderr)
        self.assertIn("sources are compiled only there", done.stderr)
        self.assertNotIn("in-process", done.stderr)

    def test_that_is_not_a_program_is_an_error_of_the_compile(self):
        bad = self.file("linkd", "not a program\n")
        bad.chmod(0o755)
        done = self.fatlink("compile", self.file("half.cu", HALF), "-o", "x.fatbin", "--no-cache", env={"FATLINK_LINKD": str(bad)},
                            status=5)
        self.assertIn("the compiler's helper cannot be used: ", done.stderr)
        self.assertNotIn("in-process", done.stderr)
        self.assertNotIn("install", done.stderr)

    def test_that_ends_at_its_start_has_a_hint_that_does_not_guess(self):
        done = self.fatlink("link", SHARE / "apply_transform.fatbin", SHARE / "gelu.fatbin", "-o", "x.cubin", "--target", "sm_90",
                            "--no-cache", env={"FATLINK_LINKD": "/bin/false"}, status=5)
        self.assertIn("the link helper cannot be used: /bin/false ended with exit status 1", done.stderr)
        self.assertIn("hint:   run /bin/false to see why, or link with --in-process\n", done.stderr)

    def test_has_the_memory_that_was_asked_for(self):
        done = self.fatlink("compile", self.file("half.cu", HALF), "-o", "x.fatbin", *CONTRACT, "--no-cache", "--memory-limit", "16384")
        self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main()
