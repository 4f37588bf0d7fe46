# SPDX-License-Identifier: Apache-2.0
"""`fatlink doctor`: verdicts with remedies, each place once, and the environments that are searched."""
import os
import pathlib
import re
import shutil

from fatlink_cli import ARCHITECTURE, LIBRARY, SHARE, CliTest, copy_program, gpus, nvjitlink

TARGET = {"x86_64": "x86_64-linux", "aarch64": "sbsa-linux"}[ARCHITECTURE]  # in toolkits for several architectures
WHEEL = "lib/python3.12/site-packages/nvidia/cu13/lib/libnvJitLink.so.13"
VERDICTS = ["link", "run on a GPU", "run on the reference device", "cache", "helper", "compile CUDA C++",
            "compile LLVM IR"]
# No toolkit that is named, and no environment but the test's own.
BARE = {name: None for name in ("CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "FATLINK_NVJITLINK",
                                "LD_LIBRARY_PATH")}


class Doctor(CliTest):
    def verdicts(self, **options):
        return self.fatlink_json("doctor", **options)["verdicts"]

    def line(self, title, **options):
        """The verdict's line of the text, without its title."""
        found = re.findall(rf"^  {re.escape(title)}  +(.*)$", self.fatlink("doctor", **options).stdout, re.M)
        self.assertEqual(len(found), 1, title)
        return found[0]

    def test_begins_with_a_verdict_a_line(self):
        self.need_nvjitlink()
        lines = self.fatlink("doctor").stdout.splitlines()
        self.assertRegex(lines[0], "^fatlink ")
        self.assertEqual((lines[1], lines[9]), ("What works:", ""))
        self.assertEqual([re.split("  +", line.strip())[0] for line in lines[2:9]], VERDICTS)
        for line in lines[2:9]:
            self.assertRegex(line, r"  (yes|yes, .+|no: .+; .+)$")

    def test_a_machine_that_links_says_yes(self):
        self.need_nvjitlink()
        verdicts = self.verdicts()
        self.assertEqual(list(verdicts), ["cache", "compile_cuda", "compile_llvm_ir", "helper", "link", "run_on_gpu",
                                          "run_on_reference_device"])
        for name in ("link", "run_on_reference_device", "cache", "helper"):
            self.assertTrue(verdicts[name]["ok"], verdicts)
        self.assertEqual(verdicts["run_on_gpu"]["ok"], bool(gpus()))

    def test_without_a_driver_it_names_the_driver(self):
        if gpus():
            self.skipTest("there is a GPU on this machine")
        self.assertRegex(self.line("run on a GPU"), r"^no: .*driver.*; install NVIDIA's driver \(580 or newer\)$")

    def test_without_nvjitlink_it_says_how_to_install_it_and_what_still_works(self):
        env = {"FATLINK_NVJITLINK": "/nowhere"}
        self.assertRegex(self.line("link", status=5, env=env), r"^no: .*/nowhere.*; correct or unset FATLINK_NVJITLINK: .* pip install nvidia-nvjitlink in .*libnvjitlink-13-0")
        self.assertRegex(self.line("run on the reference device", status=5, env=env), "^yes, in ptx mode only; ")
        verdicts = self.verdicts(status=5, env=env)
        self.assertFalse(verdicts["link"]["ok"])
        self.assertFalse(verdicts["run_on_gpu"]["ok"])
        self.assertTrue(verdicts["helper"]["ok"])

    def test_without_the_helper_it_says_where_it_belongs(self):
        self.need_nvjitlink()
        env = {"FATLINK_LINKD": "/nowhere"}
        self.assertRegex(self.line("helper", status=5, env=env), "^no: .*/nowhere.*; install fatlink-linkd")
        self.assertRegex(self.line("link", status=5, env=env), "^no: .*helper.*; .*--in-process")

    def test_with_an_unusable_cache_it_says_why_and_what_to_do(self):
        self.need_nvjitlink()
        shared = self.folder / "shared"
        shared.mkdir()
        shared.chmod(0o777)
        env = {"FATLINK_CACHE_DIR": str(shared)}
        self.assertRegex(self.line("cache", env=env), "^no: .+; .*FATLINK_CACHE_DIR")
        env = {"FATLINK_CACHE_LIMIT": "much"}
        self.assertEqual(self.line("cache", env=env), "yes")
        self.assertRegex(self.fatlink("doctor", env=env).stdout, "warning: FATLINK_CACHE_LIMIT: 'much' is not .*; write it")
        self.assertTrue(self.verdicts(env=env)["link"]["ok"])

    def test_one_that_is_newer_than_what_was_tested_is_said(self):
        from helper_process import HOSTILE
        for minor, is_newer in (("5", False), ("6", True), ("11", True)):
            env = {"FATLINK_NVJITLINK": str(HOSTILE), "FATLINK_HOSTILE_MINOR": minor}
            link = self.verdicts(env=env)["link"]
            text = f"with nvJitLink 13.{minor}"
            if is_newer:
                text += ", newer than the versions that fatlink 0.1.0 was tested with (up to 13.5)"
            self.assertEqual(link.get("detail"), text)

    def test_a_truncated_nvjitlink_is_named_and_not_loaded(self):
        self.need_nvjitlink()
        copy = self.folder / "nvjitlink.so"
        copy.write_bytes(pathlib.Path(nvjitlink()).read_bytes()[:3_000_000])
        said = self.fatlink_json("doctor", env={"FATLINK_NVJITLINK": str(copy)}, status=5)["nvjitlink"]
        self.assertIn(f"{copy} (from $FATLINK_NVJITLINK) cannot be used: is truncated: it has 3000000 bytes",
                      said["message"])

    def test_places_that_are_not_used_are_shown_with_verbose_only(self):
        self.need_nvjitlink()
        toolkit = self.folder / "toolkit"
        (toolkit / "lib64").mkdir(parents=True)
        damaged = self.file("toolkit/lib64/libnvJitLink.so.13", "no library")
        absent = self.folder / "absent"
        env = {**BARE, "CUDA_HOME": str(toolkit), "CUDA_PATH": os.path.dirname(os.path.dirname(nvjitlink())),
               "FATLINK_PATH": str(absent)}
        short, full = (self.fatlink("doctor", *words, env=env).stdout for words in ([], ["--verbose"]))
        facts = short.partition("\n\n")[2]
        for text in (f"  {damaged} (", f"  {absent} (environment): no such folder\n"):
            self.assertNotIn(text, facts)
            self.assertIn(text, full)
        self.assertLess(set(facts.splitlines()), set(full.splitlines()))

    def test_a_file_that_cannot_be_used_is_shown_where_no_other_is_found(self):
        self.need_nvjitlink()
        damaged = self.file("libnvrtc.so.13", "no library")
        text = self.fatlink("doctor", env={"FATLINK_NVRTC": str(damaged)}).stdout
        self.assertRegex(text, rf"(?m)^NVRTC: not found; .*\n  {damaged} \(\$FATLINK_NVRTC\): .+$")

    def test_shows_each_place_once(self):
        self.need_nvjitlink()
        toolkit = self.folder / "toolkit"
        (toolkit / "lib").mkdir(parents=True)
        (toolkit / "lib64").symlink_to("lib")
        (toolkit / "lib/libnvJitLink.so.13").symlink_to(nvjitlink())
        (self.folder / "alias").symlink_to(toolkit)
        fatbins = self.folder / "fatbins"
        fatbins.mkdir()
        (self.folder / "more").symlink_to(fatbins)
        env = {**BARE, "CUDA_HOME": str(toolkit), "CUDA_PATH": str(self.folder / "alias"),
               "FATLINK_PATH": f"{fatbins}:{self.folder}/more"}
        found = self.fatlink_json("doctor", env=env)
        for places in ([place["path"] for place in found["nvjitlink"]["tried"] if "/" in place["path"]],
                       [folder["folder"] for folder in found["search_path"]]):
            real = list(map(os.path.realpath, places))
            self.assertEqual(sorted(set(real)), sorted(real))
        text = self.fatlink("doctor", "--verbose", env=env).stdout
        real = list(map(os.path.realpath, re.findall(r"(?<![\w.])/[^\s:,]+", text)))
        self.assertEqual(sorted(set(real)), sorted(real), text)


class Compilers(CliTest):
    """NVRTC and libNVVM, which are optional."""

    def found(self, name, **options):
        json = self.fatlink_json("doctor", **options)
        if not json[name]["found"] and not options:
            self.skipTest(f"no {name} on this machine")
        return json[name]

    def use_program_alone(self):
        """From here on, no compiler is beside the program, where it would go before those of all variables."""
        self.tested_program = copy_program(self.folder / "alone")
        return {"FATLINK_NVJITLINK": nvjitlink()}

    def copies(self, *files):
        """Copies of libraries in a folder of their own, without what is beside them."""
        return [shutil.copy(os.path.realpath(file), self.folder / pathlib.Path(file).name) for file in files]

    def test_nvrtc_is_shown_with_its_builtins_and_headers(self):
        nvrtc = self.found("nvrtc")
        self.assertRegex(nvrtc["version"], r"^1[3-9]\.\d+$")
        self.assertIn(f"libnvrtc-builtins.so.{nvrtc['version']}", nvrtc["builtins"])
        self.assertEqual([place["outcome"] for place in nvrtc["tried"]].count("chosen"), 1)
        for folder in nvrtc["headers"]:
            self.assertTrue(pathlib.Path(folder).is_dir(), folder)
        text = self.fatlink("doctor", "--verbose").stdout
        self.assertIn(f"NVRTC {nvrtc['version']}: {nvrtc['path']} ({nvrtc['reason']})\n", text)
        self.assertIn(f"  builtins: {nvrtc['builtins']}\n", text)
        if nvrtc["headers"]:
            self.assertIn(f"  headers: {', '.join(nvrtc['headers'])}\n", text)
        self.assertRegex(text, rf"  compile CUDA C\+\+ +yes, with NVRTC {nvrtc['version']}\n")

    def test_libnvvm_is_shown_with_libdevice(self):
        libnvvm = self.found("libnvvm")
        self.assertRegex(libnvvm["version"], r"^1[3-9]\.\d+$")
        text = self.fatlink("doctor", "--verbose").stdout
        self.assertIn(f"libNVVM {libnvvm['version']}: {libnvvm['path']} ({libnvvm['reason']})\n", text)
        self.assertIn(f"  libdevice: {libnvvm.get('libdevice', 'not found')}\n", text)
        self.assertRegex(text, rf"  compile LLVM IR +yes, with libNVVM {libnvvm['version']}\n")

    def test_parts_that_are_there_are_shown_only_on_request(self):
        self.need_nvjitlink()
        helper = self.fatlink_json("doctor")["link_helper"]
        self.assertGreaterEqual(len(helper["layers"]), 5)
        shown, all_parts = self.fatlink("doctor").stdout, self.fatlink("doctor", "--verbose").stdout
        for layer in helper["layers"]:
            line = f"\n  {layer['name']}: {'on' if layer['on'] else 'off'}"
            self.assertIn(line, all_parts)
            self.assertEqual(line in shown, not layer["on"], layer)
        self.assertNotIn("  libdevice: /", shown)
        self.assertNotIn("  builtins: /", shown)

    def test_one_that_is_missing_is_no_error_and_says_what_to_install(self):
        self.need_nvjitlink()
        for variable, name, title, verdict, package in (
                ("FATLINK_NVRTC", "nvrtc", "NVRTC", "compile_cuda", "nvidia-cuda-nvrtc"),
                ("FATLINK_LIBNVVM", "libnvvm", "libNVVM", "compile_llvm_ir", "nvidia-nvvm")):
            with self.subTest(name=name):
                env = {variable: "/nowhere"}
                said = self.fatlink_json("doctor", env=env)
                self.assertFalse(said[name]["found"])
                self.assertIn("/nowhere", said[name]["message"])
                self.assertIn(f"pip install {package}", said[name]["hint"])
                self.assertEqual(said["verdicts"][verdict]["ok"], False)
                self.assertEqual(said["verdicts"]["link"]["ok"], True)
                text = self.fatlink("doctor", env=env).stdout
                self.assertRegex(text, rf"(?m)^{title}: not found; needed only to compile .*: correct or unset {variable}: .* pip install nvidia-.* CUDA 13's lib")

    def test_an_nvrtc_without_its_builtins_uses_those_of_the_loader_or_does_not_work(self):
        copy, = self.copies(self.found("nvrtc")["path"])
        env = {"FATLINK_NVRTC": str(copy), "LD_LIBRARY_PATH": None}
        nvrtc = self.found("nvrtc", env=env)
        self.assertNotIn("builtins", nvrtc)
        text = self.fatlink("doctor", *(["--verbose"] if "version" in nvrtc else []), env=env).stdout
        if "version" in nvrtc:
            self.assertIn(f"NVRTC {nvrtc['version']}: {copy} ($FATLINK_NVRTC)\n  builtins: found by the dynamic loader\n", text)
        else:
            self.assertIn("libnvrtc-builtins.so.13", nvrtc["hint"])
            self.assertIn(f"NVRTC does not work: {copy} ($FATLINK_NVRTC)\n  builtins: not found\n", text)

    def test_an_nvrtc_that_does_not_load_is_named_though_another_one_loads(self):
        """A compile opens the first file that is an NVRTC and no other; it chooses without loading."""
        folder = self.folder / "toolkit/lib64"
        folder.mkdir(parents=True)
        other = self.found("nvrtc")["path"]
        whole = pathlib.Path(other).read_bytes()
        for library in (b"libpthread.so.0", b"libdl.so.2", b"librt.so.1", b"libm.so.6"):
            whole = whole.replace(library + b"\0", b"no" + library[2:] + b"\0")
        copy = folder / "libnvrtc.so.13"
        copy.write_bytes(whole)
        env = BARE | self.use_program_alone() | {"CUDA_HOME": str(folder.parent), "CUDA_PATH": os.path.dirname(os.path.dirname(other))}
        nvrtc = self.fatlink_json("doctor", env=env)["nvrtc"]
        if not any(place["path"] == str(copy) and ": nob" in ": " + place["outcome"] for place in nvrtc["tried"]):
            self.skipTest("this NVRTC loads without its libraries")
        self.assertIn("message", nvrtc)
        self.assertEqual(nvrtc["path"], str(copy))
        self.assertIn(f"NVRTC does not work: {copy} ($CUDA_HOME)\n", self.fatlink("doctor", env=env).stdout)

    def truncate(self, file, name):
        """A copy that lacks its last segment: the loader would map it, and reading there ends the process."""
        copy = self.folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "rb") as whole:
            copy.write_bytes(whole.read(3_000_000))
        return copy

    def test_a_truncated_compiler_is_named_and_not_loaded(self):
        for variable, name, title in (("FATLINK_NVRTC", "nvrtc", "NVRTC"), ("FATLINK_LIBNVVM", "libnvvm", "libNVVM")):
            with self.subTest(name=name):
                copy = self.truncate(self.found(name)["path"], f"{name}.so")
                said = self.fatlink_json("doctor", env={variable: str(copy)})[name]
                self.assertFalse(said["found"])
                self.assertRegex(said["message"], rf"^{title}: {copy} \(from \${variable}\) cannot be used: is truncated: "
                                                  r"it has 3000000 bytes, and its segments need \d+; install it again$")

    def test_another_compiler_is_used_where_the_first_is_truncated(self):
        nvrtc = self.found("nvrtc")
        copy = self.truncate(nvrtc["path"], "toolkit/lib64/libnvrtc.so.13")
        env = {**self.use_program_alone(), "CUDA_HOME": str(self.folder / "toolkit"),
               "CUDA_PATH": os.path.dirname(os.path.dirname(nvrtc["path"]))}
        said = self.found("nvrtc", env=env)
        outcome, = [place["outcome"] for place in said["tried"] if place["path"] == str(copy)]
        self.assertIn("is truncated: ", outcome)
        self.assertEqual(said["version"], nvrtc["version"])

    def test_truncated_builtins_are_named_and_not_loaded(self):
        nvrtc = self.found("nvrtc")
        if "builtins" not in nvrtc:
            self.skipTest("no builtins beside this NVRTC")
        copy, = self.copies(nvrtc["path"])
        builtins = self.truncate(nvrtc["builtins"], pathlib.Path(nvrtc["builtins"]).name)
        said = self.fatlink_json("doctor", env={"FATLINK_NVRTC": str(copy)})["nvrtc"]
        self.assertFalse(said["found"])
        self.assertIn(f"cannot be used: {os.path.realpath(builtins)} is truncated: it has 3000000 bytes", said["message"])

    def test_a_libnvvm_without_libdevice_beside_it_works(self):
        copy, = self.copies(self.found("libnvvm")["path"])
        libnvvm = self.found("libnvvm", env={"FATLINK_LIBNVVM": str(copy)})
        self.assertFalse(libnvvm.get("libdevice", "").startswith(str(self.folder)))
        self.assertIn("version", libnvvm)


class Environments(CliTest):
    def setUp(self):
        super().setUp()
        self.need_nvjitlink()
        # An nvJitLink beside the program would go before every environment.
        self.tested_program = copy_program(self.folder / "alone")
        self.root = self.folder / "environment"
        self.system = {"LD_LIBRARY_PATH": os.path.dirname(os.path.realpath(nvjitlink()))}

    def install(self, place, copy=False):
        file = self.root / place
        file.parent.mkdir(parents=True)
        if copy:
            shutil.copy(os.path.realpath(nvjitlink()), file)
        else:
            file.symlink_to(os.path.realpath(nvjitlink()))
        return file

    def chosen(self, **env):
        found = self.fatlink_json("doctor", env={**BARE, **env})["nvjitlink"]
        place, = [place for place in found["tried"] if place["outcome"] == "chosen"]
        self.assertEqual(found["reason"], place["reason"])
        return place["path"], place["reason"]

    def test_a_virtual_environments_wheel_is_found(self):
        file = self.install(WHEEL)
        self.assertEqual(self.chosen(VIRTUAL_ENV=str(self.root)), (str(file), "$VIRTUAL_ENV"))

    def test_a_conda_environments_packages_and_wheels_are_found(self):
        for place in ("lib/libnvJitLink.so.13", f"targets/{TARGET}/lib/libnvJitLink.so.13", WHEEL):
            with self.subTest(place=place):
                file = self.install(place)
                self.assertEqual(self.chosen(CONDA_PREFIX=str(self.root)), (str(file), "$CONDA_PREFIX"))
                shutil.rmtree(self.root)

    def test_links_run_with_the_wheel_of_an_environment(self):
        copy = self.install(WHEEL, copy=True)
        env = {**BARE, "VIRTUAL_ENV": str(self.root)}
        self.assertEqual(self.fatlink_json("doctor", env=env)["nvjitlink"]["path"], str(copy))
        for words in ([], ["--in-process"]):
            with self.subTest(words=words):
                self.link(LIBRARY, SHARE / "gelu.fatbin", "--no-cache", *words, env=env)
                self.assertTrue((self.folder / "out.cubin").stat().st_size > 1000)

    def test_a_named_toolkit_goes_before_an_active_environment(self):
        self.install(WHEEL)
        toolkit = self.install("toolkit/lib64/libnvJitLink.so.13", copy=True).parent.parent
        self.assertEqual(self.chosen(VIRTUAL_ENV=str(self.root), CUDA_HOME=str(toolkit))[1], "$CUDA_HOME")

    def test_an_active_environment_goes_before_the_systems_toolkit(self):
        other = self.install(WHEEL, copy=True)
        self.assertEqual(self.chosen(VIRTUAL_ENV=str(self.root), **self.system)[0], str(other))
        self.assertNotEqual(self.chosen(**self.system)[0], str(other))

    def test_an_environment_without_the_wheel_is_listed_as_searched(self):
        self.root.mkdir()
        tried = self.fatlink_json("doctor", env={**BARE, **self.system, "VIRTUAL_ENV": str(self.root)})["nvjitlink"]["tried"]
        place, = [place for place in tried if place["reason"] == "$VIRTUAL_ENV"]
        self.assertEqual(pathlib.Path(place["path"]).parent.parts[-3:], ("nvidia", "cu13", "lib"))
        self.assertIn("No such file", place["outcome"])
