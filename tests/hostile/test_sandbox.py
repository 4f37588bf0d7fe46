# SPDX-License-Identifier: Apache-2.0
"""The sandbox of the link helper, attacked from within: an nvJitLink that tries what a takeover would."""
import os
import re
import shutil
import subprocess
import unittest

from fatlink_cli import ARCHITECTURE, EMULATED, CliTest, LIBRARY, LINKD, PROGRAM, SANITIZED, SHARE, TESTS, copy_program
from helper_process import HOSTILE, HelperProcess

NOBODY = 65534
INPUTS = [LIBRARY, SHARE / "relu_poly.fatbin"]
LINK = ["link", "--no-cache", "--target", "sm_90", "-o", "o.cubin"]
LAYERS = ["seccomp", "landlock", "capabilities", "no-new-privileges", "no-dump", "limits", "guardian"]
# What is tried, in sandbox_probes.cpp: on x86-64 237 attacks, and 5 calls that must stay. AArch64 has fewer calls.
ATTACKS = """
kill host, kill guardian, kill init, kill process group, kill all processes, kill itself, tkill host, tgkill
host, tgkill guardian, rt_sigqueueinfo host, rt_tgsigqueueinfo host, pidfd_open host, pidfd_open itself,
pidfd_send_signal, pidfd_getfd, fcntl F_SETOWN host, timer_create, ptrace attach host, ptrace seize guardian,
process_vm_readv host, process_vm_writev host, process_madvise, process_mrelease, kcmp host, get_robust_list
host, move_pages host, migrate_pages host, getppid, setpgid guardian, setsid, wait4, fork, vfork, clone, clone
CLONE_VFORK, clone CLONE_PARENT, clone CLONE_NEWUSER, clone CLONE_PIDFD, clone thread with a signal, clone
thread CLONE_UNTRACED, clone3, execve, execveat, fexecve of standard error, unshare, setns, mmap writable and
executable, mmap executable, mmap standard error executable, mprotect executable, pkey_mprotect executable,
personality READ_IMPLIES_EXEC, personality, modify_ldt, arch_prctl, iopl, ioperm, remap_file_pages, open,
openat, openat for writing, openat O_TMPFILE, openat2, creat, openat descriptor of host, openat memory of host,
openat environment of host, openat own memory, openat device, name_to_handle_at, open_by_handle_at, open_tree,
stat, newfstatat, statx, access, faccessat, readlink, getcwd, chdir, fchdir, chroot, pivot_root, mount, umount2,
mount_setattr, unlink, unlinkat, rename, renameat2, mkdir, mknod, link, symlink, truncate, ftruncate of the
socket, ftruncate to another length, fallocate, chmod, fchmod, fchmodat, chown, fchown, fchownat, utime, utimes,
utimensat of the socket, utimensat of standard error, utimensat of a path, setxattr, fsetxattr, fgetxattr,
fremovexattr, flistxattr, getdents, getdents64, statfs, fstatfs, flock, fcntl, fcntl flags of the socket, fcntl
seals of standard error, ioctl TCGETS, ioctl TIOCSTI, ioctl FIOSETOWN host, dup, dup2, dup3, splice, vmsplice,
sendfile, copy_file_range, inotify_init, inotify_init1, fanotify_init, sync, umask, socket of any family,
socketpair, connect, bind, listen, accept4, sendto, sendmsg SCM_RIGHTS, sendmmsg, recvfrom, recvmsg, shutdown,
getsockopt, setsockopt, getpeername, pipe, pipe2, eventfd2, signalfd4, timerfd_create, epoll_create1, shmget,
shmat, shmctl, shm_open, memfd_create, memfd_secret, msgget, msgsnd, semget, semop, mq_open, mq_unlink, mmap
shared standard error, setrlimit, prlimit64 own limits, prlimit64 read host, prlimit64 change host, setpriority
host, setpriority itself, sched_setscheduler host, sched_setparam host, sched_setattr host, sched_setaffinity
host, sched_setaffinity itself, sched_getaffinity host, ioprio_set host, clock_gettime of host, set_mempolicy,
mbind, mlockall, membarrier, prctl PR_SET_DUMPABLE, prctl PR_SET_PDEATHSIG, prctl PR_SET_SECCOMP, prctl
PR_SET_PTRACER, prctl PR_SET_CHILD_SUBREAPER, prctl PR_SET_NO_NEW_PRIVS, prctl PR_SET_MM, prctl PR_CAPBSET_READ,
seccomp, landlock_create_ruleset, capset, setuid, setgid, setreuid, setregid, setresuid, setresgid, setfsuid,
setfsgid, setgroups, io_uring_setup, io_uring_enter, io_setup, bpf, userfaultfd, perf_event_open, keyctl,
add_key, request_key, reboot, kexec_load, kexec_file_load, init_module, finit_module, delete_module, quotactl,
swapon, swapoff, acct, settimeofday, clock_settime, adjtimex, clock_adjtime, sethostname, setdomainname, uname,
syslog, lookup_dcookie
"""
ONLY_X86_64 = """access, arch_prctl, chmod, chown, creat, dup2, fork, getdents, inotify_init, ioperm, iopl, link, mkdir, mknod,
modify_ldt, open, pipe, readlink, rename, stat, symlink, unlink, utime, utimes, vfork""".replace("\n", " ").split(", ")
PRLIMIT64, CAPSET = {"x86_64": (302, 126), "aarch64": (261, 91)}[ARCHITECTURE]  # system calls by number
OWN_CALLS = ["own thread", "own memory", "own signal", "own limits read", "own clock"]


def attacks():
    names = re.sub(r"\s+", " ", ATTACKS).strip().split(", ")
    return [name for name in names if ARCHITECTURE == "x86_64" or name not in ONLY_X86_64]


@unittest.skipIf(EMULATED, "qemu has neither seccomp nor Landlock; hostile.SeccompFilter executes the filter")
class SandboxTest(CliTest):
    maxDiff = None

    def copies(self, user):
        """The program with its helper, and copies of files, which `user` can read: the build tree may be below a home that only
        its owner can enter."""
        if os.getuid() != 0:
            self.skipTest("only root starts programs of another user")
        self.folder.chmod(0o777)
        program = copy_program(self.folder / "copies")
        files = [shutil.copy(file, self.folder / "copies") for file in (HOSTILE, *INPUTS)]
        if subprocess.run(["test", "-r", files[0]], user=user, group=user, extra_groups=[]).returncode != 0:
            self.skipTest(f"another user cannot enter {self.folder}; TMPDIR names a folder that all users can enter")
        return program, files

    def attack(self, mode, user=None, env=None):
        """What a link with the hostile nvJitLink ends with; the program is the host."""
        program, (hostile, *inputs) = (PROGRAM, (HOSTILE, *INPUTS)) if user is None else self.copies(user)
        rights = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        words = ["sh", "-c", 'FATLINK_PROBE_HOST=$$ exec "$@"', "sh", program, *LINK, *inputs]
        variables = self.environment({"FATLINK_NVJITLINK": str(hostile), "FATLINK_HOSTILE": mode, **(env or {})})
        return subprocess.run(list(map(str, words)), cwd=self.folder, env=variables, text=True, capture_output=True,
                              timeout=100, **rights)

    def outcomes(self, **options):
        done = self.attack("probe", **options)
        self.assertEqual(done.returncode, 4, done.stderr)
        return dict(re.findall(r"^ *([\w ]+): (WORKED|refused \(\w+\))$", done.stderr, re.M))


class Probes(SandboxTest):
    def assert_all_refused(self, outcomes):
        self.assertEqual(sorted(outcomes), sorted(attacks() + OWN_CALLS))
        expected = {name: "refused (EPERM)" for name in attacks()}
        expected["clone3"] = "refused (ENOSYS)"  # then the C library uses clone
        if SANITIZED:
            expected.update({name: "WORKED" for name in ("pipe2", "sched_getaffinity host")})
        expected.update({name: "WORKED" for name in OWN_CALLS})
        self.assertEqual({name: result for name, result in outcomes.items() if result != expected[name]}, {})

    def test_all_attacks_are_tried(self):
        self.assertEqual(len(set(attacks())), {"x86_64": 237, "aarch64": 212}[ARCHITECTURE])

    def test_all_attacks_are_refused(self):
        self.assert_all_refused(self.outcomes())

    def test_all_attacks_are_refused_as_nobody(self):
        self.assert_all_refused(self.outcomes(user=NOBODY))

    def test_no_other_call_number_is_allowed(self):
        if SANITIZED:
            self.skipTest("the sanitizers need more calls")
        done = self.attack("probe-all")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("all numbers tried", done.stderr)
        self.assertEqual(re.findall(r"^ *(\d+: -?\d+)$", done.stderr, re.M), [])

    @unittest.skipIf(ARCHITECTURE != "x86_64", "only x86-64 has calls of other tables in a 64-bit process")
    def test_a_call_by_x32_number_or_32_bit_interrupt_ends_the_helper(self):
        for mode in ("probe-x32", "probe-int80"):
            with self.subTest(mode=mode):
                done = self.attack(mode)
                self.assertEqual(done.returncode, 4, done.stderr)
                self.assertIn("(SIGSYS)", done.stderr)


class Layers(SandboxTest):
    def helper(self, *words, **options):
        helper = HelperProcess(*words, **options)
        self.addCleanup(helper.close)
        return helper

    def test_the_hello_states_each_layer(self):
        _, (_, layers) = self.helper().hello()
        self.assertEqual([layer.split(":")[0] for layer in layers], LAYERS)
        for layer in layers:
            if not layer.startswith("landlock"):
                self.assertIn(layer.split(": ", 1)[1], ("on", self.without_landlock(layers)), layer)
        self.assertRegex(layers[1], r"^landlock: (on: ABI \d+|off: .+)$")

    def without_landlock(self, layers):
        """The state of a guardian that lacks the same Landlock as the tool process; None where that has it."""
        state = layers[1].removeprefix("landlock: off: ")
        return None if state == layers[1] else f"on: without landlock: {state}"

    def layers_without(self, call):
        """The states of the layers, by name, on a kernel that refuses the system call of this number."""
        env = {"FATLINK_REAL_LINKD": str(LINKD), "FATLINK_REFUSED_CALL": str(call)}
        _, (_, layers) = self.helper(program=TESTS / "refuse_seccomp", env=env).hello()
        return dict(layer.split(": ", 1) for layer in layers)

    @unittest.skipIf(SANITIZED, "the sanitizers end the helper at its start where they cannot read its limits")
    def test_the_hello_states_limits_that_the_kernel_refuses(self):
        layers = self.layers_without(PRLIMIT64)
        self.assertEqual(layers["limits"], "off: Operation not permitted")
        self.assertEqual(layers["seccomp"], "on")

    def test_the_hello_states_what_the_guardian_lacks(self):
        for call, lacks in ((PRLIMIT64, "limits"), (CAPSET, "capabilities")):
            with self.subTest(lacks):
                if SANITIZED and call == PRLIMIT64:
                    self.skipTest("the sanitizers end the helper at its start where they cannot read its limits")
                guardian = self.layers_without(call)["guardian"]
                self.assertIn(f"without {lacks}: Operation not permitted", guardian)
                self.assertTrue(guardian.startswith("on: "), guardian)

    def test_the_guardian_is_confined_before_the_hello(self):
        for _ in range(10):
            helper = self.helper()
            helper.hello()
            self.assertEqual(self.status_of(helper.process.pid)["Seccomp"], "2")

    def status_of(self, process):
        with open(f"/proc/{process}/status", encoding="utf-8") as file:
            return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)

    def test_both_processes_have_no_capability_and_a_filter(self):
        helper = self.helper()
        tool_process, _ = helper.hello()
        for process in (tool_process, helper.process.pid):
            status = self.status_of(process)
            for name in ("CapInh", "CapPrm", "CapEff", "CapAmb") + (("CapBnd",) if os.getuid() == 0 else ()):
                self.assertEqual(int(status[name], 16), 0, name)
            self.assertEqual(status["NoNewPrivs"], "1")
            self.assertEqual(status["Seccomp"], "2")

    def test_the_tool_process_has_no_descriptor_but_its_socket_and_what_it_prints(self):
        tool_process, _ = self.helper().hello()
        if os.getuid() != 0:
            self.skipTest("the helper cannot be inspected by its own user")
        folder = f"/proc/{tool_process}/fd"
        targets = {name: os.readlink(f"{folder}/{name}") for name in os.listdir(folder)}
        self.assertEqual(sorted(targets), ["0", "1", "2"])
        self.assertTrue(targets["0"].startswith("socket:"), targets)
        self.assertIn("fatlink-printed", targets["1"])
        self.assertEqual(targets["1"], targets["2"])

    def test_its_limits_cover_processes_and_processor_time(self):
        helper = self.helper()
        tool_process, _ = helper.hello()
        for process in (tool_process, helper.process.pid):
            with open(f"/proc/{process}/limits", encoding="utf-8") as file:
                limits = dict(re.findall(r"^(Max [a-z ]+?)  +(\w+)", file.read(), re.M))
            self.assertEqual(limits["Max cpu time"], "3600")
            self.assertEqual(limits["Max processes"], "1024")
            self.assertEqual(limits["Max core file size"], "0")
            self.assertEqual(limits["Max open files"], "64")

    def test_it_cannot_be_inspected_by_another_process_of_its_user(self):
        program, (hostile, *_) = self.copies(NOBODY)
        helper = self.helper(program=program.parents[1] / "libexec/fatlink-linkd", user=NOBODY,
                             env={"FATLINK_NVJITLINK": str(hostile)})
        tool_process, _ = helper.hello()
        for process in (tool_process, helper.process.pid):
            self.assertEqual(os.stat(f"/proc/{process}/environ").st_uid, 0)


class WithoutSeccomp(SandboxTest):
    """On a kernel that refuses it."""
    ENVIRONMENT = {"FATLINK_LINKD": str(TESTS / "refuse_seccomp"), "FATLINK_REAL_LINKD": str(LINKD)}

    def test_links_fail_with_the_remedy(self):
        done = self.attack("print nothing", env=self.ENVIRONMENT)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("fatlink-linkd cannot be confined: the kernel refuses seccomp: Operation not permitted",
                      done.stderr)
        self.assertIn("--allow-unconfined", done.stderr)

    def test_the_helper_goes_on_where_that_is_allowed_and_says_so(self):
        helper = HelperProcess("--allow-unconfined", program=TESTS / "refuse_seccomp", env=self.ENVIRONMENT)
        self.addCleanup(helper.close)
        _, (_, layers) = helper.hello()
        self.assertEqual(layers[0], "seccomp: off: Operation not permitted")
        self.assertIn("without seccomp: Operation not permitted", layers[-1])

    def test_links_go_on_with_a_warning_where_that_is_allowed(self):
        self.need_nvjitlink()
        for _ in range(2):
            done = self.fatlink(*LINK, *INPUTS, "--allow-unconfined", env=self.ENVIRONMENT)
            self.assertRegex(done.stderr, "fatlink: warning: nvJitLink runs without its sandbox.*Operation not permitted")

    def test_doctor_shows_the_state_of_each_layer(self):
        self.need_nvjitlink()
        layers = self.fatlink_json("doctor")["link_helper"]["layers"]
        self.assertEqual([layer["name"] for layer in layers], LAYERS)
        found = self.fatlink_json("doctor", env=self.ENVIRONMENT, status=5)
        self.assertFalse(found["link_helper"]["layers"][0]["on"])
        self.assertIn("--allow-unconfined", found["verdicts"]["link"]["remedy"])


if __name__ == "__main__":
    unittest.main()
