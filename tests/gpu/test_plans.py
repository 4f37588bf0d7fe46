# SPDX-License-Identifier: Apache-2.0
"""The shipped libraries with a launch plan on a GPU, and their results beside those of the reference device."""
import json
import shutil
import struct
import unittest

from fatlink_cli import TESTS, CliTest, gpus

CORPUS = TESTS / "corpus"


@unittest.skipUnless(gpus(), "no GPU on this machine")
class Plans(CliTest):
    def assert_verified(self, *words):
        said = self.fatlink_json("run", "--device", "gpu", "--compare-cpu", *words)
        self.assertEqual([(mode["mode"], mode["reference"][0]["verified"]) for mode in said["modes"]],
                         [("ptx", True), ("lto", True)])
        self.assertTrue(said["between"][0]["verified"])
        self.assertTrue(said["reference_device"][0]["verified"])

    def test_every_pair_of_loaders_and_storers_verifies(self):
        for loader in ("load_float32", "load_float16", "load_int8", "load_ramp"):
            for storer in ("store_float32", "store_float16", "store_int8", "store_clamped"):
                with self.subTest(loader=loader, storer=storer):
                    self.assert_verified("--library", "convert", "--transform", loader, "--transform", storer,
                                         "--elements", 100003)

    def test_defaults_verify(self):
        self.assert_verified("--library", "convert", "--elements", 100003)
        self.assert_verified("--library", "convert", "--transform", "load_int8", "--elements", 100003)

    def test_every_transform_of_stencil_verifies(self):
        for name in ("smooth", "diffuse", "derivative", "median"):
            with self.subTest(name=name):
                self.assert_verified("--library", "stencil", "--transform", name, "--elements", 100003)

    def test_outputs_have_the_extents_that_occupancy_gives(self):
        for ending in (".fatbin", ".json"):
            shutil.copyfile((CORPUS / "weighted_sum").with_suffix(ending), self.folder / f"sum{ending}")
        plan = json.loads((self.folder / "sum.json").read_text())
        plan["arguments"] = [argument for argument in plan["arguments"] if argument["name"] != "out"]
        for argument in plan["arguments"]:
            if argument["name"] == "partial":
                argument["role"] = "output"
        plan["let"]["blocks"] = "occupancy(weigh_tiles) * multiprocessors"
        del plan["launches"][1]
        (self.folder / "sum.json").write_text(json.dumps(plan))
        self.fatlink("run", "--device", "gpu", "--library", self.folder / "sum.fatbin", "--transform",
                     CORPUS / "scaled_add.fatbin", "--output", "out.npy", "--elements", 1000)
        written = (self.folder / "out.npy").read_bytes()
        header = 10 + struct.unpack("<H", written[8:10])[0]
        count = int(written[:header].decode("latin-1").split("'shape': (")[1].split(",")[0])
        self.assertEqual(len(written) - header, 4 * count)
        self.assertGreater(count, 2 * 64)

    def test_an_input_whose_extent_occupancy_gives_is_not_compared_with_another_device(self):
        for ending in (".fatbin", ".json"):
            shutil.copyfile((CORPUS / "weighted_sum").with_suffix(ending), self.folder / f"sum{ending}")
        plan = json.loads((self.folder / "sum.json").read_text())
        plan["arguments"][0]["count"] = "occupancy(weigh_tiles)"
        (self.folder / "sum.json").write_text(json.dumps(plan))
        words = ("run", "--device", "gpu", "--mode", "lto", "--library", self.folder / "sum.fatbin",
                 "--transform", CORPUS / "scaled_add.fatbin", "--set", "n=1")
        self.fatlink(*words)
        # The occupancy on the reference device is 1, on a GPU that of blocks of 64 threads.
        self.assert_fails(2, *words, "--compare-cpu", says=["argument in has 1 elements in this run, but ",
                                                            " in the previous run"],
                          hint="run one mode, without --compare-cpu")


if __name__ == "__main__":
    unittest.main()
