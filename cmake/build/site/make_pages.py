# SPDX-License-Identifier: Apache-2.0
"""Writes the sources of the site for Sphinx: the documents, the CMake functions, the manual page and a page for each header.

    make_pages.py SOURCE MANUAL DOCUMENTS OUTPUT

SOURCE: the repository. MANUAL: the manual page, configured. DOCUMENTS: the folder of documents with generated parts, which are
shown instead of those of docs/. OUTPUT: pages/ is made there, and xml/ has Doxygen's XML of the headers."""
import copy
import pathlib
import re
import shutil
import sys
from xml.etree import ElementTree

from cmake_page import cmake_page
from document_page import document_page, header_page, target_of
from manual_page import manual_page

API_INDEX = """# C and C++ headers

The C interface is `fatlink.h`, which includes the headers of `fatlink/c`.
The other headers are C++.
A program uses the main classes in this order: {cpp:class}`fatlink::fatbin`, {cpp:class}`fatlink::linker`,
{cpp:class}`fatlink::linked_image`, {cpp:class}`fatlink::device`.
Errors are exceptions derived from {cpp:class}`fatlink::error`.

| header | contents |
|---|---|
"""


def introduction_of(header):
    """The comment at the top of a header, as one text of Markdown."""
    lines = []
    for line in header.read_text().splitlines()[1:]:
        if not re.match(r"//| ?\*|/\*", line):
            break
        lines.append(re.sub(r"^(// ?|/\*+ ?| ?\*+/? ?)", "", line))
    return re.sub(r"@(file|brief) ?", "", "\n".join(lines)).strip()


def api_pages(include):
    """(name, text) of a page for each public header, and of their index."""
    headers = sorted(include.rglob("*.h*"), key=lambda header: (header.suffix, header.name))
    rows, entries = "", ""
    for header in headers:
        name, page = str(header.relative_to(include.parent)), header_page(header.name)
        introduction = introduction_of(header)
        yield f"{page}.txt", introduction
        yield (f"{page}.rst", f"{name}\n{'=' * len(name)}\n\n.. include:: {header_page(header.name).removeprefix('api/')}.txt\n"
                              f"   :parser: myst_parser.sphinx_\n\n.. code-block:: cpp\n\n   #include <{name}>\n\n"
                              f".. doxygenfile:: {name}\n")
        summary = re.split(r"(?<=[.:])\s", introduction, maxsplit=1)[0].rstrip(":.").replace("\n", " ")
        rows += f"| [{name}]({page.removeprefix('api/')}.rst) | {summary} |\n"
        entries += page.removeprefix("api/") + "\n"
    yield "api/index.md", f"{API_INDEX}{rows}\n```{{toctree}}\n:hidden:\n\n{entries}```\n"


def split_exceptions(items):
    """Gives each name of "@throws a, b text" an item of its own."""
    for item in list(items):
        for name in item.findall("parameternamelist/parametername")[1:]:
            item.find("parameternamelist").remove(name)
            single = ElementTree.SubElement(items, "parameteritem")
            ElementTree.SubElement(single, "parameternamelist").append(name)
            single.append(copy.deepcopy(item.find("parameterdescription")))


def prepare_xml(folder):
    """Changes Doxygen's XML to what Breathe shows well: without private members, one exception an item."""
    for path in folder.glob("*.xml"):
        tree = ElementTree.parse(path)
        for compound in tree.iter("compounddef"):
            for section in compound.findall("sectiondef"):
                if section.get("kind").startswith("private-"):
                    compound.remove(section)
        for items in tree.iter("parameterlist"):
            split_exceptions(items)
        tree.write(path)


def index_page(text):
    """The first page: docs/index.md, whose lists of links are also the navigation, a section each."""
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    page = document_page(text)
    for title, section in zip(parts[1::2], parts[2::2]):
        entries = [re.sub(r"\.\w+$", "", target_of(link)) for link in re.findall(r"\]\(([^)]*)\)", section)]
        page += f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n" + "\n".join(entries) + "\n```\n"
    return page


def main(source, manual, generated, output):
    prepare_xml(output / "xml")
    pages = output / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(source / "docs", pages, ignore=shutil.ignore_patterns("*.md"))
    documents = {path.name: path for folder in (source / "docs", generated) for path in sorted(folder.glob("*.md"))}
    index = index_page(documents.pop("index.md").read_text())
    texts = {"index.md": index} | {name: document_page(path.read_text()) for name, path in documents.items()}
    texts["cmake_functions.md"] = cmake_page((source / "cmake").glob("FatlinkAdd*.cmake"))
    texts["manual.md"] = manual_page(manual.read_text())
    texts.update(api_pages(source / "host/include/fatlink"))
    (pages / "api").mkdir()
    for name, text in texts.items():
        (pages / name).write_text(text)


if __name__ == "__main__":
    main(*(pathlib.Path(argument) for argument in sys.argv[1:]))
