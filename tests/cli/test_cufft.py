# SPDX-License-Identifier: Apache-2.0
"""The contracts of cuFFT's callbacks and their libraries, on the reference device."""
import json
import re
import unittest

from compile_case import CompileCase
from fatlink_cli import SHARE, TESTS, nvjitlink
from plan_case import PlanTest

ELEMENTS = {"complex": ("float2", "complex64"), "double_complex": ("double2", "complex128"),
            "real": ("float", "float32"), "double_real": ("double", "float64")}
CONTRACTS = [f"cufft_{direction}_{element}" for direction in ("load", "store") for element in ELEMENTS]


def function_of(contract):
    _, direction, *words = contract.split("_")
    return f"cufftJITCallback{direction.capitalize()}{''.join(word.capitalize() for word in words)}"


def symbol_of(contract):
    return json.loads((SHARE / "contracts" / f"{contract}.json").read_text())["hooks"][0]


def callback(contract):
    """A callback that doubles each number."""
    direction, element = contract.split("_", 2)[1:]
    cuda, _ = ELEMENTS[element]
    value = "{2 * x.x, 2 * x.y}" if element.endswith("complex") else "2 * x"
    if direction == "load":
        return (f"__device__ {cuda} {function_of(contract)}(void* in, unsigned long long index, void*, void*)\n"
                f"{{\n  auto const x = static_cast<{cuda} const*>(in)[index];\n  return {value};\n}}\n")
    return (f"__device__ void {function_of(contract)}(void* out, unsigned long long index, {cuda} x, void*, void*)\n"
            f"{{\n  static_cast<{cuda}*>(out)[index] = {value};\n}}\n")


def sidecar(contract):
    element = contract.split("_", 2)[2]
    result = {"real": "2 * x.real", "imag": "2 * x.imag"} if element.endswith("complex") else "2 * x"
    hook = {"parameters": ["x", "index"], "result": result}
    return json.dumps({"name": "twice", "summary": "2 x", "hooks": {symbol_of(contract): hook}, "element": ELEMENTS[element][1]})


class Contracts(CompileCase):
    def test_name_the_functions_by_the_symbols_of_cufft(self):
        # Those of nvcc for cuFFT's declarations.
        parameters = {"load": lambda element: "PvyS_S_",
                      "store": lambda element: f"Pvy{ {'complex': '6float2', 'double_complex': '7double2', 'real': 'f', 'double_real': 'd'}[element] }S_S_"}
        for contract in CONTRACTS:
            direction, element = contract.split("_", 2)[1:]
            name = function_of(contract)
            self.assertEqual(symbol_of(contract), f"_Z{len(name)}{name}{parameters[direction](element)}")

    @unittest.skipUnless(nvjitlink(), "no nvJitLink on this machine")
    def test_verify_callbacks_with_the_library_of_each(self):
        for contract in CONTRACTS:
            self.file("twice.cu", callback(contract))
            self.file("twice.json", sidecar(contract))
            for elements in (1, 1000):
                with self.subTest(contract, elements=elements):
                    said = self.fatlink_json("run", "--device", "cpu", "--library", contract, "--transform", "twice.cu", "--elements",
                                             elements, "--mode", "both", "--check-races")
                    self.assertEqual([mode["reference"][0]["verified"] for mode in said["modes"]], [True, True])

    def test_refuse_callbacks_of_another_type(self):
        for contract in CONTRACTS:
            wrong = self.file("wrong.cu", re.sub("unsigned long long", "unsigned", callback(contract)))
            with self.subTest(contract):
                self.assert_fails(4, "compile", wrong, "-o", "x.fatbin", "--contract", contract,
                                  says=[f"neither defines nor calls a hook of the contract {contract}/1"],
                                  hint="the contract declares: __device__ ")

    def test_are_shown_as_the_functions_to_define(self):
        declaration = "float2 cufftJITCallbackLoadComplex(void* in, unsigned long long index, void* info, void* shared)"
        self.assertIn(f"example    __device__ {declaration} {{ … }}\n", self.fatlink("inspect", "--contract", "cufft_load_complex").stdout)
        listed = self.fatlink("list", "--kind", "contract", "cufft_load_complex").stdout
        self.assertIn(f"hook {declaration};", " ".join(listed.split()))

    def test_name_both_types_in_the_hint_for_an_overload(self):
        self.file("wrong.cu", callback("cufft_load_complex").replace("unsigned long long", "unsigned"))
        self.fatlink("compile", "wrong.cu", "-o", "wrong.fatbin")
        said = self.fatlink("check", "cufft_load_complex", "wrong.fatbin", status=4).stdout
        self.assertIn("[missing-hook]\n    hint: define cufftJITCallbackLoadComplex(void*, unsigned long long, void*, void*), "
                      "not cufftJITCallbackLoadComplex(void*, unsigned int, void*, void*)\n", said)


class Callbacks(PlanTest):
    def test_of_files_are_verified_with_their_state_and_elements(self):
        for library, name in (("cufft_load_complex", "cufft_scaled_load"), ("cufft_store_real", "cufft_half_store")):
            for words in ((), ("--set", "info.scale=0.25")):
                with self.subTest(library, words=words):
                    said = self.run_plan("--library", library, "--transform", TESTS / "corpus" / f"{name}.fatbin", "--elements", 1000,
                                         *words)
                    self.assertEqual([mode["reference"][0]["verified"] for mode in said["modes"]], [True, True])

    def test_of_another_contract_are_refused(self):
        self.refuse(4, "--library", "cufft_load_real", "--transform", TESTS / "corpus/cufft_scaled_load.fatbin",
                    says="is built against contract cufft_load_complex/1", hint="pass one that is for cufft_load_real/1")


if __name__ == "__main__":
    unittest.main()
