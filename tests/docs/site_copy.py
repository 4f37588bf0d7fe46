# SPDX-License-Identifier: Apache-2.0
"""The site of the target docs, made in a folder of its own from a copy of the sources, which tests can change."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(os.environ["FATLINK_BUILD"])
SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
HEADERS = "host/include/fatlink"
COPIED = (HEADERS, "cmake", "docs")
TOOLS = ("doxygen", "sphinx-build")
MISSING = [tool for tool in TOOLS if shutil.which(tool) is None]


class SiteCopy:
    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-docs-"))
        for path in COPIED:
            shutil.copytree(SOURCE / path, self.folder / path, ignore=shutil.ignore_patterns("__pycache__"))
        self.manual = self.folder / "fatlink.1"
        shutil.copy(BUILD / "share/man/man1/fatlink.1", self.manual)
        self.documents = self.folder / "documents"
        shutil.copytree(BUILD / "share/doc/fatlink", self.documents)
        settings = (BUILD / "docs/Doxyfile").read_text()
        for path in (BUILD / "docs", SOURCE):
            settings = settings.replace(str(path), str(self.folder))
        (self.folder / "Doxyfile").write_text(settings)

    def remove(self):
        shutil.rmtree(self.folder)

    def append(self, path, text):
        with (self.folder / path).open("a") as file:
            file.write(text)

    def run(self, *words, **env):
        return subprocess.run([str(word) for word in words], cwd=self.folder, text=True, capture_output=True, env={**os.environ, **env})

    def run_doxygen(self, *settings):
        """Reads the headers, to xml/. Further settings are lines of the Doxyfile."""
        self.append("Doxyfile", "".join(f"\n{line}" for line in settings))
        return self.run("doxygen", "Doxyfile")

    def make_pages(self):
        return self.run(sys.executable, "-B", "cmake/build/site/make_pages.py", self.folder, self.manual, self.documents, self.folder)

    def run_sphinx(self):
        """Makes html/ from pages/ and xml/."""
        return self.run("sphinx-build", "-q", "-W", "--keep-going", "-c", "cmake/build/site", "-d", "doctrees", "pages", "html",
                        FATLINK_VERSION="1.2.3", FATLINK_XML=str(self.folder / "xml"))
