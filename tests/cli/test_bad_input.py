# SPDX-License-Identifier: Apache-2.0
"""Bad input: one line that names the file or value and the cause, a remedy, the right status."""
import json
import os
import random
import struct

from fatlink_cli import HOOK, LIBRARY, SHARE, CliTest

RELU = SHARE / "relu_poly.fatbin"


def npy(dtype="<f4", shape="(3,)", data=struct.pack("<3f", 1, 2, 3)):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


class Fatbins(CliTest):
    def assert_bad_file(self, path, *says):
        """The same answer from every verb that reads it."""
        name = os.path.basename(path)
        self.assert_fails(3, "inspect", path, says=[name, *says])
        self.assert_fails(3, "link", "--target", "sm_90", "-o", "o.cubin", LIBRARY, path, says=[name, *says])
        self.assert_fails(3, "run", "--transform", path, says=[name, *says])

    def test_missing(self):
        self.assert_bad_file("nowhere.fatbin", "no such file")

    def test_directory(self):
        (self.folder / "folder.fatbin").mkdir()
        self.assert_bad_file("folder.fatbin", "is a directory")

    def test_fifo(self):
        os.mkfifo(self.folder / "pipe.fatbin")
        self.assert_bad_file("pipe.fatbin", "is not a regular file")

    def test_empty(self):
        self.file("empty.fatbin", b"")
        self.assert_bad_file("empty.fatbin", "the file is empty")

    def test_random_bytes(self):
        self.file("noise.fatbin", random.Random(1).randbytes(4096))
        self.assert_bad_file("noise.fatbin", "is unknown data that begins with f5 b1 65 22, none of the forms fatbin, ptx, ltoir, cubin")

    def test_truncated(self):
        whole = RELU.read_bytes()
        self.file("cut.fatbin", whole[:3])
        self.assert_bad_file("cut.fatbin", "is the first 3 bytes of a fatbin")
        for kept in (20, 100, len(whole) // 2, len(whole) - 1):
            with self.subTest(kept=kept):
                self.file("cut.fatbin", whole[:kept])
                self.assert_bad_file("cut.fatbin", "at byte")

    def test_without_the_kernel(self):
        self.assert_fails(4, "run", "--library", RELU, "--transform", SHARE / "gelu.fatbin",
                          says=["apply_transform", "[unknown-kernel]"])

    def test_undefined_hook(self):
        other = self.compile("other", HOOK.replace("user_transform", "unrelated_name_entirely"))
        self.assert_fails(4, "run", "--transform", other, says=["user_transform", "[missing-hook]"])

    def test_duplicated_definition(self):
        whole = self.compile("whole", HOOK + '''extern "C" __global__ void apply_transform(
            float const* in, float* out, size_t n) { if (n) out[0] = user_transform(in[0]); }''')
        self.assert_fails(4, "run", "--library", whole, "--transform", RELU,
                          says=["user_transform", "whole.fatbin", "relu_poly.fatbin", "[duplicate-symbol]"])


class Arguments(CliTest):
    def assert_bad_target(self, target, *says):
        self.assert_fails(2, "link", "--target", target, "-o", "o", LIBRARY, RELU, says=[f"'{target}'", *says])

    def test_targets_nvjitlink_would_exit_on(self):
        self.assert_bad_target("sm_1", "older than CUDA 13 supports")
        self.assert_bad_target("sm_70", "older than CUDA 13 supports")
        self.assert_bad_target("sm_83", "no such architecture")

    def test_a_target_of_another_spelling(self):
        done = self.assert_fails(2, "link", "--target", "90", "-o", "o", LIBRARY, RELU,
                                 says=["target '90': not a target; did you mean 'sm_90'?"])
        self.assertIn("write it as nvcc does: sm_90", done.stderr)

    def test_elements(self):
        for text in ("0", "-1", "many", "1.5", "99999999999999999999"):
            with self.subTest(elements=text):
                self.assert_fails(2, "run", "--elements", text, says=["--elements", text])

    def test_a_device_that_is_not_there(self):
        self.assert_fails(5, "run", "--device", "7", says=[""], hint="hint:")

    def test_a_device_of_another_spelling(self):
        self.assert_fails(2, "run", "--device", "tpu", says=["'tpu'"])

    def test_modes(self):
        for verb in (["run"], ["link", "--target", "sm_90", "-o", "o", LIBRARY, RELU]):
            self.assert_fails(2, *verb, "--mode", "fast", says=["--mode", "fast"])

    def test_no_verb_and_unknown_words(self):
        self.assert_fails(2, says=["subcommand"])
        self.assert_fails(2, "run", "--nonsense", says=["--nonsense"])

    def test_json_errors_are_one_object(self):
        done = self.fatlink("link", "--json", "--target", "sm_90", "-o", "o", LIBRARY, status=4)
        import json
        error = json.loads(done.stdout)["error"]
        self.assertEqual(error["findings"][0]["id"], "missing-hook")
        self.assertEqual(error["stage"], "preflight")


class Data(CliTest):
    def assert_bad_input(self, content, *says):
        self.file("x.npy", content)
        self.assert_fails(3, "run", "--input", "x.npy", says=["x.npy", *says])

    def test_npy_of_another_type(self):
        self.file("x.npy", npy(dtype="<f8", data=bytes(24)))
        self.assert_fails(4, "run", "--device", "cpu", "--input", "x.npy", hint="convert the array to float32",
                          says=["x.npy has elements of float64; argument in has elements of float32 [element-mismatch]"])

    def test_npy_of_any_shape_has_a_count(self):
        for shape, data, count in (("(3, 1)", bytes(12), 3), ("()", bytes(4), 1), ("(0,)", b"", 0)):
            with self.subTest(shape=shape):
                self.file("x.npy", npy(shape=shape, data=data))
                said = self.fatlink_json("run", "--device", "cpu", "--input", "x.npy")
                self.assertEqual(said["sizes"], {"n": count})
                self.assertEqual(said["modes"][1]["verified"], True if count else None)

    def test_npy_cut_short(self):
        whole = npy()
        self.assert_bad_input(whole[:-1], "cut short")
        self.assert_bad_input(whole[:30], "cut short")
        self.assert_bad_input(whole + b"x", "1 bytes follow")

    def test_npy_that_is_none(self):
        self.assert_bad_input(b"hello, world", "is not a .npy file")
        self.assert_fails(3, "run", "--input", "nowhere.npy", says=["nowhere.npy", "no such file"])

    def test_elements_and_input_together(self):
        self.assert_fails(2, "run", "--input", "x.npy", "--elements", "3", says=["--elements"])

    def test_unreadable_reference(self):
        good = '{"name":"t","summary":"s","hook":"user_transform","reference":"x","tolerance_ulp":0}'
        for content, says in ((b"", "is not JSON"), (b"{", "is not JSON"), (b"[]", "not a JSON object"),
                              (good.replace('"x"', '"x +"'), 'reference: '),
                              (good.replace('"x"', "7"), "of type number"),
                              (good.replace("0}", "-1}"), "tolerance_ulp"),
                              (good.replace('"name":"t",', ""), '"name" is missing')):
            with self.subTest(content=content):
                self.file("t.fatbin", RELU.read_bytes())
                self.file("t.json", content)
                self.assert_fails(3, "run", "--transform", "t.fatbin", says=["t.json", says])

    def test_a_wrong_sidecar_gets_the_hint_for_its_error(self):
        self.file("t.fatbin", (SHARE / "relu_poly.fatbin").read_bytes())
        stated = {"name": "t", "summary": "", "hook": "user_transform", "reference": "x", "tolerance_ulp": 1}
        for content, hint in (("{", "correct the syntax"), ("[]", "write one object"),
                              ("[" * 100 + "]" * 100, "nest"),
                              ('{"sha256": "0"}', "remove \"sha256\", or build the fatbin again"),
                              (json.dumps({**stated, "tolerance_ulp": -1}), "state how far results may be off"),
                              (json.dumps({**stated, "tolerance_ulp": "x"}), "write a number"),
                              (json.dumps({**stated, "hook": 1}), "write a string")):
            with self.subTest(content=content):
                self.file("t.json", content)
                done = self.assert_fails(3, "run", "--transform", "t.fatbin", says=["t.json"])
                self.assertIn(hint, done.stderr.partition("  hint:   ")[2])
                self.assertNotIn("relu_poly.json", done.stderr)

    def test_a_reference_that_is_a_directory(self):
        self.file("t.fatbin", RELU.read_bytes())
        (self.folder / "t.json").mkdir()
        self.assert_fails(3, "run", "--transform", "t.fatbin", says=["t.json", "is a directory"])

    def test_unwritable_output(self):
        (self.folder / "folder").mkdir()
        for path, cause in (("nowhere/o", "No such file"), ("folder", "directory")):
            with self.subTest(path=path):
                self.assert_fails(3, "link", "--target", "sm_90", "-o", path, LIBRARY, RELU, says=[path, cause])
                self.assert_fails(3, "run", "--output", path, says=[path, cause])

    def test_a_failed_link_leaves_an_old_output_alone(self):
        self.file("o.cubin", b"old")
        self.fatlink("link", "--target", "sm_90", "-o", "o.cubin", LIBRARY, status=4)
        self.assertEqual((self.folder / "o.cubin").read_bytes(), b"old")

    def test_no_nvjitlink(self):
        done = self.fatlink("link", "--target", "sm_90", "-o", "o", LIBRARY, RELU, status=5,
                            env={"FATLINK_NVJITLINK": "/nowhere/libnvJitLink.so.13"})
        self.assertIn("/nowhere/libnvJitLink.so.13 (from $FATLINK_NVJITLINK) cannot be used", done.stderr)
        self.assertIn("FATLINK_NVJITLINK", done.stderr)
