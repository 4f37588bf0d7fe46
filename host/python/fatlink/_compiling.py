# SPDX-License-Identifier: Apache-2.0
"""Compiles CUDA C++ with NVRTC, and LLVM IR with libNVVM, without nvcc."""
from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence

from . import _settings
from ._c_interface import CompileOptions, c, raise_error, encode, output, text, texts
from ._errors import FileError, UsageTypeError
from ._inputs import Input
from ._linking import choice

def _source(source):
    """The bytes of a source, and the name of its file."""
    if isinstance(source, os.PathLike):
        path = os.fspath(source)
        try:
            with open(path, "rb") as file:
                return file.read(), path
        except OSError as cause:
            raise FileError(f"{path}: {cause.strerror}", code="unreadable-file", stage="input", input=str(path),
                            hint="check the path and its permissions") from None
    if isinstance(source, str):
        return source.encode(), "source.cu"
    if isinstance(source, (bytes, bytearray)):
        return bytes(source), "source.cu"
    raise UsageTypeError(f"source is {source!r}", hint="pass the text of a source, or the pathlib.Path of a file")


def compile(source: str | bytes | os.PathLike, *, contract: str | None = None, name: str | None = None,
            architectures: Sequence[str] | str = (), sass: Sequence[str] | str = (), definitions: Sequence[str] | str = (),
            include_folders: Sequence | str | os.PathLike = (), standard: str | None = None, ftz: bool | None = None,
            prec_div: bool | None = None, prec_sqrt: bool | None = None, fma: bool | None = None,
            line_info: bool = False) -> Input:
    """Compiles a source, a text or a pathlib.Path, to a fatbin: an Input with `save(path)` and `warnings`.

    contract         the installed contract whose header it includes: "combine_4"; None: none
    name             for messages: "half.cu"
    architectures    "sm_75": PTX and LTO-IR for each; none: sm_75
    sass             "sm_90": also a cubin for each
    definitions      macros: "NAME" or "NAME=VALUE"
    include_folders  folders in which include directives search
    standard         "c++17" by default
    ftz, prec_div, prec_sqrt, fma   True, False, or None: the compiler's default

    Raises CompileError with the compiler's log."""
    data, file = _source(source)
    settings = CompileOptions(ftz=choice(ftz), prec_div=choice(prec_div), prec_sqrt=choice(prec_sqrt), fma=choice(fma),
                            line_info=bool(line_info), contract=None if contract is None else encode(contract, "contract"),
                            standard=None if standard is None else encode(standard, "standard"))
    settings.architectures, settings.architecture_count = texts(_list(architectures), "architectures")
    settings.sass, settings.sass_count = texts(_list(sass), "sass")
    settings.definitions, settings.definition_count = texts(_list(definitions), "definitions")
    settings.include_folders, settings.include_folder_count = texts(_list(include_folders), "include_folders")
    handle, warnings = output(), output()
    raise_error(c.compile(_settings.compiler(), data, len(data), encode(name or file, "name"), ctypes.byref(settings),
                    ctypes.byref(handle), ctypes.byref(warnings)))
    try:
        return Input(handle.value, text(ctypes.string_at(warnings.value)) if warnings else "")
    finally:
        c.text_free(warnings)


def _list(value):
    return [value] if isinstance(value, (str, os.PathLike)) else value
