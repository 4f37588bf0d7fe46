# SPDX-License-Identifier: Apache-2.0
"""Launch plans beside a library's fatbin: check compares them with the kernels, inspect shows them."""
import copy
import json
import shutil
import unittest

from fatlink_cli import SHARE, CliTest

LIBRARY = """extern "C" __device__ float combine(float, float);
extern "C" __global__ void reduce_tiles(float const* in, float* out, unsigned long n, float init)
{
  if (threadIdx.x == 0) out[blockIdx.x] = combine(n == 0 ? init : in[0], init);
}
"""
TRANSFORM = 'extern "C" __device__ float combine(float a, float b) { return a + b; }\n'
PLAN = {
    "name": "reduce", "summary": "fold an array", "contract": "reduce/1",
    "arguments": [{"name": "in", "role": "input", "type": "element", "count": "n"},
                  {"name": "out", "role": "output", "type": "element", "may_overlap": ["in"]},
                  {"name": "tmp", "role": "scratch", "type": "element", "count": "blocks"},
                  {"name": "n", "role": "size"},
                  {"name": "init", "role": "value", "type": "float32", "default": "-inf"}],
    "let": {"blocks": "min(occupancy(reduce_tiles) * multiprocessors, ceil(n / 8192))"},
    "launches": [{"kernel": "reduce_tiles", "grid": "blocks", "block": 512, "arguments": ["in", "tmp", "n", "init"]},
                 {"kernel": "reduce_tiles", "grid": 1, "block": [32, 2], "shared": 64, "overlap": True,
                  "arguments": ["tmp", "out", "blocks", "init"]}],
    "computes": {"out": "fold(combine, in, init)"},
    "depth": {"out": "n"},
}


class Plans(CliTest):
    def setUp(self):
        super().setUp()
        self.library = self.compile("reduce", LIBRARY)
        self.transform = self.compile("sum", TRANSFORM)

    def write(self, change=lambda plan: None, name="reduce"):
        plan = copy.deepcopy(PLAN)
        change(plan)
        self.file(f"{name}.json", json.dumps(plan))

    def findings(self, *inputs, status=0, **options):
        said = self.fatlink_json("check", *inputs, status=status, **options)
        return [[finding for finding in target["findings"] if finding["id"] == "plan-mismatch"]
                for target in said["targets"]]

    def test_check_accepts_a_plan_that_fits(self):
        self.write()
        self.assertEqual(self.findings("reduce.fatbin", "sum.fatbin"), [[], []])

    def test_check_refuses_a_plan_that_does_not_fit_and_shows_both_signatures(self):
        self.write(lambda plan: plan["launches"][1]["arguments"].pop())
        for found in self.findings("reduce.fatbin", "sum.fatbin", status=4):
            self.assertEqual(len(found), 1)
            self.assertEqual(found[0]["severity"], "error")
            self.assertIn("reduce.json: launches[1] passes reduce_tiles(tmp: pointer, out: pointer, blocks: uint64), but ",
                          found[0]["message"])
            self.assertIn("reduce.fatbin has reduce_tiles(u64, u64, u64, f32): 3 arguments for 4 parameters",
                          found[0]["message"])
        text = self.fatlink("check", "reduce.fatbin", "sum.fatbin", status=4).stdout
        self.assertIn("[plan-mismatch]", text)
        self.assertIn("does not link", text)

    def test_check_refuses_a_plan_of_a_kernel_that_does_not_exist(self):
        self.write(lambda plan: [launch.update(kernel="reduce_tile") for launch in plan["launches"]]
                   and plan["let"].update(blocks="1"))
        found = self.findings("reduce.fatbin", "sum.fatbin", status=4)[0]
        self.assertEqual(len(found), 2)
        self.assertIn("has no kernel reduce_tile", found[0]["message"])
        self.assertIn("did you mean reduce_tiles?", found[0]["hint"])

    def test_check_refuses_a_plan_that_names_an_unknown_hook(self):
        self.write(lambda plan: plan["computes"].update(out="fold(combines, in, init)"))
        found = self.findings("reduce.fatbin", "sum.fatbin", status=4)[0]
        self.assertEqual([finding["symbol"] for finding in found], ["combines"])
        self.assertEqual(found[0]["message"], "reduce.json: computes.out: combines is not a hook of reduce.fatbin")
        self.assertEqual(found[0]["hint"], "did you mean combine? the hooks are: combine")

    def test_check_refuses_a_reference_that_does_not_fit_the_plan(self):
        self.write()
        stated = {"name": "sum", "summary": "a + b", "element": "float32",
                  "hooks": {"combine": {"parameters": ["a"], "result": "a"}}}
        self.file("sum.json", json.dumps(stated))
        for found in self.findings("reduce.fatbin", "sum.fatbin", status=4):
            self.assertEqual([(finding["message"], finding["hint"]) for finding in found], [
                ('sum.json: hook combine: has 1 parameter, and the plan\'s "computes" passes 2',
                 'name one parameter for each operand of "computes"')])
        stated["hooks"]["combine"] = {"parameters": ["a", "b"], "result": "a + b"}
        self.file("sum.json", json.dumps(stated))
        self.assertEqual(self.findings("reduce.fatbin", "sum.fatbin"), [[], []])

    def test_compile_warns_of_a_reference_that_does_not_fit_the_installed_plan(self):
        good = {"name": "half", "summary": "x / 2", "element": "float32", "hooks": {"load_element": {"parameters": ["x", "i"], "result": "x / 2"}}}
        self.file("half.cu", 'extern "C" __device__ float load_element(void const* in, std::size_t i, void const*)\n'
                             '{ return static_cast<float const*>(in)[i] / 2; }\n')
        compile_words = ("compile", "half.cu", "--contract", "convert", "-o", "out.fatbin")
        self.file("half.json", json.dumps(good))
        self.assertEqual(self.fatlink(*compile_words).stderr, "")
        good["hooks"]["load_element"]["parameters"] = ["x"]
        self.file("half.json", json.dumps(good))
        self.assertIn('half.json: hook load_element: has 1 parameter, and the plan\'s "computes" passes 2 [plan-mismatch]: '
                      'name one parameter for each operand', self.fatlink(*compile_words).stderr)

    def test_check_warns_of_elements_whose_type_nothing_states(self):
        self.file("double.cu", 'extern "C" __device__ void store_element(void* out, std::size_t i, float x, void const*)\n'
                               '{ static_cast<double*>(out)[i] = x; }\n')
        said = self.fatlink_json("check", "convert", "double.cu", "--contract", "convert")
        for target in said["targets"]:
            self.assertEqual([(finding["id"], finding["severity"], finding["message"]) for finding in target["findings"]],
                             [("element-mismatch", "warning", "the type of argument out of plan convert is not known: no input states "
                               "the type of the elements of store_element")])
        self.file("double.json", json.dumps({"name": "d", "summary": "d", "element": "float64", "hooks": {
            "store_element": {"parameters": ["x", "i"], "result": "x"}}}))
        for target in self.fatlink_json("check", "convert", "double.cu", "--contract", "convert")["targets"]:
            self.assertEqual(target["findings"], [])

    def test_check_refuses_a_sidecar_that_states_another_hook_than_its_input_has(self):
        self.write()
        self.file("sum.json", json.dumps({"name": "sum", "summary": "a + b",
                                          "hooks": {"combin": {"parameters": ["a", "b"], "result": "a + b"}}}))
        self.assert_fails(3, "check", "reduce.fatbin", "sum.fatbin",
                          says=['sum.json: "hooks" has "combin", which is not a hook of sum.fatbin (combine)'],
                          hint='did you mean "combine"?')

    def test_a_size_that_a_hook_gets_is_no_element_of_it(self):
        for name in ("convert", "load_float32"):
            shutil.copyfile(SHARE / f"{name}.fatbin", self.folder / f"{name}.fatbin")
        plan = json.loads((SHARE / "convert.json").read_text())
        for key in ("hooks", "element", "error_model"):
            plan.pop(key, None)
        plan["computes"] = {"out": "map(store_element, map(load_element, n, index), index)"}
        self.file("convert.json", json.dumps(plan))
        said = self.fatlink_json("check", "convert.fatbin", "load_float32.fatbin")
        self.assertEqual([finding["id"] for target in said["targets"] for finding in target["findings"]
                          if finding["id"] == "element-mismatch"], [])

    def test_check_of_a_transform_uses_the_plan_of_the_installed_library(self):
        # Of another name than the hooks of shipped libraries, which are checked, too, where no contract is stated.
        for name, text in (("reduce", LIBRARY), ("sum", TRANSFORM)):
            self.compile(name, text.replace("combine", "merge_values"))
        computes = {"out": "fold(merge_values, in, init)"}
        self.write(lambda plan: (plan.update(computes=computes), plan["launches"][0]["arguments"].pop()))
        env = {"FATLINK_PATH": str(self.folder)}
        found = self.findings("sum.fatbin", status=4, env=env)
        self.assertEqual([len(one) for one in found], [1, 1])
        self.write(lambda plan: plan.update(computes=computes))
        self.assertEqual(self.findings("sum.fatbin", env=env), [[], []])

    def test_a_plan_that_cannot_be_read_is_refused_with_its_path(self):
        self.write(lambda plan: plan["launches"][0].update(grid="block"))
        for words in (["check", "reduce.fatbin", "sum.fatbin"], ["inspect", "reduce.fatbin"]):
            self.assert_fails(3, *words, says=['reduce.json: launches[0].grid: "block": unknown name block'],
                              hint="did you mean blocks?")
        self.write(lambda plan: plan.update(sha256=64 * "0"))
        self.assert_fails(3, "check", "reduce.fatbin", says=["is not the file that reduce.json states"])

    def test_bad_plans_have_the_code_invalid_plan(self):
        self.write(lambda plan: plan["let"].update(blocks="blocks + 1"))
        done = self.fatlink("check", "reduce.fatbin", "--json", status=3)
        error = json.loads(done.stdout)["error"]
        self.assertEqual((error["stage"], error["code"]), ("sidecar", "invalid-plan"))
        self.assertIn("let.blocks: blocks needs itself: blocks → blocks", error["message"])

    def test_inspect_shows_the_plan_as_json(self):
        self.write()
        plan = self.fatlink_json("inspect", "reduce.fatbin")["files"][0]["plan"]
        self.assertEqual((plan["name"], plan["contract"], plan["file"]), ("reduce", "reduce/1", "reduce.json"))
        self.assertEqual(plan["arguments"][0], {"name": "in", "role": "input", "type": "element", "shape": ["n"]})
        self.assertEqual(plan["arguments"][1]["may_overlap"], ["in"])
        self.assertEqual(plan["arguments"][4]["default"], '"-inf"')
        self.assertEqual(plan["let"], PLAN["let"])
        self.assertEqual(plan["launches"][1], {
            "kernel": "reduce_tiles", "grid": ["1", "1", "1"], "block": ["32", "2", "1"], "shared": "64",
            "overlap": True, "arguments": ["tmp", "out", "blocks", "init"],
            "signature": "reduce_tiles(tmp: pointer, out: pointer, blocks: uint64, init: float32)"})
        self.assertEqual(plan["computes"], PLAN["computes"])
        self.assertEqual(plan["depth"], PLAN["depth"])

    def test_inspect_shows_the_elements_as_text(self):
        self.assertIn("elements    load_element: float, 4 bytes", self.fatlink("inspect", "load_float32").stdout)

    def test_inspect_shows_the_plan_as_text(self):
        self.write()
        text = self.fatlink("inspect", "reduce.fatbin").stdout
        for line in ("  plan reduce: fold an array (contract reduce/1)",
                     "    input       in: element[n]",
                     "    output      out: element[1]",
                     "    size        n: uint64",
                     '    value       init: float32 = "-inf"',
                     "    let         blocks = min(occupancy(reduce_tiles) * multiprocessors, ceil(n / 8192))",
                     "    launch      reduce_tiles(in: pointer, tmp: pointer, n: uint64, init: float32), "
                     "grid blocks, block 512",
                     "    launch      reduce_tiles(tmp: pointer, out: pointer, blocks: uint64, init: float32), "
                     "grid 1, block 32 x 2, shared 64, overlaps the launch before",
                     "    computes    out = fold(combine, in, init)",
                     "    depth       out = n"):
            self.assertIn(line + "\n", text)

    def test_inspect_shows_structs_and_the_order_of_lets(self):
        def change(plan):
            plan["types"] = {"range": [{"name": "low", "type": "float32"}, {"name": "stride", "type": "int32"}]}
            plan["arguments"].append({"name": "bounds", "role": "value", "type": "range", "default": {"low": 0, "stride": 1}})
            plan["let"]["a_half"] = "blocks / 2"
            plan["launches"][1]["arguments"][2] = {"value": "a_half + 1", "type": "int64"}
        self.write(change)
        text = self.fatlink("inspect", "reduce.fatbin").stdout
        self.assertIn("    type        range: struct {low: float32, stride: int32}\n", text)
        self.assertIn("ceil(n / 8192))\n    let         a_half = blocks / 2\n", text)
        self.assertIn("out: pointer, a_half + 1: int64, init: float32)", text)
        plan = self.fatlink_json("inspect", "reduce.fatbin")["files"][0]["plan"]
        self.assertEqual(plan["types"], {"range": [{"name": "low", "type": "float32"}, {"name": "stride", "type": "int32"}]})
        self.assertEqual(plan["let_order"], ["blocks", "a_half"])

    def test_inspect_shows_the_alignment_and_the_hook_of_an_argument(self):
        self.assertIn("    input       in: element[n], of hook load_element\n", self.fatlink("inspect", "convert").stdout)
        self.assertIn("    input       in: element[n], aligned to 4 bytes\n", self.fatlink("inspect", "reduce_4").stdout)
        self.assertIn("    size        n: uint64, limited by limit\n", self.fatlink("inspect", "reduce_4").stdout)
        self.assertIn("    size        n: uint64, at most 8589934592, limited by limit\n", self.fatlink("inspect", "radix_sort_4").stdout)
        facts = [(argument.get("alignment"), argument.get("hook")) for library in ("convert", "reduce_4")
                 for argument in self.fatlink_json("inspect", library)["files"][0]["plan"]["arguments"]]
        self.assertEqual(facts, [(None, "load_element"), (None, "store_element"), (None, None), (None, "load_element"),
                                 (None, "store_element"), (4, None), (4, None), (None, None), (None, None), (None, None),
                                 (None, None)])

    def test_inspect_shows_no_plan_where_there_is_none(self):
        self.file("reduce.json", '{"name": "reduce", "summary": "s"}')
        self.assertNotIn("plan", self.fatlink_json("inspect", "reduce.fatbin")["files"][0])

    def test_list_shows_the_summary_of_a_plan(self):
        self.write()
        text = self.fatlink("list", env={"FATLINK_PATH": str(self.folder)}).stdout
        self.assertIn("fold an array", text)

    def test_a_plan_beside_ptx_is_its_sidecar(self):
        self.write(name="reduce.ptx")
        text = self.fatlink("inspect", "--ptx", "reduce.fatbin").stdout
        self.file("reduce.ptx", text)
        self.assertEqual(self.fatlink_json("inspect", "reduce.ptx")["files"][0]["plan"]["file"], "reduce.ptx.json")


class Elements(CliTest):
    """The transforms of convert record the types of their elements."""

    def library(self, change):
        shutil.copy(SHARE / "convert.fatbin", self.folder)
        sidecar = json.loads((SHARE / "convert.json").read_text())
        change({argument["name"]: argument for argument in sidecar["arguments"]})
        self.file("convert.json", json.dumps(sidecar))

    def mismatches(self, *inputs, status=4):
        said = self.fatlink_json("check", *inputs, status=status)
        return [[finding for finding in target["findings"] if finding["id"] == "element-mismatch"]
                for target in said["targets"]]

    def test_a_transform_for_another_type_than_the_plan_states_is_refused(self):
        def state_types(arguments):
            for name, kind in (("in", "float32"), ("out", "float16")):
                arguments[name].pop("hook")
                arguments[name]["type"] = kind
        self.library(state_types)
        for found in self.mismatches("convert.fatbin", "load_float32", "store_int8"):
            self.assertEqual([finding["symbol"] for finding in found], ["store_element"])
            self.assertIn("records int8 for the elements of store_element, and convert.json states float16 for out",
                          found[0]["message"])
        (found, _) = self.mismatches("convert.fatbin", "load_float16", "store_float16")
        self.assertIn("load_float16.fatbin records float16 for the elements of load_element, and convert.json states "
                      "float32 for in", found[0]["message"])
        self.assertEqual(self.mismatches("convert.fatbin", "load_float32", "store_float16", status=0), [[], []])

    def test_transforms_for_different_types_are_refused_where_the_plan_has_one(self):
        self.library(lambda arguments: [arguments[name].pop("hook") for name in ("in", "out")])
        for found in self.mismatches("convert.fatbin", "load_float16", "store_int8"):
            self.assertEqual(len(found), 1)
            self.assertRegex(found[0]["message"], "load_float16.fatbin records float16 for the elements of load_element, "
                             "and .*store_int8.fatbin records int8 for those of store_element")

    def test_every_pair_of_the_installed_transforms_is_accepted(self):
        for loader in ("float32", "float16", "int8"):
            for storer in ("float32", "float16", "int8"):
                self.assertEqual(self.mismatches("convert", f"load_{loader}", f"store_{storer}", status=0), [[], []])


if __name__ == "__main__":
    unittest.main()
