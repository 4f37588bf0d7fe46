# SPDX-License-Identifier: Apache-2.0
"""Where the files of this installation are."""

import os
import pathlib


def package_folder() -> pathlib.Path:
    """The folder of the Python package, in which a wheel has bin, lib, libexec, share and include."""
    return pathlib.Path(__file__).resolve().parent


def shared_library() -> str:
    """The libfatlink.so to open: $FATLINK_LIBRARY (a build tree's), or that of the wheel."""
    return os.environ.get("FATLINK_LIBRARY") or str(package_folder() / "lib" / "libfatlink.so")
