# SPDX-License-Identifier: Apache-2.0
"""Finds the data of other Python distributions: folders with fatbins, sidecars, contracts, headers and cache layers.

An entry point of the group `fatlink.data` names such a folder: `mix = "fatlink_mix.share.fatlink"` is the folder
share/fatlink of the package fatlink_mix. No package is imported. Only the files entry_points.txt are read, and METADATA of
distributions with such an entry point: importlib.metadata takes longer to import than this search takes."""
import os
import sys

GROUP = "fatlink.data"
VARIABLE = "FATLINK_PYTHON_PATH"  # by which the program and C++ find the folders
_ENDINGS = (".dist-info", ".egg-info")
_found: tuple = (None, [], [])  # for which sys.path; what find() returned


class _Broken(Exception):
    """The entry point cannot be used: why, and the remedy."""


class _Distribution:
    """An installed distribution. `folder` has its metadata; its packages are beside that."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        self.key = os.path.basename(folder).partition("-")[0].removesuffix(".egg-info").lower().replace(".", "_")

    def read(self, name):
        """The text of a file of the metadata; empty if there is none."""
        try:
            with open(os.path.join(self.folder, name), "rb") as file:
                return file.read().decode("utf-8", "surrogateescape")
        except OSError:
            return ""

    def title(self):
        """"fatlink-mix 2.1"."""
        lines = (self.read("METADATA") or self.read("PKG-INFO")).split("\n\n")[0].splitlines()
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        title = f"{fields.get('name') or self.key} {fields.get('version', '')}".strip()
        return title.translate({ord(letter): "_" for letter in ":=\n"})  # which separate elements of the variable


def find() -> tuple:
    """The folders, as pairs of the distribution ("fatlink-mix 2.1") and the path, in the order of sys.path; and a message for
    each entry point that cannot be used. Searches again only if sys.path has changed."""
    global _found
    key = tuple(sys.path)
    if _found[0] != key:
        _found = (key, *_search(key))
    return _found[1:]


def variable() -> str:
    """The folders as the value of $FATLINK_PYTHON_PATH."""
    return ":".join(f"{title}={folder}" for title, folder in find()[0])


def _search(paths):
    folders, problems, owners = [], [], {}
    for distribution in _distributions(paths):
        for name, value in _entry_points(distribution.read("entry_points.txt")):
            title = distribution.title()
            try:
                if name in owners:
                    raise _Broken(f"{owners[name]} has an entry point of the same name",
                                  f"uninstall one of the two distributions, or ask the author of {title} for another name")
                folders.append((title, _folder(distribution, value)))
                owners[name] = title
            except _Broken as cause:
                why, remedy = cause.args
                problems.append(f"{title}: the entry point {name} = {value!r} of the group {GROUP} is not used: {why}\n"
                                f"  hint: {remedy}")
    return folders, problems


def _distributions(paths):
    """Those with metadata in the folders of sys.path; the first of a name is the installed one."""
    seen = set()
    for path in paths:
        try:
            names = sorted(name for name in os.listdir(path or os.curdir) if name.endswith(_ENDINGS))
        except (OSError, TypeError, ValueError):  # an archive, or what no finder of files would accept
            continue
        for name in names:
            distribution = _Distribution(os.path.join(path, name))
            if distribution.key not in seen:
                seen.add(distribution.key)
                yield distribution


def _entry_points(text):
    """(name, value) of each entry point of the group."""
    if GROUP not in text:
        return
    group = None
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            group = line.strip("[] ")
        elif group == GROUP and line and line[0] not in "#;":
            name, _, value = line.partition("=")
            yield name.strip(), value.partition("[")[0].strip()


def _folder(distribution, value):
    """The folder that the value names. @raises _Broken it names none."""
    words = value.split(".")
    if not all(word.isidentifier() for word in words):
        raise _Broken("it does not name a package", f"declare it as PACKAGE.FOLDER.FOLDER, such as {GROUP}: mix = \"fatlink_mix.share.fatlink\"")
    for place in _places(distribution, words[0]):
        folder = os.path.join(place, *words[1:])
        if os.path.isdir(folder):
            if ":" in folder:
                raise _Broken(f"the path {folder} contains a colon", "move the Python environment to a folder without a colon in its path")
            return folder
    raise _Broken(f"there is no folder {os.path.join(*words)}", f"install {distribution.title()} again, or ask its author to add the folder")


def _places(distribution, package):
    """The folders of a package: beside the metadata, or, of an editable installation, where Python would import it."""
    yield os.path.join(os.path.dirname(distribution.folder), package)
    import importlib.util
    try:
        spec = importlib.util.find_spec(package)
    except Exception as cause:  # of a finder that another package installed
        raise _Broken(f"{package} cannot be located: {type(cause).__name__}: {cause}", f"install {distribution.title()} again") from None
    if spec is None:
        raise _Broken(f"there is no package {package}", f"install {distribution.title()} again")
    if spec.submodule_search_locations is None:
        raise _Broken(f"{package} is a module, not a package", f"ask the author of {distribution.title()} to put the data into the folder of a package")
    yield from spec.submodule_search_locations
