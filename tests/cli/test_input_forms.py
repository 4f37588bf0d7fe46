# SPDX-License-Identifier: Apache-2.0
"""Every form of input is recognized by content; a file that a command does not take is named for what it is, with the
remedy."""
import gzip
import io
import shutil
import subprocess
import tarfile
import unittest
import zipfile

from fatlink_cli import HOOK, NVCC, CliTest

COMPILE = "nvcc -dlto -fatbin"


class InputForms(CliTest):
    def assert_refused(self, verb, path, *, code, says, hint, says_not="copy it again"):
        """Exit status 3, the code, what the file is, the remedy; never "copy it again" where the form is another."""
        result = self.assert_fails(3, verb, f"./{path}", says=[f"{path}: {says}"])
        self.assertRegex(result.stderr, f"code: +{code}")
        self.assertRegex(result.stderr, f"hint: .*{hint}")
        self.assertNotIn(says_not, result.stderr)

    def assert_recognized(self, path, *, says, hint=COMPILE):
        """By a command that takes fatbins only."""
        self.assert_refused("digest", path, code="not-a-fatbin", says=f"not a fatbin but {says}", hint=hint)

    def assert_no_device_code(self, path, says):
        self.assert_refused("inspect", path, code="no-device-code", says=says, hint="nvcc -dc")

    def assert_form(self, path, form):
        self.assertEqual(self.fatlink_json("inspect", f"./{path}")["files"][0]["form"], form)


class WhatNvccWrites(InputForms):
    def nvcc(self, output, *options, source=HOOK):
        if shutil.which(NVCC) is None:
            self.skipTest("compiles, and FATLINK_NVCC names no nvcc")
        self.file("t.cu", source)
        subprocess.run([NVCC, *options, "-o", output, "t.cu"], cwd=self.folder, check=True)

    def test_a_host_object_says_whether_it_holds_device_code(self):
        for options, says in ((["-c"], "with whole-program device code (section .nv_fatbin)"),
                              (["-dc"], "with relocatable device code (section __nv_relfatbin)"),
                              (["-dlto", "-c"], "with relocatable device code (section __nv_relfatbin)"),
                              (["-x", "c++", "-c"], "without device code")):
            with self.subTest(options=options):
                source = HOOK if "c++" not in options else "int host() { return 0; }\n"
                self.nvcc("t.o", *options, source=source)
                self.assert_recognized("t.o", says=f"an ELF relocatable object (x86-64) {says}")
                if "relocatable" in says:
                    self.assert_form("t.o", "object")

    def test_an_object_without_relocatable_device_code_is_refused(self):
        self.nvcc("whole.o", "-c")
        self.assert_no_device_code("whole.o", "its device code (section .nv_fatbin) is a whole program and cannot be linked")
        self.nvcc("host.o", "-x", "c++", "-c", source="int host() { return 0; }\n")
        self.assert_no_device_code("host.o", "holds no device code")

    def test_an_object_of_the_host_compilers_link_time_optimization_is_named_as_such(self):
        self.nvcc("t.o", "-dc", "-Xcompiler", "-flto")
        self.assert_refused("inspect", "t.o", code="no-device-code", says="holds no device code: the link-time optimization of "
                            "the host compiler", hint="-Xcompiler -fno-lto or -Xcompiler -ffat-lto-objects")

    def test_a_cubin_names_its_architecture(self):
        self.nvcc("whole.cubin", "-cubin", "-arch=sm_90")
        self.assert_recognized("whole.cubin", says="a CUDA cubin for sm_90 (whole program, cannot be linked)")
        self.nvcc("relocatable.cubin", "-cubin", "-rdc=true", "-arch=sm_80")
        self.assert_recognized("relocatable.cubin", says="a relocatable CUDA cubin for sm_80")
        for path in ("whole.cubin", "relocatable.cubin"):
            self.assert_form(path, "cubin")

    def test_ptx_text_names_its_version(self):
        self.nvcc("t.ptx", "-ptx", "-rdc=true")
        self.assert_recognized("t.ptx", says="PTX text of version 9.")
        self.assert_form("t.ptx", "ptx")

    def test_raw_ltoir_names_its_container_version_and_architecture(self):
        self.nvcc("t.ltoir", "-dlto", "-ltoir", "-arch=sm_75")
        self.assert_recognized("t.ltoir", says="raw LTO-IR for sm_75 (container version 1.6")
        self.assert_form("t.ltoir", "ltoir")

    def test_an_archive(self):
        self.nvcc("t.a", "-lib", "-dlto")
        self.assert_recognized("t.a", says="an ar archive")
        self.assert_form("t.a", "archive")

    def test_a_program(self):
        self.nvcc("t", source="int main() { return 0; }\n")
        self.assert_recognized("t", says="an ELF ")
        self.assert_recognized("t", says="", hint="FILE.cu")
        self.assert_no_device_code("t", "its device code (section .nv_fatbin) is a whole program and cannot be linked")


class OtherFiles(InputForms):
    def assert_content(self, content, says, hint=COMPILE, input_hint=None):
        """Refused where a fatbin is required, and where any form of input is."""
        self.file("t.fatbin", content)
        self.assert_recognized("t.fatbin", says=says, hint=hint)
        self.assert_refused("inspect", "t.fatbin", code="unknown-form", says=f"is {says}", hint=input_hint or hint)

    def test_text(self):
        self.assert_content(HOOK, "CUDA C++ source")
        self.assert_content("; ModuleID = 'x'\n", "LLVM IR text", input_hint="FILE.ll")
        self.assert_content('{"name": "t"}\n', "JSON text", hint="pass the .fatbin beside it")
        self.assert_content("<!DOCTYPE html>\n<html>404</html>", "HTML text", hint="download")
        self.assert_content("version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a Git LFS pointer",
                            hint="git lfs pull")
        self.assert_content("hello\n", "text")

    def test_ptx_for_addresses_of_32_bits(self):
        self.file("t.fatbin", "// a comment\n\n.version 8.7\n.target sm_90\n")
        self.assert_recognized("t.fatbin", says="PTX text of version 8.7")
        self.assert_refused("inspect", "t.fatbin", code="corrupt-ptx", hint="for 64-bit addresses",
                            says="its PTX has no .address_size 64 after .target", says_not="not a fatbin")

    def test_archives_and_compressed_files(self):
        self.assert_content(gzip.compress(b"x"), "gzip-compressed data", hint="decompress it")
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("t.fatbin", "x")
        self.assert_content(packed.getvalue(), "a zip archive", hint="unpack it")
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            archive.addfile(tarfile.TarInfo("t.fatbin"))
        self.assert_content(packed.getvalue(), "a tar archive", hint="unpack it")
        self.assert_content(b"!<arch>\ndebian-binary   0 ", "a Debian package", hint="install it")

    def test_other_binary_data(self):
        self.assert_content(b"BC\xc0\xde" + bytes(40), "LLVM bitcode", input_hint="FILE.ll")
        self.assert_content(b"\x93NUMPY\x01\x00" + bytes(40), "a .npy file", hint="--input")
        self.assert_content(bytes(64), "64 zero bytes", hint="incomplete")
        self.assert_content(b"\x01\x02\x03\x04\xff", "unknown data that begins with 01 02 03 04")


if __name__ == "__main__":
    unittest.main()
