# SPDX-License-Identifier: Apache-2.0
"""The project of tests/consumer/cluster, built with an installed fatlink and run by Open MPI: 16 ranks map and sum an array with
one link for all of them, also where a link is refused, or a rank ends in the middle."""
import collections
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import unittest

from document_session import blocks
from fatlink_cli import gpus
from helper_process import wait_until
from outside_library import TOOLKIT, run
from run_tests import long_test

BUILD = pathlib.Path(os.environ["FATLINK_BUILD"])
SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
PROJECTS = SOURCE / "tests/consumer"
PAGE = (SOURCE / "docs/clusters.md").read_text()
CMAKE = os.environ["FATLINK_CMAKE"]
RANKS = 16
ELEMENTS = 100_003  # of which the last ranks have one less than the first
EXIT = -1  # instead of a signal: the rank exits
MPIRUN = ("mpirun", "-n", RANKS, "--oversubscribe", "--allow-run-as-root")
# What the C++ of the page names without a declaration.
DECLARATIONS = """#include <string>
extern std::string const name_of_this_ranks_gpu;
void use(fatlink::stream const& stream, fatlink::device_buffer<float> const& in, fatlink::device_buffer<float>& out)
{
"""
TIME_LIMIT = 240  # seconds after which a job counts as hanging


def npy(values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)},), }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}f", *values)


def processes_of(program):
    """The processes that run `program`."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "exe") == str(program):
                found.append(entry.name)
        except OSError:  # it has ended
            pass
    return found


@unittest.skipIf(shutil.which("mpirun") is None or shutil.which("mpicxx") is None, "Open MPI is not installed")
class Cluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-cluster-")).resolve()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        run(CMAKE, "--install", BUILD, "--prefix", cls.folder / "installed")
        cls.built("cluster")
        doctor = json.loads(run(BUILD / "bin/fatlink", "doctor", "--json"))
        cls.env = {**os.environ, "FATLINK_PATH": f"{cls.folder}/installed/share/fatlink", "HOME": str(cls.folder),
                   "FATLINK_NVJITLINK": doctor["nvjitlink"]["path"]}
        (cls.folder / "x.npy").write_bytes(npy([(index % 2000) / 250 - 4 for index in range(ELEMENTS)]))

    @classmethod
    @functools.cache
    def built(cls, project):
        """The folder with the programs of the project, which is built once."""
        run(CMAKE, *cls.configuration(project))
        run(CMAKE, "--build", cls.folder / project)
        return cls.folder / project

    @classmethod
    def configuration(cls, project):
        return ("-S", PROJECTS / project, "-B", cls.folder / project, "-G", "Ninja", f"-DCUDAToolkit_ROOT={TOOLKIT}",
                f"-DCMAKE_PREFIX_PATH={cls.folder}/installed")

    def mpirun(self, *words):
        """The job `words` of 16 ranks, which must end."""
        return subprocess.run([str(word) for word in (*MPIRUN, *words)], cwd=self.folder, env=self.env, text=True,
                              capture_output=True, timeout=TIME_LIMIT)

    def cluster(self, *words, prefix=()):
        return self.mpirun(*prefix, self.built("cluster") / "cluster", "x.npy", *words)

    def assert_verified(self, job, ranks_that_link):
        self.assertEqual(job.returncode, 0, job.stdout + job.stderr)
        for library in ("map1", "reduce_4"):
            self.assertIn(f"{library}: {ranks_that_link} of {RANKS} ranks linked\n", job.stdout)
        self.assertIn(f"{ELEMENTS} elements mapped, their sum is ", job.stdout)

    def test_one_rank_links(self):
        job = self.cluster("scale_add", "cpu")
        self.assert_verified(job, 1)
        shown = re.search(r"^\$ mpirun .* x.npy scale_add cpu .*\n((?:.+\n)+)```", PAGE, re.MULTILINE)[1]
        self.assertEqual(job.stdout, shown)

    def test_the_code_of_the_page(self):
        lines = next(content for _, _, content in blocks(PAGE, "cmake")).splitlines()
        self.assertLessEqual(set(lines), set((PROJECTS / "cluster/CMakeLists.txt").read_text().splitlines()))
        include, _, statements = next(content for _, _, content in blocks(PAGE, "cpp")).partition("\n")
        source = self.folder / "page.cpp"
        source.write_text(f"{include}\n{DECLARATIONS}{statements}}}\n")
        run("mpicxx", "-std=c++20", "-DOMPI_SKIP_MPICXX", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{SOURCE}/host/include", source)

    def test_each_rank_uses_its_gpu(self):
        if not gpus():
            self.skipTest("no GPU")
        self.assert_verified(self.cluster(), 1)

    @long_test  # LinkOnce.OneRankOfEachTargetLinks of unit_tests has two targets without MPI
    def test_one_rank_links_for_each_target(self):
        self.assert_verified(self.cluster("scale_add", "cpu:sm_90", "cpu:sm_80"), 2)

    @long_test  # test_one_rank_links counts the links
    def test_only_the_rank_that_links_opens_nvjitlink_or_starts_a_helper(self):
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        tracer = self.folder / "tracer"
        tracer.write_text('#!/bin/sh\nexec strace -f -o "trace.$OMPI_COMM_WORLD_RANK" -e trace=openat,execve "$@"\n')
        tracer.chmod(0o755)
        job = self.cluster("scale_add", "cpu", prefix=[tracer])
        self.assertEqual(job.returncode, 0, job.stderr)
        for name in ("libnvJitLink", "fatlink-linkd"):
            ranks = [rank for rank in range(RANKS) if name in (self.folder / f"trace.{rank}").read_text()]
            self.assertEqual(ranks, [0], name)

    def test_a_refused_transform_is_the_same_error_on_all_ranks(self):
        job = self.cluster("relu_poly", "cpu")  # for apply_transform, not for map1
        self.assertNotEqual(job.returncode, 0)
        lines = collections.defaultdict(list)
        for rank, text in re.findall(r"^\[(\d+)\] (.*)$", job.stderr, re.MULTILINE):
            lines[int(rank)].append(text)
        self.assertEqual(sorted(lines), list(range(RANKS)), job.stderr)
        self.assertRegex(lines[0][0], r"^cannot link for sm_\d+: .* \[contract-mismatch\]$")
        self.assertGreaterEqual(len(lines[0]), 3)  # message, hint, findings
        for rank in range(RANKS):
            self.assertEqual(lines[rank], lines[0])

    def interrupt(self, number, limit_ms, *words):
        """The job of which rank 3 sends itself signal `number`, or exits, and the errors of the ranks that could write them."""
        program = self.built("cluster_faults") / "interrupted"
        errors = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        job = self.mpirun(*words, program, 3, int(number), limit_ms, errors)
        # The launcher signals the other ranks and may end before the last of them.
        self.assertTrue(wait_until(lambda: not processes_of(program), seconds=10), processes_of(program))
        return job, {int(file.name): file.read_text() for file in errors.iterdir()}

    def assert_named_by_all_others(self, errors):
        expected = ("no answer from rank 3: its confirmation of the image is missing (limit of each step: 6 s)\n"
                    "an earlier call for this communicator ended with a rank_error\n")
        self.assertEqual(errors, {rank: expected for rank in range(RANKS) if rank != 3})

    # By default, the tests LinkOnce of unit_tests have silent ranks and failing channels without MPI.
    @long_test
    def test_a_rank_that_is_killed_ends_the_job_which_names_it(self):
        job, errors = self.interrupt(signal.SIGKILL, 600_000)
        self.assertNotEqual(job.returncode, 0)
        self.assertRegex(job.stderr, r"process rank 3 .*signal 9")
        self.assertEqual(errors, {})

    @long_test
    def test_a_rank_that_is_killed_is_named_by_all_others_where_the_launcher_lets_them_go_on(self):
        _, errors = self.interrupt(signal.SIGKILL, 6000, "--enable-recovery")
        self.assert_named_by_all_others(errors)

    @long_test
    def test_a_rank_that_exits_ends_the_job_which_names_it(self):
        job, errors = self.interrupt(EXIT, 600_000)
        self.assertNotEqual(job.returncode, 0)
        self.assertRegex(job.stderr, r"(?i)rank 3")
        self.assertEqual(errors, {})

    @long_test
    def test_a_rank_that_is_stopped_is_named_by_all_others(self):
        job, errors = self.interrupt(signal.SIGSTOP, 6000)
        self.assertNotEqual(job.returncode, 0)
        self.assert_named_by_all_others(errors)

    @long_test  # test_one_rank_links broadcasts images
    def test_a_broadcast_carries_messages_of_any_size_from_any_rank(self):
        self.assertEqual(run("mpirun", "-n", 6, *MPIRUN[3:], self.built("cluster_faults") / "broadcasts"), "42\n")

    def misuse_channel(self):
        return run("mpirun", "--allow-run-as-root", "-n", "1", self.built("cluster_faults") / "misused_channel").splitlines()

    @long_test
    def test_a_channel_says_why_it_cannot_be_used(self):
        lines = self.misuse_channel()
        self.assertEqual(lines[::2][:2], ["usage: MPI is not running in this process", "usage: the communicator is MPI_COMM_NULL"])
        self.assertRegex(lines[4], r"^linker: MPI_Isend: .*invalid rank")
        self.assertTrue(all(lines[1:6:2]))  # hints

    @long_test
    def test_a_message_being_sent_when_a_call_of_mpi_fails_arrives(self):
        lines = self.misuse_channel()
        self.assertRegex(lines[6], r"^linker: MPI_Isend: .*invalid rank")
        self.assertEqual(lines[8], "received")

    def test_without_mpi_the_package_says_what_to_install(self):
        with self.assertRaisesRegex(AssertionError, r"the component mpi needs MPI 3\.0 for CXX, which was not found;\s+install it"):
            run(CMAKE, *self.configuration("cluster"), "--fresh", "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON", "-B", self.folder / "without")

    def test_a_project_in_c_gets_the_mpi_of_c(self):
        project = self.folder / "project_in_c"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(c LANGUAGES C)\nfind_package(fatlink REQUIRED COMPONENTS mpi)\n"
            "get_target_property(libraries fatlink::mpi INTERFACE_LINK_LIBRARIES)\nmessage(\"fatlink::mpi: ${libraries}\")\n")
        done = subprocess.run([str(word) for word in (CMAKE, *self.configuration("cluster"), "-S", project, "-B", project / "build")], text=True,
                              capture_output=True)
        self.assertIn("fatlink::mpi: MPI::MPI_C\n", done.stderr, done.stdout)

    def test_the_library_itself_is_linked_with_no_mpi(self):
        needed = run("readelf", "-d", self.folder / "installed/lib/libfatlink.so")
        self.assertNotIn("libmpi", needed)


if __name__ == "__main__":
    unittest.main()
