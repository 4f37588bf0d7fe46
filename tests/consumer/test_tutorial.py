# SPDX-License-Identifier: Apache-2.0
"""README and the tutorial, done as a reader does them: their files are written, their commands run, and what the pages show is
printed. Python's pages use the package of the build tree."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from document_session import blocks, run_session

BUILD = pathlib.Path(os.environ["FATLINK_BUILD"])
SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
TOOLKIT = pathlib.Path(os.environ["FATLINK_NVCC"]).parent.parent
WARNINGS = ["-Wall", "-Wextra", "-Werror"]


def library(name, folder):
    """A variable for fatlink's search, with the toolkit's library of this name."""
    files = (BUILD / "lib" / f"lib{name}.so.13", TOOLKIT / folder / f"lib{name}.so.13")
    found = next((path for path in files if path.exists()), None)
    return {f"FATLINK_{name.upper()}": str(found)} if found else {}


def environment(folder):
    return {**os.environ, "PATH": f"{BUILD}/bin:{TOOLKIT}/bin:{os.environ['PATH']}",
            "CMAKE_PREFIX_PATH": str(BUILD), "CUDAToolkit_ROOT": str(TOOLKIT), "CMAKE_GENERATOR": "Ninja",
            "PYTHONPATH": f"{SOURCE}/host/python", "FATLINK_LIBRARY": f"{BUILD}/lib/libfatlink.so",
            "PYTHONDONTWRITEBYTECODE": "1", "FATLINK_CACHE_DIR": f"{folder}/cache", "XDG_DATA_HOME": f"{folder}/data",
            **library("nvJitLink", "lib"), **library("nvrtc", "lib")}


class Pages(unittest.TestCase):
    def do(self, page):
        """Does what a page says, except for its set-up of fatlink itself."""
        with tempfile.TemporaryDirectory(prefix="fatlink-tutorial-") as name:
            folder = pathlib.Path(name)
            tools = folder / "tools"
            tools.mkdir()
            (tools / "python3").symlink_to(sys.executable)
            # What an installed fatlink.pc says of its own prefix, for the build tree.
            (tools / "pkg-config").write_text(f"#!/bin/sh\ncase $1 in --variable=libdir) echo {BUILD}/lib ;;\n"
                                              f"*) echo -I{SOURCE}/host/include -L{BUILD}/lib -lfatlink ;; esac\n")
            (tools / "pkg-config").chmod(0o755)
            env = environment(folder)
            env["PATH"] = f"{tools}:{env['PATH']}"
            work = folder / "work"
            work.mkdir()
            done = run_session((SOURCE / page).read_text(), work, lambda script: subprocess.run(
                ["bash", "-c", script], cwd=work, env=env, capture_output=True, text=True, timeout=900), lambda command: re.search(r"\./scripts/|venv|pip install", command))
            for step in done:
                self.assertEqual(step.missing, [], f"{page}: {step.command} printed\n{step.printed}")
            return done

    def test_of_the_readme_work_as_written(self):
        self.assertGreater(len(self.do("README.md")), 3)

    def test_of_python_work_as_written(self):
        self.assertGreater(len(self.do("docs/tutorial_python.md")), 3)

    def test_of_a_transform_work_as_written(self):
        self.assertGreater(len(self.do("docs/tutorial_transform.md")), 8)

    def test_of_a_library_work_as_written(self):
        self.assertGreater(len(self.do("docs/tutorial_library.md")), 6)

    def test_have_cpp_without_a_warning(self):
        for page in ("README.md", "docs/tutorial_library.md", "docs/using.md"):
            sources = [content for _, _, content in blocks((SOURCE / page).read_text(), "cpp") if "int main" in content]
            self.assertNotEqual(sources, [], page)
            for source in sources:
                done = subprocess.run(["g++", "-std=c++20", *WARNINGS, "-fsyntax-only", f"-I{SOURCE}/host/include", "-xc++", "-"],
                                      input=source, capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""), page)

    def test_of_the_readme_are_short(self):
        self.assertLessEqual(len((SOURCE / "README.md").read_text().splitlines()), 90)


if __name__ == "__main__":
    unittest.main()
