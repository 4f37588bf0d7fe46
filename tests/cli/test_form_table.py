# SPDX-License-Identifier: Apache-2.0
"""Every form of a transform in every link mode for sm_80 and sm_90: right, of a wrong type, without the hook, twice, too
new, cut. Each cell of the tables is one link; a refusal must name the file. Damaged bytes: hostile/test_form_mutations.py."""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import form_files
from fatlink_cli import LIBRARY, MISSING, PROGRAM, CliTest, doctor
from run_tests import long_test

TOOLKITS = pathlib.Path(__file__).parent.parent / "fixtures" / "toolkits"
MODES = {"ptx": ["--mode", "ptx"], "lto": ["--mode", "lto"], "calls": ["--mode", "lto", "--allow-calls"],
         "sass": ["--mode", "sass"]}
FILE_ERRORS = re.compile("corrupt-|unknown-form|invalid-ptx|empty-input|no-device-code|thin-archive|unreadable-file|"
                         "digest-mismatch")

# The outcome of a link of library.fatbin with the files: the hook is inlined, or a call; or the code of the refusal.
# Where a line names one target, the other links with the outcome of another line.
FORMS = """
form         target  ptx      lto       calls          sass
.fatbin      all     called   inlined   inlined        no-sass
.ptx         all     called   no-ltoir  called         no-sass
.ltoir       all     no-ptx   inlined   inlined        no-sass
_80.cubin    sm_80   no-ptx   no-ltoir  called         called
_80.cubin    sm_90   no-ptx   no-ltoir  arch-specific  arch-specific
_90.cubin    sm_80   no-ptx   no-ltoir  arch-specific  arch-specific
_90.cubin    sm_90   no-ptx   no-ltoir  called         called
_lto.o       all     called   inlined   inlined        no-sass
_sass.o      all     called   no-ltoir  called         called
_lto.a       all     called   inlined   inlined        no-sass
_sass.a      all     called   no-ltoir  called         called
"""
# A line of FORMS with other files: every link that FORMS has is refused so.
REFUSALS = {"double": "signature-mismatch", "two": "signature-mismatch", "absent": "missing-hook",
            "twice": "duplicate-symbol"}
# What differs from that.
EXCEPTIONS = """
files          target  ptx           lto               calls             sass
absent_lto.a   all     missing-hook  missing-hook      missing-hook      missing-hook
absent_sass.a  all     missing-hook  missing-hook      missing-hook      missing-hook
"""
# Code for newer GPUs and of newer toolkits than nvJitLink 13.0.
TOO_NEW = """
file                target  ptx              lto              calls            sass
newer.fatbin        all     arch-too-new     arch-too-new     arch-too-new     no-sass
newer.ptx           all     arch-too-new     no-ltoir         arch-too-new     no-sass
newer.ltoir         all     no-ptx           arch-too-new     arch-too-new     no-sass
newer_120.cubin     all     no-ptx           no-ltoir         arch-specific    arch-specific
newer_lto.o         all     arch-too-new     arch-too-new     arch-too-new     no-sass
newer_sass.o        all     arch-too-new     no-ltoir         arch-too-new     arch-specific
newer_lto.a         all     arch-too-new     arch-too-new     arch-too-new     no-sass
newer_sass.a        all     arch-too-new     no-ltoir         arch-too-new     arch-specific
specific_90a.cubin  all     no-ptx           no-ltoir         arch-specific    arch-specific
"""
UNUSABLE_CUBINS = """
file                target  ptx              lto              calls            sass
whole_90.cubin      sm_90   no-ptx           no-ltoir         not-relocatable  not-relocatable
untyped_90.cubin    sm_90   no-ptx           no-ltoir         unchecked-types  unchecked-types
"""
NEWER_TOOLKITS = """
file                target  ptx              lto              calls            sass
cuda_13.5.fatbin    all     toolkit-too-new  toolkit-too-new  toolkit-too-new  no-sass
newer_version.ptx   all     toolkit-too-new  no-ltoir         toolkit-too-new  no-sass
newer_header.ltoir  all     no-ptx           toolkit-too-new  toolkit-too-new  no-sass
unlisted.ltoir      all     no-ptx           toolkit-too-new  toolkit-too-new  no-sass
unlisted.fatbin     all     called           toolkit-too-new  toolkit-too-new  no-sass
other_major.ltoir   all     no-ptx           toolkit-major    toolkit-major    no-sass
"""
# The first bytes of files that FORMS links, in parts of the whole or as bytes that are missing. One outcome in all modes
# (of raw LTO-IR whose header is whole: in those that link LTO-IR), for both targets.
CUT = """
form       1             16               1/4              1/2              3/4              -1
.fatbin    unknown-form  corrupt-fatbin   corrupt-fatbin   corrupt-fatbin   corrupt-fatbin   corrupt-fatbin
.ptx       unknown-form  unknown-form     unknown-form     removed-functions corrupt-ptx      -
.ltoir     unknown-form  corrupt-ltoir    corrupt-ltoir    NVJITLINK_ERROR_NVVM_COMPILE NVJITLINK_ERROR_NVVM_COMPILE corrupt-ltoir
_80.cubin  unknown-form  corrupt-object   corrupt-cubin    corrupt-cubin    corrupt-cubin    corrupt-cubin
_90.cubin  unknown-form  corrupt-object   corrupt-cubin    corrupt-cubin    corrupt-cubin    corrupt-cubin
_lto.o     unknown-form  corrupt-object   corrupt-object   corrupt-object   corrupt-object   corrupt-object
_sass.o    unknown-form  corrupt-object   corrupt-object   corrupt-object   corrupt-object   corrupt-object
_lto.a     unknown-form  corrupt-archive  corrupt-archive  corrupt-archive  corrupt-archive  corrupt-archive
_sass.a    unknown-form  corrupt-archive  corrupt-archive  corrupt-archive  corrupt-archive  corrupt-archive
"""
# Files whose outcome does not depend on mode and target.
BAD_FILES = """
file             outcome          says
empty.ptx        empty-input      the file is empty
unknown.fatbin   unknown-form     none of the forms fatbin, ptx, ltoir, cubin, object, archive, source or nvvm-ir
folder.fatbin    unreadable-file  is a directory
pipe.fatbin      unreadable-file  is not a regular file
huge.fatbin      unreadable-file  more than the 1073741824 allowed
stated.ptx       digest-mismatch  is not the file that stated.json states
no_version.ptx   corrupt-ptx      where .version must be
nul.ptx          corrupt-ptx      has a NUL before its end
no_size.ptx      corrupt-ptx      has no .address_size 64
size_32.ptx      corrupt-ptx      has .address_size '32', not 64
garbage.ptx      corrupt-ptx      has 'garbage' where a directive must be (line
unbalanced.ptx   corrupt-ptx      ends inside a block (line
invisible.ptx    missing-hook     user_transform
damaged.ltoir    corrupt-ltoir    LTO-IR header of 25 bytes is not known, at byte 12
past_end.cubin   corrupt-cubin    damaged cubin: truncated
other_type_90.cubin corrupt-cubin damaged cubin: a section whose name and type do not belong together
whole.o          no-device-code   its device code (section .nv_fatbin) is a whole program and cannot be linked
host.o           no-device-code   holds no device code
program.o        no-device-code   its device code (section .nv_fatbin) is a whole program
thin.a           thin-archive     is a thin archive
cut.a            corrupt-archive  cut.a: truncated
host.a           no-device-code   no member holds device code that can be linked
"""


def setUpModule():
    FormTest.files = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-forms-"))
    unittest.addModuleCleanup(shutil.rmtree, FormTest.files)
    form_files.make(FormTest.files, "right", "double", "absent", with_others=True)
    edit_files(FormTest.files)


def rows(table):
    """The lines of a table as dictionaries."""
    head, *lines = [line.split() for line in table.strip().splitlines()]
    return [dict(zip(head, line)) for line in lines]


def targets_of(row):
    return ["sm_80", "sm_90"] if row["target"] == "all" else [row["target"]]


class FormTest(CliTest):
    """Links in a folder with the files of form_files.py."""
    files = None  # the folder; setUpModule makes it

    def setUp(self):
        super().setUp()
        self.need_nvjitlink()

    def need_older_nvjitlink(self):
        version = doctor()["nvjitlink"]["version"]
        if tuple(map(int, version.split("."))) >= (13, 5):
            self.skipTest(f"nvJitLink {version} reads code of CUDA 13.5")

    def link_cell(self, cell):
        """The outcome of a link, and what it says: the message and the file of an error."""
        target, mode, inputs = cell
        with tempfile.NamedTemporaryFile(suffix=".cubin") as image:
            done = subprocess.run([PROGRAM, "link", "--target", target, *MODES[mode], "--no-cache", "--json",
                                   "-o", image.name, *inputs], cwd=self.files, text=True, capture_output=True,
                                  timeout=300, env=self.environment({}))
        report = json.loads(done.stdout)
        if done.returncode == 0:
            return " ".join("inlined" if hook["inlined"] else "called" for hook in report["hooks"]), ""
        error = report["error"]
        self.assertTrue(error["hint"], error)
        self.assertEqual(done.returncode, 3 if FILE_ERRORS.match(error["code"]) else 4, error)
        return error["code"], f"{error['message']} ({error['input']})"

    def assert_cells(self, cells):
        """Cells: inputs, target, mode, outcome, the names that a refusal says."""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(self.link_cell, [(target, mode, inputs) for inputs, target, mode, _, _ in cells]))
        self.assertGreater(len(results), 0)
        for (inputs, target, mode, expected, names), (outcome, message) in zip(cells, results):
            with self.subTest(inputs=inputs, target=target, mode=mode):
                self.assertEqual(outcome, expected, message)
                for name in names if message else []:
                    self.assertIn(name, message)


def edit_files(folder):
    """Files that no compiler writes."""
    def write(name, content):
        (folder / name).write_bytes(content)

    def write_edited(name, original, *changes):
        data = bytearray((folder / original).read_bytes())
        for at, value in changes:
            data[at] = value
        write(name, bytes(data))

    for row in rows(FORMS):
        form = row["form"]
        whole = (folder / f"right{form}").read_bytes()
        if not form.endswith(".a"):
            write(f"again{form}", whole)
        for part, length in cuts(form, whole).items():
            write(f"cut{part.replace('/', '_')}{form}", whole[:length])
    ptx = (folder / "right.ptx").read_text()
    for name, pattern, text in (("newer_version", r"\.version 9\.\d", ".version 9.9"), ("no_version", r"\.version.*", ""),
                                ("no_size", r"\.address_size.*", ""), ("size_32", "address_size 64", "address_size 32"),
                                ("nul", "{", "{\0"), ("invisible", r"\.visible ", ""), ("stated", "^", ""),
                                ("garbage", r"\.visible[^$]*", "garbage\n"), ("unbalanced", r"\}\s*$", ""),
                                ("unassembled", r"\bret;", "return;")):
        write(f"{name}.ptx", re.sub(pattern, text, ptx).encode())
    write("stated.json", json.dumps({"sha256": "0" * 64}).encode())
    write("empty.ptx", b"")
    write("unknown.fatbin", b"\1\2\3\4\xff")
    (folder / "folder.fatbin").mkdir()
    os.mkfifo(folder / "pipe.fatbin")
    with open(folder / "huge.fatbin", "wb") as huge:
        huge.truncate((1 << 30) + 1)
    write_edited("newer_header.ltoir", "right.ltoir", (5, 67), (7, 131))  # of CUDA 13.5
    write_edited("unlisted.ltoir", "right.ltoir", (5, 68), (7, 140))      # of a CUDA newer than 13.5
    entry = (folder / "right.fatbin").read_bytes().index(b"\x08\0\1\1")  # of LTO-IR
    write_edited("unlisted.fatbin", "right.fatbin", (entry + 0x18, 68))
    write_edited("other_major.ltoir", "right.ltoir", (5, 64), (7, 93))    # of CUDA 12.9
    write_edited("damaged.ltoir", "right.ltoir", (12, 25))
    sections = (folder / "right_90.cubin").stat().st_size + 64  # where the section headers are
    write_edited("past_end.cubin", "right_90.cubin", *enumerate(sections.to_bytes(8, "little"), 0x28))
    # The section .nv.prototype, whose type is 0x70000002, becomes empty: sh_size is 28 bytes behind sh_type.
    cubin = (folder / "double_90.cubin").read_bytes()
    size = cubin.index(b"\x02\0\0\x70") + 28
    write("untyped_90.cubin", cubin[:size] + bytes(8) + cubin[size + 8:])
    write_edited("other_type_90.cubin", "double_90.cubin", (size - 26, 0x20))
    shutil.copy(folder / "program", folder / "program.o")
    write("cut.a", (folder / "right_lto.a").read_bytes()[:-100])
    form_files.archive(folder, "host.a", "host.o")
    form_files.archive(folder, "twice.a", "right.ltoir", "again.ltoir")
    subprocess.run(["ar", "rcsDT", "thin.a", "right_lto.o"], cwd=folder, check=True)
    for name in ("cuda_13.5.fatbin", "cuda_13.5.cubin"):
        shutil.copy(TOOLKITS / name, folder)


def cuts(form, whole):
    """The lengths of the columns of CUT. Raw LTO-IR must have a multiple of four bytes; PTX is cut before its function
    and in it."""
    size = len(whole)
    lengths = {"1": 1, "16": 16, "1/4": size // 4 | 1, "1/2": size // 2 & ~3, "3/4": size * 3 // 4 & ~3, "-1": size - 1}
    return {**lengths, "1/2": whole.index(b".visible"), "3/4": whole.index(b"{") + 1} if form == ".ptx" else lengths


def inputs_of(case, form):
    """The files of a case of REFUSALS."""
    if case == "twice" and not form.endswith(".a"):
        return [f"right{form}", f"again{form}"]
    return [f"{case}{form}"]


def names_of(outcome, inputs):
    """What a refusal must say."""
    if outcome == "missing-hook":
        return ["library.fatbin", "user_transform"]
    if outcome == "signature-mismatch":
        return ["library.fatbin", *inputs]
    if outcome == "duplicate-symbol" and inputs[0].endswith(".a"):
        kind = inputs[0].removeprefix("twice_").removesuffix(".a")
        return [f"{inputs[0]}(right_{kind}.o)", f"{inputs[0]}(again_{kind}.o)"]
    return inputs if outcome == "duplicate-symbol" else inputs[:1]


class Table(FormTest):
    def test_right_transforms_of_every_form_link_as_the_form_allows(self):
        self.assert_cells([(["library.fatbin", f"right{row['form']}"], target, mode, row[mode], [f"right{row['form']}"])
                           for row in rows(FORMS) for target in targets_of(row) for mode in MODES])

    def assert_library_may_have_every_form(self, target):
        self.assert_cells([([library, f"right{row['form']}"], target, mode, row[mode], [f"right{row['form']}"])
                           for library in ("library.o", "library.a") for row in rows(FORMS)
                           if target in targets_of(row) for mode in MODES])

    def test_the_library_may_have_every_form(self):
        self.assert_library_may_have_every_form("sm_90")

    @long_test  # the test above has sm_90
    def test_the_library_may_have_every_form_for_sm_80(self):
        self.assert_library_may_have_every_form("sm_80")

    def assert_shipped_library_takes_every_form(self, target):
        self.assert_cells([([str(LIBRARY), f"right{row['form']}"], target, mode, row[mode], [f"right{row['form']}"])
                           for row in rows(FORMS) if target in targets_of(row) for mode in ("ptx", "lto", "calls")])

    def test_the_shipped_library_takes_every_form_in_the_modes_that_it_has(self):
        self.assert_shipped_library_takes_every_form("sm_90")

    @long_test  # the test above has sm_90
    def test_the_shipped_library_takes_every_form_for_sm_80(self):
        self.assert_shipped_library_takes_every_form("sm_80")

    def refusals(self, case):
        exceptions = {(row["files"], target): row for row in rows(EXCEPTIONS) for target in targets_of(row)}
        cells = []
        for row in rows(FORMS):
            inputs = inputs_of(case, row["form"])
            for target in targets_of(row):
                for mode in MODES:
                    linked = REFUSALS[case] if row[mode] in ("called", "inlined") else row[mode]
                    outcome = exceptions.get((case + row["form"], target), {mode: linked})[mode]
                    cells.append((["library.fatbin", *inputs], target, mode, outcome, names_of(outcome, inputs)))
        return cells

    def test_double_of_double_is_refused_in_every_form(self):
        self.assert_cells(self.refusals("double"))

    @long_test  # test_double_of_double_is_refused_in_every_form is refused alike
    def test_float_of_two_floats_is_refused_in_every_form(self):
        form_files.make(self.folder, "right", "two")
        for file in self.folder.glob("two*"):
            shutil.copy(file, self.files)
        self.assert_cells(self.refusals("two"))

    def test_a_transform_without_the_hook_is_refused_in_every_form(self):
        self.assert_cells(self.refusals("absent"))

    def test_two_definitions_are_refused_in_every_form(self):
        self.assert_cells(self.refusals("twice"))

    def test_two_members_of_an_archive_with_raw_ltoir_that_define_the_hook_are_refused(self):
        names = ["twice.a(right.ltoir)", "twice.a(again.ltoir)"]
        self.assert_cells([(["library.fatbin", "twice.a", "--whole-archive"], "sm_90", "lto", "duplicate-symbol", names)])

    def assert_rows(self, table):
        self.assert_cells([(["library.fatbin", row["file"]], target, mode, row[mode], [row["file"]])
                           for row in rows(table) for target in targets_of(row) for mode in MODES])

    def test_code_for_newer_gpus_is_refused_in_every_form(self):
        self.assert_rows(TOO_NEW)

    def test_code_of_newer_toolkits_is_refused_in_every_form(self):
        self.need_older_nvjitlink()
        self.assert_rows(NEWER_TOOLKITS)
        self.assert_cells([(["cuda_13.5.cubin", "specific_90a.cubin"], "sm_90a", "sass", "toolkit-too-new",
                            ["cuda_13.5.cubin"])])

    def assert_cut_files_are_refused(self, target):
        cells = []
        for row in rows(CUT):
            form = row.pop("form")
            for part, outcome in row.items():
                name = f"cut{part.replace('/', '_')}{form}"
                modes = ("lto", "calls") if outcome.startswith("NVJITLINK_") else MODES
                cells += [(["library.fatbin", name], target, mode, outcome, [name]) for mode in modes if outcome != "-"]
        self.assert_cells(cells)

    def test_cut_files_are_refused_in_every_form(self):
        self.assert_cut_files_are_refused("sm_90")

    @long_test  # the test above has sm_90
    def test_cut_files_are_refused_in_every_form_for_sm_80(self):
        self.assert_cut_files_are_refused("sm_80")

    def test_whole_programs_and_cubins_without_types_are_refused(self):
        self.assert_rows(UNUSABLE_CUBINS)

    def test_text_of_the_form_of_ptx_that_does_not_assemble_is_refused_with_the_line_of_ptxas(self):
        self.assert_cells([(["library.fatbin", "unassembled.ptx"], target, mode, "NVJITLINK_ERROR_PTX_COMPILE",
                            ["unassembled.ptx", "line "]) for target in ("sm_80", "sm_90") for mode in ("ptx", "calls")])

    def test_bad_files_are_refused_in_every_mode(self):
        cells = []
        for line in BAD_FILES.strip().splitlines()[1:]:
            file, outcome, says = line.split(maxsplit=2)
            cells += [(["library.fatbin", f"./{file}"], target, mode, outcome, [*names_of(outcome, [file]), says])
                      for target in ("sm_80", "sm_90") for mode in MODES
                      if outcome != "missing-hook" or mode in ("ptx", "calls")]
        self.assert_cells(cells)


class Files(FormTest):
    """What single files give; the folder of a link is that of the class."""

    def image(self, form, mode, target="sm_90"):
        self.fatlink("link", "--target", target, *MODES[mode], "--no-cache", "-o", "out.cubin",
                     self.files / "library.fatbin", self.files / f"right{form}")
        return (self.folder / "out.cubin").read_bytes()

    def test_forms_of_one_source_link_to_one_cubin(self):
        for mode, first, others in (("lto", ".fatbin", [".ltoir", "_lto.o", "_lto.a"]),
                                    ("ptx", ".fatbin", [".ptx", "_lto.o", "_lto.a", "_sass.o", "_sass.a"]),
                                    ("sass", "_90.cubin", ["_sass.o", "_sass.a"])):
            expected = self.image(first, mode)
            for form in others:
                with self.subTest(mode=mode, form=form):
                    self.assertEqual(self.image(form, mode), expected)

    def link_with_cubin(self):
        return self.fatlink_json("link", "--target", "sm_90", *MODES["sass"], "--no-cache", "-o", "out.cubin",
                                 self.files / "library.fatbin", "t.cubin")["warnings"]

    def test_a_bare_cubin_is_not_verified_unless_a_file_beside_it_states_its_digest(self):
        data = (self.files / "right_90.cubin").read_bytes()
        self.file("t.cubin", data)
        self.assertIn("t.cubin states no digest, so damage may not be detected [unverified-bytes]",
                      self.link_with_cubin())
        self.file("t.json", json.dumps({"sha256": hashlib.sha256(data).hexdigest()}))
        self.assertEqual([warning for warning in self.link_with_cubin() if warning.startswith("t.cubin states no digest")],
                         [])

    def unverified(self, *inputs):
        """The hints for the inputs without digests, by the name that the finding says."""
        said = self.fatlink_json("check", "--target", "sm_90", "--mode", "sass", *inputs)
        return {finding["files"][0]: finding["hint"] for finding in said["targets"][0]["findings"]
                if finding["id"] == "unverified-bytes"}

    def test_the_command_that_is_advised_for_members_of_an_archive_verifies_the_archive(self):
        shutil.copy(self.files / "right_sass.a", self.folder / "my lib.a")
        hint = self.unverified(self.files / "library.fatbin", "my lib.a")["my lib.a(right_sass.o)"]
        self.assertIn("state the digest of a copy of my lib.a", hint)
        subprocess.run(hint[hint.index("echo "):], shell=True, check=True, cwd=self.folder)
        self.assertTrue((self.folder / "my lib.a.json").exists())
        self.assertNotIn("my lib.a(right_sass.o)", self.unverified(self.files / "library.fatbin", "my lib.a"))
        self.file("my lib.a", (self.folder / "my lib.a").read_bytes()[:-1] + b"x")
        self.assert_fails(3, "check", "my lib.a", says=["my lib.a: is not the file that my lib.a.json states"])

    def test_the_command_that_is_advised_for_a_file_packs_it_with_digests(self):
        shutil.copy(self.files / "right_90.cubin", self.folder / "t.cubin")
        hint = self.unverified(self.files / "library.fatbin", "t.cubin")["t.cubin"]
        command = hint[hint.index("fatlink pack"):].replace("FILE", "packed").split()
        self.fatlink(*command[1:])
        self.assertNotIn("packed.fatbin", self.unverified(self.files / "library.fatbin", "packed.fatbin"))

    def test_inspect_shows_the_size_of_ptx_text_and_not_that_of_its_padding(self):
        text = (self.files / "right.ptx").read_bytes()
        self.file("t.ptx", text + b"//")
        for name, size in (("t.ptx", len(text) + 2), (self.files / "right.ltoir", None), (self.files / "right_90.cubin", None)):
            entry = self.fatlink_json("inspect", name)["files"][0]["entries"][0]
            size = size or pathlib.Path(name).stat().st_size
            self.assertEqual((entry["bytes"], entry["stored_bytes"]), (size, size), name)
        self.fatlink("pack", "-o", "packed.fatbin", "t.ptx")
        self.assertEqual(self.fatlink_json("inspect", "packed.fatbin")["files"][0]["entries"][0]["bytes"], len(text) + 2)

    def test_a_json_of_another_file_of_the_stem_is_not_used(self):
        data = (self.files / "right_90.cubin").read_bytes()
        self.file("t.cubin", data)
        shutil.copy(self.files / "right.ptx", self.folder / "t.ptx")
        self.file("t.json", json.dumps({"sha256": hashlib.sha256(data).hexdigest()}))
        self.assertIn(", verified", self.fatlink("inspect", "t.cubin").stdout.splitlines()[0])
        self.assertIn(", without digests", self.fatlink("inspect", "t.ptx").stdout.splitlines()[0])
        self.file("t.cubin", data[:-1] + b"x")
        for name in ("t.cubin", "t.ptx"):
            self.assert_fails(3, "check", name, says=[f"{name}: is not the file that t.json states", "[digest-mismatch]"],
                              hint="if t.json belongs to another file, name it like that file with .json added")

    def test_a_cubin_does_not_run_on_the_reference_device(self):
        for options in ([], MODES["sass"]):
            with self.subTest(options=options):
                self.assert_fails(MISSING, "run", "--device", "cpu", *options, "--library",
                                  self.files / "library.fatbin", "--transform", self.files / "right_90.cubin",
                                  says=["the reference device", "SASS"])
        done = self.assert_fails(MISSING, "run", "--device", "cpu", "--library", self.files / "library.fatbin",
                                 "--transform", self.files / "right_90.cubin", says=["right_90.cubin holds SASS only"],
                                 hint="run on a GPU (--device gpu), or compile it to PTX: nvcc -dlto -fatbin")
        self.assertRegex(done.stderr, "code: +needs-gpu")

    def test_a_hook_that_is_not_visible_is_missing_and_the_hint_says_why(self):
        self.assert_fails(4, "link", "--target", "sm_90", *MODES["ptx"], "-o", "out.cubin",
                          self.files / "library.fatbin", self.files / "invisible.ptx",
                          says=["user_transform", "[missing-hook]"],
                          hint="invisible.ptx defines user_transform only for itself")


if __name__ == "__main__":
    unittest.main()
