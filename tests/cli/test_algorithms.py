# SPDX-License-Identifier: Apache-2.0
"""The shipped libraries of algorithms by `fatlink run`: every operator is verified by its reference."""
import struct
import unittest

from fatlink_cli import CliTest
from plan_case import PlanTest, npy

COMBINE = {1: ["add_uint8"], 2: ["max_float16"], 4: ["add_float", "max_float", "add_int32"], 8: ["argmax", "add_double"],
           16: ["multiply_matrices"], 32: ["merge_moments"]}


def offsets(*numbers):
    return npy("<u8", f"({len(numbers)},)", struct.pack(f"<{len(numbers)}Q", *numbers))


def npy_of_structs(fields, shape, data):
    placeholder = "f" * (len(fields) - 2)
    return npy(placeholder, shape, data).replace(f"'{placeholder}'".encode(), fields.encode())


class Algorithms(PlanTest):
    def assert_verified(self, library, transform, *words):
        with self.subTest(library=library, transform=transform):
            said = self.run_plan("--library", library, "--transform", transform, "--check-races", *words)
            self.assertEqual([mode["reference"][0]["verified"] for mode in said["modes"]], [True, True])
            self.assertTrue(said["between"][0]["verified"])

    def test_every_operator_reduces(self):
        for size, operators in COMBINE.items():
            for operator in operators:
                self.assert_verified(f"reduce_{size}", operator, "--elements", 20000)

    def test_every_operator_reduces_segments(self):
        self.file("offsets.npy", offsets(3, 3, 40, 41, 1000, 9000, 9999))
        for size, operators in COMBINE.items():
            for operator in operators:
                self.assert_verified(f"segmented_reduce_{size}", operator, "--input", "offsets=offsets.npy",
                                     "--set", "n=10000")

    def test_every_loader_is_reduced(self):
        for size, operator in (2, "sum_bytes"), (4, "sum_squares"), (8, "count_above"):
            self.assert_verified(f"transform_reduce_{size}", operator, "--elements", 20000)
        self.assert_verified("transform_reduce_8", "count_above", "--set", "state.threshold=5", "--elements", 1000)

    def test_every_bin_is_counted(self):
        for size, operator in (1, "byte_bins"), (4, "uniform_bins"), (4, "log2_bins"), (8, "grid_bins"):
            self.assert_verified(f"histogram_{size}", operator, "--elements", 20000)
        self.assert_verified("histogram_4", "uniform_bins", "--set", "bins=20000", "--set", "state.width=0.001",
                             "--set", "state.low=-1.7")

    def test_every_operator_maps(self):
        for arrays, operators in ((1, ("scale_add", "float_to_half", "clamp_uint8")),
                                  (2, ("add_floats", "multiply_complex", "subtract_int16")),
                                  (3, ("multiply_add", "median_of_vectors", "add_records"))):
            for operator in operators:
                self.assert_verified(f"map{arrays}", operator, "--elements", 5000)
        self.assert_verified("map1", "scale_add", "--set", "state.factor=-3", "--set", "state.offset=0.5")

    def test_the_initial_value_of_a_struct_is_0_or_stated_by_fields(self):
        self.file("in.npy", npy_of_structs("[('value', '<f4'), ('index', '<i4')]", "(2,)", struct.pack("<fifi", -5, 1, -3, 2)))
        for words, expected in (([], (0, 0)), (["--set", "init.value=-inf"], (-3, 2)),
                                (["--set", "init.value=-1", "--set", "init.index=9"], (-1, 9))):
            self.run_plan("--library", "reduce_8", "--transform", "argmax", "--input", "in=in.npy", "--output", "out=out.npy", *words)
            self.assertEqual(struct.unpack("<fi", (self.folder / "out.npy").read_bytes()[-8:]), expected)
            (self.folder / "out.npy").unlink()

    def test_a_type_of_another_size_names_the_contract_for_it(self):
        self.file("pair.cu", "struct pair { float a, b; };\nFATLINK_COMBINE(pair, a, b) { return {a.a + b.a, a.b + b.b}; }\n")
        self.refuse(4, "--library", "reduce_4", "--transform", "pair.cu", "--elements", "10",
                    says="pair has 8 bytes: use the contract combine_8")

    def test_elements_without_fields_are_0_at_first(self):
        self.file("pair.cu", "struct pair { int a, b; };\nFATLINK_COMBINE(pair, x, y) { return {x.a + y.a, x.b + y.b}; }\n")
        said = self.run_plan("--library", "reduce_8", "--transform", "pair.cu", "--elements", 1000)
        self.assertTrue(said["between"][0]["verified"])
        self.refuse(2, "--library", "reduce_8", "--transform", "pair.cu", "--elements", "10", "--set", "init=1",
                    says="bytes8 has no values: its bytes have no meaning")


class Lists(CliTest):
    def test_transforms_belong_to_the_libraries_of_their_contract(self):
        (argmax,) = self.fatlink_json("list", "argmax")["fatbins"]
        names = {fitting["library"]: fitting["works"] for fitting in argmax["libraries"]}
        self.assertEqual(names.get("reduce_8"), True)
        self.assertEqual(names.get("segmented_reduce_8"), True)
        self.assertNotIn("reduce_4", names)
        self.assertNotIn("transform_reduce_8", names)

    def test_libraries_have_different_summaries(self):
        fatbins = self.fatlink_json("list", "--kind", "library")["fatbins"]
        summaries = [entry["summary"] for entry in fatbins if entry["name"] != "apply_transform"]
        self.assertEqual(len(summaries), len(set(summaries)))


if __name__ == "__main__":
    unittest.main()
