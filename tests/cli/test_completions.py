# SPDX-License-Identifier: Apache-2.0
"""Shells complete what the program knows: neither less nor more. The shells ask it: fatlink --complete."""
import os
import shutil

import completing_shells
from fatlink_cli import LIBRARY, PROGRAM, CliTest
from program_help import all_verbs, file_of, options_of, sub_verbs

# The program's folder decides what is installed, so a link to it would not do.
THE_PROGRAM = f'#!/bin/sh\nexec {PROGRAM} "$@"\n'
FILES = {"bash": ("host/completions/fatlink.bash", "share/bash-completion/completions/fatlink"),
         "zsh": ("host/completions/_fatlink", "share/zsh/vendor-completions/_fatlink",
                 "share/zsh/site-functions/_fatlink"),
         "fish": ("host/completions/fatlink.fish", "share/fish/vendor_completions.d/fatlink.fish")}
EIGHTIES = ["sm_80", "sm_86", "sm_87", "sm_88", "sm_89"]


class Completions:
    """What each shell must do; a shell is a class below."""

    def setUp(self):
        super().setUp()
        if not shutil.which(self.shell):
            self.skipTest(f"{self.shell} is not installed")
        self.program(THE_PROGRAM)

    def program(self, text):
        """The fatlink that is asked: beside the folder, as all that is in there is offered."""
        self.stub = self.cache / "fatlink"
        self.stub.write_text(text)
        self.stub.chmod(0o755)

    def offered(self, *lines):
        """For each line what is offered, without what some shells append to an option."""
        shell = getattr(completing_shells, self.shell)
        env = {"PATH": f"{self.cache}:{os.environ['PATH']}", "HOME": str(self.cache)}
        answers = shell(file_of(*FILES[self.shell]), [f"fatlink {line}" for line in lines], self.folder, env)
        self.assertEqual(len(answers), len(lines), answers)
        return [{word.removesuffix("=").removesuffix("/") for word in answer} for answer in answers]

    def assert_offered(self, expected):
        for (line, words), found in zip(expected.items(), self.offered(*expected)):
            with self.subTest(line=line):
                self.assertEqual(found, set(words))

    def test_verbs(self):
        self.assert_offered({"": sub_verbs(), "ru": ["run"], "cache ": sub_verbs("cache"), "nonsense ": []})

    def test_every_verbs_options_and_no_others(self):
        self.assert_offered({f"{verb} -": options_of(verb) for verb in all_verbs()})

    def test_options_without_a_verb(self):
        self.assert_offered({"-": options_of("")})

    def test_the_start_of_an_option(self):
        self.assert_offered({"run --mo": ["--mode"], "cache warm --lay": ["--layer"]})

    def test_contracts(self):
        self.assert_offered({f"{verb} --contract apply": ["apply_transform"] for verb in ("run", "compile", "check")})

    def test_codes(self):
        self.assert_offered({"explain missing-h": ["missing-hook"], "explain nvr": ["nvrtc-unavailable"]})

    def test_the_values_of_every_option_that_has_some(self):
        self.assert_offered({f"{verb} {option} ": values for verb in all_verbs()
                             for option, values in options_of(verb).items() if values})

    def test_nothing_after_an_option_that_takes_a_number(self):
        self.assert_offered({"run --seed ": [], "bench --repeat ": [], "link --link-timeout ": [],
                             "compile --timeout ": [], "compile --memory-limit ": []})

    def test_every_target_that_check_judges(self):
        judged = self.fatlink_json("check", "--target", "all", LIBRARY, status=4)["targets"]
        targets = {one["target"] for one in judged}
        offered = targets | {"native", "all"}
        self.assert_offered({"link --target ": offered, "check --target ": offered, "cache warm --target ": offered})

    def test_installed_names_of_the_kind_that_fits(self):
        names, libraries, transforms = (self.fatlink("list", *words, "--names").stdout.split() for words in
                                        ([], ["--kind", "library"], ["--kind", "transform"]))
        self.assertIn("gelu", transforms)
        self.assert_offered({"run --transform ": transforms, "run --library ": libraries, "list ": names,
                             "check ge": ["gelu"], "link ": names})

    def test_what_the_program_says_and_no_more(self):
        self.program('#!/bin/sh\n[ "$*" = "--complete link --target sm" ] && printf "sm_77\\tnewer\\nsm_99a\\n"\n')
        self.assert_offered({"link --target sm": ["sm_77", "sm_99a"], "link --target ": []})

    def test_nothing_and_no_noise_where_the_program_cannot_answer(self):
        for program in ("#!/bin/sh\necho wrong >&2\nexit 2\n", "#!/nowhere/sh\n"):
            self.program(program)
            self.assert_offered({"run --transform ": [], "check ": [], "": []})
        self.stub.unlink()
        if not shutil.which("fatlink"):  # an installed one would answer
            self.assert_offered({"run --transform ": [], "check ": []})

    def test_files_of_the_kind_that_fits(self):
        for name in ("x.npy", "half.fatbin", "half mine.fatbin", "half.cu", "hooks.cuh", "hooks.txt"):
            self.file(name, "")
        (self.folder / "half_done").mkdir()
        self.assert_offered({"run --transform half": ["half.fatbin", "half mine.fatbin", "half.cu", "half_done"],
                             "inspect half.": ["half.fatbin", "half.cu"],
                             "compile --header hooks.": ["hooks.cuh"],
                             "link -I h": ["half_done"], "compile --include-folder h": ["half_done"],
                             "run --input x": ["x.npy"], "run --output h": ["half_done"],
                             "link -o half.": ["half.fatbin", "half.cu"],
                             "cache warm --layer h": ["half_done"]})

    def test_files_of_every_form_of_input(self):
        endings = ("fatbin", "ptx", "ltoir", "cubin", "o", "a", "so", "cu", "ll", "bc")
        inputs = [f"half.{ending}" for ending in endings]
        for name in (*inputs, "half.cuh", "half.json", "half.npy"):
            self.file(name, "")
        self.assert_offered({f"{words} half": inputs for words in
                             ("link", "check", "inspect", "pack", "cache warm", "run --library", "run --transform",
                              "bench --library", "bench --transform")}
                            | {"digest half": ["half.fatbin"], "compile half": ["half.cu", "half.ll", "half.bc"]})


class Bash(Completions, CliTest):
    shell = "bash"

    def test_values_of_words_that_readline_takes_apart(self):
        self.file("x.npy", "")
        self.assert_offered({"run --mode=l": ["lto"], "run --mode=": ["ptx", "lto", "both", "sass"],
                             "run --transform=ge": ["gelu"], "run --device cpu:sm_8": EIGHTIES,
                             "run --device=cpu:sm_8": EIGHTIES, "inspect --expect ltoir:sm_8": EIGHTIES,
                             "run --input=x": ["x.npy"], "run --input in=x": ["x.npy"], "link -I./": []})

    def test_lists(self):
        self.assert_offered({"cache warm --emit cubin,": ["cubin,ptx"],
                             "check --target=sm_75,a": ["sm_75,all"]})


class Zsh(Completions, CliTest):
    shell = "zsh"

    def test_parts_of_words(self):
        self.file("x.npy", "")
        self.assert_offered({"run --mode=l": ["--mode=lto"], "run --device cpu:sm_8": [f"cpu:{one}" for one in EIGHTIES],
                             "inspect --expect ltoir:sm_8": [f"ltoir:{one}" for one in EIGHTIES],
                             "cache warm --emit cubin,": ["cubin,ptx"], "run --input in=x": ["x.npy"]})


class Fish(Completions, CliTest):
    shell = "fish"

    def test_whole_words(self):
        self.file("x.npy", "")
        self.assert_offered({"run --mode=l": ["--mode=lto"], "cache warm --emit cubin,": ["cubin,ptx"],
                             "run --device cpu:sm_8": [f"cpu:{one}" for one in EIGHTIES],
                             "inspect --expect elf:sm_8": [f"elf:{one}" for one in EIGHTIES],
                             "run --input in=x": ["in=x.npy"]})


class Answers(CliTest):
    """What the program answers to each shell, where the shells are not installed."""

    def answers(self, *words):
        """Words with their descriptions, and lines about files."""
        lines = self.fatlink("--complete", *words).stdout.splitlines()
        return {word: description for word, _, description in (line.partition("\t") for line in lines) if word}, \
            [line[1:] for line in lines if line.startswith("\t")]

    def test_every_option_of_every_verb_with_a_description(self):
        for verb in ["", *all_verbs()]:
            with self.subTest(verb=verb):
                words, files = self.answers(*verb.split(), "-")
                self.assertEqual((set(words), files), (set(options_of(verb)), []))
                self.assertTrue(all(words.values()), words)

    def test_the_values_of_every_option_that_has_some(self):
        for verb in all_verbs():
            for option, values in options_of(verb).items():
                with self.subTest(verb=verb, option=option):
                    if values:
                        self.assertEqual(set(self.answers(*verb.split(), option, "")[0]), set(values))

    def test_the_part_of_a_word_that_is_a_file(self):
        for words, said in ((["run", "--input", "in=x"], "files 3 .npy"), (["run", "--input=x"], "files 8 .npy"),
                            (["link", "-Iinc"], "folders 2"), (["link", "-o", "x"], "files 0 ")):
            with self.subTest(words=words):
                self.assertEqual(self.answers(*words), ({}, [said]))

    def test_nothing_where_nothing_fits(self):
        for words in ([], ["nonsense", ""], ["doctor", "x"], ["run", "--seed", ""]):
            self.assertEqual(self.answers(*words), ({}, []))
