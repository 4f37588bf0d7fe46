# SPDX-License-Identifier: Apache-2.0
"""Fatbins of newer toolkits: concatenated entries link with any nvJitLink, and what is not known is listed and passed over."""
import json
import shutil
import struct
import unittest

from fatlink_cli import TESTS, CliTest

FIXTURES = TESTS / "fixtures"
FOLDER = FIXTURES / "concatenated"
MADE = ("13.4_default", "13.5_default", "13.5_size", "13.5_balance", "13.5_speed")


class Concatenated(CliTest):
    def files(self, made):
        return FOLDER / f"library_{made}.fatbin", FOLDER / f"transform_{made}.fatbin"

    def test_entries_are_listed_one_by_one(self):
        for made in MADE:
            with self.subTest(made):
                library, _ = self.files(made)
                entries = json.loads(self.fatlink("inspect", "--json", library).stdout)["files"][0]["entries"]
                self.assertEqual(sorted((entry["kind"], entry["target"]) for entry in entries),
                                 [("elf", "sm_100"), ("elf", "sm_90"), ("ltoir", "sm_75"), ("ptx", "sm_75"), ("ptx", "sm_90")])
                for entry in entries:
                    if entry["kind"] != "ltoir":
                        self.assertEqual(entry["kernels"][0].partition("(")[0], "apply_transform")

    def test_links_in_every_mode(self):
        for made in MADE:
            for mode, target in (("ptx", "sm_80"), ("ptx", "sm_90"), ("lto", "sm_90"), ("sass", "sm_90"), ("sass", "sm_100")):
                with self.subTest(made, mode=mode, target=target):
                    self.fatlink("check", "--mode", mode, "--target", target, *self.files(made))
                    self.link(*self.files(made), mode=mode, target=target)
                    self.assertTrue((self.folder / "out.cubin").stat().st_size)

    def test_computes_the_same(self):
        for made in MADE:
            with self.subTest(made):
                library, transform = self.files(made)
                shutil.copy(transform, self.folder / "twice.fatbin")
                self.file("twice.json", '{"name": "twice", "summary": "2 x + 1", "hook": "user_transform", "reference": "2*x+1", '
                          '"tolerance_ulp": 1}')
                report = self.fatlink_json("run", "--no-cache", "--device", "cpu", "--library", library, "--transform",
                                           self.folder / "twice.fatbin", "--elements", "1000")
                self.assertEqual([(mode["mode"], mode["verified"]) for mode in report["modes"]], [("ptx", True), ("lto", True)])

    def test_packed_entries_are_no_longer_concatenated(self):
        library, transform = self.files("13.5_default")
        self.fatlink("pack", "-o", "packed.fatbin", transform)
        self.link(library, self.folder / "packed.fatbin")


class Unknown(CliTest):
    def changed(self, name, at, value):
        content = bytearray((FIXTURES / "transform.fatbin").read_bytes())
        content[at:at + len(value)] = value
        return self.file(name, bytes(content))

    def test_kinds_are_listed_and_passed_over(self):
        other = self.changed("other.fatbin", 16, struct.pack("<H", 0x40))
        self.assertIn("kind 0x40", self.fatlink("inspect", other).stdout)
        checked = self.fatlink("check", "--mode", "lto", "--target", "sm_90", FIXTURES / "library.fatbin", other)
        self.assertIn("other.fatbin has entries of a newer toolkit than this fatlink knows, which are passed over: kind 0x40 "
                      "[newer-entry]", checked.stdout)

    def test_tile_ir_is_listed_and_passed_over_without_a_word(self):
        tile = self.changed("tile.fatbin", 16, struct.pack("<H", 0x80))
        self.assertIn("tileir", self.fatlink("inspect", tile).stdout)
        checked = self.fatlink("check", "--mode", "lto", "--target", "sm_90", FIXTURES / "library.fatbin", tile)
        self.assertNotIn("newer-entry", checked.stdout)


if __name__ == "__main__":
    unittest.main()
