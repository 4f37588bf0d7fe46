# SPDX-License-Identifier: Apache-2.0
"""A library that fatlink has never seen (six parameters, a struct by value, two hooks, a state), run by name by the installed
program: by the plan that the library's author ships, with a transform of another author."""
import hashlib
import json
import os
import pathlib
import shutil
import struct
import tempfile
import unittest

from outside_library import install_mix, run

BUILD = pathlib.Path(os.environ["FATLINK_BUILD"])
RUN = ("run", "--library", "mix", "--transform", "soft_mix", "--json")


def npy(*values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)},), }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}f", *values)


class OutsideLibrary(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-outside-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.prefix = cls.folder / "fatlink"
        run(os.environ["FATLINK_CMAKE"], "--install", BUILD, "--prefix", cls.prefix)
        cls.before = cls.digests()
        projects = cls.prefix / "share/doc/fatlink/examples"
        doctor = json.loads(run(BUILD / "bin/fatlink", "doctor", "--json"))
        cls.env = {"FATLINK_PATH": install_mix(projects, cls.folder, cls.prefix),
                   "FATLINK_CACHE_DIR": str(cls.folder / "cache"),
                   "FATLINK_NVJITLINK": doctor["nvjitlink"]["path"]}
        cls.devices = ["cpu"] + ["gpu"] * bool(doctor["gpus"])

    @classmethod
    def digests(cls):
        return {file: hashlib.sha256(file.read_bytes()).hexdigest() for file in cls.prefix.rglob("*") if file.is_file()}

    def fatlink(self, *words):
        return json.loads(run(self.prefix / "bin/fatlink", *words, **self.env))

    def test_verifies_in_both_modes_on_each_device(self):
        for device in self.devices:
            with self.subTest(device=device):
                said = self.fatlink(*RUN, "--device", device, "--elements", 100000)
                self.assertEqual(said["devices"][0]["kind"], device)
                self.assertEqual({mode["mode"]: [(result["output"], result["verified"], result["elements"])
                                                 for result in mode["reference"]] for mode in said["modes"]},
                                 {"ptx": [("out", True, 100000)], "lto": [("out", True, 100000)]})
                self.assertEqual([result["verified"] for result in said["between"]], [True])

    def test_gets_the_struct_and_the_state_of_the_user(self):
        (self.folder / "left.npy").write_bytes(npy(1, -8, 0))
        (self.folder / "right.npy").write_bytes(npy(2, 1, 4))
        for device in self.devices:
            with self.subTest(device=device):
                self.fatlink(*RUN, "--device", device, "--input", f"left={self.folder}/left.npy",
                             "--input", f"right={self.folder}/right.npy", "--output", f"out={self.folder}/out.npy",
                             "--set", "factors.left=0.5", "--set", "factors.right=1", "--set", "state.limit=4")
                written = struct.unpack("<3f", (self.folder / "out.npy").read_bytes()[-12:])
                self.assertEqual([round(value, 6) for value in written], [round(8 / 6, 6), -2, 2])

    def test_rebuilds_nothing_of_fatlink(self):
        self.fatlink(*RUN, "--device", "cpu")
        self.assertEqual(self.digests(), self.before)


if __name__ == "__main__":
    unittest.main()
