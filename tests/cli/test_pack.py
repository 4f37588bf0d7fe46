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

from fatlink_cli import HOOK, LIBRARY, NVCC, PROGRAM
from pack_case import BOTH_75, FIXTURES, FORMS, LTO_75, PTX_75, RELU, SASS_100F, SASS_90, SASS_90A, Pack, ident_of


def tool(name):
    """The path of a program of nvcc's toolkit; None where it is not installed."""
    nvcc = shutil.which(NVCC) if NVCC else None
    path = pathlib.Path(nvcc).resolve().parent / name if nvcc else None
    return path if path and path.exists() else shutil.which(name)


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
        if not fatbinary or not shutil.which(NVCC):
            self.skipTest("nvcc and fatbinary of the CUDA toolkit are not installed")
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
