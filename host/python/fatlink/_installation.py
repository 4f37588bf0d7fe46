# SPDX-License-Identifier: Apache-2.0
"""Where the files of this installation are. Imports nothing that takes time: the entry point needs it, too."""

import os


def package_folder() -> str:
    """The folder of the Python package, in which a wheel has bin, lib, libexec, share and include."""
    return os.path.dirname(os.path.realpath(__file__))


def prefix() -> str:
    """The folder above lib, bin and include: that of $FATLINK_LIBRARY (a build tree's), or of the wheel."""
    library = os.environ.get("FATLINK_LIBRARY")
    return os.path.dirname(os.path.dirname(os.path.realpath(library))) if library else package_folder()


def shared_library() -> str:
    """The libfatlink.so to open: $FATLINK_LIBRARY (a build tree's), or that of the wheel.

    A wheel has only the file that is named as the soname: libfatlink.so is a linker script there.
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
    """The folder to name with -I: <fatlink/fatlink.h> is below it."""
    return os.path.join(prefix(), "include")


def cmake_folder() -> str:
    """The folder of the CMake package, for -Dfatlink_DIR=…"""
    return os.path.join(prefix(), "lib", "cmake", "fatlink")
