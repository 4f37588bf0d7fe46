# SPDX-License-Identifier: Apache-2.0
"""The headers that a compile finds are those that a compiler with files would find."""
import json
import os
import pathlib
import subprocess
import threading

from compile_case import CompileCase
from fatlink_cli import PROGRAM

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
        self.assert_fails(4, "compile", source, "-o", "out.fatbin", "--no-cache", *words, says=[f"bad.cu: the header {name} {says}"],
                          hint="include a regular file in a folder of -I")

    def test_a_header_with_a_nul_is_refused(self):
        self.write("include/f.h", b"#define FACTOR 2.0F\n\0\n#undef FACTOR\n#define FACTOR 3.0F\n")
        self.assert_refused("f.h", "has a NUL byte", "-I", "include")

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
            for _ in range(30):
                words = [PROGRAM, "compile", "factor.cu", "-I", "include", "-o", "out.fatbin", "--no-cache"]
                if subprocess.run(words, cwd=self.folder, capture_output=True, env=self.environment({})).returncode == 0:
                    self.assertIn(THREE, self.ptx())
        finally:
            ended.set()
            thread.join()


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
