# SPDX-License-Identifier: Apache-2.0
"""`fatlink run` on several reference devices, which need no GPU."""
import json
import subprocess
import unittest

from devices_suite import DevicesSuite
from fatlink_cli import HOOK, PROGRAM, SANITIZED, SHARE, CliTest, gpus, nvjitlink

WRONG_LAST = HOOK.replace("return x", "return x == 100.0f ? 0.0f : x")


@unittest.skipUnless(nvjitlink(), "no nvJitLink on this machine")
class Devices(DevicesSuite, CliTest):
    ONE = "cpu"
    TWO = "cpu,cpu"

    def refuse(self, *words, says, status=2):
        return self.assert_fails(status, "run", *words, says=[says])

    def test_a_number_of_devices(self):
        said = self.run_json("3xcpu", "--elements", 3000)
        self.assertEqual([device["device"] for device in said["devices"]], ["cpu", "cpu#2", "cpu#3"])

    def test_one_link_for_each_target(self):
        mode = self.run_json("cpu,cpu:sm_80,2xcpu:sm_80", "--elements", 4000, "--mode", "lto", "--no-cache")["modes"][0]
        self.assertEqual([link["target"] for link in mode["links"]], ["sm_80", "sm_90"])
        self.assertEqual([row["verified"] for row in mode["devices"]], [True] * 4)

    def test_the_report_has_a_row_for_each_device_and_the_total(self):
        text = self.fatlink("run", "--device", self.TWO, "--elements", 200_000, "--print", 1).stdout
        self.assertRegex(text, r"(?m)^Device cpu#2: reference device on .*\(sm_90\), elements 99,328 to 199,999$")
        self.assertRegex(text, r"(?m)^\[2\] LTO link \(link-time optimized\): 1 link, 2 loads$")
        self.assertRegex(text, r"(?m)^    cpu +99,328 elements +[\d.]+ ms, .* elements per second; loaded in .* ms; verified$")
        self.assertRegex(text, r"(?m)^    total +200,000 elements +[\d.]+ ms, .* elements per second; [\d.]+ ms from the first start")
        self.assertIn("Result: verified in both modes\n", text)
        self.assertIn("out[0]  in 0.25  ptx 0  lto 0  expected 0", text)

    def test_shows_results_of_every_part(self):
        rows = self.run_json(self.TWO, "--elements", 4, "--print", 3, "--transform", SHARE / "identity.fatbin")["results"]
        self.assertEqual([row["index"] for row in rows], ["0", "1", "2"])
        self.assertEqual([row["lto"] for row in rows], [row["inputs"]["in"] for row in rows])
        rows = self.run_json(self.TWO, "--elements", 4, "--print", 3, "--transform", "float_to_half")["results"]
        self.assertEqual([row["index"] for row in rows], ["0", "1", "2"])

    def wrong(self, value):
        """The identity, but for one value."""
        fatbin = self.compile("wrong", HOOK.replace("return x", f"return x == {value}f ? 3.0f : x"))
        stated = json.loads((SHARE / "identity.json").read_text())
        del stated["sha256"]
        self.file("wrong.json", json.dumps(stated))
        return fatbin

    def test_wrong_results_name_the_device_and_the_element_of_the_whole(self):
        words = ("--transform", SHARE / "identity.fatbin", "--elements", 1000, "--print", 1000)
        rows = self.run_json(self.ONE, *words)["results"]
        index = next(i for i in range(600, 1000) if rows[i]["inputs"] not in [row["inputs"] for row in rows[:i]])
        value = rows[index]["inputs"]["in"]
        said = self.run_json(self.TWO, "--transform", self.wrong(value if "." in value else value + ".0"), "--elements", 1000,
                             "--output", "y.npy", status=1)
        self.assertEqual([row["verified"] for row in said["modes"][0]["devices"]], [True, False])
        self.assertEqual(said["modes"][0]["reference"][0]["first_failure"]["index"], index)
        self.assertFalse((self.folder / "y.npy").exists())

    def test_a_device_that_fails_is_named_and_the_others_finish(self):
        words = ("run", "--device", "cpu,gpu:77", "--elements", 2000, "--output", "y.npy")
        done = self.fatlink(*words, status=5)
        self.assertRegex(done.stdout, r"(?m)^    cpu +2,000 elements .* verified")
        self.assertRegex(done.stdout, r"(?m)^    gpu:77 +FAILED: ")
        self.assertRegex(done.stderr, r"(?m)^fatlink: error: device gpu:77: ")
        self.assertTrue((self.folder / "y.npy").exists(), "the other device processed every element")
        said = self.fatlink_json(*words, status=5)
        self.assertEqual([device["elements"] for device in said["devices"]], [2000, 0])
        self.assertIn(said["devices"][1]["error"]["code"], ("driver-unavailable", "gpu-unavailable"))
        self.assertIsNone(said["devices"][1]["target"])

    def test_a_device_that_fails_in_its_launch_leaves_the_others_and_no_output(self):
        self.file("in.npy", self.bytes_of(self.ONE, "--transform", SHARE / "identity.fatbin", "--elements", 3000))
        data = bytearray((self.folder / "in.npy").read_bytes())
        data[-4:] = b"\x00\x00\xc8\x42"  # 100
        self.file("in.npy", bytes(data))
        wild = self.compile("wild", HOOK.replace("return x", "return x == 100.0f ? *reinterpret_cast<float*>(16) : x"))
        for device, statuses in (("3xcpu", [True, True, False]), ("2xcpu", [True, False])):
            done = self.fatlink("run", "--device", device, "--transform", wild, "--input", "in.npy", "--output", "y.npy", "--json", status=5)
            said = json.loads(done.stdout)
            self.assertEqual([row["error"] is None for row in said["devices"]], statuses)
            self.assertIn("reads 4 bytes at 0x10", said["devices"][-1]["error"]["message"])
            self.assertEqual(said["modes"][1]["total"]["devices"], len(statuses) - 1)
            self.assertFalse((self.folder / "y.npy").exists())

    def test_if_every_device_fails_the_report_says_so(self):
        words = ("run", "--device", self.TWO, "--instruction-budget", 1, "--output", "y.npy")
        done = self.fatlink(*words, "--json", status=5)
        said = json.loads(done.stdout)
        self.assertEqual([row["error"]["code"] for row in said["devices"]], ["endless-kernel"] * 2)
        self.assertEqual([len(mode["links"]) for mode in said["modes"]], [1, 1])
        for mode in said["modes"]:
            self.assertEqual((mode["devices"], mode["total"]["devices"], mode["total"]["gb_per_s"]), ([], 0, None))
        self.assertEqual((said["between"], [mode["verified"] for mode in said["modes"]]), ([], [None, None]))
        text = self.fatlink(*words, status=5).stdout
        self.assertEqual(text.count(" FAILED: "), 4, "in each of two modes")
        self.assertNotIn("GB/s", text)
        self.assertFalse((self.folder / "y.npy").exists())

    def test_if_every_device_fails_no_mode_is_said_to_have_run(self):
        words = ("run", "--device", self.TWO, "--instruction-budget", 1, "--transform", self.compile("same", HOOK))
        self.assertIn("Result: nothing was verified; incomplete: no results of ", self.fatlink(*words, status=5).stdout)

    def test_a_plan_that_fails_on_every_device(self):
        said = self.fatlink_json("run", "--device", self.TWO, "--instruction-budget", 1, "--transform", "float_to_half", status=5)
        self.assertEqual([row["error"]["code"] for row in said["devices"]], ["endless-kernel"] * 2)
        self.assertEqual([mode["verified"] for mode in said["modes"]], [None, None])

    def test_an_error_of_the_only_link_is_one_error(self):
        wide = self.compile("wide", 'extern "C" __device__ double user_transform(double x) { return x; }')
        self.assert_fails(4, "run", "--device", self.TWO, "--transform", wide, says=["user_transform"])

    def test_more_devices_than_elements_are_refused(self):
        self.refuse("--device", self.TWO, "--elements", 1, says="1 element cannot be divided among 2 devices")

    @unittest.skipIf(gpus(), "there is a GPU on this machine")
    def test_no_device_at_all(self):
        self.refuse("--device", "all", says="no CUDA driver", status=5)
        self.refuse("--device", "gpu:0,1", says="none of 2 devices could be opened: gpu:0: ", status=5)

    def test_too_few_threads_are_an_error_before_anything_runs(self):
        if SANITIZED:
            self.skipTest("sanitizers map terabytes")
        words = ("run", "--device", "1024xcpu", "--elements", "2000", "--output", "y.npy")
        done = subprocess.run(["bash", "-c", 'ulimit -v 3000000; exec "$@"', "bash", PROGRAM, *words], cwd=self.folder,
                              text=True, capture_output=True, timeout=300, env=self.environment({}))
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("cannot start a thread for each of 1024 devices", done.stderr)
        self.assertFalse((self.folder / "y.npy").exists())

    def test_lists_that_are_none(self):
        for text, reason in (("cpu,all", "all names every GPU and cannot be combined with other devices"), ("gpu:0,0", "names gpu:0 twice"),
                             ("0xcpu", "write a number from 1 to 1024 before x"), ("2xgpu", "only reference devices have a number"),
                             ("600xcpu,600xcpu", "names more than 1024 devices"), ("cpu,", "'' is not a device"),
                             ("cpu,gpuu", "'gpuu' is not a device; did you mean 'gpu'?")):
            with self.subTest(text=text):
                self.refuse("--device", text, says=reason)
        self.refuse("--device", "cpu,cpu:sm_1", says="sm_1")
