# SPDX-License-Identifier: Apache-2.0
"""The wheel and the Dockerfile in a new Debian root, without compiler, CUDA and GPU."""
import json
import pathlib
import shutil
import subprocess
import unittest

import dockerfile
from debian_root import make_root, make_ubuntu_root, reach_package_index
from document_session import run_session
from wheel_case import SOURCE, WHEELS, WheelCase

RUN = ("run", "--device", "cpu", "--json")


class Base(WheelCase):
    """The root that the others copy: made once, because it takes minutes."""

    root = None


def setUpModule():
    Base.setUpClass()
    unittest.addModuleCleanup(Base.doClassCleanups)
    Base.root = make_root(Base.folder / "base")


class CleanRoot(WheelCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.base = Base.root

    def assert_verified(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual([(mode["mode"], mode["verified"]) for mode in report["modes"]], [("ptx", True), ("lto", True)])


# As scripts/bootstrap installs them: what a project that compiles with nvcc needs, from the vendor's wheels.
NVCC_WHEELS = ("nvidia-cuda-nvcc==13.0.88", "nvidia-cuda-crt==13.0.88", "nvidia-nvvm==13.0.88", "nvidia-cuda-runtime==13.0.96",
               "nvidia-cuda-cccl==13.0.85", "nvidia-cuda-nvrtc==13.0.88")
TOOLKIT = "/root/env/lib/python3.*/site-packages/nvidia/cu13"


class Tutorial:
    """The three pages, done as written by a newcomer with the wheel; pip and apt reach their indices."""

    @classmethod
    def prepare(cls, root):
        cls.root = root
        root.install("python3", "python3-venv", "ca-certificates", "g++", "cmake", "ninja-build")
        reach_package_index(root)  # after the certificates, as their installation writes a file that PIP_CERT may name
        shutil.copytree(WHEELS, root.folder / "wheels")
        root.done("python3", "-m", "venv", "/root/env")
        wheel, = (path.name for path in WHEELS.glob("fatlink-*.whl"))
        root.done("/root/env/bin/pip", "install", "-q", f"/wheels/{wheel}", "numpy", *NVCC_WHEELS)
        root.done("sh", "-c", f"cd {TOOLKIT} && ln -s lib lib64 && ln -s libcudart.so.13 lib/libcudart.so")

    def do(self, page):
        name = f"/root/{page}"
        folder = pathlib.Path(f"{self.root.folder}{name}")
        folder.mkdir()
        # What the pages say before their first step: an active environment, and CMake's folder of the wheel.
        start = (f"cd {name}; . /root/env/bin/activate; export PATH=$PATH:$(echo {TOOLKIT}/bin) CUDAToolkit_ROOT=$(echo {TOOLKIT}); "
                 "export fatlink_DIR=$(python3 -m fatlink --cmake-dir)\n")
        steps = run_session((SOURCE / f"docs/{page}.md").read_text(), folder,
                            lambda script: self.root.run("bash", "-c", start + script),
                            lambda command: "venv" in command or "pip install" in command)
        for step in steps:
            self.assertEqual(step.missing, [], f"{step.command} printed\n{step.printed}")

    def test_an_algorithm_in_python(self):
        self.do("tutorial_python")

    def test_a_transform(self):
        self.do("tutorial_transform")

    def test_a_library(self):
        self.do("tutorial_library")


class TutorialOnDebian(Tutorial, CleanRoot):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.prepare(cls.base.copy(cls.folder / "tutorial"))


class TutorialOnUbuntu(Tutorial, WheelCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.prepare(make_ubuntu_root(cls.folder / "ubuntu"))


class Wheel(CleanRoot):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.root = cls.base.copy(cls.folder / "root")
        cls.root.install("python3", "python3-venv")
        shutil.copytree(WHEELS, cls.root.folder / "wheels")
        cls.root.done("python3", "-m", "venv", "/root/v")
        cls.root.done("/root/v/bin/pip", "install", "-q", "--no-index", "--find-links", "/wheels", "fatlink", "numpy")

    def test_only_fatlink_and_its_dependency_and_what_was_named_are_installed(self):
        listed = json.loads(self.root.done("/root/v/bin/pip", "list", "--format", "json"))
        self.assertEqual({entry["name"] for entry in listed} - {"pip", "setuptools"},
                         {"fatlink", "numpy", "nvidia-nvjitlink"})
        for tool in ("cc", "gcc", "nvcc"):
            self.assertNotEqual(self.root.run("sh", "-c", f"command -v {tool}").returncode, 0)

    def test_runs_and_verifies_without_an_active_environment(self):
        self.assert_verified(self.root.run("/root/v/bin/fatlink", *RUN))
        self.assert_verified(self.root.run("/root/v/bin/fatlink", *RUN, "--no-cache"))  # by the wheel's nvJitLink
        self.assert_verified(self.root.run("/root/v/bin/python", "-m", "fatlink", *RUN))

    def test_nvjitlink_is_that_of_the_vendors_wheel(self):
        found = json.loads(self.root.run("/root/v/bin/fatlink", "doctor", "--json").stdout)["nvjitlink"]
        self.assertEqual(found["reason"], "beside the Python package")

    def test_python_imports_it(self):
        self.root.done("/root/v/bin/python", "-c", "import fatlink, numpy")

    def test_python_opens_the_library(self):
        code = "import ctypes; from fatlink import _install as i; ctypes.CDLL(i.shared_library())"
        self.root.done("/root/v/bin/python", "-c", code)

    def test_python_reduces_on_the_reference_device(self):
        if self.root.run("/root/v/bin/python", "-c", "import fatlink; fatlink.reduce").returncode != 0:
            self.skipTest("this wheel has no fatlink.reduce")
        code = ("import fatlink, numpy; x = numpy.arange(1000, dtype='float32');"
                "print(float(fatlink.reduce(x, op='add')))")
        self.assertEqual(self.root.done("/root/v/bin/python", "-c", code), "499500.0\n")

    def test_python_sums_eight_types_without_nvrtc_and_makes_no_link(self):
        types = "int64 float64 float32 float16 int32 int8 uint8 bool".split()
        code = ("import fatlink, numpy, sys\n"
                "for t in sys.argv[1:]: x = (numpy.arange(1000) % 7).astype(t); print(fatlink.reduce(x) == x.sum(), fatlink.reduce(x).dtype == x.sum().dtype)")
        # An nvJitLink that is named and cannot be opened is an error where a link is made.
        said = self.root.done("/root/v/bin/python", "-c", code, *types, FATLINK_NVJITLINK="/absent")
        self.assertEqual(said, "True True\n" * len(types))


class Image(CleanRoot):
    def test_the_dockerfile_makes_an_image_that_verifies(self):
        context = self.folder / "context"
        (context / "build/packages").mkdir(parents=True)
        for wheel in WHEELS.glob("*.whl"):
            shutil.copy(wheel, context / "build/packages")
        shutil.copy(SOURCE / "Dockerfile", context)
        shutil.copy(SOURCE / ".dockerignore", context)
        if shutil.which("docker") and subprocess.run(["docker", "info"], capture_output=True).returncode == 0:
            self.done("docker", "build", "-t", "fatlink-test", context)
            self.addCleanup(subprocess.run, ["docker", "rmi", "fatlink-test"], capture_output=True)
            self.assert_verified(self.run_("docker", "run", "--rm", "fatlink-test", *RUN))
            return
        image = dockerfile.build((context / "Dockerfile").read_text(), context, self.base, self.folder, PIP_NO_INDEX="1")
        self.assert_verified(image.run(*RUN))
        self.assertEqual(image.root.done("python3", "--version").split()[0], "Python")
        self.assertNotEqual(image.root.run("python3", "-m", "pip", "--version").returncode, 0)
        self.assertFalse((image.root.folder / pathlib.Path("wheels")).exists())
        # As a user whom the image does not know, with a cache that serves the second run.
        for outcome in ("miss", "hit"):
            done = image.run(*RUN, "--library", "reduce_4", "--transform", "add_float", user="1234:1234", FATLINK_SYSTEM_CACHE="")
            self.assert_verified(done)
            lto, = [mode for mode in json.loads(done.stdout)["modes"] if mode["mode"] == "lto"]
            self.assertEqual([link["cache"] for link in lto["links"]], [outcome])
        self.assertEqual((image.root.folder / "cache/fatlink").stat().st_uid, 1234)

    def test_the_dockerfile_installs_extras(self):
        """Its arguments, without the installation: the vendor's wheels need not be on this machine."""
        lines = dockerfile.read_instructions((SOURCE / "Dockerfile").read_text())
        command, = [words for instruction, words in lines if instruction == "RUN" and "pip install" in words]
        (self.folder / "wheels").mkdir()
        (self.folder / "wheels/fatlink-1-py3-none-any.whl").touch()
        stated = command[command.index('"$(echo'):].split("&&")[0].replace("/wheels", str(self.folder / "wheels"))
        for extras, ending in (("", ".whl"), ("nvrtc", ".whl[nvrtc]"), ("numpy,nvrtc", ".whl[numpy,nvrtc]")):
            done = subprocess.run(["sh", "-c", f"echo {stated}"], env={"EXTRAS": extras}, text=True, capture_output=True)
            self.assertTrue(done.stdout.strip().endswith("any" + ending), done.stdout)


if __name__ == "__main__":
    unittest.main()
