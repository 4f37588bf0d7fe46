# SPDX-License-Identifier: Apache-2.0
"""Hooks that a library defines itself, by a weak default that a transform replaces."""
import unittest

from fatlink_cli import CliTest, nvjitlink

DEFAULT = """extern "C" inline __device__ __noinline__ float shape(float x, void const* state)
{
  %s
  return 2 * x;
}
"""
KERNEL = """extern "C" __global__ void apply(float const* in, float* out, void const* state)
{
  out[threadIdx.x] = shape(in[threadIdx.x], state);
}
"""
UNPASSED = DEFAULT % "" + KERNEL
PASSED = DEFAULT % 'asm volatile("" :: "l"(state));' + KERNEL
READER = """extern "C" __device__ float shape(float x, void const* state) { return *static_cast<float const*>(state) * x; }
"""
OTHER = 'extern "C" __device__ float shape(float x, void const*) { return 3 * x; }\n'


class UnpassedArguments(CliTest):
    """nvcc leaves out of the calls what the default does not use, although a transform may replace it."""

    def setUp(self):
        super().setUp()
        self.library = self.compile("library", UNPASSED)

    def findings(self, *inputs, status=0, mode="both"):
        said = self.fatlink_json("check", "--mode", mode, *inputs, status=status)
        return {target["mode"]: [finding for finding in target["findings"] if finding["id"] == "unpassed-argument"]
                for target in said["targets"]}

    def test_a_transform_that_reads_one_is_refused_in_ptx_mode_only(self):
        self.compile("reader", READER)
        found = self.findings("library.fatbin", "reader.fatbin", status=4)
        self.assertEqual(found["lto"], [])
        (finding,) = found["ptx"]
        self.assertEqual((finding["severity"], finding["symbol"]), ("error", "shape"))
        self.assertEqual(finding["files"], ["library.fatbin", "reader.fatbin"])
        self.assertEqual(finding["message"], "library.fatbin passes nothing for argument 2 (b64) of shape, because its "
                         "default does not use it; reader.fatbin, which replaces it, would read garbage")
        self.assertEqual(finding["hint"], "use every parameter in the library's default, for example asm volatile(\"\" :: "
                         "\"l\"(state)), or link in lto mode")

    def test_a_transform_that_reads_none_links_with_a_warning(self):
        self.compile("other", OTHER)
        (finding,) = self.findings("library.fatbin", "other.fatbin")["ptx"]
        self.assertEqual(finding["severity"], "warning")
        self.assertIn("other.fatbin, which replaces it, does not read it", finding["message"])

    def test_a_transform_without_lto_ir_is_refused_as_a_call_in_lto_mode(self):
        self.compile("reader", READER)
        self.file("reader.ptx", self.fatlink("inspect", "--ptx", "reader.fatbin").stdout)
        said = self.fatlink_json("check", "--mode", "lto", "--allow-calls", "library.fatbin", "reader.ptx", status=4)
        self.assertIn("unpassed-argument", [finding["id"] for finding in said["targets"][0]["findings"]])

    def in_sass_mode(self, library, transform, *codes):
        code = ",".join(codes)
        for name, source in (("library", library), ("transform", transform)):
            self.compile(name, source, "-dc", "-gencode", f"arch=compute_90,code=[{code}]")
        said = self.fatlink_json("check", "--mode", "sass", "--target", "sm_90", "library.fatbin", "transform.fatbin",
                                 status=4 if "compute_90" in codes and transform == READER else 0)
        return [finding["severity"] for finding in said["targets"][0]["findings"] if finding["id"] == "unpassed-argument"]

    def test_sass_is_judged_by_the_ptx_beside_it(self):
        self.assertEqual(self.in_sass_mode(UNPASSED, READER, "sm_90", "compute_90"), ["error"])
        self.assertEqual(self.in_sass_mode(UNPASSED, OTHER, "sm_90", "compute_90"), ["warning"])

    def test_sass_without_ptx_does_not_show_what_is_passed(self):
        self.assertEqual(self.in_sass_mode(UNPASSED, READER, "sm_90"), [])

    def test_a_default_that_uses_every_parameter_is_passed_all(self):
        self.compile("library", PASSED)
        self.compile("reader", READER)
        self.assertEqual(self.findings("library.fatbin", "reader.fatbin"), {"ptx": [], "lto": []})

    def test_a_function_that_is_no_hook_may_leave_out_what_it_does_not_use(self):
        self.assertEqual(self.findings("library.fatbin"), {"ptx": [], "lto": []})

    def test_a_link_is_refused_before_nvjitlink_sees_it(self):
        self.compile("reader", READER)
        done = self.fatlink("link", "--mode", "ptx", "--target", "sm_90", "-o", "out.cubin", "library.fatbin",
                            "reader.fatbin", status=4)
        self.assertIn("[unpassed-argument]", done.stderr)


class Defaults(CliTest):
    """The library convert has a default for its loader and its storer."""

    def checked(self, *inputs):
        return [target["default_hooks"] for target in self.fatlink_json("check", *inputs)["targets"]]

    def test_check_names_the_hooks_that_no_transform_fills(self):
        self.assertEqual(self.checked("convert"), 2 * [["load_element", "store_element"]])
        self.assertEqual(self.checked("convert", "load_int8"), 2 * [["store_element"]])
        self.assertEqual(self.checked("convert", "load_int8", "store_int8"), [[], []])
        text = self.fatlink("check", "convert", "load_int8").stdout
        self.assertIn("sm_90    ptx, lto  links, store_element default\n", text)

    def test_check_of_a_transform_names_those_of_the_installed_library(self):
        self.assertEqual(self.checked("load_int8"), 2 * [["store_element"]])

    def test_check_names_none_of_a_hook_that_has_no_default(self):
        self.assertEqual(self.checked("stencil", "smooth"), [[], []])

    def test_check_names_none_beside_an_input_whose_symbols_only_the_link_reads(self):
        self.compile("opaque", 'extern "C" __device__ void other() {}\n', "-gencode", "arch=compute_75,code=lto_75")
        said = self.fatlink_json("check", "--mode", "lto", "convert", "opaque.fatbin")
        self.assertEqual(said["targets"][0]["default_hooks"], [])

    def link_json(self, *words):
        return self.fatlink_json("link", "--target", "sm_90", "-o", "out.cubin", *words)

    @unittest.skipUnless(nvjitlink(), "no nvJitLink on this machine")
    def test_link_reports_them_and_does_not_require_them_to_be_inlined(self):
        said = self.link_json("--require-inlined", "convert", "load_int8")
        self.assertEqual([(hook["name"], hook["default"]) for hook in said["hooks"]],
                         [("load_element", False), ("store_element", True)])
        self.assertEqual((said["inlined"], said["warnings"]), (True, []))
        text = self.fatlink("link", "--target", "sm_90", "-o", "out.cubin", "convert", "load_int8").stdout
        self.assertIn(", load_element inlined, store_element default", text)

    @unittest.skipUnless(nvjitlink(), "no nvJitLink on this machine")
    def test_a_link_of_defaults_only_inlines_no_hook(self):
        said = self.link_json("convert")
        self.assertEqual([hook["default"] for hook in said["hooks"]], [True, True])
        self.assertFalse(said["inlined"])


if __name__ == "__main__":
    unittest.main()
