# SPDX-License-Identifier: Apache-2.0
"""Fatbins of newer toolkits: concatenated entries link with any nvJitLink, and what is not known is listed and passed over."""
import json
import shutil
import struct
import unittest

from fatlink_cli import TESTS, CliTest, doctor

FIXTURES = TESTS / "fixtures"
FOLDER = FIXTURES / "concatenated"
TWICE = '{"name": "twice", "summary": "2 x + 1", "hook": "user_transform", "reference": "2*x+1", "tolerance_ulp": 1}'
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
                self.file("twice.json", TWICE)
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
        self.assertIn("other.fatbin has entries of a newer toolkit than this fatlink knows, which are ignored: kind 0x40 "
                      "[newer-entry]", checked.stdout)


class TileIr(CliTest):
    """Beside PTX: it is listed, and passed over without a word. No nvJitLink links it."""

    def files(self):
        for version in ("13.1", "13.3"):
            for suffix in ("", "_concat"):
                with self.subTest(version + suffix):
                    yield version, FOLDER / f"tile_{version}{suffix}.fatbin"

    def test_is_listed_with_its_version(self):
        for version, file in self.files():
            entries = json.loads(self.fatlink("inspect", "--json", file).stdout)["files"][0]["entries"]
            self.assertEqual(sorted((entry["kind"], entry["version"]) for entry in entries), [("ptx", "9.0"), ("tileir", version)])

    def test_is_passed_over(self):
        for _, file in self.files():
            checked = self.fatlink("check", "--mode", "ptx", "--target", "sm_90", FOLDER / "library_13.5_default.fatbin", file)
            self.assertNotIn("newer-entry", checked.stdout)
            shutil.copy(file, self.folder / "twice.fatbin")
            self.file("twice.json", TWICE)
            report = self.fatlink_json("run", "--no-cache", "--device", "cpu", "--mode", "ptx", "--library",
                                       FOLDER / "library_13.5_default.fatbin", "--transform", self.folder / "twice.fatbin",
                                       "--elements", "1000")
            self.assertTrue(report["modes"][0]["verified"])

    def test_alone_has_nothing_to_link(self):
        content = bytearray((FOLDER / "tile_13.1.fatbin").read_bytes())
        content[16:18] = struct.pack("<H", 0x80)  # its PTX
        checked = self.fatlink("check", "--mode", "ptx", "--target", "sm_90", FOLDER / "library_13.5_default.fatbin",
                               self.file("only.fatbin", bytes(content)), status=4)
        self.assertIn("only.fatbin holds no PTX, which ptx mode needs [no-ptx]", checked.stdout)

    def test_is_packed_unchanged(self):
        for version, file in self.files():
            self.fatlink("pack", "-o", "packed.fatbin", file)
            self.assertIn(f"version {version}", self.fatlink("inspect", "packed.fatbin").stdout)


class Targets(CliTest):
    INPUTS = FIXTURES / "library.fatbin", FIXTURES / "transform.fatbin"

    def assert_needs(self, target, version, says):
        linker = doctor()["nvjitlink"].get("version", "")
        if not linker or tuple(map(int, linker.split(".")[:2])) >= version:
            self.skipTest(f"nvJitLink {linker} links for {target}, or there is none")
        for mode in ("ptx", "lto"):
            refused = self.fatlink("link", "--mode", mode, "--target", target, "-o", "o.cubin", *self.INPUTS, status=4)
            self.assertIn(f"does not link for {target}{says} [target-too-new]", refused.stderr)
            self.assertIn("{}.{} or newer".format(*version), refused.stderr)
            self.assertIn("[target-too-new]", self.fatlink("check", "--mode", mode, "--target", target, *self.INPUTS, status=4).stdout)

    def test_latest_nvvm_needs_its_nvjitlink(self):
        linker = doctor()["nvjitlink"].get("version", "")
        words = ("link", "--mode", "lto", "--target", "sm_90", "--latest-nvvm", "-o", "o.cubin", *self.INPUTS)
        if linker and tuple(map(int, linker.split(".")[:2])) >= (13, 5):
            self.fatlink(*words)
        else:
            self.assert_fails(5, *words, says=["nvJitLink ", "does not have the option -nvvm-latest"],
                              hint="install nvJitLink 13.5 or newer, or do not set --latest-nvvm")

    def test_of_a_later_cuda_are_refused_by_older_nvjitlinks(self):
        for target in ("sm_107", "sm_107a", "sm_107f"):
            with self.subTest(target):
                self.assert_needs(target, (13, 4), "")

    def test_that_are_unknown_are_left_to_newer_nvjitlinks(self):
        self.assert_needs("sm_130", (13, 6), ", which this fatlink does not know")


if __name__ == "__main__":
    unittest.main()
