# SPDX-License-Identifier: Apache-2.0
"""The example in C++ of docs/cufft.md, taken from there: built with the toolkit's cuFFT, run with a libcufft that records its
calls or, on a machine with a GPU, with cuFFT, and verified by `fatlink run`."""
import re
import unittest

from fake_cufft import build_fake_cufft, digest_of
from outside_library import TOOLKIT, run
from page_example import BUILD, PageExample

REFUSALS = """
#include <fatlink/cufft.hpp>

#include <cstdio>
#include <cstdlib>

/// Prints why the file is refused as a callback of the type.
int main(int count, char** words)
try {
  int plan = 0;
  cufftCreate(&plan);
  auto const type = static_cast<cufftXtCallbackType>(std::atoi(words[2]));
  fatlink::cufft_callback callback(fatlink::input::find(words[1]), type, words[3]);
  if (count > 4) plan = 0;
  callback.set(plan);
  std::puts("set");
} catch (fatlink::error const& failure) {
  std::printf("%s\\n%s\\n%s\\n", failure.details().code.text().c_str(), failure.what(), failure.details().hint.c_str());
}
"""


def has_cufft():
    return any((TOOLKIT / folder / "libcufft.so").exists() for folder in ("lib64", "lib")) and (
        TOOLKIT / "include/cufftXt.h").exists()


@unittest.skipUnless(has_cufft(), "the CUDA toolkit has no cuFFT")
class Callbacks(PageExample):
    page = "docs/cufft.md"
    heading = "## Example in C++"
    project = "scaled"
    warnings = "-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        fake = cls.folder / "fake"
        fake.mkdir()
        build_fake_cufft(fake)
        cls.env["FATLINK_PATH"] = f"{cls.build}:{BUILD}/share/fatlink"
        cls.fake = {"LD_LIBRARY_PATH": str(fake), "FAKE_CUFFT_LOG": str(cls.folder / "log"), **cls.env}

    @classmethod
    def add_files(cls, project):
        (project / "refusals.cpp").write_text(REFUSALS)
        with open(project / "CMakeLists.txt", "a") as lists:
            lists.write("add_executable(refusals refusals.cpp)\n"
                        "target_link_libraries(refusals PRIVATE fatlink::fatlink CUDA::cufft)\n")

    def refusal(self, *words):
        return run(self.build / "refusals", *words, **self.fake).splitlines()

    def compiled(self, name, text, *words):
        (self.folder / f"{name}.cu").write_text(text)
        run(BUILD / "bin/fatlink", "compile", self.folder / f"{name}.cu", "-o", self.folder / f"{name}.fatbin", *words, **self.env)
        return self.folder / f"{name}.fatbin"

    def test_are_read_by_cufft_when_the_plan_is_made(self):
        (self.folder / "log").unlink(missing_ok=True)
        run(self.build / "host", "cpu", **self.fake)
        lines = (self.folder / "log").read_text().splitlines()
        address = re.search(r"info (0x\w+)$", lines[3])
        digest = digest_of((self.build / "scale.fatbin").read_bytes())
        self.assertEqual(lines, ["create 1", "set 1 name NULL type 0", "make 1 size 8 batch 1",
                                 f"read type 0 digest {digest} info {address[1]}", "execute 1", "destroy 1"])

    def test_run_in_cufft(self):
        if not self.doctor["gpus"]:
            self.skipTest("no GPU on this machine")
        self.assert_program_prints_its_comment([])

    def test_are_verified_as_the_page_shows(self):
        self.assert_commands_print_what_the_page_shows()

    def test_of_another_type_are_refused_with_both_types(self):
        code, message, _ = self.refusal("scale", 2, "sm_90")
        self.assertEqual(code, "contract-mismatch")
        self.assertRegex(message, "built against contract cufft_load_real/1 .* built against contract cufft_load_complex/1")
        callback = (self.build.parent / "scale.cu").read_text()
        wrong = self.compiled("result", callback.replace("float2 cufft", "double2 cufft").replace("return", "return double2"))
        code, message, _ = self.refusal(wrong, 0, "sm_90")
        self.assertEqual(code, "signature-mismatch")
        for part in ("declares (b8[8]) _Z27cufftJITCallbackLoadComplex", "defines (b8[16]) _Z27cufftJITCallbackLoadComplex"):
            self.assertIn(part, message)
        wrong = self.compiled("parameter", callback.replace("unsigned long long", "unsigned"))
        self.assertEqual(self.refusal(wrong, 0, "sm_90")[::2], [
            "missing-hook", "define cufftJITCallbackLoadComplex(void*, unsigned long long, void*, void*), "
                            "not cufftJITCallbackLoadComplex(void*, unsigned int, void*, void*)"])

    def test_for_newer_gpus_are_refused(self):
        callback = self.compiled("newer", (self.build.parent / "scale.cu").read_text(), "--arch", "90")
        self.assertEqual(self.refusal(callback, 0, "sm_90"), ["set"])
        self.assertEqual(self.refusal(callback, 0, "sm_80")[0], "arch-too-new")

    def test_of_no_type_and_in_archives_are_refused(self):
        self.assertEqual(self.refusal("scale", 8, "sm_90"), ["invalid-argument", "no callback has the type 8",
                                                             "pass CUFFT_CB_LD_COMPLEX to CUFFT_CB_ST_REAL_DOUBLE"])
        archive = self.folder / "two.a"
        run("ar", "rc", archive, self.build / "scale.fatbin", self.compiled("other", "__device__ int other() { return 1; }"))
        code, message, hint = self.refusal(archive, 0, "sm_90")
        self.assertEqual((code, message, hint), ("invalid-argument", f"{archive} has several modules; cuFFT takes one",
                                                 "pass the fatbin or object that defines the callback"))

    def test_report_what_cufft_returns(self):
        code, message, hint = self.refusal("scale", 0, "sm_90", "no-plan")
        self.assertEqual(code, "cufftResult 1")
        self.assertTrue(message.endswith("scale.fatbin: cufftXtSetJITCallback returned 1"), message)
        self.assertEqual(hint, "set callbacks after cufftCreate and before cufftMakePlan…")


if __name__ == "__main__":
    unittest.main()
