# SPDX-License-Identifier: Apache-2.0
"""The shipped scans and selections by `fatlink run`: an operator of each size is verified by its reference. The reductions run
every operator, and the tests of the devices every scan with every operator."""
import json
import shutil
import struct
import unittest

from fatlink_cli import SHARE
from plan_case import PlanTest, floats

COMBINE = {1: "add_uint8", 2: "max_float16", 4: "add_float", 8: "argmax", 16: "multiply_matrices", 32: "merge_moments"}
KEEP = {1: "nonzero_uint8", 2: "finite_float16", 4: "positive_float", 8: "score_above", 16: "inside_box", 32: "even_key"}


class ScansAndSelections(PlanTest):
    def run_checked(self, library, transform, *words):
        return self.run_plan("--library", library, "--transform", transform, "--check-races", *words)

    def verified_outputs(self, library, transform, *words):
        """The outputs that a reference verifies: of 4 and 8 bytes in both modes, as the tests of the devices link all, else in PTX mode."""
        mode = () if library.endswith(("_4", "_8")) else ("--mode", "ptx")
        said = self.run_checked(library, transform, *mode, *words)
        return set.intersection(*({output["output"] for output in mode["reference"] if output["verified"]}
                                  for mode in said["modes"]))

    def floats_of(self, name):
        data = (self.folder / name).read_bytes()
        start = 10 + struct.unpack("<H", data[8:10])[0]
        return struct.unpack(f"<{(len(data) - start) // 4}f", data[start:])

    def select(self, *words, library="select_4", **options):
        """1, 3 and 5 are selected."""
        self.file("in.npy", floats(1, -2, 3, 0, 5))
        return self.fatlink("run", "--device", "cpu", "--library", library, "--transform", "positive_float", "--input",
                            "in=in.npy", *words, **options)

    def with_length(self, length):
        """select_4 with another length of `out` in its plan."""
        for ending in ".fatbin", ".json":
            shutil.copyfile(SHARE / f"select_4{ending}", self.folder / f"changed{ending}")
        plan = json.loads((self.folder / "changed.json").read_text())
        next(argument for argument in plan["arguments"] if argument["name"] == "out")["length"] = length
        self.file("changed.json", json.dumps(plan))
        return "changed.fatbin"

    def test_operators_of_each_size_scan(self):
        for size, operator in COMBINE.items():
            for library in "scan", *(["exclusive_scan"] if size in (4, 8) else []):
                with self.subTest(library=library, operator=operator):
                    self.assertEqual(self.verified_outputs(f"{library}_{size}", operator, "--elements", 20000), {"out"})

    def test_computed_elements_are_scanned(self):
        for library, load, operator in (("load_scan_4", "squares_float", "add_float"), ("load_scan_4", "widen_bfloat16", "max_float"),
                                        ("load_scan_8", "squares_double", "add_double"),
                                        ("load_exclusive_scan_4", "magnitudes_float", "max_float"),
                                        ("load_exclusive_scan_8", "squares_double", "add_double")):
            for elements in 1, 33, 20000:
                with self.subTest(library=library, load=load, operator=operator, elements=elements):
                    self.assertEqual(self.verified_outputs(library, load, operator, "--elements", elements), {"out"})

    def test_computed_elements_are_selected(self):
        for load in "widen_float16", "magnitudes_float":
            for elements in 1, 33, 20000:
                with self.subTest(load=load, elements=elements):
                    self.assertEqual(self.verified_outputs("load_select_4", load, "positive_float", "--elements", elements), {"out", "count"})

    def test_load_and_predicate_have_states_of_their_own(self):
        self.file("scale.cu", "FATLINK_LOAD(float, float, x) { return x * *static_cast<float const*>(state); }\n")
        self.file("above.cu", "FATLINK_KEEP(float, x) { return x > *static_cast<float const*>(state); }\n")
        for name, hook in ("scale", '"load": {"parameters": ["x", "i"], "type": "float32", "result": "x * state.factor"}'), (
                "above", '"keep": {"parameters": ["x"], "result": "x > state.factor"}'):
            self.file(f"{name}.json", f'{{"name": "{name}", "hooks": {{{hook}}}, "state": [{{"name": "factor", "type": "float32"}}]}}')
        self.file("in.npy", floats(1, -2, 3, 0, 5))
        said = self.run_checked("load_select_4", "scale.cu", "above.cu", "--input", "in=in.npy", "--output", "out=out.npy",
                                "--set", "load_state.factor=2", "--set", "state.factor=3")
        self.assertEqual(self.floats_of("out.npy"), (6, 10))
        self.assertTrue(all(output["verified"] for mode in said["modes"] for output in mode["reference"]))

    def test_elements_with_a_tolerance_are_selected_without_a_reference(self):
        said = self.run_checked("load_select_4", "squares_float", "positive_float", "--elements", 100)
        self.assertIn("filter cannot be verified, because map(load, in, index) has a tolerance",
                      [output["reason"] for output in said["modes"][0]["reference"]])

    def test_every_predicate_selects_and_partitions(self):
        for size, operator in KEEP.items():
            with self.subTest(operator=operator):
                self.assertEqual(self.verified_outputs(f"select_{size}", operator, "--elements", 20000), {"out", "count"})
                self.assertEqual(self.verified_outputs(f"partition_{size}", operator, "--elements", 20000), {"out", "count", "rejected"})

    def test_a_selection_of_no_element_is_verified(self):
        self.file("in.npy", floats(-1, -2))
        self.file("none.npy", floats())
        words = ["run", "--device", "cpu", "--library", "select_4", "--transform", "positive_float", "--mode", "lto", "--input", "in=in.npy"]
        said = self.fatlink(*words, "--expect", "out=none.npy").stdout.splitlines()
        self.assertIn("  reference    out: verified, 0 elements, no difference", said)
        self.assertEqual(said[-1], "Result: verified")
        self.assertEqual(self.fatlink(*words, "--expect", "out=in.npy", status=1).stdout.splitlines()[-1], "Result: WRONG (out)")

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
        self.assertEqual(self.floats_of("out.npy"), (1, 3, 5))
        self.assertEqual(self.floats_of("rejected.npy"), (-2, 0))

    def test_only_selected_elements_are_printed(self):
        rows = [line.split()[0] for line in self.select("--print", "9").stdout.splitlines() if line.startswith("  out[")]
        self.assertEqual(rows, ["out[0]", "out[1]", "out[2]"])
        results = json.loads(self.select("--print", "9", "--json").stdout)["results"]
        self.assertEqual([row["lto"] for row in results if row["output"] == "out"], ["1", "3", "5"])

    def test_selected_elements_are_compared_with_expected_ones(self):
        self.file("right.npy", floats(1, 3, 5))
        self.file("wrong.npy", floats(1, 3, 4))
        self.assertIn("--expect     out: verified, 3 elements", self.select("--expect", "out=right.npy").stdout)
        self.assertIn("--expect     out: WRONG: 1 of 3 elements; the first is element 2: 5, expected 4",
                      self.select("--expect", "out=wrong.npy", status=1).stdout)

    def test_another_number_of_elements_than_expected_is_wrong(self):
        self.file("fewer.npy", floats(1, 3))
        self.file("more.npy", floats(1, 3, 5, 7, 9))
        self.assertIn("WRONG: 1 of 3 elements; the first is element 2: an element, expected none: 2 are expected",
                      self.select("--expect", "out=fewer.npy", status=1).stdout)
        self.assertIn("WRONG: 2 of 5 elements; the first is element 3: none: the output has 3, expected an element",
                      self.select("--expect", "out=more.npy", status=1).stdout)
        expected = json.loads(self.select("--expect", "out=more.npy", "--json", status=1).stdout)["modes"][0]["expected"][0]
        self.assertEqual((expected["verified"], expected["elements"], expected["failures"]), (False, 5, 2))

    def test_more_results_than_the_reference_states_are_wrong(self):
        done = self.select("--output", "out=out.npy", library=self.with_length("count + 1"), status=1)
        self.assertIn("reference    out: WRONG: 1 of 4 elements; the first is element 3: an element, expected none: 3 are expected",
                      done.stdout)
        self.assertFalse((self.folder / "out.npy").exists())

    def test_a_length_that_is_not_in_the_array_is_wrong(self):
        self.assertIn("reference    out: WRONG: 1 of 5 elements; the first is element 0 (length): 6, expected 0 to 5",
                      self.select(library=self.with_length("2 * count"), status=1).stdout)
        self.assertIn("(length): the formula has no value, expected 0 to 5",
                      self.select(library=self.with_length("1 / (count - 3)"), status=1).stdout)

    def test_a_length_above_the_range_of_formulas_is_printed_as_it_is(self):
        library = self.compile("huge", """
            extern "C" __device__ bool keep(float);
            extern "C" __global__ void select_all(float const* in, float* out, unsigned long long* count, size_t n)
            {
              for (size_t i = 0; i < n; ++i)
                if (keep(in[i])) out[i] = in[i];
              *count = ~0ULL;
            }""")
        keep = self.compile("all", 'extern "C" __device__ bool keep(float x) { return x == x; }')
        for length, text in ("count", "18446744073709551615"), ("count / 2", "the formula has no value"):
            self.file("huge.json", json.dumps({
                "name": "huge", "summary": "selects all elements",
                "arguments": [{"name": "in", "role": "input", "type": "float32", "count": "n"},
                              {"name": "out", "role": "output", "type": "float32", "count": "n", "length": length},
                              {"name": "count", "role": "output", "type": "uint64", "count": 1},
                              {"name": "n", "role": "size"}],
                "launches": [{"kernel": "select_all", "grid": 1, "block": 1, "arguments": ["in", "out", "count", "n"]}],
                "computes": {"out": "filter(keep, in)"}}))
            done = self.fatlink("run", "--device", "cpu", "--library", library, "--transform", keep, "--elements", 10, status=1)
            self.assertIn(f"(length): {text}, expected 0 to 10", done.stdout)


if __name__ == "__main__":
    unittest.main()
