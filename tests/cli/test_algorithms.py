# SPDX-License-Identifier: Apache-2.0
"""The shipped libraries of algorithms by `fatlink run`: every operator is verified by its reference."""
import json
import os
import pathlib
import re
import struct
import unittest

from fatlink_cli import SHARE, CliTest
from plan_case import PlanTest, npy
from run_tests import long_test

COMBINE = {1: ["add_uint8"], 2: ["max_float16"], 4: ["add_float", "max_float", "add_int32"], 8: ["argmax", "add_double"],
           16: ["multiply_matrices"], 32: ["merge_moments"]}


def offsets(*numbers):
    return npy("<u8", f"({len(numbers)},)", struct.pack(f"<{len(numbers)}Q", *numbers))


def npy_of_structs(fields, shape, data):
    placeholder = "f" * (len(fields) - 2)
    return npy(placeholder, shape, data).replace(f"'{placeholder}'".encode(), fields.encode())


class Algorithms(PlanTest):
    def assert_verified(self, library, transform, *words):
        """In PTX mode; of 4 bytes in both modes. The tests of the devices link every operator in both."""
        is_both = library.endswith("_4")
        with self.subTest(library=library, transform=transform):
            said = self.run_plan("--library", library, "--transform", transform, "--check-races",
                                 *(() if is_both else ("--mode", "ptx")), *words)
            self.assertEqual([mode["reference"][0]["verified"] for mode in said["modes"]], [True, True] if is_both else [True])
            self.assertEqual([output["verified"] for output in said["between"]], [True] if is_both else [])

    def test_every_operator_reduces(self):
        for size, operators in COMBINE.items():
            for operator in operators:
                self.assert_verified(f"reduce_{size}", operator, "--elements", 20000)

    def reduce_segments(self, operators_of_size):
        self.file("offsets.npy", offsets(3, 3, 40, 41, 1000, 9000, 9999))
        for size, operators in operators_of_size.items():
            for operator in operators:
                self.assert_verified(f"segmented_reduce_{size}", operator, "--input", "offsets=offsets.npy",
                                     "--set", "n=10000")

    def test_an_operator_of_each_size_reduces_segments(self):
        self.reduce_segments({size: operators[:1] for size, operators in COMBINE.items()})

    @long_test  # the test above has one of each size
    def test_every_operator_reduces_segments(self):
        self.reduce_segments({size: operators[1:] for size, operators in COMBINE.items()})

    def refuse_offsets(self, says, *numbers, words=("--set", "n=10")):
        self.file("offsets.npy", offsets(*numbers))
        done = self.refuse(3, "--library", "segmented_reduce_4", "--transform", "add_int32", "--input", "offsets=offsets.npy", *words,
                           says=f"offsets.npy: {says}", hint="write offsets that do not decrease and do not exceed the number of elements")
        self.assertIn("code:   invalid-npy", done.stderr)

    def test_offsets_that_decrease_are_refused(self):
        self.refuse_offsets("offset 2 is 3, less than offset 1, which is 5", 0, 5, 3, 10)

    def test_offsets_above_the_number_of_elements_are_refused(self):
        self.refuse_offsets("offset 3 is 11, above 10, the number of elements", 0, 5, 5, 11)
        self.refuse_offsets("offset 0 is 18446744073709551615, above 10, the number of elements", 2**64 - 1, 0)
        self.file("in.npy", npy("<i4", "(3,)", bytes(12)))
        self.refuse_offsets("offset 1 is 4, above 3, the number of elements", 0, 4, words=("--input", "in=in.npy"))

    def test_every_loader_is_reduced(self):
        for size, operator in (2, "sum_bytes"), (4, "sum_squares"), (8, "count_above"):
            self.assert_verified(f"transform_reduce_{size}", operator, "--elements", 20000)
        self.assert_verified("transform_reduce_8", "count_above", "--set", "state.threshold=5", "--elements", 1000)

    def test_computed_elements_are_reduced_by_the_operators_of_reduce(self):
        self.file("add.cu", "FATLINK_COMBINE(long long, a, b) { return a + b; }\n")
        self.file("add.json", '{"name": "add", "hooks": {"combine": {"parameters": ["a", "b"], "result": "a + b"}}}')
        for size, load, operator in ((4, "squares_float", "add_float"), (8, "squares_double", "add_double"),
                                     (4, "magnitudes_float", "max_float"), (4, "widen_float16", "add_float"),
                                     (4, "widen_bfloat16", "max_float"), (8, "widen_uint8", "add.cu"), (8, "indices", "add.cu")):
            self.assert_verified(f"transform_reduce_{size}", load, operator, "--elements", 20000)

    def test_every_bin_is_counted(self):
        for size, operator in (1, "byte_bins"), (4, "uniform_bins"), (4, "log2_bins"), (8, "grid_bins"):
            self.assert_verified(f"histogram_{size}", operator, "--elements", 20000)
        self.assert_verified("histogram_4", "uniform_bins", "--set", "bins=20000", "--set", "state.width=0.001",
                             "--set", "state.low=-1.7")

    def test_computed_elements_are_counted(self):
        for elements in 1, 33, 20000:
            self.assert_verified("load_histogram_4", "magnitudes_float", "uniform_bins", "--elements", elements)
        self.assert_verified("load_histogram_4", "magnitudes_float", "uniform_bins", "--set", "bins=20000", "--set", "state.width=0.001",
                             "--elements", 5000)

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
                    says="pair has 8 bytes: use the contract combine_8",
                    hint="pass a library for elements of 8 bytes, which has the contract combine_8; without a library state that contract")

    def test_a_computed_element_of_another_size_names_the_contract_for_it(self):
        self.file("load.cu", "FATLINK_LOAD(double, float, x) { return x; }\n")
        for words, contract in ((["--contract", "load_4"], "load_8"), (["--contract", "load_combine_4"], "load_combine_8")):
            done = self.fatlink("compile", "load.cu", "-o", "load.fatbin", *words, status=4)
            self.assertIn(f"double has 8 bytes: use the contract {contract}", done.stderr)

    def test_elements_without_fields_are_0_at_first(self):
        self.file("pair.cu", "struct pair { int a, b; };\nFATLINK_COMBINE(pair, x, y) { return {x.a + y.a, x.b + y.b}; }\n")
        said = self.run_plan("--library", "reduce_8", "--transform", "pair.cu", "--elements", 1000)
        self.assertTrue(said["between"][0]["verified"])
        self.refuse(2, "--library", "reduce_8", "--transform", "pair.cu", "--elements", "10", "--set", "init=1",
                    says="bytes8 has no values: its bytes have no meaning",
                    hint='state the fields of the struct in the .json beside the transform: "element": [{"name": …, "type": …}, …]')
        self.file("in.npy", npy("<f4", "(2,)", bytes(8)))
        self.refuse(4, "--library", "reduce_8", "--transform", "pair.cu", "--input", "in.npy",
                    says="in.npy has elements of float32; argument in has elements of bytes8", hint="or state the fields of the struct")


    def test_a_library_without_the_size_of_its_elements_is_explained(self):
        self.refuse(3, "--library", "reduce", "--transform", "add_float", says="reduce: no fatbin of that name is installed",
                    hint="did you mean reduce_N, for elements of N bytes (N is one of 1, 2, 4, 8, 16, 32)?")

    def test_an_operator_for_elements_of_another_size_names_the_library_for_it(self):
        for library, operator, says, hint in (
                ("reduce_4", "argmax", "for elements of 8 bytes (best)", "8 bytes: reduce_8; or a transform for combine_4/1"),
                ("exclusive_scan_8", "add_float", "for elements of 4 bytes (float)", "4 bytes: exclusive_scan_4; or a transform for combine_8/1"),
                ("select_4", "score_above", "for elements of 8 bytes", "8 bytes: select_8; or a transform for keep_4/1")):
            with self.subTest(library=library, operator=operator):
                done = self.refuse(4, "--library", library, "--transform", operator, says=says, hint="pass the library for elements of " + hint)
                self.assertIn("[contract-mismatch]", done.stderr)
                self.assertNotIn("plan-mismatch", done.stderr)

    def refuse_source(self, code, library, says, hint):
        self.file("op.cu", code)
        self.refuse(4, *(("--library", library) if library else ()), "--transform", "op.cu", "--elements", "10", says=says, hint=hint)

    def test_a_misspelt_macro_is_named_with_the_right_one(self):
        self.refuse_source("FATLINK_COMBIN(float, a, b) { return a + b; }\n", "reduce_4", "op.cu:1: error: ",
                           "unknown macro FATLINK_COMBIN; did you mean FATLINK_COMBINE(type, a, b) { … }?")

    def test_a_hook_of_another_contract_names_the_contracts_that_have_it(self):
        self.refuse_source("FATLINK_KEEP(float, x) { return x > 0; }\n", "reduce_4", "neither defines nor calls a hook of the contract "
                           "combine_4/1; it defines keep", "keep is a hook of keep_4, keep_store_4 and load_keep_4: pass a library with one of them")
        self.refuse_source("FATLINK_MAP1(float, float, x) { return x; }\n", "map2", "op.cu:1: error: ",
                           "FATLINK_MAP1 defines map_element, a hook of map1, and the source is compiled for map2/1: pass a library with it")

    def test_an_operator_of_a_struct_without_a_library_needs_a_contract(self):
        self.refuse_source("struct pair { float a, b; };\nFATLINK_COMBINE(pair, x, y) { return x; }\n", None, "op.cu:2: error: ",
                           "FATLINK_COMBINE defines combine, a hook of combine_N, load_combine_N, by_key_N and load_by_key_N, and the source is compiled for "
                           "apply_transform/1: pass a library with one of them, or state the contract (--contract NAME)")

    def test_a_hint_comes_before_a_long_log(self):
        self.file("op.cu", "struct pair { float a, b; };\nFATLINK_COMBINE(pair, x, y) { return x; }\n")
        said = self.fatlink("compile", "op.cu", "-o", "op.fatbin", status=4).stderr
        self.assertLess(said.index("hint: "), said.index("log:"))

    def test_an_operator_without_a_library_names_the_libraries_of_its_contract(self):
        self.file("op.cu", "FATLINK_COMBINE(float, a, b) { return a + b; }\n")
        self.refuse(2, "--transform", "op.cu", "--elements", "10", says="op.cu is for the contract combine_4, which ",
                    hint="select one: --library ")

    def test_a_load_without_a_library_names_the_libraries_that_include_its_contract(self):
        self.refuse(2, "--transform", "squares_float", "--elements", "10", says="squares_float is for the contract load_4, which 7 "
                    "installed libraries have: load_exclusive_scan_4, load_histogram_4, load_reduce_by_key_4, load_scan_4, "
                    "load_scan_by_key_4, load_select_4, transform_reduce_4", hint="select one: --library load_exclusive_scan_4")
        self.fatlink("check", "squares_float")

    def test_the_macros_of_a_source_tell_its_contract(self):
        for code, contract in (("FATLINK_COMBINE(float, a, b) { return a + b; }\n", "combine_4"),
                               ("FATLINK_COMBINE(double, a, b) { return a + b; }\n", "combine_8"),
                               ("FATLINK_LOAD(float, float, x) { return x; }\nFATLINK_COMBINE(float, a, b) { return a + b; }\n", "load_combine_4"),
                               ("FATLINK_LOAD(float, char, x) { return x; }\n", "load_4"),
                               ("FATLINK_LOAD_AT(double, float, in, index) { return in[index]; }\n", "load_8"),
                               ("FATLINK_KEEP(int, x) { return x > 0; }\n", "keep_4"),
                               ("FATLINK_STORE(float, int, x) { return x; }\nFATLINK_KEEP(int, x) { return x > 0; }\n", "keep_store_4"),
                               ("FATLINK_MAP1(float, float, x) { return x; }\n", "map1")):
            with self.subTest(code=code):
                self.file("op.cu", code)
                self.assertIn(f"contract {contract}/1", self.fatlink("compile", "op.cu", "-o", "op.fatbin").stdout)
                self.fatlink("check", "op.cu")

    def test_transforms_may_be_arguments_without_an_option(self):
        self.file("op.cu", "FATLINK_COMBINE(float, a, b) { return a + b; }\n")
        for words in (("op.cu", "--library", "reduce_4"), ("--library", "convert", "load_int8", "store_float16")):
            said = self.fatlink_json("run", "--device", "cpu", "--elements", "100", *words)
            self.assertEqual(len(said["files"]), len([word for word in words if not word.startswith("--")]))

    def test_the_form_of_a_sidecar_verifies_a_sum(self):
        self.file("op.cu", "FATLINK_COMBINE(float, a, b) { return a + b; }\n")
        said = self.fatlink("run", "--device", "cpu", "--elements", "1000", "--library", "reduce_4", "op.cu").stdout
        self.file("op.json", said[said.index("{"):said.rindex("}") + 1])
        (result,) = self.fatlink_json("run", "--device", "cpu", "--elements", "1000", "--library", "reduce_4", "op.cu")["modes"][0]["reference"]
        self.assertTrue(result["verified"], result["reason"])

    def test_a_library_passed_as_a_transform_is_named(self):
        for words in (["convert"], ["--transform", "convert"]):
            self.refuse(2, *words, says="convert is a library, not a transform", hint="pass it with --library convert")
        self.refuse(2, "--library", "reduce_4", "convert", says="convert is a library, not a transform", hint="pass one library, with --library")

    def test_a_missing_operator_is_named_with_its_macro(self):
        self.refuse_source("__device__ float add(float a, float b) { return a + b; }\n", "reduce_4", "it defines ",
                           "which FATLINK_COMBINE(type, a, b) { … } defines")


class ComputedInputs(PlanTest):
    """The example of docs/algorithms.md."""

    def setUp(self):
        super().setUp()
        if not os.environ.get("FATLINK_SOURCE"):
            self.skipTest("FATLINK_SOURCE is not set: the source is not there")
        text = (pathlib.Path(os.environ["FATLINK_SOURCE"]) / "docs/algorithms.md").read_text()
        (self.text,) = re.findall(r"^## Computed inputs$(.*?)^## ", text, re.MULTILINE | re.DOTALL)

    def test_the_commands_of_the_document_give_its_results(self):
        for name, code in re.findall(r"^```cuda\n// (\w+\.cu)[^\n]*\n(.*?)^```", self.text, re.MULTILINE | re.DOTALL):
            self.file(name, code)
        self.file("steps.npy", npy("<i2", "(4,)", struct.pack("<4h", 1, -2, 3, 4)))
        self.file("x.npy", npy("<f4", "(4,)", struct.pack("<4f", 1, 2, 4, 8)))
        self.file("y.bin", struct.pack("<4f", 10, 1, 0, 1))
        self.file("order.bin", struct.pack("<4I", 3, 0, 0, 2))
        commands = re.findall(r"^\$ fatlink (.*)$", self.text, re.MULTILINE)
        rows = re.findall(r"^\| \d \|.*\| ([\d ]+) \|$", self.text, re.MULTILINE)
        self.assertEqual((len(commands), len(rows)), (4, 4))
        for command, row in zip(commands, rows):
            with self.subTest(command=command):
                results = self.fatlink_json(*command.split(), "--device", "cpu", "--check-races")["results"]
                for mode in "ptx", "lto":
                    self.assertEqual([result[mode] for result in results if result["output"] == "out"], row.split())


class Lists(CliTest):
    def test_transforms_belong_to_the_libraries_of_their_contract(self):
        (argmax,) = self.fatlink_json("list", "argmax")["fatbins"]
        names = {fitting["library"]: fitting["works"] for fitting in argmax["libraries"]}
        self.assertEqual(names.get("reduce_8"), True)
        self.assertEqual(names.get("segmented_reduce_8"), True)
        self.assertNotIn("reduce_4", names)
        self.assertEqual(names.get("transform_reduce_8"), True)
        self.assertNotIn("load_select_8", names)

    def test_libraries_have_different_summaries(self):
        fatbins = self.fatlink_json("list", "--kind", "library")["fatbins"]
        summaries = [entry["summary"] for entry in fatbins if entry["name"] != "apply_transform"]
        self.assertEqual(len(summaries), len(set(summaries)))


class Overlaps(CliTest):
    """What a compiler makes of the kernels that begin before what is queued before them has ended."""
    OPERATORS = {"map1": "scale_add", "map2": "subtract_int16", "map3": "multiply_add", "reduce_4": "add_float", "reduce_16": "multiply_matrices",
                 "transform_reduce_4": "sum_squares", "scan_4": "add_float", "exclusive_scan_4": "add_float", "select_4": "positive_float",
                 "partition_4": "positive_float", "transform_select_4": "halves_of_positive", "sort_4": "less_float",
                 "sort_pairs_4": "less_float"}
    MEMORY = re.compile(r"^\s+(?:@!?%p\d+ )?((?:ld|st|atom|red)\.(?!param|shared|local)\S*)", re.MULTILINE)

    def kernels(self, library, transform):
        """The text of each kernel of a link for sm_90 as PTX."""
        self.fatlink("link", "--target", "sm_90", "--emit", "ptx", "-o", "out.ptx", library, transform)
        return dict(re.findall(r"\.entry (\w+)\(.*?^\{(.*?)^\}", (self.folder / "out.ptx").read_text(), re.MULTILINE | re.DOTALL))

    def test_no_kernel_touches_memory_before_it_waits(self):
        for library, transform in self.OPERATORS.items():
            launches = json.loads((SHARE / f"{library}.json").read_text())["launches"]
            self.assertTrue(launches[0].get("overlap"), library)
            kernels = self.kernels(library, transform)
            for name in {launch["kernel"] for launch in launches if launch.get("overlap")}:
                with self.subTest(library=library, kernel=name):
                    before = kernels[name].split("griddepcontrol.wait", 1)
                    self.assertEqual(len(before), 2)
                    self.assertEqual(self.MEMORY.findall(before[0]), [])

    def test_loads_of_neighbors_are_joined(self):
        kernel = self.kernels("map1", "scale_add")["map1_by_4"]
        self.assertIn("ld.global.v4.f32", kernel)
        self.assertIn("st.global.v4.f32", kernel)


if __name__ == "__main__":
    unittest.main()
