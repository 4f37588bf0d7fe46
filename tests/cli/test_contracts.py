# SPDX-License-Identifier: Apache-2.0
"""Preflight and inspect read contracts from idents: name, version and the hooks with their exact types."""
import base64
import json
import unittest

from fatlink_cli import HOOK, LIBRARY, SHARE, CliTest

FLOAT_FLAGS = "-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1"
KERNEL = ('extern "C" __device__ {type} {hook}({type});\n'
          'extern "C" __global__ void {hook}_kernel({type}* x) {{ *x = {hook}(*x); }}\n')
DEFINITION = 'extern "C" __device__ {type} {hook}({type} x) {{ return x; }}\n'


def encode_ident(contract="scale", version=1, hooks=None, header="a", **more):
    """The ident text that fatlink_add_fatbin writes."""
    ident = {"fatlink": 1, "contract": contract, "version": version, "header_sha256": 64 * header,
             "toolkit": "13.0.88", "float": FLOAT_FLAGS, **more}
    if hooks is not None:
        ident["hooks"] = hooks
    return base64.b64encode(json.dumps(ident).encode()).decode()


class Contracts(CliTest):
    def build(self, name, source, **ident):
        return self.compile(name, source, "-dlto", "-arch=sm_75", f"-Xfatbin=-ident={encode_ident(**ident)}")

    def library(self, name="library", hook="scale", type="float", **ident):
        return self.build(name, KERNEL.format(hook=hook, type=type), **ident)

    def transform(self, name="transform", hook="scale", type="float", **ident):
        return self.build(name, DEFINITION.format(hook=hook, type=type), **ident)

    def findings(self, *inputs, links=True):
        """All findings of a link but that nvcc alone states no digests; its errors where it does not link."""
        said = self.fatlink_json("check", "--mode", "lto", *inputs, status=0 if links else 4)
        found = [one for one in said["targets"][0]["findings"] if one["id"] != "unverified-bytes"]
        return [one for one in found if links or one["severity"] == "error"]


class Identity(Contracts):
    FLOAT, INT = {"scale": "FffE"}, {"scale": "FiiE"}

    def test_another_header_text_with_the_same_hooks_is_the_same_contract(self):
        library = self.library(hooks=self.FLOAT, header="a")
        self.assertEqual(self.findings(library, self.transform(hooks=self.FLOAT, header="b")), [])

    def test_hooks_of_other_types_under_one_version_are_named_with_both_types(self):
        library = self.library(hooks=self.FLOAT)
        finding, = self.findings(library, self.transform(type="int", hooks=self.INT), links=False)
        self.assertEqual(finding["id"], "contract-mismatch")
        self.assertIn("declares float scale(float)", finding["message"])
        self.assertIn("declares int scale(int)", finding["message"])
        self.assertRegex(finding["message"], r": the declaration changed, and the version \d+ was not raised$")
        self.assertIn("raises VERSION of fatlink_add_contract", finding["hint"])
        self.assertIn("built against the same contract", finding["hint"])

    def test_a_hook_that_one_side_does_not_declare_is_named(self):
        library = self.library(hooks=self.FLOAT)
        transform = self.transform(hooks={**self.FLOAT, "shift": "FffE"})
        finding, = self.findings(library, transform, links=False)
        self.assertEqual(finding["id"], "contract-mismatch")
        self.assertIn("declares no shift", finding["message"])
        self.assertIn("declares float shift(float)", finding["message"])

    def test_idents_without_hooks_are_compared_by_the_digest_of_the_header(self):
        library = self.library(hooks=self.FLOAT, header="a")
        self.assertEqual(self.findings(library, self.transform("older", header="a")), [])
        finding, = self.findings(library, self.transform("changed", header="b"), links=False)
        self.assertEqual(finding["id"], "contract-mismatch")
        self.assertIn("header bbbbbbbbbbbb", finding["message"])

    def test_damaged_hooks_of_an_ident_are_ignored_like_other_damage(self):
        for hooks in ({"scale": 1}, ["scale"], "scale"):
            transform = self.transform(hooks=hooks)
            finding, = self.findings(self.library(hooks=self.FLOAT), transform)
            self.assertEqual(finding["id"], "uncontracted")

    def test_inspect_shows_the_hooks_with_their_types(self):
        library = self.library(hooks={"scale": "FffE", "pick": "FPK4pairS1_E", "odd": "?"})
        text = self.fatlink("inspect", library).stdout
        self.assertIn("contract    scale/1 (header aaaaaaaaaaaa), toolkit 13.0.88", text)
        self.assertIn("declares    float scale(float)\n", text)
        self.assertIn("declares    pair const* pick(pair const*)\n", text)
        self.assertIn("declares    odd: ?\n", text)
        for entry in self.fatlink_json("inspect", library)["files"][0]["entries"]:
            self.assertEqual(entry["ident"]["hooks"]["scale"], "float scale(float)")


class SeveralContracts(Contracts):
    SCALE = {"contract": "scale", "hooks": {"scale": "FffE"}}
    SHIFT = {"contract": "shift", "hooks": {"shift": "FffE"}}

    def test_a_link_may_use_several_contracts(self):
        inputs = [self.library("scaling", "scale", **self.SCALE), self.library("shifting", "shift", **self.SHIFT),
                  self.transform("scaled", "scale", **self.SCALE), self.transform("shifted", "shift", **self.SHIFT)]
        self.assertEqual(self.findings(*inputs), [])
        for mode in ("ptx", "lto"):
            self.link(*inputs, mode=mode)

    def test_a_library_that_defines_a_hook_of_another_contract_links(self):
        """Its own hook is filled by a transform of the contract that it states."""
        both = self.build("both", KERNEL.format(hook="shift", type="float") + DEFINITION.format(hook="scale", type="float"),
                          **self.SHIFT)
        finding, = self.findings(self.library(**self.SCALE), both, self.transform("shifted", "shift", **self.SHIFT))
        self.assertEqual((finding["id"], finding["severity"]), ("uncontracted", "warning"))
        self.assertIn("both.fatbin defines scale, a hook of contract scale/1, and states contract shift/1, which does "
                      "not declare it", finding["message"])

    def test_one_hook_of_two_contracts_does_not_link(self):
        same_hook = {"contract": "zoom", "hooks": {"scale": "FffE"}}
        finding, = self.findings(self.library(**self.SCALE), self.transform(**same_hook), links=False)
        self.assertEqual(finding["id"], "contract-mismatch")
        self.assertIn("pass one that is for scale/1", finding["hint"])

    def test_a_default_that_a_definition_of_another_contract_replaces_does_not_link(self):
        weak = ('extern "C" inline __device__ __noinline__ float scale(float x) { return x; }\n'
                'extern "C" __global__ void scale_kernel(float* x) { *x = scale(*x); }\n')
        same_hook = {"contract": "zoom", "hooks": {"scale": "FffE"}}
        finding, = self.findings(self.build("default", weak, **self.SCALE), self.transform(**same_hook), links=False)
        self.assertEqual(finding["id"], "contract-mismatch")
        self.assertIn("pass one that is for scale/1", finding["hint"])

    def test_versions_of_one_contract_among_several_must_agree(self):
        findings = self.findings(self.library("scaling", **self.SCALE), self.library("shifting", "shift", **self.SHIFT),
                                 self.transform("scaled", **self.SCALE),
                                 self.transform("shifted", "shift", version=2, **self.SHIFT), links=False)
        self.assertEqual([one["id"] for one in findings], ["contract-mismatch"])
        self.assertEqual([file.split("/")[-1] for file in findings[0]["files"]], ["shifting.fatbin", "shifted.fatbin"])

    def test_a_transform_of_a_contract_that_nothing_else_uses_does_not_link(self):
        stray = self.transform("stray", "shift", **self.SHIFT)
        library, transform = self.library(**self.SCALE), self.transform(**self.SCALE)
        for inputs in ((library, transform, stray), (stray, library, transform), (library, stray, transform)):
            finding, = self.findings(*inputs, links=False)
            self.assertEqual(finding["id"], "contract-mismatch")
            self.assertRegex(finding["hint"], "stray.fatbin is for libraries with shift/1: pass one that is for scale/1, "
                             "or a library with shift/1")

    def test_another_type_under_another_contract_is_reported_once_in_either_order(self):
        stray = self.transform("stray", "scale", "double", contract="blend", hooks={"scale": "FddE"})
        library = self.library(**self.SCALE)
        for inputs in ((library, stray), (stray, library)):
            finding, = self.findings(*inputs, links=False)
            self.assertEqual(finding["id"], "contract-mismatch")
            self.assertIn("stray.fatbin is for libraries with blend/1", finding["hint"])


if __name__ == "__main__":
    unittest.main()
