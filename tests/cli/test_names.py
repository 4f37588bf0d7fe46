# SPDX-License-Identifier: Apache-2.0
"""Libraries and transforms by name: where they are looked up, what `fatlink list` says of them, and what to
install when versions do not fit."""
import base64
import json
import os
import shutil
import subprocess
import unittest

from compile_case import has_nvrtc
from fatlink_cli import HOOK, LIBRARY, SHARE, CliTest


class Named(CliTest):
    def setUp(self):
        super().setUp()
        self.home = self.folder / "home"
        self.system = self.folder / "system"
        self.env = {"HOME": str(self.home), "XDG_DATA_HOME": "", "XDG_DATA_DIRS": str(self.system),
                    "FATLINK_PATH": ""}

    def install(self, folder, name, source="gelu"):
        folder.mkdir(parents=True, exist_ok=True)
        for ending in ("fatbin", "json"):
            shutil.copy(SHARE / f"{source}.{ending}", folder / f"{name}.{ending}")
        return folder / f"{name}.fatbin"

    def fatlink(self, *words, env=None, **options):
        return super().fatlink(*words, env={**self.env, **(env or {})}, **options)

    def listed(self, name, **options):
        return [one for one in self.fatlink_json("list", **options)["fatbins"] if one["name"] == name]


class SearchPath(Named):
    def test_goes_from_the_environment_over_the_user_and_the_program_to_the_system(self):
        named = self.folder / "named"
        places = [named, self.home / ".local/share/fatlink", self.system / "fatlink"]
        files = [self.install(folder, "mine") for folder in places]
        env = {"FATLINK_PATH": f"{self.folder}/absent:{named}"}
        for file in files:
            found = self.fatlink_json("run", "--device", "cpu", "--mode", "ptx", "--elements", "9",
                                      "--transform", "mine", env=env)
            self.assertEqual(found["files"][1], str(file))
            file.unlink()
        path = self.fatlink_json("list", env=env)["path"]
        self.assertEqual([folder["origin"] for folder in path],
                         ["environment", "environment", "user", "program", "system"])
        self.assertEqual([folder["exists"] for folder in path], [False, True, True, True, True])

    def test_goes_to_python_packages_before_the_system(self):
        mix, other = self.folder / "mix=1/share", self.folder / "other"
        files = [self.install(folder, "mine") for folder in (mix, other, self.system / "fatlink")]
        env = {"FATLINK_PYTHON_PATH": f"mix 2.1={mix}:relative:mix 3={self.folder / 'absent'}::{other}:none"}
        path = self.fatlink_json("list", env=env)["path"]
        self.assertEqual([(folder["origin"], folder["distribution"]) for folder in path],
                         [("user", ""), ("program", ""), ("python", "mix 2.1"), ("python", "mix 3"), ("python", ""), ("system", "")])
        self.assertEqual([entry["hidden_by"] for entry in self.listed("mine", env=env)], ["", str(files[0]), str(files[0])])
        listed = self.fatlink("list", "--long", env=env).stdout
        self.assertIn(f"{mix} (python: mix 2.1)\n", listed)
        self.assertEqual(listed.count(f"    hidden by {files[0]} (python: mix 2.1)\n"), 2)
        done = self.assert_fails(3, "inspect", "none-such", says=["none-such"], env=env)
        self.assertIn(f"{mix} (python: mix 2.1)", done.stderr)

    def test_takes_the_users_folder_from_xdg(self):
        self.install(self.folder / "data/fatlink", "mine")
        env = {"XDG_DATA_HOME": f"{self.folder}/data"}
        self.assertEqual(self.listed("mine", env=env)[0]["origin"], "user")
        self.assertEqual(self.listed("mine", env={"XDG_DATA_HOME": "data"}), [], "a relative one is ignored")

    def test_one_folder_named_twice_hides_nothing(self):
        self.install(self.folder / "named", "mine")
        twice = {"FATLINK_PATH": f"{self.folder}/named:{self.folder}/named/:{self.folder}/./named"}
        found, = self.listed("mine", env=twice)
        self.assertEqual(found["hidden_by"], "")

    def test_serves_every_verb_that_takes_fatbins(self):
        self.install(self.system / "fatlink", "mine")
        self.assertIn("links", self.fatlink("check", "apply_transform", "mine").stdout)
        self.assertIn("defines", self.fatlink("inspect", "mine").stdout)
        self.need_nvjitlink()
        self.fatlink("link", "--target", "sm_90", "-o", "o.cubin", "apply_transform", "mine")
        self.fatlink("cache", "warm", "--target", "sm_90", "apply_transform", "mine")

    def test_a_name_is_no_file_and_a_file_no_name(self):
        self.install(self.folder, "mine")
        self.assert_fails(3, "inspect", "mine", says=["mine: no fatbin of that name is installed"],
                          hint="or a path with a slash or one of the endings .fatbin, .ptx, .ltoir, .cubin, .o, .a, .so, .cu")
        (self.folder / "odd").write_bytes((self.folder / "mine.fatbin").read_bytes())
        self.assert_fails(3, "inspect", "odd", says=["no fatbin of that name"], hint="write ./odd")
        for file in ("mine.fatbin", "./odd"):
            self.assertIn("defines", self.fatlink("inspect", file).stdout)

    def test_a_mistyped_name_is_answered_with_the_nearest_and_the_folders(self):
        done = self.assert_fails(3, "run", "--transform", "gelo", says=["gelo"], hint="did you mean gelu?")
        self.assertIn(f"{self.system}/fatlink (system)", done.stderr)

    def test_layers_of_the_cache_are_in_the_same_folders(self):
        self.need_nvjitlink()
        layer = self.system / "fatlink" / "cache"
        self.fatlink("cache", "warm", "--target", "sm_90", "--layer", layer, "apply_transform", "gelu")
        env = {"FATLINK_SYSTEM_CACHE": None}
        self.assertIn(str(layer), self.fatlink_json("cache", "path", env=env)["layers"])
        linked = self.fatlink_json("link", "--target", "sm_90", "-o", "o.cubin", "apply_transform", "gelu", env=env)
        self.assertEqual(linked["cache"], "hit")


class List(Named):
    def test_says_what_is_installed_from_where_and_what_works_with_what(self):
        library, = self.listed("apply_transform")
        self.assertEqual((library["kind"], library["origin"]), ("library", "program"))
        self.assertEqual(library["contract"]["version"], 1)
        self.assertEqual(library["package"].split(" ")[0], "fatlink-runtime")
        transform, = self.listed("gelu")
        self.assertEqual(transform["kind"], "transform")
        self.assertEqual(transform["package"].split(" ")[0], "fatlink-transforms")
        self.assertEqual(transform["summary"], json.loads((SHARE / "gelu.json").read_text())["summary"])
        self.assertEqual(transform["libraries"],
                         [{"library": "apply_transform", "works": True, "findings": []}])
        text = self.fatlink("list", "--long").stdout
        self.assertRegex(text, r"(?s)Libraries\n  apply_transform .*Transforms\n.*  gelu .*works with apply_transform")
        self.assertEqual(self.fatlink("list", "gelu").stdout, self.fatlink("list", "--long", "gelu").stdout)

    def test_is_a_table_with_one_line_for_each_and_one_for_the_sizes_of_an_algorithm(self):
        text = self.fatlink("list").stdout
        lines = text.splitlines()
        self.assertEqual([line for line in lines if len(line) > 100], [])
        self.assertRegex(text, r"(?m)^Libraries +Contract +Summary$")
        self.assertRegex(text, r"(?m)^  reduce_\{1,2,4,8,16,32\} +combine_N +folds an array of N-byte elements")
        self.assertRegex(text, r"(?m)^  gelu +apply_transform +x Φ\(x\)$")
        shown = [name for line in lines if line.startswith("  ") for name in self.names_in(line.split()[0])]
        self.assertEqual(sorted(shown), sorted(self.fatlink("list", "--names").stdout.split()))

    @staticmethod
    def names_in(word):
        """["reduce_1", "reduce_2"] of "reduce_{1,2}"."""
        base, brace, sizes = word.rstrip("}").partition("{")
        return [base + size for size in sizes.split(",")] if brace else [word]

    def test_the_table_cuts_summaries_and_never_names(self):
        name = "a_transform_with_a_name_that_is_longer_than_a_column_of_the_table"
        file = self.install(self.system / "fatlink", name).with_suffix(".json")
        file.write_text(json.dumps({**json.loads(file.read_text()), "summary": "ä" * 200}))
        line, = [line for line in self.fatlink("list").stdout.splitlines() if name in line]
        self.assertRegex(line, rf"^  {name}  apply_transform +ä+…$")
        self.assertEqual(len(line), 100)

    def test_the_table_says_what_does_not_work(self):
        self.install(self.home / ".local/share/fatlink", "gelu", "identity")
        self.install(self.system / "fatlink", "broken").write_bytes(b"nothing")
        text = self.fatlink("list").stdout
        self.assertRegex(text, r"(?m)^  gelu +apply_transform +hidden by /")
        self.assertRegex(text, r"(?m)^  broken +\S+ +unusable: broken.fatbin: ")

    def test_functions_of_the_device_runtime_are_not_hooks(self):
        kernel = 'extern "C" __global__ void apply(float* x) { printf("x"); *x = %s; }\n'
        hook = 'extern "C" __device__ float user_transform(float);\n'
        (self.system / "fatlink").mkdir(parents=True)
        for name, source in (("calls", hook + kernel % "user_transform(*x)"), ("prints", kernel % "1")):
            shutil.move(self.compile(name, "#include <cstdio>\n" + source), self.system / f"fatlink/{name}.fatbin")
        library, = self.listed("calls")
        self.assertEqual((library["kind"], library["symbols"]), ("library", ["(b32) user_transform(b32)"]))
        other, = self.listed("prints")
        self.assertEqual((other["kind"], other["symbols"]), ("other", []))

    def test_one_that_another_hides_is_shown_with_it(self):
        mine = self.install(self.home / ".local/share/fatlink", "gelu", "identity")
        first, second = self.listed("gelu")
        self.assertEqual((first["file"], first["hidden_by"]), (str(mine), ""))
        self.assertEqual(second["hidden_by"], str(mine))
        self.assertIn(f"hidden by {mine}", self.fatlink("list", "gelu").stdout)
        self.assertEqual(self.fatlink("list", "--names", "gelu").stdout, "gelu\n")

    def test_a_damaged_one_is_shown_as_unusable_and_harms_no_other(self):
        file = self.install(self.system / "fatlink", "broken")
        file.write_bytes(file.read_bytes()[:100])
        found, = self.listed("broken")
        self.assertIn("broken.fatbin", found["problem"])
        text = self.fatlink("list").stdout
        self.assertIn("unusable", text)
        self.assertRegex(text, "(?m)^  gelu +apply_transform +x ")
        self.assertNotIn("broken", self.fatlink("list", "--names").stdout)

    def test_one_refused_for_its_json_is_a_transform_all_the_same(self):
        self.install(self.system / "fatlink", "odd").with_suffix(".json").write_text("{nonsense")
        found, = self.listed("odd")
        self.assertEqual(found["kind"], "transform")
        self.assertIn("odd.json", found["problem"])

    def test_a_summary_cannot_drive_the_terminal(self):
        file = self.install(self.system / "fatlink", "loud").with_suffix(".json")
        told = json.loads(file.read_text())
        file.write_text(json.dumps({**told, "summary": "x\u001b[31m red\nline"}))
        text = self.fatlink("list", "loud").stdout
        self.assertIn("x [31m red line", text)
        self.assertNotIn("\u001b", text)

    def test_selects_by_kind_and_name(self):
        libraries = self.fatlink("list", "--kind", "library", "--names").stdout.splitlines()
        self.assertEqual(libraries, sorted(libraries))
        self.assertLessEqual({"apply_transform", "convert", "reduce_4", "stencil"}, set(libraries))
        self.assertNotIn("gelu", libraries)
        self.assertIn("gelu\n", self.fatlink("list", "--kind", "transform", "--names").stdout)
        self.assertEqual([one["name"] for one in self.fatlink_json("list", "gelu")["fatbins"]], ["gelu"])
        self.assert_fails(3, "list", "nothing", says=["nothing: no fatbin of that name"])
        self.assert_fails(2, "list", "--kind", "kernel", says=["--kind"])

    def test_of_nothing_names_the_packages(self):
        alone = self.folder / "elsewhere/bin"
        alone.mkdir(parents=True)
        shutil.copy(SHARE.parent.parent / "bin/fatlink", alone)
        run = lambda *words: subprocess.run([alone / "fatlink", *words], text=True, capture_output=True,
                                            env={**os.environ, **self.env})
        done = run("list")
        self.assertIn("No fatbin is installed in", done.stdout)
        self.assertIn("fatlink-runtime and fatlink-transforms", done.stdout)
        self.assertEqual(json.loads(run("list", "--json").stdout)["fatbins"], [])
        done = run("run")
        self.assertEqual(done.returncode, 3)
        self.assertIn("apply_transform is not installed (the default of --library)", done.stderr)
        self.assertIn("install the package fatlink-runtime", done.stderr)
        done = run("run", "--library", LIBRARY)
        self.assertIn("install the package fatlink-transforms", done.stderr)


class ContractList(Named):
    def contract(self, name):
        return self.fatlink_json("inspect", "--contract", name)["contract"]

    def test_shows_hooks_macros_and_libraries_and_the_sizes_of_one_as_one(self):
        text = self.fatlink("list", "--kind", "contract").stdout
        self.assertIn("  combine_{1,2,4,8,16,32}\n"
                      "    hook       fatlink_element combine(fatlink_element a, fatlink_element b);\n"
                      "    macro      FATLINK_COMBINE(type, a, b) { … }\n"
                      "    libraries  exclusive_scan_N, reduce_N, scan_N, segmented_reduce_N\n", text)
        self.assertRegex(text, r"(?m)^  apply_transform\n    hook +float user_transform\(float \w+\);\n    libraries +apply_transform$")
        self.assertNotIn("header", text)
        self.assertEqual([line for line in text.splitlines() if len(line) > 100], [])
        self.assertIn("    header     ", self.fatlink("list", "--kind", "contract", "combine_8").stdout)

    def test_names_all_that_compile_takes(self):
        names = self.fatlink("list", "--kind", "contract", "--names").stdout.split()
        self.assertEqual(names, [one["name"] for one in self.fatlink_json("list", "--kind", "contract")["contracts"]])
        self.assertEqual(set(names), {path.stem for path in (SHARE / "contracts").glob("*.json")})

    def test_one_that_cannot_be_read_is_shown_as_unusable_and_harms_no_other(self):
        (self.system / "fatlink/contracts").mkdir(parents=True)
        (self.system / "fatlink/contracts/odd.json").write_text("{}")
        text = self.fatlink("list", "--kind", "contract").stdout
        self.assertRegex(text, r"(?m)^  odd\n    unusable +.*odd.json: is not a contract")
        self.assertIn("FATLINK_COMBINE", text)

    def test_inspect_shows_one_with_its_header_and_an_example(self):
        text = self.fatlink("inspect", "--contract", "combine_8").stdout
        header = SHARE / "contracts/combine_8/combine_8.cuh"
        self.assertTrue(text.startswith(f"combine_8/1: {header}\n"), text)
        for line in ("elements   8 bytes", "macro      FATLINK_COMBINE(type, a, b) { … }",
                     "example    FATLINK_COMBINE(double, a, b) { return a < b ? b : a; }",
                     "libraries  exclusive_scan_8, reduce_8, scan_8, segmented_reduce_8",
                     "run        fatlink run --library exclusive_scan_8 --transform FILE.cu"):
            self.assertIn(f"    {line}\n", text)
        self.assertIn('extern "C" __device__ fatlink_element combine(', text)

    def test_an_unknown_one_is_answered_with_the_nearest(self):
        for words in (["inspect", "--contract", "combin_8"], ["list", "--kind", "contract", "combin_8"]):
            self.assert_fails(3, *words, says=["the contract combin_8 is not installed"], hint="did you mean combine_8?")

    def test_inspect_takes_an_input_or_a_contract(self):
        self.assert_fails(2, "inspect", says=["an input or --contract is required"], hint="see fatlink inspect --help")
        self.assert_fails(2, "inspect", "--contract", "combine_8", "--ptx", says=["require an input"])
        self.assert_fails(2, "inspect", "--contract", "combine_8", "-D", "X", says=["-D X: this option has no effect"])
        self.assert_fails(2, "inspect", "gelu", "--contract", "combine_8", says=["no input is a source"])

    def test_every_example_compiles(self):
        if not has_nvrtc():
            self.skipTest("no NVRTC on this machine")
        for contract in self.fatlink_json("list", "--kind", "contract")["contracts"]:
            examples = [hook["example"] for hook in contract["hooks"]]
            if not all(hook["macro"] for hook in contract["hooks"]):
                self.assertTrue(all(example.endswith(") { … }") for example in examples), contract)
                continue
            with self.subTest(contract=contract["name"]):
                self.file("example.cu", "\n".join(examples))
                self.fatlink("compile", "example.cu", "--contract", contract["name"], "-o", "example.fatbin")
                # The libraries of load_N only include it: they have other hooks, which the check without a library permits.
                library = [] if contract["name"].startswith("load_") and len(examples) == 1 else contract["libraries"][:1]
                self.fatlink("check", *library, "example.fatbin")


class Versions(Named):
    """Fatbins as fatlink_add_fatbin makes them, of contracts of several versions."""

    def build(self, name, source, *, version, package, contract_package="fatlink-runtime 2.0", **more):
        ident = {"fatlink": 1, "contract": "apply_transform", "version": version, "header_sha256": 64 * str(version),
                 "toolkit": "13.0.88", "float": "-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1",
                 "package": package, "contract_package": contract_package, **more}
        text = base64.b64encode(json.dumps(ident).encode()).decode()
        return self.compile(name, source, "-dlto", "-arch=sm_75", f"-Xfatbin=-ident={text}")

    LIBRARY = ('extern "C" __device__ float user_transform(float);\n'
               'extern "C" __global__ void apply_transform(float const* in, float* out, unsigned long long n)\n'
               '{ for (unsigned long long i = 0; i < n; ++i) out[i] = user_transform(in[i]); }\n')

    def test_a_transform_newer_than_the_library_names_the_librarys_package(self):
        self.build("newer", HOOK, version=2, package="gelus 2.1")
        for verb in (("run", "--transform"), ("check", "apply_transform"),
                     ("link", "--target", "sm_90", "-o", "o", "apply_transform")):
            done = self.fatlink(*verb, "newer.fatbin", status=4)
            said = done.stdout + done.stderr
            self.assertRegex(said, r"apply_transform(?:\.fatbin)? \(package fatlink-runtime [0-9.]+\) is built against "
                                   r"contract apply_transform/1")
            self.assertIn("newer.fatbin (package gelus 2.1) is built against contract apply_transform/2", said)
            self.assertIn("[contract-mismatch]", said)
            self.assertRegex(said, "hint: +install package fatlink-runtime 2.0 or newer, whose library has "
                                   "apply_transform/2; or a version of package gelus built against apply_transform/1")

    def test_a_transform_older_than_the_library_names_its_own_package(self):
        self.build("library", self.LIBRARY, version=2, package="fatlink-runtime 2.0")
        self.build("older", HOOK, version=1, package="gelus 1.0")
        done = self.fatlink("run", "--library", "library.fatbin", "--transform", "older.fatbin", status=4)
        self.assertRegex(done.stderr, "hint: +install a version of package gelus that is built against apply_transform/2")

    def test_another_header_under_the_same_version_names_both_packages(self):
        self.build("library", self.LIBRARY, version=2, package="fatlink-runtime 2.0")
        self.build("changed", HOOK, version=2, package="gelus 1.0", header_sha256=64 * "a")
        done = self.fatlink("run", "--library", "library.fatbin", "--transform", "changed.fatbin", status=4)
        self.assertRegex(done.stderr, "hint: +install versions of package fatlink-runtime and package gelus that are "
                                      "built against the same contract")

    def test_another_contract_is_told_as_such_and_not_as_another_type(self):
        self.build("other", HOOK.replace("float", "double"), version=1, package="gelus 1.0", contract="blend")
        done = self.fatlink("run", "--transform", "other.fatbin", status=4)
        self.assertRegex(done.stderr, "hint: +other.fatbin is for libraries with blend/1: pass one that is for "
                                      "apply_transform/1, or a library with blend/1")
        self.assertNotIn("signature-mismatch", done.stderr)

    def test_an_included_contract_must_have_the_same_hook_types(self):
        hooks = {"user_transform": "FffE"}
        self.build("library", self.LIBRARY, version=1, package="blends 1.0", contract="blend", hooks=hooks, includes={"apply_transform": 1})
        self.build("same", HOOK, version=1, package="gelus 1.0", hooks=hooks)
        self.fatlink("check", "library.fatbin", "same.fatbin")
        for name, changed in (("version", {"version": 2, "hooks": hooks}), ("type", {"version": 1, "hooks": {"user_transform": "FddE"}})):
            with self.subTest(changed=name):
                self.build("other", HOOK, package="gelus 1.0", **changed)
                self.assertIn("[contract-mismatch]", self.fatlink("check", "library.fatbin", "other.fatbin", status=4).stdout)

    def test_a_library_without_a_size_may_include_a_contract_of_another_size(self):
        source = ("struct alignas(4) fatlink_element_4 { unsigned words[1]; };\n"
                  'extern "C" __device__ fatlink_element_4 combine(fatlink_element_4, fatlink_element_4);\n'
                  'extern "C" __global__ void fold(fatlink_element_4* x) { *x = combine(*x, *x); }\n')
        self.build("library", source, version=1, package="blends 1.0", contract="blend", includes={"combine_8": 1},
                   hooks={"combine": "F17fatlink_element_4S_S_E"})
        done = self.fatlink("check", "library.fatbin", "add_float", status=4)
        self.assertRegex(done.stdout, r"is built against contract blend/1 .* is built against contract combine_4/1 .*\[contract-mismatch\]")

    def test_the_list_says_so_before_anything_is_run(self):
        newer = self.build("newer", HOOK, version=2, package="gelus 2.1")
        (self.system / "fatlink").mkdir(parents=True)
        shutil.move(newer, self.system / "fatlink/newer.fatbin")
        found, = self.listed("newer")
        self.assertFalse(found["libraries"][0]["works"])
        text = self.fatlink("list", "newer").stdout
        self.assertIn("does not work with apply_transform: ", text)
        self.assertIn("install package fatlink-runtime 2.0 or newer", text)

    def test_a_host_older_than_the_fatbin_is_told_to_be_upgraded(self):
        self.build("future", HOOK, version=1, package="gelus 3.0", fatlink=2)
        done = self.fatlink("run", "--transform", "future.fatbin", status=4)
        self.assertIn("future.fatbin describes itself in format 2, and this fatlink reads 1 [fatlink-too-old]",
                      done.stderr)
        self.assertRegex(done.stderr, "hint: +install a newer package fatlink-runtime")

    def test_a_missing_nvjitlink_names_its_package(self):
        done = self.fatlink("link", "--target", "sm_90", "-o", "o", "apply_transform", "gelu", status=5,
                            env={"FATLINK_NVJITLINK": "/nowhere"})
        self.assertIn("libnvjitlink-13-0", done.stderr)

    def test_an_nvjitlink_older_than_the_toolkit_names_the_one_it_needs(self):
        self.build("later", HOOK, version=1, package="gelus 2.1", toolkit="13.5.10")
        done = self.fatlink("check", "--nvjitlink", "13.0", "later.fatbin", status=4)
        self.assertIn("[toolkit-too-new]", done.stdout)
        self.assertIn("package libnvjitlink-13-5", done.stdout)


if __name__ == "__main__":
    unittest.main()
