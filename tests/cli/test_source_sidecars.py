# SPDX-License-Identifier: Apache-2.0
"""The .json beside a source: what `run` verifies with it, and what `compile` writes beside the fatbin."""
import json

from compile_case import CONTRACT, HALF, HALF_JSON, CompileCase

RUN = ["run", "--device", "cpu", "--elements", "1000", "--transform", "half.cu"]
COMPILE = ["compile", "half.cu", *CONTRACT, "-o"]
BROKEN = HALF_JSON[:-1] + ",}"


class SourceSidecars(CompileCase):
    def setUp(self):
        super().setUp()
        self.file("half.cu", HALF)

    def test_one_that_is_not_json_is_refused_with_line_and_column(self):
        for name in ("half.json", "half.cu.json"):
            path = self.file(name, BROKEN.replace('{"name"', '{\n"name"'))
            for words in (RUN, [*COMPILE, "out.fatbin"]):
                with self.subTest(name=name, verb=words[0]):
                    self.assert_fails(3, *words, says=[f"{name}: is not JSON (line 2, column "], hint="correct the syntax there")
            path.unlink()
        self.file("half.json", "")
        self.assert_fails(3, *RUN, says=["half.json: is not JSON (line 1, column 1)"])

    def test_one_without_a_reference_is_named_as_the_reason(self):
        self.need_nvjitlink()
        self.file("half.json", '{"name": "half", "summary": "x / 2"}')
        self.assertIn("not verified: half.json states no reference", self.fatlink(*RUN).stdout)

    def test_the_fatbin_s_sidecar_gets_what_the_source_s_states_now(self):
        for reference in ("x / 2", "x * 0.5"):
            self.file("half.json", HALF_JSON.replace('"reference": "x / 2"', f'"reference": "{reference}"'))
            done = self.fatlink(*COMPILE, "out.fatbin")
            self.assertEqual(self.sidecar()["reference"], reference)
            self.assertEqual(done.stderr, "")

    def test_the_fatbin_s_sidecar_is_kept_where_the_source_has_none(self):
        self.file("out.json", json.dumps({**json.loads(HALF_JSON), "sha256": 64 * "0"}))
        done = self.fatlink(*COMPILE, "out.fatbin")
        self.assertEqual(self.sidecar()["reference"], "x / 2")
        self.assertIn("remove out.json and write it again", done.stderr)

    def sidecar(self):
        return json.loads(self.output("out.json"))
