# SPDX-License-Identifier: Apache-2.0
"""Command lines that are wrong: one form of error, the nearest word, the --help that describes it; numbers."""
import json
import subprocess

from fatlink_cli import LIBRARY, PROGRAM, SHARE, CliTest

RELU = SHARE / "relu_poly.fatbin"
LINK = ["link", "--target", "sm_90", "-o", "o"]
CHECK_RUN = ["run", "--device", "cpu", "--library", LIBRARY, "--transform", RELU]


class UsageTest(CliTest):
    def assert_usage(self, words, error, *hints):
        """The first line is `fatlink: error: ` and `error`; the hint line has each of `hints`; the same
        with --json as the error object."""
        with self.subTest(words=" ".join(map(str, words))):
            done = self.assert_fails(2, *words, says=[])
            self.assertEqual(done.stderr.splitlines()[0], f"fatlink: error: {error}")
            hint = next(line for line in done.stderr.splitlines() if line.startswith("  hint:   "))
            for part in hints:
                self.assertIn(part, hint)
            found = json.loads(self.fatlink(*words, "--json", status=2).stdout)["error"]
            self.assertEqual(found["message"], error)
            self.assertEqual(found["hint"], hint.removeprefix("  hint:   "))


class Words(UsageTest):
    def test_options_of_the_helper_exclude_in_process(self):
        for option in (["--link-timeout", "1"], ["--allow-unconfined"]):
            done = self.assert_fails(2, "link", "--target", "sm_90", "-o", "x", "--in-process", *option, "a", "b", says=[])
            self.assertIn(f"--in-process and {option[0]} cannot be used together", done.stderr)

    def test_an_unknown_command_offers_the_nearest(self):
        self.assert_usage(["rnu"], "unknown command 'rnu'; did you mean 'run'?",
                          "the commands are run, link, check", "see fatlink --help")
        self.assert_usage(["xyzzy"], "unknown command 'xyzzy'", "see fatlink --help")

    def test_an_unknown_command_of_the_cache_offers_the_nearest(self):
        self.assert_usage(["cache", "stat"], "unknown command 'cache stat'; did you mean 'cache stats'?",
                          "the commands are path, stats, warm", "see fatlink cache --help")

    def test_a_missing_command_is_named_with_those_there_are(self):
        self.assert_usage(["cache"], "a subcommand is required", "path, stats, warm", "see fatlink cache --help")
        done = self.assert_fails(2, says=["a subcommand is required"], hint="run, link, check")
        self.assertIn("see fatlink --help", done.stderr)

    def test_an_unknown_option_offers_the_nearest(self):
        self.assert_usage(["run", "--elemens", "3"], "unknown option '--elemens'; did you mean '--elements'?",
                          "see fatlink run --help")
        self.assert_usage(["cache", "warm", "--tagret=sm_90", LIBRARY],
                          "unknown option '--tagret'; did you mean '--target'?", "see fatlink cache warm --help")
        self.assert_usage(["run", "--xyzzy"], "unknown option '--xyzzy'", "see fatlink run --help")
        self.assert_usage(["doctor", "-x"], "unknown option '-x'", "see fatlink doctor --help")
        self.assert_usage(["--versoin"], "unknown option '--versoin'; did you mean '--version'?", "see fatlink --help")

    def test_words_after_two_dashes_are_files(self):
        (self.folder / "-t.fatbin").write_bytes(RELU.read_bytes())
        self.assertIn("./-t.fatbin: ", self.fatlink("inspect", "--", "-t.fatbin").stdout)
        self.assertIn("links", self.fatlink("check", "--mode", "lto", "--", LIBRARY, "-t.fatbin").stdout)
        self.assert_fails(3, "inspect", "--", "--json", says=["./--json"])

    def test_an_argument_that_a_verb_does_not_take(self):
        self.assert_usage(["doctor", "now"], "unexpected argument 'now'", "see fatlink doctor --help")

    def test_values_of_enumerations_offer_the_nearest(self):
        both = [LIBRARY, RELU]
        for words, error, verb in (
                (["run", "--mode", "lot"], "--mode: 'lot' is not one of ptx, lto, both, sass; did you mean 'lto'?", "run"),
                ([*LINK, "--mode", "ptxx", *both], "--mode: 'ptxx' is not one of ptx, lto, sass; did you mean 'ptx'?", "link"),
                ([*LINK, "--mode", "zzzzzz", *both], "--mode: 'zzzzzz' is not one of ptx, lto, sass", "link"),
                ([*LINK, "--emit", "cubn", *both], "--emit: 'cubn' is not one of cubin, ptx, ltoir, relocatable; did you mean 'cubin'?", "link"),
                (["check", "--mode", "bot", *both], "--mode: 'bot' is not one of ptx, lto, both, sass; did you mean 'both'?",
                 "check"),
                (["list", "--kind", "transfrom"],
                 "--kind: 'transfrom' is not one of library, transform, contract; did you mean 'transform'?", "list"),
                (["cache", "warm", "--target", "sm_90", "--emit", "cubin,ptxx", *both],
                 "--emit: 'ptxx' is not one of cubin, ptx; did you mean 'ptx'?", "cache warm")):
            self.assert_usage(words, error, f"see fatlink {verb} --help")

    def test_an_unknown_device_offers_the_nearest(self):
        for text, near in (("gpuu", "gpu"), ("cpi", "cpu"), ("gpu0", "gpu:0"), ("cpu0", "cpu"), ("al", "all")):
            self.assert_usage(["run", "--device", text],
                              f"--device: '{text}' is not a device; did you mean '{near}'?",
                              "gpu, gpu:N, cpu or cpu:TARGET", "see fatlink run --help")

    def test_verbs_without_devices_name_what_they_are_for(self):
        for verb, hint in (("bench", "bench measures the first GPU; CUDA_VISIBLE_DEVICES selects it"),
                           ("check", "it takes targets, not devices: --target sm_90, or all"),
                           ("doctor", "only fatlink run takes devices")):
            self.assert_usage([verb, "--device", "all"], "unknown option '--device'", hint, f"see fatlink {verb} --help")

    def test_an_entry_of_an_unknown_kind_offers_the_nearest(self):
        self.assert_usage(["inspect", "--expect", "ptxx:sm_75", LIBRARY],
                          "--expect: 'ptxx' is not one of ptx, ltoir, elf; did you mean 'ptx'?",
                          "see fatlink inspect --help")
        self.assert_usage(["inspect", "--expect", "ptx", LIBRARY], "--expect: 'ptx' is not KIND:TARGET",
                          "ltoir:sm_90a", "see fatlink inspect --help")

    def test_a_missing_value_a_missing_argument_and_one_too_many(self):
        self.assert_usage(["link", "--target", "sm_90", "-o", "o"], "INPUT is required", "see fatlink link --help")
        self.assert_usage(["link", "-o", "o", LIBRARY], "--target is required", "see fatlink link --help")
        self.assert_usage(["run", "--seed", "1", "--seed", "2"], "--seed takes one value, but 2 are given",
                          "see fatlink run --help")
        self.assert_usage(["run", "--kernel", "a", "--kernel", "b"], "--kernel takes one value, but 2 are given",
                          "see fatlink run --help")
        done = self.assert_fails(2, "run", "--mode", says=["--mode needs a value"])
        self.assertIn("see fatlink run --help", done.stderr)

    def test_options_that_exclude_each_other(self):
        self.assert_usage(["run", "--input", "x.npy", "--elements", "3"],
                          "--elements and --input cannot be used together", "see fatlink run --help")

    def test_options_of_sources_are_refused_without_a_source(self):
        for words in (("-D", "X"), ("-I", "."), ("--std", "c++20"), ("--contract", "apply_transform"), ("--header", "h.cuh")):
            for verb in ("check", "inspect", "pack"):
                with self.subTest(verb=verb, words=words):
                    more = ("-o", "out.fatbin") if verb == "pack" else ()
                    self.assert_fails(2, verb, "gelu", *more, *words, says=[f"{words[0]} {words[1]}: this option has no effect: no input is a source"],
                                      hint=f"leave out {words[0]}, or pass a source: .cu, or .ll and .bc for LLVM IR")

    def test_usage_errors_of_the_library_name_the_help_too(self):
        self.assert_usage(["link", "--target", "sm_1", "-o", "o", LIBRARY],
                          "target 'sm_1': older than CUDA 13 supports", "the oldest is sm_75; see fatlink link --help")


class Numbers(UsageTest):
    def assert_accepted(self, option, text, value):
        with self.subTest(option=option, text=text):
            found = self.fatlink_json(*CHECK_RUN, option, text)
            self.assertEqual(found["elements"], value)

    def assert_refused(self, words, option, text, expected):
        self.assert_usage([*words, f"{option}={text}"], f"{option}: '{text}' is not {expected}")

    def test_elements_with_exponents_units_and_fractions(self):
        for text, value in (("1e3", 1000), ("2E2", 200), ("1k", 1000), ("1K", 1000), ("64Ki", 65536), ("0.5Ki", 512),
                            ("1.5k", 1500), ("1.25e2", 125), ("12.0", 12), ("0.001M", 1000), ("007", 7)):
            self.assert_accepted("--elements", text, value)

    def test_elements_that_are_no_count(self):
        expected = "a whole number from 1 to 1099511627776"
        for text in ("0", "-1", "many", "1.5", "1.0001k", "99999999999999999999", "1e13", "1e999", "1e-1", "0x10", "+5",
                     "1 k", "1ki", "1Kb", "1T", "1_000", "1.", ".5k", "1e", "nan", "inf", "2e12", "1099511627777",
                     "17179869184Gi", "1e99999999999999999999", "１"):
            self.assert_refused(["run"], "--elements", text, expected)

    def test_a_seed_is_64_bits(self):
        expected = "a whole number from 0 to 18446744073709551615"
        for text in ("-1", "18446744073709551616", "1e20", "1.5", "seed"):
            self.assert_refused(["run"], "--seed", text, expected)
        self.fatlink(*CHECK_RUN, "--elements", "8", "--seed", "18446744073709551615")

    def test_an_instruction_budget_is_no_negative_number(self):
        expected = "a whole number from 0 to 18446744073709551615"
        for text in ("-1", "18446744073709551616", "1e-3"):
            self.assert_refused(["run"], "--instruction-budget", text, expected)
        self.fatlink(*CHECK_RUN, "--elements", "8", "--instruction-budget", "1G")

    def test_negative_numbers_in_a_word_of_their_own(self):
        self.assert_usage(["run", "--seed", "-1"],
                          "--seed: '-1' is not a whole number from 0 to 18446744073709551615", "see fatlink run --help")

    def test_a_link_timeout_is_a_number_of_seconds(self):
        expected = "a number of seconds from 0.01 to 600"
        for text in ("nan", "inf", "-inf", "1e999", "0", "-1", "601", "0.001", "1s", "0x1p3", " 1", "NaN", "1e"):
            self.assert_refused(LINK + [LIBRARY, RELU], "--link-timeout", text, expected)
        for text in ("60", "0.5e2", "599.5"):
            self.fatlink(*LINK, "--link-timeout", text, LIBRARY, RELU)

    def test_a_version_of_nvjitlink_is_two_numbers(self):
        for text in ("-1.0", "13.-5", "4294967309.0", "13.0x", "13", "13.", " 13.0", "13.0.1"):
            with self.subTest(text=text):
                done = self.assert_fails(2, "check", f"--nvjitlink={text}", LIBRARY, RELU, says=[f"--nvjitlink: '{text}' is not a version"])
                self.assertIn("see fatlink check --help", done.stderr)

    def test_counts_of_bench(self):
        self.assert_refused(["bench"], "--repeat", "0", "a whole number from 1 to 10000")
        self.assert_refused(["bench"], "--repeat", "1e5", "a whole number from 1 to 10000")
        self.assert_usage(["bench", "--elements", "1Ki,1.5"],
                          "--elements: '1.5' is not a whole number from 1 to 68719476736", "see fatlink bench --help")
        self.assert_usage(["bench", "--elements", "1Ti"],
                          "--elements: '1Ti' is not a whole number from 1 to 68719476736", "see fatlink bench --help")

    def test_the_hint_shows_how_to_write_numbers(self):
        done = self.assert_fails(2, "run", "--elements", "many", says=["many"])
        self.assertIn("hint:   write it as 65536, 1e6, 1.5M (k, M, G: powers of 1000) or 64Ki (Ki, Mi, Gi: powers of 1024)",
                      done.stderr)

    def test_the_limit_of_the_cache_is_read_as_other_numbers_are(self):
        for text, limit in (("512Mi", 512 << 20), ("512M", 512_000_000), ("1.5Gi", 3 << 29), ("1e9", 10 ** 9)):
            with self.subTest(text=text):
                found = self.fatlink_json("cache", "stats", env={"FATLINK_CACHE_LIMIT": text})
                self.assertEqual(found["limit"], limit)
        for text in ("0", "-1", "1.5", "many", "1e30"):
            done = self.fatlink("cache", "stats", "--json", env={"FATLINK_CACHE_LIMIT": text})
            self.assertIn(f"FATLINK_CACHE_LIMIT: '{text}' is not a whole number of bytes above 0", done.stderr)
            self.assertIn("512Mi", done.stderr)
            self.assertEqual(json.loads(done.stdout)["limit"], 1 << 30)

    def test_defaults_in_the_help_are_numbers_that_are_accepted(self):
        text = subprocess.run([PROGRAM, "run", "--help-all"], text=True, capture_output=True, check=True).stdout
        for option, value in (("--elements", "65536"), ("--seed", "0"), ("--instruction-budget", "1073741824"),
                              ("--link-timeout", "60")):
            with self.subTest(option=option):
                self.assertRegex(" ".join(text.split()), rf"{option} \S+ [^()]*\(default: {value}\)")
