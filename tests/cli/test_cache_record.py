# SPDX-License-Identifier: Apache-2.0
"""fatlink cache record: what a program links and compiles, and layers that are made from it."""
import json
import sys

from cache_case import PAIR, CacheTest
from compile_case import HALF, has_nvrtc
from fatlink_cli import LIBRARY, PROGRAM, SHARE

RECORD = ["cache", "record"]
LINK = [PROGRAM, "link", "--target", "sm_90", "-o", "out.cubin"]
PYTHON = [sys.executable, "-c"]


class Record(CacheTest):
    def setUp(self):
        super().setUp()
        self.need_nvjitlink()

    def record(self, *words, command, status=0, **options):
        done = self.fatlink(*RECORD, "--json", *words, "--", *command, status=status, **options)
        return json.loads(done.stdout)

    def offline(self):
        return {"FATLINK_OFFLINE": "1", "FATLINK_SYSTEM_CACHE": str(self.folder / "layer"), "FATLINK_CACHE_DIR": str(self.cache / "empty"),
                "FATLINK_LINKD": "/nowhere", "FATLINK_NVJITLINK": "/nowhere"}

    def assert_offline(self, *words):
        self.fatlink(*words[1:], env=self.offline())

    def test_links_are_listed_and_stored(self):
        report = self.record("--layer", "layer", command=[*LINK, *PAIR])
        self.assertEqual(report, {"schema": "fatlink.cache-record/1", "status": 0, "record": "", "layer": "layer", "compiles": [], "links": [
            {"inputs": list(map(str, PAIR)), "target": "sm_90", "mode": "lto", "kind": "cubin", "kernels": [], "stored": ["sm_90 cubin"]}]})
        self.assert_offline(*LINK, *PAIR)
        done = self.fatlink(*RECORD, "--", *LINK, *PAIR)
        self.assertIn(f"link     sm_90 lto cubin     {PAIR[0]} + {PAIR[1]}\nLinks: 1; compiles: 0; --layer FOLDER stores them", done.stdout)

    def test_every_option_of_a_link_is_recorded(self):
        for options in (["--kernel", "apply_transform", "--max-registers", "32", "--line-info"], ["-O0", "--threads", "2"],
                        ["--fast-compile", "mid", "--ftz", "1", "--prec-div", "0", "--stack-protector"], ["--mode", "ptx", "--debug"],
                        ["--drop-unused-variables", "--fma", "0", "--prec-sqrt", "0"], ["--ptxas=-dlcm=cg", "--nvvm=-jump-table-density=10"],
                        ["--emit", "ptx"], ["--allow-calls"]):
            with self.subTest(options=options):
                self.record("--layer", "layer", command=[*LINK, *options, *PAIR])
                self.assert_offline(*LINK, *options, *PAIR)

    def test_sources_are_listed_and_stored(self):
        if not has_nvrtc():
            self.skipTest("no NVRTC on this machine")
        folder = self.folder / "sources"
        folder.mkdir()
        (folder / "factor.cuh").write_text("#define FACTOR 2\n")
        (folder / "half.cu").write_text('#include "factor.cuh"\n' + HALF)
        words = [*LINK, LIBRARY, "sources/half.cu", "-D", "A=1", "--std", "c++20"]
        report = self.record("--layer", "layer", command=words)
        self.assertEqual(report["compiles"], [{"source": "sources/half.cu", "file": str(folder / "half.cu"), "language": "cuda",
                                               "contract": "apply_transform", "targets": ["sm_75"], "stored": True}])
        self.assert_offline(*words)
        (folder / "factor.cuh").write_text("#define FACTOR 4\n")
        self.assert_fails(5, *words[1:], says=["the compiled source sources/half.cu"], env=self.offline())

    def test_inputs_that_no_file_has_are_in_the_record(self):
        copy = self.file("copy.fatbin", (SHARE / "relu_poly.fatbin").read_bytes())
        self.fatlink(*RECORD, "-o", "record", "--", *LINK, LIBRARY, copy)
        entry = json.loads((self.folder / "record").read_text())
        self.assertEqual(entry["inputs"][1]["file"], str(copy))
        entry["inputs"][1] = {"name": "memory", "sha256": entry["inputs"][1]["sha256"], "bytes": copy.read_bytes().hex()}
        self.file("record", json.dumps(entry) + "\n")
        copy.unlink()
        self.fatlink(*RECORD, "-o", "record", "--layer", "layer")
        self.assert_offline(*LINK, *PAIR)

    def test_a_record_collects_runs_and_processes(self):
        for target in ("sm_80", "sm_90", "sm_90"):
            self.record("-o", "record", command=["sh", "-c", f'for i in 1 2 3; do "$0" link --target {target} -o $i.cubin "$@" & done; wait',
                                                 PROGRAM, *PAIR])
        self.assertEqual(len((self.folder / "record").read_text().splitlines()), 9)
        report = self.fatlink_json(*RECORD, "-o", "record", "--layer", "layer")
        self.assertEqual((report["status"], [link["target"] for link in report["links"]]), (None, ["sm_80", "sm_90"]))
        self.assert_offline(*LINK, *PAIR)

    def test_targets_replace_those_of_the_run(self):
        run = [PROGRAM, "run", "--device", "cpu", "--elements", "9"]
        report = self.record("--layer", "layer", "--target", "sm_80", command=run)
        self.assertEqual([(link["kind"], link["stored"][-1]) for link in report["links"]], [("ptx_set", "sm_80 cubin"), ("ptx", "sm_80 cubin")])
        self.assert_offline(*run)
        for mode in ("ptx", "lto"):
            self.fatlink("link", "--target", "sm_86", "--mode", mode, "-o", "o", LIBRARY, SHARE / "relu_poly.fatbin", env=self.offline())
        self.record("--layer", "layer", "--target", "sm_100", command=[*LINK, *PAIR])
        self.assert_fails(5, *LINK[1:], *PAIR, says=["for sm_80 and for sm_100"], env=self.offline())

    def test_words_of_the_command_are_passed_on(self):
        command = [*PYTHON, "import sys; print(sys.argv[1:], file=sys.stderr)", "--json", "-x", "./y", ""]
        self.assertIn("['--json', '-x', './y', '']\n", self.fatlink(*RECORD, "--", *command).stderr)
        self.assertEqual(self.fatlink(*RECORD, "--", *PYTHON, "print('text')").stdout, "text\nLinks: 0; compiles: 0; --layer FOLDER stores "
                         "them in a layer\n")

    def test_a_command_that_fails_writes_no_layer(self):
        for text, status in (("import sys; sys.exit(7)", 7), ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", 143)):
            report = self.record("--layer", "layer", command=[*PYTHON, text], status=status)
            self.assertEqual((report["status"], report["links"]), (status, []))
        self.assertFalse((self.folder / "layer").exists())

    def test_a_command_has_the_usual_signals(self):
        for name, status in (("PIPE", 141), ("XFSZ", 153)):
            self.record(command=["sh", "-c", f"kill -{name} $$"], status=status)

    def test_links_that_fail_are_not_recorded(self):
        self.assertEqual(self.record(command=[*LINK, LIBRARY], status=4)["links"], [])

    def test_refuses_wrong_arguments(self):
        for words, says in (([], "no command: there is nothing to record"), (["-o", "-"], "--output: a record is a file"),
                            (["--target", "sm_90", "--", "true"], "--target without --layer"),
                            (["--one-copy", "--", "true"], "--one-copy without --layer")):
            self.assert_fails(2, *RECORD, *words, says=[says])
        self.assert_fails(3, *RECORD, "--", "/nowhere/program", says=["/nowhere/program: No such file or directory"])
        self.assert_fails(3, *RECORD, "-o", "none", says=["none: no such file"])

    def test_refuses_a_damaged_record(self):
        for text, says in (("{", "line 1 is not a JSON object"), ("[]\n", "line 1 is not a JSON object"), ('{"job": "x"}\n', "unknown job 'x'"),
                           ('{"job": "link"}\n', "key 'target' not found"), ('{"job": "compile"}\n', "key 'bytes' not found")):
            with self.subTest(text=text):
                self.file("record", text)
                self.assert_fails(3, *RECORD, "-o", "record", says=["a record of links and compiles: ", says], hint="fatlink cache record -- COMMAND")

    def test_refuses_files_that_have_changed(self):
        self.file("copy.fatbin", (SHARE / "relu_poly.fatbin").read_bytes())
        self.fatlink(*RECORD, "-o", "record", "--", *LINK, LIBRARY, "copy.fatbin")
        self.file("copy.fatbin", (SHARE / "gelu.fatbin").read_bytes())
        self.assert_fails(3, *RECORD, "-o", "record", "--layer", "layer", says=[f"{self.folder}/copy.fatbin: the file has changed since it was recorded"])

    def test_a_record_that_cannot_be_written_fails_the_link(self):
        self.assert_fails(3, *LINK[1:], *PAIR, says=["the record /nowhere/record: No such file or directory"], env={"FATLINK_RECORD": "/nowhere/record"})
