# SPDX-License-Identifier: Apache-2.0
"""fatlink inspect: the functions and resources of SASS entries."""
from fatlink_cli import TESTS, CliTest

FIXTURES = TESTS / "fixtures"


class InspectSass(CliTest):
    def entries(self, name):
        [file] = self.fatlink_json("inspect", FIXTURES / f"{name}.fatbin")["files"]
        return file["entries"]

    def test_shows_functions_with_their_widths(self):
        _, sass = self.entries("library_sass")
        self.assertTrue(sass["relocatable"])
        self.assertEqual(sass["kernels"], ["apply_transform(b8[8], b8[8], b8[8])"])
        self.assertEqual(sass["hooks"], ["(b32) user_transform(b32)"])
        text = self.fatlink("inspect", FIXTURES / "library_sass.fatbin").stdout
        self.assertIn("    hook        (b32) user_transform(b32)\n    resources   apply_transform: ", text)

    def test_shows_variables_and_functions_without_types(self):
        text = self.fatlink("inspect", FIXTURES / "types_sass.fatbin").stdout
        for line in ("hook        passed_on(?)", "variable    managed global b8 shared_with_host[4]",
                     "needs       shared b8 dynamic[]", "weak        (b32) _Z5twiceIfET_S0_(b32)"):
            self.assertEqual(text.count(f"    {line}\n"), 4, line)

    def test_shows_resources_of_kernels(self):
        spilling = {entry["target"]: kernel for entry in self.entries("resources_whole")
                    for kernel in entry["resources"] if kernel["kernel"] == "spilling"}
        self.assertEqual(spilling["sm_90"],
                         {"kernel": "spilling", "registers": 24, "max_registers": 24, "frame_bytes": 208,
                          "stack_bytes": 208, "local_store_bytes": 208, "local_load_bytes": 224,
                          "static_shared_bytes": 0, "parameter_bytes": 12, "constant_bytes": 540})
        text = self.fatlink("inspect", FIXTURES / "resources_whole.fatbin").stdout
        self.assertIn("    resources   spilling: 24 registers; bytes: 208 stack, 208 local stores, 224 local loads, "
                      "0 shared, 540 constant\n", text)

    def test_says_that_a_whole_program_cannot_be_linked(self):
        self.assertFalse(self.entries("resources_whole")[0]["relocatable"])
        self.assertIn("whole program: it cannot be linked",
                      self.fatlink("inspect", FIXTURES / "resources_whole.fatbin").stdout)

    def test_refuses_an_entry_for_another_architecture_than_its_cubin(self):
        damaged = bytearray((FIXTURES / "types_sass.fatbin").read_bytes())
        damaged[16 + 0x1C] = 86
        path = self.file("t.fatbin", bytes(damaged))
        self.assert_fails(3, "inspect", path, says=["the elf entry at byte 16 is for sm_86, but its cubin for sm_80"],
                          hint="build it again, or copy it again in full")
