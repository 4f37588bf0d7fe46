# SPDX-License-Identifier: Apache-2.0
"""Errors in --json: the stage is where the error arose, and the code is never empty."""
import json
import os

from fatlink_cli import LIBRARY, SHARE, CliTest

RELU = SHARE / "relu_poly.fatbin"
LINK = ["link", "--target", "sm_90", "-o", "o.cubin"]


class ErrorCodes(CliTest):
    def assert_error(self, stage, code, status, *words, **options):
        done = self.fatlink(*words, "--json", status=status, **options)
        error = json.loads(done.stdout)["error"]
        self.assertEqual((error["stage"], error["code"]), (stage, code), error["message"])

    def copy_relu(self):
        self.file("copy.fatbin", RELU.read_bytes())
        return self.folder / "copy.json"

    def test_usage_errors(self):
        for code, words in (("unknown-command", ["rnu"]),
                            ("unknown-option", ["run", "--nonsense"]),
                            ("invalid-argument", ["run", "--elements", "x"]),
                            ("invalid-argument", ["check"]),
                            ("invalid-target", ["link", "--target", "sm_1", "-o", "o", LIBRARY]),
                            ("unknown-link-mode", ["run", "--mode", "fast"]),
                            ("unknown-device", ["run", "--device", "tpu"])):
            with self.subTest(words=words):
                self.assert_error("usage", code, 2, *words)

    def test_file_errors(self):
        self.file("empty.fatbin", b"")
        self.file("text.fatbin", "nothing")
        self.file("cut.fatbin", RELU.read_bytes()[:100])
        self.file("x.npy", b"no array")
        for stage, code, words in (("input", "unreadable-file", [*LINK, "nowhere.fatbin"]),
                                   ("input", "not-installed", [*LINK, "no_such_name"]),
                                   ("input", "empty-input", [*LINK, "empty.fatbin"]),
                                   ("input", "unknown-form", [*LINK, "text.fatbin"]),
                                   ("fatbin", "not-a-fatbin", ["digest", "text.fatbin"]),
                                   ("fatbin", "corrupt-fatbin", [*LINK, "cut.fatbin"]),
                                   ("input", "invalid-npy", ["run", "--device", "cpu", "--input", "x.npy"]),
                                   ("report", "unwritable-file", ["link", "--target", "sm_90", "-o",
                                                                  "no/folder/o.cubin", LIBRARY, RELU])):
            with self.subTest(code=code):
                self.assert_error(stage, code, 3, *words)

    def test_a_damaged_sidecar_is_an_error_of_the_stage_sidecar(self):
        sidecar = self.copy_relu()
        for text in ("{", "[]", '{"sha256": "0"}'):
            with self.subTest(text=text):
                sidecar.write_text(text)
                self.assert_error("sidecar", "invalid-sidecar", 3, *LINK, LIBRARY, "copy.fatbin")

    def test_a_sidecar_of_another_fatbin_is_a_digest_mismatch(self):
        self.copy_relu().write_text(json.dumps({"sha256": "0" * 64}))
        self.assert_error("fatbin", "digest-mismatch", 3, *LINK, LIBRARY, "copy.fatbin")

    def test_a_cache_that_cannot_be_used_is_an_error_of_the_stage_cache(self):
        self.file("file", b"")
        self.assert_error("cache", "unusable-cache", 3, "cache", "verify",
                          env={"FATLINK_CACHE_DIR": str(self.folder / "file")})

    def test_a_refused_link_has_the_id_of_the_finding(self):
        self.assert_error("preflight", "missing-hook", 4, *LINK, LIBRARY)

    def test_missing_software_is_named_by_the_code(self):
        without = {"FATLINK_NVJITLINK": str(self.folder / "none.so"), "FATLINK_CACHE_LIMIT": "0"}
        self.assert_error("linker", "nvjitlink-unavailable", 5, *LINK, "--in-process", LIBRARY, RELU, env=without)
        run = ["run", "--device", "cpu", "--elements", 9, "--library", LIBRARY, "--transform", RELU, "--mode"]
        self.assertIn("; on the reference device, --mode ptx needs no nvJitLink",
                      self.fatlink(*run, "lto", env=without, status=5).stderr)
        self.fatlink(*run, "ptx", env=without)
        self.assert_error("linker", "helper-unavailable", 5, *LINK, LIBRARY, RELU,
                          env={"FATLINK_LINKD": str(self.folder / "none")})
