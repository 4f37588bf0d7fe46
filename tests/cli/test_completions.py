# SPDX-License-Identifier: Apache-2.0
"""Shells complete what the program knows: neither less nor more."""
import os
import re
import shutil
import unittest

import completing_shells
from fatlink_cli import LIBRARY, PROGRAM, CliTest
from program_help import all_verbs, file_of, options_of, sub_verbs

PROGRAM_WITH_NAMES = f"""#!/bin/sh
case "$*" in
  "list --targets") exec {PROGRAM} list --targets ;;
  "list --contracts") echo apply_transform ;;
  "list --kind library --names") echo apply_transform ;;
  "list --kind transform --names") printf 'gelu\\nidentity\\n' ;;
  "list --names") printf 'apply_transform\\ngelu\\nidentity\\n' ;;
  *) exit 2 ;;
esac
"""
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
        self.program(PROGRAM_WITH_NAMES)

    def program(self, text):
        """The fatlink that is asked for names: beside the folder, as all that is in there is offered."""
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
        self.assert_offered({f"{verb} --contract ": ["apply_transform"] for verb in ("run", "compile", "check")})

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

    def test_targets_are_those_that_the_program_lists(self):
        self.program('#!/bin/sh\n[ "$*" = "list --targets" ] && printf "sm_77\\nsm_99a\\n"\n')
        self.assert_offered({"link --target ": ["sm_77", "sm_99a", "native", "all"],
                             "inspect --target sm_7": ["sm_77"]})

    def test_installed_names_of_the_kind_that_fits(self):
        self.assert_offered({"run --transform ge": ["gelu"], "run --library ": ["apply_transform"],
                             "list ": ["apply_transform", "gelu", "identity"], "check g": ["gelu"],
                             "link ": ["apply_transform", "gelu", "identity"]})

    def test_no_names_and_no_noise_where_the_program_cannot_list_them(self):
        self.program("#!/bin/sh\necho wrong >&2\nexit 2\n")
        self.assert_offered({"run --transform ": [], "check ": []})
        self.program("#!/nowhere/sh\n")
        self.assert_offered({"run --transform ": [], "check ": []})
        self.stub.unlink()
        if not shutil.which("fatlink"):  # an installed one would answer
            self.assert_offered({"run --transform ": [], "check ": []})

    def test_files_of_the_kind_that_fits(self):
        for name in ("x.npy", "half.fatbin", "half mine.fatbin", "half.cu", "hooks.cuh", "hooks.txt"):
            self.file(name, "")
        (self.folder / "halves").mkdir()
        self.assert_offered({"run --transform h": ["half.fatbin", "half mine.fatbin", "half.cu", "halves"],
                             "inspect half": ["half.fatbin", "half mine.fatbin", "half.cu"],
                             "compile --header hooks.": ["hooks.cuh"],
                             "link -I h": ["halves"], "compile --include-folder h": ["halves"],
                             "run --input x": ["x.npy"], "run --output h": ["halves"],
                             "link -o half.": ["half.fatbin", "half.cu"],
                             "cache warm --layer h": ["halves"]})

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
        self.assert_offered({"run --mode=l": ["lto"], "run --mode=": ["ptx", "lto", "both", "sass"],
                             "run --transform=ge": ["gelu"], "run --device cpu:sm_8": EIGHTIES,
                             "run --device=cpu:sm_8": EIGHTIES, "inspect --expect ltoir:sm_8": EIGHTIES})

    def test_lists(self):
        self.assert_offered({"cache warm --emit cubin,": ["cubin,ptx"],
                             "check --target=sm_75,a": ["sm_75,all"]})


class Zsh(Completions, CliTest):
    shell = "zsh"

    def test_parts_of_words(self):
        self.assert_offered({"run --mode=l": ["lto"], "run --device cpu:sm_8": EIGHTIES,
                             "inspect --expect ltoir:sm_8": EIGHTIES, "cache warm --emit cubin,": ["ptx"]})


class Fish(Completions, CliTest):
    shell = "fish"

    def test_whole_words(self):
        self.assert_offered({"run --mode=l": ["--mode=lto"], "cache warm --emit cubin,": ["cubin,ptx"],
                             "run --device cpu:sm_8": [f"cpu:{one}" for one in EIGHTIES],
                             "inspect --expect elf:sm_8": [f"elf:{one}" for one in EIGHTIES]})


def options_in(text):
    return set(re.findall(r"(?<![\w-])(--[a-z][\w-]*|-[a-zDIO])(?![\w-])", text))


class Text(unittest.TestCase):
    """What can be read of the completions where their shells are not installed."""

    def test_zsh_has_every_verbs_options_and_no_others(self):
        text = file_of(*FILES["zsh"]).read_text()
        text = re.sub(r"\[[^]]*\]|^ *#.*$|\\\n|_files -.", "", text, flags=re.M)  # what looks like an option
        arrays = dict(re.findall(r"^typeset -ga (\w+)=\((.*?)^\)", text, re.M | re.S))
        functions = {name: body for names, body in re.findall(r"^([^\n]*)\(\) \{\n(.*?)^\}", text, re.M | re.S)
                     for name in names.split()}
        for verb in all_verbs():
            with self.subTest(verb=verb):
                body = functions["_fatlink_" + verb.replace(" ", "_")]
                named = [arrays[name] for name in re.findall(r"\$(\w+)", body) if name in arrays]
                self.assertEqual(options_in(" ".join([body, *named])), set(options_of(verb)))

    def test_fish_has_every_verbs_options_and_no_others(self):
        lines = re.findall(r"^complete -c fatlink(?: -n '__fatlink_at ([^']*)')?((?: -[sl] \S+)+)",
                           file_of(*FILES["fish"]).read_text(), re.M)
        for verb in all_verbs():
            with self.subTest(verb=verb):
                found = {("--" if kind == "l" else "-") + name for verbs, options in lines
                         if not verbs or verb.replace(" ", "/") in verbs.split()
                         for kind, name in re.findall(r" -([sl]) (\S+)", options)}
                self.assertEqual(found, set(options_of(verb)))
