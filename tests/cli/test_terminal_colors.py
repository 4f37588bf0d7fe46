# SPDX-License-Identifier: Apache-2.0
"""Colors: on a terminal only, unless NO_COLOR is set or TERM names none; never in JSON or in files."""
import re
import subprocess

from fatlink_cli import LIBRARY, SHARE, CliTest

RELU = SHARE / "relu_poly.fatbin"
TERMINAL = {"TERM": "xterm", "NO_COLOR": None}
CHECK = ["check", LIBRARY]  # it has no transform
RUN = ["run", "--device", "cpu", "--library", LIBRARY, "--transform", RELU, "--mode", "ptx"]
COLOR = re.compile(r"\x1b\[\d+m")
RED, GREEN, CYAN = "\x1b[31m", "\x1b[32m", "\x1b[36m"


class Colors(CliTest):
    def setUp(self):
        super().setUp()
        self.need_nvjitlink()

    def on_colored(self, *words, status=0, **changes):
        return self.on_terminal(*words, status=status, env={**TERMINAL, **changes})

    def test_an_error_is_red_and_its_hint_cyan(self):
        text = self.on_colored("run", "--transform", "no_such_transform", status=3)
        self.assertIn(f"fatlink: \x1b[1m{RED}error:\x1b[0m ", text)
        self.assertIn(f"  {CYAN}hint:\x1b[0m   ", text)

    def test_a_check_that_fails_is_red_and_one_that_succeeds_green(self):
        failed = self.on_colored(*CHECK, status=4)
        self.assertIn(f"{RED}does not link\x1b[0m", failed)
        self.assertIn(f"{RED}error:\x1b[0m ", failed)
        self.assertIn(f"{GREEN}links\x1b[0m", self.on_colored(*CHECK, RELU))

    def test_results_are_green_or_red(self):
        self.assertIn(f"Result: {GREEN}verified\x1b[0m", self.on_colored(*RUN))
        wrong = self.compile("wrong", 'extern "C" __device__ float user_transform(float x) { return x + 1; }')
        self.file("wrong.json", '{"name": "wrong", "summary": "x", "hook": "user_transform", "reference": "x", "tolerance_ulp": 1}')
        text = self.on_colored(*RUN[:-3], wrong, "--mode", "ptx", status=1)
        self.assertIn(f"Result: \x1b[1m{RED}WRONG\x1b[0m (out)", text)

    def test_titles_are_bold(self):
        for words, title in ((["list"], "Libraries"), (["run", "--help"], "Data:"), (["doctor"], "What works:")):
            with self.subTest(words=words):
                        self.assertIn(f"\x1b[1m{title}", self.on_colored(*words))

    def test_the_text_is_the_same_without_colors(self):
        plain = self.fatlink(*CHECK, status=4).stdout
        self.assertEqual(COLOR.sub("", self.on_colored(*CHECK, status=4)).replace("\r\n", "\n"), plain)

    def test_no_color_and_a_terminal_without_colors(self):
        for changes in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": None}, {"TERM": ""}):
            with self.subTest(changes=changes):
                self.assertNotIn("\x1b[", self.on_colored(*CHECK, status=4, **changes))
        self.assertIn(RED, self.on_colored(*CHECK, status=4, NO_COLOR=""))

    def test_json_has_none(self):
        self.assertNotIn("\x1b[", self.on_colored(*CHECK, "--json", status=4))

    def test_a_stream_that_is_no_terminal_has_none(self):
        self.assertNotIn("\x1b", self.fatlink(*CHECK, status=4, env=TERMINAL).stdout)
        done = self.on_terminal(*CHECK, status=4, env=TERMINAL, stdout=subprocess.DEVNULL)
        self.assertEqual(done, "")

    def test_a_report_beside_results_on_standard_output_has_none_in_the_results(self):
        with open(self.folder / "o.npy", "wb") as file:
            text = self.on_terminal(*RUN, "--output", "-", env=TERMINAL, stdout=file)
        self.assertIn(f"{GREEN}verified", text)
        self.assertEqual((self.folder / "o.npy").read_bytes()[:6], b"\x93NUMPY")
        self.assertNotIn(b"\x1b[32m", (self.folder / "o.npy").read_bytes())
