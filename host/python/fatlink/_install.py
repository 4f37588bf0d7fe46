# SPDX-License-Identifier: Apache-2.0
"""Finds the files of this installation, and lists installed libraries and transforms. Imports no module that is slow to load,
because the entry point uses this module."""
import os

from . import _distributions
from ._arguments import text_of
from ._errors import Error, UnavailableError


def package_folder() -> str:
    """The folder of the Python package; in a wheel it contains bin, lib, libexec, share and include."""
    return os.path.dirname(os.path.realpath(__file__))


def prefix() -> str:
    """The folder above lib, bin and include: of $FATLINK_LIBRARY if it is set, otherwise of the wheel. The library may be in a
    folder of lib for its architecture, such as lib/x86_64-linux-gnu of Debian."""
    library = os.environ.get("FATLINK_LIBRARY")
    if not library:
        return package_folder()
    folder = os.path.dirname(os.path.realpath(library))
    parent = os.path.dirname(folder)
    is_of_architecture = os.path.basename(parent) == "lib" and os.path.basename(folder) != "lib"
    return os.path.dirname(parent) if is_of_architecture else parent


def shared_library() -> str:
    """The libfatlink.so to open: $FATLINK_LIBRARY (of a build tree), otherwise the wheel's.

    In a wheel this is the file whose name is the soname, because libfatlink.so is a linker script there.
    """
    named = os.environ.get("FATLINK_LIBRARY")
    if named:
        return named
    folder = os.path.join(package_folder(), "lib")
    try:
        versions = sorted(name for name in os.listdir(folder) if name.startswith("libfatlink.so."))
    except OSError:
        versions = []
    return os.path.join(folder, versions[-1] if versions else "libfatlink.so")


def program() -> str:
    """The program `fatlink` of this installation."""
    return os.path.join(prefix(), "bin", "fatlink")


def include_folder() -> str:
    """The folder to pass with -I; it contains fatlink/fatlink.h."""
    return os.path.join(prefix(), "include")


def cmake_folder() -> str:
    """The folder of the CMake package, for -Dfatlink_DIR=…"""
    return os.path.join(prefix(), "lib", "cmake", "fatlink")


def program_environment() -> dict:
    """The environment in which the program also finds the data of Python distributions."""
    return {**os.environ, _distributions.VARIABLE: _distributions.variable()}


def find_program() -> str:
    """The path of the program: in the wheel, beside $FATLINK_LIBRARY, or in PATH."""
    for path in (os.path.join(package_folder(), "bin", "fatlink"), program()):
        if os.access(path, os.X_OK):
            return path
    import shutil
    path = shutil.which("fatlink")
    if path is None:
        raise UnavailableError("the program fatlink is not found", code="no-program", stage="installation",
                               hint="install the wheel of fatlink, or add the program's folder to PATH")
    return path


def installed(*names: str) -> list:
    """The installed libraries and transforms, as printed by `fatlink list --json`: a list of dicts with name, file, kind,
    distribution, contract, summary, symbols, libraries, …"""
    import json
    import subprocess
    names = [text_of(name, "the name of an input") for name in names]
    process = subprocess.run([find_program(), "list", "--json", *names], capture_output=True, env=program_environment())
    try:
        listing = json.loads(process.stdout)
    except ValueError:
        raise Error(f"fatlink list failed: {process.stderr.decode(errors='replace').strip()}", code="no-list",
                    stage="installation") from None
    if "fatbins" not in listing:
        failure = listing.get("error", {})
        raise Error(failure.get("message", "fatlink list failed"), code=failure.get("code", "no-list"),
                    hint=failure.get("hint", ""), stage=failure.get("stage", "installation"))
    return listing["fatbins"]
