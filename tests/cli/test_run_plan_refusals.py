# SPDX-License-Identifier: Apache-2.0
"""What `fatlink run` refuses of a launch plan's arguments: each message names the argument, the cause and the remedy."""
import json
import resource
import shutil
import subprocess
import unittest

from fatlink_cli import EMULATED, PROGRAM, SANITIZED, SHARE
from plan_case import CORPUS, LOAD, RECORD, SUM, PlanTest, floats, npy


class RunPlanRefusals(PlanTest):
    def test_a_file_of_state_is_refused_if_its_size_is_not_that_of_the_struct(self):
        self.file("state", bytes(5))
        self.refuse(2, *LOAD, "--state", "load_state=state",
                    says="--state load_state: state has 5 bytes, and the state of load_float32 has 4")

    def test_a_file_of_state_is_refused_for_a_hook_that_states_no_state(self):
        self.file("state", bytes(12))
        self.refuse(2, "--library", "convert", "--transform", "load_float32", "--state", "store_state=state",
                    says=f'--state store_state: {SHARE / "convert.json"} states no "state"', hint="leave out --state")
        self.file("half.cu", self.HALF)
        self.file("half.json", json.dumps({"name": "half", "summary": "x / 2", "hooks": {
            "load_element": {"parameters": ["x", "index"], "result": "x / 2"}}}))
        self.refuse(2, "--library", "convert", "--transform", "half.cu", "--state", "load_state=state",
                    says='--state load_state: half.json states no "state"', hint="leave out --state")

    def test_a_file_of_state_of_any_size_is_passed_to_a_hook_that_no_sidecar_describes(self):
        self.file("state", bytes(12))
        self.file("half.cu", self.HALF)
        self.run_plan("--library", "convert", "--transform", "half.cu", "--state", "load_state=state", "--elements", 10)

    def test_a_hook_that_the_sidecar_of_a_source_misspells_is_refused(self):
        self.file("half.cu", self.HALF)
        self.file("half.json", json.dumps({"name": "half", "summary": "x / 2", "hooks": {
            "laod_element": {"parameters": ["x", "index"], "result": "x / 2"}}}))
        self.refuse(3, "--library", "convert", "--transform", "half.cu",
                    says='half.json: "hooks" has "laod_element", which is not a hook of convert/1 (load_element, store_element)',
                    hint='did you mean "load_element"?')

    def test_an_unknown_field_of_a_state_is_named_with_the_known_ones(self):
        self.refuse(2, *LOAD, "--set", "load_state.scael=1", says="the state has no field 'scael'", hint="did you mean scale? its fields: scale")

    def test_elements_of_another_type_than_the_transforms_are_refused(self):
        self.file("in.npy", floats(1, 2, 3))
        self.refuse(4, "--library", "convert", "--transform", "load_float16", "--input", "in.npy",
                    says="in.npy has elements of float32; argument in has elements of float16", hint="[element-mismatch]")
        self.refuse(4, "--library", "convert", "--transform", "load_float16", "--input", "in.npy",
                    says="in.npy has elements of float32",
                    hint="convert the array to float16; or pass a transform for elements of float32\n")

    def test_elements_of_another_type_than_the_plans_can_only_be_converted(self):
        self.file("in.npy", npy("<f8", "(1,)", bytes(8)))
        self.refuse(4, *SUM, "--input", "in.npy", says="in.npy has elements of float64; argument in has elements of float32",
                    hint="convert the array to float32\n")

    def test_wrong_arguments_are_named(self):
        self.file("in.npy", floats(1, 2, 3))
        for words, says in (
                (("--input", "inn=in.npy"), "--input inn: plan weighted_sum has no input of this name"),
                (("--output", "in=out.npy"), "--output in: plan weighted_sum has no output of this name"),
                (("--set", "inti=1"), "--set inti: plan weighted_sum has no value of this name"),
                (("--set", "init"), "--set init: has no value"), (("--set", "=1"), "--set =1: has no name"),
                (("--set", "init=1", "--set", "init.low=2"), "--set init.low: init is already set as a whole"),
                (("--set", "init=x"), "--set init: 'x' is not a number"),
                (("--set", "init=1e39"), "--set init: 1e+39 is not a value of float32"),
                (("--set", "n=18446744073709551615"), "--set n: 18446744073709551615 is above 2^63 - 1"),
                (("--set", "bounds.low=[1]"), "--set bounds: [1] is not a value of float32"),
                (("--set", "n=5", "--input", "in.npy"), "argument in"),
                (("--state", "x=f"), "--state x: plan weighted_sum has no state of this name"),
                (("--kernel", "weigh_tiles"), "--kernel weigh_tiles: the launch plan of weighted_sum names its kernels")):
            with self.subTest(words=words):
                self.refuse(2, *SUM, *words, says=says)

    def test_the_hint_says_which_fields_of_a_struct_are_needed(self):
        self.refuse(2, *SUM, "--set", 'bounds={"low": "x"}', says="is not a value of",
                    hint="for a struct, pass the fields for which the plan has no default")

    def test_an_output_that_cannot_be_written_is_refused_before_the_run(self):
        done = self.refuse(3, *SUM, "--output", "nowhere/out.npy", says="nowhere/out.npy")
        self.assertEqual(done.stdout, "")

    def test_an_expected_array_of_another_type_or_size_is_refused(self):
        self.file("in.npy", floats(1, 2, 3))
        self.file("double.npy", npy("<f8", "(1,)", bytes(8)))
        self.file("two.npy", floats(1, 2))
        self.refuse(4, *SUM, "--input", "in.npy", "--expect", "double.npy",
                    says="double.npy has elements of float64; argument out has elements of float32", hint="[element-mismatch]")
        self.refuse(2, *SUM, "--input", "in.npy", "--expect", "two.npy",
                    says="--expect out: the array has the shape (2), and the output has (1)")

    def test_fields_are_checked_by_name(self):
        for words, says, hint in (
                ("bounds.stirde=1", "--set bounds.stirde: bounds has no field 'stirde'", "did you mean stride? its fields: low, stride"),
                ('bounds={"stirde": 1}', "--set bounds.stirde: bounds has no field 'stirde'", "did you mean stride? its fields"),
                ("bounds=1", "--set bounds: bounds is a struct, not 1", "name a field, of low, stride: --set bounds.low=VALUE"),
                ("init.x=1", "--set init.x: init is a value of float32, which has no fields", "write --set init=VALUE"),
                ("state=1", "--set state: state is a state, not 1", "name a field: --set state.FIELD=VALUE")):
            with self.subTest(words=words):
                self.refuse(2, *SUM, "--set", words, says=says, hint=hint)

    def test_a_misspelt_name_is_followed_by_the_help(self):
        self.refuse(2, *SUM, "--set", "inti=1", says="--set inti: plan weighted_sum has no value of this name",
                    hint="did you mean init? see fatlink run --help")

    def test_a_field_is_not_set_of_a_state_that_no_transform_states(self):
        self.refuse(2, "--library", "convert", "--transform", "load_float32", "--set", "store_state.scale=2",
                    says="--set store_state: no transform states the fields of its state", hint='in the .json beside the transform: "state": [{"name": …, "type": …}, …]; else leave out --set store_state.…')

    def test_elements_are_refused_where_no_size_takes_them(self):
        self.refuse(2, *LOAD, "--set", "n=5", "--elements", "7", says="--elements 7: there is no size to set: --set or defaults set all sizes of plan convert", hint="leave out --elements")

    def test_whole_numbers_may_have_an_exponent(self):
        said = self.run_plan(*SUM, "--set", "n=1e2", "--set", "bounds.stride=2e0")
        self.assertEqual(said["sizes"], {"n": 100})
        self.refuse(2, *SUM, "--set", "n=1.5", says="--set n: 1.5 is not a whole number")

    def test_an_option_without_a_file_is_named(self):
        for option, name in (("--input", "in"), ("--output", "out"), ("--expect", "out"), ("--state", "state")):
            with self.subTest(option=option):
                self.refuse(2, *SUM, option, f"{name}=", says=f"{option} {name}=: names no file",
                            hint=f"write {option} {name}=FILE")

    def test_files_of_arrays_that_are_missing_have_their_own_remedy(self):
        self.refuse(3, *SUM, "--input", "no.npy", says="no.npy: no such file",
                    hint="pass a .npy file, as numpy.save(file, x) writes it")

    def test_a_type_of_elements_that_nothing_states_is_missing(self):
        def leave_open(plan):
            plan["arguments"][0]["type"] = "element"
        self.refuse(2, *self.with_plan(leave_open), says="the type of argument in of plan weighted_sum is not known: no input "
                    "states the type of the elements", hint='FATLINK_ELEMENT(HOOK, TYPE); or state "element" in its .json')

    def test_a_missing_size_is_stated_by_set(self):
        def add_size(plan):
            plan["arguments"].append({"name": "width", "role": "size"})
        self.refuse(2, *self.with_plan(add_size), says="argument width: plan weighted_sum needs this size",
                    hint="give its value: --set width=N")

    def test_a_missing_hook_is_reported_before_a_missing_size(self):
        def add_size(plan):
            plan["arguments"].append({"name": "width", "role": "size"})
        library = self.with_plan(add_size)[1]
        self.refuse(4, "--library", library, says="which is defined by no input [missing-hook]")

    def test_a_lost_plan_is_named_as_the_cause(self):
        shutil.copyfile(CORPUS / "weighted_sum.fatbin", self.folder / "lost.fatbin")
        self.file("in.npy", npy("|u1", "(3,)", bytes(3)))
        self.refuse(2, "--library", "lost.fatbin", "--transform", CORPUS / "scaled_add.fatbin", "--input", "in.npy",
                    says="lost.fatbin has 2 kernels, none of them apply_transform",
                    hint="it needs a launch plan: there is no lost.json with a launch plan")
        self.file("lost.json", '{"name": "lost", "summary": "", "hook": "weigh", "reference": "x"}')
        self.refuse(2, "--library", "lost.fatbin", "--transform", CORPUS / "scaled_add.fatbin", "--set", "n=1",
                    says="lost.fatbin has 2 kernels, none of them apply_transform", hint="lost.json states no launch plan")

    def test_a_state_without_known_fields_is_passed_with_a_warning(self):
        self.file("state", bytes(5))
        said = self.run_plan(*SUM, "--elements", 10, "--state", "state")
        self.assertEqual(said["warnings"], ["--state state: no transform declares the fields of its state, so the size of state, 5 bytes, is not checked"])

    def store_double(self, sidecar):
        self.file("s.cu", 'extern "C" __device__ void store_element(void* o, std::size_t i, float v, void const*)\n'
                  '{ static_cast<double*>(o)[i] = v; }\n')
        self.file("s.json", json.dumps({"name": "s", "summary": "x", "hooks": {
            "store_element": {"parameters": ["x", "index"], "result": "x"}}, **sidecar}))
        return "--library", "convert", "--transform", "s.cu", "--elements", 10

    def test_elements_that_a_transform_does_not_record_are_those_of_its_sidecar(self):
        said = self.run_plan(*self.store_double({"element": "float64"}), "--output", "out.npy")
        self.assertEqual([mode["reference"][0]["verified"] for mode in said["modes"]], 2 * [True])
        self.assertIn(b"'<f8'", (self.folder / "out.npy").read_bytes())

    def test_elements_of_a_default_hook_are_not_those_of_a_transform_that_replaces_it(self):
        self.refuse(2, *self.store_double({}), says="the type of argument out of plan convert is not known",
                    hint="FATLINK_ELEMENT(HOOK, TYPE); or state \"element\" in its .json")

    def test_a_record_and_a_sidecar_that_state_different_elements_are_refused(self):
        self.file("half.cu", self.HALF)
        self.file("half.json", json.dumps({"name": "half", "summary": "x / 2", "element": "float64", "hooks": {
            "load_element": {"parameters": ["x", "index"], "result": "x / 2"}}}))
        self.refuse(3, "--library", "convert", "--transform", "half.cu",
                    says='half.json: "element" is float64, and the code records float32 for load_element',
                    hint="state the type of FATLINK_ELEMENT")

    def test_a_null_state_that_a_transform_reads_is_named_as_the_cause(self):
        self.file("load.cu", RECORD + 'extern "C" __device__ float load_element(void const* in, std::size_t i, void const* state)\n'
                  '{ return *static_cast<float const*>(state) * static_cast<float const*>(in)[i]; }\n')
        self.refuse(5, "--library", "convert", "--transform", "load.cu", "--elements", 10, says="a null pointer",
                    hint="if the transform needs a state (load_state, store_state), pass its bytes with --state FILE, or state its "
                         "fields in the transform's .json; otherwise fix the device code")

    def test_arrays_above_the_memory_of_the_machine_are_refused_before_they_are_allocated(self):
        self.refuse(5, *LOAD, "--set", "n=2e12", says="the arrays of plan convert take 40000.0 GB of this machine's memory;",
                    hint="use fewer --elements, smaller sizes (--set) or inputs")

    def test_arrays_that_the_device_determines_are_refused_before_they_are_allocated(self):
        def enlarge(plan, argument):
            plan["let"]["huge"] = "multiprocessors * 1000000000000"
            argument = next(each for each in plan["arguments"] if each["name"] == argument)
            argument["count"] = "huge"
        for argument in ("in", "out", "partial"):
            with self.subTest(argument=argument):
                self.refuse(5, *self.with_plan(lambda plan: enlarge(plan, argument)), "--set", "n=10",
                            says="the arrays of plan weighted_sum take ", hint="use fewer --elements, smaller sizes (--set)")

    @unittest.skipIf(SANITIZED or EMULATED, "sanitizers map more than the limit, emulators ignore it")
    def test_the_limit_of_the_address_space_counts_as_memory(self):
        done = subprocess.run([PROGRAM, "run", "--device", "cpu", *map(str, LOAD), "--elements", "1e9"], cwd=self.folder, text=True,
                              capture_output=True, env=self.environment({}),
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)))
        self.assertEqual(done.returncode, 5)
        self.assertIn("the arrays of plan convert take 20.0 GB of this machine's memory; ", done.stderr)

    def test_the_step_of_a_long_run_is_shown_on_a_terminal_and_erased(self):
        self.file("slow.cu", RECORD + 'extern "C" __device__ float load_element(void const* in, std::size_t i, void const*)\n'
                  '{ float x = static_cast<float const*>(in)[i], y = x; for (int k = 0; k < 40000; ++k) y = y * 0.5F + x; return y; }\n')
        output, elements = "", 8192
        while "running ptx mode on cpu, 1 s" not in output:  # a step of less than a second shows nothing
            self.assertLess(elements, 1 << 24, output)
            output = self.on_terminal("run", "--device", "cpu", "--library", "convert", "--transform", "slow.cu", "--mode", "ptx",
                                      "--elements", elements, "--instruction-budget", "0", stdout=subprocess.DEVNULL)
            elements *= 4
        self.assertEqual(output.split("\r\x1b[K")[-1], "")


if __name__ == "__main__":
    unittest.main()
