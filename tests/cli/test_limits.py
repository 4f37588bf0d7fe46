# SPDX-License-Identifier: Apache-2.0
"""Limits of sizes, numbers of elements that only the device knows: `fatlink run` verifies every shipped library that has one with
limits from 0 to more than the size."""
import json
import struct
import unittest

from fatlink_cli import SHARE, nvjitlink
from plan_case import PlanTest, floats, npy
from run_tests import long_test
from shipped_pairs import pairs

SIZE = 20_011
UNVERIFIED = "there are no elements", "has a tolerance"  # of a histogram of computed floats
LIMITS = (0, 1, 33, 4096, SIZE - 1, SIZE, SIZE + 7)


def limited_libraries():
    """By library, the sizes of its plan that have a limit."""
    libraries = {}
    for file in sorted(SHARE.glob("*.json")):
        arguments = json.loads(file.read_text()).get("arguments", [])
        if limits := {argument["name"]: argument["limit"] for argument in arguments if "limit" in argument}:
            libraries[file.stem] = limits
    return libraries


@unittest.skipUnless(nvjitlink(), "no nvJitLink on this machine")
class Limits(PlanTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.libraries = limited_libraries()

    def run_limited(self, library, limit, size=SIZE):
        self.file("limit.npy", npy("<u8", "(1,)", struct.pack("<Q", limit)))
        words = ["--library", library, *self.transforms[library], "--check-races"]
        for name, argument in self.libraries[library].items():
            words += ["--set", f"{name}={size}", "--input", f"{argument}=limit.npy"]
        return self.run_plan(*words)

    def assert_limited(self, library, limit):
        with self.subTest(library=library, limit=limit):
            said = self.run_limited(library, limit)
            for mode in said["modes"]:
                for output in mode["reference"]:
                    self.assertTrue(output["verified"] or any(text in output["reason"] for text in UNVERIFIED), (mode["mode"], output))

    def run_libraries(self, libraries):
        self.transforms = dict(reversed(list(pairs(self.fatlink_json("list")["fatbins"]))))  # the first of each library
        for library in libraries:
            if library in self.transforms:
                for limit in LIMITS:
                    self.assert_limited(library, limit)

    def test_libraries_of_4_bytes_and_of_any_size(self):
        libraries = [library for library in self.libraries if library.endswith("_4") or not library.rpartition("_")[2].isdigit()]
        self.assertGreaterEqual(len(libraries), 24)
        self.run_libraries(libraries)

    @long_test  # the test above has one size of each
    def test_libraries_of_all_sizes(self):
        self.run_libraries(library for library in self.libraries if not library.endswith("_4"))

    def test_a_limit_that_the_kernel_ignores_is_found(self):
        library = self.compile("copy", """
            extern "C" __device__ float user_transform(float);
            extern "C" __global__ void copy(const float* in, float* out, size_t n, const unsigned long long* limit)
            {
              if (threadIdx.x == 0) out[0] = in[0];
              for (size_t i = 1 + threadIdx.x; i < n / 2; i += blockDim.x) out[i] = user_transform(in[i]);
            }""")
        self.file("copy.json", json.dumps({
            "name": "copy", "summary": "copies the first half",
            "arguments": [{"name": "in", "role": "input", "type": "float32", "count": "n"},
                          {"name": "out", "role": "output", "type": "float32", "count": "n"},
                          {"name": "n", "role": "size", "limit": "most"},
                          {"name": "most", "role": "input", "type": "uint64", "count": 1, "default": None}],
            "launches": [{"kernel": "copy", "grid": 1, "block": 64, "arguments": ["in", "out", "n", "most"]}],
            "computes": {"out": "map(user_transform, in)"}}))
        self.file("identity.cu", 'extern "C" __device__ float user_transform(float x) { return x; }\n')
        self.file("identity.json", json.dumps({"name": "identity", "summary": "", "hooks": {"user_transform": {
            "parameters": ["x"], "result": "x"}}}))
        self.file("in.npy", floats(*range(1, 101)))
        for limit, status in ((50, 0), (51, 1)):
            self.file("most.npy", npy("<u8", "(1,)", struct.pack("<Q", limit)))
            said = self.run_plan("--library", library, "identity.cu", "--input", "in=in.npy", "--input", "most=most.npy", status=status)
            self.assertEqual({mode["reference"][0]["elements"] for mode in said["modes"]}, {limit})

    def test_results_are_the_elements_within_the_limit(self):
        self.file("in.npy", floats(3, 1, 2, 0, 5, 4))
        self.file("limit.npy", npy("<u8", "(1,)", struct.pack("<Q", 3)))
        for devices in "cpu", "cpu,cpu":
            self.fatlink("run", "--device", devices, "--mode", "lto", "--library", "map1", self.file(
                "twice.cu", "FATLINK_MAP1(float, float, x) { return 2 * x; }\n"), "--input", "in=in.npy", "--input",
                "limit=limit.npy", "--output", "out.npy")
            self.assertEqual((self.folder / "out.npy").read_bytes(), floats(6, 2, 4))


if __name__ == "__main__":
    unittest.main()
