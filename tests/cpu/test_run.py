# SPDX-License-Identifier: Apache-2.0
"""`fatlink run` on the reference device, which needs no GPU."""
import json
import os
import subprocess
import unittest

from fatlink_cli import HOOK, PROGRAM, SANITIZED, SHARE, CliTest, gpus
from run_suite import RunSuite


class Run(RunSuite, CliTest):
    DEVICE = "cpu"
    MOST = 2**20 + 1

    @unittest.skipIf(gpus(), "there is a GPU on this machine")
    def test_is_the_default_without_a_gpu_and_the_reason_is_printed(self):
        result = self.fatlink("run")
        self.assertRegex(result.stdout, r"^Device: reference device on \d+ CPU cores? \(sm_90\), as there is no GPU")
        report = self.fatlink_json("run")
        self.assertEqual(report["devices"][0]["kind"], "cpu")
        self.assertIn("no CUDA driver", report["no_gpu_reason"])
        self.assertIsNone(self.run_json()["no_gpu_reason"])

    def peak(self, *words, **environment):
        """Kilobytes of memory that a verified run of 2^23 elements takes at most."""
        process = subprocess.Popen([PROGRAM, "run", "--device", "cpu", "--transform", "identity", "--elements", str(1 << 23), *words],
                                   cwd=self.folder, stdout=subprocess.PIPE, text=True, env=self.environment(environment))
        text = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.stdout.close()
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(text.count("verified, 8,388,608 elements"), 1 if words else 2)
        return usage.ru_maxrss

    @unittest.skipIf(SANITIZED, "sanitizers take memory of their own")
    def test_results_of_the_first_mode_wait_in_a_file_while_the_second_runs(self):
        self.need_nvjitlink()
        megabytes = 1024
        one = self.peak("--mode", "lto")
        self.assertLess(one, 100 * megabytes, "an input and an output of 32 MiB each")
        self.assertLess(self.peak(), one + 16 * megabytes)
        self.assertGreater(self.peak(TMPDIR="/nonexistent"), one + 24 * megabytes, "they stay in memory")

    def test_large_results_of_each_mode_keep_their_own_failures(self):
        ours = self.compile("ours", HOOK.replace("return x", "return x > 7.0f ? 1.0f : x"))
        stated = json.loads((SHARE / "identity.json").read_text())
        del stated["sha256"]
        self.file("ours.json", json.dumps(stated))
        said = self.run_json("--transform", ours, "--elements", (1 << 21) + 3, status=1)
        failures = [mode["reference"][0]["failures"] for mode in said["modes"]]
        self.assertEqual(failures[0], failures[1])
        self.assertGreater(failures[0], 1000)
        self.assertEqual([mode["reference"][0]["elements"] for mode in said["modes"]], [(1 << 21) + 3] * 2)
        self.assertTrue(said["between"][0]["verified"])

    def test_links_for_the_given_target(self):
        report = self.fatlink_json("run", "--device", "cpu:sm_80")
        self.assertEqual(report["devices"][0]["target"], "sm_80")
        self.assert_verified(report)
        self.assert_fails(2, "run", "--device", "cpu:sm_1", says=["sm_1"])

    def test_errors_of_device_code_name_the_place(self):
        wild = self.compile("wild", HOOK.replace("return x", "return *reinterpret_cast<float*>(16)"),
                            "-dlto", "-arch=sm_75")
        self.assert_fails(5, "run", "--device", "cpu", "--transform", wild, "--mode", "ptx",
                          says=["kernel apply_transform, block (0,0,0) thread (0,0,0): ld.",
                                "wild.fatbin:", "reads 4 bytes at 0x10: a null pointer"])
        endless = self.compile("endless", HOOK.replace("return x;", "while (x == x) asm volatile(\"\"); return x;"),
                               "-dlto", "-arch=sm_75")
        self.assert_fails(5, "run", "--device", "cpu", "--transform", endless,
                          "--instruction-budget", 10000,
                          says=["is still running after 10000 instructions"])

    def test_unknown_instructions_are_refused_before_anything_runs(self):
        sum = self.compile("sum", HOOK.replace(
            "return x", "asm volatile(\"multimem.red.relaxed.sys.global.add.f32 [%0], %1;\" "
            ":: \"l\"(0ULL), \"f\"(x)); return x"), "-dlto", "-arch=sm_90")
        self.assert_fails(5, "run", "--device", "cpu", "--transform", sum,
                          says=["sum.fatbin:", "in user_transform", "does not execute 'multimem.red"])

    WILD = HOOK.replace("return x", "float const* p = reinterpret_cast<float*>(16);\n  return x + *p")
    SMALL_LIBRARY = """
extern "C" __device__ float user_transform(float);
extern "C" __global__ void apply_transform(float const* in, float* out, unsigned long long n)
{
  auto const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = user_transform(in[i]);
}
"""

    def test_errors_name_the_source_line_of_code_compiled_with_lineinfo(self):
        wild = self.compile("wild", self.WILD, "-dlto", "-lineinfo", "-arch=sm_75")
        library = self.compile("small", self.SMALL_LIBRARY, "-dlto", "-lineinfo", "-arch=sm_75")
        self.assert_fails(5, "run", "--device", "cpu", "--transform", wild, "--mode", "ptx",
                          says=["wild.fatbin:", "wild.cu:2)"], hint="hint:   fix the device code\n")
        self.assert_fails(5, "run", "--device", "cpu", "--transform", wild, "--mode", "lto", "--library", library,
                          says=["linked PTX:", "wild.cu:2, inlined at ", "small.cu:6)"],
                          hint="hint:   fix the device code\n")

    def test_without_lineinfo_no_source_line_is_named_and_the_hint_mentions_lineinfo(self):
        advice = "compile with line information (nvcc -lineinfo, fatlink compile --line-info) to see source lines (for lto mode, the library too)"
        bare = self.compile("bare", self.WILD, "-dlto", "-arch=sm_75")
        lines = self.compile("lines", self.WILD, "-dlto", "-lineinfo", "-arch=sm_75")
        for transform, mode in ((bare, "ptx"), (bare, "lto"), (lines, "lto")):  # apply_transform has no lines
            with self.subTest(transform=transform.stem, mode=mode):
                failed = self.assert_fails(5, "run", "--device", "cpu", "--transform", transform, "--mode", mode,
                                           says=["reads 4 bytes at 0x10"], hint=advice)
                self.assertNotIn(".cu:", failed.stderr)

    def test_variadic_device_functions_run(self):
        variadic = self.compile("variadic", """
#include <cstdarg>
static __device__ __noinline__ float sum(int n, ...)
{
  va_list list;
  va_start(list, n);
  float total = 0;
  for (int i = 0; i < n; ++i) total += va_arg(list, double);
  total += va_arg(list, int);
  va_end(list);
  return total;
}
""" + HOOK.replace("return x", "return sum(3, double(x), 0.5, 0.25, 7)"), "-dlto", "-arch=sm_75")
        self.file("variadic.json", json.dumps({"name": "variadic", "summary": "adds arguments", "hook": "user_transform",
                                               "reference": "x + 7.75", "tolerance_ulp": 1}))
        self.assert_verified(self.run_json("--transform", variadic))

    def test_texture_references_are_limits_of_the_reference_device(self):
        query = self.compile("query", HOOK.replace(
            "return x", 'asm("{ .reg .pred p; istypep.texref p, %1; selp.f32 %0, 1.0, 0.0, p; }" : "=f"(x) : "l"(0LL)); return x'),
            "-dlto", "-arch=sm_75")
        for mode in ("ptx", "lto"):
            with self.subTest(mode=mode):
                failed = self.assert_fails(
                    5, "run", "--device", "cpu", "--transform", query, "--mode", mode,
                    says=["the reference device does not execute", "it does not support references to textures and surfaces"],
                    hint="the reference device has no texture")
                self.assertIn("--device gpu", failed.stderr)

    def test_transforms_may_allocate_on_the_device(self):
        heap = self.compile("heap", HOOK.replace(
            "return x", "int n = 4 + (x > 0); float volatile* p = new float[n]; p[n - 1] = x; float y = p[n - 1];"
            " delete[] p; return y"), "-dlto", "-arch=sm_75")
        self.file("heap.json", json.dumps({"name": "heap", "summary": "keeps x", "hook": "user_transform",
                                           "reference": "x", "tolerance_ulp": 0}))
        self.assert_verified(self.run_json("--transform", heap))

    def test_a_definition_of_another_type_does_not_suggest_a_gpu(self):
        library = self.compile("library", """
extern "C" __device__ float user_transform(float);
extern "C" inline __device__ __noinline__ float post(float x) { return x + 1; }
extern "C" __global__ void apply_transform(float const* in, float* out, unsigned long long n)
{
  auto const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = post(user_transform(in[i]));
}
""", "-dlto", "-arch=sm_75")
        wide = self.compile("wide_post", HOOK + 'extern "C" __device__ double post(double x) { return x; }\n',
                            "-dlto", "-arch=sm_75")
        for mode in ("ptx", "lto"):
            with self.subTest(mode=mode):
                failed = self.assert_fails(4, "run", "--device", "cpu", "--library", library, "--transform", wide,
                                           "--mode", mode, says=["post"])
                self.assertNotIn("--device gpu", failed.stderr)

    def test_hooks_of_another_type_do_not_link(self):
        wide = self.compile("wide", 'extern "C" __device__ double user_transform(double x) { return x; }',
                            "-dlto", "-arch=sm_75")
        self.assert_fails(4, "run", "--device", "cpu", "--transform", wide, says=["user_transform"])
