# SPDX-License-Identifier: Apache-2.0
"""Small files that used to cost minutes, gigabytes or the stack: each ends with a documented status, in
a fixed address space. No test asserts a time; ctest's TIMEOUT ends one that takes minutes."""
import resource
import unittest

from fatlink_cli import SANITIZED, CliTest, scaled
import generated_fatbin as generated
from run_tests import long_test

MEMORY = 2 << 30  # bytes of address space for each run
KERNEL = ".visible .entry apply_transform(.param .u64 a, .param .u64 b, .param .u64 c)\n{\nret;\n}\n"
JUDGED = ("--nvjitlink", "13.0")  # loads no nvJitLink, which takes address space of its own


@unittest.skipIf(SANITIZED, "the address space cannot be limited with sanitizers")
class Bounds(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.before = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, cls.before[1]))

    @classmethod
    def tearDownClass(cls):
        resource.setrlimit(resource.RLIMIT_AS, cls.before)

    def setUp(self):
        super().setUp()
        self.run_ptx("transform.fatbin", generated.definitions(1, "unused_{}"))

    def run_ptx(self, name, text):
        return self.file(name, generated.ptx_fatbin(text))

    def assert_refused(self, name, says, *files):
        """By every verb that reads it."""
        for words in (("inspect", name), ("check", *JUDGED, name, *files),
                      ("link", "--target", "sm_90", "-o", "o.cubin", name, *files)):
            self.assert_fails(3, *words, says=[name, says])

    def assert_device_refuses(self, name, says):
        done = self.fatlink("run", "--device", "cpu", "--library", name, "--transform", "transform.fatbin",
                            "--mode", "ptx", "--elements", "4", status=5)
        self.assertIn(f"fatlink: error: {says}", done.stderr)
        self.assertIn("--device gpu", done.stderr)

    def test_initialisers_nested_29000_deep(self):
        value = "{" * 29000 + "1" + "}" * 29000
        file = self.run_ptx("deep.fatbin", f".visible .global .b8 a[4] = {value};\n" + KERNEL)
        self.assertLess(file.stat().st_size, 2016)
        self.assert_device_refuses("deep.fatbin", "deep.fatbin:4: the reference device does not support "
                                   "initialisers with braces nested deeper than 32")
        self.fatlink("inspect", file)

    def test_bodies_nested_three_million_deep(self):
        body = "{" * 3000000 + "}" * 3000000
        self.run_ptx("scopes.fatbin", KERNEL.replace("ret;", body + "ret;"))
        self.assert_device_refuses("scopes.fatbin", "scopes.fatbin:6: the reference device does not support "
                                   "bodies with braces nested deeper than 64")

    def test_names_of_100000_letters(self):
        self.run_ptx("hooks.fatbin", generated.hooks(3, "a" * 100000 + "{}"))
        self.run_ptx("names.fatbin", generated.definitions(3, "b" * 100000 + "{}"))
        for name in ("hooks.fatbin", "names.fatbin"):
            self.assert_refused(name, "a name of 100001 bytes, above 16384, the limit")

    def test_names_of_16000_letters_are_compared_within_the_work_of_a_report(self):
        self.run_ptx("hooks.fatbin", generated.hooks(500, "a" * 16000 + "{}"))
        self.run_ptx("names.fatbin", generated.definitions(500, "ab" * 8000 + "{}"))
        done = self.fatlink("check", *JUDGED, "hooks.fatbin", "names.fatbin", status=4)
        self.assertIn("[missing-hook]", done.stdout)

    def test_300_functions_of_a_library_and_of_a_transform(self):
        long = "library_detail_{}_rather_long_function_name_for_pointers_to_float_and_sizes_{{}}"
        self.run_ptx("hooks.fatbin", generated.hooks(300, long.format("some")))
        self.run_ptx("names.fatbin", generated.definitions(300, long.format("same")))
        done = self.fatlink("check", *JUDGED, "--mode", "ptx", "hooks.fatbin", "names.fatbin", status=4)
        self.assertEqual(done.stdout.count("[missing-hook]"), 300)
        self.assertIn("did you mean", done.stdout)

    def test_40000_hooks(self):
        self.run_ptx("hooks.fatbin", generated.hooks(40000))
        self.run_ptx("names.fatbin", generated.definitions(40000, "other_name_{:06}"))
        for files in (("hooks.fatbin", "names.fatbin"), ("hooks.fatbin", "transform.fatbin")):
            targets = self.fatlink_json("check", *JUDGED, *files, status=4)["targets"]
            missing = [found for found in targets[0]["findings"] if found["id"] == "missing-hook"]
            self.assertEqual(len(missing), 1001)
            self.assertIn("39000 more findings of this kind", missing[-1]["message"])

    def test_30000_symbols_through_every_verb(self):
        count = min(scaled(30000), 300000)  # each counts three times, and 1048576 is the limit of an entry
        self.run_ptx("hooks.fatbin", generated.hooks(count))
        self.run_ptx("names.fatbin", generated.definitions(count))
        judged = self.fatlink_json("check", *JUDGED, "--mode", "ptx", "hooks.fatbin", "names.fatbin")
        self.assertTrue(judged["links"])
        entry = self.fatlink_json("inspect", "hooks.fatbin")["files"][0]["entries"][0]
        self.assertEqual(len(entry["hooks"]), count)
        listed = self.fatlink_json("list", env={"FATLINK_PATH": str(self.folder)})["fatbins"]
        self.assertIn("hooks", [fatbin["name"] for fatbin in listed])

    def test_100000_variables_of_the_reference_device(self):
        declared = "".join(f".visible .global .b32 v{i};\n" for i in range(100000))
        self.run_ptx("variables.fatbin", declared + KERNEL)
        done = self.fatlink("run", "--device", "cpu", "--library", "variables.fatbin", "--transform",
                            "transform.fatbin", "--mode", "ptx", "--elements", "4")
        self.assertIn("not verified", done.stdout + done.stderr)

    def assert_compressed_functions_are_refused(self, count):
        file = self.run_ptx("functions.fatbin", ".visible .func a{}\n" * count)
        self.assertLess(file.stat().st_size, 25000)
        self.assert_refused("functions.fatbin", "declares and calls more than 1048576 functions, parameters "
                            "and variables, the limit")

    def test_25_kilobytes_of_compressed_functions(self):
        self.assert_compressed_functions_are_refused(2 << 20)

    @long_test  # the test above has two million functions
    def test_25_kilobytes_of_13_million_compressed_functions(self):
        self.assert_compressed_functions_are_refused(13 << 20)

    def test_entries_that_decompress_to_gigabytes(self):
        entry = generated.entry(b"\0" * (240 << 20))
        self.file("bomb.fatbin", generated.fatbin(*[entry] * 40))
        self.assert_refused("bomb.fatbin", "its entries are above 1 GiB once decompressed, the limit")
        self.file("stated.fatbin", generated.fatbin(generated.entry(b"x", stated_size=1 << 40)))
        self.assert_refused("stated.fatbin", "an entry of 1048576 MiB once decompressed, above 256 MiB")

    def test_an_address_space_that_is_too_small_for_the_inputs(self):
        file = self.run_ptx("large.fatbin", generated.definitions(300000))
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (128 << 20, most))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_AS, (MEMORY, most))
        done = self.fatlink("check", *JUDGED, file, status=5)
        self.assertEqual(done.stderr.splitlines(),
                         ["fatlink: error: out of memory", "  code:   out-of-memory",
                          "  hint:   use fewer --elements, smaller sizes (--set) or inputs, or raise the memory limit (ulimit -v)"])

    def test_variables_of_120_gigabytes(self):
        declared = "".join(f".visible .global .b8 v{i}[2000000000];\n" for i in range(60))
        file = self.run_ptx("globals.fatbin", declared + KERNEL)
        self.assertLess(file.stat().st_size, 2700)
        self.assert_device_refuses("globals.fatbin", "globals.fatbin:4: v0: the reference device does not "
                                   "support more than 1 GiB of .global and .const variables in a module")

    def test_an_ident_of_ten_megabytes(self):
        ident = generated.ident(contract="a", version=1, hooks={f"h{i}": "FvvE" for i in range(400000)})
        self.file("ident.fatbin", generated.ptx_fatbin(generated.definitions(1), ident=ident))
        self.assert_refused("ident.fatbin", f"ident of {len(ident)} bytes, above 64 KiB, the limit")

    def test_200000_entries(self):
        entry = generated.entry(b"x" * 8, compression=generated.PLAIN)
        self.file("entries.fatbin", generated.fatbin(*[entry] * 200000))
        self.assert_refused("entries.fatbin", "holds more than 4096 entries, the limit")

    def test_types_that_demangle_to_megabytes(self):
        nested = "FvvE"
        for index in "02468ACEG":
            nested = f"FvP{nested}" + 3 * f"S{index}_" + "E"
        self.assertLess(len(nested), 128)
        hooks = {f"h{i:03}": nested for i in range(300)}
        self.file("types.fatbin", generated.ptx_fatbin(generated.definitions(1),
                                                       ident=generated.ident(contract="a", version=1, hooks=hooks)))
        done = self.fatlink("inspect", "types.fatbin")
        self.assertLess(len(done.stdout), 1 << 20)

    def test_json_nested_500000_deep(self):
        self.run_ptx("nested.fatbin", generated.definitions(1))
        self.file("nested.json", '{"a":' + "[" * 500000 + "]" * 500000 + "}")
        self.assert_fails(3, "inspect", "nested.fatbin",
                          says=["nested.json: nests arrays and objects deeper than 64, the limit"])

    @long_test  # test_25_kilobytes_of_compressed_functions has ZSTD; unit tests have both
    def test_compression_by_lz4_counts_alike(self):
        text = (generated.HEADER + ".visible .func a{}\n" * ((1 << 20) + 1)).encode()
        self.file("lz4.fatbin", generated.fatbin(generated.entry(text, compression=generated.LZ4)))
        self.assert_refused("lz4.fatbin", "declares and calls more than 1048576 functions")


if __name__ == "__main__":
    unittest.main()
