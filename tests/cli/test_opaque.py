# SPDX-License-Identifier: Apache-2.0
"""LTO-IR whose types no PTX states: the link checks them, and `check` says that it did not."""
import concurrent.futures
import unittest

from fatlink_cli import HOOK, LIBRARY, CliTest
from run_tests import long_test

PRELUDE = "struct pair { float a, b; };\n"
WRONG = {
    "double": "double user_transform(double x) { return x; }",
    "two": "float user_transform(float x, float y) { return x + y; }",
    "pointer": "float user_transform(float const* x) { return *x; }",
    "structure": "pair user_transform(pair p) { return p; }",
    "long": "long user_transform(long x) { return x; }",
}
LTO_ONLY = ("-dlto", "-arch=lto_75")
PTX_75_LTO_90 = ("-dc", "-gencode", "arch=compute_75,code=compute_75",
                 "-gencode", "arch=compute_90,code=lto_90")
# A library that has a default of its own, which its kernel calls.
DEFAULT = """extern "C" __device__ __attribute__((weak)) double user_transform(double x) { return 3 * x; }
extern "C" __global__ void k(double* p) { *p = user_transform(*p); }
"""
LIBRARY_SOURCE = """extern "C" __device__ %s user_transform(%s);
extern "C" __global__ void k(%s* p) { *p = user_transform(*p); }
"""
# A transform that calls a hook of its own, and its definition.
MIDDLE = """extern "C" __device__ float last(float);
extern "C" __device__ float user_transform(float x) { return last(x) + 1; }
"""
LAST = 'extern "C" __device__ __noinline__ float last(float x) { return 2 * x; }\n'
# The hook is called through a pointer alone.
BY_POINTER = """extern "C" __device__ double user_transform(double);
typedef double function(double);
extern "C" __global__ void k(function** p) { *p = &user_transform; }
"""


def by_architecture(source):
    """`source` for sm_90, and the right type for older ones."""
    return (f"{PRELUDE}#if __CUDA_ARCH__ >= 900\nextern \"C\" __device__ {source}\n"
            f"#else\n{HOOK}#endif\n")


class Opaque(CliTest):
    def compile_all(self, sources, *options):
        """Fatbins by name."""
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            made = {name: pool.submit(self.compile, name, source, *options) for name, source in sources.items()}
        return {name: job.result() for name, job in made.items()}

    def assert_refused(self, finding, *inputs, **options):
        for place in ([], ["--in-process"]):
            done = self.link("--no-cache", *place, *inputs, status=4, **options)
            self.assertIn(f"[{finding}]", done.stderr)
            self.assertIn("hint:", done.stderr)
            self.assertFalse((self.folder / "out.cubin").exists())

    def test_transforms_of_five_wrong_types_are_refused(self):
        sources = {name: PRELUDE + f'extern "C" __device__ {source}' for name, source in WRONG.items()}
        for name, wrong in self.compile_all(sources, *LTO_ONLY).items():
            with self.subTest(type=name):
                self.assert_refused("signature-mismatch", LIBRARY, wrong)

    def assert_types_that_differ_by_architecture_are_refused(self, *names):
        sources = {name: by_architecture(WRONG[name]) for name in names}
        for name, wrong in self.compile_all(sources, *PTX_75_LTO_90).items():
            with self.subTest(type=name):
                self.assert_refused("signature-mismatch", LIBRARY, wrong)

    def test_transforms_whose_type_differs_by_architecture_are_refused(self):
        self.assert_types_that_differ_by_architecture_are_refused("double")

    @long_test  # the test above has one type, test_transforms_of_five_wrong_types_are_refused has all for one architecture
    def test_transforms_whose_type_differs_by_architecture_are_refused_for_every_type(self):
        self.assert_types_that_differ_by_architecture_are_refused(*WRONG)

    def test_a_transform_of_the_right_type_links_and_is_inlined(self):
        for name, options in (("only", LTO_ONLY), ("newer", PTX_75_LTO_90)):
            right = self.compile(name, HOOK, *options)
            said = self.fatlink_json("link", "--target", "sm_90", "--require-inlined", "-o", "o", LIBRARY, right)
            self.assertEqual(said["hooks"], [{"name": "user_transform", "inlined": True, "default": False}])

    def test_a_library_that_declares_another_type_is_refused(self):
        sources = {"double": LIBRARY_SOURCE % ("double", "double", "double"), "default": DEFAULT,
                   "by_pointer": BY_POINTER}
        right = self.compile("right", HOOK)
        for name, library in self.compile_all(sources, *LTO_ONLY).items():
            with self.subTest(library=name):
                self.assert_refused("signature-mismatch", library, right)

    def test_a_library_that_declares_the_same_type_links_and_inlines(self):
        library = self.compile("library", LIBRARY_SOURCE % ("float", "float", "float"), *LTO_ONLY)
        said = self.fatlink_json("link", "--target", "sm_90", "--require-inlined", "-o", "o", library,
                                 self.compile("right", HOOK))
        self.assertTrue(said["inlined"])

    def test_the_kernel_of_a_library_is_looked_up_in_the_linked_image(self):
        library = self.compile("library", LIBRARY_SOURCE % ("float", "float", "float"), *LTO_ONLY)
        right = self.compile("right", HOOK)
        self.link("--kernel", "k", library, right)
        done = self.link("--kernel", "nope", library, right, status=4)
        self.assertIn("no input defines kernel nope", done.stderr)
        self.assertIn("[unknown-kernel]", done.stderr)

    def test_a_transform_without_the_hook_is_refused(self):
        other = self.compile("other", HOOK.replace("user_transform", "another"), *LTO_ONLY)
        self.assert_refused("missing-hook", LIBRARY, other)

    def test_types_that_no_input_states_are_refused(self):
        library = self.compile("library", LIBRARY_SOURCE % ("float", "float", "float"), *LTO_ONLY)
        transform = self.compile("transform", HOOK, *LTO_ONLY)
        self.assert_refused("unchecked-types", library, transform)
        # A readable input that states nothing of the hook does not help.
        kernel = self.compile("kernel", 'extern "C" __global__ void other() {}')
        self.assert_refused("unchecked-types", library, transform, kernel)

    def test_a_hook_that_one_ltoir_calls_and_another_defines_needs_an_input_that_states_its_type(self):
        made = self.compile_all({"middle": MIDDLE, "last": LAST}, *LTO_ONLY)
        self.assert_fails(4, "link", "--target", "sm_90", "--no-cache", "-o", "out.cubin", LIBRARY, *made.values(),
                          says=[f"{made['middle']} calls last, which no input with readable types declares or defines",
                                "[unchecked-types]"],
                          hint="compile the input that defines last with code=[compute_NN,lto_NN]")
        declares = self.compile("declares", 'extern "C" __device__ float last(float);\n'
                                'extern "C" __global__ void other(float* p) { *p = last(*p); }')
        done = self.fatlink_json("link", "--target", "sm_90", "-o", "o", LIBRARY, *made.values(), declares)
        self.assertEqual({hook["name"]: hook["inlined"] for hook in done["hooks"]},
                         {"user_transform": True, "last": False})

    def test_a_hook_that_ltoir_calls_and_nothing_defines_is_refused(self):
        middle = self.compile("middle", MIDDLE, *LTO_ONLY)
        self.assert_fails(4, "link", "--target", "sm_90", "--no-cache", "-o", "out.cubin", LIBRARY, middle,
                          says=[f"{middle} calls last, which is defined by no input", "[missing-hook]"],
                          hint="pass a transform that defines last")

    def test_variables_that_the_ltoir_does_not_define_alike_are_refused(self):
        library = self.compile("library", 'extern __device__ float scale;\n'
                               'extern "C" __global__ void k(float* p) { *p *= scale; }')
        made = self.compile_all({"right": "__device__ float scale = 3;", "other": "__device__ float other = 3;",
                                 "wide": "__device__ double scale = 3;", "constant": "__constant__ float scale = 3;"},
                                *LTO_ONLY)
        self.link("--no-cache", library, made["right"])
        (self.folder / "out.cubin").unlink()
        self.assert_refused("missing-variable", library, made["other"])
        for name in ("wide", "constant"):
            self.assert_refused("signature-mismatch", library, made[name])

    def test_variables_that_ltoir_declares_are_compared_with_their_definition(self):
        library = self.compile("library", '__device__ float scale = 2;\nextern "C" __device__ float user_transform(float);\n'
                               'extern "C" __global__ void k(float* p) { *p = scale * user_transform(*p); }')
        made = self.compile_all({name: f"extern __device__ {name} scale;\n{HOOK.replace('x;', 'x * scale;')}"
                                 for name in ("float", "double")}, *LTO_ONLY)
        self.link("--no-cache", library, made["float"])
        (self.folder / "out.cubin").unlink()
        self.assert_refused("signature-mismatch", library, made["double"])

    def test_hooks_that_only_unreadable_code_calls_are_reported_as_called(self):
        library = self.compile("library", 'extern "C" __device__ float first(float);\n'
                               'extern "C" __device__ __noinline__ float own(float x) { return x * 3; }\n'
                               'extern "C" __global__ void k(float* p) { *p = first(own(*p)); }')
        middle = self.compile("middle", 'extern "C" __device__ float last(float);\n'
                              'extern "C" __device__ float first(float x) { return last(x) + 1; }\n', *LTO_ONLY)
        source = ('extern "C" __device__ __noinline__ float own_too(float x) { return x * 5; }\n'
                  'extern "C" __device__ float last(float x) { return own_too(x) + 2; }\n')
        link = ["link", "--target", "sm_90", "--allow-calls", "-o", "o", library, middle]
        for options in (["-rdc=true", "-gencode", "arch=compute_75,code=compute_75"],
                        ["-rdc=true", "-gencode", "arch=compute_90,code=sm_90"]):
            with self.subTest(options=options):
                last = self.compile("last", source, *options)
                hooks = {hook["name"]: hook["inlined"] for hook in self.fatlink_json(*link, last)["hooks"]}
                self.assertEqual(hooks, {"first": True, "last": False})
                done = self.fatlink(*link, "--require-inlined", last, status=4)
                self.assertIn("last was not inlined: the lto link left a call to it", done.stderr)
        inlined = self.compile("last", source.replace("__noinline__", ""))
        self.fatlink(*link, "--require-inlined", inlined)

    def test_the_functions_of_the_device_run_time_are_no_hooks(self):
        source = ('#include <cstdio>\n#include <cassert>\nextern "C" __device__ float user_transform(float x)\n'
                  '{ assert(x > 0); void* p = malloc(4); printf("%f %p", x, p); free(p); return x; }\n')
        self.link("--no-cache", LIBRARY, self.compile("prints", source, *LTO_ONLY))

    def test_two_definitions_of_one_hook_in_ltoir_are_duplicates_that_name_both_files(self):
        made = self.compile_all({name: HOOK.replace("return x", f"return {number} * x")
                                 for number, name in enumerate(("first", "second"), 2)}, *LTO_ONLY)
        for place in ([], ["--in-process"]):
            self.assert_fails(4, "link", "--target", "sm_90", "--no-cache", *place, "-o", "out.cubin", LIBRARY,
                              made["first"], made["second"], hint="pass one of the two",
                              says=[f"user_transform is defined by {made['first']} and by {made['second']}",
                                    "[duplicate-symbol]"])

    def test_a_definition_in_ltoir_and_one_that_ptx_shows_are_duplicates(self):
        opaque = self.compile("opaque", HOOK, *LTO_ONLY)
        readable = self.compile("readable", HOOK)
        for first, second in ((opaque, readable), (readable, opaque)):
            self.assert_fails(4, "link", "--target", "sm_90", "--no-cache", "-o", "out.cubin", LIBRARY, first, second,
                              says=[f"user_transform is defined by {first} and by {second}", "[duplicate-symbol]"])

    @long_test  # the test above has PTX
    def test_a_definition_in_ltoir_and_one_in_ptx_or_sass_are_duplicates(self):
        opaque = self.compile("opaque", HOOK, *LTO_ONLY)
        other = self.compile("other", HOOK.replace("user_transform", "unrelated"), *LTO_ONLY)
        for name, options in (("ptx", ["-dc", "-gencode=arch=compute_75,code=compute_75"]),
                              ("sass", ["-dc", "-gencode=arch=compute_90,code=sm_90"])):
            with self.subTest(second=name):
                called = self.compile(name, HOOK, *options)
                self.assert_fails(4, "link", "--target", "sm_90", "--no-cache", "--allow-calls", "-o", "out.cubin",
                                  LIBRARY, opaque, called, hint="pass one of the two",
                                  says=[f"user_transform is defined by {called} and by {opaque}", "[duplicate-symbol]"])
                self.fatlink("link", "--target", "sm_90", "--allow-calls", "-o", "other.cubin", LIBRARY, other, called)

    @long_test  # test_two_definitions_of_one_hook_in_ltoir_are_duplicates_that_name_both_files
    def test_of_many_inputs_with_ltoir_the_two_that_define_a_symbol_are_named(self):
        helper = '__device__ float helper(float x) { return 2 * x; }\n'
        sources = {f"f{number}": f'extern "C" __device__ float f{number}(float x) {{ return x; }}' for number in range(5)}
        sources["f1"] = sources["f1"].replace("return x", "return helper(x)")
        sources["f3"] = sources["f3"].replace("return x", "return helper(x)")
        made = self.compile_all({**sources, "f1": helper + sources["f1"], "f3": helper + sources["f3"], "hook": HOOK},
                                *LTO_ONLY)
        self.assert_fails(4, "link", "--target", "sm_90", "--no-cache", "-o", "out.cubin", LIBRARY, *made.values(),
                          says=[f"_Z6helperf is defined by {made['f1']} and by {made['f3']}", "[duplicate-symbol]"],
                          hint="declare private definitions static")

    def test_check_says_that_the_types_are_compared_by_the_link_alone(self):
        wrong = self.compile("wrong", 'extern "C" __device__ int user_transform(int x) { return x; }', *LTO_ONLY)
        said = self.fatlink_json("check", "--target", "sm_90", "--mode", "lto", LIBRARY, wrong)
        findings = {f["id"]: f["message"] for f in said["targets"][0]["findings"]}
        self.assertIn("only the link compares them", findings["unreadable-types"])
        self.assertIn("float and int are not distinguished", findings["unreadable-types"])
        self.assertNotIn("could be checked", findings["uncontracted"])

    def test_a_warm_link_compares_nothing_again(self):
        inputs = [LIBRARY, self.compile("right", HOOK, *LTO_ONLY)]
        self.link(*inputs)
        nowhere = {"FATLINK_LINKD": "/nowhere"}
        self.link(*inputs, env=nowhere)


if __name__ == "__main__":
    unittest.main()
