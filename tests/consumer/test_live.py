# SPDX-License-Identifier: Apache-2.0
"""The example of docs/live.md, taken from it: it compiles without a warning and prints what the document shows."""
import pathlib
import subprocess
import tempfile
import unittest

from document_session import blocks, steps
from test_tutorial import BUILD, SOURCE, WARNINGS, environment
from fatlink_cli import nvjitlink


class LiveModules(unittest.TestCase):
    def setUp(self):
        if not nvjitlink():
            self.skipTest("no nvJitLink on this machine")
        folder = tempfile.TemporaryDirectory(prefix="fatlink-live-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.text = (SOURCE / "docs/live.md").read_text()

    def run_in_folder(self, *words):
        done = subprocess.run([str(word) for word in words], cwd=self.folder, text=True, capture_output=True,
                              env={**environment(self.folder), "FATLINK_PATH": str(BUILD / "share/fatlink"),
                                   "LD_LIBRARY_PATH": str(BUILD / "lib")})
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def test_print_what_the_document_shows(self):
        program = next(content for _, _, content in blocks(self.text, "cpp") if "int main" in content)
        (self.folder / "host.cpp").write_text(program)
        session = next(content for _, _, content in blocks(self.text, "console") if "./host" in content)
        build, run = ((step.command, step.expected) for step in steps(session))
        self.assertIn("-lfatlink", build[0])
        self.run_in_folder("g++", "-std=c++20", *WARNINGS, f"-I{SOURCE}/host/include", "host.cpp", "-o", "host",
                           f"-L{BUILD}/lib", "-lfatlink")
        self.assertEqual(self.run_in_folder("./host", run[0].split()[1]).splitlines(), run[1])

    def test_tiers_compile(self):
        part = next(content for _, _, content in blocks(self.text, "cpp") if ".tiered" in content)
        program = ("#include <fatlink/live_module.hpp>\n#include <cstdio>\nvoid start(std::shared_ptr<fatlink::device> device, "
                   f"fatlink::linker linker, std::vector<fatlink::input> inputs)\n{{\n{part}}}\n")
        (self.folder / "tiers.cpp").write_text(program)
        self.run_in_folder("g++", "-std=c++20", *WARNINGS, "-fsyntax-only", f"-I{SOURCE}/host/include", "tiers.cpp")


if __name__ == "__main__":
    unittest.main()
