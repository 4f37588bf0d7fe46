# SPDX-License-Identifier: Apache-2.0
"""Links in two steps: `fatlink link --emit ltoir` and `--emit relocatable` write a fatbin that another link takes."""
import os
import pathlib
import unittest

from fatlink_cli import CliTest, doctor


class Refusals(CliTest):
    """With any nvJitLink."""

    INPUTS = ("--target", "sm_90", "-o", "o.fatbin", "apply_transform", "gelu")

    def test_older_nvjitlinks_are_refused(self):
        linker = doctor()["nvjitlink"].get("version", "13.9")
        for emit, mode, first, cause in (("ltoir", "lto", (13, 4), "return LTO-IR"),
                                         ("relocatable", "lto", (13, 3), "make relocatable cubins in lto mode"),
                                         ("relocatable", "ptx", (13, 1), "make relocatable cubins")):
            if tuple(map(int, linker.split(".")[:2])) >= first:
                self.skipTest(f"nvJitLink {linker} has it, or there is none")
            with self.subTest(emit, mode=mode):
                self.assert_fails(5, "link", "--emit", emit, "--mode", mode, *self.INPUTS,
                                  says=f"nvJitLink {linker} does not {cause}",
                                  hint="install nvJitLink {}.{} or newer, or emit a cubin: --emit cubin".format(*first))
                self.assertFalse((self.folder / "o.fatbin").exists())

    def test_ltoir_is_of_lto_mode(self):
        for mode in ("ptx", "sass"):
            self.assert_fails(2, "link", "--emit", "ltoir", "--mode", mode, *self.INPUTS,
                              says=f"ltoir cannot be emitted in {mode} mode")

    def test_options_of_a_compiler_have_no_effect_on_ltoir(self):
        for words in (["--max-registers", "32"], ["--kernel", "apply_transform"], ["-O", "0"], ["--require-inlined"]):
            self.assert_fails(2, "link", "--emit", "ltoir", *words, *self.INPUTS, says="no effect on emitted LTO-IR")

    def test_resources_are_of_complete_images(self):
        for emit in ("ltoir", "relocatable"):
            self.assert_fails(2, "link", "--emit", emit, "--resources", *self.INPUTS, says="not complete",
                              hint=f"leave out --emit {emit}")

    def test_layers_hold_no_inputs(self):
        self.assert_fails(2, "cache", "warm", "--emit", "ltoir", "--target", "sm_90", "--layer", "layer", "apply_transform", "gelu",
                          says="--emit")


@unittest.skipUnless("FATLINK_TOOLKITS" in os.environ, "FATLINK_TOOLKITS names no folder that make_toolkit_fixtures filled (2 GB)")
class Toolkits(CliTest):
    def env(self, version="13.5"):
        found = next(pathlib.Path(os.environ["FATLINK_TOOLKITS"], version).rglob("libnvJitLink.so.13"))
        return {"FATLINK_NVJITLINK": str(found)}

    def make(self, output, *words, version="13.5", **options):
        self.fatlink("link", "--target", "sm_90", "-o", output, *words, env=self.env(version), **options)
        return self.folder / output

    def entry(self, file):
        (found,) = self.fatlink_json("inspect", file)["files"]
        (entry,) = found["entries"]
        return entry

    def test_merged_ltoir_gives_the_image_of_one_link(self):
        for version in ("13.4", "13.5"):
            with self.subTest(version):
                merged = self.make("merged.fatbin", "--emit", "ltoir", "apply_transform", version=version)
                entry = self.entry(merged)
                self.assertEqual((entry["kind"], entry["target"], entry["ident"]["contract"]), ("ltoir", "sm_90", "apply_transform"))
                two = self.make("two.cubin", merged, "gelu", version=version).read_bytes()
                self.assertEqual(two, self.make("one.cubin", "apply_transform", "gelu", version=version).read_bytes())

    def test_merged_ltoir_computes(self):
        merged = self.make("merged.fatbin", "--emit", "ltoir", "apply_transform")
        report = self.fatlink_json("run", "--no-cache", "--device", "cpu", "--mode", "lto", "--library", merged, "--transform", "gelu",
                                   "--elements", "1000", env=self.env())
        self.assertTrue(report["modes"][0]["verified"])
        self.assertTrue(report["modes"][0]["inlined"])

    def test_float_flags_are_those_of_the_merging_link(self):
        merged = self.make("fast.fatbin", "--emit", "ltoir", "--ftz", "1", "--prec-div", "0", "--prec-sqrt", "0", "--fma", "1",
                           "apply_transform")
        self.assertIn("-ftz=1 -prec_div=0 -prec_sqrt=0 -fmad=1", self.fatlink("inspect", merged).stdout)
        refused = self.fatlink("link", "--target", "sm_90", "-o", "o.cubin", merged, "gelu", env=self.env(), status=4)
        self.assertIn("[float-contract]", refused.stderr)

    def test_contracts_and_types_are_still_compared(self):
        merged = self.make("merged.fatbin", "--emit", "ltoir", "apply_transform")
        self.assertIn("[contract-mismatch]", self.fatlink("link", "--target", "sm_90", "-o", "o.cubin", merged, "add_float",
                                                          env=self.env(), status=4).stderr)
        self.assertIn("user_transform", self.fatlink("link", "--target", "sm_90", "-o", "o.cubin", merged, env=self.env(), status=4).stderr)

    def test_relocatable_cubins_link_as_sass_and_beside_ltoir(self):
        for version, mode in (("13.1", "ptx"), ("13.3", "lto"), ("13.5", "ptx"), ("13.5", "lto")):
            with self.subTest(version, mode=mode):
                library = self.make("library.fatbin", "--emit", "relocatable", "--mode", mode, "apply_transform", version=version)
                transform = self.make("transform.fatbin", "--emit", "relocatable", "--mode", mode, "gelu", version=version)
                entry = self.entry(library)
                self.assertEqual((entry["kind"], entry["target"], entry["ident"]["contract"]), ("elf", "sm_90", "apply_transform"))
                self.assertEqual(entry["hooks"], ["(b32) user_transform(b32)"])
                self.make("both.cubin", "--mode", "sass", library, transform, version=version)
                self.make("mixed.cubin", "--allow-calls", library, "gelu", version=version)
                self.assertIn("[missing-hook]", self.fatlink("link", "--target", "sm_90", "--mode", "sass", "-o", "o.cubin", library,
                                                             env=self.env(version), status=4).stderr)

    def test_relocatable_cubins_are_linked_in_steps(self):
        parts = [self.make(f"{name}.fatbin", "--emit", "relocatable", name) for name in ("apply_transform", "gelu")]
        both = self.make("both.fatbin", "--emit", "relocatable", "--mode", "sass", *parts)
        self.make("both.cubin", "--mode", "sass", both)

    def test_bench_measures_both(self):
        for version, kinds in (("13.0", []), ("13.3", ["relocatable"]), ("13.5", ["ltoir", "relocatable"])):
            with self.subTest(version):
                report = self.fatlink_json("bench", "--only", "links", "--repeat", "2", env=self.env(version))
                self.assertEqual([row["emit"] for row in report["two_steps"]], kinds)
                self.assertTrue(all(row["step_ms"] > 0 and row["last_ms"] > 0 for row in report["two_steps"]))

    def test_older_nvjitlinks_are_named(self):
        merged = self.make("merged.fatbin", "--emit", "ltoir", "apply_transform")
        refused = self.fatlink("link", "--target", "sm_90", "-o", "o.cubin", merged, "gelu", env=self.env("13.4"), status=4)
        self.assertIn("holds LTO-IR of CUDA 13.5, which nvJitLink 13.4 cannot read [toolkit-too-new]", refused.stderr)


if __name__ == "__main__":
    unittest.main()
