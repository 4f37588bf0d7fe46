# SPDX-License-Identifier: Apache-2.0
"""No fault of the cache or of its folder fails a link."""
import errno
import os
import shutil
import subprocess

from cache_case import PAIR, TRACED, CacheTest
from fatlink_cli import PROGRAM, TESTS, scaled

FAULTY = TESTS / "libfaulty_system.so"
CODES = ("ENOSPC", "EIO", "EDQUOT", "EROFS", "EACCES", "EBUSY", "ESTALE", "EMFILE")


class NeverInTheWay(CacheTest):
    def setUp(self):
        super().setUp()
        # Of an install tree whose path has a space, where LD_PRELOAD would end it.
        self.preload = self.folder / "faulty_system.so"
        self.preload.symlink_to(FAULTY)

    def assert_links_with_a_warning(self, warning, **options):
        done = self.link(*PAIR, **options)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertIn("fatlink: warning: cache problem (links still succeed): ", lines[0])
        self.assertIn(warning, lines[0])
        self.assertEqual(self.image()[:4], b"\x7fELF")

    def test_a_folder_that_is_not_the_users_alone(self):
        self.cache.chmod(0o777)
        self.assert_links_with_a_warning("others may write to")
        said = self.stats(status=3)
        self.assertFalse(said["usable"])
        self.assertIn("chmod go-w", said["reason"])
        self.assert_fails(3, "cache", "clear", says=[str(self.cache), "others may write to"])

    def test_no_home(self):
        self.assert_links_with_a_warning("set HOME", env={"HOME": "", "FATLINK_CACHE_DIR": "",
                                                          "XDG_CACHE_HOME": ""})

    def test_a_working_folder_that_is_gone(self):
        self.need_nvjitlink()
        gone = self.folder / "gone"
        gone.mkdir()
        done = subprocess.run(["sh", "-c", f'cd {gone} && rmdir {gone} && exec "$@"', "sh", PROGRAM, "link", "--target",
                               "sm_90", "-o", self.folder / "out.cubin", *PAIR], text=True, capture_output=True,
                              env={**os.environ, "FATLINK_CACHE_DIR": "relative"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_a_folder_that_cannot_be_filled_fails_warm_and_nothing_else(self):
        self.cache.chmod(0o777)
        done = self.fatlink("cache", "warm", *PAIR, "--target", "sm_90", status=3)
        self.assertIn("did not store the ptx link for sm_90", done.stderr)
        self.assert_fails(2, "cache", "warm", *PAIR, "--target", "sm_90", "--no-cache", says=["nothing to fill"])

    def test_a_name_that_is_no_utf8(self):
        env = {"FATLINK_CACHE_DIR": os.fsdecode(bytes(self.cache) + b"/\xff")}
        self.assertIn("\ufffd", self.fatlink_json("cache", "path", env=env)["path"])

    def test_a_file_where_the_folder_should_be(self):
        file = self.file("file", "")
        self.assert_links_with_a_warning("is not a folder", env={"FATLINK_CACHE_DIR": str(file)})
        self.assert_links_with_a_warning("is not a folder", env={"FATLINK_CACHE_DIR": str(file / "below")})

    def test_a_folder_in_the_place_of_an_entry(self):
        self.link_json()
        entry = self.entries()[0]
        entry.unlink()
        entry.mkdir()
        self.assertEqual(self.link_json()["cache"], "miss")
        self.assertEqual(self.link_json()["cache"], "hit")
        self.assertEqual(self.stats()["faults"], 0)

    def faulty(self, fault, *words, call=""):
        """(how many calls concerned the cache, or calls of the name `call`; standard error) of a link with this fault."""
        count = self.folder / "count"
        done = self.fatlink("link", "--target", "sm_90", "-o", "out.cubin", *words, *PAIR,
                            env={"LD_PRELOAD": str(self.preload), "FATLINK_FAULT_ROOT": str(self.cache),
                                 "FATLINK_FAULT_COUNT": str(count), "FATLINK_FAULT_CALL": call, "FATLINK_FAULT": fault})
        return int(count.read_text()), done.stderr

    def test_no_system_call_that_fails_fails_a_link(self):
        nothing = "0@0"
        shutil.rmtree(self.cache)
        calls, said = self.faulty(nothing)
        self.assertEqual(said, "")
        self.assertGreater(calls, 20)
        image = self.image()
        # Cold, at every call: linking takes its time, so by default at every second call, where the codes take turns, and the
        # first fault and those that stay.
        every = scaled(1) > 1
        for call in range(1, calls + 1, 1 if every else 2):
            for code in CODES if every else (CODES[call // 4 % len(CODES)],):
                for often in ("", "+") if every else ("+" * (call // 2 % 2),):
                    with self.subTest(call=call, code=code, often=often):
                        shutil.rmtree(self.cache, ignore_errors=True)
                        _, said = self.faulty(f"{getattr(errno, code)}@{call}{often}")
                        self.assertLessEqual(said.count("\n"), 1, said)
                        self.assertEqual(self.image(), image)

    def test_no_system_call_that_fails_hides_what_is_there(self):
        self.link_json()
        image = self.image()
        calls, _ = self.faulty("0@0")
        for call in range(1, calls + 1):
            for code in CODES:
                with self.subTest(call=call, code=code):
                    self.faulty(f"{getattr(errno, code)}@{call}")
                    self.assertEqual(self.image(), image)
        self.assertEqual(self.fatlink_json("cache", "verify")["damaged"], [])

    def test_those_are_all_the_system_calls_it_makes(self):
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        self.need_nvjitlink()
        for round in ("cold", "warm"):
            count = self.folder / "count"
            env = {**TRACED, "FATLINK_CACHE_DIR": str(self.cache), "FATLINK_FAULT_ROOT": str(self.cache),
                   "FATLINK_FAULT_COUNT": str(count)}
            subprocess.run(["strace", "-y", "-o", "trace", "-E", f"LD_PRELOAD={self.preload}", PROGRAM, "link", "--target",
                            "sm_90", "-o", "out.cubin", *PAIR], cwd=self.folder, check=True,
                           capture_output=True, env=env)
            calls = [line for line in (self.folder / "trace").read_text().splitlines()
                     if str(self.cache) in line and not line.startswith(("readlink", "execve"))]
            # readdir is several a getdents64, and fdopendir is fstat and fcntl.
            unlike = ("getdents64", "fcntl(", "newfstatat")
            traced = [line for line in calls if not line.startswith(unlike)]
            self.assertGreaterEqual(int(count.read_text()), len(traced), "\n".join(traced))
            names = {line.split("(")[0] for line in calls}
            self.assertLessEqual(names, {"open", "openat", "newfstatat", "read", "write", "pwrite64", "close", "fcntl",
                                         "renameat", "getdents64", "utimensat", "mkdir", "unlinkat"}, round)

    def test_half_a_write_is_finished(self):
        writes = {}
        for name in ("write", "pwrite"):
            shutil.rmtree(self.cache)
            writes[name], _ = self.faulty("0@0", call=name)
            for call in range(1, writes[name] + 1):
                with self.subTest(name=name, call=call):
                    for file in self.cache.iterdir():
                        file.unlink()
                    _, said = self.faulty(f"short@{call}", call=name)
                    self.assertEqual(said, "")
                    self.assertEqual(self.fatlink_json("cache", "verify"),
                                     {"schema": "fatlink.cache-verify/1", "sound": 1, "damaged": []})
        self.assertGreater(sum(writes.values()), 3, writes)
