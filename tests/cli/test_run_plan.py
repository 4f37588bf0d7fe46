# SPDX-License-Identifier: Apache-2.0
"""`fatlink run` of libraries with a launch plan: data of every kind, verification, and what is refused."""
import struct
import unittest

from fatlink_cli import SHARE, TESTS, CliTest, nvjitlink

CORPUS = TESTS / "corpus"
SUM = ("--library", CORPUS / "weighted_sum.fatbin", "--transform", CORPUS / "scaled_add.fatbin")


def npy(dtype, shape, data):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def floats(*values):
    return npy("<f4", f"({len(values)},)", struct.pack(f"<{len(values)}f", *values))


@unittest.skipUnless(nvjitlink(), "no nvJitLink on this machine")
class RunPlan(CliTest):
    def run_plan(self, *words, **options):
        return self.fatlink_json("run", "--device", "cpu", *words, **options)

    def refuse(self, status, *words, says, hint="hint:"):
        return self.assert_fails(status, "run", "--device", "cpu", *words, says=[says], hint=hint)

    def test_every_pair_of_loaders_and_storers_verifies_in_both_modes(self):
        for loader in ("load_float32", "load_float16", "load_int8", "load_ramp"):
            for storer in ("store_float32", "store_float16", "store_int8", "store_clamped"):
                with self.subTest(loader=loader, storer=storer):
                    said = self.run_plan("--library", "convert", "--transform", loader, "--transform", storer,
                                         "--elements", 1000)
                    self.assertEqual([mode["reference"][0]["verified"] for mode in said["modes"]], [True, True])
                    self.assertEqual(said["modes"][0]["reference"][0]["elements"], 1000)
                    self.assertTrue(said["between"][0]["verified"])

    def test_every_transform_of_stencil_verifies(self):
        for name in ("smooth", "diffuse", "derivative", "median"):
            with self.subTest(name=name):
                said = self.run_plan("--library", "stencil", "--transform", name, "--elements", 1000)
                self.assertEqual([mode["reference"][0]["verified"] for mode in said["modes"]], [True, True])

    def test_a_hook_that_is_left_out_uses_its_default_with_the_state_of_the_other(self):
        self.file("in.npy", floats(1, 2, 3))
        for transform, state in (("load_float32", "load_state"), ("store_float32", "store_state")):
            self.run_plan("--library", "convert", "--transform", transform, "--input", "in.npy", "--output", "out.npy",
                          "--set", f"{state}.scale=2")
            self.assertEqual(struct.unpack("<3f", (self.folder / "out.npy").read_bytes()[-12:]), (2, 4, 6))

    def test_types_change_from_input_to_output(self):
        self.file("in.npy", npy("|i1", "(4,)", struct.pack("<4b", -128, -1, 0, 127)))
        self.run_plan("--library", "convert", "--transform", "load_int8", "--transform", "store_float16",
                      "--input", "in=in.npy", "--output", "out=out.npy", "--set", "load_state.scale=0.5")
        written = (self.folder / "out.npy").read_bytes()
        self.assertIn(b"'<f2'", written)
        self.assertEqual(struct.unpack("<4e", written[-8:]), (-64, -0.5, 0, 63.5))

    def test_structs_values_and_files_of_state(self):
        self.file("in.npy", floats(*range(1, 1001)))
        self.file("state", struct.pack("<f", 3))
        self.run_plan(*SUM, "--input", "in.npy", "--output", "out.npy", "--state", "state", "--set", "bounds.low=996",
                      "--set", "bounds.stride=2", "--set", "init=0")
        self.assertEqual(struct.unpack("<f", (self.folder / "out.npy").read_bytes()[-4:])[0], 3 * (997 + 999))

    def test_the_report_says_what_was_not_compared_and_why(self):
        said = self.run_plan(*SUM, "--elements", 10)
        self.assertIsNone(said["modes"][0]["reference"][0]["verified"])
        self.assertNotEqual(said["modes"][0]["reference"][0]["reason"], "")
        self.assertEqual(said["modes"][0]["expected"], [])

    def test_an_expected_array_is_compared(self):
        self.file("in.npy", floats(1, 2, 3))
        self.file("right.npy", floats(6))
        self.file("wrong.npy", floats(7))
        said = self.run_plan(*SUM, "--input", "in.npy", "--expect", "right.npy")
        self.assertTrue(said["modes"][0]["expected"][0]["verified"])
        done = self.fatlink("run", "--device", "cpu", *SUM, "--input", "in.npy", "--expect", "wrong.npy", status=1)
        self.assertIn("WRONG: 1 of 1 elements; the first is element 0: 6, expected 7", done.stdout)

    def test_elements_of_another_type_than_the_transforms_are_refused(self):
        self.file("in.npy", floats(1, 2, 3))
        self.refuse(4, "--library", "convert", "--transform", "load_float16", "--input", "in.npy",
                    says="in.npy has elements of float32; argument in has elements of float16", hint="[element-mismatch]")

    def test_wrong_arguments_are_named(self):
        self.file("in.npy", floats(1, 2, 3))
        for words, says in (
                (("--input", "inn=in.npy"), "--input inn: plan weighted_sum has no input of this name"),
                (("--output", "in=out.npy"), "--output in: plan weighted_sum has no output of this name"),
                (("--set", "inti=1"), "--set inti: plan weighted_sum has no value of this name"),
                (("--set", "init"), "--set init: has no name"),
                (("--set", "init=x"), "--set init: 'x' is not a number"),
                (("--set", "bounds.up=1"), "is not a value of range"),
                (("--set", "n=5", "--input", "in.npy"), "argument in"),
                (("--state", "x=f"), "--state x: plan weighted_sum has no state of this name"),
                (("--kernel", "weigh_tiles"), "--kernel weigh_tiles: the launch plan of weighted_sum names its kernels")):
            with self.subTest(words=words):
                self.refuse(2, *SUM, *words, says=says)

    def test_options_of_plans_are_refused_without_one(self):
        for words in (("--set", "a=1"), ("--state", "f"), ("--expect", "x.npy"), ("--compare-cpu",)):
            with self.subTest(words=words):
                self.refuse(2, *words, says="the library has no launch plan")


if __name__ == "__main__":
    unittest.main()
