# SPDX-License-Identifier: Apache-2.0
"""The binary interface of fatlink/fatlink.h as text: functions, constants, and the layout of structs as the C compiler
sees it. test_c_abi.py compares it with c_abi.txt, which is written by:
  python3 tests/package/c_abi.py > tests/package/c_abi.txt
A line of c_abi.txt may be added in a minor version of the interface, but never changed or removed. Only the end of a
struct moves when members are appended."""
import pathlib
import re
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).parents[2]
HEADERS = SOURCE / "host/include/fatlink"


def declarations():
    """The text of all headers without comments and preprocessor lines, each run of spaces as one space."""
    text = "\n".join(header.read_text() for header in sorted(HEADERS.rglob("*.h")))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    return re.sub(r"\s+", " ", text)


def functions():
    """The prototypes, sorted."""
    return sorted(re.findall(r"FATLINK_C_API ([^;]+);", declarations()))


def function_names():
    return {re.search(r"(\w+)\(", prototype)[1] for prototype in functions()}


def constants():
    return [name for block in re.findall(r"enum \{([^}]*)\}", declarations())
            for name in re.findall(r"(FATLINK_\w+) =", block)]


def structs():
    """Each struct with its members."""
    for name, body in re.findall(r"typedef struct (\w+) \{([^}]*)\}", declarations()):
        yield name, re.findall(r"(\w+);", body)


def printing_program():
    lines = ["#include <fatlink/fatlink.h>", "#include <stdio.h>", "int main(void)", "{"]
    lines += [f'  printf("constant {name} = %d\\n", (int){name});' for name in constants()]
    for name, members in structs():
        lines.append(f'  puts("struct {name}");')
        lines += [f'  printf("  {member} at %u, %u bytes\\n", (unsigned)offsetof({name}, {member}), '
                  f"(unsigned)sizeof((({name}*)0)->{member}));" for member in members]
        lines.append(f'  printf("  end at %u\\n", (unsigned)sizeof({name}));')
    return "\n".join([*lines, "  return 0;", "}", ""])


def describe():
    """The whole text."""
    with tempfile.TemporaryDirectory(prefix="fatlink-abi-") as folder:
        program = pathlib.Path(folder) / "abi.c"
        program.write_text(printing_program())
        subprocess.run(["cc", "-std=c99", f"-I{HEADERS.parent}", program, "-o", program.with_suffix("")], check=True)
        layout = subprocess.run([program.with_suffix("")], text=True, capture_output=True, check=True).stdout
    return "".join(f"function {prototype}\n" for prototype in functions()) + layout


if __name__ == "__main__":
    print(describe(), end="")
