# SPDX-License-Identifier: Apache-2.0
"""The page of the CMake functions, from the documentation at the beginning of their files."""
import re

INTRODUCTION = """# CMake functions

``find_package(fatlink)`` defines them, and the targets ``fatlink::fatlink`` (shared library), ``fatlink::static`` (not in the Python wheel) and ``fatlink::program``.
"""


def documentation(text):
    """The text in #[=[.rst: ... #]=]."""
    return re.search(r"^#\[(=+)\[\.rst:\n(.*?)^#\]\1\]", text, re.MULTILINE | re.DOTALL)[2]


def as_markdown(text):
    """reStructuredText as these files use it: a title, indented blocks of code, and lists of definitions."""
    title, _, body = text.partition("\n")
    text = body.partition("\n")[2].strip("\n")  # without the line below the title
    text = re.sub(r"^(``.*``.*)\n((?:  .*\n?)+)", definition, text, flags=re.MULTILINE)
    text = re.sub(r"^((?:  .*(?:\n|\Z))+)", block, text, flags=re.MULTILINE)
    return f"\n## {title}\n\n{text}\n"


def definition(match):
    meaning = " ".join(line.strip() for line in match[2].splitlines())
    return f"- {match[1]}: {meaning}\n"


def block(match):
    lines = "\n".join(line[2:] for line in match[1].rstrip("\n").split("\n"))
    return f"```cmake\n{lines}\n```\n"


def cmake_page(files):
    return INTRODUCTION + "".join(as_markdown(documentation(path.read_text())) for path in sorted(files))
