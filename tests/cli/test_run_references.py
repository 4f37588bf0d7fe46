# SPDX-License-Identifier: Apache-2.0
"""What `run` verifies, and what it does not: references by hook, several hooks, library defaults."""
import json

from fatlink_cli import HOOK, SHARE, CliTest

TWO_HOOKS = """extern "C" __device__ float pre(float x);
extern "C" __device__ float post(float x);
extern "C" __global__ void apply_transform(const float* in, float* out, size_t n)
{
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = post(pre(in[i]));
}
"""
DEFAULT = TWO_HOOKS.replace("__device__ float post(float x);", 
                            "__noinline__ inline __device__ float post(float x) { return x; }")


class RunReferences(CliTest):
    def transform(self, name, hook, body, reference=None, states=None):
        """A fatbin that defines `hook`, with a .json where there is a reference."""
        fatbin = self.compile(name, f'extern "C" __device__ float {hook}(float x) {{ return {body}; }}')
        if reference:
            self.file(f"{name}.json", json.dumps({"name": name, "summary": name, "hook": states or hook,
                                                  "reference": reference, "tolerance_ulp": 1}))
        return fatbin

    def two(self, library=TWO_HOOKS):
        self.compile("two", library)
        self.transform("half", "pre", "0.5f * x", "x / 2")
        self.transform("more", "post", "x + 1.0f", "x + 1")

    def words(self, *transforms):
        options = [word for name in transforms for word in ("--transform", f"{name}.fatbin")]
        return ["run", "--device", "cpu", "--library", "two.fatbin", *options, "--elements", "1000"]

    def test_several_filled_hooks_are_verified_between_the_modes_only(self):
        self.two()
        said = self.fatlink_json(*self.words("half", "more"))
        self.assertEqual([mode["verified"] for mode in said["modes"]], [None, None])
        self.assertEqual(said["filled_hooks"], ["post", "pre"])
        self.assertEqual([mode["reference"][0]["reason"] for mode in said["modes"]], ["several hooks are filled (post, pre)"] * 2)
        self.assertTrue(said["between"][0]["verified"])

    def test_a_misspelt_hook_of_a_sidecar_with_several_is_refused(self):
        self.two()
        self.file("half.json", json.dumps({"name": "half", "summary": "x / 2", "hooks": {
            "per": {"parameters": ["x"], "result": "x / 2"}}}))
        done = self.fatlink(*self.words("half", "more"), status=3)
        self.assertIn('half.json: "hooks" has "per", which is not a hook of half.fatbin (pre)', done.stderr)
        self.assertIn('did you mean "pre"?', done.stderr)

    def test_several_filled_hooks_are_stated_in_the_text(self):
        self.two()
        text = self.fatlink(*self.words("half", "more")).stdout
        self.assertEqual(text.count("not verified: several hooks are filled (post, pre)"), 1)
        self.assertIn("Result: both modes agree; nothing else was checked\n", text)

    def test_two_hooks_filled_by_one_transform_are_several(self):
        self.compile("two", TWO_HOOKS)
        self.compile("both", 'extern "C" __device__ float pre(float x) { return 2.0f * x; }\n'
                             'extern "C" __device__ float post(float x) { return x + 1.0f; }')
        self.file("both.json", json.dumps({"name": "both", "summary": "", "hook": "pre", "reference": "2 * x",
                                           "tolerance_ulp": 0}))
        self.assertIn("several hooks", self.fatlink_json(*self.words("both"))["modes"][0]["reference"][0]["reason"])

    def test_one_mode_without_a_reference_verifies_nothing_and_says_so(self):
        self.two()
        done = self.fatlink(*self.words("half", "more"), "--mode", "ptx")
        self.assertIn("Result: nothing was verified\n", done.stdout)
        said = self.fatlink_json(*self.words("half", "more"), "--mode", "ptx")
        self.assertEqual((said["modes"][0]["verified"], said["between"]), (None, []))
        bare = self.fatlink("run", "--device", "cpu", "--mode", "lto", "--transform", self.compile("bare", HOOK))
        self.assertIn("not verified: no sidecar (.json beside a transform) states what the hook user_transform computes", bare.stdout)
        self.assertIn("Result: nothing was verified", bare.stdout)

    def test_one_hook_is_verified_whichever_transform_states_it(self):
        self.two(DEFAULT)
        self.compile("unused", 'extern "C" __device__ float unrelated(float x) { return x; }')
        for transforms in (["half"], ["half", "unused"], ["unused", "half"]):
            with self.subTest(transforms=transforms):
                said = self.fatlink_json(*self.words(*transforms))
                self.assertEqual([mode["verified"] for mode in said["modes"]], [True, True])
                self.assertEqual(said["filled_hooks"], ["pre"])

    def test_a_library_default_counts_as_a_hook_once_a_transform_fills_it(self):
        self.two(DEFAULT)
        said = self.fatlink_json(*self.words("half", "more"))
        self.assertEqual(said["filled_hooks"], ["post", "pre"])
        self.assertEqual([mode["verified"] for mode in said["modes"]], [None, None])

    def test_a_hook_that_ltoir_without_ptx_fills_is_known_by_the_link(self):
        self.compile("two", TWO_HOOKS)
        self.transform("more", "post", "x + 1.0f", "x + 1")
        self.compile("raw", 'extern "C" __device__ float pre(float x) { return 2.0f * x; }', "-dlto", "-arch=lto_75")
        said = self.fatlink_json(*self.words("raw", "more"), "--mode", "lto")
        self.assertEqual(said["filled_hooks"], ["post", "pre"])
        one = self.fatlink_json("run", "--device", "cpu", "--mode", "lto", "--elements", "1000", "--transform",
                                self.compile("hook", HOOK, "-dlto", "-arch=lto_75"))
        self.assertEqual(one["filled_hooks"], ["user_transform"])
        self.assertEqual(one["modes"][0]["inlined"], True)

    def test_a_json_whose_hook_nothing_calls_is_refused(self):
        self.two()
        self.transform("half", "pre", "0.5f * x", "x / 2", states="user_transfrom")
        self.assert_fails(3, *self.words("half", "more"), says=['half.json: "hook" is "user_transfrom", which is not a hook of half.fatbin (pre)'],
                          hint="state the hook")

    def test_a_json_of_a_transform_that_fills_no_hook_is_refused(self):
        self.two()
        self.transform("unused", "unrelated", "x", "x")
        self.assert_fails(3, *self.words("half", "more", "unused"), says=["unused.json", "unrelated"])

    def test_a_json_whose_hook_its_transform_does_not_define_is_refused(self):
        self.two()
        self.transform("half", "pre", "0.5f * x", "x / 2", states="post")
        self.assert_fails(3, *self.words("half", "more"),
                          says=['half.json: "hook" is "post", which is not a hook of half.fatbin (pre)'], hint="state the hook")

    def test_the_reference_of_a_shipped_transform_has_its_tolerance(self):
        said = self.fatlink_json("run", "--device", "cpu", "--transform", "gelu", "--elements", 100)
        compared = said["modes"][0]["reference"][0]
        self.assertEqual((compared["method"], compared["tolerance_ulp"]), ("map(user_transform, in)", 16))

    def test_a_reference_of_several_hooks_describes_a_kernel_without_a_plan(self):
        self.two(DEFAULT)
        self.file("half.json", json.dumps({"name": "half", "summary": "x / 2", "hooks": {
            "pre": {"parameters": ["x"], "result": "x / 2", "tolerance": {"ulp": 1}}}}))
        said = self.fatlink_json(*self.words("half"))
        self.assertEqual([mode["verified"] for mode in said["modes"]], [True, True])
