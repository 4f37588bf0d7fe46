# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/clusters.md for jobs without MPI: a cache layer, and tasks of Dask that use its links on the reference
device."""
import contextlib
import importlib.util
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

from document_session import blocks, run_session

BUILD = pathlib.Path(os.environ["FATLINK_BUILD"])
SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
SECTION = (SOURCE / "docs/clusters.md").read_text().partition("## A shared cache layer\n")[2]
MISSING = [name for name in ("numpy", "distributed") if importlib.util.find_spec(name) is None]
TIME_LIMIT = 240  # seconds after which a job counts as hanging


@unittest.skipIf(MISSING, f"not installed for {sys.executable}: {', '.join(MISSING)}")
class Dask(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="fatlink-dask-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        tools = self.folder / "tools"
        tools.mkdir()
        for name, module in (("python3", ""), ("dask", "-m dask")):
            (tools / name).write_text(f'#!/bin/sh\nexec {sys.executable} {module} "$@"\n')
            (tools / name).chmod(0o755)
        self.env = {**os.environ, "PATH": f"{tools}:{BUILD}/bin:{os.environ['PATH']}", "HOME": str(self.folder),
                    "PYTHONPATH": os.pathsep.join(filter(None, [f"{SOURCE}/host/python", os.environ.get("PYTHONPATH")])),
                    "FATLINK_LIBRARY": f"{BUILD}/lib/libfatlink.so", "FATLINK_CACHE_DIR": f"{self.folder}/cache",
                    "FATLINK_SYSTEM_CACHE": "", "PYTHONDONTWRITEBYTECODE": "1"}

    def run_script(self, script):
        """Runs the script, then ends what it started in the background."""
        with subprocess.Popen(["bash", "-c", script], cwd=self.folder, env=self.env, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, start_new_session=True) as process:
            try:
                output = process.communicate(timeout=TIME_LIMIT)
            finally:
                with contextlib.suppress(ProcessLookupError):  # nothing is left
                    os.killpg(process.pid, signal.SIGKILL)
        return subprocess.CompletedProcess(script, process.returncode, *output)

    def run_page(self, is_skipped=lambda command: False):
        """The last command of the page, after all of them ran, except those that are skipped."""
        page = SECTION.replace("/shared/", f"{self.folder}/")
        return run_session(page, self.folder, self.run_script, is_skipped)[-1]

    def test_workers_use_the_links_of_a_layer(self):
        last = self.run_page()
        self.assertIn("block_sums.py", last.command)
        self.assertEqual(len(last.expected), 2)
        self.assertEqual(last.missing, [], last.printed)

    def test_workers_without_a_layer_share_one_link(self):
        last = self.run_page(lambda command: re.match("fatlink|export", command))
        expected = next(content for _, language, content in blocks(SECTION) if language == "text")
        self.assertRegex(expected, "links made: 1\n$")
        self.assertIn(expected, last.printed)
        self.assertIn(last.expected[1], last.printed)


if __name__ == "__main__":
    unittest.main()
