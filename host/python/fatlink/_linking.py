# SPDX-License-Identifier: Apache-2.0
"""Checks and links inputs."""
from __future__ import annotations

import ctypes

from . import _settings
from ._arguments import choice, encode, flag, shown, texts, unsigned
from ._devices import Device
from ._errors import Finding, UsageError
from ._ffi import (Handle, HookStruct, ImageInfo, LinkOptions, c, raise_error, output, read_findings, text)
from ._inputs import as_inputs, handles, write_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
else:  # typing.get_type_hints needs the name
    Any = object

MODES = {"lto": 0, "ptx": 1, "sass": 2}
_KINDS = {"cubin": 1, "ptx": 2, "ptx-set": 3, "ltoir": 4, "relocatable": 5}
_FLAGS = ("allow_calls", "whole_archive", "require_inlined", "drop_unused_variables", "no_optimization", "line_info", "debug",
          "latest_nvvm")
_CHOICES = ("ftz", "prec_div", "prec_sqrt", "fma")
_LISTS = {"kernels": "kernel_count", "variables": "variable_count", "ptxas": "ptxas_count"}
_NUMBERS = ("max_registers", "threads")


def mode_number(mode) -> int:
    """The number of "lto", "ptx" or "sass"."""
    number = MODES.get(mode) if isinstance(mode, str) else None
    if number is None:
        raise UsageError(f"mode is {shown(mode)}", input="mode", hint='pass "lto" (optimized across inputs), "ptx" or "sass"')
    return number


class Hook:
    """A device function that a library's kernels call and a transform defines."""

    __slots__ = ("name", "is_inlined", "is_default")

    def __init__(self, name: str, is_inlined: bool, is_default: bool):
        self.name = name  #: its symbol
        self.is_inlined = is_inlined  #: whether no call of it is left
        self.is_default = is_default  #: whether no transform fills it

    def __repr__(self) -> str:
        state = "default" if self.is_default else "inlined" if self.is_inlined else "called"
        return f"<fatlink.Hook {self.name}: {state}>"


class Image(Handle):
    """A linked image: `bytes(image)` is the cubin or PTX, which cuModuleLoadData and cudaLibraryLoadData load, or a fatbin that is
    an input of another link ("ltoir", "relocatable").

    `kind` ("cubin", "ptx", "ptx-set", "ltoir", "relocatable"), `mode`, `target`, `cache` ("off", "miss", "hit"), `is_inlined` (transforms fill hooks,
    and every one was inlined), `link_ms` (0 for an image from the cache), `hooks`, `warnings`."""

    __slots__ = ("kind", "mode", "target", "cache", "is_inlined", "link_ms", "hooks", "warnings")
    _free = "image_free"
    kind: str
    mode: str
    target: str
    cache: str
    is_inlined: bool
    link_ms: float
    hooks: list[Hook]
    warnings: list[str]

    def __init__(self, handle, *keeps):
        super().__init__(handle, *keeps)
        info = ImageInfo()
        raise_error(c.image_get_info(handle, ctypes.byref(info)))
        self.kind = next(name for name, number in _KINDS.items() if number == info.kind)
        self.mode = next(name for name, number in MODES.items() if number == info.mode)
        self.target = text(info.target)
        self.cache = ("off", "miss", "hit")[info.cache]
        self.is_inlined = bool(info.inlined)
        self.link_ms = info.link_ms
        self.hooks = [self._hook(index) for index in range(info.hook_count)]
        self.warnings = [self._warning(index) for index in range(info.warning_count)]

    def _hook(self, index):
        hook = HookStruct()
        raise_error(c.image_get_hook(self, index, ctypes.byref(hook)))
        return Hook(text(hook.name), bool(hook.inlined), bool(hook.is_default))

    def _warning(self, index):
        return text(c.image_warning(self, index))

    def __bytes__(self) -> bytes:
        """The cubin, the PTX or the fatbin."""
        count = ctypes.c_size_t()
        data = c.image_bytes(self, ctypes.byref(count))
        return ctypes.string_at(data, count.value) if data else b""

    def save(self, path) -> None:
        """Writes the bytes to a file, which appears when it is complete."""
        write_file(path, bytes(self))

    def __repr__(self) -> str:
        return f"<fatlink.Image {self.kind} for {self.target}, {self.mode} mode>"


class PlanImage(Image):
    """An image that belongs to a plan."""

    __slots__ = ()

    def __del__(self):
        pass


def link_options(target, mode, options):
    """The struct for what link() and check() are given."""
    result = LinkOptions(mode=mode_number(mode))
    if isinstance(target, Device):
        raise_error(c.device_link_options(target.require_usable(), result.mode, ctypes.byref(result)))
        result.keeps = target
    else:
        result.target = encode(target, "target")
    for name, value in options.items():
        if name == "emit":
            if not isinstance(value, str) or value not in _KINDS:
                raise UsageError(f"emit is {shown(value)}", hint='pass "cubin", "ptx", "ptx-set", "ltoir" or "relocatable"')
            result.emit = _KINDS[value]
        elif name in _FLAGS:
            setattr(result, name, flag(value, name))
        elif name in _CHOICES:
            setattr(result, name, choice(value, name))
        elif name in _NUMBERS:
            setattr(result, name, unsigned(value, name, 32))
        elif name in _LISTS:
            array, count = texts(value, name)
            setattr(result, name, array)
            setattr(result, _LISTS[name], count)
        else:
            names = ("emit", *_FLAGS, *_CHOICES, *_NUMBERS, *_LISTS)
            raise UsageError(f"there is no option {name}", input=name, hint=f"options: {', '.join(names)}")
    return result


def link(inputs: Any, *, target: str | Device, mode: str = "lto", **options: Any) -> Image:
    """Checks and links `inputs`, names, files or Inputs, the library first.

    target   "sm_90", "sm_90a", or the Device that loads the image
    mode     "lto": optimized across the inputs; "ptx": compiled PTX, real calls; "sass": cubins only
    options  emit ("cubin", "ptx", "ptx-set", "ltoir", "relocatable"); allow_calls, whole_archive, require_inlined,
             drop_unused_variables, no_optimization, line_info, debug, latest_nvvm: True or False; ftz, prec_div, prec_sqrt, fma: True, False or None (as
             compiled); max_registers, threads: numbers; kernels, variables (to keep), ptxas: lists of texts

    Raises RefusedError with findings where the check refuses the inputs, LinkError where nvJitLink does."""
    inputs = as_inputs(inputs)
    settings = link_options(target, mode, options)
    handle = output()
    raise_error(c.link(_settings.linker(), handles(inputs), len(inputs), ctypes.byref(settings), ctypes.byref(handle)))
    return Image(handle.value)


def check(inputs: Any, *, target: str | Device, mode: str = "lto", **options: Any) -> list[Finding]:
    """Checks `inputs` for a link as link() would make it, without making it and without CUDA: a list of Finding, errors first.
    What only links show (types that no PTX states, inlined functions of one name in several inputs) link() compares."""
    inputs = as_inputs(inputs)
    settings = link_options(target, mode, options)
    handle = output()
    raise_error(c.check(handles(inputs), len(inputs), ctypes.byref(settings), ctypes.byref(handle)))
    try:
        return list(read_findings(handle))
    finally:
        c.findings_free(handle)
