# SPDX-License-Identifier: Apache-2.0
"""Files that `fatlink pack` refuses to write as one fatbin."""
import shutil
import struct

from fatlink_cli import HOOK
from pack_case import BOTH_75, FORMS, PTX_75, PTX_90, RELU, Pack


class Refuses(Pack):
    def test_two_entries_of_one_kind_and_target(self):
        a, b = self.compile("a", HOOK, *BOTH_75), self.compile("b", HOOK, *PTX_75)
        stderr = self.refuse("duplicate-entry", a, b, says=[f"{a} and {b} both hold ptx:sm_75"])
        self.assertIn("pass other translation units to the link as separate inputs", stderr)
        self.refuse("duplicate-entry", a, a, says=["a.fatbin is passed twice; a fatbin holds one entry for each kind and target"])
        self.assertIn(f"pass {a} once", self.refuse("duplicate-entry", a, a, says=[]))

    def test_a_file_of_two_translation_units(self):
        content = self.compile("a", HOOK, *PTX_75).read_bytes()
        self.file("two.fatbin", content + content)
        self.refuse("duplicate-entry", "two.fatbin", says=["two.fatbin[1] and two.fatbin[2] both hold ptx:sm_75"])

    def test_a_container_of_two_translation_units(self):
        content = self.compile("a", HOOK, *PTX_75).read_bytes()
        header, entries = content[:8], content[16:]
        self.file("two.fatbin", header + struct.pack("<Q", 2 * len(entries)) + 2 * entries)
        self.refuse("duplicate-entry", "two.fatbin", says=["two.fatbin holds two ptx:sm_75 entries"])

    def test_files_of_different_sources(self):
        a = self.compile("a", HOOK, *PTX_75)
        for name, source, says in (
                ("name", HOOK.replace("user", "other"), "defines (b32) user_transform(b32), and"),
                ("more", HOOK + 'extern "C" __global__ void k() {}', "more.fatbin (ptx:sm_90) defines the kernel k(), and"),
                ("type", HOOK.replace("float", "double"), "type.fatbin (ptx:sm_90) defines (b64) user_transform(b64)"),
                ("hook", 'extern "C" __device__ float user_transform(float);\n'
                         '__global__ void k(float* x) { *x = user_transform(*x); }', "user_transform"),
                ("data", HOOK + 'extern "C" { __device__ int data; }', "defines global align 4 u32 data")):
            with self.subTest(name=name):
                b = self.compile(name, source, *PTX_90)
                self.refuse("interface-mismatch", a, b, says=["a.fatbin (ptx:sm_75)", f"{name}.fatbin", says])

    def test_no_files_whose_weak_functions_differ(self):
        inline = "__device__ __noinline__ inline int more(int x) { return x; }\n"
        a = self.compile("a", HOOK, *PTX_75)
        b = self.compile("b", inline + HOOK.replace("return x", "return more(x)"), *PTX_90)
        self.assertEqual(self.pack(a, b)[0].returncode, 0)

    def test_variables_of_one_name_and_different_types(self):
        a = self.compile("a", 'extern "C" { __device__ int data = 1; }', *PTX_75)
        b = self.compile("b", 'extern "C" { __device__ double data = 1; }', *PTX_90)
        self.refuse("interface-mismatch", a, b, says=["defines global align 4 u32 data", "defines global align 8"])

    def test_to_overwrite_an_input_or_its_sidecar(self):
        file = self.folder / "in.fatbin"
        shutil.copy(RELU, file)
        shutil.copy(RELU.with_suffix(".json"), self.folder / "in.json")
        (self.folder / "link.fatbin").symlink_to("in.fatbin")
        content = file.read_bytes()
        for output, shown in (("in.fatbin", "in.fatbin"), ("link.fatbin", "link.fatbin"), ("in", "in.json")):
            self.assert_fails(2, "pack", "-o", output, "in.fatbin", says=[f"{shown} is also an input"])
        self.assertEqual(file.read_bytes(), content)

    def test_the_name_of_a_sidecar(self):
        self.assert_fails(2, "pack", "-o", "out.json", RELU, says=["a fatbin and its sidecar cannot have the same name"],
                          hint="name the fatbin x.fatbin")

    def test_a_cubin_of_another_type_than_the_ptx(self):
        self.refuse("interface-mismatch", FORMS / "transform.ptx", FORMS / "double.cubin",
                    says=["user_transform(b32)", "user_transform(b64)"])

    def test_a_whole_program_which_no_link_takes(self):
        self.refuse("not-relocatable", FORMS / "whole_program.cubin",
                    says=["whole_program.cubin holds a whole-program cubin for sm_90, which cannot be linked"])

    def test_what_has_no_input_form(self):
        self.file("t.fatbin", "text")
        self.assert_fails(3, "pack", "-o", "out.fatbin", "t.fatbin",
                          says=["t.fatbin: is text, none of the forms fatbin, ptx,"])

    def test_a_folder_that_does_not_exist(self):
        self.assert_fails(3, "pack", "-o", "no/out.fatbin", RELU, says=["no/out.fatbin"])


