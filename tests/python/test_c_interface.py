# SPDX-License-Identifier: Apache-2.0
"""The structs and prototypes of Python are those of the C headers."""
import ctypes
import pathlib
import re
import shutil
import subprocess
import unittest

from python_case import EMULATED, SOURCE, PythonCase

HEADERS = pathlib.Path(SOURCE or "", "host", "include")
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
LETTERS = {"void": "-", "size_t": "z", "uint64_t": "u", "uint8_t": "b", "fatlink_cancel_check": "p"}


def declarations():
    """(name without fatlink_, result, parameters) of each function, as C types without names."""
    found = {}
    for path in sorted((HEADERS / "fatlink" / "c").glob("*.h")):
        code = re.sub(r"/\*.*?\*/|^#.*?$(?<!\\)", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
        for result, name, parameters in re.findall(r"FATLINK_C_API\s+([\w\s*]+?)\s*\bfatlink_(\w+)\(([^;]*)\);", code):
            types = [re.sub(r"\w+$", "", parameter.strip()) for parameter in parameters.split(",") if parameter.strip() != "void"]
            found[name] = (" ".join(result.split()), types)
    return found


def letter(c_type):
    c_type = " ".join(c_type.replace("*", " * ").split())
    if c_type == "char const *":
        return "s"
    if "*" in c_type:
        return "p"
    return LETTERS.get(c_type, "i")  # int32_t, and the enumerations, which are int32_t


@unittest.skipUnless(SOURCE, "FATLINK_SOURCE names no folder with the headers")
class Prototypes(PythonCase):
    def test_are_those_of_the_headers(self):
        from fatlink import _ffi
        # A text in: `source` may hold NUL, and a text out is freed by its address.
        stated = {name: letter(result) + "".join(map(letter, types)) for name, (result, types) in declarations().items()}
        self.assertGreater(len(stated), 90)
        stated["text_free"] = "-p"
        self.assertEqual(stated, _ffi.PROTOTYPES)

    def test_are_bound_to_the_library(self):
        from fatlink._ffi import PROTOTYPES, c
        for name in PROTOTYPES:
            self.assertIsNotNone(getattr(c, name))
        with self.assertRaises(AttributeError):
            c.no_such_function


@unittest.skipUnless(SOURCE, "FATLINK_SOURCE names no folder with the headers")
@unittest.skipUnless(COMPILER and not EMULATED, "no C compiler for the machine of this Python")
class Structs(PythonCase):
    def test_have_the_sizes_and_offsets_of_the_headers(self):
        from fatlink import _ffi
        structs = {struct.__name__: struct for struct in _ffi.STRUCTS}
        structs["fatlink_extent"] = _ffi.Extent
        lines = [f'printf("{name} %zu\\n", sizeof({name}));' for name in structs]
        lines += [f'printf("{name}.{field[0]} %zu %zu\\n", offsetof({name}, {field[0]}), sizeof(s_{name}.{field[0]}));'
                  for name, struct in structs.items() for field in self.fields(struct)]
        declared = "".join(f"static {name} s_{name};\n" for name in structs)
        program = self.folder / "layout"
        program.with_suffix(".c").write_text("#include <fatlink/fatlink.h>\n#include <stdio.h>\n" + declared +
                                             "int main(void) {\n" + "\n".join(lines) + "\nreturn 0; }\n")
        subprocess.run([COMPILER, "-I", HEADERS, program.with_suffix(".c"), "-o", program], check=True, timeout=60)
        expected = subprocess.run([program], text=True, capture_output=True, check=True).stdout.splitlines()
        own = [f"{name} {ctypes.sizeof(struct)}" for name, struct in structs.items()]
        own += [f"{name}.{field[0]} {getattr(struct, field[0]).offset} {getattr(struct, field[0]).size}"
                for name, struct in structs.items() for field in self.fields(struct)]
        self.assertEqual(own, expected)

    @staticmethod
    def fields(struct):
        return struct._fields_

    def test_are_all_those_of_the_headers_with_all_their_members(self):
        from fatlink import _ffi
        text = "".join(path.read_text() for path in (HEADERS / "fatlink" / "c").glob("*.h"))
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        bodies = re.findall(r"^typedef struct fatlink_\w+ {(.*?)^} (fatlink_\w+);", text, re.MULTILINE | re.DOTALL)
        stated = {name: re.findall(r"(\w+)(?:\)\([^)]*\))?\s*;", body) for body, name in bodies}  # members, also of functions
        own = {struct.__name__: [field[0] for field in struct._fields_] for struct in _ffi.STRUCTS}
        self.assertEqual(stated, {**own, "fatlink_extent": ["x", "y", "z"]})


if __name__ == "__main__":
    unittest.main()
