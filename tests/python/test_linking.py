# SPDX-License-Identifier: Apache-2.0
"""fatlink.link, check, compile, Input, configure and cache; none needs NumPy."""
import pathlib
import unittest

from python_case import PythonCase, fatlink

SOURCE = "FATLINK_COMBINE(float, a, b) { return a + b; }"


class Links(PythonCase):
    def need_nvjitlink(self):
        try:
            return fatlink.link(["reduce_4", "add_float"], target="sm_90")
        except fatlink.UnavailableError as cause:
            self.skipTest(str(cause))

    def test_return_an_image(self):
        image = self.need_nvjitlink()
        self.assertEqual((image.kind, image.mode, image.target, image.is_inlined), ("cubin", "lto", "sm_90", True))
        self.assertTrue(bytes(image).startswith(b"\x7fELF"))
        self.assertEqual([(hook.name, hook.is_inlined, hook.is_default) for hook in image.hooks], [("combine", True, False)])
        image.save(self.folder / "image.cubin")
        self.assertEqual((self.folder / "image.cubin").read_bytes(), bytes(image))

    def test_are_kept_in_the_cache(self):
        self.need_nvjitlink()
        self.assertEqual(fatlink.link(["reduce_4", "add_float"], target="sm_90").cache, "hit")
        self.assertGreater(fatlink.cache.statistics()["entries"], 0)
        self.assertTrue(pathlib.Path(fatlink.cache.folder()).is_dir())
        fatlink.cache.prune()
        fatlink.cache.clear()
        self.assertEqual(fatlink.cache.statistics()["entries"], 0)

    def test_are_not_kept_without_a_cache(self):
        self.addCleanup(fatlink.configure, cache=True)
        fatlink.configure(cache=False)
        self.need_nvjitlink()
        self.assertEqual(fatlink.link(["reduce_4", "add_float"], target="sm_90").cache, "off")
        with self.assertRaises(fatlink.UsageError):
            fatlink.cache.folder()

    def test_take_options(self):
        self.need_nvjitlink()
        image = fatlink.link(["reduce_4", "add_float"], target="sm_90", emit="ptx", kernels=["reduce_block"],
                             ftz=True)
        self.assertEqual(image.kind, "ptx")
        self.assertIn(b".entry reduce_block", bytes(image))
        self.assertNotIn(b".entry reduce_chunks", bytes(image))
        image = fatlink.link(["reduce_4", "add_float"], target="sm_90", line_info=True, max_registers=64)
        self.assertEqual(image.kind, "cubin")

    def test_for_another_link(self):
        self.need_nvjitlink()
        for options in ({"emit": "ltoir"}, {"emit": "relocatable"}, {"latest_nvvm": True}):
            with self.subTest(options):
                try:
                    image = fatlink.link(["reduce_4"] if "emit" in options else ["reduce_4", "add_float"], target="sm_90", **options)
                except fatlink.UnavailableError as cause:
                    self.assertEqual(cause.code, "nvjitlink-unavailable")
                    self.assertRegex(cause.hint, r"or newer, or (emit a cubin: emit=\"cubin\"|do not set latest_nvvm)")
                else:
                    self.assertEqual(image.kind, options.get("emit", "cubin"))
                    if "emit" in options:
                        name = self.folder / "part.fatbin"
                        image.save(name)
                        calls = image.kind == "relocatable"
                        self.assertEqual(fatlink.link([name, "add_float"], target="sm_90", allow_calls=calls).is_inlined, not calls)

    def test_for_a_device(self):
        self.need_nvjitlink()
        self.assertEqual(fatlink.link(["reduce_4", "add_float"], target=fatlink.open_device("cpu"), mode="ptx").kind, "ptx-set")

    def test_that_are_refused_have_findings(self):
        error = self.assert_error(fatlink.RefusedError, fatlink.link, ["reduce_4", "gelu"], target="sm_90",
                                  says="contract combine_4/1", code="contract-mismatch")
        self.assertEqual(error.findings[0].id, "contract-mismatch")
        self.assertTrue(error.findings[0].is_error)
        self.assertEqual(len(error.findings[0].files), 2)

    def test_with_wrong_options(self):
        for options, says in (({"target": "sm_90", "mode": "fast"}, "mode is 'fast'"), ({"target": 90}, "target must be a text or a path, not 90"),
                              ({"target": "sm_90", "emit": "elf"}, "emit is 'elf'"), ({"target": "sm_1"}, "sm_1"),
                              ({"target": "sm_90", "kernel": []}, "no option kernel"),
                              ({"target": "sm_90", "kernels": ["none"]}, "none")):
            with self.subTest(options=options):
                self.assert_error(fatlink.Error, fatlink.link, ["reduce_4", "add_float"], says=says, **options)

    def test_of_nothing(self):
        self.assert_error(fatlink.UsageError, fatlink.link, [], target="sm_90", says="input")


class Checks(PythonCase):
    def test_find_nothing_in_what_fits(self):
        self.assertEqual(fatlink.check(["reduce_4", "add_float"], target="sm_90"), [])

    def test_return_findings(self):
        findings = fatlink.check(["reduce_4", "gelu"], target="sm_90")
        self.assertEqual([finding.id for finding in findings], ["contract-mismatch", "missing-hook", "unused-input"])
        self.assertEqual([finding.is_error for finding in findings], [True, True, False])
        self.assertIn("combine", findings[1].symbol + findings[1].message)
        self.assertTrue(all(finding.hint for finding in findings))
        self.assertIn("[missing-hook]", str(findings[1]))


class Inputs(PythonCase):
    def test_by_name_and_file(self):
        entry = fatlink.Input.find("gelu")
        self.assertEqual((entry.form, entry.is_verified, len(entry.digest)), ("fatbin", True, 64))
        operator = fatlink.Input.find("argmax")
        self.assertEqual((operator.element("combine"), operator.element("load")), ("bytes8", ""))
        self.assertEqual(fatlink.find_file("gelu"), entry.name)
        self.assertEqual(bytes(fatlink.Input.read(entry.name)), bytes(entry))

    def test_of_bytes(self):
        data = bytes(fatlink.Input.find("gelu"))
        entry = fatlink.Input.from_bytes(data, "mine")
        self.assertEqual((entry.name, entry.form, bytes(entry)), ("mine", "fatbin", data))
        self.assert_error(fatlink.FileError, fatlink.Input.from_bytes, b"\x7fnothing", "mine", says="mine")

    def test_that_cannot_be_written(self):
        self.assert_error(fatlink.FileError, fatlink.Input.find("gelu").save, "/none/gelu.fatbin", says="/none/gelu.fatbin",
                          code="unwritable-file")

    def test_of_something_else(self):
        self.assert_error(fatlink.UsageTypeError, fatlink.link, [3], target="sm_90", says="an input is 3")
        self.assert_error(fatlink.UsageTypeError, fatlink.link, 3, target="sm_90", says="inputs is 3")

    def test_that_are_installed(self):
        entries = {entry["name"]: entry for entry in fatlink.installed("add_float", "reduce_4")}
        self.assertEqual((entries["add_float"]["kind"], entries["reduce_4"]["kind"]), ("transform", "library"))
        self.assert_error(fatlink.Error, fatlink.installed, "no_such_name", says="no_such_name")


class Compiles(PythonCase):
    def compile(self, *arguments, **options):
        try:
            return fatlink.compile(*arguments, **options)
        except fatlink.UnavailableError as cause:
            self.skipTest(str(cause))

    def test_return_an_input(self):
        entry = self.compile(SOURCE, contract="combine_4", name="sum.cu")
        self.assertEqual((entry.form, entry.warnings), ("fatbin", ""))
        entry.save(self.folder / "sum.fatbin")
        self.assertEqual(fatlink.check(["reduce_4", self.folder / "sum.fatbin"], target="sm_90"), [])

    def test_of_a_file(self):
        path = self.folder / "sum.cu"
        path.write_text(SOURCE)
        self.assertEqual(self.compile(path, contract="combine_4", architectures=["sm_75", "sm_90"], sass="sm_90").form, "fatbin")
        self.assert_error(fatlink.FileError, fatlink.compile, self.folder / "none.cu", says="none.cu", code="unreadable-file")

    def test_return_warnings(self):
        entry = self.compile("#warning mind the gap\n" + SOURCE, contract="combine_4")
        self.assertIn("mind the gap", entry.warnings)

    def test_take_definitions_and_folders(self):
        (self.folder / "body.h").write_text("a * FACTOR + b")
        self.compile("FATLINK_COMBINE(float, a, b) { return\n#include <body.h>\n; }", contract="combine_4",
                     definitions=["FACTOR=2"], include_folders=[self.folder], standard="c++20", ftz=True, fma=False)

    def test_of_a_file_find_headers_beside_it(self):
        (self.folder / "body.cuh").write_text("a + b")
        (self.folder / "sum.cu").write_text('FATLINK_COMBINE(float, a, b) { return\n#include "body.cuh"\n; }')
        self.compile(self.folder / "sum.cu", contract="combine_4")
        error = self.assert_error(fatlink.CompileError, fatlink.compile, (self.folder / "sum.cu").read_text(), contract="combine_4",
                                  says="the header body.cuh is in none of the folders")
        self.assertEqual(error.code, "header-not-found")

    def test_that_fail_have_the_log(self):
        self.compile(SOURCE, contract="combine_4")
        error = self.assert_error(fatlink.CompileError, fatlink.compile, SOURCE.replace("return", "retrun"), contract="combine_4",
                                  name="sum.cu", says="sum.cu:1")
        self.assertIn("retrun", error.log)

    def test_of_something_else(self):
        self.assert_error(fatlink.UsageTypeError, fatlink.compile, 3, says="source is 3", hint="pathlib.Path")
        self.assert_error(fatlink.Error, fatlink.compile, SOURCE, contract="no_contract", says="no_contract")


class Configuration(PythonCase):
    def test_refuses_unknown_settings(self):
        self.assert_error(fatlink.UsageError, fatlink.configure, cach=True, says="no setting cach", hint="cache_folder")

    def test_links_in_this_process(self):
        self.addCleanup(fatlink.configure, in_process=False)
        fatlink.configure(in_process=True)
        try:
            self.assertEqual(fatlink.link(["reduce_4", "max_float"], target="sm_80").target, "sm_80")
        except fatlink.UnavailableError as cause:
            self.skipTest(str(cause))

    def test_names_the_libraries(self):
        self.addCleanup(fatlink.configure, nvjitlink=None, nvrtc=None, cache=True)
        fatlink.configure(nvjitlink="/none/libnvJitLink.so.13", nvrtc="/none/libnvrtc.so.13", cache=False)
        self.assert_error(fatlink.UnavailableError, fatlink.link, ["reduce_4", "add_float"], target="sm_90", says="/none/")
        self.assert_error(fatlink.UnavailableError, fatlink.compile, SOURCE, contract="combine_4", says="/none/")


if __name__ == "__main__":
    unittest.main()
