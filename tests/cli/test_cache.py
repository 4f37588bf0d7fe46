# SPDX-License-Identifier: Apache-2.0
"""The cache as a user of the program meets it."""
import hashlib
import os
import pathlib
import shutil
import subprocess

from cache_case import PAIR, TRACED, CacheTest
from fatlink_cli import HOOK, LIBRARY, PROGRAM, SHARE


class Serves(CacheTest):
    def test_a_link_once_and_says_so(self):
        first = self.link_json()
        image = self.image()
        again = self.link_json()
        self.assertEqual((first["cache"], again["cache"]), ("miss", "hit"))
        self.assertEqual(self.image(), image)
        self.assertEqual(again["hooks"], [{"name": "user_transform", "inlined": True, "default": False}])
        self.assertEqual(again["link_ms"], 0)
        self.assertGreater(first["start_ms"]["link"], 0)
        self.assertEqual(sorted(first["start_ms"]),
                         ["find", "key", "link", "lookup", "open", "preflight", "read"])
        self.assertEqual(self.link_json("--no-cache", *PAIR)["cache"], "off")
        self.assertEqual(self.image(), image)
        self.assertIn("from the cache", self.fatlink("link", "--target", "sm_90", "-o", "o", *PAIR).stdout)

    def test_run_too_for_each_mode(self):
        words = ("run", "--device", "cpu", "--elements", 100)
        said = [self.fatlink_json(*words), self.fatlink_json(*words), self.fatlink_json(*words, "--no-cache")]
        # In ptx mode the reference device links the inputs' own PTX itself: there is nothing to keep.
        self.assertEqual([[mode["links"][0]["cache"] for mode in one["modes"]] for one in said],
                         [["off", "miss"], ["off", "hit"], ["off", "off"]])
        self.assertTrue(all(mode["verified"] for one in said for mode in one["modes"]))
        self.assertEqual(set(said[1]["modes"][1]["links"][0]["start_ms"]),
                         {"find", "key", "link", "lookup", "open", "preflight", "read"})
        self.assertIn("user_transform inlined, from the cache", self.fatlink(*words).stdout)

    def test_new_code_at_once_where_a_file_is_swapped(self):
        seen = set()
        for round in range(2):
            for factor in range(3):
                swapped = self.compile("swapped", HOOK.replace("return x", f"return {factor}.5f * x"))
                self.assertEqual(self.link_json(LIBRARY, swapped)["cache"], ("miss", "hit")[round])
                seen.add(hashlib.sha256(self.image()).hexdigest())
        self.assertEqual(len(seen), 3)

    def test_whatever_the_files_are_called(self):
        self.link_json()
        for number, file in enumerate(PAIR):
            self.file(f"{number}.fatbin", file.read_bytes())
        self.assertEqual(self.link_json("0.fatbin", "1.fatbin")["cache"], "hit")

    def test_nothing_that_was_asked_for_otherwise(self):
        self.link_json()
        for other in (["--target", "sm_80"], ["--target", "sm_90a"], ["--mode", "ptx"], ["--emit", "ptx"]):
            words = ["link", "--target", "sm_90", "-o", "o", *PAIR, *other]
            if other[0] == "--target":
                words[1:3] = other
                words = words[:-2]
            self.assertEqual(self.fatlink_json(*words)["cache"], "miss", other)
        self.assertEqual(self.link_json(LIBRARY, SHARE / "gelu.fatbin")["cache"], "miss")
        self.assertEqual(self.link_json(*reversed(PAIR))["cache"], "miss")
        self.assertEqual(self.link_json("--in-process", *PAIR)["cache"], "hit")

    def test_the_same_warnings_again(self):
        by_hand = self.compile("by_hand", HOOK.replace("float user", "__noinline__ float user"))
        said = [self.link(LIBRARY, by_hand).stderr for _ in range(2)]
        self.assertIn("[uncontracted]", said[0])
        self.assertIn("was not inlined", said[0])
        self.assertEqual(said[0], said[1])
        self.assert_fails(4, "link", "--target", "sm_90", "--require-inlined", "-o", "o", LIBRARY, by_hand,
                          says=["was not inlined"])

    def test_without_opening_nvjitlink_or_the_helper(self):
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        self.need_nvjitlink()
        words = ["link", "--target", "sm_90", "-o", "out.cubin", *PAIR]

        def traced():
            subprocess.run(["strace", "-f", "-o", "trace", "-e", "trace=open,openat,execve,mmap,connect",
                            PROGRAM, *words], cwd=self.folder, check=True, capture_output=True,
                           env={**TRACED, "FATLINK_CACHE_DIR": str(self.cache)})
            return (self.folder / "trace").read_text()

        cold, warm = traced(), traced()
        self.assertIn("fatlink-linkd", cold)
        self.assertNotIn("fatlink-linkd", warm)
        # Its file is read for what it says of itself; it is not mapped.
        number = None
        for line in warm.splitlines():
            if "libnvJitLink" in line and "openat" in line and not line.endswith("(No such file or directory)"):
                number = line.rsplit("= ", 1)[1]
                mapping_follows = warm[warm.index(line):].splitlines()[1:6]
                self.assertFalse(any("mmap" in one and f", {number}, " in one for one in mapping_follows), warm)
        self.assertIsNotNone(number)

    def test_another_nvjitlink_gets_links_of_its_own(self):
        self.link_json()
        real = self.fatlink_json("doctor")["nvjitlink"]["path"]
        copied = pathlib.Path(shutil.copy(real, self.folder / "libnvJitLink.so.13"))
        env = {"FATLINK_NVJITLINK": str(copied)}
        self.assertEqual(self.link_json(env=env)["cache"], "hit")  # the same, elsewhere
        with open(copied, "ab") as file:
            file.write(b"x")  # another build, as its size says
        self.assertEqual(self.link_json(env=env)["cache"], "miss")
        self.assertEqual(self.link_json(env=env)["cache"], "hit")

    def test_links_without_any_nvjitlink_from_a_shipped_layer(self):
        layer = self.folder / "layer"
        done = self.fatlink_json("cache", "warm", *PAIR, "--target", "sm_80,sm_90", "--emit", "cubin,ptx",
                                 "--layer", layer)
        self.assertEqual([(one["target"], one["mode"], one["kind"]) for one in done["links"]],
                         [(target, *link) for target in ("sm_80", "sm_90")
                          for link in (("ptx", "cubin"), ("lto", "cubin"), ("lto", "ptx"))])
        self.assertEqual({len(file.name) for file in layer.iterdir()}, {64})
        env = {"FATLINK_NVJITLINK": "/nowhere.so", "FATLINK_SYSTEM_CACHE": str(layer),
               "FATLINK_CACHE_DIR": str(self.cache / "empty")}
        for mode in ("ptx", "lto"):
            said = self.fatlink_json("link", "--target", "sm_80", "--mode", mode, "-o", "o", *PAIR, env=env)
            self.assertEqual(said["cache"], "hit")
        ran = self.fatlink_json("run", "--device", "cpu", "--elements", 100, env=env)
        self.assertTrue(ran["modes"][1]["verified"])
        self.assertEqual(ran["modes"][1]["links"][0]["cache"], "hit")
        self.assert_fails(5, "link", "--target", "sm_120", "-o", "o", *PAIR, says=["/nowhere.so"], env=env)
        env = {"FATLINK_SYSTEM_CACHE": str(layer), "FATLINK_CACHE_DIR": str(self.cache / "empty")}
        self.assertEqual(self.link_json(env=env)["cache"], "hit")

    def shipped(self, *words, env=None):
        """A layer, and the environment of a user who has it and an empty folder."""
        layer = self.folder / "layer"
        self.fatlink("cache", "warm", "--no-cache", "--layer", layer, *words, env=env)
        return {"FATLINK_SYSTEM_CACHE": str(layer), "FATLINK_CACHE_DIR": str(self.cache / "empty")}

    def test_a_shipped_layer_serves_hosts_with_another_nvjitlink_unless_they_name_it(self):
        real = self.fatlink_json("doctor")["nvjitlink"]["path"]
        copied = pathlib.Path(shutil.copy(real, self.folder / "libnvJitLink.so.13"))
        with open(copied, "ab") as file:
            file.write(b"x")  # another build, as its size says
        made_by = {"FATLINK_NVJITLINK": str(copied)}
        env = self.shipped(*PAIR, "--target", "sm_90", "--mode", "lto", env=made_by)
        self.assertEqual(self.link_json(env=env)["cache"], "hit")
        self.assertEqual(self.link_json(env={**env, **made_by})["cache"], "hit")
        self.assertEqual(self.link_json(env={**env, "FATLINK_NVJITLINK": real})["cache"], "miss")
        self.assertEqual(len(os.listdir(self.folder / "layer")), 2)
        layer = str(self.folder / "layer")
        self.assertEqual(self.fatlink_json("doctor", env=env)["cache"]["layers"], [{"folder": layer, "entries": 2}])
        self.assertIn(f"  shipped: {layer}, 2 entries\n", self.fatlink("doctor", env=env).stdout)
        self.assertIn(f"read-only layer: {layer}", self.fatlink("cache", "stats", env=env).stdout)

    def test_a_layer_with_one_copy_is_not_for_hosts_that_name_their_nvjitlink(self):
        env = self.shipped(*PAIR, "--target", "sm_90", "--mode", "lto", "--one-copy")
        self.assertEqual(len(os.listdir(self.folder / "layer")), 1)
        self.assertEqual(self.link_json(env=env)["cache"], "hit")
        real = self.fatlink_json("doctor")["nvjitlink"]["path"]
        self.assertEqual(self.link_json(env={**env, "FATLINK_NVJITLINK": real})["cache"], "miss")
        self.assert_fails(2, "cache", "warm", *PAIR, "--target", "sm_90", "--one-copy", hint="name a folder with --layer",
                          says=["--one-copy without --layer"])

    def test_a_shipped_cubin_serves_newer_gpus_of_its_major_version(self):
        env = {**self.shipped(*PAIR, "--target", "sm_80", "--mode", "lto", "--emit", "cubin,ptx"), "FATLINK_LINKD": "/nowhere"}
        link = ["link", "-o", "out.cubin", *PAIR, "--target"]
        for target in ("sm_80", "sm_86", "sm_89"):
            said = self.fatlink_json(*link, target, env=env)
            self.assertEqual((said["cache"], said["target"]), ("hit", "sm_80"))
        for target in ("sm_75", "sm_87", "sm_90"):
            self.assert_fails(5, *link, target, says=["/nowhere"], env=env)
        self.assertEqual(self.fatlink_json(*link, "sm_80", "--emit", "ptx", env=env)["cache"], "hit")
        self.assert_fails(5, *link, "sm_86", "--emit", "ptx", says=["/nowhere"], env=env)

    def test_a_layer_of_links_of_a_source_has_its_compile(self):
        source = self.folder / "half.cu"
        source.write_text('extern "C" __device__ float user_transform(float x) { return x / 2; }\n')
        env = {**self.shipped(LIBRARY, source, "--target", "sm_90", "--mode", "lto"), "FATLINK_LINKD": "/nowhere"}
        self.assertEqual(self.link_json(LIBRARY, source, env=env)["cache"], "hit")
        self.assertEqual(self.fatlink_json("cache", "stats", env=env)["misses"], 0)
        linked = ["link", "--target", "sm_90", "-o", "out.cubin", LIBRARY, source]
        self.assert_fails(5, *linked, "-D", "A", says=["/nowhere"], env=env)
        self.assert_fails(5, *linked, says=["/nowhere"], env={**env, "FATLINK_NVRTC": self.fatlink_json("doctor")["nvrtc"]["path"]})
        source.write_text(source.read_text().replace("/ 2", "/ 4"))
        self.assert_fails(5, *linked, says=["/nowhere"], env=env)

    def test_another_header_of_fatlinks_or_contract_misses_a_layer(self):
        source = self.folder / "max.cu"
        source.write_text("FATLINK_COMBINE(int, a, b) { return a < b ? b : a; }\n")
        data = self.folder / "data"
        for folder in ("contracts", "include"):
            shutil.copytree(SHARE / folder, data / folder)
        env = {**self.shipped("reduce_4", source, "--target", "sm_90", "--mode", "lto"), "FATLINK_LINKD": "/nowhere",
               "FATLINK_PATH": str(data)}
        linked = ["link", "--target", "sm_90", "-o", "out.cubin", "reduce_4", source]
        self.assertEqual(self.fatlink_json(*linked, env=env)["cache"], "hit")
        header = data / "include/fatlink/typed_hooks.cuh"
        text = header.read_text()
        header.write_text(text + "\n")
        self.assert_fails(5, *linked, says=["/nowhere"], env=env)
        header.write_text(text)
        self.assertEqual(self.fatlink_json(*linked, env=env)["cache"], "hit")

    def test_a_layer_made_twice_is_the_same(self):
        contents = []
        for number in range(2):
            layer = self.folder / f"layer{number}"
            self.fatlink("cache", "warm", *PAIR, "--target", "sm_90", "--no-cache", "--layer", layer)
            contents.append({file.name: file.read_bytes() for file in layer.iterdir()})
        self.assertEqual(contents[0], contents[1])
        self.assertEqual(len(contents[0]), 4)


class Tends(CacheTest):
    def test_path(self):
        self.assertEqual(self.fatlink("cache", "path").stdout, f"{self.cache}\n")
        said = self.fatlink_json("cache", "path", env={"FATLINK_SYSTEM_CACHE": "/a:/b"})
        self.assertEqual(said["layers"][:2], ["/a", "/b"])

    def test_stats(self):
        self.link_json()
        self.link_json()
        said = self.stats()
        self.assertEqual((said["entries"], said["hits"], said["misses"], said["stored"], said["faults"]),
                         (1, 1, 1, 1, 0))
        self.assertEqual(said["bytes"], self.entries()[0].stat().st_size)
        text = self.fatlink("cache", "stats").stdout
        self.assertIn("1 hits, 1 misses, 1 stored, 0 evicted", text)

    def test_warm_fills_the_users_folder(self):
        self.fatlink("cache", "warm", *PAIR, "--target", "sm_90", "--mode", "lto")
        self.assertEqual(self.link_json()["cache"], "hit")

    def test_warm_with_emitted_ptx_only_links_in_lto_mode(self):
        done = self.fatlink_json("cache", "warm", *PAIR, "--target", "sm_90", "--emit", "ptx")
        self.assertEqual([(one["mode"], one["kind"]) for one in done["links"]], [("lto", "ptx")])
        self.assertEqual(self.link_json(*PAIR, "--emit", "ptx")["cache"], "hit")

    def test_warm_keeps_the_kernels_of_a_launch_plan_as_run_does(self):
        self.fatlink("cache", "warm", "reduce_4", "add_float", "--target", "sm_90", "--emit", "ptx")
        report = self.fatlink_json("run", "--library", "reduce_4", "--transform", "add_float", "--device", "cpu",
                                   "--mode", "lto", "--elements", "100")
        self.assertEqual([mode["links"][0]["cache"] for mode in report["modes"]], ["hit"])

    def test_warm_keeps_the_kernels_that_are_named_instead_of_those_of_a_launch_plan(self):
        self.fatlink("cache", "warm", "reduce_4", "add_float", "--target", "sm_90", "--emit", "ptx",
                     "--kernel", "reduce_block")
        report = self.fatlink_json("run", "--library", "reduce_4", "--transform", "add_float", "--device", "cpu",
                                   "--mode", "lto", "--elements", "100")
        self.assertEqual([mode["links"][0]["cache"] for mode in report["modes"]], ["miss"])

    def test_warm_refuses_a_mode_or_kind_of_image_that_no_link_would_have(self):
        warm = ["cache", "warm", *PAIR, "--target", "sm_90"]
        self.assert_fails(2, *warm, "--mode", "both", "--emit", "ptx", hint="use --mode lto, or --emit cubin,ptx",
                          says=["--emit ptx with --mode both: only lto mode emits PTX; nothing to link in ptx mode"])
        for mode in ("ptx", "sass"):
            for emit in ("ptx", "cubin,ptx"):
                self.assert_fails(2, *warm, "--mode", mode, "--emit", emit, hint="use --mode lto, or --emit cubin",
                                  says=[f"--emit ptx with --mode {mode}: only lto mode emits PTX"])
        self.assertEqual(self.entries(), [])

    def test_verify_names_the_damaged_and_prune_removes_them(self):
        self.link_json()
        entry = self.entries()[0]
        damaged = bytearray(entry.read_bytes())
        damaged[100] ^= 1
        entry.write_bytes(damaged)
        said = self.fatlink_json("cache", "verify", status=3)
        self.assertEqual(said, {"schema": "fatlink.cache-verify/1", "sound": 0, "damaged": [{"file": str(entry), "reason": "its checksum is wrong"}]})
        self.assertIn(str(entry), self.fatlink("cache", "verify", status=3).stdout)
        self.assertEqual(self.fatlink_json("cache", "prune")["entries"], 1)
        self.fatlink("cache", "verify")
        self.assertEqual(self.link_json()["cache"], "miss")

    def test_a_damaged_entry_is_linked_anew_without_a_word(self):
        self.link_json()
        image = self.image()
        self.entries()[0].write_bytes(b"nonsense")
        done = self.link(*PAIR)
        self.assertEqual(done.stderr, "")
        self.assertEqual(self.image(), image)
        self.assertEqual(self.link_json()["cache"], "hit")

    def test_clear(self):
        self.link_json()
        self.assertEqual(self.fatlink_json("cache", "clear")["entries"], 1)
        self.assertEqual(self.entries(), [])
        self.assertEqual(self.link_json()["cache"], "miss")

    def test_warm_takes_its_options_before_its_files(self):
        self.fatlink("cache", "warm", "--target", "sm_90", "--emit", "cubin", *PAIR)
        self.assertEqual(self.stats()["stored"], 2)

    def test_a_limit_that_is_none_is_a_warning(self):
        done = self.fatlink("cache", "stats", env={"FATLINK_CACHE_LIMIT": "many"})
        self.assertIn("fatlink: warning: FATLINK_CACHE_LIMIT: 'many' is not a whole number", done.stderr)

    def test_a_verb_it_does_not_have(self):
        self.assert_fails(2, "cache", says=["subcommand"], hint="fatlink cache --help")
