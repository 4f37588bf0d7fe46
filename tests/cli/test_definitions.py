# SPDX-License-Identifier: Apache-2.0
"""Inputs that define nothing that a link can use: functions that nvcc removed, functions that nothing calls."""
import unittest

from fatlink_cli import HOOK, LIBRARY, SHARE, CliTest

RELU = SHARE / "relu_poly.fatbin"
KERNEL = 'extern "C" __global__ void own_kernel(float* x) { *x = 2; }\n'


class Definitions(CliTest):
    def findings(self, mode, *inputs, status=4):
        result = self.fatlink_json("check", "--mode", mode, *inputs, status=status)
        return [finding for finding in result["targets"][0]["findings"] if finding["id"] != "unverified-bytes"]

    def errors(self, mode, *inputs):
        return [finding for finding in self.findings(mode, *inputs) if finding["severity"] == "error"]


class RemovedFunctions(Definitions):
    """Without -dlto or -rdc=true, nvcc compiles a whole program: it keeps no function that no kernel calls."""

    def assert_removed(self, transform):
        for mode in ("ptx", "lto"):
            first, *others = self.errors(mode, LIBRARY, transform)
            self.assertEqual(first["id"], "removed-functions")
            self.assertIn("the device functions were removed", first["message"])
            self.assertIn("compile with -dlto: nvcc -dlto -fatbin", first["hint"])
            self.assertEqual([other["id"] for other in others], ["missing-hook"])

    def test_a_fatbin_compiled_without_dlto_says_that_its_functions_were_removed(self):
        for options in (["-Wno-deprecated-gpu-targets"], ["-arch=sm_90"], ["-arch=compute_75"]):
            with self.subTest(options=options):
                self.assert_removed(self.compile("plain", HOOK, *options))

    def test_so_does_one_that_also_holds_a_kernel(self):
        self.assert_removed(self.compile("plain", HOOK + KERNEL, "-arch=sm_90"))

    def test_link_and_run_report_it_first(self):
        plain = self.compile("plain", HOOK, "-arch=sm_90")
        for mode in ("ptx", "lto"):
            for words in (("link", "--target", "sm_90", "-o", "o", LIBRARY, plain), ("run", "--transform", plain)):
                result = self.fatlink(*words, "--mode", mode, status=4)
                self.assertIn("[removed-functions]", result.stderr.splitlines()[0])
                self.assertIn("compile with -dlto", result.stderr)

    def test_static_and_inline_functions_are_not_in_the_fatbin(self):
        for keyword in ("static", "inline"):
            with self.subTest(keyword=keyword):
                source = HOOK.replace('extern "C"', f'extern "C" {{ {keyword}') + "}\n"
                transform = self.compile("hidden", source, "-dlto", "-arch=sm_75", "-diag-suppress=177")
                first, *others = self.errors("lto", LIBRARY, transform)
                self.assertEqual(first["id"], "no-definition")
                self.assertIn("hidden.fatbin defines no function that other files can call", first["message"])
                self.assertIn("without static or inline", first["hint"])
                self.assertEqual([other["id"] for other in others], ["missing-hook"])

    def test_relocatable_code_without_dlto_links_in_ptx_mode_and_names_dlto_for_lto_mode(self):
        relocatable = self.compile("relocatable", HOOK, "-dc", "-arch=sm_75")
        self.assertEqual([f["id"] for f in self.findings("ptx", LIBRARY, relocatable, status=0)], ["uncontracted"])
        only, = self.errors("lto", LIBRARY, relocatable)
        self.assertEqual(only["id"], "no-ltoir")
        self.assertIn("nvcc -dlto -fatbin", only["hint"])

    def test_machine_code_alone_is_not_sent_to_the_other_mode(self):
        sass = self.compile("sass", HOOK, "-dc", "-gencode=arch=compute_90,code=sm_90")
        for mode in ("ptx", "lto"):
            for error in self.errors(mode, LIBRARY, sass):
                self.assertNotIn("--mode", error["hint"])
                self.assertIn("nvcc -dlto -fatbin", error["hint"])


class UnusedInputs(Definitions):
    def test_a_transform_that_nothing_calls_is_a_warning(self):
        unused = self.compile("unused", 'extern "C" __device__ float other(float x) { return x; }')
        for mode in ("ptx", "lto"):
            finding = next(f for f in self.findings(mode, LIBRARY, RELU, unused, status=0)
                           if f["id"] == "unused-input")
            self.assertEqual(finding["severity"], "warning")
            self.assertIn("unused.fatbin defines (b32) other(b32), which no other input calls", finding["message"])

    def test_templates_that_two_inputs_instantiate_do_not_make_one_used(self):
        template = ("template <class T> __device__ T twice(T x) { return 2 * x; }\n"
                    "template __device__ float twice<float>(float);\n")
        unused = self.compile("unused", template + 'extern "C" __device__ float other(float x) { return twice(x); }')
        used = self.compile("used", template + HOOK.replace("return x", "return twice(x)"))
        ids = [f["id"] for f in self.findings("lto", LIBRARY, used, unused, status=0)]
        self.assertEqual(ids.count("unused-input"), 1)

    def test_link_and_run_warn_too(self):
        unused = self.compile("unused", 'extern "C" __device__ float other(float x) { return x; }')
        self.need_nvjitlink()
        for words in (("link", "--target", "sm_90", "-o", "o", LIBRARY, RELU, unused),
                      ("run", "--device", "cpu", "--transform", RELU, "--transform", unused)):
            self.assertIn("[unused-input]", self.fatlink(*words).stderr)

    def test_functions_that_another_transform_calls_are_used(self):
        caller = self.compile("caller", 'extern "C" __device__ float scale(float);\n'
                              + HOOK.replace("return x", "return scale(x)"))
        helper = self.compile("helper", 'extern "C" __device__ float scale(float x) { return 2 * x; }')
        self.assertEqual({f["id"] for f in self.findings("lto", LIBRARY, caller, helper, status=0)},
                         {"uncontracted"})


if __name__ == "__main__":
    unittest.main()
