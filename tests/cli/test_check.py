# SPDX-License-Identifier: Apache-2.0
"""What would link wrongly or not at all is refused, with the same finding by check, link and run."""
import base64
import json
import os
import pathlib
import re
import subprocess
import unittest

from fatlink_cli import HOOK, LIBRARY, PROGRAM, SHARE, CliTest, doctor
from run_tests import long_test

TOOLKITS = pathlib.Path(__file__).parent.parent / "fixtures" / "toolkits"
RELU = SHARE / "relu_poly.fatbin"

# Definitions that raw nvJitLink links with float user_transform(float), or refuses without a reason.
WRONG = {
    "double(double)": ("double user_transform(double x) { return x; }", "signature-mismatch"),
    "float(float, float)": ("float user_transform(float x, float y) { return x + y; }", "signature-mismatch"),
    "float(const float*)": ("float user_transform(float const* x) { return *x; }", "signature-mismatch"),
    "void(float)": ("void user_transform(float) {}", "signature-mismatch"),
    "float()": ("float user_transform() { return 1; }", "signature-mismatch"),
    "struct by value": ("float user_transform(pair p) { return p.a; }", "signature-mismatch"),
}
PRELUDE = "struct pair { float a, b; };\n"


class AnyStatus(CliTest):
    """status=None: done or refused."""

    def fatlink(self, *words, status=0, **options):
        if status is not None:
            return super().fatlink(*words, status=status, **options)
        try:
            return super().fatlink(*words, status=0, **options)
        except AssertionError:
            return super().fatlink(*words, status=4, **options)


class Check(AnyStatus):
    def answers(self, mode, *inputs, target="sm_90", **options):
        """(exit status, ids of errors) of check, link and run, once they are the same."""
        said = self.fatlink_json("check", "--target", target, "--mode", mode, *inputs, status=None, **options)
        ids = [f["id"] for f in said["targets"][0]["findings"] if f["severity"] == "error"]
        self.assertEqual(said["links"], not ids)
        status = 4 if ids else 0
        linked = self.fatlink("link", "--target", target, "--mode", mode, "-o", "o.cubin", *inputs,
                              status=status, **options)
        words = [w for t in inputs[1:] for w in ("--transform", t)]
        ran = self.fatlink("run", "--device", f"cpu:{target}", "--mode", mode, "--library", inputs[0],
                           *words, status=status, **options) if target in ("sm_80", "sm_90") else linked
        for one in ids[:1]:
            self.assertIn(f"[{one}]", linked.stderr)
            self.assertIn(f"[{one}]", ran.stderr)
        return ids, linked.stderr

    def assert_wrong_types_are_refused(self, *names):
        for name in names:
            source, finding = WRONG[name]
            wrong = self.compile("wrong", PRELUDE + f'extern "C" __device__ {source}')
            for mode in ("ptx", "lto"):
                with self.subTest(type=name, mode=mode):
                    ids, text = self.answers(mode, LIBRARY, wrong)
                    self.assertEqual(ids, [finding])
                    self.assertIn("apply_transform.fatbin declares (b32) user_transform(b32) and", text)
                    self.assertIn("wrong.fatbin defines", text)

    def test_wrong_types_by_hand_run_nvcc(self):
        self.assert_wrong_types_are_refused("double(double)", "float(float, float)", "struct by value")

    @long_test  # the test above has the other types
    def test_more_wrong_types_by_hand_run_nvcc(self):
        self.assert_wrong_types_are_refused("float(const float*)", "void(float)", "float()")

    def test_a_type_that_the_ptx_cannot_tell_is_reported_uncontracted(self):
        wrong = self.compile("wrong", 'extern "C" __device__ float user_transform(int x) { return 1; }')
        for mode in ("ptx", "lto"):
            said = self.fatlink_json("check", "--mode", mode, LIBRARY, wrong)
            self.assertEqual([f["id"] for f in said["targets"][0]["findings"]], ["uncontracted", "unverified-bytes"])

    def assert_another_contract_version_is_refused(self, *names):
        ident = {"fatlink": 1, "contract": "apply_transform", "version": 2, "header_sha256": "0" * 64,
                 "toolkit": "13.0.88", "float": "-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1"}
        text = base64.b64encode(json.dumps(ident, separators=(",", ":")).encode()).decode()
        sources = {name: source for name, (source, _) in WRONG.items()}
        sources["int(int)"] = "int user_transform(int x) { return x; }"
        sources["float(float)"] = "float user_transform(float x) { return x; }"
        for name in names or sources:
            wrong = self.compile("wrong", PRELUDE + f'extern "C" __device__ {sources[name]}',
                                 "-dlto", "-arch=sm_75", f"-Xfatbin=-ident={text}")
            for mode in ("ptx", "lto"):
                with self.subTest(type=name, mode=mode):
                    ids, text_said = self.answers(mode, LIBRARY, wrong)
                    self.assertEqual(ids[0], "contract-mismatch")
                    self.assertIn("apply_transform/1", text_said)
                    self.assertIn("apply_transform/2", text_said)

    def test_wrong_types_built_against_another_contract_version(self):
        self.assert_another_contract_version_is_refused("double(double)", "int(int)", "float(float)")

    @long_test  # the test above has three of them
    def test_all_types_built_against_another_contract_version(self):
        self.assert_another_contract_version_is_refused()

    def test_a_mangled_definition_and_a_variable_are_no_definition(self):
        mangled = self.compile("mangled", "__device__ float user_transform(float x) { return x; }")
        variable = self.compile("variable", 'extern "C" { __device__ float user_transform = 1; }')
        for mode in ("ptx", "lto"):
            ids, text = self.answers(mode, LIBRARY, mangled)
            self.assertEqual(ids, ["missing-hook"])
            self.assertIn('is its C++ name: declare the definition extern "C"', text)
            ids, text = self.answers(mode, LIBRARY, variable)
            self.assertEqual(ids, ["missing-hook"])
            self.assertIn("variable.fatbin defines a variable of that name", text)

    def test_duplicates_name_both_files(self):
        for mode in ("ptx", "lto"):
            ids, text = self.answers(mode, LIBRARY, RELU, SHARE / "gelu.fatbin")
            self.assertEqual(ids, ["duplicate-symbol"])
            self.assertIn("relu_poly.fatbin and by", text)
            self.assertIn("gelu.fatbin", text)

    def test_private_symbols_of_two_transforms_that_clash_name_both_files(self):
        first = self.compile("first", "__device__ float helper(float x) { return x; }\n" + HOOK)
        second = self.compile("second", "__device__ float helper(float x) { return -x; }\n")
        third = self.compile("third", "__device__ int scale = 3;\n")
        fourth = self.compile("fourth", "__device__ int scale = 4;\n")
        ids, text = self.answers("lto", LIBRARY, first, second)
        self.assertEqual(ids, ["duplicate-symbol"])
        self.assertIn("_Z6helperf is defined by", text)
        self.assertIn("second.fatbin", text)
        ids, text = self.answers("ptx", LIBRARY, RELU, third, fourth)
        self.assertEqual(ids, ["duplicate-symbol"])
        self.assertIn("scale is defined by", text)

    def test_several_transforms_fill_several_hooks(self):
        library = self.compile("two", 'extern "C" __device__ float pre(float); extern "C" __device__ float post(float);\n'
                               'extern "C" __global__ void apply_transform(float const* in, float* out, unsigned long n) {\n'
                               "for (auto i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)\n"
                               "out[i] = post(pre(in[i])); }", "-dlto", "-arch=sm_75")
        pre = self.compile("pre", 'extern "C" __device__ float pre(float x) { return x + 1; }', "-dlto", "-arch=sm_75")
        post = self.compile("post", 'extern "C" __device__ float post(float x) { return 2 * x; }', "-dlto", "-arch=sm_75")
        self.file("post.json", json.dumps({"name": "post", "summary": "", "hook": "post",
                                           "reference": "2 * f32(x + 1)", "tolerance_ulp": 1}))
        said = self.fatlink_json("run", "--device", "cpu", "--library", library, "--transform", pre,
                                 "--transform", post)
        # No .json states what a kernel with several hooks computes: the modes are compared.
        self.assertEqual([m["verified"] for m in said["modes"]], [None, None])
        self.assertTrue(said["between"][0]["verified"])
        self.assertEqual(said["modes"][0]["reference"][0]["reason"], "several hooks are filled (post, pre)")
        self.assertEqual([m["inlined"] for m in said["modes"]], [False, True])
        ids, _ = self.answers("lto", library, pre)
        self.assertEqual(ids, ["missing-hook"])

    def test_entries_that_do_not_link(self):
        newer = self.compile("newer", HOOK, "-dlto", "-arch=sm_90")
        specific = self.compile("specific", HOOK, "-dc", "-gencode=arch=compute_90a,code=[compute_90a,lto_90a]")
        ptx = self.compile("ptx", HOOK, "-arch=compute_75", "-dc")
        ltoir = self.compile("ltoir", HOOK, "-arch=lto_75", "-dc")
        fast = self.compile("fast", HOOK, "-dlto", "-arch=sm_75", "-ftz=true")
        for mode, target, transform, finding in (
                ("lto", "sm_80", newer, "arch-too-new"), ("ptx", "sm_80", newer, "arch-too-new"),
                ("lto", "sm_90", specific, "arch-specific"), ("ptx", "sm_90", specific, "arch-specific"),
                ("lto", "sm_90", ptx, "no-ltoir"), ("ptx", "sm_90", ltoir, "no-ptx"),
                ("lto", "sm_90", fast, "float-contract")):
            with self.subTest(mode=mode, transform=transform.stem):
                ids, _ = self.answers(mode, LIBRARY, transform, target=target)
                self.assertEqual(ids, [finding])

    def test_all_targets(self):
        said = self.fatlink_json("check", "--target", "all", LIBRARY, RELU)
        self.assertTrue(said["links"])
        self.assertGreater(len(said["targets"]), 20)
        self.assertTrue(all(not one["findings"] for one in said["targets"]))
        text = self.fatlink("check", LIBRARY, RELU).stdout
        self.assertEqual(text, "sm_90    ptx, lto  links\n")
        names = [one["target"] for one in said["targets"][::2]]
        text = self.fatlink("check", "--target", "all", LIBRARY, RELU).stdout
        self.assertEqual(text, f"{names[0]} to {names[-1]} ({len(names)} targets)  ptx, lto  links\n")
        text = self.fatlink("check", "--target", "sm_75,sm_90", LIBRARY, RELU).stdout
        self.assertEqual(text, "sm_75, sm_90  ptx, lto  links\n")
        self.assert_fails(2, "check", "--nvjitlink", "x", LIBRARY, says=["--nvjitlink: 'x'"])

    def test_a_finding_of_both_modes_is_printed_once(self):
        wrong = self.compile("wrong", HOOK.replace("float", "double"))
        text = self.fatlink("check", LIBRARY, wrong, status=4).stdout
        self.assertEqual(text.splitlines()[0], "sm_90    ptx, lto  does not link")
        self.assertEqual(text.count("[signature-mismatch]"), 1)
        self.assertRegex(text, r"(?m)^  error: .* \[signature-mismatch\]\n    hint: ")

    def test_a_finding_of_one_mode_is_printed_with_it(self):
        text = self.fatlink("check", LIBRARY, self.compile("only", HOOK, "-dc", "-arch=lto_75"), status=4).stdout
        self.assertRegex(text, r"(?m)^sm_90    ptx  does not link\n")
        self.assertRegex(text, r"(?m)^  error in ptx mode: .* \[no-ptx\]$")

    def test_calls_an_input_by_the_name_it_was_given_by(self):
        text = self.fatlink("check", "gelu", "relu_poly", status=4).stdout
        self.assertRegex(text, r"error: .*user_transform.*: gelu.*relu_poly \[duplicate-symbol\]|"
                               r"error: .*gelu.* relu_poly.*\[duplicate-symbol\]")
        self.assertNotIn("gelu.fatbin", text)
        found = self.fatlink_json("check", "gelu", "relu_poly", status=4)["targets"][0]["findings"]
        self.assertIn(str(SHARE / "gelu.fatbin"), [file for one in found for file in one["files"]])
        self.assertIn("gelu.fatbin", self.fatlink("check", SHARE / "gelu.fatbin", RELU, status=4).stdout)

    def test_needs_neither_cuda_nor_nvjitlink(self):
        done = self.fatlink("check", LIBRARY, RELU, env={"FATLINK_NVJITLINK": "/nowhere"})
        self.assertIn("toolkit versions are not checked", done.stderr)

    def test_a_file_that_is_not_the_one_its_json_states(self):
        self.file("t.fatbin", (SHARE / "gelu.fatbin").read_bytes())
        self.file("t.json", RELU.with_suffix(".json").read_bytes())
        for words in (("check", LIBRARY, "t.fatbin"), ("link", "--target", "sm_90", "-o", "o", LIBRARY, "t.fatbin"),
                      ("run", "--transform", "t.fatbin"), ("inspect", "--ptx", "t.fatbin")):
            self.assert_fails(3, *words, says=["t.fatbin: is not the file that t.json states", "[digest-mismatch]"])
        done = self.fatlink("inspect", "t.fatbin", status=3)
        self.assertIn(" bytes, damaged", done.stdout)
        self.assertIn("fatlink: error: t.fatbin: is not the file that t.json states", done.stderr)
        self.file("t.json", '{"sha256": "12"}')
        self.assert_fails(3, "inspect", "t.fatbin", says=['t.json: sha256: is not 64 hexadecimal digits'])

    def test_a_call_that_is_left_can_be_required_not_to_be(self):
        stubborn = self.compile("stubborn", HOOK.replace("__device__ float", "__device__ __noinline__ float")
                                .replace("return x", "return x * 3"))
        self.fatlink("link", "--target", "sm_90", "-o", "o.cubin", LIBRARY, stubborn)
        self.assert_fails(4, "link", "--target", "sm_90", "-o", "p.cubin", "--require-inlined", LIBRARY,
                          stubborn, says=["stubborn.fatbin", "user_transform was not inlined"])
        self.fatlink("link", "--target", "sm_90", "-o", "p.cubin", "--require-inlined", LIBRARY, RELU)


class Toolkits(AnyStatus):
    """Real fatbins of three toolkits (tests/fixtures/make_toolkit_fixtures)."""

    def judged(self, producer, linker, mode):
        """The errors that concern the producer's file, which is judged with the installed library."""
        file = TOOLKITS / f"cuda_{producer}.fatbin"
        result = self.fatlink_json("check", "--nvjitlink", linker, "--mode", mode, file, status=None)
        return [f["id"] for f in result["targets"][0]["findings"]
                if f["severity"] == "error" and str(file) in f["files"]]

    def test_every_producer_against_every_linker(self):
        new, major = ["toolkit-too-new"], ["toolkit-major"]
        expected = {("12.9", "12.9"): ([], []), ("12.9", "13.0"): ([], major), ("12.9", "13.5"): ([], major),
                    ("13.0", "12.9"): (new, major), ("13.0", "13.0"): ([], []), ("13.0", "13.5"): ([], []),
                    ("13.5", "12.9"): (new, major), ("13.5", "13.0"): (new, new), ("13.5", "13.5"): ([], [])}
        for (producer, linker), (ptx, lto) in expected.items():
            with self.subTest(producer=producer, linker=linker):
                self.assertEqual(self.judged(producer, linker, "ptx"), ptx)
                self.assertEqual(self.judged(producer, linker, "lto"), lto)

    def test_the_message_says_what_to_install(self):
        text = self.fatlink("check", "--nvjitlink", "13.0", TOOLKITS / "cuda_13.5.fatbin", status=4).stdout
        self.assertIn("cuda_13.5.fatbin holds LTO-IR of CUDA 13.5, which nvJitLink 13.0 cannot read", text)
        self.assertIn("install nvJitLink 13.5 or newer", text)
        text = self.fatlink("check", "--nvjitlink", "13.0", TOOLKITS / "cuda_12.9.fatbin", status=4).stdout
        self.assertIn("holds LTO-IR of CUDA 12.9; nvJitLink 13.0 reads only that of CUDA 13", text)
        self.assertIn("compile it with CUDA 13, or link in ptx mode", text)

    def test_link_and_run_refuse_alike(self):
        self.need_nvjitlink()  # toolkits are judged against it
        refusals = [("12.9", "toolkit-major")]
        if tuple(map(int, doctor()["nvjitlink"]["version"].split(".")[:2])) < (13, 5):
            refusals.append(("13.5", "toolkit-too-new"))
        for producer, finding in refusals:
            made = TOOLKITS / f"cuda_{producer}.fatbin"
            for words in (("check", "--mode", "lto", LIBRARY, made),
                          ("link", "--target", "sm_90", "-o", "o.cubin", LIBRARY, made),
                          ("run", "--device", "cpu", "--mode", "lto", "--transform", made)):
                done = self.fatlink(*words, status=4)
                self.assertIn(f"[{finding}]", done.stdout + done.stderr)

    @unittest.skipUnless("FATLINK_TOOLKITS" in os.environ,
                         "FATLINK_TOOLKITS names no folder that make_toolkit_fixtures filled (2 GB)")
    def test_real_linkers_agree(self):
        library = self.compile("library", 'extern "C" __device__ float user_transform(float);\n'
                               'extern "C" __global__ void k(float* x) { *x = user_transform(*x); }')
        for linker in ("13.0", "13.5"):
            found = next(pathlib.Path(os.environ["FATLINK_TOOLKITS"], linker).rglob("libnvJitLink.so.13"))
            for producer in ("12.9", "13.0", "13.5"):
                for mode in ("ptx", "lto"):
                    with self.subTest(linker=linker, producer=producer, mode=mode):
                        refused = self.judged(producer, linker, mode)
                        done = self.fatlink("link", "--target", "sm_90", "--mode", mode, "-o", "o.cubin",
                                            library, TOOLKITS / f"cuda_{producer}.fatbin",
                                            env={"FATLINK_NVJITLINK": str(found)}, status=4 if refused else 0)
                        for one in refused:
                            self.assertIn(f"[{one}]", done.stderr)


    # The options in nvJitLink.h, and where fatlink has each.
    OPTIONS = {
        "arch": "--target", "maxrregcount": "--max-registers", "lto": "--mode", "ptx": "--emit", "O": "--optimize",
        "Ofc": "--fast-compile", "g": "--debug", "lineinfo": "--line-info", "ftz": "--ftz", "prec-div": "--prec-div",
        "prec-sqrt": "--prec-sqrt", "fma": "--fma", "kernels-used": "--kernel", "variables-used": "--keep-variable",
        "optimize-unused-variables": "--drop-unused-variables", "Xptxas": "--ptxas", "nvvm-latest": "--latest-nvvm",
        "split-compile": "--threads", "split-compile-extended": "--threads", "jump-table-density": "--nvvm",
        "no-cache": "--no-driver-cache", "device-stack-protector": "--stack-protector", "verbose": "--ptxas",
        "r": "--emit",
        "time": None}  # prints times, which fatlink measures itself

    @unittest.skipUnless("FATLINK_TOOLKITS" in os.environ,
                         "FATLINK_TOOLKITS names no folder that make_toolkit_fixtures filled (2 GB)")
    def test_every_option_of_the_newest_header_is_known(self):
        header = next(pathlib.Path(os.environ["FATLINK_TOOLKITS"], "13.5").rglob("nvJitLink.h")).read_text()
        stated = set(re.findall(r"(?m)^ \* - \\c -([A-Za-z-]+)", header))
        self.assertGreater(len(stated), 20)
        self.assertEqual(stated - set(self.OPTIONS), set(), "options that fatlink does not have")
        offered = self.fatlink("link", "--help-all").stdout
        for option in filter(None, self.OPTIONS.values()):
            self.assertRegex(offered, rf"{option}\b")

    @unittest.skipUnless("FATLINK_TOOLKITS" in os.environ,
                         "FATLINK_TOOLKITS names no folder that make_toolkit_fixtures filled (2 GB)")
    def test_the_newest_linker_has_later_targets_and_options(self):
        newest = next(pathlib.Path(os.environ["FATLINK_TOOLKITS"], "13.5").rglob("libnvJitLink.so.13"))
        for target in ("sm_107", "sm_107a", "sm_107f"):
            for words in (["--mode", "ptx"], ["--mode", "lto"], ["--mode", "lto", "--latest-nvvm"]):
                with self.subTest(target, words=words):
                    self.fatlink("link", "--target", target, *words, "-o", "o.cubin", LIBRARY, RELU,
                                 env={"FATLINK_NVJITLINK": str(newest)})

    @unittest.skipUnless("FATLINK_TOOLKITS" in os.environ,
                         "FATLINK_TOOLKITS names no folder that make_toolkit_fixtures filled (2 GB)")
    def test_the_documented_table_is_what_links(self):
        if "FATLINK_SOURCE" not in os.environ:
            self.skipTest("FATLINK_SOURCE is not set: the source is not there")
        source = pathlib.Path(os.environ["FATLINK_SOURCE"])
        made = subprocess.run([source / "scripts/toolkit-table", PROGRAM, os.environ["FATLINK_TOOLKITS"]], text=True,
                              capture_output=True)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("<!-- Made by scripts/toolkit-table. -->\n" + made.stdout + "\n", (source / "docs/input_forms.md").read_text())


if __name__ == "__main__":
    unittest.main()
