# SPDX-License-Identifier: Apache-2.0
"""fatlink_add_fatbin(… PLAN …) with real nvcc."""
import copy
import json
import re
import unittest

from build_side import CONTRACT, SOURCE, ContractsCase, wait_for_another_time

LIBRARY = ('extern "C" __global__ void scale(float const* in, float* out, unsigned long n)'
           " { if (threadIdx.x < n) out[threadIdx.x] = hook(in[threadIdx.x]); }\n")
PLAN = {
    "name": "scale", "summary": "out[i] = hook(in[i]); \"quoted\", µ \\ [x]; y", "contract": "c/3",
    "arguments": [{"name": "in", "role": "input", "type": "float32", "count": "n"},
                  {"name": "out", "role": "output", "type": "float32", "count": "n"},
                  {"name": "n", "role": "size"}],
    "launches": [{"kernel": "scale", "grid": 1, "block": "max(1, n)", "arguments": ["in", "out", "n"]}],
    "computes": {"out": "map(hook, in)"},
}
REFERENCE = {"hook": "hook", "reference": "2*x", "tolerance_ulp": 1, "name": PLAN["name"], "summary": PLAN["summary"]}


class Plans(ContractsCase):
    LISTS = CONTRACT + "fatlink_add_fatbin(t SOURCES library.cu CONTRACT c PLAN p.json)\n"
    BOTH = LISTS.replace("PLAN", "REFERENCE r.json PLAN")

    def setUp(self):
        super().setUp()
        self.write("library.cu", LIBRARY)
        self.write("p.json", json.dumps(PLAN))
        self.write("r.json", json.dumps(REFERENCE))

    def sidecar(self):
        return json.loads((self.folder / "b/t.json").read_text())

    def refuse(self, *says, change=lambda plan: None, lists=LISTS):
        plan = copy.deepcopy(PLAN)
        change(plan)
        self.write("p.json", json.dumps(plan))
        self.assert_build_fails(lists, *says)
        self.assertFalse((self.folder / "b/t.json").exists())

    def test_the_plan_lies_beside_the_fatbin_with_its_digest(self):
        self.built(self.LISTS)
        built = self.sidecar()
        self.assertEqual(len(built.pop("sha256")), 64)
        self.assertEqual(built, PLAN)
        self.assertIn("plan scale: out[i] = hook(in[i])", self.inspect("b/t.fatbin"))

    def test_the_example_of_the_documentation_is_built(self):
        example = re.search(r"```json\n(.*?)```", (SOURCE / "docs/launch_plans.md").read_text(), re.DOTALL)[1]
        self.write("p.json", example.replace("reduce/1", "c/3").replace("combine", "hook"))
        self.write("library.cu", """struct window { float low; int count; };
extern "C" __global__ void reduce_tiles(float const* in, float* out, unsigned long n, float init, window, void*)
{
  out[0] = hook(n == 0 ? init : in[0]);
}
""")
        self.built(self.LISTS)
        self.assertIn("launch      reduce_tiles(in: pointer, partial: pointer, n: uint64, init: element, win: window, "
                      "state: pointer), grid blocks, block 512", self.inspect("b/t.fatbin"))

    def test_a_changed_plan_is_built_again(self):
        self.built(self.LISTS)
        wait_for_another_time()
        self.write("p.json", json.dumps({**PLAN, "summary": "new"}))
        self.assertEqual(self.build().returncode, 0)
        self.assertEqual(self.sidecar()["summary"], "new")

    def test_a_reference_and_a_plan_become_one_file(self):
        self.built(self.BOTH)
        built = self.sidecar()
        self.assertEqual(len(built.pop("sha256")), 64)
        self.assertEqual(built, {**REFERENCE, **PLAN})

    def test_a_reference_may_only_describe(self):
        self.write("r.json", json.dumps({"name": PLAN["name"]}))
        self.built(self.BOTH)
        self.assertEqual(self.sidecar()["computes"], PLAN["computes"])

    def test_a_reference_with_another_name_is_refused(self):
        self.write("r.json", json.dumps({**REFERENCE, "name": "other"}))
        self.refuse(f"{self.folder}/r.json: ", '"name" is "other"', "state the same in both", lists=self.BOTH)

    def test_a_plan_that_cannot_be_read_is_refused(self):
        self.refuse(f'{self.folder}/p.json: launches[0].grid: "m": unknown name m',
                    change=lambda plan: plan["launches"][0].update(grid="m"))
        self.refuse(f'{self.folder}/p.json: sha256: is stated in a PLAN', "the build adds it",
                    change=lambda plan: plan.update(sha256=64 * "0"))
        self.refuse(f"{self.folder}/p.json: hook: describes a transform", "state it in the REFERENCE",
                    change=lambda plan: plan.update(hook="hook"))

    def test_a_plan_for_another_contract_is_refused(self):
        self.refuse('"contract" is "c/2"; ', "t.fatbin states c/3", change=lambda plan: plan.update(contract="c/2"))
        self.write("library.cu", LIBRARY.replace("hook(in[threadIdx.x])", "in[threadIdx.x]"))
        self.refuse('"contract" is "c/3"; ', "t.fatbin states no contract",
                    lists=self.LISTS.replace("CONTRACT c ", ""))

    def test_a_plan_that_names_an_unknown_hook_is_refused(self):
        self.refuse(f"{self.folder}/p.json: computes.out: hooks is not a hook of ", "t.fatbin [plan-mismatch]",
                    "did you mean hook? the hooks are: hook",
                    change=lambda plan: plan["computes"].update(out="map(hooks, map(hook, in))"))
        self.refuse(f"{self.folder}/p.json: arguments[0].hook: load is not a hook of ",
                    change=lambda plan: plan["arguments"][0].update(hook="load", type="element"))

    def test_a_plan_that_does_not_fit_the_kernel_is_refused(self):
        self.refuse(f"{self.folder}/p.json: launches[0] passes scale(in: pointer, out: pointer), but ",
                    "has scale(u64, u64, u64): 2 arguments for 3 parameters [plan-mismatch]",
                    change=lambda plan: plan["launches"][0]["arguments"].pop())
        self.refuse("has no kernel scales", "did you mean scale?",
                    change=lambda plan: plan["launches"][0].update(kernel="scales"))


if __name__ == "__main__":
    unittest.main()
