# SPDX-License-Identifier: Apache-2.0
"""`fatlink run` of libraries with a launch plan: data of every kind, verification, and what is refused."""
import json
import shutil
import struct
import unittest

from fatlink_cli import SHARE
from plan_case import CORPUS, LOAD, SUM, PlanTest, floats, npy


class RunPlan(PlanTest):
    def test_every_pair_of_loaders_and_storers_verifies_in_both_modes(self):
        for loader in ("load_float32", "load_float16", "load_int8", "load_ramp"):
            for storer in ("store_float32", "store_float16", "store_int8", "store_clamped"):
                with self.subTest(loader=loader, storer=storer):
                    said = self.run_plan("--library", "convert", "--transform", loader, "--transform", storer,
                                         "--elements", 1000)
                    self.assertEqual([mode["reference"][0]["verified"] for mode in said["modes"]], [True, True])
                    self.assertEqual(said["modes"][0]["reference"][0]["elements"], 1000)
                    self.assertTrue(said["between"][0]["verified"])

    def test_every_transform_of_stencil_verifies(self):
        for name in ("smooth", "diffuse", "derivative", "median"):
            with self.subTest(name=name):
                said = self.run_plan("--library", "stencil", "--transform", name, "--elements", 1000)
                self.assertEqual([mode["reference"][0]["verified"] for mode in said["modes"]], [True, True])

    def test_a_hook_that_is_left_out_uses_its_default_with_the_state_of_the_other(self):
        self.file("in.npy", floats(1, 2, 3))
        for transform, state in (("load_float32", "load_state"), ("store_float32", "store_state")):
            self.run_plan("--library", "convert", "--transform", transform, "--input", "in.npy", "--output", "out.npy",
                          "--set", f"{state}.scale=2")
            self.assertEqual(struct.unpack("<3f", (self.folder / "out.npy").read_bytes()[-12:]), (2, 4, 6))

    def test_types_change_from_input_to_output(self):
        self.file("in.npy", npy("|i1", "(4,)", struct.pack("<4b", -128, -1, 0, 127)))
        self.run_plan("--library", "convert", "--transform", "load_int8", "--transform", "store_float16",
                      "--input", "in=in.npy", "--output", "out=out.npy", "--set", "load_state.scale=0.5")
        written = (self.folder / "out.npy").read_bytes()
        self.assertIn(b"'<f2'", written)
        self.assertEqual(struct.unpack("<4e", written[-8:]), (-64, -0.5, 0, 63.5))

    def test_structs_values_and_files_of_state(self):
        self.file("in.npy", floats(*range(1, 1001)))
        self.file("state", struct.pack("<f", 3))
        self.run_plan(*SUM, "--input", "in.npy", "--output", "out.npy", "--state", "state", "--set", "bounds.low=996",
                      "--set", "bounds.stride=2", "--set", "init=0")
        self.assertEqual(struct.unpack("<f", (self.folder / "out.npy").read_bytes()[-4:])[0], 3 * (997 + 999))

    def test_the_report_says_what_was_not_compared_and_why(self):
        said = self.run_plan(*SUM, "--elements", 10)
        self.assertIsNone(said["modes"][0]["reference"][0]["verified"])
        self.assertNotEqual(said["modes"][0]["reference"][0]["reason"], "")
        self.assertEqual(said["modes"][0]["expected"], [])

    def of_device(self, plan):
        """Its input's extent depends on the device: with 64 threads, 2 elements for each block that runs at once."""
        plan["arguments"][0]["count"] = "pairs"
        plan["let"]["pairs"] = "multiprocessors * occupancy(weigh_tiles) * 2"
        plan["launches"][0]["grid"] = "min(blocks, pairs - 1)"  # not with 1 multiprocessor of 1 block

    def test_an_input_has_the_extents_that_the_device_gives(self):
        words = self.with_plan(self.of_device)
        self.run_plan(*words, "--set", "n=2")
        self.file("in.npy", floats(1, 2, 3))
        done = self.refuse(2, *words, "--set", "n=2", "--input", "in.npy",
                           says="elements in the plan on this device; 3 given", hint="pass an array of this size, or leave out --input in: it is generated")
        count = int(done.stderr.split("argument in has ")[1].split()[0])
        self.assertEqual(count % 2, 0)
        self.file("in.npy", floats(*range(count)))
        self.run_plan(*words, "--set", "n=2", "--input", "in.npy", "--output", "out.npy")
        self.assertEqual(struct.unpack("<f", (self.folder / "out.npy").read_bytes()[-4:])[0], 0 + 1)

    def test_fields_of_a_state_replace_those_of_its_file(self):
        self.file("in.npy", floats(1, 2, 3))
        self.file("state", struct.pack("<f", 3))
        for words, scale in (((), 3), (("--set", "load_state.scale=5"), 5)):
            self.run_plan(*LOAD, "--input", "in.npy", "--output", "out.npy", "--state", "load_state=state", *words)
            self.assertEqual(struct.unpack("<3f", (self.folder / "out.npy").read_bytes()[-12:]), (scale, 2 * scale, 3 * scale))

    def test_outputs_have_the_extents_that_the_device_gives(self):
        library = self.copy("weighted_sum")
        plan = json.loads(library.with_suffix(".json").read_text())
        plan["arguments"] = [argument for argument in plan["arguments"] if argument["name"] != "out"]
        for argument in plan["arguments"]:
            if argument["name"] == "partial":
                argument["role"] = "output"
        plan["let"]["blocks"] = "occupancy(weigh_tiles) * 2"
        del plan["launches"][1]
        library.with_suffix(".json").write_text(json.dumps(plan))
        self.run_plan("--library", library, "--transform", CORPUS / "scaled_add.fatbin", "--output", "out.npy",
                      "--elements", 5)
        header = (self.folder / "out.npy").read_bytes()[:128].decode("latin-1")
        count = int(header.split("'shape': (")[1].split(",")[0])
        self.assertEqual(count, 2 * 64)  # the reference device's occupancy is 1

    def test_an_output_never_replaces_a_file_that_the_run_reads(self):
        self.file("in.npy", floats(1, 2, 3))
        self.file("state", struct.pack("<f", 3))
        self.file("right.npy", floats(6))
        for output in ("in.npy", "state", "right.npy"):
            with self.subTest(output=output):
                before = (self.folder / output).read_bytes()
                self.refuse(2, *SUM, "--input", "in.npy", "--state", "state", "--expect", "right.npy", "--output", output,
                            says=output)
                self.assertEqual((self.folder / output).read_bytes(), before)

    def test_what_needs_a_gpu_is_refused_on_the_reference_device(self):
        self.refuse(5, *SUM, "--mode", "sass", says="the reference device runs PTX, not SASS", hint="needs-gpu")
        self.refuse(2, *SUM, "--resources", says="--resources", hint="--device gpu")
        self.refuse(5, *SUM, "--compare-cpu", says="the run already uses the reference device", hint="needs-gpu")

    def test_modes_are_compared_without_a_reference(self):
        said = self.run_plan(*SUM, "--elements", 10)
        self.assertTrue(said["between"][0]["verified"])
        self.assertIn("floats up to 4 spacings", said["between"][0]["method"])
        self.assertIn("both modes   out: agree, 1 element, integers exactly, floats up to 4 spacings\n",
                      self.fatlink("run", "--device", "cpu", *SUM, "--elements", 10).stdout)

    def test_the_first_elements_are_shown(self):
        self.file("in.npy", floats(1, 2, 3))
        said = self.run_plan(*LOAD, "--input", "in.npy", "--print", 2)
        self.assertEqual(said["results"], [{"output": "out", "index": "0", "inputs": {}, "ptx": "1", "lto": "1", "expected": "1"},
                                           {"output": "out", "index": "1", "inputs": {}, "ptx": "2", "lto": "2", "expected": "2"}])
        text = self.fatlink("run", "--device", "cpu", *LOAD, "--input", "in.npy", "--print", 2).stdout
        self.assertIn("  out[1]  ptx 2  lto 2  expected 2\n", text)

    def test_outputs_that_no_kernel_wrote_are_not_verified(self):
        def launch_nothing(plan):
            plan["launches"][1]["grid"] = 0
        said = self.run_plan(*self.with_plan(launch_nothing), "--elements", 10)
        self.assertEqual((said["between"][0]["verified"], said["between"][0]["reason"]),
                         (None, "no kernel wrote an element of it"))

    def test_nothing_is_verified_where_there_is_nothing(self):
        said = self.run_plan(*LOAD, "--set", "n=0")
        self.assertEqual((said["between"][0]["verified"], said["between"][0]["reason"]), (None, "there are no elements"))

    def test_the_library_is_that_of_the_transforms_contract(self):
        said = self.fatlink_json("run", "--transform", "load_float32", "--transform", "store_float16", "--device", "cpu",
                                 "--elements", 10)
        self.assertEqual(said["plan"], "convert")
        said = self.fatlink_json("run", "--transform", "gelu", "--device", "cpu", "--elements", 10)
        self.assertEqual(said["library"], "apply_transform")

    def test_several_libraries_of_a_contract_are_listed(self):
        folder = self.folder / "installed"
        folder.mkdir()
        for name in ("convert_b", "convert_a"):
            shutil.copy(SHARE / "convert.fatbin", folder / f"{name}.fatbin")
        self.refuse(2, "--transform", "load_float32", env={"FATLINK_PATH": str(folder)},
                    says="load_float32 is for the contract convert, which 3 installed libraries have: convert, "
                         "convert_a, convert_b", hint="select one: --library convert")

    def test_offsets_of_segments_are_generated(self):
        for sizes in (("n=1000", "segments=10"), ("n=10", "segments=100"), ("n=0", "segments=3")):
            said = self.run_plan("--library", "segmented_reduce_4", "--transform", "add_int32", "--mode", "ptx",
                                 *(word for size in sizes for word in ("--set", size)))
            self.assertEqual([check["verified"] for mode in said["modes"] for check in mode["reference"]], [True], sizes)

    def test_arrays_without_elements_are_run(self):
        self.file("empty.npy", npy("<f4", "(0,)", b""))
        said = self.run_plan(*LOAD, "--input", "empty.npy")
        self.assertEqual(said["sizes"]["n"], 0)
        self.assertEqual(said["between"][0]["reason"], "there are no elements")

    def test_the_librarys_reference_is_not_that_of_a_transform_without_one(self):
        for name in ("load_ramp", "load_int8"):
            shutil.copyfile(SHARE / f"{name}.fatbin", self.folder / f"{name}.fatbin")
            said = self.run_plan("--library", "convert", "--transform", f"{name}.fatbin", "--elements", 1000)
            self.assertIsNone(said["modes"][0]["reference"][0]["verified"], name)
            self.assertIn("load_element", said["modes"][0]["reference"][0]["reason"])

    def test_integers_without_a_bound_are_compared_exactly(self):
        shutil.copyfile(SHARE / "store_int8.fatbin", self.folder / "store.fatbin")
        self.file("in.npy", floats(1, 2, 3, 4))
        self.file("near.npy", npy("|i1", "(4,)", bytes((1, 2, 3, 5))))
        done = self.fatlink("run", "--device", "cpu", "--library", "convert", "--transform", "store.fatbin",
                            "--input", "in.npy", "--expect", "near.npy", status=1)
        self.assertIn("WRONG: 1 of 4 elements; the first is element 3: 4, expected 5", done.stdout)

    def test_an_expected_array_is_compared(self):
        self.file("in.npy", floats(1, 2, 3))
        self.file("right.npy", floats(6))
        self.file("wrong.npy", floats(7))
        said = self.run_plan(*SUM, "--input", "in.npy", "--expect", "right.npy")
        self.assertTrue(said["modes"][0]["expected"][0]["verified"])
        done = self.fatlink("run", "--device", "cpu", *SUM, "--input", "in.npy", "--expect", "wrong.npy", status=1)
        self.assertIn("WRONG: 1 of 1 element; the first is element 0: 6, expected 7", done.stdout)

    def test_the_worst_element_and_a_tolerance_that_accepts_it_are_named(self):
        self.file("half.cu", 'extern "C" __device__ float user_transform(float x) { return 0.5F * x * 1.000001F; }\n')
        stated = '{"name": "half", "hook": "user_transform", "reference": "x / 2", "tolerance_ulp": %s}'
        self.file("half.json", stated % 1)
        done = self.fatlink("run", "--device", "cpu", "half.cu", "--elements", "1000", status=1)
        self.assertRegex(done.stdout, r"; the worst is element \d+: \S+, expected \S+, an error of \S+ ulp\n")
        self.assertRegex(done.stdout, r"\"tolerance_ulp\": \S+ in half.json accepts every element\n")
        said = self.fatlink_json("run", "--device", "cpu", "half.cu", "--elements", "1000", status=1)["modes"][0]["reference"][0]
        self.assertGreaterEqual(said["accepting_ulp"], said["max_ulp"])
        self.assertIn("index", said["worst"])
        self.file("half.json", stated % said["accepting_ulp"])
        self.fatlink("run", "--device", "cpu", "half.cu", "--elements", "1000")

    def test_sources_are_compiled_and_reported(self):
        self.file("half.cu", self.HALF)
        self.file("in.npy", floats(1, 2, 3))
        said = self.run_plan("--library", "convert", "--transform", "half.cu", "--input", "in.npy", "--output", "out.npy")
        self.assertEqual([source["file"] for source in said["compiles"]], ["half.cu"])
        self.assertEqual(struct.unpack("<3f", (self.folder / "out.npy").read_bytes()[-12:]), (0.5, 1, 1.5))

    def test_no_output_overwrites_a_header_of_a_source(self):
        header = self.file("k.h", "#define K 0.5F\n")
        self.file("half.cu", '#include <k.h>\nextern "C" __device__ float load_element(void const* in, std::size_t i, '
                  'void const*)\n{ return K * static_cast<float const*>(in)[i]; }\n')
        self.file("in.npy", floats(1, 2, 3))
        self.assert_fails(2, "run", "--device", "cpu", "--library", "convert", "--transform", "half.cu", "--input", "in.npy",
                          "-I", ".", "--output", "k.h", says=["k.h is a header of the source"], hint="name another file with --output")
        self.assertEqual(header.read_text(), "#define K 0.5F\n")


if __name__ == "__main__":
    unittest.main()
