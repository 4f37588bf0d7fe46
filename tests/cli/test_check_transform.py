# SPDX-License-Identifier: Apache-2.0
"""`fatlink check` of a transform without its library: judged with the installed libraries that it is for."""
import base64
import json
import shutil
import unittest

from fatlink_cli import HOOK, LIBRARY, SHARE, CliTest
from run_tests import long_test

TWO_HOOKS = ('extern "C" __device__ float pre(float); extern "C" __device__ float post(float);\n'
             'extern "C" __global__ void two(float* x) { *x = post(pre(*x)); }\n')
PRE = 'extern "C" __device__ float pre(float x) { return x + 1; }\n'
MISSPELT = HOOK.replace("user_transform", "user_transfrom")


class CheckTransform(CliTest):
    def setUp(self):
        super().setUp()
        self.system = self.folder / "system"
        self.env = {"HOME": str(self.folder / "home"), "XDG_DATA_HOME": "", "FATLINK_PATH": "",
                    "XDG_DATA_DIRS": str(self.system)}

    def fatlink(self, *words, env=None, **options):
        return super().fatlink(*words, env={**self.env, **(env or {})}, **options)

    def build(self, name, source, contract="apply_transform", version=1, **more):
        """A fatbin that states a contract, as fatlink_add_fatbin makes it."""
        known = self.fatlink_json("list", "apply_transform")["fatbins"][0]["contract"]
        ident = {"fatlink": 1, "contract": contract, "version": version, "header_sha256": known["header_sha256"],
                 "toolkit": "13.0.88", "float": "-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1",
                 "package": f"{name} 1.0", "contract_package": f"{contract}-library 1.0", **more}
        text = base64.b64encode(json.dumps(ident, separators=(",", ":")).encode()).decode()
        return self.compile(name, source, "-dlto", "-arch=sm_75", f"-Xfatbin=-ident={text}")

    def install(self, fatbin, name=None):
        folder = self.system / "fatlink"
        folder.mkdir(parents=True, exist_ok=True)
        return shutil.copy(fatbin, folder / f"{name or fatbin.stem}.fatbin")

    def check(self, *words, status):
        """The judgements, once --json and the text agree on whether it links."""
        result = self.fatlink_json("check", *words, status=status)
        self.assertEqual(result["links"], status == 0)
        text = self.fatlink("check", *words, status=status).stdout
        if status != 0:
            self.assertNotRegex(text, r"(?m)^sm_\w+ +(ptx|lto|ptx, lto)  links$")
        return result["targets"], text

    def errors(self, judgement):
        return [finding["id"] for finding in judgement["findings"] if finding["severity"] == "error"]


class WithAContract(CheckTransform):
    def test_is_judged_with_the_installed_library_of_the_contract_and_names_it(self):
        judged, text = self.check("gelu", status=0)
        self.assertEqual([one["mode"] for one in judged], ["ptx", "lto"])
        for one in judged:
            self.assertEqual(one["library"], {"name": "apply_transform", "file": str(LIBRARY)})
            self.assertEqual(one["findings"], [])
        self.assertIn(f"With the installed library apply_transform ({LIBRARY}):\nsm_90    ptx, lto  links\n", text)

    def test_another_type_does_not_link(self):
        wrong = self.build("wrong", HOOK.replace("float", "double"))
        judged, text = self.check(wrong, status=4)
        self.assertEqual([self.errors(one) for one in judged], [["signature-mismatch"]] * 2)
        self.assertIn("With the installed library apply_transform", text)

    def test_a_misspelt_hook_does_not_link_and_is_told_its_name(self):
        judged, text = self.check(self.build("misspelt", MISSPELT), status=4)
        self.assertEqual([self.errors(one) for one in judged], [["missing-hook"]] * 2)
        self.assertIn("did you mean user_transfrom? Rename the definition to user_transform", text)

    @long_test  # test_removed_and_static_functions_are_errors_that_say_why has one without a contract
    def test_a_static_hook_does_not_link(self):
        static = HOOK.replace('extern "C"', "static")
        judged, _ = self.check(self.build("hidden", static), status=4)
        self.assertEqual([self.errors(one)[0] for one in judged], ["no-definition"] * 2)

    def test_a_contract_without_an_installed_library_cannot_be_judged(self):
        judged, text = self.check(self.build("blender", HOOK, contract="blend"), status=4)
        for one in judged:
            self.assertEqual(self.errors(one), ["not-judged"])
            self.assertIsNone(one["library"])
        self.assertIn("blender.fatbin is built against contract blend/1, and no installed library has it", text)
        self.assertIn("hint: install package blend-library, or pass the library with it", text)

    def test_another_version_of_the_contract_is_a_mismatch(self):
        judged, text = self.check(self.build("newer", HOOK, version=2), status=4)
        self.assertEqual([self.errors(one) for one in judged], [["contract-mismatch"]] * 2)
        self.assertIn("apply_transform/2", text)

    def test_libraries_of_another_version_do_not_matter_where_one_has_the_right_version(self):
        source = ('extern "C" __device__ float user_transform(float);\n'
                  'extern "C" __global__ void other(float* x) { *x = user_transform(*x); }\n')
        self.install(self.build("second", source, version=2))
        judged, text = self.check("gelu", status=0)
        self.assertEqual({one["library"]["name"] for one in judged}, {"apply_transform"})
        self.assertNotIn("second", text)

    def test_it_must_link_with_every_installed_library_of_the_contract(self):
        source = ('extern "C" __device__ double user_transform(double);\n'
                  'extern "C" __global__ void other(double* x) { *x = user_transform(*x); }\n')
        self.install(self.build("second", source))
        result = self.fatlink_json("check", "gelu", status=4)["targets"]
        self.assertEqual([(one["library"]["name"], one["links"]) for one in result],
                         [("apply_transform", True)] * 2 + [("second", False)] * 2)
        text = self.fatlink("check", "gelu", status=4).stdout
        self.assertRegex(text, r"(?s)With .* apply_transform .* links\n.*With .* second .*does not link")

    def test_all_targets_are_judged_with_it(self):
        judged, _ = self.check("--target", "all", "gelu", status=0)
        self.assertGreater(len(judged), 30)

    def test_ltoir_without_ptx_cannot_be_judged(self):
        opaque = self.compile("opaque", HOOK, "-dc", "-arch=lto_75")
        judged, text = self.check("--mode", "lto", opaque, status=4)
        self.assertIn("not-judged", self.errors(judged[0]))
        self.assertIn("opaque.fatbin holds no PTX, so the functions that it defines are not known", text)


class WithoutAContract(CheckTransform):
    def test_is_judged_with_the_installed_libraries_that_call_its_hook(self):
        judged, text = self.check(self.compile("by_hand", HOOK), status=0)
        self.assertEqual({one["library"]["name"] for one in judged}, {"apply_transform"})
        self.assertIn("[uncontracted]", text)
        wrong = self.compile("wrong", HOOK.replace("float", "double"))
        judged, _ = self.check(wrong, status=4)
        self.assertEqual([self.errors(one) for one in judged], [["signature-mismatch"]] * 2)

    def test_a_definition_that_no_installed_library_calls_is_an_error_with_the_nearest_hook(self):
        misspelt = self.compile("misspelt", MISSPELT)
        judged, text = self.check(misspelt, status=4)
        for one in judged:
            self.assertEqual(self.errors(one), ["unused-definition"])
            self.assertIsNone(one["library"])
        self.assertIn("misspelt.fatbin defines (b32) user_transfrom(b32), which no installed library calls", text)
        self.assertIn("hint: did you mean user_transform, which apply_transform calls? Otherwise pass the library "
                      "whose kernel calls it", text)

    def test_a_cpp_name_is_told_to_be_extern_c(self):
        mangled = self.compile("mangled", HOOK.replace('extern "C" ', ""))
        _, text = self.check(mangled, status=4)
        self.assertIn('_Z14user_transformf is the C++ name of user_transform, which apply_transform calls: '
                      'declare the definition extern "C"', text)

    @long_test  # test_a_cpp_name_is_told_to_be_extern_c has one outside of a namespace
    def test_a_function_in_a_namespace_is_told_to_be_extern_c(self):
        mangled = self.compile("mangled", "namespace own { " + HOOK.replace('extern "C" ', "") + "}\n")
        _, text = self.check(mangled, status=4)
        self.assertIn("is the C++ name of user_transform", text)

    def test_an_instantiated_template_is_not_a_hook(self):
        template = ("template <class T> __device__ T user_transform(T x) { return x; }\n"
                    "template __device__ float user_transform<float>(float);\n")
        judged, text = self.check(self.compile("template", template), status=4)
        self.assertEqual([self.errors(one) for one in judged], [["unused-definition"]] * 2)
        self.assertIn("is the C++ name of user_transform", text)

    def test_a_name_like_no_hook_is_told_to_pass_the_library(self):
        other = self.compile("other", HOOK.replace("user_transform", "unrelated_name_entirely"))
        _, text = self.check(other, status=4)
        self.assertIn("hint: pass the library whose kernel calls it\n", text)

    def test_removed_and_static_functions_are_errors_that_say_why(self):
        judged, text = self.check(self.compile("plain", HOOK, "-arch=sm_90"), status=4)
        self.assertEqual([self.errors(one) for one in judged], [["removed-functions"]] * 2)
        self.assertIn("compile with -dlto", text)
        static = self.compile("hidden", HOOK.replace('extern "C"', "static"))
        judged, text = self.check(static, status=4)
        self.assertEqual([self.errors(one) for one in judged], [["no-definition"]] * 2)

    def test_one_of_several_hooks_links_and_names_the_hook_that_is_left(self):
        self.install(self.compile("two", TWO_HOOKS))
        judged, text = self.check(self.compile("pre", PRE), status=0)
        self.assertEqual({one["library"]["name"] for one in judged}, {"two"})
        left = next(f for f in judged[0]["findings"] if f["id"] == "missing-hook")
        self.assertEqual((left["severity"], left["symbol"]), ("warning", "post"))
        self.assertEqual(judged[0]["open_hooks"], ["post"])
        self.assertIn("sm_90    ptx, lto  links if another input defines post\n", text)
        judged, _ = self.check(self.compile("both", PRE + PRE.replace("pre", "psot")), status=4)
        self.assertEqual(self.errors(judged[0]), ["missing-hook"])

    def test_a_transform_that_prints_is_still_a_transform(self):
        printing = self.compile("printing", '#include <cstdio>\n' + HOOK.replace("return", 'printf("x"); return'))
        judged, _ = self.check(printing, status=0)
        self.assertEqual({one["library"]["name"] for one in judged}, {"apply_transform"})

    def test_a_helper_that_is_missing_is_an_error(self):
        caller = self.compile("caller", 'extern "C" __device__ float scale(float);\n'
                              + HOOK.replace("return x", "return scale(x)"))
        judged, _ = self.check(caller, status=4)
        self.assertEqual(self.errors(judged[0]), ["missing-hook"])
        helper = self.compile("helper", 'extern "C" __device__ float scale(float x) { return x; }\n')
        judged, _ = self.check(caller, helper, status=0)
        self.assertEqual({one["library"]["name"] for one in judged}, {"apply_transform"})


class WithALibrary(CheckTransform):
    def test_a_library_alone_does_not_link_while_its_hooks_are_open(self):
        judged, _ = self.check("apply_transform", status=4)
        self.assertEqual([self.errors(one) for one in judged], [["missing-hook"]] * 2)
        self.assertEqual({one["library"] for one in judged}, {None})

    def test_nothing_installed_is_asked_where_the_library_is_passed(self):
        judged, text = self.check(LIBRARY, SHARE / "gelu.fatbin", status=0)
        self.assertEqual({one["library"] for one in judged}, {None})
        self.assertEqual(text, "sm_90    ptx, lto  links\n")


if __name__ == "__main__":
    unittest.main()
