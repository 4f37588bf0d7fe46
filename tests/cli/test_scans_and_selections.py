# SPDX-License-Identifier: Apache-2.0
"""The shipped scans and selections by `fatlink run`: every operator is verified by its reference."""
import struct
import unittest

from plan_case import PlanTest, floats

COMBINE = {1: ["add_uint8"], 2: ["max_float16"], 4: ["add_float", "max_float", "add_int32"], 8: ["argmax", "add_double"],
           16: ["multiply_matrices"], 32: ["merge_moments"]}
KEEP = {1: "nonzero_uint8", 2: "finite_float16", 4: "positive_float", 8: "score_above", 16: "inside_box", 32: "even_key"}


class ScansAndSelections(PlanTest):
    def run_checked(self, library, transform, *words):
        return self.run_plan("--library", library, "--transform", transform, "--check-races", *words)

    def verified_outputs(self, library, transform, *words):
        """The outputs that a reference verifies in both modes."""
        said = self.run_checked(library, transform, *words)
        return set.intersection(*({output["output"] for output in mode["reference"] if output["verified"]}
                                  for mode in said["modes"]))

    def floats_of(self, name):
        data = (self.folder / name).read_bytes()
        return struct.unpack("<5f", data[-20:])

    def test_every_operator_scans(self):
        for size, operators in COMBINE.items():
            for operator in operators:
                for library in "scan", "exclusive_scan":
                    with self.subTest(library=library, operator=operator):
                        self.assertEqual(
                            self.verified_outputs(f"{library}_{size}", operator, "--elements", 20000), {"out"})

    def test_every_predicate_selects_and_partitions(self):
        for size, operator in KEEP.items():
            with self.subTest(operator=operator):
                self.assertEqual(self.verified_outputs(f"select_{size}", operator, "--elements", 20000), {"out", "count"})
                outputs = self.verified_outputs(f"partition_{size}", operator, "--elements", 20000)
                # All generated float16 are finite, so there is nothing to compare.
                self.assertEqual(outputs, {"out", "count"} | ({"rejected"} if size != 2 else set()))

    def test_the_state_of_a_predicate_is_set(self):
        for limit in -20, 5, 20:
            self.assertIn("count", self.verified_outputs("select_8", "score_above", "--set", f"state.limit={limit}",
                                                         "--elements", 1000))

    def test_selected_elements_are_stored_as_another_type(self):
        for size, operator in (2, "bytes_below_256"), (4, "halves_of_positive"), (8, "floats_above"):
            with self.subTest(operator=operator):
                said = self.run_checked(f"transform_select_{size}", operator, "--elements", 20000)
                self.assertEqual([output["verified"] for output in said["between"]], [True, True])

    def test_an_exclusive_scan_begins_with_the_initial_value(self):
        self.file("in.npy", floats(1, -2, 3, 0, 5))
        self.run_checked("exclusive_scan_4", "add_float", "--input", "in=in.npy", "--set", "init=10", "--output",
                         "out=out.npy")
        self.assertEqual(self.floats_of("out.npy"), (10, 11, 9, 12, 12))

    def test_selected_elements_keep_their_order(self):
        self.file("in.npy", floats(1, -2, 3, 0, 5))
        self.run_checked("partition_4", "positive_float", "--input", "in=in.npy", "--output", "out=out.npy", "--output",
                         "rejected=rejected.npy")
        self.assertEqual(self.floats_of("out.npy")[:3], (1, 3, 5))
        self.assertEqual(self.floats_of("rejected.npy")[:2], (-2, 0))


if __name__ == "__main__":
    unittest.main()
