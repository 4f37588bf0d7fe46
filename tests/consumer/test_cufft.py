# SPDX-License-Identifier: Apache-2.0
"""The example in C++ of docs/cufft.md, taken from there: built with the toolkit's cuFFT, run with a libcufft that records its
calls or, on a machine with a GPU, with cuFFT, and verified by `fatlink run`."""
import json
import os
import pathlib
import re
import shutil
import tempfile
import unittest

from document_session import blocks, pattern_of, steps
from fake_cufft import build_fake_cufft, digest_of
from outside_library import TOOLKIT, run

BUILD = pathlib.Path(os.environ["FATLINK_BUILD"])
SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
CMAKE = os.environ["FATLINK_CMAKE"]
TEXT = (SOURCE / "docs/cufft.md").read_text()
EXAMPLE = TEXT.split("## Example in C++\n")[1].split("\n## ")[0]
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
class Callbacks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-cufft-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        (cls.folder / "scaled").mkdir()
        for name, language, content in blocks(EXAMPLE):
            if language != "console":
                (cls.folder / name).write_text(content)
        (cls.folder / "scaled/refusals.cpp").write_text(REFUSALS)
        with open(cls.folder / "scaled/CMakeLists.txt", "a") as lists:
            lists.write("add_executable(refusals refusals.cpp)\n"
                        "target_link_libraries(refusals PRIVATE fatlink::fatlink CUDA::cufft)\n")
        build = cls.folder / "scaled/build"
        run(CMAKE, "-S", cls.folder / "scaled", "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={BUILD}",
            f"-DCUDAToolkit_ROOT={TOOLKIT}", "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror")
        run(CMAKE, "--build", build)
        fake = cls.folder / "fake"
        fake.mkdir()
        build_fake_cufft(fake)
        cls.doctor = json.loads(run(BUILD / "bin/fatlink", "doctor", "--json"))
        cls.env = {"FATLINK_PATH": f"{build}:{BUILD}/share/fatlink", "FATLINK_CACHE_DIR": str(cls.folder / "cache")}
        cls.fake = {**cls.env, "LD_LIBRARY_PATH": str(fake), "FAKE_CUFFT_LOG": str(cls.folder / "log")}

    def refusal(self, *words):
        return run(self.folder / "scaled/build/refusals", *words, **self.fake).splitlines()

    def compiled(self, name, text, *words):
        (self.folder / f"{name}.cu").write_text(text)
        run(BUILD / "bin/fatlink", "compile", self.folder / f"{name}.cu", "-o", self.folder / f"{name}.fatbin", *words, **self.env)
        return self.folder / f"{name}.fatbin"

    def test_are_read_by_cufft_when_the_plan_is_made(self):
        (self.folder / "log").unlink(missing_ok=True)
        run(self.folder / "scaled/build/host", "cpu", **self.fake)
        lines = (self.folder / "log").read_text().splitlines()
        address = re.search(r"info (0x\w+)$", lines[3])
        digest = digest_of((self.folder / "scaled/build/scale.fatbin").read_bytes())
        self.assertEqual(lines, ["create 1", "set 1 name NULL type 0", "make 1 size 8 batch 1",
                                 f"read type 0 digest {digest} info {address[1]}", "execute 1", "destroy 1"])

    def test_run_in_cufft(self):
        if not self.doctor["gpus"]:
            self.skipTest("no GPU on this machine")
        expected = re.search(r"printf\(.*// (.*)", EXAMPLE)[1]
        self.assertEqual(run(self.folder / "scaled/build/host", **self.env), expected + "\n")

    def test_are_verified_as_the_page_shows(self):
        (session,) = [content for _, language, content in blocks(EXAMPLE) if language == "console"]
        for step in steps(session):
            printed = run("bash", "-c", f"PATH={BUILD}/bin:$PATH; {step.command}", **self.env)
            for line in step.expected:
                with self.subTest(line=line):
                    self.assertRegex(printed, pattern_of(line))

    def test_of_another_type_are_refused_with_both_types(self):
        code, message, _ = self.refusal("scale", 2, "sm_90")
        self.assertEqual(code, "contract-mismatch")
        self.assertRegex(message, "built against contract cufft_load_real/1 .* built against contract cufft_load_complex/1")
        callback = (self.folder / "scaled/scale.cu").read_text()
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
        callback = self.compiled("newer", (self.folder / "scaled/scale.cu").read_text(), "--arch", "90")
        self.assertEqual(self.refusal(callback, 0, "sm_90"), ["set"])
        self.assertEqual(self.refusal(callback, 0, "sm_80")[0], "arch-too-new")

    def test_of_no_type_and_in_archives_are_refused(self):
        self.assertEqual(self.refusal("scale", 8, "sm_90"), ["invalid-argument", "no callback has the type 8",
                                                             "pass CUFFT_CB_LD_COMPLEX to CUFFT_CB_ST_REAL_DOUBLE"])
        archive = self.folder / "two.a"
        run("ar", "rc", archive, self.folder / "scaled/build/scale.fatbin", self.compiled("other", "__device__ int other() { return 1; }"))
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
