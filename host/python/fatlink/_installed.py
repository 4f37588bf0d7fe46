# SPDX-License-Identifier: Apache-2.0
"""What is installed, as the program lists it."""
import os

from ._arguments import text_of
from ._errors import Error, UnavailableError


def program() -> str:
    """The program `fatlink` of this installation."""
    from . import _installation
    library = os.path.dirname(os.path.abspath(_installation.shared_library()))
    for path in (os.path.join(str(_installation.package_folder()), "bin", "fatlink"),
                 os.path.join(library, "..", "bin", "fatlink")):
        if os.access(path, os.X_OK):
            return os.path.normpath(path)
    import shutil
    path = shutil.which("fatlink")
    if path is None:
        raise UnavailableError("the program fatlink is not found", code="no-program", stage="installation",
                               hint="install the wheel of fatlink, or add the program's folder to PATH")
    return path


def installed(*names: str) -> list:
    """The installed libraries and transforms, as `fatlink list --json` prints them: a list of dicts with name, file, kind,
    contract, summary, symbols, libraries, …"""
    import json
    import subprocess
    process = subprocess.run([program(), "list", "--json", *[text_of(name, "the name of an input") for name in names]], capture_output=True)
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
