# SPDX-License-Identifier: Apache-2.0
"""fatlink_add_cache_layer: which links a layer serves, and what stops or fails its build."""
import os
import re
import subprocess

from build_side import CONTRACT, HEADER, LIBRARY, NVCC, PROGRAM, TRANSFORM, ContractsCase, plain
from run_tests import long_test


class CacheLayers(ContractsCase):
    """A library with two hooks: its transforms are linked together."""

    def setUp(self):
        super().setUp()
        self.write("hook.cuh", HEADER + 'extern "C" __device__ float post(float);\n')
        self.write("l.cu", LIBRARY.replace("hook(*x)", "post(hook(*x))"))
        self.write("p.cu", TRANSFORM.replace("hook", "post"))
        self.write("both.cu", TRANSFORM + TRANSFORM.replace("hook", "post"))
        self.fatbins = CONTRACT + "".join(
            f"fatlink_add_fatbin({name} SOURCES {name}.cu CONTRACT c)\n" for name in ("l", "t", "p", "both"))

    def layer(self, transforms, options=""):
        return (self.fatbins +
                f"fatlink_add_cache_layer(layer LIBRARY l TRANSFORMS {transforms} ARCHITECTURES 90 {options})\n")

    def nvcc(self, *words):
        subprocess.run([NVCC, "-arch=sm_75", *words], cwd=self.folder, check=True, capture_output=True)

    def linked(self, *inputs):
        """The provenance of a link that has only the layer, and no nvJitLink."""
        done = subprocess.run([PROGRAM, "link", "--json", "--target", "sm_90", "-o", "o.cubin", *inputs], cwd=self.folder,
                              text=True, capture_output=True,
                              env={**os.environ, "FATLINK_SYSTEM_CACHE": str(self.folder / "b/layer"),
                                   "FATLINK_CACHE_DIR": str(self.folder / "empty"), "FATLINK_NVJITLINK": "/nowhere"})
        return done.returncode

    def test_a_group_of_transforms_is_linked_together(self):
        self.built(self.layer("t+p both"))
        self.assertEqual(self.linked("b/l.fatbin", "b/t.fatbin", "b/p.fatbin"), 0)
        self.assertEqual(self.linked("b/l.fatbin", "b/both.fatbin"), 0)
        self.assertEqual(self.linked("b/l.fatbin", "b/p.fatbin", "b/t.fatbin", "b/both.fatbin"), 4)

    def test_a_layer_with_one_copy_has_half_the_entries(self):
        self.built(self.layer("both", "MODE lto EMIT cubin ONE_COPY"))
        self.assertEqual(len(os.listdir(self.folder / "b/layer")), 1)
        self.assertEqual(self.linked("b/l.fatbin", "b/both.fatbin"), 0)

    def test_a_layer_serves_links_with_its_options(self):
        kernel = re.search(r"__global__ void (\w+)", LIBRARY)[1]
        self.built(self.layer("t+p", f"EMIT cubin KERNELS {kernel} MAX_REGISTERS 32 THREADS 2 LINE_INFO "
                                     "PTXAS --def-load-cache=cg NO_DRIVER_CACHE"))
        inputs = ["b/l.fatbin", "b/t.fatbin", "b/p.fatbin"]
        options = ["--kernel", kernel, "--max-registers", "32", "--threads", "2", "--line-info",
                   "--ptxas=--def-load-cache=cg"]
        self.assertEqual(self.linked(*inputs, *options), 0)
        self.assertEqual(self.linked(*inputs, *options, "--mode", "ptx"), 0)
        self.assertNotEqual(self.linked(*inputs), 0)
        self.assertNotEqual(self.linked(*inputs, *options, "--emit", "ptx"), 0)

    @long_test  # test_a_layer_serves_links_with_its_options has others
    def test_a_layer_of_lto_links_has_options_of_the_lto_compiler(self):
        self.built(self.layer("both", "MODE lto FTZ 1 FMA 0 FAST_COMPILE mid"))
        options = ["--ftz", "1", "--fma", "0", "--fast-compile", "mid"]
        self.assertEqual(self.linked("b/l.fatbin", "b/both.fatbin", *options), 0)
        self.assertEqual(self.linked("b/l.fatbin", "b/both.fatbin", *options, "--emit", "ptx"), 0)
        self.assertNotEqual(self.linked("b/l.fatbin", "b/both.fatbin"), 0)

    @long_test  # test_a_layer_serves_links_with_its_options has others
    def test_a_layer_of_ptx_has_lto_links_with_their_options(self):
        self.built(self.layer("both", "EMIT ptx FTZ 1"))
        inputs = ["b/l.fatbin", "b/both.fatbin", "--ftz", "1"]
        self.assertEqual(self.linked(*inputs, "--emit", "ptx"), 0)
        self.assertNotEqual(self.linked(*inputs), 0)

    @long_test  # test_a_layer_serves_links_with_its_options has others
    def test_a_layer_of_sass_links_takes_the_options_of_sass_mode(self):
        self.fatbins = self.fatbins.replace(" CONTRACT c)", " CONTRACT c SASS 90)")
        self.built(self.layer("t+p", "MODE sass KERNELS k NO_DRIVER_CACHE"))
        inputs = ["b/l.fatbin", "b/t.fatbin", "b/p.fatbin", "--kernel", "k"]
        self.assertEqual(self.linked(*inputs, "--mode", "sass"), 0)
        self.assertNotEqual(self.linked(*inputs, "--mode", "ptx"), 0)

    @long_test  # test_a_transform_that_leaves_a_hook_open_fails_the_build_and_says_which
    def test_sass_for_another_gpu_fails_the_build(self):
        self.fatbins = self.fatbins.replace(" CONTRACT c)", " CONTRACT c SASS 80)")
        self.assertEqual(self.configure(self.layer("t+p", "MODE sass")).returncode, 0)
        done = self.build()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("[arch-specific]", done.stdout + done.stderr)

    @long_test  # test_a_layer_serves_links_with_its_options
    def test_a_layer_links_inputs_without_ltoir_where_calls_are_allowed(self):
        self.nvcc("-rdc=true", "-ptx", "-o", "both.ptx", "both.cu")
        self.built(self.layer("${CMAKE_SOURCE_DIR}/both.ptx", "MODE lto EMIT cubin ALLOW_CALLS"))
        self.assertEqual(self.linked("b/l.fatbin", "both.ptx", "--allow-calls"), 0)
        self.assertEqual(self.linked("b/l.fatbin", "both.ptx"), 4)

    def test_a_layer_links_all_members_of_an_archive_on_request(self):
        self.write("more.cu", TRANSFORM.replace("hook", "more"))
        for name in ("both", "more"):
            self.nvcc("-dc", "-dlto", "-o", f"{name}.o", f"{name}.cu")
        subprocess.run(["ar", "rc", "all.a", "both.o", "more.o"], cwd=self.folder, check=True)
        self.built(self.layer("${CMAKE_SOURCE_DIR}/all.a", "MODE lto EMIT cubin WHOLE_ARCHIVE"))
        self.assertEqual(self.linked("b/l.fatbin", "all.a", "--whole-archive"), 0)
        self.assertNotEqual(self.linked("b/l.fatbin", "all.a"), 0)

    @long_test  # cli.test_link_options has it in short
    def test_a_raw_option_that_fatlink_has_fails_the_build_and_names_it(self):
        self.assertEqual(self.configure(self.layer("t+p", "EMIT cubin PTXAS -O1")).returncode, 0)
        done = self.build()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("fatlink has an option of its own for it", plain(done.stdout + done.stderr))

    @long_test  # test_a_malformed_group_stops_configuration
    def test_a_file_with_a_plus_in_its_name_is_no_group(self):
        self.built(self.layer("both"))
        (self.folder / "b/both.fatbin").rename(self.folder / "a+b.fatbin")
        self.built(self.layer("${CMAKE_SOURCE_DIR}/a+b.fatbin"))

    def test_a_transform_that_leaves_a_hook_open_fails_the_build_and_says_which(self):
        self.assertEqual(self.configure(self.layer("t")).returncode, 0)
        done = self.build()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("post(b32), which is defined by no input [missing-hook]", plain(done.stdout + done.stderr))

    def test_a_malformed_group_stops_configuration(self):
        for transforms, says in (("t+", "fatlink_add_cache_layer(layer): TRANSFORMS t+: a group is two or more transforms"),
                                 ("+t", "TRANSFORMS +t: a group"), ("t++p", "TRANSFORMS t++p: a group"),
                                 ("t+t", "TRANSFORMS t+t: a group must not name a transform twice"),
                                 ("t+none", "none: no such target or file")):
            with self.subTest(transforms=transforms):
                done = self.configure(self.layer(transforms))
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(says, plain(done.stderr))
