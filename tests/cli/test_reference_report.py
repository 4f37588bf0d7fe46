# SPDX-License-Identifier: Apache-2.0
"""`inspect` and `list` show what a transform's sidecar states: what its hooks compute, and its state."""
import json
import shutil
import unittest

from fatlink_cli import SHARE, CliTest

BEST = {"name": "best", "summary": "the largest",
        "hooks": {"load_element": {"parameters": ["x", "index"], "type": "float32",
                                   "result": {"value": "abs(state.scale * x)", "index": "index"},
                                   "tolerance": {"ulp": 0.5, "absolute": 1e-06}}},
        "state": [{"name": "scale", "type": "float32", "default": 2}, {"name": "first", "type": "int64", "default": -1}],
        "element": [{"name": "value", "type": "float32"}, {"name": "index", "type": "int32"}],
        "error_model": "exact"}


class ReferenceReport(CliTest):
    def install(self, sidecar):
        shutil.copyfile(SHARE / "load_float32.fatbin", self.folder / "best.fatbin")
        self.file("best.json", sidecar if isinstance(sidecar, str) else json.dumps(sidecar))

    def shown(self):
        """The reference in the JSON of both commands, and their texts."""
        env = {"FATLINK_PATH": str(self.folder)}
        inspected, = self.fatlink_json("inspect", "best", env=env)["files"]
        listed, = self.fatlink_json("list", "best", env=env)["fatbins"]
        self.assertEqual(inspected["reference"], listed["reference"])
        return inspected["reference"], *(self.fatlink(verb, "best", env=env).stdout for verb in ("inspect", "list"))

    def test_hooks_state_element_and_error_model_are_shown(self):
        self.install(BEST)
        stated, inspected, listed = self.shown()
        self.assertEqual(stated["hooks"], [{
            "hook": "load_element", "parameters": ["x", "index"], "type": "float32",
            "result": [{"field": "index", "expression": "index"}, {"field": "value", "expression": "abs(state.scale * x)"}],
            "tolerance": {"ulp": 0.5, "absolute": 1e-06, "relative": 0, "operands": 0}}])
        self.assertEqual(stated["state"], [{"name": "scale", "type": "float32", "offset": 0, "default": "2"},
                                           {"name": "first", "type": "int64", "offset": 8, "default": "-1"}])
        self.assertEqual((stated["state_bytes"], stated["error_model"], stated["problem"]), (16, "exact", ""))
        for title, text in (("computes", "load_element(x, index) = {index: index, value: abs(state.scale * x)}  (± 0.5 ulp, 1e-06 absolute)"),
                            ("state", "scale: float32 = 2"), ("state", "first: int64 = -1"), ("errors", "exact")):
            self.assertIn(f"    {title:11} {text}\n", inspected)
            self.assertIn(f"    {title} {text}\n", listed)
        self.assertIn(f"  reference in {self.folder}/best.json\n", inspected)

    def test_the_short_form_is_shown_in_the_same_way(self):
        self.install({"name": "best", "summary": "", "hook": "load_element", "reference": "x / 2", "tolerance_ulp": 0})
        stated, inspected, _ = self.shown()
        self.assertEqual(stated["hooks"][0]["result"], [{"field": "", "expression": "x / 2"}])
        self.assertEqual((stated["state"], stated["state_bytes"], stated["element"]), ([], 0, None))
        self.assertIn("    computes    load_element(x) = x / 2  (exact)\n", inspected)

    def test_one_that_cannot_be_used_is_shown_with_its_problem(self):
        self.install({**BEST, "error_model": "exat"})
        stated, inspected, listed = self.shown()
        self.assertEqual(stated["hooks"], [])
        for text in (inspected, listed):
            self.assertRegex(text, r'    unusable +.*/best\.json: error_model: unknown error model "exat"')

    def test_it_cannot_drive_the_terminal(self):
        self.install({**BEST, "error_model": "exact\u001b[31m"})
        for text in self.shown()[1:]:
            self.assertNotIn("\u001b", text)

    def test_without_a_statement_there_is_none(self):
        self.install({"name": "best", "summary": ""})
        inspected, = self.fatlink_json("inspect", "best.fatbin")["files"]
        self.assertNotIn("reference", inspected)
        self.assertNotIn("reference in", self.fatlink("inspect", "best.fatbin").stdout)


if __name__ == "__main__":
    unittest.main()
