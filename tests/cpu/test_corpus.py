# SPDX-License-Identifier: Apache-2.0
"""The reference device matches the reference values in both modes, for every shipped transform and
every function of the corpus."""
import json
import unittest

from fatlink_cli import SHARE, TESTS, TRANSFORMS, CliTest, scaled
from stratified import npy, stratified

CORPUS = TESTS / "corpus"
ELEMENTS = scaled(2**15)


class Corpus(CliTest):
    def test_every_function_on_stratified_inputs(self):
        inputs = self.file("x.npy", npy(stratified(ELEMENTS)))
        files = [SHARE / f"{name}.fatbin" for name in TRANSFORMS]
        files += sorted(p.with_suffix(".fatbin") for p in CORPUS.glob("*.json")
                        if "reference" in json.loads(p.read_text()))
        self.assertGreater(len(files), 45)
        for file in files:
            with self.subTest(transform=file.stem):
                report = self.fatlink_json("run", "--device", "cpu", "--input", inputs,
                                         "--library", SHARE / "apply_transform.fatbin",
                                         "--transform", file)
                self.assertEqual(report["devices"][0]["kind"], "cpu")
                self.assertEqual(report["elements"], ELEMENTS)
                self.assertEqual([m["mode"] for m in report["modes"]], ["ptx", "lto"])
                self.assertTrue(all(m["verified"] for m in report["modes"]), report)
                self.assertTrue(report["between"][0]["verified"], report)


if __name__ == "__main__":
    unittest.main()
