# SPDX-License-Identifier: Apache-2.0
"""The link helper as processes: the guardian, the tool process, and when they end."""
import os
import signal
import subprocess
import time

from fatlink_cli import LIBRARY, PROGRAM, SHARE, CliTest, scaled
from helper_process import FAILURE, HOSTILE, PRODUCT, HelperProcess, children, is_alive, wait_until

ROUNDS = scaled(5)
LINK = ["link", "--no-cache", "--target", "sm_90", "-o", "o.cubin", LIBRARY, SHARE / "relu_poly.fatbin"]


class HelperTest(CliTest):
    def start(self, mode, **env):
        helper = HelperProcess(mode=mode, env=env)
        self.addCleanup(helper.close)
        return helper

    def start_link(self, mode):
        """(the helper, its tool process), in the middle of a link."""
        helper = self.start(mode)
        tool_process, _ = helper.hello()
        helper.request()
        time.sleep(0.05)
        self.assertTrue(is_alive(tool_process))
        return helper, tool_process

    def assert_both_end(self, helper, tool_process, seconds=1.0):
        self.assertTrue(wait_until(lambda: not is_alive(tool_process), seconds), "the tool process is left")
        helper.process.wait(timeout=seconds)


class Ends(HelperTest):
    def test_a_closed_socket_ends_both_in_the_middle_of_a_link(self):
        helper, tool_process = self.start_link("hang")
        helper.socket.close()
        self.assert_both_end(helper, tool_process)

    def test_a_closed_socket_ends_both_between_links(self):
        helper = self.start("hang")
        tool_process, _ = helper.hello()
        helper.socket.close()
        self.assert_both_end(helper, tool_process)

    def test_the_tool_process_ends_with_its_guardian(self):
        helper, tool_process = self.start_link("hang")
        helper.process.kill()
        self.assert_both_end(helper, tool_process)

    def test_both_end_with_a_host_that_is_killed_in_the_middle_of_a_link(self):
        env = self.environment({"FATLINK_NVJITLINK": str(HOSTILE), "FATLINK_HOSTILE": "hang"})
        for _ in range(ROUNDS):
            host = subprocess.Popen(list(map(str, [PROGRAM, *LINK])), cwd=self.folder, env=env)
            guardian = self.child_of(host.pid)
            tool_process = self.child_of(guardian)
            time.sleep(0.1)
            host.kill()
            host.wait()
            for process in (guardian, tool_process):
                self.assertTrue(wait_until(lambda process=process: not is_alive(process), 1.0), "a process is left")

    def child_of(self, process):
        self.assertTrue(wait_until(lambda: children(process), 10))
        return children(process)[0]

    def test_a_host_that_ends_while_another_process_holds_the_socket_ends_both(self):
        words = ("import sys, time; sys.path.insert(0, sys.argv[1])\n"
                 "import os, helper_process\n"
                 "helper = helper_process.HelperProcess(mode='hang')\n"
                 "tool_process, _ = helper.hello()\n"
                 "holder = os.fork()\n"
                 "if holder == 0: time.sleep(20)\n"
                 "else: print(helper.process.pid, tool_process, holder, flush=True)\n"
                 "os._exit(0)\n")
        host = subprocess.Popen(["python3", "-c", words, os.path.dirname(__file__) + "/../fixtures"],
                                stdout=subprocess.PIPE, text=True)
        guardian, tool_process, holder = map(int, host.stdout.readline().split())
        self.addCleanup(os.kill, holder, signal.SIGKILL)  # ctest waits for the processes that have its standard error
        host.wait()
        host.stdout.close()
        for process in (guardian, tool_process):
            self.assertTrue(wait_until(lambda process=process: not is_alive(process), 1.0), "a process is left")
        self.assertTrue(is_alive(holder))

    def test_an_idle_helper_ends(self):
        start = time.monotonic()
        helper = self.start("hang", FATLINK_HELPER_IDLE_SECONDS="0.3")
        tool_process, _ = helper.hello()
        self.assertEqual(helper.reason_of_end(), "exit status 0\n")
        self.assertGreater(time.monotonic() - start, 0.3)
        self.assert_both_end(helper, tool_process)

    def test_a_link_that_takes_longer_than_the_idle_time_goes_on(self):
        helper = self.start("hang", FATLINK_HELPER_IDLE_SECONDS="0.2")
        tool_process, _ = helper.hello()
        helper.request()
        time.sleep(0.6)
        self.assertTrue(is_alive(tool_process))


class Reasons(HelperTest):
    def test_the_status_pipe_names_the_reason(self):
        for mode, reason, status in (("crash", "SIGABRT", 128 + signal.SIGABRT), ("exit", "exit status 1", 1),
                                     ("probe-x32", "SIGSYS", 128 + signal.SIGSYS)):
            with self.subTest(mode=mode):
                helper = self.start(mode)
                helper.hello()
                helper.request()
                self.assertEqual(helper.reason_of_end(), f"{reason}\n")
                self.assertEqual(helper.process.wait(timeout=1), status)

    def test_the_status_pipe_names_a_signal_from_outside(self):
        helper, tool_process = self.start_link("hang")
        os.kill(tool_process, signal.SIGQUIT)
        self.assertEqual(helper.reason_of_end(), "SIGQUIT\n")


class Printed(HelperTest):
    def test_what_a_link_prints_comes_with_its_reply_and_no_other(self):
        helper = self.start("print a note of one link")
        helper.hello()
        for _ in range(3):
            helper.request()
            kind, body = helper.receive()
            self.assertEqual(kind, PRODUCT)
            self.assertEqual(body.count(b"a note of one link"), 1)

    def test_an_error_line_that_is_printed_fails_the_link(self):
        helper = self.start("print error   : it went wrong")
        helper.hello()
        helper.request()
        kind, body = helper.receive()
        self.assertEqual(kind, FAILURE)
        self.assertIn(b"it went wrong", body)
