# SPDX-License-Identifier: Apache-2.0
"""Every path of the repository that a document mentions exists: targets of relative links, headings that links
name, and paths in `code`."""
import os
import pathlib
import re
import unittest

SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
DOCUMENTS = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "docs/**/*.md", "host/src/README.md", "tests/**/*.md"]
# Where a path in code may begin: the repository, the map's folders, the headers, the document's folder.
ROOTS = ["", "host", "host/src", "host/include"]
ENDINGS = (".hpp", ".cpp", ".py", ".cmake", ".cu", ".cuh", ".md", ".svg", ".txt", ".in", ".json", "/")


def documents():
    return sorted({path for pattern in DOCUMENTS for path in SOURCE.glob(pattern)})


def without_blocks(text):
    """`text` without fenced blocks; their lines stay, empty."""
    return re.sub(r"^```.*?^```", lambda block: "\n" * block[0].count("\n"), text,
                  flags=re.MULTILINE | re.DOTALL)


def anchors(path):
    """The names that GitHub gives to the headings of a document."""
    headings = re.findall(r"^#+ (.*)", without_blocks(path.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_link(document, target):
    """Why the relative link `target` leads nowhere; None where it does."""
    name, _, anchor = target.partition("#")
    path = document.parent / name if name else document
    if not path.exists() or not path.resolve().is_relative_to(SOURCE.resolve()):
        return f"the link to {target} leads to no file"
    if anchor and path.suffix == ".md" and anchor not in anchors(path):
        return f"the link to {target} names no heading"
    return None


def first_folders():
    """The folders that a path of the repository may begin with."""
    return {path.name for root in ROOTS for path in (SOURCE / root).iterdir() if path.is_dir()}


def is_repository_path(code, folders):
    first, slash, _ = code.partition("/")
    return bool(slash) and first in folders - {"build"} and code.endswith(ENDINGS) and " " not in code


def is_file(document, code):
    roots = [document.parent, *(SOURCE / root for root in ROOTS)]
    return any((root / code).exists() or any(root.glob(code)) for root in roots)


def faults(document, folders):
    text = without_blocks(document.read_text())
    for number, line in enumerate(text.splitlines(), 1):
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            if not re.match(r"[a-z]+:", target) and (fault := broken_link(document, target)):
                yield number, fault
        for code in re.findall(r"`([^`]+)`", line):
            if is_repository_path(code, folders) and not is_file(document, code):
                yield number, f"`{code}` does not exist"


class Documents(unittest.TestCase):
    def test_mention_only_paths_that_exist(self):
        folders = first_folders()
        reports = [f"{document.relative_to(SOURCE)}:{number}: {fault}"
                   for document in documents() for number, fault in faults(document, folders)]
        self.assertEqual(reports, [], "\n".join(reports))

    def test_are_all_there(self):
        names = {str(path.relative_to(SOURCE)) for path in documents()}
        self.assertLessEqual({"README.md", "SECURITY.md", "docs/architecture.md", "host/src/README.md"}, names)

    def test_of_the_fatbin_format_states_every_constant_of_the_layout(self):
        layout = (SOURCE / "host/src/fatbin/write_fatbin.hpp").read_text()
        constants = re.findall(r"(k_\w+) = (0x[0-9A-Fa-f]+)", layout)
        self.assertGreater(len(constants), 5)
        numbers = {int(number, 16) for number in
                   re.findall(r"0x[0-9A-Fa-f]+", (SOURCE / "docs/fatbin_format.md").read_text())}
        self.assertEqual([name for name, value in constants if int(value, 16) not in numbers], [])


if __name__ == "__main__":
    unittest.main()
