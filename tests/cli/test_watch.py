# SPDX-License-Identifier: Apache-2.0
"""`run --watch`: what makes it run again, and what does not."""
import errno
import os
import shutil
import subprocess
import time

from compile_case import HALF, HALF_JSON, CompileCase
from fatlink_cli import PROGRAM, SHARE, TESTS

WATCH = ["run", "--device", "cpu", "--mode", "ptx", "--elements", "1000", "--watch"]
WAITS = "waiting for changes of "
DOUBLE = HALF.replace("0.5F", "2.0F")


class Watch(CompileCase):
    def setUp(self):
        super().setUp()
        self.need_nvjitlink()
        self.file("half.cu", HALF)
        self.file("half.json", HALF_JSON)

    def start(self, *words, env=None):
        """Starts `run --watch`; its errors and its output are one stream."""
        process = subprocess.Popen([PROGRAM, *WATCH, *map(str, words)], cwd=self.folder, text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, env=self.environment(env or {}))
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def next_run(self, process):
        """The text of a run, with the line that names the change before it."""
        lines = []
        for line in process.stdout:
            if line.startswith(WAITS):
                return "".join(lines)
            lines.append(line)
        self.fail("it ended: " + "".join(lines))

    def replace(self, name, content):
        """As editors do."""
        self.file(name + "~", content).rename(self.folder / name)

    def assert_runs_again_after(self, change, process, name, says="WRONG"):
        change()
        text = self.next_run(process)
        self.assertTrue(text.startswith(f"\n{name} changed\n"), text)
        self.assertIn(says, text)

    def assert_waits(self, process):
        """It does not run again: the next change that it names is the one made now."""
        time.sleep(0.5)
        self.assert_runs_again_after(lambda: self.file("half.json", HALF_JSON + " "), process, "half.json", "[1] PTX link")

    def test_a_source_that_is_written_or_replaced(self):
        process = self.start("half.cu")
        self.assertIn("verified", self.next_run(process))
        self.assert_runs_again_after(lambda: self.file("half.cu", DOUBLE), process, "half.cu")
        self.assert_runs_again_after(lambda: self.replace("half.cu", HALF), process, "half.cu", "verified, ")

    def test_its_sidecar(self):
        process = self.start("half.cu")
        self.next_run(process)
        self.assert_runs_again_after(lambda: self.file("half.json", HALF_JSON.replace("x / 2", "x / 3")), process, "half.json")

    def test_an_error_comes_after_what_changed_and_ends_nothing(self):
        process = self.start("half.cu")
        self.next_run(process)
        self.assert_runs_again_after(lambda: self.file("half.cu", "int 3;\n"), process, "half.cu", "\nfatlink: error: half.cu:1: ")
        self.assert_runs_again_after(lambda: self.file("half.cu", HALF), process, "half.cu", "verified, ")

    def test_a_header_in_a_folder_below_that_of_the_option(self):
        (self.folder / "inc/deep").mkdir(parents=True)
        self.file("inc/deep/k.h", "#define K 0.5F\n")
        self.file("half.cu", "#include <deep/k.h>\n" + HALF.replace("0.5F", "K"))
        process = self.start("half.cu", "-I", "inc")
        self.assertIn("verified", self.next_run(process))
        name = self.folder / "inc/deep/k.h"
        self.assert_runs_again_after(lambda: name.write_text("#define K 4.0F\n"), process, name)
        self.assert_runs_again_after(lambda: name.write_text("#error no\n"), process, name, "fatlink: error: ")
        self.assert_runs_again_after(lambda: name.write_text("#define K 0.5F\n"), process, name, "verified, ")
        shutil.rmtree(self.folder / "inc")
        self.assertIn("fatlink: error: ", self.next_run(process))
        (self.folder / "new/deep").mkdir(parents=True)
        self.file("new/deep/k.h", "#define K 0.5F\n")
        (self.folder / "new").rename(self.folder / "inc")
        self.assertIn("verified, ", self.next_run(process))

    def test_a_header_that_was_missing(self):
        (self.folder / "inc").mkdir()
        self.file("half.cu", "#include <k.h>\n" + HALF.replace("0.5F", "K"))
        process = self.start("half.cu", "-I", "inc")
        self.assertIn("k.h is in none of the folders", self.next_run(process))
        self.assert_runs_again_after(lambda: self.file("inc/k.h", "#define K 0.5F\n"), process, self.folder / "inc/k.h", "verified, ")

    def test_the_header_of_the_option_and_the_library(self):
        self.file("hooks.h", "#define K 0.5F\n")
        self.file("half.cu", HALF.replace("0.5F", "K"))
        library = shutil.copy(SHARE / "apply_transform.fatbin", self.folder)
        shutil.copy(SHARE / "apply_transform.json", self.folder) if (SHARE / "apply_transform.json").exists() else None
        process = self.start("half.cu", "--header", "hooks.h", "--library", "./apply_transform.fatbin")
        self.assertIn("verified", self.next_run(process))
        self.assert_runs_again_after(lambda: self.file("hooks.h", "#define K 4.0F\n"), process, "hooks.h")
        self.assert_runs_again_after(lambda: os.utime(library), process, "./apply_transform.fatbin")

    def test_the_target_of_a_symbolic_link(self):
        (self.folder / "real").mkdir()
        (self.folder / "half.cu").rename(self.folder / "real/half.cu")
        (self.folder / "half.cu").symlink_to("real/half.cu")
        process = self.start("half.cu")
        self.assertIn("verified", self.next_run(process))
        self.assert_runs_again_after(lambda: self.file("real/half.cu", DOUBLE), process, "half.cu")

    def test_a_folder_that_is_removed_and_made_again(self):
        (self.folder / "sub").mkdir()
        for name in ("half.cu", "half.json"):
            (self.folder / name).rename(self.folder / "sub" / name)
        process = self.start("sub/half.cu")
        self.next_run(process)
        shutil.rmtree(self.folder / "sub")
        self.assertIn("sub/half.cu: ", self.next_run(process))
        (self.folder / "sub").mkdir()
        self.file("sub/half.cu", DOUBLE)
        self.assertIn("[1] PTX link", self.next_run(process))

    def test_not_what_the_run_writes(self):
        process = self.start("half.cu", "-I", ".", "--output", "y.npy")
        self.assertIn("verified", self.next_run(process))
        self.assert_waits(process)

    def test_not_another_file_beside_it(self):
        process = self.start("half.cu", "-I", ".")
        self.next_run(process)
        self.file("other.cu", DOUBLE)
        self.assert_waits(process)

    def test_a_file_that_is_not_there_is_an_error(self):
        self.assert_fails(3, *WATCH, "none.cu", says=["none.cu: no such file"], hint="name a transform to watch")
        self.assert_fails(3, *WATCH, "./", says=["./: is a directory"])

    def test_an_installed_transform_is_named_by_its_file(self):
        process = self.start("relu_poly")
        lines = iter(process.stdout.readline, "")
        self.assertTrue(next(line for line in lines if line.startswith(WAITS)).endswith("relu_poly.fatbin\n"))

    def start_pair(self, says="verified", **options):
        """Watches t.fatbin, the shipped transform gelu, which has run."""
        self.replace_pair("gelu", ("fatbin", "json"))
        process = self.start("./t.fatbin", **options)
        self.assertIn(says, self.next_run(process))
        return process

    def replace_pair(self, transform, endings):
        for ending in endings:
            self.replace(f"t.{ending}", (SHARE / f"{transform}.{ending}").read_bytes())

    def test_a_fatbin_and_its_sidecar_that_are_replaced_one_after_the_other(self):
        process = self.start_pair()
        for transform, endings in (("relu_poly", ("json", "fatbin")), ("gelu", ("fatbin", "json"))):
            with self.subTest(endings):
                self.replace_pair(transform, endings[:1])
                time.sleep(0.5)  # longer than a change must be over
                self.replace_pair(transform, endings[1:])
                text = self.next_run(process)
                self.assertIn("verified, ", text)
                self.assertNotIn("error", text)

    def test_a_fatbin_whose_sidecar_stays_the_old_one_is_an_error(self):
        process = self.start_pair()
        self.replace_pair("relu_poly", ["fatbin"])
        self.assertIn("fatlink: error: ./t.fatbin: is not the file that t.json states (sha256 ", self.next_run(process))
        self.replace_pair("relu_poly", ["json"])
        self.assertIn("verified, ", self.next_run(process))

    def test_a_limit_of_inotify_is_a_warning_that_names_the_sysctl(self):
        says = "fatlink: warning: inotify cannot watch another folder: No space left on device; files are checked for changes " \
               "every 100 ms; raise the sysctl fs.inotify.max_user_watches\n"
        process = self.start_pair(says, env={"LD_PRELOAD": str(TESTS / "libfaulty_system.so"), "FATLINK_FAULT": f"{errno.ENOSPC}@1+",
                                       "FATLINK_FAULT_ROOT": str(self.folder), "FATLINK_FAULT_CALL": "inotify_add_watch"})
        self.replace_pair("relu_poly", ("json", "fatbin"))
        self.assertIn("verified, ", self.next_run(process))

    def test_not_with_json(self):
        done = self.fatlink(*WATCH, "half.cu", "--json", status=2)
        self.assertIn("--json prints one object", done.stderr)
        self.assertIn("leave out --json", done.stderr)

    def test_it_ends_with_the_reader_of_its_output(self):
        process = self.start("half.cu")
        self.next_run(process)
        process.stdout.close()
        self.file("half.cu", DOUBLE)
        process.wait(timeout=60)
        process.stdout = None
