# SPDX-License-Identifier: Apache-2.0
"""Runs the program `fatlink`, or prints the folders of this installation.

    python -m fatlink --cmake-dir      for cmake -Dfatlink_DIR=$(python -m fatlink --cmake-dir)
    python -m fatlink --include-dir    the folder of the headers
    python -m fatlink --prefix         the folder with bin, lib, libexec, include and share
    python -m fatlink --python-path    for export FATLINK_PYTHON_PATH="$(python -m fatlink --python-path)"
    python -m fatlink VERB …           runs the program; see `fatlink --help`
"""

import os
import sys

from . import _distributions, _install

_FOLDERS = {
    "--python-path": _distributions.variable,
    "--cmake-dir": _install.cmake_folder,
    "--include-dir": _install.include_folder,
    "--prefix": _install.prefix,
}
_HELP = """
Folders of this installation, each printed by its option:
  --cmake-dir                 of the CMake package: cmake -Dfatlink_DIR=$(python -m fatlink --cmake-dir)
  --include-dir               of the headers
  --prefix                    that has bin, lib, libexec, include and share
  --python-path               with the data of other Python distributions, for C++ programs:
                              export FATLINK_PYTHON_PATH="$(python -m fatlink --python-path)"
"""
_USAGE = 2
_MISSING = 5


def _print_problems() -> int:
    """Prints a warning for each entry point that cannot be used."""
    for problem in _distributions.find()[1]:
        print(f"fatlink: warning: {problem}", file=sys.stderr)
    sys.stderr.flush()
    return 0


def main() -> int:
    """Prints a folder, or replaces this process by the program with the same arguments."""
    arguments = sys.argv[1:]
    if arguments and arguments[0] in _FOLDERS:
        if len(arguments) > 1:
            print(f"fatlink: error: {arguments[0]} takes no other arguments", file=sys.stderr)
            return _USAGE
        print(_FOLDERS[arguments[0]]())
        return _print_problems()
    program = _install.program()
    if arguments in (["--help"], ["-h"]) and os.access(program, os.X_OK):
        status = os.spawnv(os.P_WAIT, program, ["fatlink", *arguments])
        print(_HELP, end="")
        return status
    try:
        environment = _install.program_environment()
        _print_problems()
        os.execve(program, ["fatlink", *arguments], environment)
    except OSError as error:
        print(f"fatlink: error: {program}: {error.strerror}\n"
              "  hint:   install the wheel again, or name a build's lib/libfatlink.so in $FATLINK_LIBRARY",
              file=sys.stderr)
        return _MISSING


if __name__ == "__main__":
    sys.exit(main())
