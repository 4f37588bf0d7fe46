# SPDX-License-Identifier: Apache-2.0
"""The file name `-`: results on standard output, with nothing else there, and data from standard input."""
import json
import os
import struct
import subprocess

from fatlink_cli import LIBRARY, PROGRAM, SHARE, CliTest
from test_bad_input import npy

RELU = SHARE / "relu_poly.fatbin"
LINK = ["link", "--target", "sm_90", LIBRARY, RELU]
RUN = ["run", "--device", "cpu", "--library", LIBRARY, "--transform", RELU]
VALUES = npy(data=struct.pack("<3f", 1, 2, 3))


class Streams(CliTest):
    def setUp(self):
        super().setUp()
        self.need_nvjitlink()

    def pipe(self, *words, data=b"", status=0, env=None, **options):
        done = subprocess.run([PROGRAM, *map(str, words)], cwd=self.folder, input=data, timeout=300,
                              stdout=options.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE,
                              env=self.environment(env or {}), **options)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return done

    def test_link_writes_the_image_to_standard_output_and_the_report_to_standard_error(self):
        self.fatlink(*LINK, "-o", "o.cubin")
        done = self.pipe(*LINK, "-o", "-")
        self.assertEqual(done.stdout, (self.folder / "o.cubin").read_bytes())
        self.assertIn(b"cubin for sm_90", done.stderr)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["o.cubin"])
        self.assertTrue(self.pipe(*LINK, "--emit", "ptx", "--output", "-").stdout.startswith(b"//"))

    def test_a_redirected_file_is_appended_to_as_the_shell_asked(self):
        self.fatlink(*LINK, "-o", "o.cubin")
        with open(self.folder / "all", "wb") as file:
            file.write(b"before")
        with open(self.folder / "all", "ab") as file:
            self.pipe(*LINK, "-o", "-", stdout=file)
        self.assertEqual((self.folder / "all").read_bytes(), b"before" + (self.folder / "o.cubin").read_bytes())

    def test_the_systems_names_of_standard_output_are_standard_output(self):
        self.fatlink(*LINK, "-o", "o.cubin")
        image = (self.folder / "o.cubin").read_bytes()
        for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            with self.subTest(name=name):
                self.assertEqual(self.pipe(*LINK, "-o", name).stdout, image)
                with open(self.folder / "redirected", "wb") as file:
                    done = self.pipe(*LINK, "-o", name, stdout=file)
                    self.assertEqual(os.fstat(file.fileno()).st_nlink, 1, "the file was replaced")
                self.assertEqual((self.folder / "redirected").read_bytes(), image)
                self.assertIn(b"cubin for sm_90", done.stderr)
                self.pipe(*LINK, "-o", name, "--json", status=2)

    def test_an_output_through_a_symbolic_link_is_written_where_it_leads(self):
        (self.folder / "real").mkdir()
        (self.folder / "out.cubin").symlink_to("real/out.cubin")
        for _ in range(2):
            self.fatlink(*LINK, "-o", "out.cubin")
            self.assertTrue((self.folder / "out.cubin").is_symlink())
            self.assertEqual((self.folder / "real" / "out.cubin").read_bytes()[:4], b"\x7fELF")
        self.assertEqual(len(list((self.folder / "real").iterdir())), 1)

    def test_a_refused_link_writes_nothing(self):
        done = self.pipe("link", "--target", "sm_90", LIBRARY, "-o", "-", status=4)
        self.assertEqual(done.stdout, b"")

    def test_run_writes_the_array_to_standard_output(self):
        self.fatlink(*RUN, "--elements", "100", "--output", "y.npy")
        done = self.pipe(*RUN, "--elements", "100", "--output", "-")
        self.assertEqual(done.stdout, (self.folder / "y.npy").read_bytes())
        self.assertIn(b"verified", done.stderr)

    def test_run_writes_nothing_where_results_do_not_verify(self):
        wrong = self.file("wrong.fatbin", RELU.read_bytes())
        self.file("wrong.json", json.dumps({"name": "wrong", "summary": "", "hook": "user_transform",
                                            "reference": "x + 1", "tolerance_ulp": 0}))
        words = ["run", "--device", "cpu", "--library", LIBRARY, "--transform", wrong, "--output", "-"]
        self.assertEqual(self.pipe(*words, status=1).stdout, b"")

    def test_run_reads_an_array_from_standard_input_that_is_a_pipe_or_a_file(self):
        self.file("x.npy", VALUES)
        self.fatlink(*RUN, "--input", "x.npy", "--output", "y.npy")
        expected = (self.folder / "y.npy").read_bytes()
        self.assertEqual(self.pipe(*RUN, "--input", "-", "--output", "-", data=VALUES).stdout, expected)
        for skipped in (0, 5):
            self.file("x.npy", bytes(skipped) + VALUES)
            words = [PROGRAM, *map(str, RUN), "--input", "-", "--output", "-"]
            with open(self.folder / "x.npy", "rb", buffering=0) as file:
                file.read(skipped)
                done = subprocess.run(words, cwd=self.folder, stdin=file, capture_output=True, env=self.environment({}))
            self.assertEqual(done.stdout, expected, done.stderr)

    def test_what_standard_input_holds_is_judged_as_a_file_is(self):
        for data, cause in ((b"", "standard input: cut short"), (VALUES[:-1], "standard input: cut short"),
                            (b"hello, world", "standard input: is not a .npy file")):
            self.assertIn(cause, self.pipe(*RUN, "--input", "-", data=data, status=3).stderr.decode())
        done = subprocess.run(["bash", "-c", '"$@" <&-', "bash", PROGRAM, *map(str, RUN), "--input", "-"], text=True,
                              capture_output=True, cwd=self.folder, env=self.environment({}))
        self.assertEqual(done.returncode, 3)
        self.assertIn("fatlink: error: standard input: Bad file descriptor", done.stderr)

    def test_json_together_with_a_result_on_standard_output_is_a_usage_error(self):
        for words in ([*LINK, "-o", "-"], [*RUN, "--output", "-"]):
            done = self.pipe(*words, "--json", status=2)
            self.assertIn("--output - and --json cannot be used together", json.loads(done.stdout)["error"]["message"])

    def test_several_targets_on_standard_output_are_a_usage_error(self):
        done = self.pipe("link", "--target", "all", "-o", "-", LIBRARY, RELU, status=2)
        self.assertIn(b"--output 'out.{target}.cubin'", done.stderr)

    def test_results_that_cannot_be_written_are_exit_3(self):
        for words in ([*LINK, "-o", "-"], [*RUN, "--output", "-"]):
            with open("/dev/full", "wb") as full:
                done = self.pipe(*words, stdout=full, status=3)
            self.assertIn(b"standard output: cannot be written: No space left on device", done.stderr)

    def test_a_missing_temporary_folder_is_named(self):
        done = self.pipe(*LINK, "-o", "-", env={"TMPDIR": "/nowhere"}, status=3)
        self.assertIn(b"cannot be kept in a temporary file ($TMPDIR, else /tmp): No such file", done.stderr)

    def test_a_file_of_that_name_is_written_with_a_folder_before_it(self):
        self.fatlink(*LINK, "-o", "./-")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["-"])
