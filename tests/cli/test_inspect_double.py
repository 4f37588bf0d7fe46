# SPDX-License-Identifier: Apache-2.0
"""`fatlink inspect` warns about functions on float that compute in double, as compilers write them."""
from fatlink_cli import SHARE, TRANSFORMS, CliTest

SOURCE = """#include <cstdio>
extern "C" __device__ float literal(float x) { return x / (1.0 + x); }
extern "C" __device__ float compared(float x) { return x > 0.1 ? x : 0; }
extern "C" __device__ float called(float x) { return pow((double)x, 1.5); }
extern "C" __device__ float exact(float x) { return 0.5 * x; }
extern "C" __device__ float large_argument(float x) { return sinf(x) + cosf(x); }
extern "C" __device__ float printed(float x) { printf("%f", x); return x; }
extern "C" __device__ double meant(double x) { return x / (1.0 + x); }
extern "C" __device__ float mixed(float x, double y) { return x * y; }
static __device__ __noinline__ float hidden(float x) { return x / (1.0 + x); }
extern "C" __device__ float caller(float x) { return hidden(x); }
"""
WARNED = ["literal", "compared", "called"]


class InspectDouble(CliTest):
    def findings(self, file):
        return self.fatlink_json("inspect", file)["files"][0]["findings"]

    def test_warns_once_for_each_function_that_other_files_call(self):
        fatbin = self.compile("f", SOURCE, "-rdc=true", "-gencode", "arch=compute_75,code=[compute_75,lto_75]",
                              "-gencode", "arch=compute_100,code=[compute_100,lto_100]")
        findings = self.findings(fatbin)
        self.assertEqual([finding["symbol"] for finding in findings], WARNED)
        for finding in findings:
            self.assertEqual((finding["id"], finding["severity"]), ("double-arithmetic", "warning"))
            self.assertIn("f.fatbin", finding["file"])
        text = self.fatlink("inspect", fatbin).stdout
        for name in WARNED:
            self.assertRegex(text, rf"  warning: .*f\.fatbin: {name} is a function on float that computes in double "
                                   r"\(\S+\.f64, line \d+ of the PTX\) \[double-arithmetic\]\n    hint: write float literals")

    def test_names_the_line_of_the_source_if_it_is_known(self):
        fatbin = self.compile("f", SOURCE, "-dlto", "-arch=sm_75", "-lineinfo")
        self.assertIn("f.cu:2)", self.findings(fatbin)[0]["message"])

    def test_says_nothing_about_the_shipped_transforms(self):
        for name in TRANSFORMS:
            self.assertEqual(self.findings(SHARE / f"{name}.fatbin"), [])

    def test_is_no_finding_of_a_link(self):
        fatbin = self.compile("f", SOURCE.replace("literal", "user_transform"))
        self.assertNotIn("double-arithmetic", self.fatlink("check", SHARE / "apply_transform.fatbin", fatbin).stdout)
