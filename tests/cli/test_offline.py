# SPDX-License-Identifier: Apache-2.0
"""Offline mode of the program: what cache layers lack fails, and nothing is searched or started."""
import shutil
import subprocess

from cache_case import PAIR, TRACED, CacheTest
from compile_case import HALF, has_nvrtc
from fatlink_cli import LIBRARY, PROGRAM, SHARE

OFFLINE = {"FATLINK_OFFLINE": "1"}
LINK = ["link", "-o", "out.cubin", *PAIR, "--target"]
RUN = ["run", "--device", "cpu", "--elements", 100]
NAMES = " and ".join(map(str, PAIR))
ON = "offline mode is on, and "


class Offline(CacheTest):
    def layer(self, *words):
        """The environment of a user who has a layer and an empty folder."""
        layer = self.folder / "layer"
        self.fatlink("cache", "warm", "--no-cache", "--layer", layer, *words)
        return {**OFFLINE, "FATLINK_SYSTEM_CACHE": str(layer), "FATLINK_CACHE_DIR": str(self.cache / "empty")}

    def assert_offline(self, message, *words, env=None, hint="fatlink cache "):
        self.assert_fails(5, *words, says=[ON + message], env=env, hint=hint)
        self.assertEqual(self.fatlink_json(*words, env=env, status=5)["error"]["code"], "offline")

    def test_links_of_layers_are_used_and_others_fail(self):
        env = self.layer(*PAIR, "--target", "sm_80", "--mode", "lto", "--emit", "cubin,ptx")
        for target in ("sm_80", "sm_86"):
            self.assertEqual(self.fatlink_json(*LINK, target, env=env)["cache"], "hit")
        for words, missing in ((["sm_90"], f"no cache layer has the lto link of {NAMES} for sm_90 (the layers have it for sm_80)"),
                               (["sm_80", "--mode", "ptx"], f"no cache layer has the ptx link of {NAMES} for sm_80 (the layers have it in lto mode)"),
                               (["sm_90", "--emit", "ptx"], f"no cache layer has the lto link of {NAMES} for sm_90 (PTX) (the layers have it for sm_80)"),
                               (["sm_120", "-O0"], f"no cache layer has the lto link of {NAMES} for sm_120\n")):
            with self.subTest(words=words):
                self.assertIn(ON + missing, self.fatlink(*LINK, *words, env=env, status=5).stderr)

    def test_the_command_in_the_hint_adds_the_link(self):
        env = self.layer(*PAIR, "--target", "sm_80", "--mode", "lto")
        for words in (["sm_90"], ["sm_90", "--mode", "ptx", "--kernel", "apply_transform"]):
            said = self.fatlink(*LINK, *words, env=env, status=5).stderr
            command = said.partition("run fatlink ")[2].partition("; then")[0].replace("FOLDER", str(self.folder / "layer"))
            self.fatlink(*command.split())
            self.assertEqual(self.fatlink_json(*LINK, *words, env=env)["cache"], "hit")

    def test_the_users_folder_is_not_used(self):
        self.link_json()
        self.assertEqual(self.link_json()["cache"], "hit")
        self.assert_offline("there is no cache layer that could have the lto link of", *LINK, "sm_90", env=OFFLINE)
        self.assert_offline("no cache is used that could have the lto link of", *LINK, "sm_90", "--no-cache", env=OFFLINE,
                            hint="leave out --no-cache; ")

    def test_the_option_is_the_same_as_the_variable(self):
        for words in ([*LINK, "sm_90"], [*RUN, "--mode", "lto"], ["compile", self.file("half.cu", HALF), "-o", "half.fatbin"]):
            with self.subTest(words=words):
                (self.folder / "half.cu").write_text(HALF)
                said = [self.fatlink(*words, *more, env=env, status=5).stderr for more, env in ((["--offline"], {}), ([], OFFLINE))]
                self.assertEqual(*said)
                self.assertIn(ON, said[0])
        self.assert_fails(2, *LINK, "sm_90", "--offline", "--no-cache", says=["--no-cache and --offline cannot be used together"])

    def test_the_variable_is_0_or_1(self):
        for value in ("0", ""):
            self.assertEqual(self.link_json(env={"FATLINK_OFFLINE": value})["hooks"][0]["inlined"], True)
        self.assert_fails(2, *LINK, "sm_90", says=["FATLINK_OFFLINE: 'yes' is neither 0 nor 1"], env={"FATLINK_OFFLINE": "yes"})

    def test_preflight_still_refuses_inputs(self):
        self.assert_fails(4, "link", "--target", "sm_90", "-o", "o", LIBRARY, says=["user_transform"], env=OFFLINE)

    def test_ptx_that_the_reference_device_executes_needs_no_link(self):
        self.assertTrue(self.fatlink_json(*RUN, "--mode", "ptx", env=OFFLINE)["modes"][0]["verified"])

    def test_sources(self):
        source = self.file("half.cu", HALF)
        if not has_nvrtc():
            self.skipTest("no NVRTC on this machine")
        env = self.layer(LIBRARY, source, "--target", "sm_90", "--mode", "lto")
        self.assertEqual(self.link_json(LIBRARY, source, env=env)["cache"], "hit")
        source.write_text(HALF + "\n")
        self.assert_offline(f"no cache layer has the compiled source {source} for sm_75 with the contract apply_transform/1",
                            "link", "--target", "sm_90", "-o", "o", LIBRARY, source, env=env, hint="fatlink cache record --layer FOLDER -- COMMAND")
        self.file("half.ll", "target triple = \"nvptx64-nvidia-cuda\"\n")
        self.assert_offline("no cache layer can have compiled LLVM IR: half.ll for sm_75", "compile", "half.ll", "-o", "o", env=env,
                            hint="fatlink compile")

    def test_images_that_no_layer_holds(self):
        self.assert_offline("no cache layer can have the lto link of", *LINK, "sm_90", "--emit", "ltoir", env=OFFLINE,
                            hint="pass the fatbin as an input")

    def test_layers_are_not_filled(self):
        self.assert_offline("a cache layer is filled by links and compiles", "cache", "warm", *PAIR, "--target", "sm_90", "--layer",
                            self.folder / "layer", env=OFFLINE, hint="turn offline mode off")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_checks_do_not_link(self):
        done = self.fatlink("check", "--target", "sm_90", *PAIR, env=OFFLINE)
        self.assertIn("offline mode is on: toolkit versions and inline functions with the same name are not checked", done.stderr)

    def test_doctor_says_that_the_mode_is_on(self):
        report = self.fatlink_json("doctor", env=OFFLINE)
        self.assertTrue(report["offline"])
        self.assertFalse(report["verdicts"]["link"]["ok"])
        self.assertIn("Offline mode: on (FATLINK_OFFLINE)\n", self.fatlink("doctor", env=OFFLINE).stdout)
        self.assertNotIn("Offline", self.fatlink("doctor").stdout)

    def test_nothing_is_searched_or_started(self):
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        source = self.file("half.cu", HALF)
        for words, status in (([*LINK, "sm_90"], 5), (["compile", source, "-o", "o.fatbin"], 5), (["check", *PAIR], 0), (["doctor"], 0),
                              (["run", "--device", "cpu", "--elements", "9", "--transform", SHARE / "gelu.fatbin"], 5)):
            with self.subTest(words=words):
                done = subprocess.run(["strace", "-f", "-o", "trace", "-e", "trace=%file,connect", PROGRAM, *map(str, words)], cwd=self.folder,
                                      capture_output=True, env={**TRACED, **OFFLINE, "FATLINK_CACHE_DIR": str(self.cache)})
                self.assertEqual(done.returncode, status, done.stderr)
                trace = (self.folder / "trace").read_text()
                for name in ("fatlink-linkd", "libnvJitLink", "libnvrtc", "libnvvm"):
                    self.assertNotIn(name, trace)
