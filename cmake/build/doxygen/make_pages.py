# SPDX-License-Identifier: Apache-2.0
"""Writes the pages of the site that Doxygen does not read from headers: the documents, the CMake functions, the manual page.

    make_pages.py SOURCE MANUAL DOCUMENTS OUTPUT

SOURCE: the repository. MANUAL: the manual page, configured. DOCUMENTS: the folder of documents with generated parts, which are
shown instead of those of docs/. OUTPUT: pages/ is made there for Doxygen, and in html/ the files that pages link to."""
import pathlib
import shutil
import sys

from cmake_page import cmake_page
from manual_page import manual_page
from markdown_page import markdown_page, page_name


def main(source, manual, generated, output):
    documents = {path.name: path for folder in (source / "docs", generated) for path in sorted(folder.glob("*.md"))}
    pages = {page_name(path.stem): markdown_page(path.stem, path.read_text()) for path in documents.values()}
    pages["cmake-functions"] = cmake_page((source / "cmake").glob("FatlinkAdd*.cmake"))
    pages["manual"] = manual_page(manual.read_text())
    shutil.rmtree(output / "pages", ignore_errors=True)
    (output / "pages").mkdir(parents=True)
    for name, text in pages.items():
        (output / "pages" / f"{name}.md").write_text(text)
    shutil.copytree(source / "docs/schemas", output / "html/schemas", dirs_exist_ok=True)
    for path in (source / "docs").glob("*.json"):
        shutil.copy(path, output / "html")


if __name__ == "__main__":
    main(*(pathlib.Path(argument) for argument in sys.argv[1:]))
