# SPDX-License-Identifier: Apache-2.0
"""The options of a link: what is refused before anything is read or linked, and what the verbs pass on."""
from fatlink_cli import LIBRARY, SHARE, TESTS, CliTest

MANY = TESTS / "corpus" / "many_kernels.fatbin"
TRANSFORM = TESTS / "fixtures" / "transform.fatbin"
RELU = SHARE / "relu_poly.fatbin"
LINK = ["link", "--target", "sm_90", "-o", "o"]
FULL = ["link", "--target", "sm_90", "-o", "o", LIBRARY, RELU]


class Refused(CliTest):
    def test_values_out_of_range_are_refused_with_the_range(self):
        for words, says in (
                (["--max-registers", "16"], "--max-registers: '16' is not a whole number from 24 to 255"),
                (["--max-registers", "256"], "from 24 to 255"),
                (["--max-registers", "-1"], "from 24 to 255"),
                (["--threads", "x"], "--threads: 'x' is not a whole number from 1 to 256"),
                (["--threads", "0"], "from 1 to 256"),
                (["-O", "1"], "--optimize: '1' is not one of 0, 3"),
                (["-O2"], "--optimize: '2' is not one of 0, 3"),
                (["--optimize", "4"], "--optimize: '4' is not one of 0, 3"),
                (["--fast-compile", "maxi"], "--fast-compile: 'maxi' is not one of min, mid, max; did you mean 'max'?"),
                (["--ftz", "true"], "--ftz: 'true' is not one of 0, 1"),
                (["--prec-div", "2"], "--prec-div: '2' is not one of 0, 1"),
                (["--prec-sqrt", "2"], "--prec-sqrt: '2' is not one of 0, 1"),
                (["--fma", "2"], "--fma: '2' is not one of 0, 1")):
            for verb in (FULL, ["run"], ["bench"], ["cache", "warm", "--target", "sm_90", LIBRARY, RELU]):
                with self.subTest(words=words, verb=verb[0]):
                    self.assert_fails(2, *verb, *words, says=[says], hint="--help")

    def test_values_of_short_ranges_are_not_told_to_be_long_numbers(self):
        done = self.assert_fails(2, *FULL, "--max-registers", "23", says=["from 24 to 255"],
                                 hint="write a number from 24 to 255")
        self.assertNotIn("65536", done.stderr)

    def test_options_without_effect_are_refused_with_the_remedy(self):
        for words, says, hint in (
                (["--mode", "ptx", "--ftz", "1"], "--ftz: this option has no effect in ptx mode",
                 "do not set --ftz, or link in lto mode: --mode lto"),
                (["--mode", "ptx", "--keep-variable", "v"], "--keep-variable: this option has no effect in ptx mode",
                 "do not set --keep-variable"),
                (["--mode", "ptx", "--drop-unused-variables"], "--drop-unused-variables: this option", "--drop-unused-variables"),
                (["--mode", "ptx", "--nvvm=-jump-table-density=9"], "--nvvm: this option has no effect in ptx mode", "--nvvm"),
                (["--emit", "ptx", "--max-registers", "32"],
                 "--max-registers: this option has no effect on emitted PTX",
                 "do not set --max-registers, or emit a cubin for a GPU: --emit cubin"),
                (["--emit", "ptx", "--line-info"], "--line-info: this option", "--line-info"),
                (["--emit", "ptx", "--debug"], "--debug: this option", "--debug"),
                (["--emit", "ptx", "--stack-protector"], "--stack-protector: this option", "--stack-protector"),
                (["--emit", "ptx", "--ptxas=-v"], "--ptxas: this option", "--ptxas"),
                (["--debug", "--line-info"], "--line-info: this option has no effect together with --debug", "--line-info"),
                (["--drop-unused-variables", "--keep-variable", "v"],
                 "--drop-unused-variables: this option has no effect together with --keep-variable", "--drop-unused-variables")):
            with self.subTest(words=words):
                self.assert_fails(2, *FULL, *words, says=[says], hint=hint)

    def test_hooks_cannot_be_required_to_be_inlined_where_no_link_inlines(self):
        for mode in ("ptx", "sass"):
            for verb in (FULL, ["run"], ["cache", "warm", "--target", "sm_90", LIBRARY, RELU]):
                with self.subTest(mode=mode, verb=verb[0]):
                    self.assert_fails(2, *verb, "--mode", mode, "--require-inlined",
                                      says=[f"this option has no effect in {mode} mode"],
                                      hint="do not set --require-inlined, or link in lto mode: --mode lto")

    def test_with_both_modes_hooks_are_required_to_be_inlined_by_the_lto_link(self):
        warm = ["cache", "warm", "--target", "sm_90", "--mode", "both", "--require-inlined"]
        self.assertEqual(len(self.fatlink_json(*warm, LIBRARY, RELU)["links"]), 2)
        self.fatlink("run", "--device", "cpu", "--elements", "64", "--mode", "both", "--require-inlined")
        stubborn = self.compile("stubborn", 'extern "C" __device__ __noinline__ float user_transform(float x) { return x; }\n')
        self.fatlink(*warm, LIBRARY, stubborn, status=4)

    def test_an_option_without_effect_has_its_own_code(self):
        failure = self.fatlink_json(*FULL, "--mode", "ptx", "--fma", "0", status=2)["error"]
        self.assertEqual((failure["code"], failure["stage"], failure["input"]), ("option-has-no-effect", "usage", "--fma"))

    def test_options_that_exclude_each_other_are_refused(self):
        for words, says in ((["-O3", "--debug"], "--optimize 3 and --debug exclude each other"),
                            (["-O0", "--fast-compile", "max"], "--optimize and --fast-compile exclude each other"),
                            (["--debug", "--fast-compile", "min"], "--fast-compile and --debug exclude each other")):
            with self.subTest(words=words):
                self.assert_fails(2, *FULL, *words, says=[says], hint="hint:   set either --")

    def test_raw_options_that_fatlink_has_are_refused_by_its_own_name(self):
        for words, hint in ((["--ptxas", "-O1"], "use --optimize"), (["--ptxas=--maxrregcount=32"], "use --max-registers"),
                            (["--ptxas=--split-compile=0"], "use --threads"), (["--nvvm=-opt=0"], "use --optimize"),
                            (["--nvvm=-ftz=1"], "use --ftz"), (["--ptxas", "-g"], "use --debug")):
            with self.subTest(words=words):
                self.assert_fails(2, *FULL, *words, says=["fatlink has an option of its own for it"], hint=hint)

    def test_raw_options_that_may_change_more_than_code_are_refused_with_the_allowed_ones(self):
        for option in ("-c", "--compile-only", "-ewp", "--input-as-string=x", "--help", "--version", "--def-load-cach=cg"):
            for words in (FULL, ["run", "--in-process"], ["cache", "warm", "--target", "sm_90", LIBRARY, RELU]):
                with self.subTest(option=option, verb=words[0]):
                    self.assert_fails(2, *words, f"--ptxas={option}",
                                      says=[f"ptxas option '{option}'", "it may change more than the code and messages"],
                                      hint="--register-usage-level=0..10")
        self.assert_fails(2, *FULL, "--nvvm=-foo", says=["nvvm option '-foo'"], hint="allowed are -jump-table-density=0..101")

    def test_values_of_raw_options_are_checked(self):
        self.assert_fails(2, *FULL, "--ptxas=--def-load-cache=zz",
                          says=["ptxas option '--def-load-cache=zz': it has a value that is not allowed"],
                          hint="write --def-load-cache=ca|cg|cs|lu|cv")

    def test_an_option_that_this_nvjitlink_lacks_is_named_instead_of_the_inputs(self):
        env = {"FATLINK_NVJITLINK": TESTS / "libhostile_nvjitlink.so",
               "FATLINK_HOSTILE": "error-log ptxas fatal   : Unknown option '-warn-on-spills'"}
        self.assert_fails(4, *FULL, "--in-process", "--ptxas=--warn-on-spills", env=env,
                          says=["ptxas option '--warn-on-spills': this nvJitLink does not accept it: ptxas fatal"],
                          hint="remove it from --ptxas; fatlink doctor shows the one that was opened")

    def test_raw_options_are_one_word_each(self):
        for words, says in ((["--ptxas", ""], "an empty value"), (["--ptxas", "32"], "does not begin with a dash"),
                            (["--ptxas", "-v -w"], "holds a space or a control character"),
                            (["--nvvm", "-v\n"], "holds a space or a control character"),
                            (["--ptxas=--options-file=x"], "it names a file")):
            with self.subTest(words=words):
                self.assert_fails(2, *FULL, *words, says=[says])

    def test_they_are_refused_before_a_file_is_read(self):
        self.assert_fails(2, *LINK, "none.fatbin", "--mode", "ptx", "--ftz", "1", says=["ftz"])
        self.assert_fails(2, "cache", "warm", "--target", "sm_90", "none.fatbin", "--ftz", "1", says=["ftz"])
        self.assert_fails(2, "run", "--library", "none.fatbin", "--mode", "ptx", "--ftz", "1", says=["ftz"])

    def test_names_that_are_no_symbols_are_refused(self):
        for name in ("a,b", "k<int>(float*)", "7k"):
            self.assert_fails(2, *FULL, "--kernel", name, says=["--kernel:", "is not the name of a symbol"], hint="fatlink inspect")
            self.assert_fails(2, *FULL, "--keep-variable", name, says=["--keep-variable:", "is not the name of a symbol"],
                              hint="fatlink inspect")

    def test_a_misspelt_kernel_is_refused_before_the_link_with_a_suggestion(self):
        for mode in ("ptx", "lto"):
            self.assert_fails(4, *LINK, "--mode", mode, MANY, TRANSFORM, "--kernel", "k7", "--kernel", "skaled",
                              says=["no input defines kernel skaled", "[unknown-kernel]"], hint="did you mean scaled?",
                              env={"FATLINK_NVJITLINK": "/nowhere.so"})

    def test_a_misspelt_variable_is_refused_before_the_link_with_a_suggestion(self):
        self.assert_fails(4, *LINK, MANY, TRANSFORM, "--keep-variable", "host_skale",
                          says=["variable host_skale is defined by no input", "[unknown-variable]"],
                          hint="did you mean host_scale?", env={"FATLINK_NVJITLINK": "/nowhere.so"})

    def test_check_takes_several_kernels(self):
        self.fatlink("check", "--kernel", "k7", "--kernel", "scaled", MANY, TRANSFORM)
        said = self.fatlink_json("check", "--kernel", "k7", "--kernel", "nope", MANY, TRANSFORM, status=4)
        self.assertIn(("unknown-kernel", "nope"),
                      [(each["id"], each["symbol"]) for each in said["targets"][0]["findings"]])


class FloatFlags(CliTest):
    ALL = ["--ftz", "1", "--prec-div", "0", "--prec-sqrt", "0", "--fma", "1"]

    def test_inputs_with_different_flags_link_where_the_link_states_all(self):
        fast = TESTS / "fixtures" / "fast.fatbin"
        self.assert_fails(4, *LINK, LIBRARY, fast, says=["an LTO link has one set of float flags", "[float-contract]"],
                          hint="state the set of the link: --ftz, --prec-div, --prec-sqrt and --fma")
        self.assert_fails(4, *LINK, LIBRARY, fast, *self.ALL[:6], says=["[float-contract]"])
        self.assertTrue(self.fatlink_json(*LINK, LIBRARY, fast, *self.ALL)["inlined"])
        self.fatlink("run", "--device", "cpu", "--elements", "64", "--library", LIBRARY, "--transform", fast,
                     "--mode", "lto", *self.ALL)


class CallsAlone(CliTest):
    def test_an_lto_link_without_ltoir_is_refused_before_the_link_with_the_mode(self):
        library = self.compile("library", 'extern "C" __device__ float user_transform(float);\n'
                               'extern "C" __global__ void k(float* p) { *p = user_transform(*p); }\n',
                               "-rdc=true", "-gencode", "arch=compute_75,code=compute_75")
        transform = self.compile("transform", 'extern "C" __device__ float user_transform(float x) { return x; }\n',
                                 "-rdc=true", "-gencode", "arch=compute_75,code=compute_75")
        env = {"FATLINK_NVJITLINK": "/nowhere.so"}
        self.assert_fails(4, *LINK, "--allow-calls", library, transform, env=env,
                          says=["no LTO-IR to link; an lto link needs an input with LTO-IR", "[no-ltoir]"],
                          hint="link in ptx mode (--mode ptx)")
        done = self.fatlink("check", "--target", "sm_90", "--mode", "lto", "--allow-calls", library, transform, status=4)
        self.assertIn("no LTO-IR to link", done.stdout + done.stderr)
        self.fatlink(*LINK, "--mode", "ptx", library, transform)


class Opaque(CliTest):
    """Libraries whose kernels and variables no PTX shows."""

    def setUp(self):
        super().setUp()
        self.library = self.compile("lib", 'extern "C" __device__ float user_transform(float);\n'
                                    "__device__ float scale = 2;\n"
                                    'extern "C" __global__ void first(float* p) { *p = user_transform(*p) * scale; }\n'
                                    'extern "C" __global__ void second(float* p) { *p = user_transform(*p + 1); }\n',
                                    "-dlto", "-arch=lto_75")

    def test_a_misspelt_kernel_is_refused_with_a_suggestion(self):
        self.assert_fails(4, *LINK, self.library, TRANSFORM, "--kernel", "frist",
                          says=["no input defines kernel frist", "[unknown-kernel]"],
                          hint="did you mean first? the kernels are: first, second")

    def test_a_misspelt_variable_is_refused_with_a_suggestion(self):
        self.assert_fails(4, *LINK, self.library, TRANSFORM, "--keep-variable", "scales",
                          says=["variable scales is defined by no input"], hint="did you mean scale?")

    def test_a_device_function_is_no_kernel(self):
        self.assert_fails(4, *LINK, self.library, TRANSFORM, "--kernel", "user_transform",
                          says=["no input defines kernel user_transform"])

    def test_a_kernel_and_a_variable_are_kept(self):
        said = self.fatlink_json(*LINK, self.library, TRANSFORM, "--kernel", "first", "--keep-variable", "scale")
        self.assertTrue(said["inlined"])
        cubin = (self.folder / "o").read_bytes()
        self.assertIn(b".text.first\0", cubin)
        self.assertNotIn(b".text.second\0", cubin)

    def test_a_wrong_type_in_a_kernel_that_is_not_kept_is_still_refused(self):
        wrong = self.compile("wrong", 'extern "C" __device__ double user_transform(double x) { return x; }\n',
                             "-dlto", "-arch=lto_75")
        library = self.compile("two", 'extern "C" __device__ float user_transform(float);\n'
                               'extern "C" __global__ void calls(float* p) { *p = user_transform(*p); }\n'
                               'extern "C" __global__ void alone(float* p) { *p = 1; }\n')
        self.assert_fails(4, *LINK, library, wrong, "--kernel", "alone", says=["[signature-mismatch]"])


class Linked(CliTest):
    def bytes_with(self, *words):
        self.fatlink(*LINK, MANY, TRANSFORM, "--kernel", "scaled", *words)
        return (self.folder / "o").read_bytes()

    def test_one_kernel_of_many_makes_a_small_cubin(self):
        said = self.fatlink_json(*LINK, MANY, TRANSFORM, "--kernel", "k7")
        self.assertLess(said["bytes"], 10_000)
        self.assertTrue(said["inlined"])
        self.assertGreater(self.fatlink_json(*LINK, MANY, TRANSFORM)["bytes"], 100_000)

    def test_each_option_makes_another_cubin(self):
        plain = self.bytes_with()
        for words in (["--kernel", "k7"], ["--keep-variable", "host_scale"], ["--drop-unused-variables"],
                      ["--max-registers", "32"], ["-O0"], ["-O", "3"], ["--optimize=0"], ["--fast-compile", "min"],
                      ["--fast-compile", "mid"], ["--fast-compile", "max"], ["--line-info"], ["--debug"], ["--ftz", "1"],
                      ["--stack-protector"], ["--ptxas=--def-load-cache=cg"], ["--ptxas", "--def-load-cache=cg"]):
            with self.subTest(words=words):
                self.assertNotEqual(self.bytes_with(*words), plain)

    def test_options_that_state_the_default_make_the_same_cubin(self):
        plain = self.bytes_with()
        for words in (["--ftz", "0"], ["--prec-div", "1"], ["--prec-sqrt", "1"], ["--fma", "1"], ["--threads", "1"],
                      ["--no-driver-cache"], ["--kernel", "scaled"], ["--prec-sqrt", "0"]):
            with self.subTest(words=words):
                self.assertEqual(self.bytes_with(*words), plain)

    def test_the_cache_keeps_links_with_other_options_apart(self):
        outcome = lambda *words: self.fatlink_json(*LINK, MANY, TRANSFORM, "--kernel", "scaled", *words)["cache"]
        self.assertEqual([outcome(), outcome()], ["miss", "hit"])
        self.assertEqual([outcome("--max-registers", "32"), outcome("--max-registers", "40")], ["miss", "miss"])
        self.assertEqual([outcome("--no-driver-cache"), outcome("--threads", "1")], ["hit", "hit"])
        self.assertEqual([outcome("--threads", "2"), outcome("--threads", "3")], ["miss", "hit"])

    def test_a_layer_serves_the_link_that_has_its_options(self):
        options = ["--kernel", "scaled", "--max-registers", "32"]
        said = self.fatlink_json("cache", "warm", "--target", "sm_90", "--layer", "layer", *options, MANY, TRANSFORM)
        self.assertEqual(len(said["links"]), 2)
        env = {"FATLINK_SYSTEM_CACHE": str(self.folder / "layer"), "FATLINK_NVJITLINK": "/nowhere.so"}
        self.assertEqual(self.fatlink_json(*LINK, *options, MANY, TRANSFORM, env=env)["cache"], "hit")
        self.fatlink(*LINK, MANY, TRANSFORM, "--kernel", "scaled", env=env, status=5)

    def test_warm_refuses_an_option_without_effect_in_one_of_its_links(self):
        warm = ["cache", "warm", "--target", "sm_90", MANY, TRANSFORM]
        self.assert_fails(2, *warm, "--ftz", "1", says=["--ftz: this option has no effect in ptx mode"], hint="--mode lto")
        self.assert_fails(2, *warm, "--emit", "cubin,ptx", "--max-registers", "32",
                          says=["--max-registers: this option has no effect on emitted PTX"], hint="--emit cubin")
        self.fatlink(*warm, "--mode", "lto", "--ftz", "1")


class Run(CliTest):
    RUN = ["run", "--device", "cpu", "--elements", "64", "--library", LIBRARY, "--transform", RELU]

    def test_an_option_without_effect_in_one_of_the_modes_is_refused_with_the_remedy(self):
        for words, flag in ((["--ftz", "1"], "--ftz"), (["--drop-unused-variables"], "--drop-unused-variables"),
                            (["--threads", "2"], "--threads"), (["-O0"], "--optimize")):
            with self.subTest(words=words):
                self.assert_fails(2, *self.RUN, *words, says=["this option has no effect in ptx mode"],
                                  hint=f"do not set {flag}, or link in lto mode: --mode lto")

    def test_options_of_ptxas_have_no_effect_on_the_reference_device(self):
        for words, flag in ((["--max-registers", "32"], "--max-registers"), (["--debug"], "--debug"),
                            (["--line-info"], "--line-info"), (["--stack-protector"], "--stack-protector"),
                            (["--ptxas=-v"], "--ptxas")):
            for mode in ("lto", "ptx", "both"):
                with self.subTest(words=words, mode=mode):
                    self.assert_fails(2, *self.RUN, "--mode", mode, *words, says=["this option has no effect"],
                                      hint=f"do not set {flag}, or run on a GPU: --device gpu")

    def test_options_of_the_lto_compiler_reach_the_reference_device(self):
        said = self.fatlink_json(*self.RUN, "--mode", "lto", "-O0")
        self.assertFalse(said["modes"][0]["inlined"])

    def test_only_a_kernel_that_is_asked_for_is_kept(self):
        self.fatlink(*self.RUN, "--mode", "lto")
        outcome = self.fatlink_json("link", "--target", "sm_90", "--emit", "ptx", "-o", "o", LIBRARY, RELU)["cache"]
        self.assertEqual(outcome, "hit")
        library = self.file("own.fatbin", LIBRARY.read_bytes())  # without a launch plan
        self.fatlink("run", "--device", "cpu", "--elements", "64", "--library", library, "--transform", RELU, "--mode", "lto", "--kernel", "apply_transform")
        outcome = self.fatlink_json("link", "--target", "sm_90", "--emit", "ptx", "-o", "o", library, RELU,
                                    "--kernel", "apply_transform")["cache"]
        self.assertEqual(outcome, "hit")
