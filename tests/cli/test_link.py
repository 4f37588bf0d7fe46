# SPDX-License-Identifier: Apache-2.0
"""fatlink link: every transform for every target, and what it refuses."""
import hashlib
import subprocess

from fatlink_cli import HOOK, LIBRARY, PROGRAM, SHARE, TRANSFORMS, CliTest
from run_tests import long_test

TARGETS = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_103", "sm_120",
           "sm_121"]


class Links(CliTest):
    def assert_links_alike(self, transform, target):
        """In both modes, twice."""
        for mode in ("ptx", "lto"):
            with self.subTest(target=target, mode=mode, transform=transform):
                digests = set()
                for _ in range(2):
                    self.link("--no-cache", LIBRARY, SHARE / f"{transform}.fatbin", target=target, mode=mode)
                    image = (self.folder / "out.cubin").read_bytes()
                    self.assertEqual(image[:4], b"\x7fELF")
                    digests.add(hashlib.sha256(image).hexdigest())
                self.assertEqual(len(digests), 1)

    def test_every_transform_and_every_target_in_both_modes_twice_alike(self):
        for number in range(max(len(TARGETS), len(TRANSFORMS))):
            self.assert_links_alike(TRANSFORMS[number % len(TRANSFORMS)], TARGETS[number % len(TARGETS)])

    @long_test  # the test above has each transform and each target
    def test_every_transform_for_every_target_in_both_modes_twice_alike(self):
        for target in TARGETS:
            for transform in TRANSFORMS:
                self.assert_links_alike(transform, target)

    def test_inlining_is_read_from_the_image(self):
        pair = [LIBRARY, SHARE / "relu_poly.fatbin"]
        for mode, inlined in (("ptx", False), ("lto", True)):
            said = self.fatlink_json("link", "--target", "sm_90", "--mode", mode, "-o", "o", *pair)
            self.assertEqual(said["inlined"], inlined)
            self.assertEqual(said["hooks"], [{"name": "user_transform", "inlined": inlined, "default": False}])

    def test_a_call_left_by_an_lto_link_is_said_loudly(self):
        kept = self.compile("kept", HOOK.replace("float user", "__noinline__ float user"))
        done = self.link(LIBRARY, kept)
        self.assertIn("warning: user_transform was not inlined", done.stderr)
        self.assertIn("user_transform called", done.stdout)

    def test_lto_mode_can_emit_ptx(self):
        self.link("--emit", "ptx", LIBRARY, SHARE / "gelu.fatbin")
        text = (self.folder / "out.cubin").read_text()
        self.assertIn(".visible .entry apply_transform", text)
        self.assertFalse(text.endswith("\0"))

    def test_ptx_mode_cannot_emit_ptx(self):
        self.assert_fails(2, "link", "--target", "sm_90", "--mode", "ptx", "--emit", "ptx", "-o", "o",
                          LIBRARY, SHARE / "gelu.fatbin", says=["ptx cannot be emitted in ptx mode"])

    def test_a_link_without_a_kernel_warns(self):
        warning = "the linked image has no kernel"
        for words in ([], ["--mode", "ptx"]):
            done = self.fatlink("link", "--target", "sm_90", "-o", "o.cubin", *words, SHARE / "gelu.fatbin")
            self.assertIn(f"fatlink: warning: {warning}: none of the inputs is a library", done.stderr)
        link = ["link", "--target", "sm_90", "-o", "o.cubin"]
        self.assertIn(warning, self.fatlink_json(*link, SHARE / "gelu.fatbin")["warnings"][0])
        self.assertEqual(self.fatlink_json(*link, LIBRARY, SHARE / "gelu.fatbin")["warnings"], [])

    def test_resources_shows_each_kernel_of_the_cubin(self):
        link = ["link", "--resources", "--target", "sm_90", "-o", "o", LIBRARY, SHARE / "relu_poly.fatbin"]
        [kernel] = self.fatlink_json(*link)["resources"]
        self.assertEqual(kernel["kernel"], "apply_transform")
        self.assertTrue(8 <= kernel["registers"] <= kernel["max_registers"] == 255)
        self.assertEqual((kernel["parameter_bytes"], kernel["local_store_bytes"], kernel["static_shared_bytes"]),
                         (24, 0, 0))
        self.assertRegex(self.fatlink(*link).stdout,
                         r"(?m)^  apply_transform: \d+ registers; bytes: \d+ stack, 0 local stores, 0 local loads, "
                         r"0 shared, \d+ constant$")

    def test_resources_are_absent_unless_asked_for(self):
        said = self.fatlink_json("link", "--target", "sm_90", "-o", "o", LIBRARY, SHARE / "relu_poly.fatbin")
        self.assertNotIn("resources", said)

    def test_resources_of_ptx_are_a_usage_error(self):
        self.assert_fails(2, "link", "--resources", "--emit", "ptx", "--target", "sm_90", "-o", "o", LIBRARY,
                          says=["--resources: this option has no effect on emitted PTX: only a cubin states resources"],
                          hint="leave out --emit ptx, or leave out --resources")

    def test_an_input_is_never_the_output(self):
        transform = self.file("t.fatbin", (SHARE / "identity.fatbin").read_bytes())
        self.assert_fails(2, "link", "--target", "sm_90", "-o", "t.fatbin", LIBRARY, transform,
                          says=["t.fatbin is also an input"])

    def test_a_transform_compiled_by_hand_links_with_a_warning(self):
        by_hand = self.compile("by_hand", HOOK)
        for mode in ("ptx", "lto"):
            done = self.link(LIBRARY, by_hand, mode=mode)
            self.assertIn("by_hand.fatbin states no contract", done.stderr)
            self.assertIn("[uncontracted]", done.stderr)

    def test_float_flags_of_the_entries_reach_the_lto_link(self):
        source = 'extern "C" __global__ void k(float* x) { *x = *x / 3.1f; }'
        precise = self.compile("precise", source)
        self.link(precise)
        first = (self.folder / "out.cubin").read_bytes()
        fast = self.compile("fast", source, "-dlto", "-arch=sm_75", "-use_fast_math")
        self.link(fast)
        self.assertNotEqual(first, (self.folder / "out.cubin").read_bytes())

    def test_the_program_is_linked_with_neither_libcuda_nor_nvjitlink(self):
        needed = subprocess.run(["ldd", PROGRAM], text=True, capture_output=True, check=True).stdout
        self.assertNotIn("libcuda", needed)
        self.assertNotIn("libnvJitLink", needed)


class Refuses(CliTest):
    def assert_refused(self, finding, *inputs, says, modes=("ptx", "lto"), target="sm_90"):
        for mode in modes:
            with self.subTest(mode=mode):
                self.assert_fails(4, "link", "--target", target, "--mode", mode, "-o", "o", *inputs,
                                  says=[f"[{finding}]", *says])

    def test_a_hook_that_nobody_defines(self):
        self.assert_refused("missing-hook", LIBRARY, says=[f"{LIBRARY} calls (b32) user_transform(b32), which is defined by no input"])

    def test_a_misspelt_hook_with_the_name_it_is_near(self):
        near = self.compile("near", HOOK.replace("user_transform", "user_transfrom"))
        done = self.assert_fails(4, "link", "--target", "sm_90", "-o", "o", LIBRARY, near,
                                 says=["[missing-hook]"])
        self.assertIn("did you mean user_transfrom?", done.stderr)

    def test_a_cxx_definition_of_a_c_hook(self):
        mangled = self.compile("mangled", HOOK.replace('extern "C" ', ""))
        done = self.assert_fails(4, "link", "--target", "sm_90", "-o", "o", LIBRARY, mangled,
                                 says=["[missing-hook]"])
        self.assertIn('declare the definition extern "C"', done.stderr)

    def test_two_definitions_naming_both_files(self):
        self.assert_refused("duplicate-symbol", LIBRARY, SHARE / "gelu.fatbin",
                            SHARE / "softsign.fatbin", says=["gelu.fatbin", "softsign.fatbin"])

    def test_a_definition_of_another_type(self):
        double = self.compile("double", HOOK.replace("float", "double"))
        self.assert_refused("signature-mismatch", LIBRARY, double,
                            says=["(b32) user_transform(b32)", "(b64) user_transform(b64)"])

    def test_an_unknown_kernel_listing_those_there_are(self):
        done = self.assert_fails(4, "link", "--target", "sm_90", "-o", "o", "--kernel", "nope", LIBRARY,
                                 SHARE / "gelu.fatbin", says=["kernel nope", "[unknown-kernel]"])
        self.assertIn("apply_transform", done.stderr.splitlines()[1])

    def test_code_for_newer_architectures(self):
        newer = self.compile("newer", HOOK, "-dlto", "-arch=sm_90")
        self.assert_refused("arch-too-new", LIBRARY, newer, says=["newer.fatbin", "sm_90", "sm_80"],
                            target="sm_80")

    def test_architecture_specific_code(self):
        exact = self.compile("exact", HOOK, "-dc", "-gencode",
                             "arch=compute_90a,code=[compute_90a,lto_90a]")
        self.assert_refused("arch-specific", LIBRARY, exact, says=["exact.fatbin", "sm_90a"])

    def test_ptx_alone_in_lto_mode(self):
        ptx = self.compile("only_ptx", HOOK, "-dc", "-gencode", "arch=compute_75,code=compute_75")
        self.assert_refused("no-ltoir", LIBRARY, ptx, says=["only_ptx.fatbin"], modes=["lto"])

    def test_ltoir_alone_in_ptx_mode(self):
        lto = self.compile("only_lto", HOOK, "-dc", "-gencode", "arch=compute_75,code=lto_75")
        self.assert_refused("no-ptx", LIBRARY, lto, says=["only_lto.fatbin"], modes=["ptx"])

    def test_other_float_flags_in_lto_mode(self):
        ftz = self.compile("ftz", HOOK, "-dlto", "-arch=sm_75", "-ftz=true")
        self.assert_refused("float-contract", LIBRARY, ftz, says=["ftz.fatbin", "apply_transform.fatbin"],
                            modes=["lto"])
        self.link(LIBRARY, ftz, mode="ptx")


class Limits(CliTest):
    """What only nvJitLink knows: each has its own hint, and none suggests damage."""
    LIBRARY = ('extern "C" __device__ float user_transform(float);\n{0}'
               'extern "C" __global__ void {1} k(float* out, int i) {{ {2} out[i] = user_transform(out[i]){3}; }}\n')
    TRANSFORM = '{0}extern "C" __device__ float user_transform(float x) {{ {1} }}\n'
    TABLE = "__constant__ float {0}[10000];\n__device__ int at_{0};\n"
    SHARED = "__shared__ float t[8000]; t[threadIdx.x] = 1; __syncthreads();"
    MANY_REGISTERS = """float a[64];
#pragma unroll
for (int i = 0; i < 64; ++i) a[i] = x * (i + 1) + i;
#pragma unroll
for (int r = 0; r < 6; ++r) {
#pragma unroll
for (int i = 0; i < 64; ++i) a[i] = a[i] * a[(i * 7 + r + 1) % 64] + a[(i * 13 + r + 5) % 64] * 0.001F; }
float s = 0;
#pragma unroll
for (int i = 0; i < 64; ++i) s += a[i];
return s;"""

    def assert_link_hint(self, library, transform, says, hint, *options, mode="ptx"):
        files = [self.compile("library", self.LIBRARY.format(*library)), self.compile("transform", self.TRANSFORM.format(*transform))]
        done = self.assert_fails(4, "link", "--target", "sm_90", "--mode", mode, "-o", "out.cubin", *options, *files,
                                 says=[says], hint=hint)
        self.assertNotIn("damaged", done.stderr)

    def test_of_constant_memory_have_a_hint(self):
        self.assert_link_hint((self.TABLE.format("a"), "", "", " + a[at_a]"), (self.TABLE.format("b"), "return x + b[at_b];"),
                              "too much global constant data", "make the __constant__ variables of all inputs together smaller", "--kernel", "k")

    def test_of_shared_memory_have_a_hint(self):  # in ptx mode it is known before: kernel-resources
        self.assert_link_hint(("", "", self.SHARED, " + t[i]"), ("", f"{self.SHARED} return x + t[threadIdx.x ^ 1];"),
                              "too much shared data", "make the __shared__ arrays of the kernel and of the functions that it calls smaller", mode="lto")

    def test_of_registers_have_a_hint(self):
        self.assert_link_hint(("", "__launch_bounds__(1024, 2)", "", ""), ("", self.MANY_REGISTERS),
                              "with max regcount of", "limit the registers of the callee (--max-registers)")
