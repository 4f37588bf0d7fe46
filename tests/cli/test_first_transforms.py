# SPDX-License-Identifier: Apache-2.0
"""What `fatlink` says of the mistakes of a first transform: results, sidecars, names of hooks, endless loops."""
import json
import os
import pty
import re
import shutil
import subprocess
import time
import unittest

from fatlink_cli import HOOK, PROGRAM, CliTest
from compile_case import CompileCase

HALF = 'extern "C" __device__ float user_transform(float x) { return 0.5F * x * 1.000001F; }\n'
RUN = ["run", "--device", "cpu", "--elements", "1000"]
BEST = """struct best { float value; int index; };
FATLINK_COMBINE(best, a, b) { return a.value < b.value ? b : a; }
"""


class WrongResults(CompileCase):
    def state(self, **members):
        self.file("half.json", json.dumps({"name": "half", **members}))

    def short(self, **members):
        self.file("half.cu", HALF)
        self.state(hook="user_transform", reference="x / 2", **members)

    def test_name_the_transform_the_sidecar_and_its_formula(self):
        self.short(tolerance_ulp=1)
        text = self.fatlink(*RUN, "half.cu", status=1).stdout
        self.assertIn("half.cu is compared with user_transform(x) = x / 2 of half.json\n", text)
        said = self.fatlink_json(*RUN, "half.cu", status=1)["modes"][0]["reference"][0]
        self.assertEqual(said["formulas"], [{"hook": "user_transform", "transform": "half.cu", "sidecar": "half.json",
                                             "formula": "user_transform(x) = x / 2"}])

    def test_state_a_tolerance_that_accepts_them_in_the_form_of_the_sidecar(self):
        for stated in (1, 0):
            with self.subTest(tolerance_ulp=stated):
                self.short(tolerance_ulp=stated)
                text = self.fatlink(*RUN, "half.cu", status=1).stdout
                accepting = re.search(r'"tolerance_ulp": (\S+) in half.json accepts every element', text)
                self.short(tolerance_ulp=float(accepting[1]))
                self.assertIn("verified", self.fatlink(*RUN, "half.cu").stdout)

    def test_without_a_tolerance_state_one(self):
        self.file("half.cu", HALF)
        hook = {"parameters": ["x"], "result": "x / 2"}
        self.state(hooks={"user_transform": hook})
        text = self.fatlink(*RUN, "half.cu", status=1).stdout
        accepting = re.search(r'"tolerance": (\{"ulp": \S+\}) in half.json accepts every element', text)
        self.state(hooks={"user_transform": {**hook, "tolerance": json.loads(accepting[1])}})
        self.fatlink(*RUN, "half.cu")

    def test_far_from_the_formula_are_offered_no_tolerance(self):
        self.file("half.cu", HALF)
        self.state(hook="user_transform", reference="100 * x + 1", tolerance_ulp=0)
        self.assertNotIn("accepts", self.fatlink(*RUN, "half.cu", status=1).stdout)

    def test_are_explained(self):
        text = " ".join(self.fatlink("explain", "WRONG").stdout.split())
        for part in ("the formula of its sidecar", "tolerance is too small", "--check-races"):
            self.assertIn(part, text)


class PrintedSidecar(CompileCase):
    """The form of a sidecar that `run` prints is accepted as it is."""

    def assert_accepted(self, library, source):
        self.file("own.cu", source)
        words = [*RUN, "--library", library, "own.cu"]
        text = self.fatlink(*words).stdout
        _, _, form = text.partition("state what the transform computes in own.json, for example:\n")
        self.assertTrue(form, text)
        _, end = json.JSONDecoder().raw_decode(form)
        self.file("own.json", form[:end])
        done = subprocess.run([PROGRAM, *words], cwd=self.folder, text=True, capture_output=True, timeout=300,
                              env=self.environment({}))
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertNotIn("not verified", done.stdout)
        (self.folder / "own.json").unlink()

    def test_of_numbers(self):
        self.assert_accepted("apply_transform", HOOK)
        self.assert_accepted("reduce_4", "FATLINK_COMBINE(float, a, b) { return a + b; }\n")
        self.assert_accepted("map2", "FATLINK_MAP2(float, float, a, int, b) { return a + b; }\n")
        self.assert_accepted("transform_reduce_4", "FATLINK_LOAD(float, float, x) { return x * x; }\n"
                             "FATLINK_COMBINE(float, a, b) { return a + b; }\n")
        self.assert_accepted("sort_4", "FATLINK_LESS(float, a, b) { return a < b; }\n")

    def test_of_structs(self):
        self.assert_accepted("reduce_8", BEST)
        self.assert_accepted("sort_8", BEST.split("\n")[0] + "\nFATLINK_LESS(best, a, b) { return a.value < b.value; }\n")
        self.assert_accepted("histogram_8", BEST.split("\n")[0] + "\nFATLINK_BIN(best, x) { return x.value > 0; }\n")
        self.assert_accepted("select_16", "struct item { double key; int a; short b; };\n"
                             "FATLINK_KEEP(item, x) { return x.key > 0; }\n")
        self.assert_accepted("reduce_1", "struct tiny { unsigned char value; };\n"
                             "FATLINK_COMBINE(tiny, a, b) { return a.value < b.value ? b : a; }\n")

    def test_is_not_printed_where_none_is_accepted(self):
        self.file("own.cu", BEST.split("\n")[0] + "\nFATLINK_MAP1(float, best, x) { return x.value; }\n")
        self.assertNotIn("for example:", self.fatlink(*RUN, "--library", "map1", "own.cu").stdout)


class NamesOfHooks(CompileCase):
    def test_a_name_like_that_of_a_hook_is_noted_without_a_contract(self):
        self.file("half.cu", HALF.replace("user_transform", "user_transfrom"))
        done = self.fatlink("compile", "half.cu", "-o", "out.fatbin")
        self.assertIn("warning: user_transfrom is not a hook of an installed contract; did you mean user_transform, a hook of the contract "
                      "apply_transform? pass --contract apply_transform", done.stderr)

    def test_a_hook_without_c_linkage_is_noted(self):
        self.file("half.cu", HALF.replace('extern "C" ', ""))
        done = self.fatlink("compile", "half.cu", "-o", "out.fatbin")
        self.assertIn('is user_transform without extern "C", so it is not the hook of the contract apply_transform', done.stderr)

    def test_other_functions_are_not_noted(self):
        self.file("half.cu", HALF.replace("user_transform", "half_of"))
        self.assertEqual(self.fatlink("compile", "half.cu", "-o", "out.fatbin").stderr, "")

    def test_a_hook_of_another_library_names_its_contract_and_library(self):
        self.file("add.cu", 'extern "C" __device__ float combine(float a, float b) { return a + b; }\n')
        self.assert_fails(4, *RUN, "add.cu", says=["it defines combine"],
                          hint="combine is a hook of combine_N, load_combine_N, by_key_N and load_by_key_N: pass a library with one of them: ")
        self.assertIn("reduce_N", self.fatlink(*RUN, "add.cu", status=4).stderr)
        self.file("load.cu", 'extern "C" __device__ float load_element(void const* in, unsigned long i, void const*) { return 1; }\n')
        self.assert_fails(4, *RUN, "load.cu", says=["it defines load_element"],
                          hint="load_element is a hook of convert: pass a library with it: convert")

    def test_a_library_without_a_transform_names_those_that_are_installed(self):
        for library, name in (("reduce_4", "max_float"), ("stencil", "smooth")):
            with self.subTest(library=library):
                said = self.fatlink(*RUN, "--library", library, status=4).stderr
                self.assertRegex(said, rf"hint: .*; installed for its contract: .*\b{name}\b")

    def test_a_contract_is_named_where_a_library_is_asked_for(self):
        for asked, hint in (("reduce", "are libraries, not contracts: name one of their contracts: combine_1, combine_2, combine_4, combine_8, combine_16"),
                            ("reduce_16", "reduce_16 is a library, not a contract: name its contract, combine_16"),
                            ("combine", "state the size of the elements: combine_1, combine_2")):
            with self.subTest(asked=asked):
                done = self.fatlink("inspect", "--contract", asked, status=3)
                self.assertIn(hint, done.stderr)


ROUND = """extern "C" __device__ float user_transform(float x);
extern "C" __global__ void round_all(float const* in, int* out, unsigned long n)
{
  unsigned long i = blockIdx.x * (unsigned long)blockDim.x + threadIdx.x;
  if (i < n) out[i] = (int)user_transform(in[i]);
}
"""


class Buffers(CompileCase):
    def plan(self, source, result):
        return {"name": "round", "summary": "rounds", "arguments": [
                    {"name": "in", "role": "input", "type": source, "count": "n"},
                    {"name": "out", "role": "output", "type": result, "count": "n"}, {"name": "n", "role": "size"}],
                "launches": [{"kernel": "round_all", "grid": "ceil(n / 256)", "block": 256, "arguments": ["in", "out", "n"]}]}

    def test_with_swapped_types_of_one_size_are_refused(self):
        self.file("round.cu", ROUND)
        self.file("half.cu", HALF)
        self.file("round.json", json.dumps(self.plan("float32", "int32")))
        words = [*RUN, "--library", "round.cu", "half.cu"]
        self.fatlink(*words)
        self.file("round.json", json.dumps(self.plan("int32", "float32")))
        self.assert_fails(4, *words, says=["launches[0] passes in, an array of int32, and round_all of ", "accesses it as floats only",
                                           "[plan-mismatch]"], hint='correct the "type" of in, or the order of "arguments"')
        (self.folder / "round.json").rename(self.folder / "plan.json")
        self.fatlink("compile", "round.cu", "-o", "round.fatbin")
        (self.folder / "plan.json").rename(self.folder / "round.json")
        said = self.fatlink_json("check", "--target", "sm_90", "round.fatbin", "half.cu", status=4)
        self.assertIn("plan-mismatch", [finding["id"] for finding in said["targets"][0]["findings"]])


class Sidecars(CompileCase):
    def test_members_of_the_short_form_name_those_of_the_long_one(self):
        self.file("half.cu", HALF)
        for member, hint in ((("reference", "x / 2"), 'state the expression as "result"'),
                             (("tolerance_ulp", 1), 'state it as "tolerance": {"ulp": 1}'),
                             (("hook", "user_transform"), 'the key in "hooks" is the name of the hook')):
            hook = {"parameters": ["x"], **dict([member])}
            self.file("half.json", json.dumps({"name": "half", "hooks": {"user_transform": hook}}))
            self.assert_fails(3, *RUN, "half.cu", says=[f"hooks.user_transform.{member[0]}", 'not into "hooks"'], hint=hint)


class Explanations(CliTest):
    def test_name_every_cause(self):
        for code, parts in (("unexpected-build", ("replaced the ident", "neither defines nor calls a hook", "states a different contract than the fatbin")),
                            ("not-installed", ("fatbin or contract", "reduce instead of reduce_4", "FATLINK_PATH")),
                            ("invalid-sidecar", ("differs from the type that the code records", "a hook that the input neither defines nor calls", "error_model is for a different operation")),
                            ("compile-failed", ("asm statement", "no data layout", "libdevice")),
                            ("missing-hook", ("In a compile", 'extern "C" is missing'))):
            text = " ".join(self.fatlink("explain", code).stdout.split())
            for part in parts:
                with self.subTest(code=code, part=part):
                    self.assertIn(part, text)

    def test_the_hint_comes_before_the_folders_that_were_searched(self):
        for words in (["inspect", "no_such_name"], ["inspect", "--contract", "no_such_name"]):
            text = self.fatlink(*words, status=3).stderr
            self.assertLess(text.index("hint:"), text.index("folders that were searched:\n"), text)


class EndlessLoops(CompileCase):
    def test_the_limit_is_shown_on_a_terminal(self):
        self.file("endless.cu", 'extern "C" __device__ float user_transform(float x)\n'
                  "{ volatile int go = 1; while (go) x += 1; return x; }\n")
        screen, terminal = pty.openpty()
        self.addCleanup(os.close, screen)
        process = subprocess.Popen([PROGRAM, *RUN, "endless.cu"], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=terminal,
                                   env=self.environment({}))
        os.close(terminal)
        shown = ""
        try:
            end = time.monotonic() + 100
            while "--instruction-budget" not in shown and time.monotonic() < end and process.poll() is None:
                shown += os.read(screen, 4096).decode()
        finally:
            process.kill()
            process.wait()
        self.assertRegex(shown, r"running \w+ mode on cpu, \d+ s; limit: --instruction-budget 1073741824")


if __name__ == "__main__":
    unittest.main()
