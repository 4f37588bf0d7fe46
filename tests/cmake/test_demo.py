# SPDX-License-Identifier: Apache-2.0
"""scripts/demo installs and builds only what the main job needs."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
BUILD = pathlib.Path(os.environ["FATLINK_BUILD"])
NVCC = pathlib.Path(os.environ["FATLINK_NVCC"])
CMAKE = os.environ["FATLINK_CMAKE"]
BASELINE_COMPILE_STEPS = 317  # of scripts/demo before it had a preset, on a machine without clang++


class Packages(unittest.TestCase):
    """scripts/bootstrap with compilers that find no header, and an apt-get that only logs its arguments."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-demo-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.log = self.folder / "log"
        for name, script in (("g++", "exit 1"), ("sudo", 'exec "$@"'), ("apt-get", f'echo "$*" >> {self.log}')):
            (self.folder / name).write_text(f"#!/bin/sh\n{script}\n")
            (self.folder / name).chmod(0o755)

    def packages(self, *arguments):
        path = f"{self.folder}:{NVCC.parent}:{os.environ['PATH']}"
        done = subprocess.run([SOURCE / "scripts/bootstrap", *arguments], text=True, capture_output=True,
                              env={**os.environ, "PATH": path})
        self.assertEqual(done.returncode, 0, done.stderr)
        installed, = re.findall(r"(?m)^install .*", self.log.read_text())
        self.log.unlink()
        return set(installed.split())

    def test_for_the_demo_lack_those_of_tests(self):
        demo = self.packages("--demo")
        self.assertTrue({"libcli11-dev", "libfmt-dev", "nettle-dev"} <= demo, demo)
        self.assertTrue(demo.isdisjoint({"libgtest-dev", "libgmock-dev", "libbenchmark-dev"}), demo)

    def test_for_a_build_have_those_of_tests(self):
        self.assertTrue({"libcli11-dev", "libgtest-dev", "libgmock-dev", "libbenchmark-dev"} <= self.packages("--build-only"))


class Wheels(unittest.TestCase):
    """scripts/bootstrap beside an nvcc in .cuda/, with a Python whose pip only logs its arguments and fails."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-demo-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "scripts").mkdir()
        shutil.copy(SOURCE / "scripts/bootstrap", self.folder / "scripts")
        self.log = self.folder / "log"
        pip = f'#!/bin/sh\necho "$*" > {self.log}\nexit 1\n'
        self.script("bin/python3", f'[ "$2" = venv ] && [ "$3" != --help ] || exit 0\nmkdir -p "$3/bin"\n'
                                   f"cat > \"$3/bin/pip\" <<'PIP'\n{pip}PIP\nchmod +x \"$3/bin/pip\"")
        for name in ("sudo", "apt-get"):
            self.script(f"bin/{name}", "exit 0")
        self.script(".cuda/bin/nvcc", "echo release 13.0")

    def script(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def installed(self, *arguments):
        """The packages that pip is to install."""
        subprocess.run([self.folder / "scripts/bootstrap", *arguments], capture_output=True,
                       env={**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"})
        return {word.partition("==")[0] for word in self.log.read_text().split() if "==" in word} if self.log.exists() else set()

    def test_of_the_demo_are_completed_for_tests(self):
        self.assertEqual(self.installed("--demo"), set())
        self.assertTrue({"nvidia-cuda-nvcc", "nvidia-nvjitlink", "nvidia-nvvm", "nvidia-cuda-nvrtc"} <= self.installed("--build-only"))

    def test_that_are_there_are_not_installed_again(self):
        (self.folder / ".cuda/lib").mkdir()
        (self.folder / ".cuda/lib/libnvrtc.so.13").touch()
        self.assertEqual(self.installed("--build-only"), set())


class Preset(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.build = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-demo-"))
        cls.addClassCleanup(shutil.rmtree, cls.build)
        done = subprocess.run([CMAKE, "--preset", "demo", "-B", cls.build, f"-DCUDAToolkit_ROOT={NVCC.parent.parent}",
                               "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_benchmark=ON"],
                              cwd=SOURCE, text=True, capture_output=True)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.commands = subprocess.run(["ninja", "-C", cls.build, "-t", "commands", "main_job"], text=True,
                                      capture_output=True, check=True).stdout.splitlines()

    def outputs(self, pattern):
        return {found for line in self.commands for found in re.findall(pattern, line)}

    def test_builds_the_program_the_helper_and_the_fatbins_of_the_demo(self):
        self.assertEqual(self.outputs(r"-o (bin/\S+|libexec/\S+|lib/\S+)"), {"bin/fatlink", "libexec/fatlink-linkd"})
        self.assertEqual(self.outputs(r"SETTINGS=\S+/(\w+)\.settings\.cmake -DINSPECT"),
                         {"apply_transform_fatbin", "relu_poly", "gelu"})

    def test_compiles_at_most_half_of_what_the_demo_compiled_before(self):
        compilations = [line for line in self.commands if re.search(r" -c |compile_fatbin\.cmake", line)]
        self.assertLessEqual(len(compilations), BASELINE_COMPILE_STEPS / 2)

    def is_compiled_by_this_build(self, source):
        """Whether the build that is tested has compiled the same group, with warnings as errors."""
        same = BUILD / "groups" / source.name
        werror = re.search("^FATLINK_WERROR:BOOL=(ON|TRUE)$", (BUILD / "CMakeCache.txt").read_text(), re.M | re.I)
        return werror is not None and same.exists() and same.read_bytes() == source.read_bytes()

    def test_sources_that_are_compiled_in_groups_compile_together(self):
        groups = [line for line in self.commands if "/groups/" in line and " -c " in line]
        self.assertGreater(len(groups), 2)
        for command in groups:
            if self.is_compiled_by_this_build(pathlib.Path(command.rpartition(" ")[2])):
                continue
            with self.subTest(command=command.rpartition(" ")[2]):
                command = re.sub(r" -MD .* -c ", " -fsyntax-only ", command)
                done = subprocess.run(command, shell=True, cwd=self.build, text=True, capture_output=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
