# SPDX-License-Identifier: Apache-2.0
"""Compiles CUDA C++ with NVRTC, and LLVM IR with libNVVM, without nvcc."""
from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence

from . import _settings
from ._arguments import choice, data_of, encode, flag, path_of, shown, texts
from ._errors import FileError, UsageError, UsageTypeError
from ._ffi import CompileOptions, c, raise_error, output, text
from ._inputs import Input


def _source(source):
    """The bytes of a source, and the name of its file."""
    if isinstance(source, os.PathLike):
        path = path_of(source, "the path of a source")
        try:
            with open(path, "rb") as file:
                return file.read(), path
        except OSError as cause:
            raise FileError(f"{path}: {cause.strerror}", code="unreadable-file", stage="input", input=str(path),
                            hint="check the path and its permissions") from None
    if isinstance(source, str):
        try:
            return source.encode(), "source.cu"
        except UnicodeEncodeError as cause:
            raise UsageError(f"the source holds half of a surrogate pair at character {cause.start}",
                             hint="pass a text without it, or bytes") from None
    if isinstance(source, (bytes, bytearray)):
        return data_of(source, "source"), "source.cu"
    raise UsageTypeError(f"source is {shown(source)}", hint="pass the text of a source, or the pathlib.Path of a file")


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
    definitions      macros: "NAME", "NAME=VALUE" or "NAME(x)=VALUE"
    include_folders  folders in which include directives search
    standard         "c++17" by default
    ftz, prec_div, prec_sqrt, fma   True, False, or None: the compiler's default

    Raises CompileError with the compiler's log."""
    data, file = _source(source)
    settings = CompileOptions(ftz=choice(ftz, "ftz"), prec_div=choice(prec_div, "prec_div"),
                              prec_sqrt=choice(prec_sqrt, "prec_sqrt"), fma=choice(fma, "fma"),
                              line_info=flag(line_info, "line_info"), contract=None if contract is None else encode(contract, "contract"),
                              standard=None if standard is None else encode(standard, "standard"))
    settings.architectures, settings.architecture_count = texts(architectures, "architectures")
    settings.sass, settings.sass_count = texts(sass, "sass")
    settings.definitions, settings.definition_count = texts(definitions, "definitions")
    settings.include_folders, settings.include_folder_count = texts(include_folders, "include_folders")
    handle, warnings = output(), output()
    raise_error(c.compile(_settings.compiler(), data, len(data), encode(file if name is None else name, "name"), ctypes.byref(settings),
                    ctypes.byref(handle), ctypes.byref(warnings)))
    try:
        return Input(handle.value, text(ctypes.string_at(warnings.value)) if warnings else "")
    finally:
        c.text_free(warnings)
