# SPDX-License-Identifier: Apache-2.0
"""Inline functions, members, templates and inline variables of one name in two inputs: nvcc makes them weak, and a link
keeps one definition for all inputs. Those that differ are refused."""
import unittest

from fatlink_cli import CliTest
from run_tests import long_test

KERNEL = """extern "C" __device__ float first(float);
extern "C" __device__ float second(float);
extern "C" __global__ void k(float* p) { *p = second(first(*p)); }
"""
# What each of two authors writes; VALUE differs.
HELPERS = {
    "function": ("inline __device__ float tweak(float x) { return x + VALUE; }", "tweak(x)", "tweak(float)"),
    "member": ("struct helper { __device__ float tweak(float x) const { return x * VALUE; } };", "helper{}.tweak(x)",
               "helper::tweak(float) const"),
    "template": ("template <class T> __device__ T tweak(T x) { return x * T(VALUE); }", "tweak(x)",
                 "float tweak<float>(float)"),
    "called": ("inline __device__ __noinline__ float tweak(float x) { return x * VALUE; }", "tweak(x)", "tweak(float)"),
    "variable": ("inline __device__ float factor = VALUE;", "x * factor", "factor"),
}


def author(hook, helper, call):
    return f'{helper}\nextern "C" __device__ float {hook}(float x) {{ return {call}; }}\n'


class WeakCode(CliTest):
    def compile(self, name, source, *options):
        """Compiles with NVRTC, which takes a tenth of nvcc's time; with `options` by nvcc."""
        if options:
            return super().compile(name, source, *options)
        self.fatlink("compile", "-o", f"{name}.fatbin", self.file(f"{name}.cu", source))
        return self.folder / f"{name}.fatbin"

    def compile_all(self, sources, *options):
        return {name: self.compile(name, source, *options) for name, source in sources.items()}

    def compile_authors(self, helper, call, *options, second="3.0F"):
        made = self.compile_all({"kernel": KERNEL, "a": author("first", helper.replace("VALUE", "2.0F"), call),
                                 "b": author("second", helper.replace("VALUE", second), call)}, *options)
        return list(made.values())

    def check(self, *inputs, status, mode="lto"):
        said = self.fatlink_json("check", "--target", "sm_90", "--mode", mode, *inputs, status=status)
        return [one for one in said["targets"][0]["findings"] if one["id"] == "weak-mismatch"]

    def test_that_differs_is_refused_in_lto_mode_and_names_both_inputs(self):
        self.need_nvjitlink()
        for name, (helper, call, shown) in HELPERS.items():
            with self.subTest(helper=name):
                kernel, a, b = self.compile_authors(helper, call)
                done = self.link("--no-cache", kernel, a, b, status=4)
                self.assertIn(f"{a} and {b} define {shown}", done.stderr)
                self.assertIn("with different code, and a link keeps one of the two for both [weak-mismatch]", done.stderr)
                self.assertIn("hint:   make it private in one of them: static, or in an anonymous namespace", done.stderr)
                self.assertFalse((self.folder / "out.cubin").exists())
                (finding,) = self.check(kernel, b, a, status=4)
                self.assertEqual((finding["severity"], finding["files"]), ("error", [str(b), str(a)]))

    def test_that_differs_is_refused_in_ptx_mode_where_nvcc_did_not_inline_it(self):
        for name in ("called", "variable"):
            with self.subTest(helper=name):
                helper, call, shown = HELPERS[name]
                kernel, a, b = self.compile_authors(helper, call)
                (finding,) = self.check(kernel, a, b, status=4, mode="ptx")
                self.assertIn(f"{a} and {b} define {shown}", finding["message"])
        helper, call, shown = HELPERS["function"]
        kernel, a, b = self.compile_authors(helper, call)
        self.assertEqual(self.check(kernel, a, b, status=0, mode="ptx"), [])

    def test_that_nvcc_compiled_is_refused(self):
        self.need_nvjitlink()
        helper, call, shown = HELPERS["function"]
        kernel, a, b = self.compile_authors(helper, call, "-dlto", "-arch=sm_75", "-lineinfo")
        self.assertIn(f"{a} and {b} define {shown}", self.link("--no-cache", kernel, a, b, status=4).stderr)

    @long_test  # test_that_nvcc_compiled_is_refused
    def test_of_forced_inline_functions_is_reported_by_their_callers(self):
        self.need_nvjitlink()
        helper, call, shown = HELPERS["function"]
        kernel, a, b = self.compile_authors(helper.replace("inline", "__forceinline__"), call)
        self.assertIn(f"{a} and {b} define ", self.link("--no-cache", kernel, a, b, status=4).stderr)

    def test_that_is_equal_links(self):
        self.need_nvjitlink()
        for name, (helper, call, shown) in HELPERS.items():
            with self.subTest(helper=name):
                inputs = self.compile_authors(helper, call, second="2.0F")
                self.link("--no-cache", *inputs)
                self.assertEqual(self.check(*inputs, status=0), [])

    def test_that_is_private_or_replaced_links(self):
        self.need_nvjitlink()
        helper, call, shown = HELPERS["function"]
        self.link("--no-cache", *self.compile_authors(helper.replace("inline", "static"), call))
        weak = 'extern "C" inline __device__ float tweak(float x) { return x + VALUE; }'
        kernel, a, b = self.compile_authors(weak, "tweak(x)")
        strong = self.compile("strong", 'extern "C" __device__ float tweak(float x) { return x; }')
        self.link("--no-cache", kernel, a, b, strong)

    def test_of_the_third_input_is_found_and_named(self):
        self.need_nvjitlink()
        helper, call, shown = HELPERS["function"]
        kernel, a, b = self.compile_authors(helper, call)
        plain = self.compile("plain", 'extern "C" __device__ float user(float x) { return x; }')
        for inputs in ((kernel, plain, a, b), (a, kernel, b), (plain, a, b, kernel)):
            self.assertIn(f"{a} and {b} define tweak(float)", self.link("--no-cache", *inputs, status=4).stderr)

    @long_test  # test_of_the_third_input_is_found_and_named
    def test_of_many_inputs_is_compared_with_the_reversed_order(self):
        self.need_nvjitlink()
        helper, call, shown = HELPERS["function"]
        kernel, a, b = self.compile_authors(helper, call)
        rest = self.compile_all({f"more{i}": f'extern "C" __device__ float more{i}(float x) {{ return x; }}'
                                 for i in range(6)}).values()
        self.assertIn(f"{a} and {b} define tweak(float)", self.link("--no-cache", kernel, a, *rest, b, status=4).stderr)

    def test_of_cudas_own_headers_is_a_warning(self):
        self.need_nvjitlink()
        helper = "namespace cuda { inline __device__ float twice(float x) { return x * VALUE; } }"
        kernel, a, b = self.compile_authors(helper, "cuda::twice(x)")
        done = self.link("--no-cache", kernel, a, b)
        self.assertIn(f"fatlink: warning: {a} and {b} define cuda::twice(float)", done.stderr)
        (finding,) = self.check(kernel, a, b, status=0)
        self.assertEqual(finding["severity"], "warning")

    def test_is_not_compared_without_nvjitlink_and_a_check_says_so(self):
        helper, call, shown = HELPERS["function"]
        done = self.fatlink("check", "--target", "sm_90", "--mode", "lto", *self.compile_authors(helper, call),
                            env={"FATLINK_LINKD": "/nonexistent"})
        self.assertIn("fatlink: warning: inline functions with the same name were not compared: ", done.stderr)


if __name__ == "__main__":
    unittest.main()
