# SPDX-License-Identifier: Apache-2.0
"""The libraries for runs of equal keys, sorted arrays, parts and the smallest keys by `fatlink run`: each is verified with the
shipped transforms; inputs that are not sorted, sizes that do not agree and transforms of other contracts are refused; and the
form of a sidecar that `run` prints is accepted."""
import json
import re
import struct
import unittest

from fatlink_cli import SHARE, CliTest, nvjitlink
from plan_case import PlanTest, npy
from run_tests import long_test

SIZES = (1, 2, 4, 8, 16, 32)
COMBINE = {1: ["add_uint8"], 2: ["max_float16"], 4: ["add_float", "max_float", "add_int32"], 8: ["argmax", "add_double"],
           16: ["multiply_matrices"], 32: ["merge_moments"]}
LESS = {1: ["less_uint8", "less_int8"], 2: ["less_float16", "less_bfloat16", "less_int16", "less_uint16"],
        4: ["less_float", "greater_float", "less_int32", "less_uint32"], 8: ["less_pair", "less_double", "less_int64", "less_uint64"],
        16: ["less_wide"], 32: ["less_record"]}
PART = {1: ["residues_uint8"], 4: ["signs_float", "signs_int32"], 8: ["by_range"]}
KEY_TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32", "float64")


def array(letter, *numbers):
    """A .npy file of numbers: 'f', 'i', 'B', 'Q' of the module struct."""
    dtype = {"f": "<f4", "i": "<i4", "B": "|u1", "Q": "<u8"}[letter]
    return npy(dtype, f"({len(numbers)},)", struct.pack(f"<{len(numbers)}{letter}", *numbers))


class LibraryTest(PlanTest):
    def assert_verified(self, library, *words):
        """Every output, in both modes, by references."""
        with self.subTest(library=library, words=words):
            said = self.run_plan("--library", library, *words)
            self.assertEqual([mode["mode"] for mode in said["modes"]], ["ptx", "lto"])
            for mode in said["modes"]:
                self.assertTrue(mode["reference"])
                for output in mode["reference"]:
                    self.assertTrue(output["verified"], (mode["mode"], output))
            return said


@unittest.skipUnless(nvjitlink(), "no nvJitLink on this machine")
class ShippedTransforms(LibraryTest):
    def fold_runs(self, operators_of_size):
        keys = iter(KEY_TYPES * 2)
        for size, operators in operators_of_size.items():
            for operator in operators:
                for library in "reduce_by_key", "scan_by_key":
                    self.assert_verified(f"{library}_{size}", operator, f"same_{next(keys)}", "--elements", 20_000, "--check-races")

    def test_an_operator_of_each_size_folds_and_scans_runs(self):
        self.fold_runs({size: operators[:1] for size, operators in COMBINE.items()})

    @long_test  # the test above has one of each size
    def test_every_operator_folds_and_scans_runs(self):
        self.fold_runs({size: operators[1:] for size, operators in COMBINE.items()})

    def test_computed_values_are_folded_and_scanned(self):
        for library in "load_reduce_by_key", "load_scan_by_key":
            for elements in 1, 33, 20_000:
                self.assert_verified(f"{library}_4", "squares_float", "add_float", "same_int32", "--elements", elements, "--check-races")
            self.assert_verified(f"{library}_8", "squares_double", "add_double", "same_uint8", "--elements", 20_000, "--check-races")

    def test_no_elements(self):
        for library in "reduce_by_key_4", "scan_by_key_4":
            self.fatlink("run", "--library", library, "add_float", "same_int32", "--set", "n=0", "--device", "cpu")
        for library in "load_reduce_by_key_4", "load_scan_by_key_4":
            self.fatlink("run", "--library", library, "squares_float", "add_float", "same_int32", "--set", "n=0", "--device", "cpu")
        self.fatlink("run", "--library", "run_lengths", "same_int32", "--set", "n=0", "--device", "cpu")

    def test_keys_of_every_type(self):
        for name in KEY_TYPES:
            self.assert_verified("run_lengths", f"same_{name}", "--elements", 20_000, "--check-races")
        self.assert_verified("unique_by_key", "same_float32", "--elements", 20_000, "--check-races")
        self.assert_verified("unique_by_key_wide", "same_int16", "--elements", 20_000, "--check-races")

    @long_test  # the test above has some of them
    def test_keys_of_every_type_with_values(self):
        for name in KEY_TYPES:
            for library in "unique_by_key", "unique_by_key_wide":
                self.assert_verified(library, f"same_{name}", "--elements", 20_000)

    def use_orders(self, orders_of_size):
        for size, orders in orders_of_size.items():
            for order in orders:
                self.assert_verified(f"merge_{size}", order, "--set", "n1=9000", "--set", "n2=7000", "--check-races")
                for library in "lower_bound", "upper_bound":
                    self.assert_verified(f"{library}_{size}", order, "--set", "n=9000", "--set", "m=700", "--check-races")
                self.assert_verified(f"segmented_sort_{size}", order, "--set", "n=3000", "--set", "segments=100", "--check-races")

    def test_an_order_of_each_size(self):
        self.use_orders({size: orders[:1] for size, orders in LESS.items()})

    @long_test  # the test above has one of each size
    def test_every_order(self):
        self.use_orders({size: orders[1:] for size, orders in LESS.items()})

    def test_every_shipped_order_is_used(self):
        shipped = {file.stem for file in SHARE.glob("*.json") if "less" in json.loads(file.read_text()).get("hooks", {})}
        self.assertEqual({order for orders in LESS.values() for order in orders}, shipped)

    def test_arrays_of_which_one_is_empty(self):
        for words in (("n1=0", "n2=50"), ("n1=50", "n2=0"), ("n1=0", "n2=0")):
            self.run_plan("--library", "merge_4", "less_int32", *[word for size in words for word in ("--set", size)])
        for words in (("n=0", "m=50"), ("n=50", "m=0")):
            self.run_plan("--library", "upper_bound_4", "less_int32", *[word for size in words for word in ("--set", size)])

    def test_parts_of_elements(self):
        for size, operators in PART.items():
            for operator in operators:
                self.assert_verified(f"partition3_{size}", operator, "--elements", 20_000, "--check-races")
        self.assert_verified("partition3_8", "by_range", "--set", "state.low=-5", "--set", "state.high=5", "--elements", 1000)

    def smallest(self, name, numbers):
        size = int("".join(filter(str.isdigit, name))) // 8
        for order in "ascending", "descending":
            for count in numbers:
                self.assert_verified(f"top_k_{size}", f"{order}_{name}", "--set", "n=20000", "--set", f"k={count}")

    def test_the_smallest_keys(self):
        self.smallest("float32", (1, 100, 6000, 20_000))
        self.smallest("uint8", (100,))
        for transform, size in ("by_value", 8), ("by_high", 16), ("by_priority", 32):
            self.assert_verified(f"top_k_{size}", transform, "--set", "n=20000", "--set", "k=300", "--check-races")

    @long_test  # the test above has some of them
    def test_the_smallest_keys_of_every_type(self):
        for name in KEY_TYPES:
            self.smallest(name, (1, 2000))

    def test_special_numbers(self):
        nan, inf = float("nan"), float("inf")
        self.file("keys.npy", array("f", nan, nan, 0.0, -0.0, inf, inf, -inf, -0.0, 0.0))
        self.assert_verified("run_lengths", "same_float32", "--input", "keys=keys.npy")
        self.assert_verified("partition3_4", "signs_float", "--input", "in=keys.npy")
        for order in "ascending", "descending":
            self.assert_verified("top_k_4", f"{order}_float32", "--input", "in=keys.npy", "--set", "k=7")

    def test_results_in_files(self):
        self.file("keys.npy", array("i", 7, 7, 5, 7, 7, 7))
        self.file("in.npy", array("f", 1, 2, 3, 4, 5, 6))
        self.run_plan("--library", "reduce_by_key_4", "add_float", "same_int32", "--input", "keys=keys.npy", "--input", "in=in.npy",
                      "--output", "out=out.npy", "--output", "out_keys=out_keys.npy")
        self.assertEqual((self.folder / "out.npy").read_bytes(), array("f", 3, 3, 15))
        self.assertEqual((self.folder / "out_keys.npy").read_bytes(), array("i", 7, 5, 7))
        self.run_plan("--library", "run_lengths", "same_int32", "--input", "keys=keys.npy", "--output", "lengths=lengths.npy")
        self.assertEqual((self.folder / "lengths.npy").read_bytes(), array("Q", 2, 1, 3))
        self.file("a.npy", array("f", 1, 2, 2, 5))
        self.run_plan("--library", "upper_bound_4", "less_float", "--input", "in=a.npy", "--input", "values=in.npy", "--output", "out=at.npy")
        self.assertEqual((self.folder / "at.npy").read_bytes(), array("Q", 1, 3, 3, 3, 4, 4))


class SortedInputs(LibraryTest):
    """Arrays of files must be in the order of the transform; generated ones are."""
    HINT = "sort the array in the order of the transform; sort_N does"

    def setUp(self):
        super().setUp()
        self.file("sorted.npy", array("f", 1, 2, 2, 3))
        self.file("unsorted.npy", array("f", 1, 3, 2, 4))
        self.file("descending.npy", array("f", 3, 2, 2, 1))

    def refuse_file(self, file, index, library, order, *inputs):
        words = [word for name_and_file in inputs for word in ("--input", name_and_file)]
        done = self.refuse(3, "--library", library, order, *words, says=f"{file}: element {index} is not where the hook less sorts it", hint=self.HINT)
        self.assertIn("code:   invalid-npy", done.stderr)

    def test_that_are_not_sorted_are_refused_with_the_file(self):
        self.refuse_file("unsorted.npy", 1, "merge_4", "less_float", "in1=unsorted.npy", "in2=sorted.npy")
        self.refuse_file("unsorted.npy", 1, "merge_4", "less_float", "in1=sorted.npy", "in2=unsorted.npy")
        for library in "lower_bound_4", "upper_bound_4":
            self.refuse_file("unsorted.npy", 1, library, "less_float", "in=unsorted.npy", "values=sorted.npy")

    def test_the_order_is_that_of_the_transform(self):
        self.refuse_file("descending.npy", 0, "merge_4", "less_float", "in1=descending.npy", "in2=sorted.npy")
        self.refuse_file("sorted.npy", 0, "merge_4", "greater_float", "in1=descending.npy", "in2=sorted.npy")
        self.assert_verified("merge_4", "greater_float", "--input", "in1=descending.npy", "--input", "in2=descending.npy")

    def test_values_that_are_searched_for_may_have_any_order(self):
        for library in "lower_bound_4", "upper_bound_4":
            self.assert_verified(library, "less_float", "--input", "in=sorted.npy", "--input", "values=unsorted.npy")

    def test_equal_elements_are_sorted(self):
        self.file("zeros.npy", array("f", -1, 0.0, -0.0, 0.0, 1))
        self.assert_verified("merge_4", "less_float", "--input", "in1=zeros.npy", "--input", "in2=zeros.npy")

    def test_one_input_of_a_file_and_a_generated_one(self):
        self.assert_verified("merge_4", "less_float", "--input", "in1=sorted.npy", "--set", "n2=3000")

    def test_segments_may_be_in_any_order_and_offsets_may_not(self):
        self.file("offsets.npy", array("Q", 0, 3, 3, 4))
        self.assert_verified("segmented_sort_4", "less_float", "--input", "in=unsorted.npy", "--input", "offsets=offsets.npy")
        for numbers, says in (((0, 3, 2, 4), "offset 2 is 2, less than offset 1, which is 3"), ((0, 5), "offset 1 is 5, above 4, the number of elements")):
            self.file("offsets.npy", array("Q", *numbers))
            self.refuse(3, "--library", "segmented_sort_4", "less_float", "--input", "in=unsorted.npy", "--input", "offsets=offsets.npy",
                        says=f"offsets.npy: {says}")

    def test_an_order_without_a_reference_is_not_checked(self):
        self.file("order.cu", "FATLINK_LESS(float, a, b) { return b < a; }\n")
        said = self.run_plan("--library", "merge_4", "order.cu", "--input", "in1=unsorted.npy", "--input", "in2=sorted.npy")
        self.assertEqual([mode["verified"] for mode in said["modes"]], [None, None])


class SizesThatDoNotAgree(LibraryTest):
    def setUp(self):
        super().setUp()
        self.file("3.npy", array("f", 1, 2, 3))
        self.file("4.npy", array("f", 1, 2, 3, 4))
        self.file("keys.npy", array("i", 1, 2, 3))

    def test_of_keys_and_values(self):
        for library, transforms in (("reduce_by_key_4", ["add_float", "same_int32"]), ("scan_by_key_4", ["add_float", "same_int32"])):
            self.refuse(2, "--library", library, *transforms, "--input", "keys=keys.npy", "--input", "in=4.npy",
                        says="n: is 3 according to argument keys, but 4 according to argument in", hint="pass arrays of sizes that agree")

    def test_that_are_missing(self):
        for library, transform, size in (("merge_4", "less_float", "n2"), ("lower_bound_4", "less_float", "m"), ("top_k_4", "ascending_float32", "k"),
                                         ("segmented_sort_4", "less_float", "segments")):
            self.refuse(2, "--library", library, transform, "--elements", 10, says=f"argument {size}: plan {library} needs this size",
                        hint=f"--set {size}=N")

    def test_more_results_than_elements(self):
        self.refuse(2, "--library", "top_k_4", "ascending_float32", "--input", "in=3.npy", "--set", "k=4",
                    says="k is 4, and the plan top_k_4 allows at most 3", hint="pass a smaller k")

    def test_elements_of_another_type(self):
        self.refuse(4, "--library", "merge_4", "less_int32", "--input", "in1=keys.npy", "--input", "in2=3.npy",
                    says="3.npy has elements of float32; argument in2 has elements of int32")
        self.refuse(4, "--library", "reduce_by_key_4", "add_float", "same_float32", "--input", "keys=keys.npy", "--input", "in=3.npy",
                    says="keys.npy has elements of int32; argument keys has elements of float32")


class IncludedContracts(LibraryTest):
    """by_key_N includes combine_N and same_key: its libraries take transforms of these."""

    def inspected(self, *words):
        (file,) = self.fatlink_json("inspect", *words)["files"]
        return [entry["ident"] for entry in file["entries"]]

    def test_are_shown_by_inspect(self):
        for size in SIZES:
            for ident in self.inspected(f"reduce_by_key_{size}"):
                self.assertEqual((ident["contract"], ident["includes"]), (f"by_key_{size}", {f"combine_{size}": 1, "same_key": 1}))
        for library, contract, included in (("transform_reduce", "load_combine", ["combine"]), ("load_scan", "load_combine", ["combine"]),
                                            ("load_select", "load_keep", ["keep"]), ("load_histogram", "load_bin", ["bin"]),
                                            ("load_scan_by_key", "load_by_key", ["combine", "same_key"])):
            names = {"load_4": 1, **{name if name == "same_key" else f"{name}_4": 1 for name in included}}
            for ident in self.inspected(f"{library}_4"):
                self.assertEqual((ident["contract"], ident["includes"]), (f"{contract}_4", names))
        for name in "run_lengths", "reduce_4", "same_int32", "add_float":
            for ident in self.inspected(name):
                self.assertNotIn("includes", ident)

    def test_their_transforms_are_listed_with_the_libraries(self):
        for transform, libraries, others in (("squares_float", ["transform_reduce_4", "load_scan_4", "load_select_4", "load_histogram_4",
                                                                "load_reduce_by_key_4"], ["reduce_4", "load_scan_8"]),
                                             ("positive_float", ["select_4", "load_select_4"], ["load_scan_4"]),
                                             ("add_float", ["reduce_by_key_4", "scan_by_key_4"], ["reduce_by_key_8", "run_lengths"]),
                                             ("same_int64", ["reduce_by_key_1", "scan_by_key_32", "run_lengths", "unique_by_key"], ["unique_8", "reduce_8"]),
                                             ("equal_int32", ["unique_4"], ["run_lengths", "reduce_by_key_4"])):
            (listed,) = self.fatlink_json("list", transform)["fatbins"]
            works = {fitting["library"] for fitting in listed["libraries"] if fitting["works"]}
            with self.subTest(transform=transform):
                self.assertLessEqual(set(libraries), works)
                self.assertFalse(works & set(others))

    def refuse_link(self, library, *transforms, says, hint):
        done = self.refuse(4, "--library", library, *transforms, "--elements", 10, says=says, hint=hint)
        self.assertIn("[contract-mismatch]", done.stderr.splitlines()[0])

    def test_transforms_of_another_size_are_refused(self):
        self.refuse_link("reduce_by_key_4", "argmax", "same_int32", says="for elements of 8 bytes", hint="reduce_by_key_8")
        self.refuse_link("scan_by_key_8", "same_int32", "add_float", says="for elements of 4 bytes", hint="scan_by_key_4")

    def test_transforms_of_other_contracts_are_refused(self):
        self.refuse_link("reduce_by_key_4", "less_float", "same_int32", says="less_float", hint="is for libraries with less_4/1")
        self.refuse_link("reduce_by_key_4", "add_float", "equal_int32", says="equal_int32", hint="is for libraries with equal_4/1")
        self.refuse_link("run_lengths", "equal_int32", says="equal_int32", hint="is for libraries with equal_4/1")
        self.refuse_link("run_lengths", "add_float", says="add_float", hint="is for libraries with combine_4/1")
        self.refuse_link("reduce_4", "same_int32", says="same_int32", hint="is for libraries with same_key/1")
        self.refuse_link("partition3_4", "positive_float", says="positive_float", hint="is for libraries with keep_4/1")

    def test_a_library_of_an_included_contract_takes_no_transform_of_the_including_one(self):
        self.file("both.cu", "FATLINK_COMBINE(float, a, b) { return a + b; }\nFATLINK_SAME_KEY(int, a, b) { return a == b; }\n")
        self.fatlink("compile", "--contract", "by_key_4", "both.cu", "-o", "both.fatbin")
        self.assertEqual(self.inspected("both.fatbin")[0]["includes"], {"combine_4": 1, "same_key": 1})
        self.run_plan("--library", "reduce_by_key_4", "both.fatbin", "--elements", 100)
        self.refuse_link("reduce_4", "both.fatbin", says="both.fatbin", hint="by_key_4/1")

    def test_each_hook_is_defined_once(self):
        for transforms, hook in ((["add_float", "max_float", "same_int32"], "combine"), (["add_float", "same_int32", "same_int64"], "same_key")):
            self.refuse(4, "--library", "reduce_by_key_4", *transforms, "--elements", 10, says=f"{hook} is defined by ", hint="pass one of the two")
        self.refuse(4, "--library", "reduce_by_key_4", "add_float", "--elements", 10, says="same_key(b64, b64), which is defined by no input",
                    hint="pass a transform that defines same_key")
        self.refuse(4, "--library", "reduce_by_key_4", "same_int32", "--elements", 10, says="which is defined by no input",
                    hint="pass a transform that defines combine")


class SidecarForms(CliTest):
    """The text that `run` prints for a transform without a sidecar is one, as it is pasted."""

    def setUp(self):
        super().setUp()
        self.need_nvjitlink()

    def check_form(self, library, source, *words, result="Result: verified in both modes", hooks):
        """Runs a transform, with the form of the first run beside it in the second one."""
        words = ("run", "--device", "cpu", "--library", library, "op.cu", *words)
        self.file("op.cu", source)
        (self.folder / "op.json").unlink(missing_ok=True)
        with self.subTest(library=library, source=source):
            said = self.fatlink(*words).stdout
            self.assertIn("Result: both modes agree; nothing else was checked", said)
            form = re.search(r"for example:\n(\{.*\}\n)(?:Result|Replace)", said, re.DOTALL)
            self.assertIsNotNone(form, said)
            stated = json.loads(form[1])
            self.assertEqual(set(stated["hooks"]), hooks)
            self.file("op.json", form[1])
            done = self.fatlink(*words, status=1 if "WRONG" in result else 0)
            self.assertEqual(done.stdout.splitlines()[-1], result)
            return stated

    def test_of_keys(self):
        same = "FATLINK_SAME_KEY(int, a, b) { return a == b; }\n"
        for library in "run_lengths", "unique_by_key", "unique_by_key_wide":
            self.check_form(library, same, "--elements", 1000, hooks={"same_key"})
        for library in "reduce_by_key_4", "scan_by_key_4":
            stated = self.check_form(library, same + "FATLINK_COMBINE(float, a, b) { return a + b; }\n", "--elements", 1000,
                                     hooks={"same_key", "combine"})
            self.assertNotIn("tolerance", stated["hooks"]["same_key"])
            self.assertEqual(stated["hooks"]["combine"]["tolerance"], {"ulp": 1})

    def test_of_orders(self):
        less = "FATLINK_LESS(float, a, b) { return a < b; }\n"
        self.check_form("merge_4", less, "--set", "n1=1000", "--set", "n2=900", hooks={"less"})
        for library in "lower_bound_4", "upper_bound_4":
            self.check_form(library, less, "--set", "n=1000", "--set", "m=900", hooks={"less"})
        self.check_form("segmented_sort_4", less, "--set", "n=1000", "--set", "segments=100", hooks={"less"})

    def test_of_parts_and_keys(self):
        self.check_form("partition3_1", "FATLINK_PART(unsigned char, x) { return x; }\n", "--elements", 1000, hooks={"part"})
        self.check_form("top_k_4", "FATLINK_KEY(float, x) { return fatlink::ascending(x); }\n", "--set", "n=1000", "--set", "k=9", hooks={"key"})

    def test_of_structs_state_fields_to_replace(self):
        wrong = "Result: WRONG (first, first_count, second, second_count, third)"  # the form is read; it is only an example
        for library, hook, source, words, result in (
                ("run_lengths", "same_key", "FATLINK_SAME_KEY(two, x, y) { return x.a == y.a; }\n", ("--elements", 100), None),
                ("merge_8", "less", "FATLINK_LESS(two, x, y) { return x.a < y.a; }\n", ("--set", "n1=100", "--set", "n2=90"), None),
                ("lower_bound_8", "less", "FATLINK_LESS(two, x, y) { return x.a < y.a; }\n", ("--set", "n=100", "--set", "m=90"), None),
                ("segmented_sort_8", "less", "FATLINK_LESS(two, x, y) { return x.a < y.a; }\n", ("--set", "n=100", "--set", "segments=5"), None),
                ("top_k_8", "key", "FATLINK_KEY(two, x) { return fatlink::ascending(x.a); }\n", ("--set", "n=100", "--set", "k=9"), None),
                ("partition3_8", "part", "FATLINK_PART(two, x) { return x.a < 0; }\n", ("--elements", 100), wrong)):
            stated = self.check_form(library, "struct two { float a; int b; };\n" + source, *words, hooks={hook},
                                     result=result or "Result: verified in both modes")
            self.assertEqual([field["name"] for field in stated["element"]], ["field1", "field2"])
            self.assertIn("field1", stated["hooks"][hook]["result"])


if __name__ == "__main__":
    unittest.main()
