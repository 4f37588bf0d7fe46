# SPDX-License-Identifier: Apache-2.0
"""Where the files of this installation are."""

import os
import pathlib


def package_folder() -> pathlib.Path:
    """The folder of the Python package, in which a wheel has bin, lib, libexec, share and include."""
    return pathlib.Path(__file__).resolve().parent


def prefix() -> pathlib.Path:
    """The folder above lib, bin and include: that of $FATLINK_LIBRARY (a build tree's), or of the wheel."""
    library = os.environ.get("FATLINK_LIBRARY")
    return pathlib.Path(library).resolve().parent.parent if library else package_folder()


def shared_library() -> str:
    """The libfatlink.so to open: $FATLINK_LIBRARY (a build tree's), or that of the wheel.

    A wheel has only the file that is named as the soname: libfatlink.so is a linker script there.
    """
    named = os.environ.get("FATLINK_LIBRARY")
    if named:
        return named
    folder = package_folder() / "lib"
    versions = sorted(folder.glob("libfatlink.so.*"))
    return str(versions[-1] if versions else folder / "libfatlink.so")


def program() -> pathlib.Path:
    """The program `fatlink` of this installation."""
    return prefix() / "bin" / "fatlink"


def include_folder() -> pathlib.Path:
    """The folder to name with -I: <fatlink/fatlink.h> is below it."""
    return prefix() / "include"


def cmake_folder() -> pathlib.Path:
    """The folder of the CMake package, for -Dfatlink_DIR=…"""
    return prefix() / "lib" / "cmake" / "fatlink"
