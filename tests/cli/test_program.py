# SPDX-License-Identifier: Apache-2.0
"""What a person sees first: help, version, doctor, inspect."""
import re

from fatlink_cli import LIBRARY, SHARE, CliTest
from program_help import all_verbs, options_of


class Program(CliTest):
    def test_an_unknown_verb_is_named_with_those_there_are(self):
        self.assert_fails(2, "rnu", says=["unknown command 'rnu'; did you mean 'run'?"],
                          hint="the commands are run, link, check")

    def test_every_verb_has_help(self):
        self.assertIn("Exit status", self.fatlink("--help").stdout)
        for verb in ("run", "link", "inspect", "doctor", "bench"):
            said = self.fatlink(verb, "--help").stdout
            self.assertIn("--json", said)

    def test_help_fits_a_screen_and_leads_to_the_rest(self):
        for verb in ("", *all_verbs()):
            with self.subTest(verb=verb):
                lines = self.fatlink(*verb.split(), "--help").stdout.splitlines()
                self.assertLessEqual(len(lines), 25)
                # An example is one line, to be copied.
                self.assertEqual([line for line in lines if len(line) > 100 and not line.startswith("Example")], [])
                if verb in ("run", "link", "check", "compile", "bench"):
                    self.assertEqual(lines[-1], f"More options: fatlink {verb} --help-all")
                shown = set(re.findall(r"--[a-z][\w-]+", "\n".join(lines[:-2])))
                self.assertLessEqual(shown - {"--help-all", "--version"}, set(options_of(verb)))

    def test_help_shows_defaults_of_lists(self):
        self.assertIn("(default: sm_90)", self.fatlink("check", "--help").stdout)

    def test_help_all_has_everything_in_groups(self):
        said = self.fatlink("run", "--help-all").stdout
        self.assertEqual(re.findall(r"(?m)^([A-Z][\w ]+):$", said),
                         ["What to run", "Reference device options", "Data", "Check results", "More options", "Link options",
                          "Source options", "Options"])
        self.assertGreater(len(options_of("run")), 50)

    def test_version(self):
        self.assertRegex(self.fatlink("--version").stdout, r"^fatlink \d+\.\d+\.\d+\n$")

    def test_doctor_says_which_nvjitlink_and_why(self):
        found = self.fatlink_json("doctor")["nvjitlink"]
        self.assertTrue(found["found"])
        self.assertEqual([place["outcome"] for place in found["tried"]].count("chosen"), 1)

    def test_doctor_without_nvjitlink(self):
        done = self.fatlink("doctor", status=5, env={"FATLINK_NVJITLINK": "/nowhere"})
        self.assertIn("nvJitLink: not found", done.stdout)

    def test_doctor_without_link_helper(self):
        self.assertTrue(self.fatlink_json("doctor")["link_helper"]["path"].endswith("/libexec/fatlink-linkd"))
        done = self.fatlink("doctor", status=5, env={"FATLINK_LINKD": "/nowhere"})
        self.assertIn("Link helper: not found; the link helper cannot be used: /nowhere", done.stdout)
        self.assertIn("package fatlink-runtime", done.stdout)

    def test_inspect_shows_kernels_hooks_and_contract(self):
        said = self.fatlink("inspect", LIBRARY, SHARE / "gelu.fatbin").stdout
        self.assertIn("apply_transform(u64, u64, u64)", said)
        self.assertIn("hook        (b32) user_transform(b32)", said)
        self.assertIn("defines     (b32) user_transform(b32)", said)
        self.assertIn("apply_transform/1", said)

    def test_inspect_json(self):
        entries = self.fatlink_json("inspect", LIBRARY)["files"][0]["entries"]
        self.assertEqual([(e["kind"], e["target"]) for e in entries], [("ptx", "sm_75"), ("ltoir", "sm_75")])
        self.assertEqual(entries[0]["ident"]["contract"], "apply_transform")

    def test_inspect_fails_where_an_expected_entry_is_missing(self):
        self.fatlink("inspect", "--expect", "ptx:sm_75", LIBRARY)
        self.assert_fails(3, "inspect", "--expect", "ltoir:sm_90", LIBRARY,
                          says=["apply_transform.fatbin", "no ltoir:sm_90 entry", "ptx:sm_75"])

    def test_bench_times_links_and_the_reference_device_on_any_machine(self):
        found = self.fatlink_json("bench", "--repeat", "2", "--elements", "1024")
        self.assertEqual([row["mode"] for row in found["links"]], ["ptx", "lto"])
        self.assertGreater(found["reference_device"]["instructions_per_s_and_core"], 0)
        self.assertGreater(found["preflight_ms"], 0)
        self.assertTrue(all(row["helper_median_ms"] > 0 for row in found["links"]))
