# SPDX-License-Identifier: Apache-2.0
"""Digests in idents: `fatlink digest` adds them, every verb that reads a fatbin checks them."""
import base64
import hashlib
import json
import pathlib
import shutil
import unittest

from fatlink_cli import HOOK, LIBRARY, SHARE, CliTest

FIXTURES = pathlib.Path(__file__).parent.parent / "fixtures"
FINDING = "unverified-bytes"


class Digest(CliTest):
    def copy(self, source, name="t.fatbin"):
        shutil.copyfile(source, self.folder / name)
        return self.folder / name

    def flip(self, file, at):
        content = bytearray(file.read_bytes())
        content[at] ^= 1
        file.write_bytes(content)

    def findings(self, *inputs):
        judged = self.fatlink_json("check", *inputs)["targets"]
        return [finding for one in judged for finding in one["findings"] if finding["id"] == FINDING]

    def ident(self, file):
        content = file.read_bytes()
        start = content.index(b"eyJmYXRsaW5r")
        return json.loads(base64.b64decode(content[start:content.index(b"\0", start)]))

    def test_names_pack_for_other_forms(self):
        for name in ("relocatable.cubin", "transform.ptx", "transform.ltoir", "object.o", "transform.a"):
            with self.subTest(name=name):
                shutil.copyfile(FIXTURES / "forms" / name, self.folder / name)
                self.assert_fails(3, "digest", name, says=["not a fatbin but"],
                                  hint="a fatbin is required: make one of it with fatlink pack -o FILE.fatbin, or compile")
        shutil.copyfile(FIXTURES / "forms" / "host.o", self.folder / "host.o")
        self.assert_fails(3, "digest", "host.o", says=["without device code"],
                          hint="a fatbin is required: compile the source with nvcc")

    def test_adds_digests_that_verify_the_file(self):
        file = self.copy(FIXTURES / "raw.fatbin")
        self.assertFalse(self.fatlink_json("inspect", file)["files"][0]["verified"])
        self.assertIn("t.fatbin: digests of 2 entries", self.fatlink("digest", "t.fatbin").stdout)
        self.assertTrue(self.fatlink_json("inspect", file)["files"][0]["verified"])
        self.assertEqual([entry.split()[0] for entry in self.ident(file)["entries"]], ["ptx:sm_75", "ltoir:sm_75"])

    def test_json_lists_the_digests(self):
        file = self.copy(FIXTURES / "transform.fatbin")
        shown = self.fatlink_json("digest", "t.fatbin")["files"][0]
        self.assertEqual(shown["bytes"], len(file.read_bytes()))
        self.assertEqual(shown["entries"], self.ident(file)["entries"])
        again = self.fatlink_json("digest", "t.fatbin")["files"][0]
        self.assertEqual(again, shown, "a second time changes nothing")

    def test_leaves_a_file_alone_whose_json_states_its_sha256(self):
        file = self.copy(FIXTURES / "raw.fatbin")
        content = file.read_bytes()
        (self.folder / "t.json").write_text(json.dumps({"sha256": hashlib.sha256(content).hexdigest()}))
        self.assert_fails(3, "digest", "t.fatbin", says=["t.json states the sha256 of the unchanged file"])
        self.assertEqual(file.read_bytes(), content)

    def test_refuses_what_is_no_fatbin(self):
        (self.folder / "t.fatbin").write_text("text")
        self.assert_fails(3, "digest", "t.fatbin", says=["t.fatbin: not a fatbin"])

    def test_every_verb_refuses_a_damaged_payload(self):
        file = self.copy(SHARE / "gelu.fatbin")
        self.flip(file, len(file.read_bytes()) - 16)
        for words in (("link", "--target", "sm_90", "-o", "out.cubin", LIBRARY, "t.fatbin"),
                      ("check", LIBRARY, "t.fatbin"), ("run", "--transform", "./t.fatbin"), ("digest", "t.fatbin"),
                      ("cache", "warm", "--target", "sm_90", LIBRARY, "t.fatbin"),
                      ("inspect", "--ptx", "t.fatbin")):
            with self.subTest(verb=words[0]):
                self.assert_fails(3, *words, hint="copy or fetch the file again, or build it again", says=[
                    "t.fatbin: was damaged after it was built: the ltoir:sm_75 entry at byte",
                    "does not have the bytes that it was built with", "[digest-mismatch]"])

    def test_inspect_shows_what_a_damaged_fatbin_holds(self):
        file = self.copy(SHARE / "gelu.fatbin")
        self.flip(file, len(file.read_bytes()) - 16)
        done = self.fatlink("inspect", "t.fatbin", status=3)
        self.assertIn("defines     (b32) user_transform(b32)", done.stdout)
        self.assertIn("ltoir sm_75", done.stdout)
        self.assertIn("fatlink: error: t.fatbin: was damaged after it was built", done.stderr)
        shown = self.fatlink_json("inspect", "t.fatbin", status=3)
        self.assertEqual(shown["error"]["message"], shown["files"][0]["damage"])
        self.assertFalse(shown["files"][0]["verified"])
        self.assertIn("was damaged after it was built", shown["files"][0]["damage"])

    def test_inspect_shows_a_fatbin_whose_ptx_cannot_be_read(self):
        file = self.copy(SHARE / "gelu.fatbin")
        entry = self.fatlink_json("inspect", file)["files"][0]["entries"][1]
        self.flip(file, entry["offset"] - 8)
        self.flip(file, entry["offset"] - 12)
        done = self.fatlink("inspect", "t.fatbin", status=3)
        self.assertIn("ptx sm_75", done.stdout)
        self.assertIn("ltoir sm_75", done.stdout)

    def test_check_reports_unverified_bytes_of_each_input_without_digests(self):
        plain = self.copy(FIXTURES / "uncontracted.fatbin")
        found = self.findings(LIBRARY, plain)
        self.assertEqual({(one["severity"], *one["files"]) for one in found}, {("warning", str(plain))})
        self.assertIn("no digest, so damage may not be detected", found[0]["message"])
        self.assertIn("fatlink pack", found[0]["hint"])

    def test_no_input_with_digests_is_reported(self):
        self.assertEqual(self.findings(LIBRARY, SHARE / "gelu.fatbin"), [])
        alone = self.copy(SHARE / "gelu.fatbin")  # without its .json
        self.assertEqual(self.findings(LIBRARY, alone), [])

    def test_no_input_whose_json_states_its_sha256_is_reported(self):
        file = self.copy(FIXTURES / "raw.fatbin")
        (self.folder / "t.json").write_text(json.dumps({"sha256": hashlib.sha256(file.read_bytes()).hexdigest()}))
        self.assertEqual(self.findings(LIBRARY, file), [])

    def test_a_link_does_not_repeat_the_finding(self):
        done = self.fatlink("link", "--target", "sm_90", "-o", "out.cubin", LIBRARY, FIXTURES / "raw.fatbin")
        self.assertNotIn(FINDING, done.stderr)

    def test_the_result_is_what_nvcc_writes_with_the_same_ident(self):
        file = self.compile("plain", HOOK)
        self.fatlink("digest", file)
        content = file.read_bytes()
        start = content.index(b"eyJmYXRsaW5r")
        ident = content[start:content.index(b"\0", start)].decode()
        again = self.compile("plain", HOOK, "-dlto", "-arch=sm_75", f"-Xfatbin=-ident={ident}")
        self.assertEqual(again.read_bytes(), content)


if __name__ == "__main__":
    unittest.main()
