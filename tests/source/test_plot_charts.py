# SPDX-License-Identifier: Apache-2.0
"""scripts/plot-charts: draws what was measured, to scale, and refuses other files. The numbers here are made up for the test;
the committed charts are compared with the committed measurement."""
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
CHART = {"name": "speed", "title": "Speed", "unit": "GB/s", "better": "longer", "note": "by turns",
         "groups": [{"name": "2^20 elements", "bars": [["LTO link", 3000.0], ["function pointer", 1500.0]]}]}
REPORT = {"machine": "GPU <1>", "date": "2026-01-02", "versions": "driver 13.0", "charts": [CHART]}


class PlotCharts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.report, self.svg = self.folder / "report.json", self.folder / "chart_speed.svg"

    def plot(self, text):
        self.report.write_text(text)
        return subprocess.run([sys.executable, SOURCE / "scripts/plot-charts", self.report, self.folder], capture_output=True, text=True)

    def test_draws_bars_to_scale(self):
        self.assertEqual(self.plot(json.dumps(REPORT)).stderr, "")
        bars = [rect for rect in xml.parse(self.svg).iter(f"{SVG}rect") if rect.get("x") == "170"]
        self.assertEqual(len(bars), 2)
        self.assertAlmostEqual(float(bars[0].get("width")), 2 * float(bars[1].get("width")), delta=0.2)

    def test_names_machine_date_products_and_figures(self):
        self.plot(json.dumps(REPORT))
        texts = {text.text for text in xml.parse(self.svg).iter(f"{SVG}text")}
        self.assertLessEqual({"Speed, GB/s; longer is better", "GPU <1>, 2026-01-02; driver 13.0", "by turns", "LTO link",
                              "function pointer", "3,000", "1,500", "2^20 elements"}, texts)

    def test_refuses_what_is_no_measurement(self):
        zero = {**CHART, "groups": [{"name": "x", "bars": [["a", 0]]}]}
        for text in ("", "{}", json.dumps({**REPORT, "charts": []}), json.dumps({**REPORT, "charts": [zero]}),
                     json.dumps({key: value for key, value in REPORT.items() if key != "date"})):
            with self.subTest(text=text):
                result = self.plot(text)
                self.assertEqual(result.returncode, 1)
                self.assertIn(f"error: {self.report}: ", result.stderr)
                self.assertIn("measure_charts.py", result.stderr)
                self.assertFalse(self.svg.exists())

    def test_made_the_committed_charts(self):
        measurement = (SOURCE / "docs/charts.json").read_text()
        self.assertEqual(self.plot(measurement).stderr, "")
        for chart in json.loads(measurement)["charts"]:
            name = f"chart_{chart['name']}.svg"
            self.assertEqual((self.folder / name).read_text(), (SOURCE / "docs" / name).read_text(), name)


if __name__ == "__main__":
    unittest.main()
