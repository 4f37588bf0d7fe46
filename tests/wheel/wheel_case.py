# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of the wheel: the folder of wheels that make_wheels made, and commands run in a temporary folder."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
WHEELS = pathlib.Path(os.environ.get("FATLINK_WHEELS", "/nowhere"))
CMAKE = os.environ["FATLINK_CMAKE"]
NVCC = pathlib.Path(os.environ["FATLINK_NVCC"])


def fatlink_wheel():
    """The wheel of fatlink; skips the tests if there is none."""
    wheels = sorted(WHEELS.glob("fatlink-*.whl"))
    if not wheels:
        raise unittest.SkipTest("FATLINK_WHEELS names no folder with a wheel of fatlink (tests/wheel/make_wheels)")
    return wheels[-1]


class WheelCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.wheel = fatlink_wheel()
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-wheel-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)

    @classmethod
    def run_(cls, *words, **options):
        return subprocess.run([str(word) for word in words], text=True, capture_output=True,
                              **{"cwd": cls.folder, **options})

    @classmethod
    def done(cls, *words, **options):
        """The output of a command that succeeds."""
        done = cls.run_(*words, **options)
        if done.returncode != 0:
            raise AssertionError(f"{words}: status {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
        return done.stdout


class Environment(WheelCase):
    """A virtual environment with the wheel and nvJitLink's, and a user without settings."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.environment = cls.folder / "environment"
        cls.done(sys.executable, "-m", "venv", cls.environment)
        cls.done(cls.environment / "bin/pip", "install", "-q", "--no-index", "--find-links", WHEELS, cls.wheel)
        cls.python = cls.environment / "bin/python"
        cls.env = {"PATH": os.environ["PATH"], "HOME": str(cls.folder), "FATLINK_CACHE_DIR": str(cls.folder / "cache")}

    def fatlink(self, *words):
        return self.done(self.environment / "bin/fatlink", *words, env=self.env)
