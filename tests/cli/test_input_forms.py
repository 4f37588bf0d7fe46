# SPDX-License-Identifier: Apache-2.0
"""A file that is not a fatbin: the error says what the file is and how to make a fatbin from it."""
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
    def assert_recognized(self, path, *, says, hint=COMPILE):
        """Exit status 3, the id not-a-fatbin, what the file is, the remedy; never "copy it again"."""
        result = self.assert_fails(3, "inspect", f"./{path}", says=[f"{path}: not a fatbin but {says}"])
        self.assertRegex(result.stderr, "code: +not-a-fatbin")
        self.assertRegex(result.stderr, f"hint: .*{hint}")
        self.assertNotIn("copy it again", result.stderr)


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

    def test_a_cubin_names_its_architecture(self):
        self.nvcc("whole.cubin", "-cubin", "-arch=sm_90")
        self.assert_recognized("whole.cubin", says="a CUDA cubin for sm_90 (whole program, cannot be linked)")
        self.nvcc("relocatable.cubin", "-cubin", "-rdc=true", "-arch=sm_80")
        self.assert_recognized("relocatable.cubin", says="a relocatable CUDA cubin for sm_80")

    def test_ptx_text_names_its_version(self):
        self.nvcc("t.ptx", "-ptx", "-rdc=true")
        self.assert_recognized("t.ptx", says="PTX text of version 9.")

    def test_raw_ltoir_names_its_container_version_and_architecture(self):
        self.nvcc("t.ltoir", "-dlto", "-ltoir", "-arch=sm_75")
        self.assert_recognized("t.ltoir", says="raw LTO-IR for sm_75 (container version 1.6")

    def test_an_archive(self):
        self.nvcc("t.a", "-lib", "-dlto")
        self.assert_recognized("t.a", says="an ar archive")

    def test_a_program(self):
        self.nvcc("t", source="int main() { return 0; }\n")
        self.assert_recognized("t", says="an ELF ")
        self.assert_recognized("t", says="", hint="FILE.cu")


class OtherFiles(InputForms):
    def assert_content(self, content, says, hint=COMPILE):
        self.file("t.fatbin", content)
        self.assert_recognized("t.fatbin", says=says, hint=hint)

    def test_text(self):
        self.assert_content(HOOK, "CUDA C++ source")
        self.assert_content("// a comment\n\n.version 8.7\n.target sm_90\n", "PTX text of version 8.7")
        self.assert_content("; ModuleID = 'x'\n", "LLVM IR text")
        self.assert_content('{"name": "t"}\n', "JSON text", hint="pass the .fatbin beside it")
        self.assert_content("<!DOCTYPE html>\n<html>404</html>", "HTML text", hint="download")
        self.assert_content("version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a Git LFS pointer",
                            hint="git lfs pull")
        self.assert_content("hello\n", "text")

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
        self.assert_content(b"BC\xc0\xde" + bytes(40), "LLVM bitcode")
        self.assert_content(b"\x93NUMPY\x01\x00" + bytes(40), "a .npy file", hint="--input")
        self.assert_content(bytes(64), "64 zero bytes", hint="incomplete")
        self.assert_content(b"\x01\x02\x03\x04\xff", "unknown data that begins with 01 02 03 04")


if __name__ == "__main__":
    unittest.main()
