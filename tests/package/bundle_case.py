# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of bundles: a temporary folder, commands run in it, and a licence."""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["FATLINK_BUILD"])
SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
CMAKE = os.environ["FATLINK_CMAKE"]


def toolkit():
    """The toolkit's folder as nvcc reports it: the nvcc on the PATH may be a script elsewhere."""
    done = subprocess.run([os.environ["FATLINK_NVCC"], "-v", "__dummy"], text=True, capture_output=True)
    return pathlib.Path(re.search(r"TOP=(.*)", done.stdout + done.stderr)[1]).resolve()


TOOLKIT = toolkit()

# As the vendor's text is laid out, with what must not be taken for a listed library.
LICENCE = """2.6. Attachment A

The following portions of the SDK are distributable under the
Agreement:

Component

CUDA Runtime

Windows

libonwindows.so, cudart.dll

Linux

libcudart.so,
libcudart_static.a, libnvJitLink.so
libwrapped.so

The NVIDIA CUDA Driver Libraries, libinprose.so too, are only
distributable in applications that meet these criteria.

Component

NVIDIA CUDA Driver Libraries

Linux

libcuda.so, libnvidia-ptxjitcompiler.so

2.7. Attachment B

Linux

libafterwards.so
"""


def digest(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


class Bundle(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-bundle-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def put(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run_(self, *words, **more):
        return subprocess.run([str(word) for word in words], cwd=self.folder, text=True, capture_output=True,
                              **more)

    def done(self, *words, **more):
        done = self.run_(*words, **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def assert_refused(self, words, *command):
        done = self.run_(*command)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(words, " ".join(done.stderr.split()))

    def run_paths(self, file):
        """The RPATH and RUNPATH of the dynamic section."""
        lines = self.done("readelf", "-dW", file).splitlines()
        return [line.split("[")[1].rstrip("]") for line in lines if "RUNPATH" in line or "RPATH" in line]
