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
                    self.assert_fails(3, *words, says=[f"{name}: is not JSON (line 2, column "], hint="correct the syntax there; if a build wrote the file, build again")
            path.unlink()
        self.file("half.json", "")
        self.assert_fails(3, *RUN, says=["half.json: is not JSON (line 1, column 1)"])

    def test_one_without_a_reference_is_named_as_the_reason(self):
        self.need_nvjitlink()
        self.file("half.json", '{"name": "half", "summary": "x / 2"}')
        self.assertIn("; half.json states no reference", self.fatlink(*RUN).stdout)

    def test_the_form_with_hooks_describes_any_library(self):
        self.need_nvjitlink()
        self.file("half.json", '{"name": "half", "summary": "x / 2", "hooks": {"user_transform": '
                               '{"parameters": ["x"], "result": "x / 2", "tolerance": {"ulp": 1}}}}')
        self.assertIn("(tolerance 1)", self.fatlink(*RUN).stdout)

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

    def test_a_reference_that_cannot_be_is_refused_by_compile(self):
        good = json.loads(HALF_JSON)
        for change, says, hint in (({"reference": "sinn(x)"}, 'reference: ', "did you mean sin?"),
                                   ({"reference": "sqrtf(x)"}, 'reference: ', "did you mean sqrt?"),
                                   ({"hook": "user_transfrm"}, '"hook" is "user_transfrm"', 'did you mean "user_transform"?'),
                                   ({"tolerance_ulp": "1"}, 'tolerance_ulp: is of type string; expected a number', "write a number"),
                                   ({"tolerance_ulp": None}, '"tolerance_ulp" is missing', "docs/fatbin_format.md describes it"),
                                   ({"refrence": "x"}, 'unknown key "refrence"', 'did you mean "reference"?')):
            with self.subTest(change=change):
                stated = {name: value for name, value in {**good, **change}.items() if value is not None}
                self.file("half.json", json.dumps(stated))
                self.assert_fails(3, *COMPILE, "out.fatbin", says=["half.json: " + says], hint=hint)

    def test_run_reads_it_as_strictly_as_compile(self):
        for text, says, hint in (
                (HALF_JSON.replace("reference", "refrence"), 'unknown key "refrence"', 'did you mean "reference"?'),
                (HALF_JSON.replace("{", '{"author": "a", ', 1), 'unknown key "author"', "write one of name, summary, hook"),
                (HALF_JSON.replace("{", '{"reference": "x", ', 1), 'reference: is stated twice', "remove one of the two"),
                (HALF_JSON.replace("{", '{"hooks": {}, ', 1), 'hook: belongs to the form for one hook in x', "state it in")):
            self.file("half.json", text)
            for words in (RUN, [*COMPILE, "out.fatbin"]):
                with self.subTest(says=says, verb=words[0]):
                    self.assert_fails(3, *words, says=["half.json: " + says], hint=hint)

    def test_a_key_within_a_hook_that_is_stated_twice_is_refused(self):
        self.file("half.json", '{"name": "h", "summary": "h", "hooks": {"user_transform": {"parameters": ["x"], "result": "x", "result": "x / 2"}}}')
        for words in (RUN, [*COMPILE, "out.fatbin"]):
            self.assert_fails(3, *words, says=['half.json: hooks.user_transform.result: is stated twice'], hint="remove one of the two")

    def test_a_written_sidecar_is_a_source_s_again(self):
        self.file("half.json", HALF_JSON)
        for _ in range(2):
            self.fatlink(*COMPILE, "half.fatbin")
        self.assertEqual(json.loads(self.output("half.json"))["reference"], "x / 2")

    def test_adding_a_digest_to_the_author_s_sidecar_is_said_once(self):
        self.file("half.json", HALF_JSON)
        self.assertIn('half.json is kept, with the "sha256" of half.fatbin added', self.fatlink(*COMPILE, "half.fatbin").stderr)
        self.assertEqual(self.fatlink(*COMPILE, "half.fatbin").stderr, "")

    def test_the_author_s_sidecar_is_not_replaced_by_that_of_another_source(self):
        own = HALF_JSON.replace("half", "mine").encode()
        self.file("out.json", own)
        self.file("half.json", HALF_JSON)
        self.assert_fails(2, *COMPILE, "out.fatbin", says=["out.json differs from the sidecar beside the source"],
                          hint="move it, or name another file with --output")
        self.assertEqual(self.output("out.json"), own)
        self.assertFalse((self.folder / "out.fatbin").exists())

    def test_the_summary_is_optional(self):
        self.need_nvjitlink()
        stated = json.loads(HALF_JSON)
        del stated["summary"]
        self.file("half.json", json.dumps(stated))
        self.assertIn("(tolerance 0.5)", self.fatlink(*RUN).stdout)

    def test_without_one_run_prints_a_form_that_it_accepts(self):
        self.need_nvjitlink()
        said = self.fatlink(*RUN).stdout
        form = said[said.index("{"):said.rindex("}") + 1]
        self.assertIn("state what the transform computes in half.json, for example:", said)
        self.file("half.json", form.replace('"result": "x"', '"result": "x / 2"'))
        self.assertIn("verified, 1,000 elements", self.fatlink(*RUN).stdout)
        self.file("half.json", '{"name": "half"}')
        said = self.fatlink(*RUN).stdout
        self.assertIn("not verified: no sidecar", said)
        self.assertNotIn("for example", said)

    def test_a_digest_in_an_empty_sidecar_is_not_worth_a_line(self):
        self.file("out.json", "{}")
        self.assertEqual(self.fatlink(*COMPILE, "out.fatbin").stderr, "")

    def sidecar(self):
        return json.loads(self.output("out.json"))
