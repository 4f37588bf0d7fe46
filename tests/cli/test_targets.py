# SPDX-License-Identifier: Apache-2.0
"""--target native and all: wherever a target is taken."""
import json
import unittest

from fatlink_cli import LIBRARY, SHARE, CliTest, gpus

RELU = SHARE / "relu_poly.fatbin"
PAIR = [LIBRARY, RELU]
WORDS = [["link", "-o", "o.cubin", *PAIR], ["check", *PAIR], ["cache", "warm", *PAIR]]


class ListedTargets(CliTest):
    def test_the_completions_list_has_every_target_of_all(self):
        report = self.fatlink_json("check", "--target", "all", "--mode", "lto", *PAIR)
        offered = self.fatlink("--complete", "link", "--target", "sm_").stdout.split()
        self.assertEqual(offered, [entry["target"] for entry in report["targets"]])


class AllTargets(CliTest):
    def targets(self):
        return [one["target"] for one in self.fatlink_json("check", "--target", "all", "--mode", "lto", *PAIR)["targets"]]

    def test_link_writes_a_file_for_each_target_of_a_pattern(self):
        found = self.fatlink_json("link", "--target", "all", "-o", "out.{target}.cubin", *PAIR)["images"]
        targets = self.targets()
        self.assertGreater(len(targets), 12)
        self.assertEqual([one["target"] for one in found], targets)
        self.assertEqual({path.name for path in self.folder.iterdir()}, {f"out.{name}.cubin" for name in targets})
        for one in found:
            self.assertEqual((self.folder / one["output"]).read_bytes()[:4], b"\x7fELF")

    def test_link_takes_several_targets_with_a_pattern(self):
        done = self.fatlink("link", "--target", "sm_80,sm_90", "--target", "sm_90a", "-o", "{target}/o", *PAIR, status=3)
        self.assertIn("sm_80/o: cannot be written", done.stderr)
        done = self.fatlink("link", "--target", "sm_80,sm_90", "--target", "sm_90a", "-o", "o.{target}", *PAIR)
        self.assertEqual([line.split(":")[0] for line in done.stdout.splitlines()], ["o.sm_80", "o.sm_90", "o.sm_90a"])

    def test_a_pattern_with_one_target_names_it(self):
        found = self.fatlink_json("link", "--target", "sm_90", "-o", "o.{target}", *PAIR)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["o.sm_90"])
        self.assertEqual([one["output"] for one in found["images"]], ["o.sm_90"])

    def test_several_targets_and_one_file_are_a_usage_error(self):
        for target in ("all", "sm_80,sm_90"):
            self.assert_fails(2, "link", "--target", target, "-o", "o.cubin", *PAIR,
                              says=["o.cubin: a single file for ", " targets"], hint="o.{target}.cubin")

    def test_nothing_is_written_where_one_target_does_not_link(self):
        exact = self.file("specific.fatbin", (SHARE.parent.parent / "libexec" / "fatlink-tests" / "fixtures" /
                                              "specific.fatbin").read_bytes())
        self.fatlink("link", "--target", "all", "-o", "o.{target}", exact, status=4)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["specific.fatbin"])

    def test_cache_warm_links_for_all(self):
        found = self.fatlink_json("cache", "warm", "--target", "all", "--mode", "lto", *PAIR)["links"]
        self.assertEqual([one["target"] for one in found], self.targets())

    def test_inspect_expects_an_entry_for_each(self):
        self.assert_fails(3, "inspect", "--expect", "ptx:all", LIBRARY, says=["holds no ptx:sm_80 entry"])

    def test_a_target_that_is_given_twice_is_linked_once(self):
        found = self.fatlink_json("link", "--target", "sm_90,sm_90", "-o", "o", *PAIR)
        self.assertEqual(found["target"], "sm_90")

    def test_a_misspelt_target_offers_the_nearest(self):
        for text, near in (("sm90", "sm_90"), ("nativ", "native"), ("al", "all"), ("sm_90b", "sm_90"), ("90a", "sm_90a")):
            for words in WORDS:
                with self.subTest(text=text, verb=words[0]):
                    self.assert_fails(2, *words, "--target", text,
                                      says=[f"target '{text}'", f"; did you mean '{near}'?"], hint="--help")


@unittest.skipIf(gpus(), "this machine has a GPU")
class NativeWithoutGpu(CliTest):
    def test_native_needs_a_gpu(self):
        for words in [*WORDS, ["inspect", "--expect", "ptx:native", LIBRARY]]:
            if words[0] != "inspect":
                words = [*words, "--target", "native"]
            with self.subTest(verb=words[0]):
                done = self.assert_fails(5, *words, says=["target 'native'", "no GPU"], hint="name the target, for example sm_90")
                error = json.loads(self.fatlink(*words, "--json", status=5).stdout)["error"]
                self.assertIn(error["message"], done.stderr)

    def test_run_on_the_reference_device_takes_no_native(self):
        self.assert_fails(2, "run", "--device", "cpu:native", *[], says=["'native'"], hint="see fatlink run --help")
