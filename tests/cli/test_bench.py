# SPDX-License-Identifier: Apache-2.0
"""fatlink bench: which inputs it measures, in which modes, with which options, and what it leaves out."""
import json
import os
import pathlib
import shutil
import tempfile

import form_files
from compile_case import HALF, CompileCase
from fatlink_cli import LIBRARY, SHARE, TESTS, CliTest, gpus
from run_tests import long_test

SHORT = ["--repeat", "1", "--elements", "64"]
TWO_HOOKS = """extern "C" __device__ float load(float);
extern "C" __device__ float store(float);
extern "C" __global__ void two(const float* in, float* out, size_t n)
{
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) out[i] = store(load(in[i]));
}
"""


def modes_of(report):
    return [row["mode"] for row in report["links"]]


def verbs_of(report):
    return sorted({row["verb"] for row in report["starts"]})


class BenchTest(CliTest):
    def bench(self, *words, **options):
        return self.fatlink_json("bench", *SHORT, *words, **options)

    def bench_of_sizes(self, *words):
        """With --set for every size, so that --elements is refused."""
        return self.fatlink_json("bench", "--repeat", 1, *words)


class Parts(BenchTest):
    def test_only_the_parts_that_are_asked_for_are_measured(self):
        report = self.bench("--only", "preflight,links")
        self.assertGreater(report["preflight_ms"], 0)
        self.assertEqual(modes_of(report), ["ptx", "lto"])
        self.assertEqual((report["kernels"], report["starts"], report["nvcc"], report["reference_device"]), ([], [], None, None))
        text = self.fatlink("bench", *SHORT, "--only", "preflight").stdout
        self.assertIn("Preflight of the pair", text)
        self.assertNotIn("| link |", text)

    def test_transforms_need_no_option(self):
        report = self.bench("--only", "preflight", SHARE / "gelu.fatbin")
        self.assertEqual(report["transform"], "gelu")

    def test_a_part_that_there_is_not_is_refused(self):
        self.assert_fails(2, "bench", "--only", "kernel", says=["--only"], hint="kernels")


class FirstLaunch(BenchTest):
    TIERED = ["--library", TESTS / "corpus" / "tiered_apply_transform.fatbin",
              "--transform", TESTS / "corpus" / "tiered_relu_poly.fatbin", "--only", "first-launch"]

    def need_sm_90(self):
        if gpus() and gpus()[0]["target"] != "sm_90":
            self.skipTest("the GPU is not of sm_90")

    def test_is_measured_with_and_without_tiers(self):
        self.need_sm_90()
        rows = self.bench(*self.TIERED)["first_launch"]
        self.assertEqual([(row["tiers"], row["helper"]) for row in rows],
                         [("lto", "running"), ("sass, then lto", "running"), ("lto", "started"), ("sass, then lto", "started")])
        for row in rows:
            self.assertGreater(row["image_ms"], 0)
            self.assertEqual(row["launch_ms"] is None, not gpus())
            self.assertEqual(row["times_sooner"] is None, row["tiers"] == "lto")

    @long_test  # the test above has the figures
    def test_is_shown_as_text(self):
        self.need_sm_90()
        text = self.fatlink("bench", *SHORT, *self.TIERED).stdout
        self.assertIn("| first launch, cold cache | helper |", text)
        self.assertRegex(text, r"(?m)^\| sass, then lto \| running \| [\d.]+ \|.*\| [\d.]+ \|$")

    def test_of_inputs_without_sass_is_skipped_and_the_reason_is_stated_on_request(self):
        done = self.fatlink("bench", *SHORT, "--only", "first-launch", "--json")
        self.assertEqual(json.loads(done.stdout)["first_launch"], [])
        self.assertRegex(done.stderr, "the first launch is skipped: .*apply_transform.fatbin holds no SASS")

    def test_needs_the_lto_mode(self):
        done = self.fatlink("bench", *SHORT, *self.TIERED, "--mode", "ptx")
        self.assertNotIn("first launch, cold cache", done.stdout)
        self.assertIn("the first launch is skipped: lto is not among the modes", done.stderr)


class Plans(BenchTest):
    def kernels_of(self, file):
        return self.fatlink_json("inspect", file)["files"][0]["entries"][0]["kernels"]

    def test_a_library_with_a_launch_plan_is_measured(self):
        report = self.bench("--library", "convert", "--transform", "load_int8", "--transform", "store_float16")
        self.assertEqual((report["library"], report["transform"], report["kernel"]),
                         ("convert", "load_int8 + store_float16", "convert"))
        self.assertEqual(modes_of(report), ["ptx", "lto"])
        self.assertEqual(verbs_of(report), ["link", "run"])
        self.assertGreater(report["reference_device"]["instructions_per_s_and_core"], 0)

    def test_its_values_are_set(self):
        words = ["--library", "convert", "--transform", "load_float32", "--only", "starts,reference-device"]
        self.assertEqual(verbs_of(self.bench_of_sizes(*words, "--set", "load_state.scale=3", "--set", "n=100")), ["link", "run"])
        self.assert_fails(2, "bench", "--library", "convert", "--set", "m=1",
                          says=["--set m: plan convert has no value of this name"])
        self.assert_fails(2, "bench", "--set", "m=1", says=["--set m: plan apply_transform has no value of this name"])

    def test_rates_are_of_the_elements_that_are_set(self):
        words = ["--library", "convert", "--transform", "load_float32", "--only", "reference-device"]
        self.assertEqual(self.bench_of_sizes(*words, "--set", "n=100")["reference_device"]["elements"], 100)
        self.assertEqual(self.bench(*words)["reference_device"]["elements"], 1 << 20)

    def test_it_needs_no_transform(self):
        self.assertEqual(self.bench("--library", "convert")["transform"], "")

    def test_elements_that_are_the_value_of_no_size_are_refused(self):
        self.assert_fails(2, "bench", "--library", "convert", "--transform", "load_float32", "--set", "n=100", "--elements", "5",
                          says=["--elements 5: there is no size to set: --set or defaults set all sizes of plan convert"],
                          hint="leave out --elements")

    def test_its_kernels_are_named_by_the_plan(self):
        self.assert_fails(2, "bench", "--library", "stencil", "--transform", "smooth", "--kernel", "stencil",
                          says=["--kernel stencil: the launch plan of stencil names its kernels"])

    def need_single_sources(self):
        if not (SHARE / "bench").is_dir():
            self.skipTest("no single sources for the benchmarks: the target bench_kernels builds them")

    @long_test  # needs the target bench_kernels
    def test_every_pair_of_loader_and_storer_has_a_single_source(self):
        self.need_single_sources()
        of_kind = lambda kind: [file.stem for file in SHARE.glob(f"{kind}_*.json")
                                if f"{kind}_element" in json.loads(file.read_text()).get("hooks", {})]
        pairs = {f"convert+{load}+{store}" for load in of_kind("load") for store in of_kind("store")}
        self.assertEqual(len(pairs), 16)
        self.assertEqual({file.stem for file in (SHARE / "bench").glob("convert+*.fatbin")}, pairs)

    @long_test  # needs the target bench_kernels
    def test_every_transform_that_is_not_for_an_algorithm_has_a_single_source(self):
        self.need_single_sources()
        names = [file.stem for file in (SHARE / "bench").glob("*+*.fatbin")]
        compiled = {part for name in names for part in name.split("+")}
        contracts = {"apply_transform", "convert", "stencil"}  # the algorithms are compared with CUB: scripts/algorithm-bench
        shipped = {pathlib.Path(each["file"]).stem for each in self.fatlink_json("list")["fatbins"]
                   if each["contract"]["name"] in contracts and each["folder"] == str(SHARE)}
        self.assertEqual(compiled, shipped)
        for name in names:
            library = name.split("+")[0]
            kernels = self.kernels_of(SHARE / f"{library}.fatbin")
            single = self.kernels_of(SHARE / "bench" / f"{name}.fatbin")
            self.assertEqual(single, kernels, name)


class Forms(BenchTest):
    @classmethod
    def setUpClass(cls):
        cls.files = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-bench-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.files)
        form_files.make(cls.files, "right")

    def need_sm_90(self):
        """The SASS of the files is for sm_90, for which bench links without a GPU."""
        if gpus() and gpus()[0]["target"] != "sm_90":
            self.skipTest("the GPU is not of sm_90")

    def measure(self, transform, *words, **options):
        return self.bench("--library", self.files / "library.fatbin", "--transform", self.files / transform, *words, **options)

    def assert_are_measured(self, *rows):
        """Rows of a transform, its mode, and the mode of the reference device."""
        self.need_sm_90()
        for transform, mode, reference_mode in rows:
            with self.subTest(transform=transform, mode=mode):
                report = self.measure(transform, "--mode", mode)
                self.assertEqual(modes_of(report), ["ptx", "lto"] if mode == "both" else [mode])
                self.assertTrue(all(row["median_ms"] > 0 and row["helper_median_ms"] > 0 for row in report["links"]))
                self.assertEqual(report["reference_device"]["mode"], reference_mode)
                self.assertEqual((report["library"], report["transform"]), ("library", pathlib.Path(transform).stem))

    def test_transforms_of_text_of_objects_and_of_archives_are_measured(self):
        self.assert_are_measured(("right.ptx", "ptx", "ptx"), ("right_lto.o", "both", "lto"), ("right_sass.a", "sass", "ptx"))

    @long_test  # the test above has three forms
    def test_a_transform_of_every_form_is_measured(self):
        self.assert_are_measured(
            ("right.fatbin", "both", "lto"), ("right.ptx", "ptx", "ptx"), ("right.ltoir", "lto", "lto"),
            ("right_lto.o", "both", "lto"), ("right_lto.a", "lto", "lto"), ("right_sass.o", "ptx", "ptx"),
            ("right_sass.a", "sass", "ptx"))

    def test_links_of_sass_are_measured_and_the_reference_device_is_not(self):
        self.need_sm_90()
        report = self.measure("right_90.cubin", "--mode", "sass")
        self.assertEqual(modes_of(report), ["sass"])
        self.assertIsNone(report["reference_device"])
        self.assertIn("link", verbs_of(report))

    def test_the_text_says_why_the_reference_device_is_skipped(self):
        self.need_sm_90()
        done = self.fatlink("bench", *SHORT, "--mode", "sass", "--library", self.files / "library.fatbin",
                            "--transform", self.files / "right_90.cubin")
        self.assertRegex(done.stdout, r"(?m)^\| sass \|")
        self.assertNotIn("reference device", done.stdout)
        self.assertIn("the reference device is skipped: ", done.stderr)
        self.assertIn("right_90.cubin holds SASS only, which the reference device does not run", done.stderr)

    def test_inputs_without_ltoir_are_measured_where_calls_are_allowed(self):
        self.need_sm_90()
        report = self.measure("right_90.cubin", "--mode", "lto", "--allow-calls")
        self.assertEqual(modes_of(report), ["lto"])
        self.assert_fails(4, "bench", *SHORT, "--mode", "lto", "--library", self.files / "library.fatbin",
                          "--transform", self.files / "right_90.cubin", says=["right_90.cubin holds no LTO-IR"],
                          hint="--allow-calls")

    @long_test  # cli.test_link_options has the option
    def test_all_members_of_archives_are_linked_on_request(self):
        self.measure("right_lto.a", "--mode", "lto", "--whole-archive")

    def test_a_library_without_sass_is_refused_in_sass_mode(self):
        self.assert_fails(4, "bench", *SHORT, "--mode", "sass", "--library", LIBRARY, "--transform",
                          self.files / "right_90.cubin", says=["apply_transform.fatbin holds no SASS", "[no-sass]"])


class Kernels(BenchTest):
    def setUp(self):
        super().setUp()
        self.need_nvjitlink()

    def test_a_kernel_that_no_input_has_is_refused(self):
        library = self.compile("own", TWO_HOOKS)
        for hook in ("load", "store"):
            self.compile(hook, f'extern "C" __device__ float {hook}(float x) {{ return x; }}\n')
        self.assert_fails(4, "bench", *SHORT, "--library", library, "--transform", "load.fatbin", "--transform", "store.fatbin",
                          "--kernel", "other", says=["kernel other", "[unknown-kernel]"], hint="the kernels are: two")

    @long_test  # the test below names one of several
    def test_the_only_kernel_of_a_library_is_measured(self):
        library = self.compile("own", TWO_HOOKS)
        for hook in ("load", "store"):
            self.compile(hook, f'extern "C" __device__ float {hook}(float x) {{ return x; }}\n')
        report = self.bench("--library", library, "--transform", "load.fatbin", "--transform", "store.fatbin")
        self.assertEqual((report["kernel"], report["transform"]), ("two", "load + store"))

    def test_one_of_several_kernels_must_be_named(self):
        kernel = form_files.KERNEL.partition("\n")[2]
        hook = form_files.KERNEL.partition("\n")[0]
        library = self.compile("own", "\n".join([hook, *(kernel.replace("apply_transform", name) for name in ("one", "other"))]))
        self.assert_fails(2, "bench", *SHORT, "--library", library, says=["own.fatbin has 2 kernels"],
                          hint="pass --kernel one or --kernel other")
        report = self.bench("--library", library, "--kernel", "other", "--kernel", "one", "--resources", "--mode", "lto",
                            "--only", "links")
        self.assertEqual(report["kernel"], "other")
        self.assertEqual({kernel["kernel"] for kernel in report["links"][0]["resources"]}, {"one", "other"})


class Options(BenchTest):
    def test_options_without_effect_in_one_of_the_modes_are_refused(self):
        self.assert_fails(2, "bench", "--ftz", "1", says=["ftz: this option has no effect in ptx mode"], hint="--mode lto")

    def test_links_are_measured_with_the_options(self):
        report = self.bench("--mode", "lto", "--ftz", "1", "--only", "links")
        self.assertEqual(modes_of(report), ["lto"])

    def test_resources_are_those_of_the_links(self):
        report = self.bench("--max-registers", "32", "--resources", "--only", "links")
        for row in report["links"]:
            (kernel,) = row["resources"]
            self.assertEqual(kernel["kernel"], "apply_transform")
            self.assertLessEqual(kernel["registers"], 32)
        self.assertNotIn("resources", self.bench("--only", "links")["links"][0])

    def test_the_text_shows_the_resources_of_each_mode(self):
        text = self.fatlink("bench", *SHORT, "--resources", "--only", "links").stdout
        for mode in ("ptx", "lto"):
            self.assertRegex(text, rf"\nThe {mode} link:\n  apply_transform: \d+ registers; bytes: \d+ stack, ")

    def test_a_call_is_refused_in_lto_mode_only_where_inlining_is_required(self):
        self.assertEqual(modes_of(self.bench("--require-inlined", "--only", "links")), ["ptx", "lto"])
        self.assert_fails(4, "bench", *SHORT, "--mode", "lto", "-O0", "--require-inlined", says=["user_transform"])

    def test_the_start_of_run_is_measured_in_lto_mode(self):
        self.assertEqual(verbs_of(self.bench("--transform", SHARE / "gelu.fatbin", "--only", "starts")), ["link", "run"])

    def test_a_time_limit_out_of_range_is_refused(self):
        self.assert_fails(2, "bench", "--link-timeout", "601", says=["--link-timeout: '601' is not a number of seconds"])


class Sources(CompileCase):
    """The time from source to linked image, beside that of a program named nvcc, which is first in PATH."""
    def setUp(self):
        super().setUp()
        self.need_nvjitlink()
        (self.folder / "bin").mkdir()
        self.source = self.file("half.cu", HALF)

    def nvcc(self, script):
        path = self.file("bin/nvcc", f"#!/bin/sh\n[ $1 = --version ] && echo 'release 13.9, V13.9.1' && exit\n{script}\n")
        path.chmod(0o755)

    def bench(self, *words, **options):
        return self.fatlink("bench", *SHORT, "--mode", "lto", *words,
                            env={"PATH": f"{self.folder}/bin:{os.environ['PATH']}"}, **options)

    def measure(self, *words):
        return json.loads(self.bench("--json", "--transform", self.source, *words).stdout)

    def test_cold_compiles_and_links_and_warm_does_neither(self):
        self.nvcc("sleep 0")
        report = self.measure()
        cold, warm = [row for row in report["starts"] if row["verb"] == "link"]
        self.assertEqual((cold["cache"], warm["cache"]), ("cold", "warm"))
        self.assertEqual((warm["link_ms"], warm["open_ms"]), (0, 0))
        self.assertGreater(cold["cpu_ms"], warm["cpu_ms"])
        self.assertGreater(warm["cpu_ms"], 0)
        self.assertEqual(report["nvcc"]["version"], "13.9")
        self.assertEqual(report["nvcc"]["file"], str(self.folder / "bin/nvcc"))

    def test_the_processor_time_of_processes_whose_parent_ended_is_counted(self):
        self.nvcc("python3 -c 'import time\nwhile time.process_time() < 0.3: pass' >/dev/null &")
        self.assertGreaterEqual(self.measure()["nvcc"]["cpu_ms"], 300)

    def test_nvcc_and_the_program_compile_with_the_same_header_folders_and_macros(self):
        (self.folder / "include").mkdir()
        self.file("include/factor.h", "#define FACTOR VALUE\n")
        self.source = self.file("half.cu", '#include "factor.h"\n' + HALF.replace("0.5F", "FACTOR"))
        self.nvcc(f"echo \"$*\" >> {self.folder}/words")
        self.measure("-I", "include", "-D", "VALUE=0.5F")
        words = (self.folder / "words").read_text().split()
        self.assertEqual(words[:3], ["-dlto", "-fatbin", "-arch=sm_75"])
        self.assertLessEqual({"-Iinclude", "-DVALUE=0.5F", str(self.source)}, set(words))
        self.assertTrue(any(word.startswith("--pre-include=") and word.endswith("apply_transform.cuh") for word in words), words)

    def test_the_text_has_a_row_of_nvcc(self):
        self.nvcc("sleep 0")
        text = self.bench("--transform", self.source).stdout
        self.assertRegex(text, r"(?m)^\| link \| warm \| [\d.]+ \| [\d.]+ \|")
        self.assertRegex(text, r"(?m)^\| nvcc 13\.9, to a fatbin \| \| [\d.]+ \| [\d.]+ \|")

    def test_says_why_nvcc_is_not_measured(self):
        self.nvcc("exit 1")
        done = self.bench("--json", "--transform", self.source)
        self.assertIsNone(json.loads(done.stdout)["nvcc"])
        self.assertIn(f"nvcc is not measured: {self.folder}/bin/nvcc does not compile {self.source}", done.stderr)
        self.nvcc("exit 0")
        text = (TESTS / "fixtures/ir/half.ll")
        if text.exists():
            done = self.bench("--transform", text)
            self.assertIn(f"nvcc is not measured: {text} is LLVM IR", done.stderr)

    def test_says_that_there_is_no_nvcc(self):
        if os.path.exists("/usr/local/cuda/bin/nvcc"):
            self.skipTest("there is one in /usr/local/cuda")
        done = self.fatlink("bench", *SHORT, "--mode", "lto", "--transform", self.source,
                            env={"PATH": "/nowhere", "CUDA_HOME": None, "CUDA_PATH": None})
        self.assertIn("nvcc is not measured: it is neither in PATH nor in a toolkit", done.stderr)

    def test_fatbins_are_not_compared_with_nvcc(self):
        self.nvcc("exit 1")
        done = self.bench("--json")
        self.assertIsNone(json.loads(done.stdout)["nvcc"])
        self.assertNotIn("nvcc", done.stderr)
