# SPDX-License-Identifier: Apache-2.0
"""Fatbins that are packed, and links that are made in advance: for the user's cache, and for a layer to ship."""
import json
import os
import subprocess
import sys
import unittest
import warnings

from python_case import PACKAGE, PythonCase, fatlink

HALF = 'extern "C" __device__ float user_transform(float x) { return 0.5F * x; }\n'
NAMES = ["apply_transform", "relu_poly"]


class Pack(PythonCase):
    def compile(self, architecture, source=HALF):
        return fatlink.compile(source, name=f"half_{architecture}.cu", architectures=architecture, contract="apply_transform")

    def test_returns_one_fatbin_for_several_architectures(self):
        packed = fatlink.pack([self.compile("sm_75"), self.compile("sm_90")])
        self.assertEqual((packed.form, packed.name, packed.warnings, packed.is_verified), ("fatbin", "packed.fatbin", "", True))
        self.assertEqual([finding.id for target in ("sm_75", "sm_90") for finding in fatlink.check(["apply_transform", packed], target=target)], [])

    def test_writes_the_fatbin_and_the_sidecar_as_the_program_does(self):
        for architecture in ("sm_75", "sm_90"):
            self.compile(architecture).save(self.folder / f"{architecture}.fatbin")
        reference = {"name": "half", "summary": "half", "hook": "user_transform", "reference": "0.5 * x"}
        (self.folder / "sm_75.json").write_text(json.dumps(reference))
        files = [self.folder / "sm_75.fatbin", self.folder / "sm_90.fatbin"]
        packed = fatlink.pack(files, self.folder / "half.fatbin", package="halves 1.2")
        subprocess.run([fatlink._install.find_program(), "pack", "-o", self.folder / "program.fatbin", "--package", "halves 1.2", *files], check=True,
                       capture_output=True)
        self.assertEqual(bytes(packed), (self.folder / "half.fatbin").read_bytes())
        self.assertEqual(bytes(packed), (self.folder / "program.fatbin").read_bytes())
        self.assertEqual((self.folder / "half.json").read_bytes(), (self.folder / "program.json").read_bytes())
        self.assertEqual(json.loads((self.folder / "half.json").read_text())["reference"], "0.5 * x")

    def test_issues_warnings(self):
        plain = fatlink.compile(HALF, name="plain.cu", architectures="sm_90")
        with self.assertWarnsRegex(UserWarning, "does not state contract apply_transform/1 of half_sm_75.cu, because plain.cu states no contract"):
            packed = fatlink.pack([self.compile("sm_75"), plain])
        self.assertIn("does not state contract", packed.warnings)

    def test_refuses_what_does_not_belong_together(self):
        other = self.compile("sm_90", HALF + 'extern "C" __device__ float another(float x) { return x; }\n')
        with self.assertRaises(fatlink.RefusedError) as raised:
            fatlink.pack([self.compile("sm_75"), other], self.folder / "half.fatbin")
        self.assertEqual([finding.id for finding in raised.exception.findings], ["interface-mismatch"])
        self.assertFalse((self.folder / "half.fatbin").exists())

    def test_refuses_arguments(self):
        one = self.compile("sm_75")
        self.assert_error(fatlink.UsageError, fatlink.pack, [], says="there is nothing to pack", hint="at least one fatbin")
        self.assert_error(fatlink.UsageError, fatlink.pack, one, package="a b c", says="package: 'a b c' is not a name", hint="my-transforms")
        self.assert_error(fatlink.UsageError, fatlink.pack, one, self.folder / "half.json", says="the same name", hint="x.fatbin")
        self.assert_error(fatlink.FileError, fatlink.pack, one, self.folder / "none/half.fatbin", says="none/half.fatbin")

    def test_keeps_a_sidecar_that_was_written_by_hand(self):
        one = self.compile("sm_75")
        one.save(self.folder / "one.fatbin")
        (self.folder / "one.json").write_text('{"reference": "0.5 * x", "hook": "user_transform"}')
        (self.folder / "half.json").write_text('{"reference": "x / 2", "hook": "user_transform"}')
        with self.assertWarnsRegex(UserWarning, 'half.json is kept, with the "sha256" of'):
            fatlink.pack(self.folder / "one.fatbin", self.folder / "half.fatbin")
        self.assertEqual(json.loads((self.folder / "half.json").read_text())["reference"], "x / 2")


class Cache(PythonCase):
    def setUp(self):
        super().setUp()
        fatlink.configure(cache_folder=self.folder / "cache")
        self.addCleanup(fatlink.configure, cache_folder=None, cache=True)

    def first_use(self, code, **variables):
        """What a new process prints that cannot link or compile."""
        done = subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {PACKAGE!r}); import fatlink\n{code}"], text=True,
                              capture_output=True, env={**os.environ, "FATLINK_LINKD": "/nowhere", **variables})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def test_warm_links_for_later_links(self):
        images = fatlink.cache.warm(NAMES, targets=["sm_90", "sm_75"])
        self.assertEqual([(image.target, image.mode, image.kind, image.cache) for image in images],
                         [(target, mode, "cubin", "miss") for target in ("sm_90", "sm_75") for mode in ("ptx", "lto")])
        self.assertEqual(self.first_use(f"print(fatlink.link({NAMES}, target='sm_90').cache)", FATLINK_CACHE_DIR=str(self.folder / "cache")), "hit")
        self.assertEqual({image.cache for image in fatlink.cache.warm(NAMES, targets="sm_90")}, {"hit"})

    def test_warm_keeps_the_kernels_of_a_plan(self):
        fatlink.cache.warm(["reduce_4", "add_float"], targets=fatlink.open_device("cpu"), emit="ptx")
        code = "print(fatlink.load('reduce_4', 'add_float', device='cpu').image.cache)"
        self.assertEqual(self.first_use(code, FATLINK_CACHE_DIR=str(self.folder / "cache")), "hit")

    def test_layer_links_for_other_machines(self):
        layer = self.folder / "layer"
        images = fatlink.cache.layer(layer, ["reduce_4", "add_float"], targets="sm_90", emit=["cubin", "ptx"])
        self.assertEqual([(image.mode, image.kind) for image in images], [("ptx", "cubin"), ("lto", "cubin"), ("lto", "ptx")])
        self.assertEqual(len(os.listdir(layer)), 6)
        code = "print(fatlink.load('reduce_4', 'add_float', device='cpu').image.cache)"
        elsewhere = {"FATLINK_CACHE_DIR": str(self.folder / "elsewhere"), "FATLINK_SYSTEM_CACHE": str(layer)}
        self.assertEqual(self.first_use(code, **elsewhere), "hit")

    def test_layer_is_that_of_the_program(self):
        fatlink.cache.layer(self.folder / "layer", NAMES, targets="sm_75", mode="lto", one_copy=True)
        subprocess.run([fatlink._install.find_program(), "cache", "warm", "--layer", self.folder / "program", "--target", "sm_75", "--mode", "lto",
                        "--one-copy", *NAMES], check=True, capture_output=True)
        entry, = (self.folder / "layer").iterdir()
        self.assertEqual(entry.read_bytes(), (self.folder / "program" / entry.name).read_bytes())

    def test_layer_has_compiled_sources(self):
        layer = self.folder / "layer"
        half = fatlink.compile(HALF, contract="apply_transform", layer=layer)
        fatlink.cache.layer(layer, ["apply_transform", half], targets="sm_75", mode="lto")
        self.assertEqual(len(os.listdir(layer)), 3)
        code = f"half = fatlink.compile({HALF!r}, contract='apply_transform'); print(fatlink.link(['apply_transform', half], target='sm_75').cache)"
        elsewhere = {"FATLINK_CACHE_DIR": str(self.folder / "elsewhere"), "FATLINK_SYSTEM_CACHE": str(layer)}
        self.assertEqual(self.first_use(code, **elsewhere), "hit")

    def test_arguments_that_would_link_nothing_are_refused(self):
        def refuse(says, hint, **arguments):
            self.assert_error(fatlink.UsageError, fatlink.cache.warm, NAMES, says=says, hint=hint, **{"targets": "sm_90", **arguments})
        refuse('emit "ptx" with mode \'ptx\': only lto mode emits PTX', 'mode="lto"', mode="ptx", emit=["cubin", "ptx"])
        refuse('emit "ptx" with mode \'both\'', 'mode="lto"', mode="both", emit="ptx")
        refuse("targets is empty", "at least one", targets=[])
        refuse("targets is 5", "a list of texts", targets=5)
        refuse("mode is 'fast'", '"lto"', mode="fast")
        refuse("emit is 'sass'", '"cubin"', emit="sass")

    def test_options_of_lto_mode_do_not_stop_other_modes(self):
        images = fatlink.cache.warm(NAMES, targets="sm_90", require_inlined=True)
        self.assertEqual([image.mode for image in images], ["ptx", "lto"])

    def test_warm_without_a_cache_is_an_error(self):
        fatlink.configure(cache=False)
        self.assert_error(fatlink.UsageError, fatlink.cache.warm, NAMES, targets="sm_90", says="the linker has no cache: nothing to fill",
                          hint="fatlink.configure(cache=True)")

    def test_warm_in_a_folder_that_cannot_be_used_is_an_error(self):
        (self.folder / "cache").mkdir()
        (self.folder / "cache/foreign").write_text("")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assert_error(fatlink.FileError, fatlink.cache.warm, NAMES, targets="sm_90", says="did not store the ptx link for sm_90",
                              hint="`fatlink cache stats` shows the cause", code="link-not-cached")

    def test_a_layer_that_cannot_be_written_is_an_error(self):
        (self.folder / "file").write_text("")
        self.assert_error(fatlink.FileError, fatlink.cache.layer, self.folder / "file", NAMES, targets="sm_90", says=str(self.folder / "file"))


if __name__ == "__main__":
    unittest.main()
