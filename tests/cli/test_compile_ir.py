# SPDX-License-Identifier: Apache-2.0
"""`fatlink compile` of LLVM IR, as text and as bitcode, and LLVM IR as an input of other commands."""
import json
import pathlib
import unittest

from fatlink_cli import LIBRARY, SHARE, CliTest, doctor

IR = pathlib.Path(__file__).parent.parent / "fixtures" / "ir"
DECLARATION = "the contract apply_transform/1 declares: extern \"C\" __device__ float user_transform(float x);"
REFERENCE = {"hook": "user_transform", "tolerance_ulp": 4}


class LlvmIr(CliTest):
    def setUp(self):
        super().setUp()
        if "version" not in doctor()["libnvvm"]:
            self.skipTest("no libNVVM on this machine")

    def environment(self, changes):
        return super().environment({"FATLINK_PATH": str(SHARE), **changes})

    def source(self, name, old="", new=""):
        """A copy of a file of tests/fixtures/ir with a change of its text."""
        content = (IR / name).read_bytes()
        self.assertIn(old.encode(), content)
        return self.file(name, content.replace(old.encode(), new.encode()))

    def compile_ir(self, source, *words, status=0, **options):
        return self.fatlink("compile", source, "-o", "out.fatbin", *words, status=status, **options)

    def assert_refused(self, source, *words, says, status=4, code="compile-failed", hint="hint:"):
        done = self.assert_fails(status, "compile", source, "-o", "out.fatbin", *words, says=[says], hint=hint)
        self.assertIn(f"code:   {code}\n", done.stderr)

    def need_nvrtc(self):
        if "version" not in doctor()["nvrtc"]:
            self.skipTest("no NVRTC on this machine, which reads contracts")

    def test_text_and_bitcode_become_a_fatbin_with_its_sidecar(self):
        for name in ("half.ll", "half.bc", "sine.ll", "sine.bc"):
            with self.subTest(name=name):
                said = json.loads(self.compile_ir(self.source(name), "--arch", "75,100", "--json").stdout)
                self.assertEqual([f"{entry['kind']}:{entry['target']}" for entry in said["entries"]],
                                 ["ptx:sm_75", "ltoir:sm_75", "ptx:sm_100", "ltoir:sm_100"])
                self.assertRegex(said["producer"], r"^libNVVM 1[3-9]\.\d+$")
                shown, = self.fatlink_json("inspect", "out.fatbin")["files"]
                self.assertTrue(shown["verified"])
                self.assertEqual(shown["entries"][0]["definitions"], ["(b32) user_transform(b32)"])
                self.assertEqual(shown["entries"][0]["hooks"], [])

    def test_two_compiles_in_two_folders_give_the_same_bytes(self):
        for name in ("half.ll", "half.bc"):
            for words in ([], ["--line-info"]):
                made = set()
                for folder in ("one", "two/deep"):
                    (self.folder / folder).mkdir(parents=True, exist_ok=True)
                    self.file(f"{folder}/{name}", (IR / name).read_bytes())
                    for path in (f"{folder}/{name}", self.folder / folder / name):
                        self.compile_ir(path, "--no-cache", *words)
                        made.add((self.folder / "out.fatbin").read_bytes())
                with self.subTest(name=name, words=words):
                    self.assertEqual(len(made), 1)

    def test_the_second_compile_opens_no_libnvvm(self):
        source = self.source("half.ll")
        caches = [json.loads(self.compile_ir(source, "--json").stdout)["cache"] for _ in range(2)]
        self.assertEqual(caches, ["miss", "hit"])

    def test_is_taken_as_a_transform_and_verified_in_both_modes(self):
        self.need_nvrtc()
        for name, reference in (("half.ll", "x / 2"), ("half.bc", "x / 2"), ("sine.ll", "sin(x)"), ("sine.bc", "sin(x)")):
            with self.subTest(name=name):
                self.compile_ir(self.source(name), "--contract", "apply_transform")
                sidecar = json.loads((self.folder / "out.json").read_text())
                self.file("out.json", json.dumps({**sidecar, **REFERENCE, "name": "out", "summary": name,
                                                  "reference": reference}))
                said = self.fatlink_json("run", "--device", "cpu", "--library", LIBRARY, "--transform", "out.fatbin")
                self.assertEqual([(mode["mode"], mode["verified"]) for mode in said["modes"]],
                                 [("ptx", True), ("lto", True)])
                # The file itself, compiled for the contract of the library.
                said = self.fatlink_json("run", "--device", "cpu", "--library", LIBRARY, "--transform", name)
                self.assertEqual([mode["inlined"] for mode in said["modes"]], [False, True])

    def test_an_error_has_the_line_and_the_column(self):
        self.assert_refused(self.source("half.ll", "ret float %y", "ret float %z"),
                            says="half.ll:8:13: error: use of undefined value '%z'",
                            hint="for sm_75, as for every target below sm_100, libNVVM reads the LLVM IR of LLVM 7")

    def test_opaque_pointers_below_sm_100_are_explained(self):
        for name in ("opaque.ll", "opaque.bc"):
            with self.subTest(name=name):
                source = self.source(name)
                self.assert_refused(source, says=name, hint="compile for sm_100 and newer only")
                self.compile_ir(source, "--arch", "100")

    def test_a_module_without_the_version_says_which_lines_to_add(self):
        self.assert_refused(self.source("half.ll", "!nvvmir.version", "!other"),
                            says="half.ll: error: IR version",
                            hint="!nvvmir.version = !{!0} and !0 = !{i32 2, i32 0}")

    def test_a_module_without_data_layout_says_which_line_to_add(self):
        self.assert_refused(self.source("half.ll", "target datalayout", "; "), "--arch", "100",
                            says="half.ll: states no target datalayout",
                            hint="add: target datalayout = \"e-p:64:64:64-")

    def test_another_type_is_refused_with_the_declaration(self):
        self.need_nvrtc()
        for old, new, says in (
                ("float @user_transform(float %x)", "float @user_transform(float %x, i32 %n)", "defines (b32) user_transform(b32, b32)"),
                ("float @user_transform(float %x) {\n  %y = fmul float %x, 5.0e-1\n  ret float %y",
                 "i32 @user_transform(i32 %x) {\n  ret i32 %x", "half.ll: defines user_transform with the type i32 (i32)")):
            with self.subTest(new=new):
                self.assert_refused(self.source("half.ll", old, new), "--contract", "apply_transform",
                                    says=says, code="signature-mismatch", hint=DECLARATION)

    def install_contract(self, declaration):
        """A contract `scale` whose hook is user_transform."""
        data = self.folder / "data/contracts"
        data.mkdir(parents=True, exist_ok=True)
        (data / "scale.cuh").write_text(f'extern "C" __device__ {declaration};\n')
        (data / "scale.json").write_text(json.dumps({"fatlink_contract": 1, "contract": "scale", "version": 1,
                                                     "header": "scale.cuh", "hooks": ["user_transform"]}))
        return {"env": {"FATLINK_PATH": str(self.folder / "data")}}

    def test_another_type_is_refused_however_it_is_written(self):
        self.need_nvrtc()
        old = "define float @user_transform(float %x) {\n  %y = fmul float %x, 5.0e-1\n  ret float %y"
        for new in ("define i32\n@user_transform(i32 %x) {\n  ret i32 5", 'define i32 @"user_\\74ransform"(i32 %x) {\n  ret i32 5',
                    "define i32 @user_transform(\ni32 %x) {\n  ret i32 5"):
            for architecture in ("75", "100"):
                with self.subTest(new=new, architecture=architecture):
                    self.assert_refused(self.source("half.ll", old, new), "--contract", "apply_transform", "--arch", architecture,
                                        says="half.ll: ", code="signature-mismatch", hint=DECLARATION)

    def test_another_type_in_bitcode_is_refused(self):
        self.need_nvrtc()
        options = self.install_contract("int user_transform(int)")
        source = self.source("half.bc")
        for architecture in ("75", "100"):
            done = self.compile_ir(source, "--contract", "scale", "--arch", architecture, status=4, **options)
            self.assertIn("half.bc: defines or calls a hook with another type than the contract scale/1", done.stderr)
            self.assertIn("code:   signature-mismatch\n", done.stderr)

    def test_a_type_that_cannot_be_compared_states_no_contract(self):
        self.need_nvrtc()
        options = self.install_contract("short user_transform(short)")
        source = self.source("half.ll", "float @user_transform(float %x) {\n  %y = fmul float %x, 5.0e-1\n  ret float %y",
                             "i32 @user_transform(i32 %x) {\n  ret i32 %x")
        done = self.compile_ir(source, "--contract", "scale", **options)
        self.assertIn("half.ll: states no contract: in LLVM IR, the types of its hooks cannot be compared with those of the contract scale/1", done.stderr)
        self.assertNotIn("contract    scale", self.fatlink("inspect", "out.fatbin").stdout)

    def test_pointers_agree_with_those_of_the_contract(self):
        self.need_nvrtc()
        options = self.install_contract("float user_transform(float const*)")
        for architecture, pointer, load in (("75", "float*", "float, float* %x"), ("100", "ptr", "float, ptr %x")):
            source = self.source("half.ll", "float @user_transform(float %x) {\n  %y = fmul float %x, 5.0e-1\n",
                                 f"float @user_transform({pointer} %x) {{\n  %y = load {load}\n")
            self.compile_ir(source, "--contract", "scale", "--arch", architecture, **options)
            self.assertIn("float user_transform(float const*)", self.fatlink("inspect", "out.fatbin").stdout)

    def test_a_kernel_that_calls_the_hook_with_another_type_is_refused(self):
        self.need_nvrtc()
        options = self.install_contract("float user_transform(float)")
        for type, status in (("float", 0), ("i32", 4)):
            source = self.source("half.ll", "define float @user_transform(float %x) {\n  %y = fmul float %x, 5.0e-1\n  ret float %y",
                                 f"declare {type} @user_transform({type})\ndefine {type} @call({type} %x) {{\n"
                                 f"  %y = call {type} @user_transform({type} %x)\n  ret {type} %y")
            done = self.compile_ir(source, "--contract", "scale", status=status, **options)
            self.assertEqual("code:   signature-mismatch\n" in done.stderr, bool(status))

    def test_the_address_of_the_hook_may_be_taken(self):
        self.need_nvrtc()
        old = "define float @user_transform(float %x) {\n  %y = fmul float %x, 5.0e-1\n  ret float %y\n}"
        source = self.source("half.ll", old, old + "\ndefine float @other(float %x) {\n  ret float %x\n}\n"
                             "define float @pick(i1 %c, float %x) {\n"
                             "  %f = select i1 %c, float (float)* @user_transform, float (float)* @other\n"
                             "  %y = call float %f(float %x)\n  ret float %y\n}")
        self.compile_ir(source, "--contract", "apply_transform")
        self.assertIn("contract    apply_transform", self.fatlink("inspect", "out.fatbin").stdout)

    def test_a_function_named_like_the_comparison_is_no_obstacle(self):
        self.need_nvrtc()
        old = "define float @user_transform(float %x) {"
        source = self.source("half.ll", old, "define float @fatlink_calls_user_transform(float %x) {\n  ret float %x\n}\n" + old)
        self.compile_ir(source, "--contract", "apply_transform")
        self.assertIn("contract    apply_transform", self.fatlink("inspect", "out.fatbin").stdout)

    def test_the_header_of_the_contract_is_part_of_the_key(self):
        self.need_nvrtc()
        source = self.source("half.ll")
        self.compile_ir(source, "--contract", "scale", **self.install_contract("float user_transform(float)"))
        self.compile_ir(source, "--contract", "scale", status=4, **self.install_contract("int user_transform(int)"))

    def test_a_module_without_the_hook_is_refused(self):
        self.need_nvrtc()
        self.assert_refused(self.source("half.ll", "@user_transform", "@user_transfrom"), "--contract", "apply_transform",
                            says="neither defines nor calls a hook", code="missing-hook", hint="did you mean user_transform?")
        self.assert_refused(self.file("empty.ll", ""), "--contract", "apply_transform",
                            says="empty.ll: is empty", code="missing-hook", hint=DECLARATION)

    def test_a_function_that_libdevice_lacks_is_named(self):
        self.assert_refused(self.source("sine.ll", "__nv_sinf", "__nv_sinus"),
                            says="sine.ll: calls __nv_sinus, which libdevice does not have")

    def test_damaged_bitcode_is_refused_and_the_next_compile_works(self):
        good = (IR / "half.bc").read_bytes()
        self.assert_refused(self.file("cut.bc", good[:800]), says="cut.bc: error: ")
        self.assert_fails(4, "compile", self.file("damaged.bc", good[:300] + b"\xff" * 300 + good[600:]), "-o", "out.fatbin",
                          says=["damaged.bc: "])
        self.assert_refused(self.file("other.bc", b"\x7fELF" + good), status=3, code="invalid-source",
                            says="other.bc: is not LLVM bitcode")
        self.compile_ir(self.source("half.bc"))

    def test_what_does_not_apply_is_refused_or_a_warning(self):
        source = self.source("half.ll")
        self.assert_fails(2, "compile", source, "-o", "out.fatbin", "--sass", "90", says=["libNVVM cannot generate cubins"])
        self.assertIn("half.ll: headers, their folders, macros and the C++ standard have no effect on LLVM IR",
                      self.compile_ir(source, "-D", "FACTOR=2").stderr)


class NoLibNvvm(CliTest):
    def test_says_what_to_install(self):
        source = self.file("half.ll", (IR / "half.ll").read_bytes())
        done = self.assert_fails(5, "compile", source, "-o", "out.fatbin", env={"FATLINK_LIBNVVM": "/nowhere"},
                                 says=["libNVVM: /nowhere (from $FATLINK_LIBNVVM) cannot be used"])
        self.assertIn("code:   nvvm-unavailable\n", done.stderr)
        self.assertIn("pip install nvidia-nvvm", done.stderr)


if __name__ == "__main__":
    unittest.main()
