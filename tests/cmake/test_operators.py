# SPDX-License-Identifier: Apache-2.0
"""The table of operators on numbers (kernels/transforms): what CMake writes of a row, and what it refuses."""
import json
import unittest

from build_side import CONTRACT, SOURCE, BuildSide, plain

TABLE = f"""
include("{SOURCE}/kernels/transforms/operator_sources.cmake")
function(add_transform name contract folder)
  message(STATUS "built: ${{name}} for ${{contract}}")
endfunction()
"""


class Operators(BuildSide):
    def written(self, contract, name, row, before=""):
        """The words of the source and the sidecar of a row, and what configuration said."""
        done = self.configure(before + TABLE + f"add_operator({name} {contract} {row})\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        stem = self.folder / "b" / contract / name
        return plain(stem.with_suffix(".cu").read_text()), json.loads(stem.with_suffix(".json").read_text()), done.stdout

    def test_a_row_is_a_source_and_a_sidecar_for_the_contract_of_its_size(self):
        source, sidecar, said = self.written("combine", "add_half", 'float16 "a + b" ERROR_MODEL additive '
                                             'COMBINE "__hadd(a, b)" REFERENCE "a + b" ULP 0.5')
        self.assertIn("FATLINK_COMBINE(__half, a, b) { return __hadd(a, b); }", source)
        self.assertIn("#include <cuda_fp16.h>", source)
        self.assertEqual(sidecar, {
            "name": "add_half", "summary": "a + b", "error_model": "additive",
            "hooks": {"combine": {"parameters": ["a", "b"], "result": "a + b", "tolerance": {"ulp": 0.5}}}})
        self.assertIn("built: add_half for combine_2\n", said)

    def test_a_contract_without_sizes_is_named_as_it_is(self):
        source, sidecar, said = self.written("c", "mix", 'int32 "a * b" MAP2 "b > 0 ? a : 0" TYPE uint8', before=CONTRACT)
        self.assertIn("built: mix for c\n", said)
        self.assertIn("FATLINK_MAP2(std::int32_t, std::uint8_t, a, std::uint8_t, b) { return b > 0 ? a : 0; }", source)
        self.assertEqual(sidecar["hooks"], {"map_element": {"parameters": ["a", "b"], "result": "b > 0 ? a : 0"}})

    def test_only_hooks_that_use_the_state_read_it(self):
        source, sidecar, _ = self.written("keep_store", "t", 'float64 "x" STATE limit float32 2 '
                                          'KEEP "x > limit" REFERENCE "x > state.limit" STORE "limits(x)" TYPE uint8')
        self.assertEqual(source.count("auto const limit = state == nullptr ? float{2} : *static_cast<float const*>(state);"), 1)
        self.assertIn("FATLINK_STORE(std::uint8_t, double, x) { return limits(x); }", source)
        self.assertEqual(sidecar["state"], [{"name": "limit", "type": "float32", "default": 2}])
        self.assertEqual(sidecar["hooks"]["store"], {"parameters": ["x"], "type": "uint8", "result": "limits(x)"})

    def test_wrong_rows_are_refused_with_the_name_of_the_operator(self):
        for row, says in (('int128 "s" COMBINE "a"', "unknown type 'int128'; operator_sources.cmake lists the types"),
                          ('int8 "s" STATE k int8 COMBINE "a"', "STATE takes a field, a type and a default"),
                          ('int8 "s" STATE k bool 0 COMBINE "a"', "unknown type 'bool'"),
                          ('int8 "s" COMBINE "a" "b"', "COMBINE takes one expression, not 2"),
                          ('int8 "s" COMBINE ULP 1', "COMBINE takes one expression, not 0"),
                          ('int8 "s" LOAD "x" TYPE float8', "unknown type 'float8'"),
                          ('int8 "s" JOIN "a"', "unknown argument: JOIN a"),
                          ('int8 "s" COMBINE', "no value for COMBINE")):
            with self.subTest(row=row):
                done = self.configure(TABLE + f"add_operator(t combine {row})\n")
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(f"add_operator(t): {says}", plain(done.stderr))


if __name__ == "__main__":
    unittest.main()
