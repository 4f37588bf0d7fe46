# SPDX-License-Identifier: Apache-2.0
"""Links in hosts that fork, print, reap children and end meanwhile: nothing is lost, nothing hangs."""
import os
import pathlib
import signal
import subprocess
import time
import unittest

from fatlink_cli import LIBRARY, SHARE, TESTS, scaled

RELU = SHARE / "relu_poly.fatbin"
BUSY_HOST = TESTS / "busy_host"
LATE_LINKS = TESTS / "late_links"
LINES_PER_ROUND = 200


def members(session):
    """The living processes of a session. A helper stays in the session of its host, also when the host has ended: its sandbox
    refuses setsid. Everybody may read the session of a process, but not the program of a helper that is confined."""
    found = set()
    for file in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, of_session = file.read_text().rpartition(")")[2].split()[:4]
        except OSError:  # it has ended
            continue
        if int(of_session) == session and state not in "ZX":
            found.add(int(file.parent.name))
    return found


def wait_until(condition, seconds=10):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


class HostProcess(unittest.TestCase):
    def run_host(self, *words, timeout=60):
        """What a program did that leaves no process behind. It runs in a session of its own, where processes that other tests
        or users start from the same build are not counted."""
        with subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              start_new_session=True) as host:
            try:
                output, errors = host.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                os.killpg(host.pid, signal.SIGKILL)
                raise
        self.assertTrue(wait_until(lambda: not members(host.pid)), f"helpers are left behind: {members(host.pid)}")
        return subprocess.CompletedProcess(words, host.returncode, output, errors)

    def test_threads_that_print_fork_reap_and_link_lose_nothing(self):
        rounds = scaled(4)
        result = self.run_host(BUSY_HOST, rounds, LIBRARY, RELU, timeout=120 + 20 * rounds)
        self.assertEqual((result.stdout, result.returncode), ("", 0))
        lines = [line for line in result.stderr.splitlines() if line.startswith("@E@error : line ")]
        self.assertEqual(lines, [f"@E@error : line {i}" for i in range(rounds * LINES_PER_ROUND)])
        self.assertEqual(result.stderr.count("\n"), len(lines), result.stderr[-2000:])

    def run_late(self, when, where):
        return self.run_host(LATE_LINKS, when, where, LIBRARY, RELU)

    def links_at_the_end(self, where):
        """What came of a link before the end of the process, and of one at it."""
        for when in ("static", "atexit"):
            with self.subTest(when=when):
                result = self.run_late(when, where)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                first, second = result.stdout.splitlines()
                self.assertRegex(first, r"^linked \d+ bytes$")
                yield first, second

    def test_links_while_the_process_ends_in_the_helper_succeed(self):
        for first, second in self.links_at_the_end("helper"):
            self.assertEqual(first, second)

    def test_links_while_the_process_ends_are_refused_in_process(self):
        refusal = "refused: nvJitLink cannot run in this process: the process is ending"
        for _, second in self.links_at_the_end("in-process"):
            self.assertEqual(second, refusal)

    def test_detached_threads_that_link_while_main_returns_neither_crash_nor_hang(self):
        for i in range(scaled(10)):
            for where in ("helper", "in-process"):
                with self.subTest(where=where, run=i):
                    result = self.run_late("detached", where)
                    self.assertEqual((result.returncode, result.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
