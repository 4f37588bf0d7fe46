# SPDX-License-Identifier: Apache-2.0
"""What `run` prints: values, tolerances, times, and no progress among the results."""
import json
import re
import struct

from fatlink_cli import HOOK, SHARE, CliTest

RELU = SHARE / "relu_poly.fatbin"

# Slow enough on the reference device for progress to be shown, which takes a second.
SLOW = HOOK.replace("return x;", "float y = x; for (int i = 0; i < 40000; ++i) y = y * 0.5f + x; return y;")


def npy(values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)},), }}".ljust(117) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
            + struct.pack(f"<{len(values)}f", *values))


def rendered(output):
    """The lines that a terminal shows: a carriage return and ESC [ K erase the line."""
    lines = []
    for line in output.replace("\r\n", "\n").split("\n"):
        lines.append(re.split(r"\r\x1b\[K", line)[-1])
    return lines


class RunReport(CliTest):
    def test_progress_is_erased_before_results_are_printed(self):
        slow = self.compile("slow", SLOW)
        elements, output = 8192, ""
        while "verifying" not in output:  # a run of less than a second shows no progress
            self.assertLess(elements, 1 << 24, output)
            output = self.on_terminal("run", "--device", "cpu", "--transform", slow, "--mode", "ptx",
                                      "--elements", elements, "--instruction-budget", 0)
            elements *= 4
        lines = [line for line in rendered(output) if not line.startswith("fatlink: warning: ")]
        self.assertTrue(lines[0].startswith("Device: "), lines)
        self.assertFalse([line for line in lines if "verifying" in line or "uploading" in line])

    def test_resources_are_refused_on_the_reference_device(self):
        self.assert_fails(2, "run", "--device", "cpu", "--resources", "--elements", 64,
                          says=["--resources: this option has no effect on the reference device, which runs PTX: "
                                "only a cubin states resources"],
                          hint="run on a GPU: --device gpu, or leave out --resources")

    def test_the_tolerance_stands_beside_the_error(self):
        text = self.fatlink("run", "--device", "cpu", "--transform", "gelu").stdout
        self.assertRegex(text, r"verified, 65,536 elements, max [\d.]+ ulp \(tolerance 16\)")
        said = self.fatlink_json("run", "--device", "cpu", "--transform", "gelu")
        self.assertEqual([mode["reference"][0]["tolerance_ulp"] for mode in said["modes"]], [16, 16])

    def test_print_shows_inputs_results_and_expected_values(self):
        self.file("x.npy", npy([0.25, 2.0, -3.0, 1.0]))
        words = ["run", "--device", "cpu", "--transform", "relu_poly", "--input", "x.npy", "--print", 3]
        lines = self.fatlink(*words).stdout.splitlines()
        self.assertEqual(lines[-4:], ["  out[0]  in 0.25  ptx 0  lto 0  expected 0", "  out[1]  in 2  ptx 9  lto 9  expected 9",
                                      "  out[2]  in -3  ptx 0  lto 0  expected 0", "Result: verified in both modes"])
        self.assertEqual(self.fatlink_json(*words)["results"][1],
                         {"output": "out", "index": "1", "inputs": {"in": "2"}, "ptx": "9", "lto": "9", "expected": "9"})

    def test_the_last_line_says_what_is_verified(self):
        def last(*words, status=0):
            size = [] if "--input" in words else ["--elements", 8]
            return self.fatlink("run", "--device", "cpu", *size, *words, status=status).stdout.splitlines()[-1]
        self.assertEqual(last(), "Result: verified in both modes")
        self.assertEqual(last("--mode", "ptx"), "Result: verified")
        bare = self.compile("bare", HOOK)
        self.assertEqual(last("--transform", bare), "Result: both modes agree; nothing else was checked")
        self.assertEqual(last("--transform", bare, "--mode", "ptx"), "Result: nothing was verified")
        self.file("same.npy", npy([0.5] * 8))
        self.file("in.npy", npy([0.5] * 8))
        same = "--transform", bare, "--input", "in.npy", "--expect", "same.npy"
        self.assertEqual(last(*same), "Result: both modes and --expect agree")
        self.assertEqual(last(*same, "--mode", "lto"), "Result: agrees with --expect")
        self.file("bare.json", json.dumps({"name": "bare", "summary": "", "hook": "user_transform", "reference": "x + 1",
                                           "tolerance_ulp": 1}))
        self.assertEqual(last("--transform", bare, status=1), "Result: WRONG (out)")  # both modes agree
        self.file("expected.npy", npy([1.0] * 8))
        self.assertEqual(last("--expect", "expected.npy", status=1), "Result: WRONG (out)")

    def test_an_output_that_nothing_describes_is_named_beside_a_verified_one(self):
        library = self.compile("twice", """
            extern "C" __device__ float user_transform(float);
            extern "C" __global__ void twice(const float* in, float* out, float* copy, size_t n)
            {
              size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
              if (i < n) copy[i] = out[i] = user_transform(in[i]);
            }""")
        outputs = [{"name": name, "role": "output", "type": "float32", "count": "n"} for name in ("out", "copy")]
        self.file("twice.json", json.dumps({
            "name": "twice", "summary": "two outputs",
            "arguments": [{"name": "in", "role": "input", "type": "float32", "count": "n"}, *outputs, {"name": "n", "role": "size"}],
            "launches": [{"kernel": "twice", "grid": "ceil(n / 64)", "block": 64, "arguments": ["in", "out", "copy", "n"]}],
            "computes": {"out": "map(user_transform, in)"}}))
        words = ["run", "--device", "cpu", "--elements", 8, "--library", library, "--transform", RELU]
        for mode in "ptx", "both":
            with self.subTest(mode=mode):
                said = self.fatlink(*words, "--mode", mode).stdout.splitlines()
                self.assertEqual(said[-1], "Result: verified (out); not verified (copy)")

    def test_print_shows_no_expected_values_without_a_reference(self):
        words = ["run", "--device", "cpu", "--transform", self.compile("bare", HOOK), "--mode", "lto",
                 "--elements", 2, "--print", 100]
        said = self.fatlink_json(*words)["results"]
        self.assertEqual(said, [{"output": "out", "index": "0", "inputs": {"in": "0.25"}, "lto": "0.25"},
                                {"output": "out", "index": "1", "inputs": {"in": "0"}, "lto": "0"}])
        self.assertIn("  out[0]  in 0.25  lto 0.25\n", self.fatlink(*words).stdout)

    def test_print_shows_numbers_that_json_does_not_have_as_text(self):
        self.file("x.npy", npy([float("nan"), float("inf")]))
        said = self.fatlink_json("run", "--device", "cpu", "--transform", "identity", "--input", "x.npy",
                                 "--print", 2)["results"]
        self.assertEqual([one["lto"] for one in said], ["nan", "inf"])

    def test_nothing_is_printed_unless_asked(self):
        self.assertEqual(self.fatlink_json("run", "--device", "cpu")["results"], [])
        self.assertTrue(self.fatlink("run", "--device", "cpu").stdout.endswith("Result: verified in both modes\n"))

    def test_print_takes_a_number_of_elements(self):
        for wrong in ("0", "-1", "x"):
            with self.subTest(wrong=wrong):
                self.assert_fails(2, "run", "--device", "cpu", "--print", wrong, says=["--print"])

    def test_the_reference_device_states_no_bandwidth(self):
        said = self.fatlink_json("run", "--device", "cpu")
        self.assertEqual([mode["total"]["gb_per_s"] for mode in said["modes"]], [None, None])
        self.assertNotIn("GB/s", self.fatlink("run", "--device", "cpu").stdout)

    def libraries_searched(self, *words, status=0):
        """What the loader's log says of a run: the shared libraries that the program opened or searched."""
        logs = self.folder / "logs"
        logs.mkdir(exist_ok=True)
        self.fatlink(*words, status=status, env={"LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": str(logs / str(status))})
        return "".join(log.read_text(errors="replace") for log in logs.glob(f"{status}.*"))

    def test_the_driver_is_not_opened_for_inputs_that_do_not_link(self):
        self.assertIn("libcuda.so.1", self.libraries_searched("run", "--mode", "ptx"))
        self.assertNotIn("libcuda.so.1", self.libraries_searched("run", "relu_poly", "relu_poly", status=4))
