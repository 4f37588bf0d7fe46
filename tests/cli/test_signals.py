# SPDX-License-Identifier: Apache-2.0
"""Signals end the program with their own status; no file and no helper stays."""
import os
import pathlib
import signal
import subprocess
import time

from fatlink_cli import LIBRARY, PROGRAM, SHARE, TESTS, CliTest
from helper_process import children, is_alive, wait_until

RELU = SHARE / "relu_poly.fatbin"
HANGS = {"FATLINK_NVJITLINK": str(TESTS / "libhostile_nvjitlink.so"), "FATLINK_HOSTILE": "hang"}
FAULTY = TESTS / "libfaulty_system.so"
EOPNOTSUPP = 95


def ignore_signals():
    """As nohup: in the child, before it becomes the program."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


class SignalTest(CliTest):
    def start(self, *words, env=None):
        started = subprocess.Popen([PROGRAM, *map(str, words)], cwd=self.folder, text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=self.environment(env or {}))
        self.addCleanup(started.communicate)
        self.addCleanup(started.kill)
        return started

    def child_of(self, process):
        self.assertTrue(wait_until(lambda: children(process), seconds=20), "no helper")
        return children(process)[0]

    def start_hanging_link(self, *words, env=None):
        """(the program, its helper's two processes), once the helper hangs in nvJitLink."""
        started = self.start(*words, env={**HANGS, **(env or {})})
        guardian = self.child_of(started.pid)
        tool_process = self.child_of(guardian)
        syscall = pathlib.Path(f"/proc/{tool_process}/syscall")
        sleep = "230 "  # the number of clock_nanosleep(2), in which the hostile nvJitLink hangs

        def hangs():
            try:
                return syscall.read_text().startswith(sleep)
            except OSError:
                time.sleep(0.5)  # it cannot be read here: long enough
                return True
        self.assertTrue(wait_until(hangs, seconds=20), "the link does not hang")
        return started, (guardian, tool_process)

    def assert_ends_clean(self, number, started, helper):
        started.send_signal(number)
        started.wait(timeout=5)
        self.assertEqual(started.returncode, -number)
        for process in helper:
            self.assertTrue(wait_until(lambda process=process: not is_alive(process), seconds=1),
                            "the helper outlives its parent")
        self.assertEqual([path.name for path in self.folder.iterdir()], [])


LINK = ["link", "--target", "sm_90", "-o", "o.cubin", LIBRARY, RELU]
RUN = ["run", "--device", "cpu", "--mode", "lto", "--output", "o.npy", "--library", LIBRARY, "--transform", RELU]


class Signals(SignalTest):
    def test_a_signal_in_a_link_leaves_no_file_and_no_helper(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for words in (LINK, RUN):
                with self.subTest(signal=number.name, verb=words[0]):
                    self.assert_ends_clean(number, *self.start_hanging_link(*words))

    def test_kill_in_a_link_leaves_no_file_and_no_helper(self):
        for words in (LINK, RUN):
            with self.subTest(verb=words[0]):
                self.assert_ends_clean(signal.SIGKILL, *self.start_hanging_link(*words))

    def test_a_signal_removes_a_named_temporary_where_the_file_system_has_only_those(self):
        env = {"LD_PRELOAD": str(FAULTY), "FATLINK_FAULT_ROOT": str(self.folder), "FATLINK_FAULT": f"{EOPNOTSUPP}@1"}
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number.name):
                words = ["link", "--target", "sm_90", "-o", self.folder / "o.cubin", LIBRARY, RELU]
                started, helper = self.start_hanging_link(*words, env=env)
                self.assertEqual(len(list(self.folder.iterdir())), 1)
                self.assert_ends_clean(number, started, helper)

    def test_a_named_temporary_becomes_the_output(self):
        env = {"LD_PRELOAD": str(FAULTY), "FATLINK_FAULT_ROOT": str(self.folder), "FATLINK_FAULT": f"{EOPNOTSUPP}@1"}
        self.fatlink("link", "--target", "sm_90", "-o", self.folder / "o.cubin", LIBRARY, RELU, env=env)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["o.cubin"])

    def test_an_ignored_signal_stays_ignored(self):
        self.need_nvjitlink()
        words = [PROGRAM, "run", "--device", "cpu", "--library", LIBRARY, "--transform", RELU]
        started = subprocess.Popen(list(map(str, words)), cwd=self.folder, stdout=subprocess.DEVNULL,
                                   env=self.environment({}), preexec_fn=ignore_signals)
        while started.poll() is None:
            started.send_signal(signal.SIGINT)
            started.send_signal(signal.SIGHUP)
            time.sleep(0.002)
        self.assertEqual(started.returncode, 0)

    def test_a_signal_in_the_cache_leaves_no_temporary(self):
        self.need_nvjitlink()
        count = self.cache / "count"
        words = ["link", "--target", "sm_90", "-o", "o.cubin", LIBRARY, RELU]
        cache = self.cache / "links"
        env = {"LD_PRELOAD": str(FAULTY), "FATLINK_FAULT_ROOT": str(cache), "FATLINK_FAULT_COUNT": str(count),
               "FATLINK_CACHE_DIR": str(cache)}
        self.fatlink(*words, env=env)
        calls = int(count.read_text())
        self.assertGreater(calls, 5)
        ended = 0
        for call in range(calls // 4, calls + 1):
            with self.subTest(call=call):
                self.fatlink("cache", "clear", env={"FATLINK_CACHE_DIR": str(cache)})
                done = subprocess.run([PROGRAM, *map(str, words)], cwd=self.folder, text=True, capture_output=True,
                                      env=self.environment({**env, "FATLINK_FAULT": f"term@{call}"}))
                if done.returncode == 0:
                    break  # it made fewer calls, and the signal never came
                self.assertEqual(done.returncode, -signal.SIGTERM, done.stderr)
                ended += 1
                self.assertEqual([path.name for path in cache.iterdir() if path.name.endswith(".tmp")], [])
        self.assertGreater(ended, 15)

    def test_a_signal_removes_the_folder_of_bench(self):
        self.need_nvjitlink()
        started = self.start("bench", "--repeat", "10", "--elements", "1024", env={"TMPDIR": str(self.folder)})
        slow = wait_until(lambda: any(self.folder.glob("fatlink-bench-*/cache")), seconds=120)
        self.assertTrue(slow, "no folder appeared")
        started.send_signal(signal.SIGTERM)
        started.wait(timeout=20)
        self.assertEqual(started.returncode, -signal.SIGTERM)
        self.assertEqual(list(self.folder.iterdir()), [])
