# SPDX-License-Identifier: Apache-2.0
"""scripts/plot-throughput: draws what a benchmark measured, to scale, and refuses other files. The numbers here are
made up for the test; the committed plot is compared with the committed measurement."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
SVG = "{http://www.w3.org/2000/svg}"
REPORT = {"device": {"name": "GPU <1>", "target": "sm_90"}, "driver": "13.0", "nvjitlink": "13.0", "transform": "t",
          "rounds": 3,
          "kernels": [{"elements": 1 << 20, "variant": "LTO link", "gb_per_s": 3000.0},
                      {"elements": 1 << 20, "variant": "function pointer", "gb_per_s": 1500.0}]}


class PlotThroughput(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.report, self.svg = (pathlib.Path(folder.name) / name for name in ("report.json", "plot.svg"))

    def plot(self, text):
        self.report.write_text(text)
        return subprocess.run([sys.executable, SOURCE / "scripts/plot-throughput", self.report, self.svg],
                              capture_output=True, text=True)

    def test_draws_bars_to_scale(self):
        self.assertEqual(self.plot(json.dumps(REPORT)).stderr, "")
        bars = [rect for rect in xml.parse(self.svg).iter(f"{SVG}rect") if rect.get("x") == "170"]
        self.assertEqual(len(bars), 2)
        self.assertAlmostEqual(float(bars[0].get("width")), 2 * float(bars[1].get("width")), delta=0.2)

    def test_names_machine_variants_and_figures(self):
        self.plot(json.dumps(REPORT))
        texts = {text.text for text in xml.parse(self.svg).iter(f"{SVG}text")}
        self.assertLessEqual({"Kernel throughput on GPU <1> (sm_90)", "LTO link", "function pointer", "3,000", "1,500",
                              "2^20 elements"}, texts)

    def test_refuses_what_is_no_measurement(self):
        for text in ("", "{}", json.dumps({**REPORT, "kernels": []}), '{"kernels": [{"elements": "x"}]}'):
            with self.subTest(text=text):
                result = self.plot(text)
                self.assertEqual(result.returncode, 1)
                self.assertIn(f"error: {self.report}: ", result.stderr)
                self.assertIn("fatlink bench --json", result.stderr)
                self.assertFalse(self.svg.exists())

    def test_made_the_committed_plot(self):
        measurements = sorted((SOURCE / "docs").glob("throughput_*.json"))
        if not measurements:
            self.skipTest("no measurement is committed")
        for measurement in measurements:
            self.assertEqual(self.plot(measurement.read_text()).stderr, "")
            self.assertEqual(self.svg.read_text(), measurement.with_suffix(".svg").read_text(), measurement)


if __name__ == "__main__":
    unittest.main()
