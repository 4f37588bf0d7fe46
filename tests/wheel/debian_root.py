# SPDX-License-Identifier: Apache-2.0
"""A Debian without compiler, CUDA and GPU, in a folder; commands run in it with chroot. Needs root and debootstrap."""
import os
import pathlib
import shutil
import subprocess
import unittest

CHROOT = shutil.which("chroot", path=os.environ["PATH"] + ":/usr/sbin")
DEBOOTSTRAP = shutil.which("debootstrap", path=os.environ["PATH"] + ":/usr/sbin")
CLEAN = {"HOME": "/root", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive",
         "PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}


def make_root(folder):
    """A new root, or a copy of the one that $FATLINK_DEBIAN_ROOT names. Skips the tests where none can be made."""
    if os.geteuid() != 0:
        raise unittest.SkipTest("debootstrap and chroot need root")
    made = os.environ.get("FATLINK_DEBIAN_ROOT")
    if made:
        return Root(pathlib.Path(made)).copy(folder)
    if not DEBOOTSTRAP:
        raise unittest.SkipTest("debootstrap is not installed (scripts/bootstrap --packaging)")
    done = subprocess.run([DEBOOTSTRAP, "--variant=minbase", "bookworm", folder], text=True, capture_output=True)
    if done.returncode != 0:
        raise unittest.SkipTest(f"debootstrap failed: {done.stdout[-500:]}")
    return Root(folder)


class Root:
    def __init__(self, folder):
        self.folder = folder
        self.env = dict(CLEAN)

    def copy(self, folder):
        subprocess.run(["cp", "-a", "--one-file-system", self.folder, folder], check=True)
        root = Root(folder)
        root.env = dict(self.env)
        return root

    def run(self, *words, **env):
        """Runs a command in the root, with /proc, in which programs find their own file."""
        proc = self.folder / "proc"
        subprocess.run(["mount", "-t", "proc", "proc", proc], check=True)
        try:
            return subprocess.run(["env", "-i", *(f"{name}={text}" for name, text in {**self.env, **env}.items()),
                                   CHROOT, self.folder, *words], text=True, capture_output=True)
        finally:
            subprocess.run(["umount", proc], check=True)

    def done(self, *words, **env):
        """The output of a command that succeeds."""
        done = self.run(*words, **env)
        if done.returncode != 0:
            raise AssertionError(f"{words}: status {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
        return done.stdout

    def install(self, *packages):
        self.done("apt-get", "-qq", "update")
        self.done("apt-get", "-qq", "-y", "--no-install-recommends", "install", *packages)
