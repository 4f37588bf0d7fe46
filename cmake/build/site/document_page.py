# SPDX-License-Identifier: Apache-2.0
"""A document of docs/ as a page of the site: links to headers, CMake functions and the manual page lead to their pages. Links
to files of the repository that are not in the site become text."""
import re

FENCE = re.compile(r"(^```.*?^```[^\n]*$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[((?:[^][]|\[[^][]*\])*)\]\(([^)\s]+)\)")
LANGUAGES = {"cuda": "cpp", "mermaid": "none"}  # those that the highlighter does not know


def header_page(name):
    """The page of a public header, without suffix."""
    return "api/" + name.rpartition("/")[2].replace(".", "_")


def target_of(target):
    """Where a link of a document leads in the site; None: nowhere."""
    path, _, _ = target.partition("#")
    if re.match(r"[a-z]+:", target) or path == "" or re.fullmatch(r"\w+\.md", path):
        return target
    if path.startswith("schemas/") or path.endswith((".json", ".svg", ".png")) and "/" not in path:
        return path
    if path.startswith("../host/include/fatlink"):
        return header_page(path) + ".rst" if path.endswith((".h", ".hpp")) else "api/index.md"
    if path == "../host/man/fatlink.1.in":
        return "manual.md"
    return "cmake_functions.md" if re.match(r"\.\./cmake(/Fatlink\w+\.cmake)?$", path) else None


def links(text):
    def replaced(match):
        place = target_of(match[2])
        return f"[{match[1]}]({place})" if place else match[1]
    return LINK.sub(replaced, text)


def document_page(text):
    """The page of a document."""
    parts = FENCE.split(text)
    for index, part in enumerate(parts):
        if index % 2 == 0:
            parts[index] = links(part)
        else:
            parts[index] = re.sub(r"^```(\w+)", lambda fence: "```" + LANGUAGES.get(fence[1], fence[1]), part)
    return "".join(parts)
