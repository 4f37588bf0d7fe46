# SPDX-License-Identifier: Apache-2.0
"""No two headers define a type of one name in one namespace. The compiler does not notice it where no source includes
both, and the linker keeps the functions of one of the types for both."""
import collections
import os
import pathlib
import re
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
NAMESPACE = re.compile(r"(?:inline )?namespace\s*(?:FATLINK_API\s*)?([\w:]*)\s*\{")
TYPE = re.compile(r"(?:template\s*<.*>\s*)?(?:struct|class|union|enum(?: class)?)\s+(?:\[\[\w+\]\]\s*)?(?:FATLINK_\w+\s+)?(\w+)\b(?!::)[^;]*$")


def types_of(text):
    """The types that a header defines in namespaces: "fatlink::detail::region"."""
    depth, namespaces = 0, []
    for line in (line.split("//")[0].strip() for line in text.splitlines()):
        if match := NAMESPACE.match(line):
            namespaces.append(match[1])
        elif depth == len(namespaces) and (match := TYPE.match(line)):
            yield "::".join([*namespaces, match[1]])
        depth += line.count("{") - line.count("}")
        del namespaces[depth:]


def duplicates(headers):
    definitions = collections.defaultdict(set)
    for header in sorted(headers):
        for name in types_of(header.read_text()):
            definitions[name].add(str(header))
    return {name: sorted(files) for name, files in definitions.items() if len(files) > 1}


class TypeNames(unittest.TestCase):
    def test_are_unique_in_their_namespace(self):
        headers = [*(SOURCE / "host").rglob("*.hpp"), *(SOURCE / "tests").rglob("*.hpp")]
        self.assertGreater(sum(1 for header in headers for _ in types_of(header.read_text())), 500)
        self.assertEqual(duplicates(headers), {})

    def test_are_compared_with_their_namespaces(self):
        with tempfile.TemporaryDirectory() as folder:
            headers = [pathlib.Path(folder) / name for name in ("a.hpp", "b.hpp", "c.hpp")]
            for header, namespace in zip(headers, ("one", "one", "two")):
                header.write_text(f"namespace {namespace} {{\nstruct box {{\n  struct part {{\n  }};\n}};\nclass later;\n}}\n")
            self.assertEqual(duplicates(headers), {"one::box": [str(headers[0]), str(headers[1])]})


if __name__ == "__main__":
    unittest.main()
