# SPDX-License-Identifier: Apache-2.0
"""What the build side knows and checks of contracts and references, with real nvcc."""
import json
import subprocess
import unittest

from build_side import BUILD, CONTRACT, FATBIN, HEADER, LIBRARY, NVCC, TRANSFORM, ContractsCase, plain, wait_for_another_time
from run_tests import long_test


class Hooks(ContractsCase):
    def test_an_ident_lists_the_hooks_of_the_header_with_their_types(self):
        self.write("hook.cuh", """
            // extern "C" __device__ float commented(float);
            #include <cstdint>
            /* extern "C" { __device__ float also_commented(float); } */
            #define UNUSED extern "C" __device__ float in_a_macro(float);
            extern "C" __device__ float hook(float x);
            struct pair { float a, b; };
            extern "C" {
            __device__ __attribute__((const)) int second(int, float const* p);
            struct inner { int x; };
            __device__ pair* third(pair* p, void (*f)(pair*)); float host_function(float);
            __device__ inline float with_default(float x) { if (x > 0) { return x; } return 0; }
            extern __device__ int variable;
            }
            namespace helpers { __device__ inline float overloaded(float x) { return x; }
            __device__ inline double overloaded(double x) { return x; } }
            static __device__ float private_function(float x) { return x; }
            template <typename T> __device__ T templated(T x) { return x; }
            #ifdef __cplusplus
            extern "C"
            {
            #endif
            __device__ void fourth(std::uint64_t);
            #ifdef __cplusplus
            }
            #endif
            """)
        self.built(FATBIN)
        self.assertEqual(self.hooks(), {
            "hook": "float hook(float)", "second": "int second(int, float const*)",
            "third": "pair* third(pair*, void (*)(pair*))", "fourth": "void fourth(unsigned long)",
            "with_default": "float with_default(float)"})

    def test_hooks_that_the_scan_cannot_see_are_named(self):
        self.write("hook.cuh", '#define DECLARE(name) extern "C" __device__ float name(float)\nDECLARE(hook);\n')
        self.assert_build_fails(FATBIN, "hook.cuh: contract c/3 declares no hook",
                                "list the hooks with fatlink_add_contract(c ... HOOKS <name>...)")
        self.built(FATBIN.replace("hook.cuh", "hook.cuh HOOKS hook"))
        self.assertEqual(self.hooks(), {"hook": "float hook(float)"})

    def test_malformed_hooks_stop_configuration(self):
        for hooks, says in (("a-b", "fatlink_add_contract(c): HOOKS a-b: expected the name of a function"),
                            ("", "fatlink_add_contract(c): no value for HOOKS")):
            done = self.configure(CONTRACT.replace("hook.cuh", f"hook.cuh HOOKS {hooks}"))
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(says, plain(done.stderr))

    def test_an_installed_contract_names_its_hooks(self):
        done = self.configure(CONTRACT.replace("hook.cuh", "hook.cuh HOOKS hook other INSTALL_DESTINATION c"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(" HOOKS hook other)", (self.folder / "b/contracts/c.cmake").read_text())

    def test_an_included_contract_is_declared_alike(self):
        lists = CONTRACT + ("fatlink_add_contract(more VERSION 1 HEADER more.cuh INCLUDES c INSTALL_DESTINATION c)\n"
                            "fatlink_add_fatbin(t SOURCES t.cu CONTRACT more)\n")
        other = 'extern "C" __device__ int other(int);\n'
        self.write("more.cuh", other)
        self.assert_build_fails(lists, "contract more/1 includes the contract c, and does not declare its hook hook")
        self.write("more.cuh", other + 'extern "C" __device__ double hook(double);\n')
        self.assert_build_fails(lists, "contract more/1 includes the contract c, and declares its hook hook with another type "
                                "(mangled FddE, not FffE)")
        self.write("more.cuh", other + HEADER)
        self.built(lists)
        self.assertEqual([entry["ident"]["includes"] for entry in self.entries()], [{"c": 3}] * len(self.entries()))
        self.assertEqual(json.loads((self.folder / "b/contracts/more.json").read_text())["includes"], {"c": 3})
        self.assertIn('FATLINK_CONTRACT_INCLUDES "c/3"', (self.folder / "b/contracts/more.cmake").read_text())

    def test_a_contract_that_fatbins_use_already_is_not_replaced(self):
        installed = CONTRACT + "set_target_properties(fatlink_contract_c PROPERTIES FATLINK_CONTRACT_INSTALLED ON)\n"
        self.assertEqual(self.configure(installed + CONTRACT).returncode, 0)
        done = self.configure(installed + "fatlink_add_fatbin(t SOURCES t.cu CONTRACT c)\n" + CONTRACT)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("declare the contract before them", plain(done.stderr))

    def test_a_named_hook_that_is_no_extern_c_device_function_names_the_header(self):
        self.write("hook.cuh", HEADER + "__device__ float plain(float);\n"
                   'extern "C" float on_host(float);\nextern "C" __device__ int variable;\n')
        for name, text in (("plain", 'plain is not a device function that it declares extern "C"'),
                           ("on_host", "on_host"), ("variable", "variable"), ("absent", "absent")):
            with self.subTest(name=name):
                self.assert_build_fails(FATBIN.replace("hook.cuh", f"hook.cuh HOOKS hook {name}"), f"{self.folder}/hook.cuh", text)

    def test_a_comment_in_the_header_does_not_change_the_identity(self):
        self.built(FATBIN)
        self.write("l.cu", LIBRARY)
        (self.folder / "b/t.fatbin").rename(self.folder / "built_before.fatbin")
        self.write("hook.cuh", "// what the hook is for\n" + HEADER)
        self.built(CONTRACT + "fatlink_add_fatbin(l SOURCES l.cu CONTRACT c)\n")
        self.assertEqual(self.check("b/l.fatbin", "built_before.fatbin"), [])

    def test_a_hook_of_another_type_under_the_same_version_does_not_link(self):
        self.built(FATBIN)
        (self.folder / "b/t.fatbin").rename(self.folder / "built_before.fatbin")
        self.write("l.cu", LIBRARY.replace("float", "int"))
        self.write("hook.cuh", HEADER.replace("float", "int"))
        self.built(CONTRACT + "fatlink_add_fatbin(l SOURCES l.cu CONTRACT c)\n")
        finding, = self.check("b/l.fatbin", "built_before.fatbin", status=4)
        self.assertEqual(finding["id"], "contract-mismatch")
        self.assertIn("declares int hook(int)", finding["message"])
        self.assertIn("declares float hook(float)", finding["message"])

    def assert_a_changed_header_changes_the_hooks(self, generator):
        self.write("types.cuh", "typedef float element;\n")
        self.write("hook.cuh", '#include "types.cuh"\nextern "C" __device__ element hook(element);\n')
        self.write("t.cu", TRANSFORM.replace("float", "element"))
        self.built(FATBIN, "-G", generator)
        self.assertEqual(self.hooks(), {"hook": "float hook(float)"})
        self.assertNotIn("Reading the hooks", self.build().stdout)
        wait_for_another_time(generator)
        self.write("types.cuh", "typedef double element;\n")
        done = self.build()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.hooks(), {"hook": "double hook(double)"})
        self.assertNotIn("Reading the hooks", self.build().stdout)

    def test_a_changed_header_changes_the_hooks_at_the_next_build(self):
        self.assert_a_changed_header_changes_the_hooks("Ninja")

    @long_test  # the test above has Ninja
    def test_a_changed_header_changes_the_hooks_at_the_next_build_with_make(self):
        self.assert_a_changed_header_changes_the_hooks("Unix Makefiles")

    def assert_several_directories_use_one_contract(self, generator):
        for folder in ("one", "two"):
            (self.folder / folder).mkdir()
            self.write(f"{folder}/CMakeLists.txt", f"fatlink_add_fatbin({folder} SOURCES ../t.cu CONTRACT c)\n")
        self.write("a path", "")
        done = self.built(CONTRACT + "add_subdirectory(one)\nadd_subdirectory(two)\n", "-G", generator)
        self.assertEqual(done.stdout.count("Reading the hooks"), 1, done.stdout)
        self.assertEqual(self.hooks("two/two"), {"hook": "float hook(float)"})

    def test_several_directories_use_one_contract(self):
        self.assert_several_directories_use_one_contract("Ninja")

    @long_test  # the test above has Ninja
    def test_several_directories_use_one_contract_with_make(self):
        self.assert_several_directories_use_one_contract("Unix Makefiles")


class Definitions(ContractsCase):
    def test_a_misspelt_definition_fails_the_build(self):
        self.write("t.cu", 'extern "C" __device__ float hok(float x) { return x; }\n')
        self.assert_build_fails(FATBIN, "t.fatbin: defines no hook of contract c/3 (float hook(float)) and calls none",
                                "did you mean hok? Rename the definition to hook")

    def test_a_definition_that_is_private_fails_the_build(self):
        self.write("t.cu", "namespace { __device__ float hook(float x) { return 2 * x; } }\n")
        self.assert_build_fails(FATBIN, "defines no hook of contract c/3",
                                "define a hook outside namespaces and without static")
        self.write("t.cu", 'extern "C" { static __device__ float hook(float x) { return 2 * x; } }\n')
        self.assert_build_fails(FATBIN, "hook")

    @long_test  # test_a_misspelt_definition_fails_the_build
    def test_an_overload_with_another_type_fails_the_build(self):
        self.write("t.cu", "__device__ double hook(double x) { return 2 * x; }\n")
        self.assert_build_fails(FATBIN, "defines no hook of contract c/3", "_Z4hookd is an overload of hook",
                                "define it as float hook(float)")

    def test_a_library_calls_a_hook_and_builds(self):
        self.write("l.cu", LIBRARY)
        self.built(CONTRACT + "fatlink_add_fatbin(l SOURCES l.cu CONTRACT c)\n")

    def test_a_library_that_calls_no_hook_fails_the_build(self):
        self.write("t.cu", LIBRARY.replace("hook(*x)", "2"))
        self.assert_build_fails(FATBIN, "defines no hook of contract c/3 (float hook(float)) and calls none")

    def test_another_ident_than_asked_for_fails_the_build(self):
        self.write("nvcc", f'#!/bin/sh\nexec "{NVCC}" $(echo "$@" | sed "s/-Xfatbin=-ident=[^ ]*/-Xfatbin=-ident=other/")\n')
        (self.folder / "nvcc").chmod(0o755)
        self.assert_build_fails(f'set(CUDAToolkit_NVCC_EXECUTABLE "{self.folder}/nvcc")\n' + FATBIN,
                                "t.fatbin: the ident of its ptx:sm_75 entry is not the expected one")

    def test_a_hook_of_another_type_names_the_contracts_header_and_shows_the_declaration(self):
        self.write("t.cu", TRANSFORM.replace("float", "double"))
        self.assert_build_fails(FATBIN, f"{self.folder}/t.cu(1): error",
                                f'contract c/3 declares hook in {self.folder}/hook.cuh(1): {HEADER.strip()}')

    @long_test  # the test above names it
    def test_an_error_elsewhere_does_not_name_the_contract(self):
        self.write("t.cu", TRANSFORM + "nonsense;\n")
        self.assertEqual(self.configure(FATBIN).returncode, 0)
        done = self.build()
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("contract c/3 declares", done.stdout + done.stderr)


class LineInformation(ContractsCase):
    def assert_ident_survives(self, option):
        self.built(FATBIN.replace("CONTRACT c)", f"CONTRACT c OPTIONS {option} -use_fast_math)"))
        for entry in self.entries():
            self.assertEqual(entry["ident"]["contract"], "c")
            self.assertEqual(entry["ident"]["package"], "outsider")
            self.assertEqual(entry["ident"]["float"], "-ftz=1 -prec_div=0 -prec_sqrt=0 -fmad=1")

    def test_contract_package_and_float_flags_survive_lineinfo(self):
        self.assert_ident_survives("-lineinfo -src-in-ptx")

    @long_test  # the test above has -lineinfo and -src-in-ptx together
    def test_contract_package_and_float_flags_survive_every_spelling_of_lineinfo(self):
        for option in ("-lineinfo", "--generate-line-info"):
            with self.subTest(option=option):
                self.assert_ident_survives(option)

    def test_lineinfo_puts_lines_of_the_source_into_ptx(self):
        self.built(FATBIN.replace("CONTRACT c)", "CONTRACT c OPTIONS -lineinfo)"))
        ptx = self.inspect("--ptx", "--target", "sm_90", "b/t.fatbin")
        self.assertRegex(ptx, r"\.loc\s+1 1 ")
        self.assertIn(f'"{self.folder}/t.cu"', ptx)

    def test_lineinfo_where_it_would_lose_the_ident_fails_the_build(self):
        self.write("options", "-lineinfo\n")
        self.assert_build_fails(FATBIN.replace("CONTRACT c)", f"CONTRACT c OPTIONS --options-file={self.folder}/options)"),
                                "is not the expected one", "-lineinfo in OPTIONS")


class References(ContractsCase):
    REFERENCE = {"name": "t", "summary": "2 x", "hook": "hook", "reference": "2*x", "tolerance_ulp": 1}
    LISTS = FATBIN.replace("CONTRACT c)", "CONTRACT c REFERENCE r.json)")

    def refuse(self, *says, **changes):
        changed = {name: value for name, value in {**self.REFERENCE, **changes}.items() if value is not None}
        self.write("r.json", json.dumps(changed))
        self.assert_build_fails(self.LISTS, f"{self.folder}/r.json: ", *says)
        self.assertFalse((self.folder / "b/t.json").exists())

    def test_a_sound_one_is_built_with_the_digest(self):
        self.write("r.json", json.dumps(self.REFERENCE))
        self.built(self.LISTS)
        self.assertEqual(set(json.loads((self.folder / "b/t.json").read_text())), {*self.REFERENCE, "sha256"})

    def test_a_summary_alone_is_enough_for_a_library(self):
        self.write("r.json", json.dumps({"name": "t", "summary": "s"}))
        self.built(self.LISTS)

    def test_an_unknown_key_is_refused(self):
        self.refuse('unknown key "tolerence_ulp"', 'did you mean "tolerance_ulp"?', tolerence_ulp=3)
        self.refuse('unknown key "sha256"', "the build adds it", sha256=64 * "0")

    def test_a_missing_or_mistyped_key_is_refused(self):
        self.refuse('"hook" is missing', hook=None)
        self.refuse('"reference" is missing', reference=None)
        self.refuse('tolerance_ulp: is of type string; expected a number', tolerance_ulp="4")

    @long_test  # test_a_missing_or_mistyped_key_is_refused; unit tests have the limit
    def test_a_tolerance_above_2_20_is_refused(self):
        self.refuse("tolerance_ulp: is 1048577, above 1048576", tolerance_ulp=2**20 + 1)
        self.refuse("tolerance_ulp: is not a number, 0 or more", tolerance_ulp=-1)

    def test_an_expression_that_does_not_parse_is_refused(self):
        self.refuse('reference: ', reference="2*y")
        self.refuse('reference: ', "write an expression in the parameters", reference="2*")

    def test_a_hook_of_another_contract_is_refused(self):
        self.refuse('"hook" is "hok"', "c/3", 'did you mean "hook"?', hook="hok")

    def hooks(self, name="hook", **members):
        return {"name": "t", "summary": "2 x", "error_model": "exact",
                "state": [{"name": "large", "type": "int64", "default": 2**53 + 1}],
                "hooks": {name: {"parameters": ["x"], "result": "2 * x", **members}}}

    def test_references_of_named_parameters_are_built_as_they_are(self):
        self.write("r.json", json.dumps(self.hooks()))
        self.built(self.LISTS)
        self.assertEqual({**self.hooks(), "sha256": None},
                         {**json.loads((self.folder / "b/t.json").read_text()), "sha256": None})

    def test_references_of_named_parameters_are_checked(self):
        for reference, *says in (
                (self.hooks("hok"), '"hooks" has "hok", which is not a hook of c/3', 'did you mean "hook"?'),
                (self.hooks(result="2 * y"), 'hooks.hook.result: unknown name "y"'),
                (self.hooks(ulp=1), 'hooks.hook: unknown key "ulp"'),
                ({**self.hooks(), "hook": "hook"}, 'hook: belongs to the form for one hook in x')):
            self.write("r.json", json.dumps(reference))
            self.assert_build_fails(self.LISTS, f"{self.folder}/r.json: ", *says)

    def test_no_json_is_refused(self):
        self.write("r.json", "[]")
        self.assert_build_fails(self.LISTS, f"{self.folder}/r.json: is not a JSON object")


class Defaults(ContractsCase):
    def check(self, default):
        self.write("t.cu", 'extern "C" inline __device__ __noinline__ float hook(float x) { ' + default + " }\n"
                   'extern "C" __global__ void k(float* x) { *x = hook(*x); }\n')
        self.built(CONTRACT + "fatlink_add_fatbin(t SOURCES t.cu CONTRACT c)\n")
        done = subprocess.run([BUILD / "bin/fatlink", "check", "--json", self.folder / "b/t.fatbin"], text=True,
                              capture_output=True)
        return json.loads(done.stdout)["targets"]

    def test_a_default_that_leaves_an_argument_unused_is_a_warning_in_ptx_mode(self):
        in_ptx_mode, in_lto_mode = self.check("return threadIdx.x;")
        (finding,) = in_ptx_mode["findings"]
        self.assertEqual((finding["id"], finding["severity"]), ("unpassed-argument", "warning"))
        self.assertIn("passes nothing for argument 1 (b32) of hook, because its default does not use it; a transform that "
                      "reads it will not link in this mode", finding["message"])
        self.assertEqual(in_lto_mode["findings"], [])
        self.assertEqual(in_ptx_mode["default_hooks"], ["hook"])

    def test_a_default_that_uses_its_arguments_is_not(self):
        self.assertEqual([target["findings"] for target in self.check("return x;")], [[], []])


if __name__ == "__main__":
    unittest.main()
