# SPDX-License-Identifier: Apache-2.0
"""An unwritable standard output is an error that names it; an unwritable standard error is none."""
import os
import signal
import subprocess
import unittest

from fatlink_cli import LIBRARY, PROGRAM, SHARE, CliTest, nvjitlink

RELU = SHARE / "relu_poly.fatbin"
LINK = ["link", "--target", "sm_90", "-o", "o.cubin", LIBRARY, RELU]
RUN = ["run", "--device", "cpu", "--elements", "64", "--library", LIBRARY, "--transform", RELU]
FORMS = [["--help"], ["--version"], ["run", "--help"], ["cache", "warm", "--help"],
         ["list"], ["list", "--names"], ["list", "--json"], ["check", LIBRARY, RELU], ["check", "--json", LIBRARY, RELU],
         ["inspect", LIBRARY], ["inspect", "--json", LIBRARY], LINK, [*LINK, "--json"], RUN, [*RUN, "--json"],
         ["cache", "path"], ["cache", "stats"], ["cache", "verify", "--json"], ["cache", "prune"], ["cache", "clear"],
         ["cache", "warm", "--target", "sm_90", LIBRARY, RELU], ["doctor"], ["doctor", "--json"]]
BENCH = ["bench", "--repeat", "1", "--elements", "1024"]


class Redirected(CliTest):
    def shell(self, words, redirection, env=None):
        """Runs the program with a redirection of the shell; SIGPIPE has its default action."""
        return subprocess.run(["bash", "-c", f'"$@" {redirection}', "bash", PROGRAM, *map(str, words)],
                              cwd=self.folder, text=True, capture_output=True, timeout=300,
                              env=self.environment({"FATLINK_PATH": str(SHARE), **(env or {})}))

    def assert_output_lost(self, words, redirection, cause):
        with self.subTest(words=" ".join(map(str, words)), redirection=redirection):
            done = self.shell(words, redirection)
            self.assertEqual(done.returncode, 3, done.stderr)
            errors = [line for line in done.stderr.splitlines() if line.startswith("fatlink: error: ")]
            self.assertEqual(errors, [f"fatlink: error: standard output: cannot be written: {cause}"], done.stderr)
            self.assertIn("  hint:", done.stderr)
            self.assertEqual(done.stdout, "")


class StandardOutput(Redirected):
    def setUp(self):
        super().setUp()
        self.need_nvjitlink()

    def test_a_full_disk_is_exit_3_for_every_verb_and_form(self):
        for words in [*FORMS, BENCH]:
            self.assert_output_lost(words, "> /dev/full", "No space left on device")

    def test_a_closed_standard_output_is_exit_3_for_every_verb_and_form(self):
        for words in FORMS:
            self.assert_output_lost(words, ">&-", "Bad file descriptor")

    def test_a_closed_standard_output_never_becomes_the_output_file(self):
        self.shell(LINK, ">&- <&-")
        self.assertEqual((self.folder / "o.cubin").read_bytes()[:4], b"\x7fELF")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["o.cubin"])

    def test_an_error_object_that_cannot_be_written_is_exit_3(self):
        done = self.shell(["list", "--json", "no_such_name"], "> /dev/full")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("no_such_name", done.stderr)
        self.assertIn("standard output: cannot be written", done.stderr)

    def test_a_reader_that_has_gone_ends_the_program_by_sigpipe_without_a_message(self):
        for words in (["--help"], ["list", "--json"], RUN):
            with self.subTest(words=words):
                reader, writer = os.pipe()
                os.close(reader)
                done = subprocess.run([PROGRAM, *map(str, words)], cwd=self.folder, text=True, stdout=writer,
                                      stderr=subprocess.PIPE, env=self.environment({}))
                os.close(writer)
                self.assertEqual(done.returncode, -signal.SIGPIPE, done.stderr)
                self.assertNotIn("error", done.stderr)

    def test_a_reader_that_has_gone_is_exit_3_where_sigpipe_is_ignored(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(["bash", "-c", 'trap "" PIPE; exec "$@"', "bash", PROGRAM, "--help"], text=True,
                              stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("standard output: cannot be written: Broken pipe", done.stderr)


class StandardError(Redirected):
    """What goes to standard error is lost, and nothing else: status and output stay."""

    def test_a_closed_or_full_standard_error_changes_no_status(self):
        refused = ["link", "--target", "sm_90", "-o", "o", LIBRARY]
        for redirection in ("2>&-", "2> /dev/full"):
            for words, status in ((["list", "no_such_name"], 3), (["run", "--nonsense"], 2), (refused, 4),
                                  (["doctor", "--json"], 0)):
                with self.subTest(words=words, redirection=redirection):
                    if words[0] == "doctor":
                        self.need_nvjitlink()
                    done = self.shell(words, redirection)
                    self.assertEqual(done.returncode, status, done.stdout)

    def test_no_state_of_standard_error_changes_the_status_or_the_output_of_any_command(self):
        self.need_nvjitlink()
        gone = "2> >(exec true)"
        refused = ["link", "--target", "sm_90", "-o", "-", LIBRARY]
        for words in (["--help"], ["--version"], [], ["run", "--nonsense"], ["list"], ["list", "nothing"], refused,
                      ["check", LIBRARY, RELU], ["check", LIBRARY], ["inspect", "/nowhere"], ["inspect", LIBRARY],
                      [*LINK[:4], "-", *LINK[5:]], [*RUN, "--output", "-"], ["cache", "path"], ["cache", "verify"]):
            expected = self.shell_bytes(words, "")
            for redirection in ("2>&-", "2> /dev/full", gone, "<&- 2>&-"):
                with self.subTest(words=words, redirection=redirection):
                    done = self.shell_bytes(words, redirection)
                    self.assertEqual((done.returncode, done.stdout), (expected.returncode, expected.stdout))

    def shell_bytes(self, words, redirection):
        return subprocess.run(["bash", "-c", f'"$@" {redirection}', "bash", PROGRAM, *map(str, words)], cwd=self.folder,
                              capture_output=True, timeout=300, env=self.environment({"FATLINK_PATH": str(SHARE)}))

    def test_a_reader_of_standard_error_that_has_gone_changes_no_status(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([PROGRAM, "list", "no_such_name", "--json"], text=True, stdout=subprocess.PIPE,
                              stderr=writer, cwd=self.folder)
        os.close(writer)
        self.assertEqual(done.returncode, 3)
        self.assertIn('"error"', done.stdout)

    def test_a_warning_that_cannot_be_written_does_not_stop_the_link(self):
        self.need_nvjitlink()
        by_hand = self.file("by_hand.fatbin", (SHARE.parent.parent / "libexec" / "fatlink-tests" / "fixtures" /
                                               "uncontracted.fatbin").read_bytes())
        words = ["link", "--target", "sm_90", "-o", "o.cubin", LIBRARY, by_hand]
        self.assertIn("[uncontracted]", self.shell(words, "").stderr)
        for redirection in ("2>&-", "2> /dev/full"):
            done = self.shell(words, redirection)
            self.assertEqual(done.returncode, 0, done.stdout)


@unittest.skipUnless(nvjitlink(), "no nvJitLink on this machine")
class AfterTheEnd(CliTest):
    def test_libraries_that_flush_at_exit_find_the_stream_alive(self):
        """A plugin's C++ run-time flushes the stream that was standard output when it was opened."""
        self.fatlink("run", "--device", "cpu", "--library", "convert", "--elements", 10,
                     env={"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0", "MALLOC_PERTURB_": "165"})


if __name__ == "__main__":
    unittest.main()
