# SPDX-License-Identifier: Apache-2.0
"""Launch plans on several devices: which are divided, and which are refused."""
import json

from fatlink_cli import HOOK
from plan_case import PlanTest, floats, npy

KEPT = 'extern "C" __device__ bool keep(float x) { return x > 0; }'
TWO = ("run", "--device", "cpu,cpu")


class PlanOnDevices(PlanTest):
    def refuse_plan(self, *words, says):
        return self.assert_fails(2, *TWO, *words, says=["cannot be divided among several devices: ", says])

    def test_what_depends_on_other_elements_is_refused(self):
        for library, transform, reason in (
                ("reduce_4", "add_float", "out = fold(combine, in, init) folds all elements into one value, and the initial value must be used only once"),
                ("scan_4", "add_float", "depends on all elements before each one"),
                ("exclusive_scan_4", "add_float", "depends on all elements before each one"),
                ("segmented_reduce_4", "add_float", "folds all elements into one value"),
                ("sort_4", "less_float", "out = sort(less, in) depends on all elements, in order"),
                ("select_4", "positive_float", "out = filter(keep, in) depends on all elements, in order"),
                ("stencil", "smooth", "depends on the neighbors of each element"),
                ("convert", "load_float32", "depends on the index of each element")):
            with self.subTest(library=library):
                self.refuse_plan("--library", library, "--transform", transform, says=reason)

    def test_outputs_that_the_plan_does_not_describe_are_refused(self):
        self.refuse_plan("--library", "transform_select_4", "--transform", "halves_of_positive",
                         says="it does not state how out is computed")

    def with_table(self, count):
        """A library with a second input, of `count` elements, which no element of the output depends on by its place."""
        library = self.compile("look", """
            extern "C" __device__ float user_transform(float);
            extern "C" __global__ void look(const float* in, const float* table, float* out, size_t n)
            {
              size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
              if (i < n) out[i] = user_transform(in[i]) + table[3];
            }""")
        self.file("look.json", json.dumps({
            "name": "look", "summary": "adds an entry of a table",
            "arguments": [{"name": "in", "role": "input", "type": "float32", "count": "n"},
                          {"name": "table", "role": "input", "type": "float32", "count": count},
                          {"name": "out", "role": "output", "type": "float32", "count": "n"},
                          {"name": "n", "role": "size"}],
            "launches": [{"kernel": "look", "grid": "ceil(n / 64)", "block": 64, "arguments": ["in", "table", "out", "n"]}],
            "computes": {"out": "map(user_transform, in)"}}))
        return "--library", library, "--transform", self.compile("keep", HOOK)

    def test_inputs_that_are_not_divided_are_copied_to_every_device(self):
        self.file("in.npy", floats(*range(1000)))
        self.file("table.npy", floats(0, 0, 0, 0.5))
        self.fatlink(*TWO, *self.with_table("4"), "--input", "in=in.npy", "--input", "table=table.npy", "--output", "out.npy")
        self.assertEqual((self.folder / "out.npy").read_bytes(), floats(*(i + 0.5 for i in range(1000))))

    def test_inputs_of_other_extents_are_refused(self):
        self.refuse_plan(*self.with_table("n + 1"), says="the extents of table do not follow from a part of n")

    def with_rows(self):
        """A library whose arrays have `n` rows of 4 elements."""
        library = self.compile("rows", """
            extern "C" __device__ float user_transform(float);
            extern "C" __global__ void rows(const float* in, float* out, size_t n)
            {
              size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
              if (i < 4 * n) out[i] = user_transform(in[i]);
            }""")
        self.file("rows.json", json.dumps({
            "name": "rows", "summary": "maps rows",
            "arguments": [{"name": "in", "role": "input", "type": "float32", "shape": ["n", 4]},
                          {"name": "out", "role": "output", "type": "float32", "shape": ["n", 4]},
                          {"name": "n", "role": "size"}],
            "launches": [{"kernel": "rows", "grid": "ceil(4 * n / 64)", "block": 64, "arguments": ["in", "out", "n"]}],
            "computes": {"out": "map(user_transform, in)"}}))
        return "--library", library, "--transform", self.compile("keep", HOOK)

    def test_elements_of_rows_are_printed_up_to_the_number(self):
        self.file("in.npy", npy("<f4", "(4, 4)", floats(*range(16))[-64:]))
        for number in 6, 9, 13:
            said = self.fatlink_json(*TWO, *self.with_rows(), "--input", "in.npy", "--print", number)
            self.assertEqual([row["index"] for row in said["results"]], [f"{i // 4}, {i % 4}" for i in range(number)])
            self.assertEqual([row["lto"] for row in said["results"]], [str(i) for i in range(number)])

    def test_states_are_those_of_every_device(self):
        self.file("in.npy", floats(*range(1000)))
        words = ("--transform", "scale_add", "--input", "in.npy", "--set", "state.factor=2", "--output", "out.npy")
        self.fatlink(*TWO, *words)
        out = (self.folder / "out.npy").read_bytes()
        self.fatlink("run", "--device", "cpu", *words)
        self.assertEqual((self.folder / "out.npy").read_bytes(), out)

    def test_an_expected_array_is_divided_as_the_output_is(self):
        self.file("in.npy", floats(*range(1000)))
        words = (*TWO, "--transform", "float_to_half", "--input", "in.npy")
        self.fatlink("run", "--device", "cpu", *words[3:], "--output", "y.npy")
        said = self.fatlink_json(*words, "--expect", "y.npy")
        self.assertEqual(said["modes"][0]["expected"][0]["elements"], 1000)
        data = bytearray((self.folder / "y.npy").read_bytes())
        data[-2] ^= 0x40
        self.file("z.npy", bytes(data))
        mode = self.fatlink_json(*words, "--expect", "z.npy", status=1)["modes"][0]
        self.assertEqual([row["verified"] for row in mode["devices"]], [True, False])
        self.assertEqual(mode["expected"][0]["first_failure"]["index"], 999)

    def test_expected_arrays_that_cannot_be_divided_are_refused(self):
        self.file("in.npy", floats(*range(1000)))
        self.fatlink("run", "--device", "cpu", "--transform", "byte_bins", "--output", "bins.npy")
        self.assert_fails(2, *TWO, "--transform", "byte_bins", "--expect", "bins.npy", says=["--expect counts: counts is the sum of the counts of several devices"])
        self.file("y.npy", npy("<f2", "(999,)", bytes(1998)))
        self.assert_fails(2, *TWO, "--transform", "float_to_half", "--elements", 1000, "--expect", "y.npy", says=["the array has 999 elements, which is not a multiple of n = 1000"])

    def test_no_comparison_with_cpu(self):
        self.assert_fails(2, *TWO, "--transform", "float_to_half", "--compare-cpu", says=["--compare-cpu: the results of several devices are not compared with cpu"])

    def with_counts(self, computes, out="uint32", length=None):
        """A library whose plan, not its kernel, states that `out` is computed by `computes`, and `count` counts."""
        library = self.compile("count", """
            extern "C" __device__ bool keep(float);
            extern "C" __global__ void count_kept(const float* in, void*, unsigned* count, size_t n) { *count = n > 0 && keep(in[0]); }""")
        output = {"name": "out", "role": "output", "type": out, "count": "n", **({"length": length} if length else {})}
        self.file("count.json", json.dumps({
            "name": "count", "summary": "counts",
            "arguments": [{"name": "in", "role": "input", "type": "float32", "count": "n"}, output,
                          {"name": "count", "role": "output", "type": "uint32", "count": 1},
                          {"name": "n", "role": "size"}],
            "launches": [{"kernel": "count_kept", "grid": 1, "block": 1, "arguments": ["in", "out", "count", "n"]}],
            "computes": {"out": computes, "count": "count(keep, in)"}}))
        return "--library", library, "--transform", self.compile("kept", KEPT)

    def test_counts_into_other_types_than_integers_are_refused(self):
        for element in "float32", "complex128":
            with self.subTest(element=element):
                self.refuse_plan(*self.with_counts("count(keep, in)", element),
                                 says="out = count(keep, in) counts into out, whose elements are not integers")

    def test_outputs_with_a_length_are_refused(self):
        self.refuse_plan(*self.with_counts("map(keep, in)", length="count"),
                         says="out = map(keep, in) has a length that the launches determine")
