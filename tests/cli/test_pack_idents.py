# SPDX-License-Identifier: Apache-2.0
"""What a fatbin that `fatlink pack` writes, and its sidecar, state of the files that it was made from."""
import hashlib
import json
import shutil

from fatlink_cli import HOOK
from pack_case import BOTH_75, FORMS, RELU, SASS_90, Pack, ident_of


class Idents(Pack):
    CONTRACT = {"fatlink": 1, "contract": "c", "version": 1, "header_sha256": "00", "hooks": {"user_transform": "FffE"},
                "toolkit": "13.0.88", "package": "p 1.0"}

    def compiled(self, name, options, **changes):
        return self.compile(name, HOOK, *options, ident_of({**self.CONTRACT, **changes}))

    def test_members_that_all_files_state_stay_and_others_go(self):
        self.pack(self.compiled("both", BOTH_75), self.compiled("sass", SASS_90, toolkit="13.1.0", header_sha256="11"))
        stated = self.ident("out.fatbin")
        self.assertEqual({name: stated[name] for name in stated if name not in ("entries", "check")},
                         {"fatlink": 1, "contract": "c", "version": 1, "hooks": {"user_transform": "FffE"}, "package": "p 1.0"})

    def test_the_option_package_states_another_package(self):
        self.pack(self.compiled("both", BOTH_75), "--package", "mine 2.0~rc1")
        self.assertEqual(self.ident("out.fatbin")["package"], "mine 2.0~rc1")
        for text in ("a b c", " a", "a\tb", "ä", "x" * 300):
            self.assert_fails(2, "pack", "-o", "new.fatbin", "both.fatbin", "--package", text,
                              says=["--package: ", "is not a name, or a name and a version"])

    def test_a_contract_that_one_file_does_not_state_is_not_kept(self):
        done, _ = self.pack(self.compiled("both", BOTH_75), self.compile("sass", HOOK, *SASS_90))
        self.assertNotIn("contract", self.ident("out.fatbin"))
        self.assertIn("fatlink: warning: out.fatbin does not state contract c/1 of", done.stderr)
        self.assertIn("sass.fatbin states no contract", done.stderr)

    def test_different_contracts_are_refused(self):
        both = self.compiled("both", BOTH_75)
        for name, changes, says in (("version", {"version": 2}, "c/2"), ("name", {"contract": "d"}, "contract d/1"),
                                    ("hooks", {"hooks": {"user_transform": "FiiE"}}, "which declares int user_transform(int)")):
            with self.subTest(name=name):
                other = self.compiled(name, SASS_90, **changes)
                self.refuse("contract-mismatch", both, other, says=["both.fatbin", f"{name}.fatbin", says])

    def test_an_ident_of_another_tool_is_refused(self):
        file = self.compile("other", HOOK, *SASS_90, "-Xfatbin=-ident=vendor")
        self.assert_fails(3, "pack", "-o", "out.fatbin", file, says=["other.fatbin: has an ident that fatlink did not write"],
                          hint="build it again without -ident")

    def test_an_ident_of_a_newer_fatlink_is_refused(self):
        file = self.compile("newer", HOOK, *SASS_90, ident_of({"fatlink": 9}))
        self.assert_fails(3, "pack", "-o", "out.fatbin", file, says=["newer.fatbin: has an ident from a newer fatlink"],
                          hint="install a newer package fatlink-runtime")


class Sidecars(Pack):
    REFERENCE = {"name": "same", "summary": "x", "hook": "user_transform", "reference": "x", "tolerance_ulp": 0}

    def setUp(self):
        super().setUp()
        self.files = [self.compile("a", HOOK, *BOTH_75), self.compile("b", HOOK, *SASS_90)]

    def sidecar(self):
        stated = json.loads((self.folder / "out.json").read_text())
        self.assertEqual(stated.pop("sha256"), hashlib.sha256((self.folder / "out.fatbin").read_bytes()).hexdigest())
        return stated

    def test_a_reference_that_a_file_states_is_kept(self):
        self.file("a.json", json.dumps(self.REFERENCE))
        self.pack(*self.files)
        self.assertEqual(self.sidecar(), self.REFERENCE)

    def test_different_references_are_not_kept_with_a_warning(self):
        self.file("a.json", json.dumps(self.REFERENCE))
        self.file("b.json", json.dumps({**self.REFERENCE, "reference": "2*x"}))
        done, _ = self.pack(*self.files)
        self.assertEqual(self.sidecar(), {})
        self.assertIn("fatlink: warning: out.json states no reference, because ", done.stderr)

    def test_the_reference_of_an_existing_sidecar_stays(self):
        self.file("a.json", json.dumps(self.REFERENCE))
        self.file("out.json", json.dumps({"name": "mine", "summary": "y", "sha256": "0" * 64}))
        self.pack(*self.files)
        self.assertEqual(self.sidecar(), {"name": "mine", "summary": "y"})

    def test_an_existing_reference_of_other_bytes_stays_with_a_warning(self):
        self.file("a.json", json.dumps(self.REFERENCE))
        first, _ = self.pack(*self.files)
        again, _ = self.pack(*self.files)
        self.file("c.json", json.dumps({**self.REFERENCE, "reference": "9*x"}))
        other, _ = self.pack(self.compile("c", HOOK.replace("return x", "return 9 * x"), *BOTH_75))
        warning = "fatlink: warning: out.json is kept, but was written for another out.fatbin, which is replaced"
        self.assertNotIn(warning, first.stderr + again.stderr)
        self.assertIn(warning, other.stderr)
        self.assertEqual(self.sidecar(), self.REFERENCE)

    def test_the_sidecar_of_another_ending_has_the_whole_name(self):
        self.pack(*self.files)
        neighbor = (self.folder / "out.json").read_bytes()
        self.assertEqual(self.fatlink_json("pack", "-o", "out.bin", RELU)["sidecar"], "out.bin.json")
        self.assertEqual((self.folder / "out.json").read_bytes(), neighbor)
        for name in ("out.bin", "out.fatbin"):
            self.assertTrue(self.fatlink_json("inspect", f"./{name}")["files"][0]["verified"])
        (self.folder / "out.bin").write_bytes((self.folder / "out.fatbin").read_bytes())
        self.assert_fails(3, "inspect", "--ptx", "./out.bin", says=["out.bin: is not the file that out.bin.json states"])

    def test_the_sidecar_of_another_fatbin_is_not_replaced(self):
        self.pack(*self.files)
        self.assert_fails(2, "pack", "-o", "out", RELU, says=["out: its sidecar would be out.json, which is the sidecar of out.fatbin"],
                          hint="name it x.fatbin, or choose another stem")

    def test_json_of_another_program_beside_an_object_states_nothing(self):
        shutil.copy(FORMS / "transform.ptx", self.folder / "t.ptx")
        self.file("t.json", '{"traceEvents": []}')
        self.pack("t.ptx")
        self.assertEqual(self.sidecar(), {})

    def test_a_malformed_sidecar_is_refused_and_nothing_is_written(self):
        self.file("out.json", "{")
        self.assert_fails(3, "pack", "-o", "out.fatbin", *self.files, says=["out.json: is not JSON"])
