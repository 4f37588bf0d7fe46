# SPDX-License-Identifier: Apache-2.0
"""Functions and variables of several inputs that do not fit are refused by check and by link."""
import json
import pathlib
import shutil
import subprocess
import unittest

from fatlink_cli import NVCC, CliTest
from run_tests import long_test

KERNEL = ('extern "C" __device__ float user_transform(float);\n'
          'extern "C" __global__ void apply_transform(float const* in, float* out, unsigned long n) {{\n'
          "for (auto i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)\n"
          "out[i] = {}; }}\n")
TRANSFORM = 'extern "C" __device__ float user_transform(float x) {{ return {}; }}\n'
MODES = ("ptx", "lto")


class SymbolsTest(CliTest):
    def findings(self, mode, *inputs, level="error"):
        """What check finds; link agrees whether it links."""
        done = self.check("check", "--target", "sm_90", "--mode", mode, "--json", *inputs)
        found = [f for f in done["targets"][0]["findings"] if f["id"] != "unverified-bytes"]
        errors = [f for f in found if f["severity"] == "error"]
        self.assertEqual(done["links"], not errors)
        status = 4 if errors else 0
        linked = self.fatlink("link", "--target", "sm_90", "--mode", mode, "-o", "o.cubin", *inputs, status=status)
        if errors:
            self.assertIn(f"[{errors[0]['id']}]", linked.stderr)
        return [f for f in found if f["severity"] == level and f["id"] != "uncontracted"]

    def check(self, *words):
        """The JSON of a check that links or is refused."""
        try:
            return json.loads(self.fatlink(*words, status=0).stdout)
        except AssertionError:
            return json.loads(self.fatlink(*words, status=4).stdout)

    def assert_refused(self, finding, *inputs, says=(), hint=""):
        for mode in MODES:
            with self.subTest(mode=mode, inputs=[i.stem for i in inputs]):
                found = self.findings(mode, *inputs)
                self.assertEqual([f["id"] for f in found], [finding])
                for part in says:
                    self.assertIn(part, found[0]["message"])
                self.assertIn(hint, found[0]["hint"])

    def assert_links(self, *inputs):
        for mode in MODES:
            with self.subTest(mode=mode, inputs=[i.stem for i in inputs]):
                self.assertEqual(self.findings(mode, *inputs), [])


class Functions(SymbolsTest):
    def test_a_weak_default_and_a_definition_of_another_type_are_refused(self):
        library = self.compile("library", 'extern "C" inline __device__ __noinline__ float post(float x) { return x; }\n' +
                               KERNEL.format("post(user_transform(in[i]))"))
        hook = TRANSFORM.format("x + 1")
        other = self.compile("other", hook + 'extern "C" __device__ double post(double x) { return x * 3; }')
        self.assert_refused("signature-mismatch", library, other,
                            says=["library.fatbin defines the weak default (b32) post(b32)",
                                  "other.fatbin defines (b64) post(b64)"], hint="library.fatbin's, or rename one of the two")
        same = self.compile("same", hook + 'extern "C" __device__ float post(float x) { return x * 3; }')
        self.assert_links(library, same)

    def assert_inlined_default_is_compared(self, *types):
        """With definitions of these types: result and parameters."""
        library = self.compile("library", 'extern "C" inline __device__ float post(float x) { return x * 2; }\n' +
                               KERNEL.format("post(user_transform(in[i]))"))
        hook = TRANSFORM.format("x + 1")
        for result, parameters in types:
            value = "" if result == "void" else "*x" if "*" in parameters else "x * 3"
            wrong = self.compile("wrong", f'{hook}extern "C" __device__ {result} post({parameters}) {{ return {value}; }}')
            failed = self.fatlink("link", "--target", "sm_90", "-o", "o.cubin", library, wrong, status=4)
            self.assertRegex(failed.stderr, r"wrong.fatbin defines .*post\(.*, and another input calls it as "
                             r"\(b32\) post\(b32\), .*\[signature-mismatch\]")
        same = self.compile("same", hook + 'extern "C" __device__ float post(float x) { return x * 3; }')
        self.fatlink("link", "--target", "sm_90", "-o", "o.cubin", library, same, status=0)

    def test_a_default_that_nvcc_inlined_and_a_definition_of_another_type_do_not_link(self):
        self.assert_inlined_default_is_compared(("double", "double x"), ("float", "float x, float y"))

    @long_test  # the test above has two types
    def test_a_default_that_nvcc_inlined_and_definitions_of_more_types_do_not_link(self):
        self.assert_inlined_default_is_compared(("float", "const float* x"), ("long", "long x"), ("void", "float x"))

    @long_test  # test_a_default_that_nvcc_inlined_and_a_definition_of_another_type_do_not_link
    def test_a_default_that_nvcc_inlined_is_compared_whoever_defines_it_and_however(self):
        default = "inline __device__ float post(float x) { return x * 2; }\n"
        plain, hook = KERNEL.format("user_transform(in[i])"), TRANSFORM.format("x + 1")
        kernel = KERNEL.format("post(user_transform(in[i]))")
        pairs = {
            "a transform of LTO-IR only": (self.compile("a", f'extern "C" {default}{kernel}'), self.compile(
                "b", f'{hook}extern "C" __device__ double post(double x) {{ return x; }}', "-dlto", "-arch=lto_75")),
            "C++ linkage": (self.compile("c", default + kernel), self.compile(
                "d", f"{hook}__device__ double post(float x) {{ return x * 3; }}")),
            "a default of a transform": (self.compile("e", plain), self.compile(
                "f", f'extern "C" {default}{TRANSFORM.format("post(x)")}'), self.compile(
                "g", 'extern "C" __device__ double post(double x) { return x * 3; }'))}
        for name, inputs in pairs.items():
            with self.subTest(name):
                failed = self.fatlink("link", "--target", "sm_90", "-o", "o.cubin", *inputs, status=4)
                self.assertIn("[signature-mismatch]", failed.stderr)

    def test_check_says_that_only_the_link_compares_a_default_that_nvcc_inlined(self):
        library = self.compile("library", 'extern "C" inline __device__ float post(float x) { return x * 2; }\n' +
                               KERNEL.format("post(user_transform(in[i]))"))
        wrong = self.compile("wrong", TRANSFORM.format("x") + 'extern "C" __device__ double post(double x) { return x; }')
        said = self.check("check", "--target", "sm_90", "--mode", "lto", "--json", library, wrong)
        findings = {f["id"]: f["message"] for f in said["targets"][0]["findings"]}
        self.assertIn("only the link compares the types", findings["compared-by-link"])

    def test_weak_definitions_of_several_types_are_refused(self):
        library = self.compile("library", 'extern "C" inline __device__ __noinline__ float post(float x) { return x; }\n' +
                               KERNEL.format("post(user_transform(in[i]))"))
        other = self.compile("other", 'extern "C" inline __device__ __noinline__ float post(float x, float y) { return x * y; }\n' +
                             TRANSFORM.format("post(x, 2)"))
        self.assert_refused("signature-mismatch", library, other,
                            says=["library.fatbin defines the weak default (b32) post(b32)",
                                  "other.fatbin defines the weak default (b32) post(b32, b32)"])

    def test_a_kernel_of_the_name_of_a_hook_is_refused(self):
        library = self.compile("library", KERNEL.format("user_transform(in[i])"))
        kernel = self.compile("kernel", 'extern "C" __global__ void user_transform(float* x) { *x = 1; }')
        self.assert_refused("signature-mismatch", library, kernel,
                            says=["library.fatbin declares (b32) user_transform(b32)",
                                  "kernel.fatbin defines the kernel user_transform(u64)"], hint="rename")

    def test_kernels_of_one_template_in_two_inputs_link(self):
        kernel = "template <class T> __global__ void fill(T* x) { *x = 1; }\ntemplate __global__ void fill<int>(int*);\n"
        library = self.compile("library", kernel + KERNEL.format("user_transform(in[i])"))
        self.assert_links(library, self.compile("other", kernel + TRANSFORM.format("x")))

    def assert_told_by_the_instructions(self, parameters, results):
        """Of a hook of a float: parameters, with the type that their code reads, and results of these types."""
        library = self.compile("library", KERNEL.format("user_transform(in[i])"))
        for name, read in parameters:
            wrong = self.compile("wrong", f'extern "C" __device__ float user_transform({name} x) {{ return x; }}')
            self.assert_refused("signature-mismatch", library, wrong,
                                says=["declares (f32) user_transform(f32)", f"defines (f32) user_transform({read})"])
        for name in results:
            wrong = self.compile("wrong", f'extern "C" __device__ {name} user_transform(float x) {{ return x > 1; }}')
            self.assert_refused("signature-mismatch", library, wrong,
                                says=["declares (f32) user_transform(f32)", "defines (b32) user_transform(f32)"])

    def test_char_short_bool_and_int_for_a_float_are_told_by_the_instructions(self):
        self.assert_told_by_the_instructions([("char", "s8"), ("short", "u16"), ("bool", "s8")], ["int"])

    @long_test  # the test above has the other types
    def test_unsigned_char_for_a_float_and_results_of_char_and_bool_are_told_by_the_instructions(self):
        self.assert_told_by_the_instructions([("unsigned char", "u8")], ["char", "bool"])

    def test_int_and_float_that_the_instructions_do_not_tell_apart_are_reported(self):
        library = self.compile("library", KERNEL.format("user_transform(in[i])"))
        bits = self.compile("bits", TRANSFORM.format("__int_as_float(__float_as_int(x) & 0x7fffffff)"))
        other = self.compile("other", 'extern "C" __device__ float user_transform(int x) { return x; }')
        for transform in (bits, other):
            self.assert_links(library, transform)
            found = self.findings("lto", library, transform, level="warning")
            self.assertEqual([f["id"] for f in found], ["uncertain-type"])
            self.assertIn("int and float of one width cannot be distinguished", found[0]["message"])
        unread = self.compile("unread", 'extern "C" __device__ float user_transform(int x) { return 1; }')
        self.assertIn("an int that is passed as a float may remain undetected",
                      self.fatlink("check", library, unread).stdout)

    def test_structs_that_differ_by_alignment_are_printed_with_it(self):
        library = self.compile("library", "struct __align__(16) quad { float f[4]; };\n"
                               'extern "C" __device__ float user_transform(quad);\n'
                               'extern "C" __global__ void k(quad* x) { x->f[0] = user_transform(*x); }')
        other = self.compile("other", "struct quad { float f[4]; };\n"
                             'extern "C" __device__ float user_transform(quad x) { return x.f[0]; }')
        self.assert_refused("signature-mismatch", library, other,
                            says=["user_transform(align 16 b8[16])", "user_transform(align 4 b8[16])"])

    def test_variadic_functions_are_read_printed_and_compared(self):
        library = self.compile("library", 'extern "C" __device__ int note(char const*, ...);\n'
                               'extern "C" __global__ void k(int* x) { *x = note("", 1, 2.0); }')
        same = self.compile("same", 'extern "C" __device__ int note(char const*, ...) { return 3; }')
        fixed = self.compile("fixed", 'extern "C" __device__ int note(char const*) { return 3; }')
        self.assertIn("hook        (b32) note(b64, ...)", self.fatlink("inspect", library).stdout)
        self.assert_links(library, same)
        self.assert_refused("signature-mismatch", library, fixed,
                            says=["declares (b32) note(b64, ...)", "defines (b32) note(b64)"])

    def test_an_inline_hook_is_refused_with_the_reason(self):
        library = self.compile("library", KERNEL.format("user_transform(in[i])"))
        inline = self.compile("used", 'extern "C" inline __device__ float user_transform(float x) { return x; }\n'
                              'extern "C" __device__ float another_name(float x) { return user_transform(x); }')
        self.assert_refused("missing-hook", library, inline,
                            hint="inline and static definitions do not count, because nvcc removes them")


class Variables(SymbolsTest):
    DECLARED = ('extern "C" { extern __device__ float scale; extern __constant__ float offset; extern __device__ int table[4];\n'
                "extern __managed__ int counter; extern __device__ int open_table[];\n"
                "__global__ void k(float* x) { *x = *x * scale + offset + table[2] + counter + open_table[1]; } }")
    DEFINED = {"scale": "__device__ float scale = 2;", "offset": "__constant__ float offset = 3;",
               "table": "__device__ int table[4];", "counter": "__managed__ int counter;",
               "open_table": "__device__ int open_table[9];"}

    def define(self, name, **changes):
        lines = {**self.DEFINED, **changes}
        return self.compile(name, 'extern "C" { ' + " ".join(lines.values()) + " }")

    def test_variables_that_fit_link(self):
        library = self.compile("library", self.DECLARED)
        self.assert_links(library, self.define("same"))
        self.assert_links(library, self.define("aligned", scale="__device__ __align__(16) float scale;"))

    def assert_undefined_is_refused(self, **shown):
        """Variables, with what the refusal says that the library declares."""
        library = self.compile("library", self.DECLARED)
        for name, text in shown.items():
            self.assert_refused("missing-variable", library, self.define("without", **{name: ""}),
                                says=[f"library.fatbin declares {text}, which no input defines"], hint="define it")

    def test_an_undefined_variable_is_refused_and_never_a_silent_zero(self):
        self.assert_undefined_is_refused(scale="global f32 scale", counter="managed global u32 counter")
        library = self.compile("library", self.DECLARED)
        self.assert_refused("missing-variable", library, self.define("private", scale="static __device__ float scale = 2;"))

    @long_test  # the test above has other variables
    def test_undefined_constants_and_arrays_are_refused(self):
        self.assert_undefined_is_refused(offset="const f32 offset", table="global b8 table[16]",
                                         open_table="global b8 open_table[]")

    def test_a_misspelt_variable_is_named(self):
        self.assert_refused("missing-variable", self.compile("library", self.DECLARED),
                            self.define("misspelt", scale="__device__ float scales = 2;"), hint="did you mean scales?")

    def assert_others_are_refused(self, *others):
        """Variables, with another definition and what the refusal says."""
        library = self.compile("library", self.DECLARED)
        for name, other, says in others:
            self.assert_refused("signature-mismatch", library, self.define("other", **{name: other}), says=says)

    def test_a_variable_of_another_type_size_space_or_alignment_is_refused(self):
        self.assert_others_are_refused(
            ("scale", "__device__ int scale;", ["declares global f32 scale", "defines global u32 scale"]),
            ("scale", "__constant__ float scale;", ["declares global f32 scale", "defines const f32 scale"]),
            ("table", "__device__ int table[5];", ["global b8 table[16]", "global b8 table[20]"]),
            ("table", "__device__ char table[16];", ["global align 4 b8 table[16]", "global align 1 b8 table[16]"]))

    @long_test  # the test above has other types and spaces
    def test_variables_of_more_types_and_spaces_are_refused(self):
        self.assert_others_are_refused(
            ("scale", "__device__ double scale;", ["declares global f32 scale", "defines global f64 scale"]),
            ("scale", "__managed__ float scale;", ["defines managed global f32 scale"]),
            ("counter", "__device__ int counter;", ["managed global u32 counter", "defines global u32 counter"]),
            ("offset", "__device__ float offset;", ["declares const f32 offset", "defines global f32 offset"]))

    def test_a_function_of_the_name_of_a_variable_is_no_definition(self):
        self.assert_refused("missing-variable", self.compile("library", self.DECLARED),
                            self.define("function", scale="__device__ float scale() { return 1; }"),
                            hint="function.fatbin has a function of that name")

    def test_dynamic_shared_memory_is_not_missing(self):
        first = self.compile("first", 'extern "C" { extern __shared__ float tile[]; __global__ void k(float* x) { tile[0] = *x; } }')
        second = self.compile("second", 'extern "C" { extern __shared__ double tile[]; __global__ void l(double* x) { tile[0] = *x; } }')
        self.assert_links(first)
        self.assert_links(first, second)

    def test_inspect_shows_variables(self):
        text = self.fatlink("inspect", self.compile("library", self.DECLARED), self.define("same")).stdout
        self.assertIn("needs       managed global u32 counter", text)
        self.assertIn("variable    const f32 offset", text)


class ConstantMemory(SymbolsTest):
    """64 KiB for all inputs; nvJitLink keeps unused variables."""

    def test_of_two_inputs_is_refused_before_the_link_fails(self):
        table = "__constant__ float {}[10000];\n"
        library = self.compile("library", table.format("a") + KERNEL.format("user_transform(in[i])"))
        transform = self.compile("transform", table.format("b") + TRANSFORM.format("x"))
        self.assert_refused("constant-memory", library, transform, hint="make them smaller, or read large ones from global memory",
                            says=["library.fatbin, ", "transform.fatbin: 80000 bytes of __constant__ variables, above 65536"])
        self.fatlink("link", "--target", "sm_90", "--mode", "lto", "--drop-unused-variables", "-o", "o.cubin", library, transform)
        self.fatlink("link", "--target", "sm_90", "--mode", "ptx", "--kernel", "apply_transform", "-o", "o.cubin", library, transform)

    def test_of_one_input_may_have_the_limit(self):
        library = self.compile("library", "__constant__ float a[16384];\n" + KERNEL.format("user_transform(in[i])"))
        self.assert_links(library, self.compile("transform", TRANSFORM.format("x")))


class KernelResources(SymbolsTest):
    """48 KiB of static shared memory for a kernel and all functions that it reaches; registers under launch bounds."""

    SHARED = "__shared__ float t[{}]; t[threadIdx.x & 31] = {}; __syncthreads(); return t[threadIdx.x & 30];"
    CALLEE = "__device__ __noinline__ float own(float x) {{ " + SHARED + " }}\n"

    HEAVY = """extern "C" __device__ float user_transform(float x) {
float a[64], s = 0;
#pragma unroll
for (int i = 0; i < 64; ++i) a[i] = x * (i + 1) + i;
#pragma unroll
for (int r = 0; r < 6; ++r)
#pragma unroll
  for (int i = 0; i < 64; ++i) a[i] = a[i] * a[(i * 7 + r + 1) % 64] + a[(i * 13 + r + 5) % 64] * 0.001F;
#pragma unroll
for (int i = 0; i < 64; ++i) s += a[i];
return s; }"""

    def library(self, elements, call="user_transform(own(in[i]))"):
        return self.compile("library", self.CALLEE.format(elements, "x") + KERNEL.format(call))

    def transform(self, elements):
        return self.compile("transform", f"{TRANSFORM.split('{')[0]}{{ {self.SHARED.format(elements, 'x')} }}")

    def test_shared_memory_of_two_inputs_is_refused_before_the_link_fails(self):
        library, transform = self.library(7000), self.transform(6000)
        says = ["kernel apply_transform reaches 52000 bytes of __shared__ variables, above 49152, the limit",
                "library.fatbin has 28000", "user_transform of ", "transform.fatbin has 24000"]
        checked = self.fatlink("check", "--mode", "ptx", library, transform, status=4).stdout
        for text in says + ["[kernel-resources]", "dynamic shared memory"]:
            self.assertIn(text, checked)
        checked = self.fatlink("check", "--mode", "lto", library, transform).stdout
        self.assertIn("the link fails unless optimisation removes some [kernel-resources]", checked)
        for mode, status in (("ptx", 4), ("lto", 4)):
            self.fatlink("link", "--no-cache", "--target", "sm_90", "--mode", mode, "-o", "o.cubin", library, transform, status=status)

    def test_shared_memory_may_have_the_limit(self):
        library, transform = self.library(6288), self.transform(6000)
        self.assertNotIn("kernel-resources", self.fatlink("check", "--mode", "ptx", library, transform).stdout)
        self.fatlink("link", "--no-cache", "--target", "sm_90", "--mode", "ptx", "-o", "o.cubin", library, transform)

    def test_shared_memory_that_no_kernel_reaches_does_not_count(self):
        library, transform = self.library(7000, "user_transform(in[i])"), self.transform(6000)
        self.assertNotIn("kernel-resources", self.fatlink("check", "--mode", "ptx", library, transform).stdout)
        self.fatlink("link", "--no-cache", "--target", "sm_90", "--mode", "ptx", "-o", "o.cubin", library, transform)

    def test_registers_under_launch_bounds_are_refused_in_sass_mode(self):
        library = self.compile("library", KERNEL.format("user_transform(in[i])").replace(
            "__global__ void", "__global__ void __launch_bounds__(1024, 2)"), "-rdc=true", "-arch=sm_90")
        heavy = self.compile("heavy", self.HEAVY, "-rdc=true", "-arch=sm_90")
        light = self.compile("light", self.HEAVY, "-rdc=true", "-arch=sm_90", "-maxrregcount=32")
        checked = self.fatlink("check", "--mode", "sass", library, heavy, status=4).stdout
        self.assertRegex(checked, r"kernel apply_transform of \S+library.fatbin may use 32 registers, .* calls user_transform of "
                                  r"\S+heavy.fatbin, which uses \d+ \[kernel-resources\]")
        self.assertIn("compile user_transform with -maxrregcount=32", checked)
        self.fatlink("link", "--no-cache", "--target", "sm_90", "--mode", "sass", "-o", "o.cubin", library, light)


PTX_HEAD = ".version 8.0\n.target {}\n.address_size 64\n"
PTX_HALF = (".visible .func (.param .b32 r) user_transform(.param .b32 x) {{ .reg .f32 %f<3>; ld.param.{0} %f1, [x]; "
            "mul.f32 %f2, %f1, 0f3F000000; st.param.{0} [r], %f2; ret; }}\n")


class ForeignPtx(SymbolsTest):
    """PTX that nvJitLink links, of other compilers than nvcc."""

    def assert_halves(self, ptx):
        """Links, and on the reference device halves a quarter."""
        transform = self.file("half.ptx", ptx)
        self.link("apply_transform", transform, mode="ptx")
        done = self.fatlink("run", "--no-cache", "--device", "cpu", "--mode", "ptx", "--transform", transform,
                            "--elements", "32", "--print", "1")
        self.assertRegex(done.stdout, r"(?m)^  out\[0\]  in 0\.25  ptx 0\.125")

    def test_for_old_targets(self):
        for target in ("sm_20", "sm_21", "sm_62", "sm_72", "sm_82"):
            with self.subTest(target=target):
                self.assert_halves(PTX_HEAD.format(target) + PTX_HALF.format("f32"))
        renamed = self.file("renamed.ptx", PTX_HEAD.replace("8.0", "8.6").format("sm_101") + PTX_HALF.format("f32"))
        self.link("apply_transform", renamed, mode="ptx", target="sm_110")
        self.assertIn("ptx sm_101", self.fatlink("inspect", renamed).stdout)

    def test_with_a_declaration_that_nothing_calls(self):
        self.assert_halves(PTX_HEAD.format("sm_75") + ".extern .func (.param .b32 r) other(.param .b32 x);\n" +
                           PTX_HALF.format("f32"))

    def test_with_comments_and_names_of_files_that_are_not_ascii(self):
        self.assert_halves("// größe\n" + PTX_HEAD.format("sm_75") + '.file 1 "größe.cu"\n' + PTX_HALF.format("f32"))

    def test_that_moves_floats_as_bits(self):
        self.assert_halves(PTX_HEAD.format("sm_75") + PTX_HALF.format("b32"))


class DeviceRuntime(SymbolsTest):
    """Dynamic parallelism."""
    LAUNCH = ('extern "C" __device__ float user_transform(float);\n'
              'extern "C" __global__ void child(float* out) { out[threadIdx.x] += 1; }\n'
              'extern "C" __global__ void k(float const* in, float* out) { out[0] = user_transform(in[0]); '
              "child<<<1, 32, 0, cudaStreamTailLaunch>>>(out); }\n")

    def objects(self):
        for name, source in (("k", self.LAUNCH), ("half", TRANSFORM.format("0.5F * x"))):
            self.file(f"{name}.cu", source)
            subprocess.run([NVCC, "-dc", "-gencode", "arch=compute_90,code=[sm_90,compute_90,lto_90]", f"{name}.cu", "-o",
                            f"{name}.o"], cwd=self.folder, check=True)
        return "k.o", "half.o"

    def setUp(self):
        super().setUp()
        if shutil.which(NVCC) is None:
            self.skipTest("compiles, and FATLINK_NVCC names no nvcc")
        toolkit = pathlib.Path(shutil.which(NVCC)).absolute().parents[1]  # links to the real one
        found = [archive for archive in (toolkit / "lib64/libcudadevrt.a", toolkit / "lib/libcudadevrt.a") if archive.exists()]
        if not found:
            self.skipTest("no libcudadevrt.a beside nvcc")
        self.archive = found[0]

    def test_links_with_its_archive(self):
        objects = self.objects()
        self.link(*objects, self.archive, mode="sass")
        for mode in ("lto", "ptx"):
            self.fatlink("link", "--target", "sm_90", "--mode", mode, "--allow-calls", "-o", "out.cubin", *objects, self.archive)

    @long_test  # the test above passes the archive itself
    def test_links_as_a_shared_library_which_holds_its_archive(self):
        self.file("all.cu", TRANSFORM.format("0.5F * x") + self.LAUNCH)
        subprocess.run([NVCC, "-rdc=true", "-shared", "-Xcompiler", "-fPIC", "-gencode", "arch=compute_90,code=[sm_90,compute_90]",
                        "all.cu", "-o", "all.so"], cwd=self.folder, check=True)
        self.link("all.so", mode="sass")
        self.link("all.so", "--allow-calls", mode="ptx")
        self.assert_fails(4, "link", "--target", "sm_90", "--mode", "ptx", "-o", "o.cubin", "all.so", says=["[arch-too-new]"],
                          hint="link in sass mode (--mode sass), pass --allow-calls where a cubin is linked, or compile it for")

    def test_names_the_archive_that_is_missing(self):
        self.assert_fails(4, "link", "--target", "sm_90", "--mode", "lto", "-o", "out.cubin", *self.objects(),
                          says=["__cudaCDP2", "[missing-hook]"], hint="pass its libcudadevrt.a")


if __name__ == "__main__":
    unittest.main()
