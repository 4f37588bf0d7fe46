# SPDX-License-Identifier: Apache-2.0
"""Attacks on the cache's folder: files that belong to others, obstacles and damage in the places of its files,
wrong clocks, locks that fail. No attack may yield wrong content, touch a file outside, stop a link or cost time.
FATLINK_TEST_SCALE multiplies the number of random attacks."""
import json
import os
import pathlib
import random
import shutil
import socket
import stat
import subprocess
import tempfile
import time
import unittest

from fatlink_cli import LIBRARY, SHARE, TESTS, CliTest, scaled

PAIR = [LIBRARY, SHARE / "relu_poly.fatbin"]
LINK = ["link", "--target", "sm_90", "-o", "out.cubin", *PAIR]
DRIVER = TESTS / "cache_driver"
FAULTY = TESTS / "libfaulty_system.so"
LIMIT, KEYS = 60_000, 20
ERRORS = {"EAGAIN": 11, "EACCES": 13, "EINTR": 4, "ENOLCK": 37}


def state_of(folder):
    """What every name below `folder` is, with its content, mode and time."""
    state = {}
    for path in sorted(folder.rglob("*")):
        facts = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(facts.st_mode) else os.readlink(path) if path.is_symlink() else b""
        state[str(path)] = (facts.st_mode, content, facts.st_mtime_ns if stat.S_ISREG(facts.st_mode) else 0)
    return state


class ForeignFolder(CliTest):
    """A folder that holds the user's own files, named as the cache's are or otherwise."""

    FILES = {"ledger": b"u" * 4000, "lock": b"pid 12", "CACHEDIR.TAG": b"Signature: 8a477f597d28d172789f06886806bc55\n",
             "a" * 64: b"a blob", "notes.txt": b"mine"}

    def assert_untouched_by_every_command(self, warning="holds files that are not the cache's"):
        before = state_of(self.cache)
        done = self.fatlink(*LINK)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(warning, done.stderr)
        self.assertIn(warning, self.fatlink_json("cache", "stats", status=3)["reason"])
        for command in ("verify", "prune", "clear"):
            self.assertIn(warning, self.fatlink("cache", command, status=3).stderr)
        done = self.fatlink("cache", "warm", "--target", "sm_90", "--mode", "lto", *PAIR, status=3)
        self.assertIn("did not store", done.stderr)
        self.assertEqual(state_of(self.cache), before)

    def test_a_users_ledger_is_not_written_over(self):
        (self.cache / "ledger").write_bytes(self.FILES["ledger"])
        self.assert_untouched_by_every_command()

    def test_no_users_file_is_changed_whatever_its_name(self):
        for name, content in self.FILES.items():
            (self.cache / name).write_bytes(content)
        self.assert_untouched_by_every_command()

    def test_a_folder_of_folders_is_not_taken(self):
        (self.cache / "projects").mkdir()
        self.assert_untouched_by_every_command()


class Settings(CliTest):
    def test_a_limit_that_is_no_number_is_a_warning_and_the_default_is_used(self):
        for text in ("many", "0", "-1", "1e400", "3MM", "\x1b[31m"):
            with self.subTest(limit=text):
                env = {"FATLINK_CACHE_LIMIT": text}
                said = "the limit is 1073741824 bytes"
                self.assertIn(said, self.fatlink(*LINK, env=env).stderr)
                self.assertIn(said, self.fatlink_json(*LINK, env=env)["warnings"][0])
                done = self.fatlink("cache", "stats", "--json", env=env)
                self.assertIn(said, done.stderr)
                self.assertEqual(json.loads(done.stdout)["limit"], 1 << 30)
                doctor = self.fatlink_json("doctor", env=env)
                self.assertIn(said, doctor["cache"]["warnings"][0])
                self.assertIn("warning: FATLINK_CACHE_LIMIT", self.fatlink("doctor", env=env).stdout)
                self.assertNotIn("\x1b", done.stderr)


class Attacks(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-hostile-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.root = self.folder / "cache"
        self.outside = self.folder / "outside"
        self.outside.mkdir()
        (self.outside / "file").write_bytes(b"the user's")

    def use(self, seed, count=2 * KEYS, env=None):
        """Asks for entries of known content; the driver exits 1 where it gets another."""
        done = subprocess.run([DRIVER, "fake", self.root, str(LIMIT), str(KEYS), str(count), str(seed)], text=True,
                              capture_output=True, timeout=60, env={**os.environ, **(env or {})})
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def entries(self):
        return sorted(path for path in self.root.iterdir() if len(path.name) == 64)

    # Each takes a path in the folder and a random generator.
    def flip_a_bit(self, path, rng):
        content = bytearray(path.read_bytes())
        if content:
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
            path.write_bytes(content)

    def truncate(self, path, rng):
        os.truncate(path, rng.randrange(path.stat().st_size + 1))

    def extend(self, path, rng):
        with open(path, "ab") as file:
            file.write(rng.randbytes(rng.randrange(1, 10_000)))

    def copy_another_over(self, path, rng):
        others = [other for other in self.entries() if other.is_file() and other.stat().st_size < 100_000]
        path.write_bytes(rng.choice(others).read_bytes() if others else b"")

    def make_sparse(self, path, rng):
        os.truncate(path, 1 << 31)

    def put_in_place(self, path, make):
        path.unlink()
        make()

    def replace_by_folder(self, path, rng):
        self.put_in_place(path, path.mkdir)

    def replace_by_full_folder(self, path, rng):
        self.put_in_place(path, path.mkdir)
        (path / "file").write_bytes(b"x")

    def replace_by_link(self, path, rng):
        target = rng.choice([self.outside / "file", self.outside, self.outside / "none", path, "/dev/zero",
                             *self.entries()])
        self.put_in_place(path, lambda: path.symlink_to(target))

    def replace_by_hard_link(self, path, rng):
        self.put_in_place(path, lambda: os.link(self.outside / "file", path))

    def replace_by_fifo(self, path, rng):
        self.put_in_place(path, lambda: os.mkfifo(path))

    def replace_by_socket(self, path, rng):
        folder = os.open(path.parent, os.O_RDONLY)
        with socket.socket(socket.AF_UNIX) as unbound:  # by a short name: at most 107 bytes
            self.put_in_place(path, lambda: unbound.bind(f"/proc/self/fd/{folder}/{path.name}"))
        os.close(folder)

    def remove(self, path, rng):
        path.unlink()

    def set_clock(self, path, rng):
        when = rng.choice([0, 1, time.time() + 10**9, 2**31 - 1, time.time() - 10**8])
        os.utime(path, (when, when))

    ATTACKS = ("flip_a_bit", "truncate", "extend", "copy_another_over", "make_sparse", "replace_by_folder",
               "replace_by_full_folder", "replace_by_link", "replace_by_hard_link", "replace_by_fifo", "replace_by_socket",
               "remove", "set_clock")

    def test_no_attack_yields_wrong_content_or_a_fault(self):
        rounds = scaled(60)
        rng = random.Random(7)
        outside = state_of(self.outside)
        for number in range(rounds):
            self.use(number)
            names = [path for path in self.root.iterdir() if path.is_file() and path.name != "CACHEDIR.TAG"]
            done = []
            for path in rng.sample(names, rng.randrange(1, len(names) + 1)):
                attack = rng.choice(self.ATTACKS)
                if not path.is_symlink() and path.is_file():
                    getattr(self, attack)(path, rng)
                    done.append((attack, path.name))
            started = time.monotonic()
            with self.subTest(number=number, attacks=done):
                self.assertEqual(self.use(number + rounds)["warnings"], [])
                self.assertEqual(self.use(number + 2 * rounds, count=8 * KEYS)["warnings"], [])
                self.assertLess(time.monotonic() - started, 20)
                self.assertEqual({name: facts[1] for name, facts in state_of(self.outside).items()},
                                 {name: facts[1] for name, facts in outside.items()})
            if number % 4 == 3:
                shutil.rmtree(self.root)
        print(f"{rounds} rounds of random attacks")

    def test_the_folder_is_within_its_limit_again_after_any_damage_to_the_ledger(self):
        for damage in ("truncate", "extend", "flip_a_bit", "make_sparse", "replace_by_full_folder", "replace_by_link",
                       "replace_by_fifo", "remove"):
            with self.subTest(damage=damage):
                self.use(1)
                getattr(self, damage)(self.root / "ledger", random.Random(3))
                for seed in range(4):
                    self.use(seed, 4 * KEYS)
                self.assertLessEqual(sum(path.stat().st_size for path in self.entries()), LIMIT)
                self.assertEqual((self.root / "ledger").stat().st_size, 1124)
                shutil.rmtree(self.root)

    def test_entries_from_the_future_are_evicted_in_their_turn(self):
        self.use(1)
        for path in self.entries():
            os.utime(path, (time.time() + 10**9, time.time() + 10**9))
        for seed in range(4):
            self.use(seed, 6 * KEYS)
        self.assertEqual([path for path in self.entries() if path.stat().st_mtime > time.time() + 60], [])

    def test_locks_that_fail_cost_at_most_100_ms_a_link_and_fail_none(self):
        links = 5
        for name, code in ERRORS.items():
            for call in (1, 2, 3, 4):
                with self.subTest(error=name, call=call):
                    shutil.rmtree(self.root, ignore_errors=True)
                    env = {"LD_PRELOAD": str(FAULTY), "FATLINK_FAULT_ROOT": str(self.root),
                           "FATLINK_FAULT_CALL": "fcntl", "FATLINK_FAULT": f"{code}@{call}+"}
                    started = time.monotonic()
                    seen = self.use(5, links, env)
                    self.assertLess(time.monotonic() - started, 0.1 * links + 0.2)
                    self.assertEqual(seen["hits"] + seen["misses"], links)
                    self.assertLessEqual(len(seen["warnings"]), 1)

    def test_a_lock_that_fails_once_is_taken_again_without_a_word(self):
        for name in ("EAGAIN", "EACCES", "EINTR"):
            for call in range(1, 12):
                with self.subTest(error=name, call=call):
                    shutil.rmtree(self.root, ignore_errors=True)
                    env = {"LD_PRELOAD": str(FAULTY), "FATLINK_FAULT_ROOT": str(self.root),
                           "FATLINK_FAULT_CALL": "fcntl", "FATLINK_FAULT": f"{ERRORS[name]}@{call}"}
                    started = time.monotonic()
                    seen = self.use(5, 2, env)
                    self.assertEqual(seen["warnings"], [])
                    self.assertLess(time.monotonic() - started, 0.5)
                    self.assertEqual(self.use(5, 2)["misses"], 0, "it was not kept")


if __name__ == "__main__":
    unittest.main()
