# SPDX-License-Identifier: Apache-2.0
"""A watching host while a fatbin and its sidecar are replaced, by renaming in either order:
500 replacements, times FATLINK_TEST_SCALE."""
import pathlib
import random
import shutil
import struct
import tempfile
import time
import unittest

from fatlink_cli import scaled
from generated_fatbin import ptx_fatbin
from watch_case import WatchingHost, digest, sidecar

COUNT = scaled(500)
PAUSE_S = 0.003  # at most, between two renames
LONG_PAUSE_S = 0.3
TRANSFORM = """.visible .func (.param .b32 r) user_transform(.param .b32 p)
{{
.reg .f32 %f<3>;
ld.param.f32 %f1, [p];
mul.f32 %f2, %f1, 0f{:08X};
st.param.f32 [r], %f2;
ret;
}}
"""


def transform(factor):
    """A fatbin whose user_transform(x) is factor * x."""
    return ptx_fatbin(TRANSFORM.format(struct.unpack("<I", struct.pack("<f", factor))[0]))


class Replacements(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-watch-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.fatbin, self.json = self.folder / "t.fatbin", self.folder / "t.json"
        self.written = {}  # SHA-256 -> factor
        self.random = random.Random(7)

    def rename(self, path, content):
        partial = path.with_suffix(path.suffix + ".new")
        partial.write_bytes(content)
        partial.rename(path)

    def write_in_place(self, path, content):
        with path.open("r+b") as file:
            file.truncate(0)
            for begin in range(0, len(content), 100):
                file.write(content[begin:begin + 100])
                file.flush()

    def replace(self, factor, write, pause):
        content = transform(factor)
        self.written[digest(content)] = factor
        steps = [(self.fatbin, content), (self.json, sidecar(content))]
        self.random.shuffle(steps)
        write(*steps[0])
        time.sleep(pause)
        write(*steps[1])
        return digest(content)

    def check(self, host, last):
        self.assertTrue(host.saw(last), "the last version was not seen")
        self.assertEqual(host.end(), 0)
        self.assertEqual(host.errors, [])
        for sha256, result in host.versions:
            self.assertEqual(result, self.written.get(sha256), "a version that was not written, or a wrong result")
        steps = [self.written[sha256] for sha256, _ in host.versions]
        self.assertEqual(steps, sorted(steps), "an older version after a newer one")

    def test_every_version_seen_was_written_and_the_last_one_is_seen(self):
        self.replace(1, self.rename, 0)
        host = WatchingHost(self, self.fatbin)
        started = time.monotonic()
        for factor in range(2, COUNT + 2):
            last = self.replace(factor, self.rename, LONG_PAUSE_S if factor % 500 == 0 else self.random.uniform(0, PAUSE_S))
            time.sleep(self.random.uniform(0, PAUSE_S))
        seconds = time.monotonic() - started
        self.check(host, last)
        self.assertGreater(len(host.versions), COUNT // 10)
        print(f"\n{COUNT} replacements in {seconds:.1f} s, {len(host.versions)} versions seen, {len(host.errors)} errors")

    def test_files_that_are_written_in_place(self):
        self.replace(1, self.rename, 0)
        host = WatchingHost(self, self.fatbin)
        for factor in range(2, 30):
            last = self.replace(factor, self.write_in_place, self.random.uniform(0, PAUSE_S))
            if factor % 5 == 0:
                self.assertTrue(host.saw(last))
        self.check(host, last)


if __name__ == "__main__":
    unittest.main()
