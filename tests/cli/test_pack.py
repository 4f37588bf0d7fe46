# SPDX-License-Identifier: Apache-2.0
"""`fatlink pack` writes one fatbin from several, with the same bytes whatever the order of the files."""
import base64
import hashlib
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import unittest

from fatlink_cli import HOOK, LIBRARY, NVCC, PROGRAM, SHARE, CliTest

FIXTURES = pathlib.Path(__file__).parent.parent / "fixtures"
FORMS = FIXTURES / "forms"
RELU = SHARE / "relu_poly.fatbin"
BOTH_75 = ("-dc", "-gencode", "arch=compute_75,code=[compute_75,lto_75]")
PTX_75 = ("-dc", "-gencode", "arch=compute_75,code=compute_75")
LTO_75 = ("-dlto", "-arch=lto_75")
PTX_90 = ("-dc", "-gencode", "arch=compute_90,code=compute_90")
SASS_90 = ("-dc", "-gencode", "arch=compute_90,code=sm_90")
SASS_90A = ("-dc", "-gencode", "arch=compute_90a,code=sm_90a")
SASS_100F = ("-dc", "-gencode", "arch=compute_100f,code=sm_100f")


def ident_of(members):
    return "-Xfatbin=-ident=" + base64.b64encode(json.dumps(members).encode()).decode()


def tool(name):
    """The path of a program of nvcc's toolkit; None where it is not installed."""
    nvcc = shutil.which(NVCC) if NVCC else None
    path = pathlib.Path(nvcc).resolve().parent / name if nvcc else None
    return path if path and path.exists() else shutil.which(name)


class Pack(CliTest):
    def pack(self, *files, output="out.fatbin", **options):
        done = self.fatlink("pack", "-o", output, *files, **options)
        return done, (self.folder / output).read_bytes()

    def refuse(self, finding, *files, says):
        done = self.assert_fails(4, "pack", "-o", "out.fatbin", *files,
                                 says=["cannot pack out.fatbin: ", f"[{finding}]", *says])
        return done.stderr

    def entries(self, file):
        return self.fatlink_json("inspect", file)["files"][0]["entries"]

    def kinds(self, file):
        return [f"{entry['kind']}:{entry['target']}" for entry in self.entries(file)]

    def ident(self, file):
        content = pathlib.Path(self.folder / file).read_bytes()
        start = content.index(b"eyJmYXRsaW5r")
        return json.loads(base64.b64decode(content[start:content.index(b"\0", start)]))

    def payloads(self, file):
        """Of each entry its flags, its payload as stored, and the rest of its header without ident."""
        content = pathlib.Path(file).read_bytes()
        result = {}
        for entry in self.entries(file):
            at = entry["offset"]
            header = int.from_bytes(content[at + 4:at + 8], "little")
            fields = content[at + 0x18:at + 0x20] + content[at + 0x28:at + 0x40]
            payload = content[at + header:at + header + entry["stored_bytes"]]
            result[f"{entry['kind']}:{entry['target']}"] = fields, payload, entry["options"]
        return result


class Writes(Pack):
    def test_every_entry_of_the_files_as_it_is_stored(self):
        files = [self.compile("both", HOOK, *BOTH_75), self.compile("sass", HOOK, *SASS_90),
                 self.compile("exact", HOOK, *SASS_90A), self.compile("family", HOOK, *SASS_100F)]
        self.pack(*files)
        self.assertEqual(self.kinds("out.fatbin"),
                         ["ptx:sm_75", "ltoir:sm_75", "elf:sm_90", "elf:sm_90a", "elf:sm_100f"])
        stored = {}
        for file in files:
            stored.update(self.payloads(file))
        self.assertEqual(self.payloads(self.folder / "out.fatbin"), stored)

    def test_the_same_bytes_whatever_the_order_of_the_files(self):
        one = {"fatlink": 1, "contract": "c", "version": 1, "toolkit": "13.0.88", "newer": [1]}
        other = dict(reversed(one.items()))
        files = [self.compile("both", HOOK, *BOTH_75, ident_of(one)),
                 self.compile("sass", HOOK, *SASS_90, ident_of(other)),
                 self.compile("exact", HOOK, *SASS_90A, ident_of(one))]
        written = {self.pack(*order)[1] for order in itertools.permutations(files)}
        self.assertEqual(len(written), 1)

    def test_one_fatbin_of_fatlink_add_fatbin_unchanged(self):
        self.assertEqual(self.pack(RELU)[1], RELU.read_bytes())
        self.assertEqual(json.loads((self.folder / "out.json").read_text()),
                         json.loads(RELU.with_suffix(".json").read_text()))

    def test_what_it_packed_again_unchanged(self):
        first = self.pack(FIXTURES / "several_kinds.fatbin")[1]
        self.assertEqual(self.pack("out.fatbin", output="again.fatbin")[1], first)

    def test_what_fatbinary_of_nvidia_writes_with_the_same_ident(self):
        fatbinary = tool("fatbinary")
        if not fatbinary:
            self.skipTest("fatbinary of the CUDA toolkit is not installed")
        self.file("t.cu", HOOK)
        for words in (["-ptx", "-rdc=true", "-arch=sm_75", "-o", "t.ptx"],
                      ["-cubin", "-rdc=true", "-arch=sm_90", "-o", "t.cubin"],
                      ["-cubin", "-rdc=true", "-arch=sm_100a", "-o", "t100.cubin"]):
            subprocess.run([NVCC, *words, "t.cu"], cwd=self.folder, check=True)
        images = ["kind=ptx,sm=75,file=t.ptx", "kind=elf,sm=90,file=t.cubin", "kind=elf,sm=100a,file=t100.cubin"]

        def create(name, ident, *images):
            subprocess.run([fatbinary, f"--create={name}", "-64", *([f"--ident={ident}"] if ident else []),
                            *(f"--image3={image}" for image in images), "--device-c"], cwd=self.folder, check=True)

        for index, image in enumerate(images):
            create(f"{index}.fatbin", "", image)
        written = self.pack("2.fatbin", "0.fatbin", "1.fatbin")[1]
        ident = base64.b64encode(json.dumps(self.ident("out.fatbin"), separators=(",", ":")).encode()).decode()
        create("nvidia.fatbin", ident, *images)
        self.assertEqual(written, (self.folder / "nvidia.fatbin").read_bytes())

    def test_what_cuobjdump_reads(self):
        cuobjdump = tool("cuobjdump")
        if not cuobjdump:
            self.skipTest("cuobjdump of the CUDA toolkit is not installed")
        self.pack(FIXTURES / "several_kinds.fatbin")

        def listed(file):
            text = subprocess.run([cuobjdump, "-lelf", "-lptx", file], cwd=self.folder, check=True, text=True,
                                  capture_output=True).stdout
            return sorted(re.findall(r"sm_\w+[.](?:ptx|cubin)$", text, re.M))

        self.assertEqual(listed("out.fatbin"), listed(FIXTURES / "several_kinds.fatbin"))
        self.assertEqual(len(listed("out.fatbin")), 5)

    def test_standard_output_without_a_sidecar(self):
        words = ["pack", FIXTURES / "several_kinds.fatbin", "-o"]
        self.fatlink(*words, "out.fatbin")
        done = subprocess.run([PROGRAM, *map(str, words), "-"], cwd=self.folder, capture_output=True, check=True)
        self.assertEqual(done.stdout, (self.folder / "out.fatbin").read_bytes())
        self.assertIn(b"elf:sm_100f", done.stderr)

    def test_a_fatbin_that_links_in_both_modes_as_its_parts_do(self):
        both = self.compile("both", HOOK, *BOTH_75)
        self.pack(both, self.compile("sass", HOOK.replace("return x", "return 9 * x"), *SASS_90))
        for mode in ("ptx", "lto"):
            self.link(LIBRARY, both, mode=mode)
            image = (self.folder / "out.cubin").read_bytes()
            self.link(LIBRARY, "out.fatbin", mode=mode)
            self.assertEqual((self.folder / "out.cubin").read_bytes(), image, mode)

    def test_json_names_the_file_of_each_entry(self):
        both, sass = self.compile("both", HOOK, *BOTH_75), self.compile("sass", HOOK, *SASS_90)
        shown = self.fatlink_json("pack", "-o", "out.fatbin", sass, both)
        self.assertEqual([(entry["kind"], entry["target"], entry["file"]) for entry in shown["entries"]],
                         [("ptx", "sm_75", str(both)), ("ltoir", "sm_75", str(both)), ("elf", "sm_90", str(sass))])
        self.assertEqual((shown["output"], shown["sidecar"]), ("out.fatbin", "out.json"))
        content = (self.folder / "out.fatbin").read_bytes()
        self.assertEqual((shown["bytes"], shown["sha256"]), (len(content), hashlib.sha256(content).hexdigest()))
        self.assertNotIn("contract", shown)


class Idents(Pack):
    CONTRACT = {"fatlink": 1, "contract": "c", "version": 1, "header_sha256": "00", "hooks": {"user_transform": "FffE"},
                "toolkit": "13.0.88", "package": "p 1.0"}

    def compiled(self, name, options, **changes):
        return self.compile(name, HOOK, *options, ident_of({**self.CONTRACT, **changes}))

    def test_members_that_all_files_state_stay_and_others_go(self):
        self.pack(self.compiled("both", BOTH_75), self.compiled("sass", SASS_90, toolkit="13.1.0", header_sha256="11"))
        stated = self.ident("out.fatbin")
        self.assertEqual({name: stated[name] for name in stated if name not in ("entries", "check")},
                         {"fatlink": 1, "contract": "c", "version": 1, "hooks": {"user_transform": "FffE"}, "package": "p 1.0"})

    def test_the_option_package_states_another_package(self):
        self.pack(self.compiled("both", BOTH_75), "--package", "mine 2.0~rc1")
        self.assertEqual(self.ident("out.fatbin")["package"], "mine 2.0~rc1")
        for text in ("a b c", " a", "a\tb", "ä", "x" * 300):
            self.assert_fails(2, "pack", "-o", "new.fatbin", "both.fatbin", "--package", text,
                              says=["--package: ", "is not a name, or a name and a version"])

    def test_a_contract_that_one_file_does_not_state_is_not_kept(self):
        done, _ = self.pack(self.compiled("both", BOTH_75), self.compile("sass", HOOK, *SASS_90))
        self.assertNotIn("contract", self.ident("out.fatbin"))
        self.assertIn("fatlink: warning: out.fatbin does not state contract c/1 of", done.stderr)
        self.assertIn("sass.fatbin states no contract", done.stderr)

    def test_different_contracts_are_refused(self):
        both = self.compiled("both", BOTH_75)
        for name, changes, says in (("version", {"version": 2}, "c/2"), ("name", {"contract": "d"}, "contract d/1"),
                                    ("hooks", {"hooks": {"user_transform": "FiiE"}}, "which declares int user_transform(int)")):
            with self.subTest(name=name):
                other = self.compiled(name, SASS_90, **changes)
                self.refuse("contract-mismatch", both, other, says=["both.fatbin", f"{name}.fatbin", says])

    def test_an_ident_of_another_tool_is_refused(self):
        file = self.compile("other", HOOK, *SASS_90, "-Xfatbin=-ident=vendor")
        self.assert_fails(3, "pack", "-o", "out.fatbin", file, says=["other.fatbin: has an ident that is not of fatlink"],
                          hint="build it again without -ident")

    def test_an_ident_of_a_newer_fatlink_is_refused(self):
        file = self.compile("newer", HOOK, *SASS_90, ident_of({"fatlink": 9}))
        self.assert_fails(3, "pack", "-o", "out.fatbin", file, says=["newer.fatbin: has an ident of a newer fatlink"],
                          hint="install a newer package fatlink-runtime")


class Integrity(Pack):
    def test_the_result_is_verified_by_its_digests_and_its_sidecar(self):
        self.pack(FIXTURES / "several_kinds.fatbin")
        content = (self.folder / "out.fatbin").read_bytes()
        self.assertEqual(json.loads((self.folder / "out.json").read_text()),
                         {"sha256": hashlib.sha256(content).hexdigest()})
        self.assertTrue(self.fatlink_json("inspect", "out.fatbin")["files"][0]["verified"])
        (self.folder / "out.json").unlink()
        self.assertTrue(self.fatlink_json("inspect", "out.fatbin")["files"][0]["verified"])

    def test_a_damaged_result_is_refused_with_and_without_its_sidecar(self):
        self.pack(FIXTURES / "several_kinds.fatbin")
        file = self.folder / "out.fatbin"
        content = bytearray(file.read_bytes())
        content[-10] ^= 1
        file.write_bytes(content)
        self.assert_fails(3, "check", LIBRARY, file, says=["is not the file that out.json states", "[digest-mismatch]"])
        (self.folder / "out.json").unlink()
        self.assert_fails(3, "check", LIBRARY, file, says=["out.fatbin: was damaged after it was built",
                                                           "elf:sm_100f entry"])

    def test_a_damaged_input_is_refused(self):
        content = bytearray(RELU.read_bytes())
        content[-10] ^= 1
        self.file("damaged.fatbin", bytes(content))
        self.assert_fails(3, "pack", "-o", "out.fatbin", "damaged.fatbin", says=["was damaged after it was built"])

    def test_types_of_ltoir_are_not_those_of_the_ptx_of_another_file(self):
        wrong = HOOK.replace("float", "double")
        self.pack(self.compile("ptx", HOOK, *PTX_75), self.compile("lto", wrong, *LTO_75))
        self.assertEqual(self.ident("out.fatbin")["opaque"], ["sm_75"])
        done = self.link(LIBRARY, "out.fatbin", status=4)
        self.assertIn("signature-mismatch", done.stderr)
        self.pack("out.fatbin", self.compile("sass", HOOK, *SASS_90), output="again.fatbin")
        self.assertEqual(self.ident("again.fatbin")["opaque"], ["sm_75"])

    def test_ltoir_whose_types_agree_with_the_ptx_of_another_file_links(self):
        self.pack(self.compile("ptx", HOOK, *PTX_75), self.compile("lto", HOOK, *LTO_75))
        self.assertIn("user_transform inlined", self.link(LIBRARY, "out.fatbin").stdout)

    def test_ltoir_and_ptx_of_one_file_describe_each_other(self):
        self.pack(self.compile("both", HOOK, *BOTH_75), self.compile("sass", HOOK, *SASS_90))
        self.assertNotIn("opaque", self.ident("out.fatbin"))


class Forms(Pack):
    def test_of_one_source_make_one_fatbin(self):
        files = [FORMS / name for name in ("transform.ptx", "transform.ltoir", "relocatable.cubin")]
        _, content = self.pack(*files)
        self.assertEqual(self.kinds("out.fatbin"), ["ptx:sm_75", "ltoir:sm_75", "elf:sm_90"])
        self.assertEqual(self.pack(*reversed(files))[1], content)
        for mode in ("ptx", "lto"):
            with self.subTest(mode=mode):
                self.fatlink("link", "--no-cache", "--mode", mode, "--target", "sm_90", "-o", "o", LIBRARY, "out.fatbin")

    def test_the_digest_of_a_packed_cubin_is_known(self):
        self.pack(FORMS / "relocatable.cubin")
        self.assertTrue(self.fatlink_json("inspect", "out.fatbin")["files"][0]["verified"])

    def test_an_archive_gives_its_members(self):
        self.pack(FORMS / "transform.a")
        self.assertEqual(self.kinds("out.fatbin"), ["ptx:sm_75", "ltoir:sm_75"])


class Refuses(Pack):
    def test_two_entries_of_one_kind_and_target(self):
        a, b = self.compile("a", HOOK, *BOTH_75), self.compile("b", HOOK, *PTX_75)
        stderr = self.refuse("duplicate-entry", a, b, says=[f"{a} and {b} both hold ptx:sm_75"])
        self.assertIn("pass other translation units to the link as inputs of their own", stderr)
        self.refuse("duplicate-entry", a, a, says=["a.fatbin holds two ptx:sm_75 entries"])

    def test_a_file_of_two_translation_units(self):
        content = self.compile("a", HOOK, *PTX_75).read_bytes()
        self.file("two.fatbin", content + content)
        self.refuse("duplicate-entry", "two.fatbin", says=["two.fatbin holds two ptx:sm_75 entries"])

    def test_files_of_different_sources(self):
        a = self.compile("a", HOOK, *PTX_75)
        for name, source, says in (
                ("name", HOOK.replace("user", "other"), "defines (b32) user_transform(b32), and"),
                ("more", HOOK + 'extern "C" __global__ void k() {}', "more.fatbin (ptx:sm_90) defines the kernel k(), and"),
                ("type", HOOK.replace("float", "double"), "type.fatbin (ptx:sm_90) defines (b64) user_transform(b64)"),
                ("hook", 'extern "C" __device__ float user_transform(float);\n'
                         '__global__ void k(float* x) { *x = user_transform(*x); }', "user_transform"),
                ("data", HOOK + 'extern "C" { __device__ int data; }', "defines global align 4 u32 data")):
            with self.subTest(name=name):
                b = self.compile(name, source, *PTX_90)
                self.refuse("interface-mismatch", a, b, says=["a.fatbin (ptx:sm_75)", f"{name}.fatbin", says])

    def test_no_files_whose_weak_functions_differ(self):
        inline = "__device__ __noinline__ inline int more(int x) { return x; }\n"
        a = self.compile("a", HOOK, *PTX_75)
        b = self.compile("b", inline + HOOK.replace("return x", "return more(x)"), *PTX_90)
        self.assertEqual(self.pack(a, b)[0].returncode, 0)

    def test_variables_of_one_name_and_different_types(self):
        a = self.compile("a", 'extern "C" { __device__ int data = 1; }', *PTX_75)
        b = self.compile("b", 'extern "C" { __device__ double data = 1; }', *PTX_90)
        self.refuse("interface-mismatch", a, b, says=["defines global align 4 u32 data", "defines global align 8"])

    def test_to_overwrite_an_input_or_its_sidecar(self):
        file = self.folder / "in.fatbin"
        shutil.copy(RELU, file)
        shutil.copy(RELU.with_suffix(".json"), self.folder / "in.json")
        (self.folder / "link.fatbin").symlink_to("in.fatbin")
        content = file.read_bytes()
        for output, shown in (("in.fatbin", "in.fatbin"), ("link.fatbin", "link.fatbin"), ("in", "in.json")):
            self.assert_fails(2, "pack", "-o", output, "in.fatbin", says=[f"{shown} is also an input"])
        self.assertEqual(file.read_bytes(), content)

    def test_the_name_of_a_sidecar(self):
        self.assert_fails(2, "pack", "-o", "out.json", RELU, says=["a fatbin and its sidecar cannot have one name"],
                          hint="name the fatbin x.fatbin")

    def test_a_cubin_of_another_type_than_the_ptx(self):
        self.refuse("interface-mismatch", FORMS / "transform.ptx", FORMS / "double.cubin",
                    says=["user_transform(b32)", "user_transform(b64)"])

    def test_a_whole_program_which_no_link_takes(self):
        self.refuse("not-relocatable", FORMS / "whole_program.cubin",
                    says=["whole_program.cubin holds a whole-program cubin for sm_90, which no link takes"])

    def test_what_has_no_input_form(self):
        self.file("t.fatbin", "text")
        self.assert_fails(3, "pack", "-o", "out.fatbin", "t.fatbin",
                          says=["t.fatbin: is text, none of the forms fatbin, ptx,"])

    def test_a_folder_that_does_not_exist(self):
        self.assert_fails(3, "pack", "-o", "no/out.fatbin", RELU, says=["no/out.fatbin"])


class Sidecars(Pack):
    REFERENCE = {"name": "same", "summary": "x", "hook": "user_transform", "reference": "x", "tolerance_ulp": 0}

    def setUp(self):
        super().setUp()
        self.files = [self.compile("a", HOOK, *BOTH_75), self.compile("b", HOOK, *SASS_90)]

    def sidecar(self):
        stated = json.loads((self.folder / "out.json").read_text())
        self.assertEqual(stated.pop("sha256"), hashlib.sha256((self.folder / "out.fatbin").read_bytes()).hexdigest())
        return stated

    def test_a_reference_that_a_file_states_is_kept(self):
        self.file("a.json", json.dumps(self.REFERENCE))
        self.pack(*self.files)
        self.assertEqual(self.sidecar(), self.REFERENCE)

    def test_different_references_are_not_kept_with_a_warning(self):
        self.file("a.json", json.dumps(self.REFERENCE))
        self.file("b.json", json.dumps({**self.REFERENCE, "reference": "2*x"}))
        done, _ = self.pack(*self.files)
        self.assertEqual(self.sidecar(), {})
        self.assertIn("fatlink: warning: out.json states no reference, because ", done.stderr)

    def test_the_reference_of_an_existing_sidecar_stays(self):
        self.file("a.json", json.dumps(self.REFERENCE))
        self.file("out.json", json.dumps({"name": "mine", "summary": "y", "sha256": "0" * 64}))
        self.pack(*self.files)
        self.assertEqual(self.sidecar(), {"name": "mine", "summary": "y"})

    def test_an_existing_reference_of_other_bytes_stays_with_a_warning(self):
        self.file("a.json", json.dumps(self.REFERENCE))
        first, _ = self.pack(*self.files)
        again, _ = self.pack(*self.files)
        self.file("c.json", json.dumps({**self.REFERENCE, "reference": "9*x"}))
        other, _ = self.pack(self.compile("c", HOOK.replace("return x", "return 9 * x"), *BOTH_75))
        warning = "fatlink: warning: out.json keeps what it states about another out.fatbin, which is replaced"
        self.assertNotIn(warning, first.stderr + again.stderr)
        self.assertIn(warning, other.stderr)
        self.assertEqual(self.sidecar(), self.REFERENCE)

    def test_the_sidecar_of_another_ending_has_the_whole_name(self):
        self.pack(*self.files)
        neighbor = (self.folder / "out.json").read_bytes()
        self.assertEqual(self.fatlink_json("pack", "-o", "out.bin", RELU)["sidecar"], "out.bin.json")
        self.assertEqual((self.folder / "out.json").read_bytes(), neighbor)
        for name in ("out.bin", "out.fatbin"):
            self.assertTrue(self.fatlink_json("inspect", f"./{name}")["files"][0]["verified"])
        (self.folder / "out.bin").write_bytes((self.folder / "out.fatbin").read_bytes())
        self.assert_fails(3, "inspect", "--ptx", "./out.bin", says=["out.bin: is not the file that out.bin.json states"])

    def test_the_sidecar_of_another_fatbin_is_not_replaced(self):
        self.pack(*self.files)
        self.assert_fails(2, "pack", "-o", "out", RELU, says=["out: its sidecar would be out.json, which is that of out.fatbin"],
                          hint="name it x.fatbin, or choose another stem")

    def test_json_of_another_program_beside_an_object_states_nothing(self):
        shutil.copy(FORMS / "transform.ptx", self.folder / "t.ptx")
        self.file("t.json", '{"traceEvents": []}')
        self.pack("t.ptx")
        self.assertEqual(self.sidecar(), {})

    def test_a_malformed_sidecar_is_refused_and_nothing_is_written(self):
        self.file("out.json", "{")
        self.assert_fails(3, "pack", "-o", "out.fatbin", *self.files, says=["out.json: is not JSON"])


if __name__ == "__main__":
    unittest.main()
