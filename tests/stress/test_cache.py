# SPDX-License-Identifier: Apache-2.0
"""The cache under many processes, sudden deaths and a full folder. FATLINK_TEST_SCALE=N kills N times as many processes
as the 140 of the default, and makes N times as many links."""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import threading
import time
import unittest

from fatlink_cli import LIBRARY, PROGRAM, SHARE, TESTS, scaled

DRIVER = TESTS / "cache_driver"
FAULTY = TESTS / "libfaulty_system.so"
MOST_ENTRY = 8_400  # bytes that the driver's largest entry has


class CacheStress(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-stress-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.root = self.folder / "cache"

    def start(self, *words, env=None):
        return subprocess.Popen([DRIVER, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, env={**os.environ, **(env or {})})

    def result(self, process, timeout=600):
        out, said = process.communicate(timeout=timeout)
        self.assertEqual(process.returncode, 0, said)
        return json.loads(out)

    def fatlink(self, *words):
        done = subprocess.run([PROGRAM, *words], text=True, capture_output=True, check=True,
                              env={**os.environ, "FATLINK_CACHE_DIR": str(self.root)})
        return json.loads(done.stdout)

    def test_many_processes_do_one_link_a_key(self):
        # At most the 50 different links that the driver has, and at most 64 processes at once.
        processes, links, keys = min(scaled(16), 64), scaled(50), min(scaled(10), 50)
        expected = self.result(self.start("real", self.folder / "other", SHARE, keys, 20 * keys, 7))
        started = time.monotonic()
        running = [self.start("real", self.root, SHARE, keys, links, seed + 100) for seed in range(processes)]
        done = [self.result(one) for one in running]
        for one in done:
            self.assertEqual(one["warnings"], [])
            for key, digest in one["digests"].items():
                self.assertEqual(digest, expected["digests"][key])
        misses = sum(one["misses"] for one in done)
        hits = sum(one["hits"] for one in done)
        self.assertEqual(len(expected["digests"]), keys)
        self.assertEqual(misses, keys)
        self.assertEqual(hits + misses, processes * links)
        stats = self.fatlink("cache", "stats", "--json")
        self.assertEqual((stats["misses"], stats["stored"], stats["entries"], stats["faults"]),
                         (keys, keys, keys, 0))
        print(f"{processes} processes x {links} links over {keys} keys: {misses} links done, {hits} hits, "
              f"{time.monotonic() - started:.1f} s")

    def calls_of(self, *words):
        """How many system calls concern the folder."""
        count = self.folder / "count"
        self.result(self.start(*words, env={"FATLINK_FAULT_ROOT": str(self.root), "LD_PRELOAD": str(FAULTY),
                                            "FATLINK_FAULT_COUNT": str(count)}))
        return int(count.read_text())

    def test_no_sudden_death_leaves_anything_wrong(self):
        wanted = scaled(140)
        limit, keys = 60_000, 40
        rng = random.Random(1)
        calls = self.calls_of("fake", self.root, limit, keys, 12, 1)
        killed = healed = call = 0
        number = -1
        while killed < wanted:
            number += 1
            self.assertLess(number, 2 * wanted, "too many ended before they were killed")
            words = ("fake", self.root, limit, keys, 12, number + 1)
            if number % 4 == 3:  # at a random moment
                victim = self.start(*words)
                time.sleep(rng.random() * 0.012)
                victim.kill()
                victim.communicate()
            else:  # at each system call in turn
                call = call % calls + (1 if scaled(1) > 1 else 2)
                victim = self.start(*words, env={"FATLINK_FAULT_ROOT": str(self.root), "LD_PRELOAD": str(FAULTY),
                                                 "FATLINK_FAULT": f"kill@{call}"})
                victim.communicate()
            killed += victim.returncode == -9
            if number % 8 == 7:
                started = time.monotonic()
                self.result(self.start("fake", self.root, limit, keys, 3 * keys, number))  # right contents
                self.assertLess(time.monotonic() - started, 30, "a lock was stuck")
                self.assertEqual(self.fatlink("cache", "verify", "--json")["damaged"], [])
                self.fatlink("cache", "prune", "--json")
                self.assertEqual(list(self.root.glob("*.tmp")), [])
                healed += 1
        self.assertGreaterEqual(healed, (number + 1) // 8)
        print(f"{killed} processes killed of {number + 1}, over {calls} system calls; {healed} times all was sound "
              "afterwards")

    def test_a_lock_is_taken_over_from_a_dead_owner(self):
        self.result(self.start("fake", self.root, 60_000, 40, 1, 1))
        # Killed while it writes its first entry, its lock held.
        for call in range(1, 60):
            shutil.rmtree(self.root)
            victim = self.start("fake", self.root, 60_000, 40, 1, 1,
                                env={"FATLINK_FAULT_ROOT": str(self.root), "LD_PRELOAD": str(FAULTY),
                                     "FATLINK_FAULT": f"kill@{call}"})
            victim.communicate()
            if victim.returncode != -9:
                break
            started = time.monotonic()
            self.result(self.start("fake", self.root, 60_000, 40, 1, 1))
            self.assertLess(time.monotonic() - started, 2)
        self.assertGreater(call, 20)

    def test_eviction_under_writers_stays_within_the_limit_and_keeps_what_is_read(self):
        writers, count = min(scaled(8), 16), scaled(200)
        limit, hot_keys = 4_000_000, 20
        hot = self.start("hot", self.root, limit, hot_keys, min(scaled(4), 20))
        most, stop = 0, threading.Event()

        def watch():
            nonlocal most
            while not stop.is_set():
                total = 0
                for file in os.scandir(self.root) if self.root.exists() else ():
                    try:
                        total += file.stat().st_size if len(file.name) >= 64 else 0
                    except FileNotFoundError:
                        pass
                most = max(most, total)

        watcher = threading.Thread(target=watch)
        watcher.start()
        done = [self.result(one) for one in
                [self.start("fake", self.root, limit, 100_000, count, seed) for seed in range(1, writers + 1)]]
        read = self.result(hot)
        stop.set()
        watcher.join()
        stats = self.fatlink("cache", "stats", "--json")
        self.assertLessEqual(most, limit + (writers + 1) * MOST_ENTRY)
        self.assertEqual(read["misses"], hot_keys, "something just read was evicted")
        self.assertEqual(stats["faults"], 0, stats)
        if scaled(1) > 1:
            self.assertGreater(stats["evicted"], 0)
        print(f"{writers} writers, {sum(one['misses'] for one in done)} entries written, {stats['evicted']} "
              f"evicted, at most {most} of {limit} bytes, {read['hits']} reads of {hot_keys} entries kept them")


if __name__ == "__main__":
    unittest.main()
