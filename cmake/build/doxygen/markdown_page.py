# SPDX-License-Identifier: Apache-2.0
"""A document of docs/ as a page of the site: Doxygen's Markdown, with headings that have GitHub's names and links that lead to
pages of the site. Links to files of the repository that are not in the site become text."""
import re

FENCE = re.compile(r"(^```.*?^```[^\n]*$)", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
LINK = re.compile(r"(!?)\[((?:[^][]|\[[^][]*\])*)\]\(([^)\s]+)\)")


def page_name(stem):
    """The name of a document's page, whose file is NAME.html."""
    return "doc-" + stem.replace("_", "-")


def anchor(heading):
    """The name that GitHub gives to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def section(page, name):
    """The name of a section in the site. Doxygen's names have letters of ASCII, and are unique in the whole site."""
    return f"{page}--{re.sub(r'[^a-z0-9-]', '-', name)}"


def header_page(path):
    """The file of a public header's page: of C its reference, of C++ its text, as classes have the pages."""
    name = path.rpartition("/")[2]
    return name.replace("_", "__").replace(".", "_8") + (".html" if name.endswith(".h") else "_source.html")


def target_of(target, stem):
    """Where a link of docs/STEM.md leads in the site; None: nowhere."""
    path, _, name = target.partition("#")
    if re.match(r"[a-z]+:", target):
        return target
    if path.startswith("schemas/") or path.endswith(".json") and "/" not in path:
        return path
    if path == "" or re.fullmatch(r"\w+\.md", path):
        page = page_name(path.removesuffix(".md") or stem)
        return f"{page}.html#{section(page, name)}" if name else f"{page}.html"
    if path.startswith("../host/include/fatlink"):
        return header_page(path) if path.endswith((".h", ".hpp")) else "annotated.html"
    if path == "../host/man/fatlink.1.in":
        return "manual.html"
    return "cmake-functions.html" if re.match(r"\.\./cmake(/Fatlink\w+\.cmake)?$", path) else None


def links(text, stem):
    def replaced(match):
        mark, label, target = match.groups()
        if mark:
            return match[0]
        place = target_of(target, stem)
        return f"[{label}]({place})" if place else label
    return LINK.sub(replaced, text)


def code_spans(text):
    """In Doxygen a single quote ends `code`; between double marks it does not."""
    return CODE.sub(lambda span: f"``{span[2]}``" if "'" in span[2] and span[1] == "`" else span[0], text)


def headings(text, page, names):
    def labelled(match):
        level, title = match.groups()
        name = anchor(title)
        names[name] = names.get(name, -1) + 1
        suffix = f"-{names[name]}" if names[name] else ""
        if level == "#":
            return f"# {title} {{#{page}}}\n\n[TOC]"
        return f"{level} {title} {{#{section(page, name + suffix)}}}"
    return re.sub(r"^(#+) (.*)$", labelled, text, flags=re.MULTILINE)


def markdown_page(stem, text):
    """The page of the document docs/STEM.md."""
    parts, names = FENCE.split(text), {}
    for index in range(0, len(parts), 2):
        parts[index] = code_spans(links(headings(parts[index], page_name(stem), names), stem))
    return "".join(parts)
