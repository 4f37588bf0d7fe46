# SPDX-License-Identifier: Apache-2.0
"""Every public CMake function rejects unknown, missing and malformed arguments, and names its target."""
import unittest

from build_side import CONTRACT, FATBIN, HEADER, BuildSide

VERSION = "set(PROJECT_VERSION 1)\n"
INSTALL = "install(FILES CMakeLists.txt DESTINATION share COMPONENT c)\n"


class Arguments(BuildSide):
    def assert_stops(self, lists, message):
        done = self.configure(lists)
        self.assertNotEqual(done.returncode, 0, lists)
        self.assertIn(message, " ".join(done.stderr.split()))

    def assert_each_stops(self, before, function, cases):
        for arguments, message in cases:
            with self.subTest(arguments=arguments):
                self.assert_stops(f"{before}{function}({arguments})\n", message)

    def assert_keywords_need_values(self, before, call, target, keywords):
        """`call` has the arguments that are required; each keyword is appended to it without a value."""
        for keyword in keywords:
            with self.subTest(keyword=keyword):
                self.assert_stops(f"{before}{call[:-1]} {keyword})\n", f"{target}: no value for {keyword}")


class Fatbin(Arguments):
    def test_malformed_and_unknown_arguments_name_the_target(self):
        self.assert_each_stops(CONTRACT, "fatlink_add_fatbin", (
            ("t", "fatlink_add_fatbin(t): SOURCES takes one file, not 0"),
            ("t SOURCES t.cu u.cu", "fatlink_add_fatbin(t): SOURCES takes one file, not 2"),
            ("t SOURCES none.cu", "none.cu: no such file. If the build makes it, call add_custom_command with this OUTPUT before"),
            ("t SOURCES $<1:t.cu>", "fatlink_add_fatbin(t): SOURCES $<1:t.cu>: a generator expression; pass the path of a file"),
            ("t SOURCES t.cu NONSENSE 1", "fatlink_add_fatbin(t): SOURCES takes one file, not 3"),
            ("t NONSENSE SOURCES t.cu", "fatlink_add_fatbin(t): unknown argument: NONSENSE"),
            ("t SOURCES t.cu CONTRACT other", "fatlink_add_fatbin(t): unknown CONTRACT other"),
            ("t SOURCES t.cu ARCHITECTURES sm_90", "fatlink_add_fatbin(t): ARCHITECTURES sm_90"),
            ("t SOURCES t.cu ARCHITECTURES 70", "CUDA 13 supports 75 and newer"),
            ("t SOURCES t.cu ARCHITECTURES 75 90 75", "fatlink_add_fatbin(t): ARCHITECTURES lists 75 twice"),
            ("t SOURCES t.cu ARCHITECTURES 77", "fatlink_add_fatbin(t): ARCHITECTURES 77: CUDA 13 has no such"),
            ("t SOURCES t.cu SASS sm_90", "fatlink_add_fatbin(t): SASS sm_90: expected a compute capability"),
            ("t SOURCES t.cu SASS 70", "fatlink_add_fatbin(t): SASS 70: CUDA 13 supports 75 and newer"),
            ("t SOURCES t.cu SASS 99", "fatlink_add_fatbin(t): SASS 99: CUDA 13 has no such compute capability"),
            ("t SOURCES t.cu SASS 80a", "fatlink_add_fatbin(t): SASS 80a: 80 has no features with the suffix a"),
            ("t SOURCES t.cu SASS 90f", "fatlink_add_fatbin(t): SASS 90f: 90 has no features with the suffix f"),
            ("t SOURCES t.cu SASS 90 90", "fatlink_add_fatbin(t): SASS lists 90 twice"),
            ("t SOURCES t.cu SASS 100f 100", "fatlink_add_fatbin(t): SASS lists 100 and 100f, which nvcc cannot write"),
            ("t SOURCES t.cu NVJITLINK_AT_LEAST 12.9", "fatlink_add_fatbin(t): NVJITLINK_AT_LEAST '12.9': expected a version of CUDA 13"),
            ("t SOURCES t.cu NVJITLINK_AT_LEAST 13.0.88", "NVJITLINK_AT_LEAST '13.0.88': expected a version of CUDA 13 such as 13.0"),
            ("t SOURCES t.cu REFERENCE none.json", "none.json: no such file"),
            ("t SOURCES t.cu PLAN none.json", "fatlink_add_fatbin(t): PLAN"),
            ("t SOURCES t.cu OPTIONS -arch=sm_90", "fatlink_add_fatbin(t): OPTIONS -arch=sm_90 is not allowed"),
            ("t SOURCES t.cu OPTIONS -G", "OPTIONS -G is not allowed"),
            ("t SOURCES t.cu OUTPUT_NAME a/b", "fatlink_add_fatbin(t): OUTPUT_NAME 'a/b'"),
            ("t SOURCES t.cu PACKAGE a/b", "fatlink_add_fatbin(t): PACKAGE 'a/b'"),
            ("t SOURCES t.cu PACKAGE a PACKAGE_VERSION new", "fatlink_add_fatbin(t): PACKAGE_VERSION 'new'"),
            ("t SOURCES t.cu PACKAGE_VERSION 1", "PACKAGE_VERSION 1 without PACKAGE"),
            ("t SOURCES t.cu INSTALL_COMPONENT c", "fatlink_add_fatbin(t): INSTALL_COMPONENT c without INSTALL_DESTINATION")))

    def test_every_keyword_needs_a_value(self):
        self.assert_keywords_need_values(CONTRACT, "fatlink_add_fatbin(t SOURCES t.cu)", "fatlink_add_fatbin(t)", (
            "CONTRACT", "REFERENCE", "PLAN", "ARCHITECTURES", "SASS", "NVJITLINK_AT_LEAST", "OPTIONS", "OUTPUT_NAME", "PACKAGE", "PACKAGE_VERSION",
            "INSTALL_DESTINATION", "INSTALL_COMPONENT"))

    def test_a_missing_nvcc_stops_configuration(self):
        no_nvcc = 'set(CUDAToolkit_NVCC_EXECUTABLE "")\n'
        self.assert_stops(no_nvcc + FATBIN, "fatlink_add_fatbin(t): no nvcc was found")
        for name in ("a", "b"):
            self.write(f"{name}.fatbin", "")
        self.assert_stops(no_nvcc + "fatlink_add_cache_layer(links LIBRARY a.fatbin TRANSFORMS b.fatbin)\n",
                          "fatlink_add_cache_layer(links): no nvcc was found")


class Contract(Arguments):
    def test_malformed_and_unknown_arguments_name_the_contract(self):
        self.assert_each_stops("", "fatlink_add_contract", (
            ("c HEADER hook.cuh", "fatlink_add_contract(c): VERSION is missing"),
            ("c VERSION 0 HEADER hook.cuh", "fatlink_add_contract(c): VERSION must be a positive integer, not '0'"),
            ("c VERSION 1", "fatlink_add_contract(c): HEADER is missing"),
            ("c VERSION 1 HEADER none.cuh", "none.cuh: no such file"),
            ("c-d VERSION 1 HEADER hook.cuh", "letters, digits and underscores"),
            ("c VERSION 1 HEADER hook.cuh PACKAGE é", "fatlink_add_contract(c): PACKAGE 'é'"),
            ("c VERSION 1 HEADER hook.cuh INCLUDES none", "fatlink_add_contract(c): INCLUDES none: unknown contract"),
            ("c VERSION 1 HEADER hook.cuh INCLUDES", "fatlink_add_contract(c): no value for INCLUDES"),
            ("c VERSION 1 HEADER hook.cuh HOOKS hook post hook", "fatlink_add_contract(c): HOOKS lists hook twice"),
            ("c VERSION 1 HEADER hook.cuh INSTALL_COMPONENT d",
             "fatlink_add_contract(c): INSTALL_COMPONENT d without INSTALL_DESTINATION"),
            ("c VERSION 1 HEADER hook.cuh MORE", "fatlink_add_contract(c): unknown argument: MORE")))

    def test_every_keyword_needs_a_value(self):
        self.assert_keywords_need_values("", "fatlink_add_contract(c VERSION 1 HEADER hook.cuh)", "fatlink_add_contract(c)", (
            "HOOKS", "PACKAGE", "PACKAGE_VERSION", "INSTALL_DESTINATION", "INSTALL_COMPONENT"))
        self.assert_stops("fatlink_add_contract(c HEADER hook.cuh VERSION)\n", "fatlink_add_contract(c): no value for VERSION")
        self.assert_stops("fatlink_add_contract(c VERSION 1 HEADER)\n", "fatlink_add_contract(c): no value for HEADER")

    def test_an_installed_header_that_includes_one_outside_of_its_folder_stops_configuration(self):
        self.write("more.cuh", "#pragma once\n")
        for include in ("../more.cuh", "missing.cuh"):
            self.write("headers/hook.cuh", f'#include "{include}"\n' + HEADER)
            contract = CONTRACT.replace("hook.cuh", "headers/hook.cuh")
            self.assert_stops(contract.replace(")", " INSTALL_DESTINATION c)"),
                              f'headers/hook.cuh includes "{include}", which is not a file in the folder')
            self.assertEqual(self.configure(contract).returncode, 0)

    def test_an_installed_header_brings_the_headers_that_it_includes(self):
        self.write("sub/types.cuh", '#pragma once\n#include "more.cuh"\n')
        self.write("sub/more.cuh", '#pragma once\n#include "../hook.cuh"\n')
        self.write("hook.cuh", '#pragma once\n#include "sub/types.cuh"\n#include <cstdint>\n' + HEADER)
        self.assertEqual(self.configure(CONTRACT.replace(")", " INSTALL_DESTINATION c)")).returncode, 0)
        script = "\n".join(path.read_text() for path in (self.folder / "b").rglob("cmake_install.cmake"))
        for header in ("/hook.cuh", "/sub/types.cuh", "/sub/more.cuh"):
            self.assertIn(header, script)

    def test_a_contract_declared_twice_stops_configuration(self):
        self.assert_stops(2 * CONTRACT, "fatlink_add_contract(c): the contract is already declared")


class CacheLayer(Arguments):
    def test_malformed_and_unknown_arguments_name_the_target(self):
        self.assert_each_stops(FATBIN, "fatlink_add_cache_layer", (
            ("l TRANSFORMS t", "fatlink_add_cache_layer(l): LIBRARY is missing"),
            ("l LIBRARY t", "fatlink_add_cache_layer(l): TRANSFORMS is missing"),
            ("l LIBRARY t TRANSFORMS none.fatbin", "none.fatbin: no such target or file"),
            ("l LIBRARY fatlink_contract_c TRANSFORMS t", "fatlink_contract_c is not a target of fatlink_add_fatbin"),
            ("l LIBRARY t TRANSFORMS t ARCHITECTURES sm_90", "fatlink_add_cache_layer(l): ARCHITECTURES sm_90"),
            ("l LIBRARY t TRANSFORMS t ARCHITECTURES 90 90", "fatlink_add_cache_layer(l): ARCHITECTURES lists 90 twice"),
            ("l LIBRARY t TRANSFORMS t INSTALL_COMPONENT c",
             "fatlink_add_cache_layer(l): INSTALL_COMPONENT c without INSTALL_DESTINATION"),
            ("l NONSENSE LIBRARY t TRANSFORMS t", "fatlink_add_cache_layer(l): unknown argument: NONSENSE")))

    def test_malformed_link_options_name_the_target_and_the_values(self):
        self.assert_each_stops(FATBIN, "fatlink_add_cache_layer", [
            (f"l LIBRARY t TRANSFORMS t {options}", f"fatlink_add_cache_layer(l): {message}") for options, message in (
                ("MODE all", "MODE all is not one of lto, ptx, both, sass"),
                ("EMIT cubin sass", "EMIT sass is not one of cubin, ptx"),
                ("EMIT ptx MODE ptx", "EMIT ptx has no effect with MODE ptx"),
                ("EMIT cubin ptx MODE sass", "EMIT ptx has no effect with MODE sass: only lto mode emits PTX"),
                ("EMIT ptx MODE both", "EMIT ptx with MODE both: only lto mode emits PTX; nothing to link in ptx mode: "
                                       "choose MODE lto, or EMIT cubin ptx"),
                ("EMIT cubin cubin", "EMIT lists cubin twice"),
                ("EMIT cubin MAX_REGISTERS 16", "MAX_REGISTERS 16 is not a number from 24 to 255"),
                ("EMIT cubin MAX_REGISTERS 256", "MAX_REGISTERS 256 is not a number from 24 to 255"),
                ("EMIT cubin MAX_REGISTERS many", "MAX_REGISTERS many is not a number"),
                ("THREADS 0", "THREADS 0 is not a number from 1 to 256"),
                ("OPTIMIZE 1", "OPTIMIZE 1 is not one of 0, 3"),
                ("FAST_COMPILE some", "FAST_COMPILE some is not one of min, mid, max"),
                ("MODE lto FTZ ON", "FTZ ON is not one of 0, 1"),
                ("MODE lto PREC_DIV 2", "PREC_DIV 2 is not one of 0, 1"),
                ("KERNELS k k", "KERNELS lists k twice"),
                ("KERNELS k<int>", "KERNELS k<int> is not the name of a symbol"),
                ("MODE lto VARIABLES 7v", "VARIABLES 7v is not the name of a symbol"),
                ("EMIT cubin PTXAS 32", "PTXAS 32: each option is one word that begins with a dash"),
                ("MODE lto NVVM [[-a -b]]", "NVVM -a -b: each option is one word"))])

    def test_link_options_without_effect_name_the_remedy(self):
        self.assert_each_stops(FATBIN, "fatlink_add_cache_layer", [
            (f"l LIBRARY t TRANSFORMS t {options}", f"fatlink_add_cache_layer(l): {message}") for options, message in (
                ("FTZ 0", "FTZ has no effect in ptx mode: add MODE lto"),
                ("PREC_DIV 0", "PREC_DIV has no effect in ptx mode"),
                ("PREC_SQRT 1", "PREC_SQRT has no effect in ptx mode"),
                ("MODE ptx FMA 1", "FMA has no effect in ptx mode"),
                ("VARIABLES v", "VARIABLES has no effect in ptx mode"),
                ("DROP_UNUSED_VARIABLES", "DROP_UNUSED_VARIABLES has no effect in ptx mode"),
                ("NVVM -x", "NVVM has no effect in ptx mode"),
                ("LATEST_NVVM", "LATEST_NVVM has no effect in ptx mode"),
                ("MAX_REGISTERS 32", "MAX_REGISTERS has no effect on emitted PTX: add EMIT cubin"),
                ("LINE_INFO", "LINE_INFO has no effect on emitted PTX"),
                ("DEBUG", "DEBUG has no effect on emitted PTX"),
                ("STACK_PROTECTOR", "STACK_PROTECTOR has no effect on emitted PTX"),
                ("MODE lto EMIT ptx PTXAS -v", "PTXAS has no effect on emitted PTX"),
                ("ALLOW_CALLS", "ALLOW_CALLS has no effect on emitted PTX: add EMIT cubin"),
                ("EMIT cubin LINE_INFO DEBUG", "LINE_INFO has no effect together with DEBUG"),
                ("MODE lto VARIABLES v DROP_UNUSED_VARIABLES", "DROP_UNUSED_VARIABLES has no effect together with VARIABLES"),
                ("OPTIMIZE 0 FAST_COMPILE max", "OPTIMIZE and FAST_COMPILE exclude each other"),
                ("EMIT cubin OPTIMIZE 3 DEBUG", "OPTIMIZE 3 and DEBUG exclude each other"),
                ("EMIT cubin FAST_COMPILE min DEBUG", "FAST_COMPILE and DEBUG exclude each other"))])

    def test_options_of_compilers_have_no_effect_in_sass_mode(self):
        self.assert_each_stops(FATBIN, "fatlink_add_cache_layer", [
            (f"l LIBRARY t TRANSFORMS t MODE sass {option}",
             f"{option.split()[0]} has no effect in sass mode, which compiles nothing: choose MODE lto") for option in (
                 "ALLOW_CALLS", "VARIABLES v", "DROP_UNUSED_VARIABLES", "MAX_REGISTERS 32", "OPTIMIZE 3", "FAST_COMPILE min",
                 "LINE_INFO", "DEBUG", "STACK_PROTECTOR", "LATEST_NVVM", "FTZ 0", "PREC_DIV 1", "PREC_SQRT 1", "FMA 0", "THREADS 2",
                 "PTXAS -v", "NVVM -x")])

    def test_every_keyword_needs_a_value(self):
        self.assert_keywords_need_values(FATBIN, "fatlink_add_cache_layer(l LIBRARY t TRANSFORMS t)",
                                         "fatlink_add_cache_layer(l)",
                                         ("ARCHITECTURES", "INSTALL_DESTINATION", "INSTALL_COMPONENT", "MODE", "EMIT", "KERNELS",
                                          "VARIABLES", "MAX_REGISTERS", "OPTIMIZE", "FAST_COMPILE", "FTZ", "PREC_DIV",
                                          "PREC_SQRT", "FMA", "THREADS", "PTXAS", "NVVM"))
        self.assert_stops(FATBIN + "fatlink_add_cache_layer(l TRANSFORMS t LIBRARY)\n",
                          "fatlink_add_cache_layer(l): no value for LIBRARY")


class Package(Arguments):
    def test_malformed_and_unknown_arguments_name_the_package(self):
        self.assert_each_stops("", "fatlink_add_package", (
            ("p COMPONENT c", "fatlink_add_package(p): SUMMARY is missing"),
            ("p SUMMARY s", "fatlink_add_package(p): COMPONENT is missing"),
            ("P_ COMPONENT c SUMMARY s", "fatlink_add_package(P_): a package's name consists of lower-case"),
            ("pp COMPONENT c SUMMARY s", "fatlink_add_package(pp): the project has no VERSION"),
            ("pp NONSENSE COMPONENT c SUMMARY s", "fatlink_add_package(pp): unknown argument: NONSENSE")))
        self.assert_each_stops(VERSION, "fatlink_add_package", (
            ("pp COMPONENT c SUMMARY s CONTRACTS other", "fatlink_add_package(pp): unknown contract other"),
            ("pp COMPONENT c SUMMARY s LICENSE none", "fatlink_add_package(pp): LICENSE"),
            ("pp COMPONENT c SUMMARY s LICENSE none", "none: no such file"),
            ("pp COMPONENT c SUMMARY s DEB_CONTROL none", "none: no such file"),
            ("pp COMPONENT c SUMMARY s LICENSE_ID [[Apache 2;0]]", "fatlink_add_package(pp): LICENSE_ID 'Apache 2;0'"),
            ("pp COMPONENT c SUMMARY s LICENSE_ID [[zero BSD]]", "fatlink_add_package(pp): LICENSE_ID 'zero BSD'"),
            ("pp COMPONENT c SUMMARY [[two\nlines]]", "fatlink_add_package(pp): SUMMARY must be one line"),
            ("pp COMPONENT [[a b]] SUMMARY s", "fatlink_add_package(pp): COMPONENT 'a b'"),
            ("pp COMPONENT c SUMMARY s SBOM zstd=1", "fatlink_add_package(pp): SBOM zstd=1: expected "
             "<name>=<version>=<licence>=<relationship>")))

    def test_every_keyword_needs_a_value(self):
        self.assert_keywords_need_values(VERSION, "fatlink_add_package(pp COMPONENT c SUMMARY s)", "fatlink_add_package(pp)", (
            "DESCRIPTION", "LICENSE", "LICENSE_ID", "COPYRIGHT", "CHANGELOG", "OVERRIDES", "DEB_CONTROL", "CONTRACTS",
            "PROVIDES_CONTRACTS", "DEB_DEPENDS", "DEB_RECOMMENDS", "RPM_REQUIRES", "RPM_RECOMMENDS", "SBOM",
            "ARCHIVE_COMPONENTS"))

    def test_a_component_without_files_stops_configuration(self):
        package = "fatlink_add_package(pp COMPONENT c SUMMARY s)\n"
        self.assert_stops(VERSION + package, "fatlink_add_package(pp): no install() has COMPONENT c, so the package would hold no "
                          "files. Components that have files: none: give each install() a COMPONENT")
        self.assert_stops(VERSION + package + "".join(f"install(FILES CMakeLists.txt DESTINATION share COMPONENT {name})\n"
                                                      for name in ("data", "code")),
                          "Components that have files: code, data")

    def test_a_contract_that_the_component_does_not_have_stops_configuration(self):
        (self.folder / "mine.cuh").write_text('extern "C" __device__ float mine(float);\n')
        package = ("fatlink_add_contract(mine VERSION 1 HEADER mine.cuh)\n"
                   "fatlink_add_package(pp COMPONENT c SUMMARY s PROVIDES_CONTRACTS mine)\n")
        self.assert_stops(f"{VERSION}{INSTALL}{package}",
                          "fatlink_add_package(pp): PROVIDES_CONTRACTS mine: no fatbin of this contract is installed with "
                          "the component c; give its fatlink_add_fatbin INSTALL_DESTINATION and INSTALL_COMPONENT c")

    def test_a_library_is_of_the_contracts_that_its_contract_includes(self):
        (self.folder / "mine.cuh").write_text('extern "C" __device__ float mine(float);\n')
        done = self.configure(f"{VERSION}{INSTALL}{CONTRACT}fatlink_add_contract(mine VERSION 1 HEADER mine.cuh INCLUDES c)\n"
                              "fatlink_add_fatbin(t SOURCES t.cu CONTRACT mine INSTALL_DESTINATION share INSTALL_COMPONENT c)\n"
                              "fatlink_add_package(pp COMPONENT c SUMMARY s PROVIDES_CONTRACTS c mine)\n")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_text_with_special_characters_is_kept(self):
        done = self.configure(f'{VERSION}{INSTALL}fatlink_add_package(pp COMPONENT c SUMMARY "a; b [x")\n')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(" ".join(done.stderr.split()), r"there is no /\S+/LICENSE, so the package .* name the file with LICENSE")
        self.assertIn("set(SUMMARY [==[a; b [x]==])", (self.folder / "b/packages/pp.cmake").read_text())

    def test_a_component_packaged_twice_stops_configuration(self):
        self.assert_stops(VERSION + 2 * "fatlink_add_package(pp COMPONENT c SUMMARY s)\n",
                          "fatlink_add_package(pp): the component c already has a package")


if __name__ == "__main__":
    unittest.main()
