# SPDX-License-Identifier: Apache-2.0
"""The headers that a compile finds are those that a compiler with files would find."""
import json
import os
import pathlib
import subprocess
import threading

from compile_case import CompileCase
from fatlink_cli import BUILD, PROGRAM, scaled
from run_tests import long_test

FACTOR = 'extern "C" __device__ float user_transform(float x) { return FACTOR * x; }\n'
HAS_FACTOR = "#define FACTOR 3.0F\n#else\n#define FACTOR 99.0F\n#endif\n" + FACTOR
THREE = "0f40400000"


class HeaderCase(CompileCase):
    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def assert_factor_is_three(self, source, *words):
        self.compile_source("factor.cu", source, *words)
        self.assertIn(THREE, self.ptx())


class NextHeaders(HeaderCase):
    """#include_next in a header is that file of the folders after it."""

    def test_a_header_may_include_the_standard_header_of_its_name(self):
        self.write("include/limits.h", "#include_next <limits.h>\n#define OWN 1\n")
        self.assert_factor_is_three("#include <limits.h>\n#if OWN && SCHAR_MAX == 127\n" + HAS_FACTOR, "-I", "include")

    def test_a_header_is_not_the_next_one_of_itself(self):
        self.write("include/x.h", "#if __has_include_next(<x.h>)\n#define NEXT\n#endif\n")
        self.assert_factor_is_three("#include <x.h>\n#ifndef NEXT\n" + HAS_FACTOR, "-I", "include")

    def test_a_next_header_that_is_missing_is_named_as_it_is_spelled(self):
        self.write("include/x.h", "#include_next <x.h>\n")
        self.file("half.cu", "#include <x.h>\n" + FACTOR)
        done = self.assert_fails(4, "compile", "half.cu", "-o", "o.fatbin", "-I", "include", says=["the header x.h is in none of the folders"])
        self.assertNotIn("@", done.stderr)


class HeadersBesideTheSource(HeaderCase):
    """An include with quotes searches the folder of the file that has it first."""

    def setUp(self):
        super().setUp()
        self.write("src/f.cuh", '#include "sub/g.cuh"\n')
        self.write("src/sub/g.cuh", '#include "h.cuh"\n')
        self.write("src/sub/h.cuh", "#define FACTOR 3.0F\n")

    def compile_in_folder(self, text, *words, name="src/factor.cu"):
        self.write(name, text)
        self.fatlink("compile", name, "-o", "out.fatbin", *words)
        return self.ptx()

    def test_nested_headers_are_relative_to_the_header_that_includes_them(self):
        self.assertIn(THREE, self.compile_in_folder('#include "f.cuh"\n' + FACTOR))

    def test_a_source_in_the_working_folder(self):
        self.write("f.cuh", "#define FACTOR 3.0F\n")
        self.assert_factor_is_three('#include "f.cuh"\n' + FACTOR)

    def test_it_comes_before_the_folders_of_the_options(self):
        self.write("include/f.cuh", "#define FACTOR 99.0F\n")
        self.assertIn(THREE, self.compile_in_folder('#include "f.cuh"\n' + FACTOR, "-I", "include"))
        self.assertNotIn(THREE, self.compile_in_folder("#include <f.cuh>\n" + FACTOR, "-I", "include"))

    def test_a_header_that_is_not_there_is_found_in_the_next_folder(self):
        self.write("include/other.cuh", "#define FACTOR 3.0F\n")
        self.assertIn(THREE, self.compile_in_folder('#include "other.cuh"\n' + FACTOR, "-I", "include"))

    def test_has_include_tells_it(self):
        self.assertIn(THREE, self.compile_in_folder('#if __has_include("f.cuh") && !__has_include(<f.cuh>)\n' + HAS_FACTOR))

    def test_a_changed_or_new_header_is_compiled_anew(self):
        self.write("include/g.cuh", "#define FACTOR 99.0F\n")
        text = '#include "g.cuh"\n' + FACTOR
        self.assertNotIn(THREE, self.compile_in_folder(text, "-I", "include"))
        self.write("src/g.cuh", "#define FACTOR 3.0F\n")
        self.assertIn(THREE, self.compile_in_folder(text, "-I", "include"))
        self.write("src/g.cuh", "#define FACTOR 98.0F\n")
        self.assertNotIn(THREE, self.compile_in_folder(text, "-I", "include"))

    def test_a_changed_header_of_a_folder_of_the_options_is_compiled_anew_whatever_its_name(self):
        for name in ("a.h", "ab.h", "abc.h", "op.cuh", "below/a.h"):  # paths of lengths around that of the source's folder
            with self.subTest(name=name):
                self.write(f"include/{name}", "#define FACTOR 99.0F\n")
                text = f'#include "{name}"\n' + FACTOR
                self.assertNotIn(THREE, self.compile_in_folder(text, "-I", "include"))
                self.write(f"include/{name}", "#define FACTOR 3.0F\n")
                self.assertIn(THREE, self.compile_in_folder(text, "-I", "include"))

    def test_the_cache_serves_the_same_texts_in_another_folder(self):
        self.compile_in_folder('#include "f.cuh"\n' + FACTOR)
        (self.folder / "src").rename(self.folder / "moved")
        done = self.fatlink("compile", "moved/factor.cu", "-o", "again.fatbin")
        self.assertIn("from the cache", done.stdout)
        self.assertEqual((self.folder / "again.fatbin").read_bytes(), (self.folder / "out.fatbin").read_bytes())

    def test_errors_name_the_file_of_the_header(self):
        self.write("src/sub/h.cuh", "int 3;\n")
        self.write("src/factor.cu", '#include "f.cuh"\n' + FACTOR)
        done = self.assert_fails(4, "compile", "src/factor.cu", "-o", "o.fatbin", says=["src/sub/h.cuh:1: error:"])
        self.assertNotIn("@", done.stderr)

    def test_a_folder_above_the_source_is_not_searched(self):
        self.write("secret.h", "#define FACTOR 31337\nint 3;\n")
        (self.folder / "src/link.h").symlink_to(self.folder / "secret.h")
        for name in ("../secret.h", "link.h", str(self.folder / "secret.h")):
            self.write("src/factor.cu", f'#include "{name}"\n' + FACTOR)
            done = self.assert_fails(4, "compile", "src/factor.cu", "-o", "o.fatbin", says=["is outside of the folders"])
            self.assertNotIn("31337", done.stderr)

    def test_the_other_verbs_find_it(self):
        self.write("src/factor.cu", '#include "f.cuh"\n' + FACTOR)
        self.fatlink("check", "src/factor.cu")
        self.fatlink("link", "apply_transform", "src/factor.cu", "--target", "sm_80", "-o", "out.cubin")
        self.fatlink("run", "--transform", "src/factor.cu", "--device", "cpu", "--elements", "64")


class Directives(HeaderCase):
    """Directives are read as NVRTC reads them."""

    def setUp(self):
        super().setUp()
        self.write("include/factor.h", "int unused;\n")

    def test_a_condition_after_a_byte_order_mark(self):
        self.assert_factor_is_three("\ufeff#if __has_include(<factor.h>)\n" + HAS_FACTOR, "-I", "include")

    def test_a_condition_after_a_comment_of_several_lines(self):
        self.assert_factor_is_three("struct x; /*\n*/ #if __has_include(<factor.h>)\n" + HAS_FACTOR, "-I", "include")

    def test_a_condition_by_a_macro_with_a_comment_in_its_value(self):
        self.assert_factor_is_three("#define NAME /* x\n */ <factor.h>\n#if __has_include(NAME)\n" + HAS_FACTOR, "-I", "include")

    def test_a_condition_by_another_name_of_a_macro_with_arguments(self):
        self.assert_factor_is_three("#define HAS TEST\n#define TEST(x) __has_include(<x.h>)\n#if HAS(factor)\n" + HAS_FACTOR,
                                    "-I", "include")


class Conditions(HeaderCase):
    """__has_include is true for each header that there is."""

    def setUp(self):
        super().setUp()
        self.write("include/factor.h", "int unused;\n")

    def assert_is_found(self, condition, before=""):
        self.assert_factor_is_three(f"{before}#if {condition}\n{HAS_FACTOR}", "-I", "include")

    def test_in_a_macro(self):
        self.assert_is_found("__has_include(NAME)", "#define NAME <factor.h>\n")

    def test_by_a_macro(self):
        self.assert_is_found("HAS(<factor.h>)", "#define HAS(x) __has_include(x)\n")

    def test_by_a_macro_without_parameters(self):
        self.assert_is_found("HAS", "#define HAS __has_include(<factor.h>)\n")

    def test_on_the_next_line(self):
        self.assert_is_found("defined(NOTHING) || \\\n  __has_include(<factor.h>)")

    def test_after_a_comment_of_two_lines(self):
        self.assert_is_found("1 /* one\n two */ && __has_include(<factor.h>)")

    def test_after_a_raw_string_with_the_start_of_a_comment(self):
        self.assert_is_found("__has_include(<factor.h>)", '__device__ char const* text = R"x(\n/*\n)x";\n')

    def test_by_macros_that_make_the_name(self):
        self.assert_is_found("__has_include(H(factor))", "#define Q(x) #x\n#define H(x) Q(x.h)\n")
        self.assert_is_found("__has_include(A(factor.h))", "#define A(x) <x>\n")
        self.assert_is_found("HAS(factor)", "#define HAS(x) __has_include(<x.h>)\n")

    def test_with_digraphs_and_joined_words(self):
        self.assert_factor_is_three(f"%: if __has_include(<factor.h>)\n{HAS_FACTOR}", "-I", "include")
        self.assert_factor_is_three(f"#i\\\nf __has_\\\ninclude(<fac\\\ntor.h>)\n{HAS_FACTOR}", "-I", "include")

    def test_by_a_macro_of_many_values(self):
        names = [f"h{i}.h" for i in range(20)]
        for name in names:
            self.write("include/" + name, "")
        uses = "".join(f"#define H <{name}>\n#if __has_include(H)\n#define N{i} 1\n#endif\n#undef H\n" for i, name in enumerate(names))
        self.assert_is_found(" && ".join(f"defined(N{i})" for i in range(20)), uses)

    def test_through_many_macros(self):
        steps = "".join(f"#define M{i}(a) M{i + 1}(a)\n" for i in range(20))
        self.assert_is_found("__has_include(M0(factor))", f"{steps}#define M20(a) <a.h>\n")

    def test_a_header_beside_another_is_not_there_for_all(self):
        self.write("include/sub/s.h", '#define HAS(x) __has_include(x)\n#if HAS("cfg.h")\n#define BESIDE 1\n#endif\n')
        self.write("include/sub/cfg.h", "#define FACTOR 99.0F\n")
        self.assert_factor_is_three('#include <sub/s.h>\n#if __has_include("cfg.h")\n#include "cfg.h"\n#elif BESIDE\n'
                                    "#define FACTOR 3.0F\n#endif\n" + FACTOR, "-I", "include")

    def test_of_cccl_which_looks_for_cuda_headers(self):
        header = "cuda/std/__cccl/extended_data_types.h"
        folders = self.fatlink_json("doctor").get("nvrtc", {}).get("headers", [])
        if not any(pathlib.Path(folder, header).exists() for folder in folders):
            self.skipTest("no CCCL with this header")
        self.assert_factor_is_three(f"#include <{header}>\n#if _CCCL_HAS_NVFP16()\n{HAS_FACTOR}")


class Names(HeaderCase):
    """A name finds the same file as with nvcc, and each file is there once."""

    def test_a_header_beside_its_includer_is_found_before_the_forced_one(self):
        self.write("config.h", '#define LIB 99.0F\nextern "C" __device__ float user_transform(float);\n')
        self.write("lib/sub/a.h", '#include "config.h"\n#define FACTOR LIB\n')
        self.write("lib/sub/config.h", "#undef LIB\n#define LIB 3.0F\n")
        self.file("factor.cu", "#include <sub/a.h>\n" + FACTOR)
        self.fatlink("compile", "factor.cu", "-o", "out.fatbin", "--header", "config.h", "-I", "lib", "--no-cache")
        self.assertIn(THREE, self.ptx())

    def test_a_header_that_a_macro_names_is_that_of_the_first_folder(self):
        self.write("j/x.h", "#define X 3.0F\n")
        self.write("k/x.h", "#define X 7.0F\n")
        self.write("k/y.h", '#include "x.h"\n')
        self.assert_factor_is_three("#define NAME <x.h>\n#include <y.h>\n#undef X\n#include NAME\n#define FACTOR X\n" + FACTOR,
                                    "-I", "j", "-I", "k")

    def test_a_macro_in_a_header_names_the_file_beside_it(self):
        self.write("i/s/t.h", "#define FACTOR 3.0F\n")
        self.write("i/t.h", "#define FACTOR 99.0F\n")
        for header in ('#define T "t.h"\n#include T\n', '%:include "t.h"\n', '#inc\\\nlude "t.h"\n'):
            with self.subTest(header=header):
                self.write("i/s/u.h", header)
                self.assert_factor_is_three("#include <s/u.h>\n" + FACTOR, "-I", "i")
        (self.folder / "i/t.h").unlink()
        self.write("i/s/u.h", '#define T "t.h"\n#include T\n')
        self.assert_factor_is_three("#include <s/u.h>\n" + FACTOR, "-I", "i")

    def test_a_macro_with_two_values_names_the_file_beside_its_header(self):
        self.write("i/s/t.h", "#define FACTOR 3.0F\n")
        self.write("i/t.h", "#define FACTOR 99.0F\n")
        self.write("i/s/u.h", '#ifdef X\n#define T "v.h"\n#else\n#define T "t.h"\n#endif\n#include T\n')
        self.write("i/s/v.h", "")
        self.assert_factor_is_three("#include <t.h>\n#undef FACTOR\n#include <s/u.h>\n" + FACTOR, "-I", "i")

    def test_a_file_in_a_folder_may_be_included_by_its_path(self):
        path = self.write("i/x.h", "#pragma once\nclass T {};\n#define FACTOR 3.0F\n")
        self.assert_factor_is_three(f'#include "{path}"\n#include <x.h>\n#if !__has_include(<{path}>)\n#error none\n#endif\n' + FACTOR,
                                    "-I", "i")

    def test_a_folder_may_have_any_name(self):
        for name in ("a,b", "a b", "a$b", "a\\b", "a'b", "ä"):
            with self.subTest(name=name):
                self.write(f"{name}/x.h", "#define FACTOR 3.0F\n")
                self.assert_factor_is_three("#include <x.h>\n" + FACTOR, "-I", name)

    def test_the_folders_do_not_change_the_code(self):
        codes = set()
        for name in ("here", "elsewhere/deep"):
            self.write(f"{name}/x.h", "#define FACTOR 3.0F\nstatic __device__ const char* const file = __FILE__;\n")
            self.assert_factor_is_three("#include <x.h>\n__device__ const char* name() { return file; }\n" + FACTOR, "-I", name)
            codes.add((self.folder / "out.fatbin").read_bytes())
        self.assertEqual(len(codes), 1)

    def test_a_header_may_include_one_of_the_folder_above_if_that_is_searched(self):
        self.write("lib/b.h", "#define FACTOR 3.0F\n")
        self.write("lib/sub/a.h", '#include "../b.h"\n')
        for folders in (["-I", "lib/sub", "-I", "lib"], ["-I", "lib", "-I", "lib/sub"]):
            self.assert_factor_is_three("#include <a.h>\n" + FACTOR, *folders)
        (self.folder / "other").mkdir()
        (self.folder / "other/link.h").symlink_to("../lib/b.h")
        self.assert_factor_is_three("#include <link.h>\n" + FACTOR, "-I", "other", "-I", "lib")

    def test_a_mark_of_utf8_at_the_start_of_a_header_is_skipped(self):
        self.write("include/factor.h", b"\xef\xbb\xbf#define FACTOR 3.0F\n")
        self.assert_factor_is_three("#include <factor.h>\n" + FACTOR, "-I", "include")

    def test_a_file_in_two_folders_is_included_once(self):
        self.write("include/sub/u.h", '#include "t.h"\n')
        self.write("include/sub/t.h", "#pragma once\nclass T {};\n#define FACTOR 3.0F\n")
        self.assert_factor_is_three("#include <sub/u.h>\n#include <t.h>\n" + FACTOR, "-I", "include", "-I", "include/sub")

    def test_a_symbolic_link_is_the_file_that_it_names(self):
        self.write("include/a.h", "#pragma once\nclass T {};\n#define FACTOR 3.0F\n")
        (self.folder / "include/alias.h").symlink_to("a.h")
        self.assert_factor_is_three("#include <a.h>\n#include <alias.h>\n" + FACTOR, "-I", "include")

    def test_include_next_goes_on_in_the_folders_after_its_own(self):
        self.write("i1/k.h", "#include_next <k.h>\n")
        self.write("i2/k.h", "#define FACTOR 3.0F\n")
        self.assert_factor_is_three("#include <k.h>\n" + FACTOR, "-I", "i1", "-I", "i2")

    def test_the_header_of_the_contract_may_be_included_again(self):
        self.assert_factor_is_three('#include "apply_transform.cuh"\n#define FACTOR 3.0F\n' + FACTOR)


class Unreadable(HeaderCase):
    def assert_refused(self, name, says, *words):
        source = self.file("bad.cu", f"#include <{name}>\n{FACTOR}")
        self.assert_fails(4, "compile", source, "-o", "out.fatbin", "--no-cache", *words, says=[f"bad.cu:1: the header {name} {says}"],
                          hint="include a regular file in a folder of -I")

    def test_a_header_with_a_nul_is_refused(self):
        self.write("include/f.h", b"#define FACTOR 2.0F\n\0\n#undef FACTOR\n#define FACTOR 3.0F\n")
        self.assert_refused("f.h", "has a NUL byte", "-I", "include")

    def test_a_nul_in_the_forced_header_is_refused(self):
        self.write("nul.h", b"#define FACTOR 2.0F\n\0\n#undef FACTOR\n#define FACTOR 3.0F\n")
        self.file("factor.cu", FACTOR)
        self.assert_fails(3, "compile", "factor.cu", "-o", "out.fatbin", "--header", "nul.h", says=["nul.h has a NUL byte"],
                          hint="save it as UTF-8 text")

    @long_test  # HeaderFiles.AreAtMostAsManyAsTheLimits has the limits
    def test_more_names_than_the_limits_are_refused(self):
        self.file("many.cu", "".join(f"#if __has_include(<n{i}>)\n#endif\n" for i in range(1 << 16)))
        self.assert_fails(3, "compile", "many.cu", "-o", "out.fatbin", "--no-cache", "--compile-timeout", "300",
                          says=["the headers of the source: more than 131072 places to look at"],
                          hint="include fewer headers, or compile it with nvcc")

    def test_a_name_may_begin_with_any_letter(self):
        self.write("include/@1/x.h", "#define FACTOR 3.0F\n")
        self.assert_factor_is_three("#include <@1/x.h>\n" + FACTOR, "-I", "include")

    def test_a_header_that_is_too_large_is_refused(self):
        self.write("include/f.h", b" " * ((1 << 24) + 1))
        self.assert_refused("f.h", "is larger than 16 MiB", "-I", "include")

    def test_a_header_that_is_not_needed_may_be_unreadable(self):
        self.write("include/f.h", b" " * ((1 << 24) + 1))
        self.assert_factor_is_three("#if 0\n#include <f.h>\n#endif\n#define FACTOR 3.0F\n" + FACTOR, "-I", "include")

    def test_nothing_is_told_of_files_outside_of_the_folders(self):
        self.write("secret/there.h", "")
        self.write("include/a.h", "")
        (self.folder / "include/link").symlink_to("/")
        for prefix in ("../secret/", f"link{self.folder}/secret/"):
            for name in ("there.h", "missing.h"):
                with self.subTest(name=prefix + name):
                    self.assert_refused(prefix + name, "is outside of the folders", "-I", "include")

    def test_a_header_that_is_replaced_by_a_link_meanwhile_is_not_read(self):
        good, bad = self.write("good.h", "#define FACTOR 3.0F\n"), self.write("secret.h", "#define FACTOR 31337.0F\n")
        (self.folder / "include").mkdir()
        os.link(good, self.folder / "include/t.h")
        ended = threading.Event()

        def replace():
            while not ended.is_set():
                for make, target in ((os.symlink, bad), (os.link, good)):
                    make(target, self.folder / "include/new")
                    os.replace(self.folder / "include/new", self.folder / "include/t.h")
        thread = threading.Thread(target=replace)
        thread.start()
        try:
            self.file("factor.cu", "#include <t.h>\n" + FACTOR)
            for _ in range(scaled(10)):
                words = [PROGRAM, "compile", "factor.cu", "-I", "include", "-o", "out.fatbin", "--no-cache"]
                if subprocess.run(words, cwd=self.folder, capture_output=True, env=self.environment({})).returncode == 0:
                    self.assertIn(THREE, self.ptx())
        finally:
            ended.set()
            thread.join()


class StandardHeaders(HeaderCase):
    """The headers of the standard library that sources for nvcc include."""
    OWN = ("cstddef", "cstdint", "climits", "cfloat", "stddef.h", "stdint.h", "limits.h", "float.h")
    CCCL = "#include <cuda/std/cstdint>\n#include <cuda/std/cstddef>\n#include <cuda/std/cfloat>\n"

    def folders(self):
        return self.fatlink_json("doctor").get("nvrtc", {}).get("headers", [])

    def need_cccl(self):
        if not any(pathlib.Path(folder, "cuda/std/limits").exists() for folder in self.folders()):
            self.skipTest("no CCCL")

    def test_of_c_may_be_included_by_every_source(self):
        names = ("math.h", "stdio.h", "string.h", "stdlib.h", "assert.h", "time.h", "stdbool.h", "new", "cstdio", *self.OWN)
        uses = ('__device__ double pi = M_PI, inf = HUGE_VAL; __device__ float nan() { return x_is_nan(INFINITY) ? NAN : 0.0F; }\n'
                '__device__ int* use(void* p) { std::printf("%d", EXIT_FAILURE); memset(p, 0, 4); assert(p != NULL); free(malloc(4));\n'
                "  clock_t t = clock(); return new (p) int(abs((int)t)); }\n#define FACTOR 3.0F\n")
        uses = "__device__ bool x_is_nan(float x) { return isnan(x) && x < INFINITY; }\n" + uses
        self.assert_factor_is_three("".join(f"#include <{name}>\n" for name in names) + uses + FACTOR)
        for name in names:
            with self.subTest(name=name):
                self.assert_factor_is_three(f"#include <{name}>\n#define FACTOR 3.0F\n" + FACTOR)

    def test_of_c_agree_with_cccl(self):
        self.need_cccl()
        cccl = "#include <cuda/std/cmath>\n#include <cuda/std/cstdlib>\n"
        for text in ("#include <math.h>\n#include <stdlib.h>\n" + cccl, cccl + "#include <math.h>\n#include <stdlib.h>\n"):
            done = self.compile_source("both.cu", text + "#define FACTOR (INFINITY > 0 ? 3.0F : NAN)\n" + FACTOR)
            self.assertEqual(done.stderr, "")

    @long_test  # test_of_cccl_which_looks_for_cuda_headers has a header of CCCL
    def test_algorithms_of_cuda_compile(self):
        """Those for NVRTC: not <cub/cub.cuh> and <thrust/sort.h>, which have code of the host."""
        self.need_cccl()
        for name in ("cub/block/block_reduce.cuh", "cub/block/block_radix_sort.cuh", "thrust/tuple.h"):
            with self.subTest(name=name):
                self.assert_factor_is_three(f"#include <{name}>\n#define FACTOR 3.0F\n" + FACTOR)

    def test_have_the_names_that_nvcc_knows(self):
        includes = "".join(f"#include <{name}>\n" for name in self.OWN)
        self.assert_factor_is_three(includes + "__device__ std::size_t a = SIZE_MAX; __device__ std::ptrdiff_t b = PTRDIFF_MIN;\n"
                                    "__device__ std::nullptr_t c; __device__ ::uint32_t d = UINT32_MAX, e = UINT32_C(1);\n"
                                    "__device__ std::int_fast16_t f = INT_FAST16_MIN; __device__ std::uintmax_t g = UINTMAX_C(2);\n"
                                    "static_assert(sizeof(std::int64_t) == CHAR_BIT && INT64_MIN < LONG_MAX && FLT_MAX < DBL_MAX, \"\");\n"
                                    "struct pair { int x, y; }; __device__ std::size_t second() { return offsetof(pair, y); }\n"
                                    "#define FACTOR 3.0F\n" + FACTOR)

    def assert_are_known(self, *standards):
        for standard in standards:
            self.assert_factor_is_three("#include <cstdint>\n#include <cstddef>\n__device__ std::size_t a; __device__ std::int8_t b;\n"
                                        "#define FACTOR 3.0F\n" + FACTOR, "--std", standard)

    def test_are_known_in_every_standard(self):
        self.assert_are_known("c++03", "c++20")

    @long_test  # the test above has the oldest and the newest
    def test_are_known_in_the_standards_between(self):
        self.assert_are_known("c++11", "c++14", "c++17")

    def test_agree_with_those_of_cccl(self):
        self.need_cccl()
        own = "".join(f"#include <{name}>\n" for name in self.OWN)
        for text in (own + self.CCCL, self.CCCL + own):
            done = self.compile_source("both.cu", text + "#define FACTOR 3.0F\n" + FACTOR)
            self.assertEqual(done.stderr, "")

    @long_test  # the test above has the headers that both have
    def test_that_fatlink_lacks_are_those_of_cccl(self):
        self.need_cccl()
        self.assert_factor_is_three("#include <limits>\n#include <type_traits>\n#include <version>\n"
                                    'static_assert(std::numeric_limits<float>::is_iec559 && std::is_same<int, int>::value, "");\n'
                                    "#define FACTOR 3.0F\n" + FACTOR)

    def test_of_a_folder_come_first(self):
        self.write("include/cstdint", "#define FACTOR 3.0F\n")
        self.assert_factor_is_three("#include <cstdint>\n" + FACTOR, "-I", "include")

    def assert_shipped_is_verified(self, file, contract):
        self.fatlink("compile", str(file), "-o", file.stem + ".fatbin", "--contract", contract, "-I", str(file.parent))
        report = self.fatlink_json("run", "--device", "cpu", "--library", contract, "--transform", file.stem + ".fatbin",
                                   "--elements", "1000")
        self.assertEqual([mode["mode"] for mode in report["modes"]], ["ptx", "lto"])
        for mode in report["modes"]:
            results = mode["reference"]
            self.assertTrue(results)
            self.assertEqual([result["verified"] for result in results], [True] * len(results), mode)

    def assert_all_shipped_are_verified(self, least, most=None):
        self.need_nvjitlink()
        for contract in ("convert", "stencil"):
            # Those that CMake wrote from a table are in the build folder.
            folders = [pathlib.Path(place, "kernels/transforms", contract) for place in (BUILD, os.environ["FATLINK_SOURCE"])]
            files = sorted(file for folder in folders for file in folder.glob("*.cu"))[:most]
            self.assertGreaterEqual(len(files), least)
            for file in files:
                with self.subTest(file=file.name):
                    self.assert_shipped_is_verified(file, contract)

    def test_shipped_transforms_for_launch_plans_are_verified(self):
        """One of each contract."""
        self.assert_all_shipped_are_verified(least=1, most=1)

    @long_test  # the test above has one of each contract
    def test_all_shipped_transforms_for_launch_plans_are_verified(self):
        self.assert_all_shipped_are_verified(least=2)


class Contracts(HeaderCase):
    """Installed contracts whose headers include others."""

    def install(self, header, hooks=("user_transform",), **files):
        data = self.folder / "data"
        self.write("data/contracts/scale/scale.cuh", header)
        for name, text in files.items():
            self.write(f"data/{name.replace('__', '/').replace('_h', '.h')}", text)
        self.write("data/contracts/scale.json", json.dumps(
            {"fatlink_contract": 1, "contract": "scale", "version": 1, "header": "scale/scale.cuh", "hooks": list(hooks)}))
        return {"FATLINK_PATH": str(data)}

    def compile_for(self, env, source, *words, **options):
        self.file("scale.cu", source)
        return self.fatlink("compile", "scale.cu", "-o", "out.fatbin", "--contract", "scale", *words, env=env, **options)

    def test_a_header_of_cuda(self):
        env = self.install('#include <cuda_fp16.h>\nextern "C" __device__ __half user_transform(__half);\n')
        self.compile_for(env, 'extern "C" __device__ __half user_transform(__half x) { return x + x; }\n')
        self.assertIn("__half user_transform(__half)", self.fatlink("inspect", "out.fatbin").stdout)

    def test_a_file_beside_it(self):
        env = self.install('#include "types.h"\nextern "C" __device__ number user_transform(number);\n',
                           contracts__scale__types_h="typedef float number;\n")
        self.compile_for(env, "#define FACTOR 3.0F\n" + FACTOR)
        self.assertIn("float user_transform(float)", self.fatlink("inspect", "out.fatbin").stdout)

    def test_a_file_in_the_folder_of_contracts(self):
        env = self.install('#include "../common.h"\nextern "C" __device__ number user_transform(number);\n',
                           contracts__common_h="typedef float number;\n")
        self.compile_for(env, "#define FACTOR 3.0F\n" + FACTOR)
        self.assertIn("float user_transform(float)", self.fatlink("inspect", "out.fatbin").stdout)

    def test_a_header_of_the_data_folder(self):
        env = self.install('#include <scale/types.h>\nextern "C" __device__ number user_transform(number);\n',
                           include__scale__types_h="typedef float number;\n#define FACTOR 3.0F\n")
        self.compile_for(env, FACTOR)
        self.assertIn(THREE, self.ptx())

    def test_a_name_that_is_a_path_is_not_looked_up(self):
        env = self.install('extern "C" __device__ float user_transform(float);\n')
        self.file("scale.cu", "#define FACTOR 3.0F\n" + FACTOR)
        for name in ("../contracts/scale", "./scale"):
            self.assert_fails(2, "compile", "scale.cu", "-o", "out.fatbin", "--contract", name,
                              says=[f"--contract: '{name}' is not the name of a contract"], env=env)
        self.assert_fails(3, "compile", "scale.cu", "-o", "out.fatbin", "--contract", ".hidden",
                          says=["the contract .hidden is not installed"], env=env)


    def assert_changes_the_contract(self, env, source, *words):
        self.file("scale.cu", source)
        self.assert_fails(4, "compile", "scale.cu", "-o", "out.fatbin", "--contract", "scale", *words,
                          says=["scale.cu: macros (-D) or folders (-I) of the compile change what the contract scale/1 declares"],
                          hint="rename the macro, or the file that hides a header which the contract includes", env=env)

    def test_a_folder_cannot_change_the_types(self):
        env = self.install('#include <types.h>\nextern "C" __device__ real user_transform(real);\n',
                           include__types_h="typedef float real;\n")
        self.write("own/types.h", "typedef int real;\n")
        self.assert_changes_the_contract(env, 'extern "C" __device__ int user_transform(int x) { return x + x; }\n', "-I", "own")

    def test_a_macro_cannot_change_the_types(self):
        env = self.install("#ifndef ELEMENT\n#define ELEMENT float\n#endif\n"
                           'extern "C" __device__ ELEMENT user_transform(ELEMENT);\n')
        self.assert_changes_the_contract(env, 'extern "C" __device__ int user_transform(int x) { return x + x; }\n',
                                         "-D", "ELEMENT=int")
        self.compile_for(env, "#define FACTOR 3.0F\n" + FACTOR, "-D", "ELEMENT=float")

    def test_a_macro_cannot_rename_the_hook(self):
        env = self.install('extern "C" __device__ float user_transform(float);\n')
        source = '#undef user_transform\nextern "C" __device__ int user_transform(int) { return 5; }\n'
        self.assert_changes_the_contract(env, source, "-D", "user_transform=other")

    def test_what_they_include_is_part_of_the_key(self):
        env = self.install('#include <types.h>\nextern "C" __device__ real user_transform(real);\n',
                           include__types_h="typedef float real;\n")
        self.write("own/types.h", "typedef float real;\n")
        self.compile_for(env, "#define FACTOR 3.0F\n" + FACTOR, "-I", "own")
        self.write("data/include/types.h", "typedef double real;\n")
        self.assert_changes_the_contract(env, "#define FACTOR 3.0F\n" + FACTOR, "-I", "own")


class Keys(HeaderCase):
    def assert_cached(self, outcome, *words):
        self.assertEqual(self.fatlink_json("compile", "factor.cu", "-o", "out.fatbin", *words)["cache"], outcome)

    def test_a_header_that_appears_before_another_is_noticed(self):
        self.write("two/factor.h", "#define FACTOR 5.0F\n")
        (self.folder / "one").mkdir()
        self.file("factor.cu", "#include <factor.h>\n" + FACTOR)
        folders = ["-I", "one", "-I", "two"]
        self.assert_cached("miss", *folders)
        self.assert_cached("hit", *folders)
        self.write("one/factor.h", "#define FACTOR 3.0F\n")
        self.assert_cached("miss", *folders)
        self.assertIn(THREE, self.ptx())
        (self.folder / "one/factor.h").unlink()
        self.assert_cached("hit", *folders)
        self.assertNotIn(THREE, self.ptx())

    def test_a_header_that_includes_others_after_a_change_is_noticed(self):
        self.write("include/factor.h", "#define FACTOR 5.0F\n")
        self.write("include/new.h", "#define FACTOR 3.0F\n")
        self.file("factor.cu", "#include <factor.h>\n" + FACTOR)
        self.assert_cached("miss", "-I", "include")
        self.write("include/factor.h", "#include <new.h>\n")
        for outcome in ("miss", "hit"):
            self.assert_cached(outcome, "-I", "include")
            self.assertIn(THREE, self.ptx())
        self.write("include/new.h", "#define FACTOR 4.0F\n")
        for outcome in ("miss", "hit"):
            self.assert_cached(outcome, "-I", "include")
            self.assertNotIn(THREE, self.ptx())

    def test_the_same_headers_in_another_folder_are_in_the_cache(self):
        self.file("factor.cu", "#include <factor.h>\n" + FACTOR)
        for name, outcome in (("here", "miss"), ("elsewhere", "hit")):
            self.write(f"{name}/factor.h", "#define FACTOR 3.0F\n")
            self.assert_cached(outcome, "-I", name)

    def test_a_header_that_a_macro_named_and_that_is_gone_is_reported(self):
        header = self.write("include/factor.h", "#define FACTOR 3.0F\n")
        text = "#define JOIN(a) <a.h>\n#include JOIN(factor)\n" + FACTOR
        self.file("factor.cu", text)
        words = ["compile", "factor.cu", "-I", "include", "-o", "out.fatbin"]
        self.fatlink(*words)
        header.unlink()
        for _ in range(2):
            self.assert_fails(4, *words, says=["the header factor.h is in none of the folders"])

    def test_headers_that_only_the_compiler_finds_are_found_in_the_cache(self):
        steps = "".join(f"#define M{i}(a) M{i + 1}(a)\n" for i in range(20))
        uses = "".join(f"#include M0(part{i})\n" for i in range(3))
        for i, factor in enumerate(("1.0F", "2.0F", "3.0F")):
            self.write(f"include/part{i}.h", f"#undef FACTOR\n#define FACTOR {factor}\n")
        self.file("factor.cu", f"{steps}#define M20(a) <a.h>\n{uses}{FACTOR}")
        words = ["compile", "factor.cu", "-I", "include", "-o", "out.fatbin"]
        self.assertEqual(self.fatlink_json(*words)["cache"], "miss")
        self.assertEqual(self.fatlink_json(*words, env={"FATLINK_LINKD": "/nowhere"})["cache"], "hit")
        self.assertIn(THREE, self.ptx())
        self.write("include/part2.h", "#undef FACTOR\n#define FACTOR 5.0F\n")
        self.assertEqual(self.fatlink_json(*words)["cache"], "miss")
        self.assertNotIn(THREE, self.ptx())
