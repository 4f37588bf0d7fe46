# SPDX-License-Identifier: Apache-2.0
"""Compiles CUDA C++ with NVRTC and LLVM IR with libNVVM, without nvcc; checks inputs, and links them with nvJitLink. All
calls of this process share a linker, a compiler and a cache, whose settings configure() changes."""
from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence

from ._arguments import choice, data_of, encode, flag, path_of, shown, texts, unsigned
from ._cuda_core import object_code
from ._devices import Device
from ._errors import CompilerWarning, FileError, Finding, UsageError, UsageTypeError, warn
from ._ffi import (CacheSettings, CompileOptions, CompilerSettings, Handle, HookStruct, ImageInfo, LinkerSettings, LinkOptions, c,
                   make_lock, output, raise_error, read_findings, take_text, text)
from ._inputs import Input, as_inputs, handles, write_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
else:  # typing.get_type_hints needs the name
    Any = object

MODES = ("lto", "ptx", "sass")  # by fatlink_link_mode
CACHE_OUTCOMES = ("off", "miss", "hit")  # by fatlink_cache_outcome
_KINDS = (None, "cubin", "ptx", "ptx-set", "ltoir", "relocatable")  # by fatlink_image_kind


class Cache(Handle):
    __slots__ = ()
    _free = "cache_free"


class Linker(Handle):
    __slots__ = ()
    _free = "linker_free"


class Compiler(Handle):
    __slots__ = ()
    _free = "compiler_free"


_settings = {"offline": False, "in_process": False, "allow_unconfined": False, "link_time_limit_ms": 0, "compile_time_limit_ms": 0,
             "compile_memory_limit_mib": 0, "nvjitlink": None, "nvrtc": None, "libnvvm": None, "cache": True,
             "cache_folder": None, "cache_folder_limit": 0, "cache_memory_limit": 0, "line_info": False}
_BITS = {"link_time_limit_ms": 32, "compile_time_limit_ms": 32, "compile_memory_limit_mib": 32, "cache_folder_limit": 64,
         "cache_memory_limit": 64}
_PATHS = ("nvjitlink", "nvrtc", "libnvvm", "cache_folder")
_made: dict = {}
after_configure: list = []  # functions that forget what was made with other settings
_lock = make_lock()


def configure(**settings) -> None:
    """Sets how fatlink links and compiles from now on. Settings that are not passed stay unchanged, and so do existing plans.

    offline             True: links and compiles that no cache layer holds raise UnavailableError (code "offline"); no library of
                        CUDA is searched, and no helper is started. FATLINK_OFFLINE=1 turns this on as well
    in_process          True: nvJitLink runs in this process, which a damaged input can crash; False: in a helper process
    allow_unconfined    True: links and compiles even if the kernel refuses the helper's sandbox
    nvjitlink, nvrtc, libnvvm   the only shared library to use
    link_time_limit_ms, compile_time_limit_ms, compile_memory_limit_mib   0: the defaults
    cache               False: links and compiles are not stored
    cache_folder        "": stores them only in memory; None: the program's folder
    cache_folder_limit, cache_memory_limit   bytes; 0: the defaults
    line_info           True: compiles the operators of algorithms, CUDA source and Python functions, with source lines for
                        debuggers and profilers; CUDA source in a text is kept as a file in the cache folder. For lines of
                        operators, pass mode="ptx": in "lto" mode libraries without line information hide them"""
    for name in settings:
        if name not in _settings:
            raise UsageError(f"configure has no setting {name}", input=name, hint=f"settings: {', '.join(_settings)}")
    settings = {name: _checked(name, value) for name, value in settings.items()}
    with _lock:
        _settings.update(settings)
        _made.clear()
    for forget in after_configure:
        forget()


def _checked(name, value):
    if name in _BITS:
        return unsigned(value, name, _BITS[name])
    if name in _PATHS:
        if value is not None:
            encode(value, name)
        return value
    if not isinstance(value, bool):
        raise UsageTypeError(f"{name} is {shown(value)}", input=name, hint="pass True or False")
    return value


def _optional(name):
    return None if _settings[name] is None else encode(_settings[name], name)


def _make(cls, create, settings):
    handle = output()
    raise_error(create(ctypes.byref(settings), ctypes.byref(handle)))
    return cls(handle.value)


def _once(name, make):
    with _lock:
        if name not in _made:
            _made[name] = make()
        return _made[name]


def link_cache():
    """The cache of this process; None: there is none."""
    if not _settings["cache"]:
        return None
    return _once("cache", lambda: _make(Cache, c.cache_open, CacheSettings(
        folder=_optional("cache_folder"), folder_limit=_settings["cache_folder_limit"],
        memory_limit=_settings["cache_memory_limit"])))


def _cache_handle():
    return link_cache()._as_parameter_ if _settings["cache"] else None


def _with_cache(cls, create, settings):
    result = _make(cls, create, settings)
    result._keeps = (link_cache(),)  # is freed after it
    return result


def linker() -> Linker:
    """The linker of this process."""
    return _once("linker", lambda: _with_cache(Linker, c.linker_create, LinkerSettings(
        in_process=_settings["in_process"], allow_unconfined=_settings["allow_unconfined"],
        time_limit_ms=_settings["link_time_limit_ms"], cache=_cache_handle(), nvjitlink=_optional("nvjitlink"),
        offline=_settings["offline"])))


def compiler() -> Compiler:
    """The compiler of this process."""
    return _once("compiler", lambda: _with_cache(Compiler, c.compiler_create, CompilerSettings(
        time_limit_ms=_settings["compile_time_limit_ms"], memory_limit_mib=_settings["compile_memory_limit_mib"],
        allow_unconfined=_settings["allow_unconfined"], cache=_cache_handle(), nvrtc=_optional("nvrtc"),
        libnvvm=_optional("libnvvm"), offline=_settings["offline"])))


def has_line_info() -> bool:
    """Whether operators are compiled with source lines."""
    return _settings["line_info"]


def is_offline() -> bool:
    """Whether links and compiles come from cache layers only."""
    return _settings["offline"] or os.environ.get("FATLINK_OFFLINE") == "1"


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
            line_info: bool = False, layer: str | os.PathLike | None = None) -> Input:
    """Compiles a source, a text or a pathlib.Path, to a fatbin. Returns an Input, with `save(path)` and `warnings`.

    contract         the installed contract whose header is included: "combine_4"; None: none
    name             for messages: "half.cu"
    architectures    "sm_75": PTX and LTO-IR for each; none: sm_75
    sass             "sm_90": in addition, a cubin for each
    definitions      macros: "NAME", "NAME=VALUE" or "NAME(x)=VALUE"
    include_folders  folders in which included files are searched; for a path also its own folder, for includes in quotes
    standard         "c++17" by default
    ftz, prec_div, prec_sqrt, fma   True, False, or None: the compiler's default
    layer            the folder of a cache layer that is also given the result, see cache.layer(); None: none

    Raises CompileError with the compiler's log. Each warning of the compiler is also issued as a CompilerWarning, once for
    each text."""
    settings = CompileOptions(ftz=choice(ftz, "ftz"), prec_div=choice(prec_div, "prec_div"),
                              prec_sqrt=choice(prec_sqrt, "prec_sqrt"), fma=choice(fma, "fma"),
                              line_info=flag(line_info, "line_info"), standard=None if standard is None else encode(standard, "standard"))
    settings.architectures, settings.architecture_count = texts(architectures, "architectures")
    settings.sass, settings.sass_count = texts(sass, "sass")
    settings.definitions, settings.definition_count = texts(definitions, "definitions")
    settings.layer = None if layer is None else encode(layer, "layer")
    result = _compile(source, contract, name, include_folders, settings)
    warn_of_compile(result)
    return result


def _compile(source, contract, name, include_folders, settings):
    data, file = _source(source)
    if isinstance(source, os.PathLike):
        settings.folder = encode(os.path.dirname(file) or os.curdir, "source")
    settings.contract = None if contract is None else encode(contract, "contract")
    settings.include_folders, settings.include_folder_count = texts(include_folders, "include_folders")
    handle, warnings = output(), output()
    raise_error(c.compile(compiler(), data, len(data), encode(file if name is None else name, "name"), ctypes.byref(settings),
                    ctypes.byref(handle), ctypes.byref(warnings)))
    return Input(handle.value, take_text(warnings))


def compile_operator(source, *, contract, name, include_folders=(), has_lines=True) -> Input:
    """As compile(), with the setting `line_info` if the user wrote the lines, and without a CompilerWarning."""
    return _compile(source, contract, name, include_folders, CompileOptions(line_info=has_lines and has_line_info()))


_warned: set = set()  # names of sources and what the compiler said of them


def warn_of_compile(result) -> None:
    """Issues the compiler's warnings as CompilerWarning."""
    if not result.warnings or (result.name, result.warnings) in _warned:
        return
    if len(_warned) >= 1024:
        _warned.clear()
    _warned.add((result.name, result.warnings))
    warn(result.warnings, CompilerWarning)


def mode_number(mode) -> int:
    """The number of "lto", "ptx" or "sass"."""
    if not isinstance(mode, str) or mode not in MODES:
        raise UsageError(f"mode is {shown(mode)}", input="mode", hint='pass "lto" (optimized across inputs), "ptx" or "sass"')
    return MODES.index(mode)


class Hook:
    """A device function that a library's kernels call and a transform defines."""

    __slots__ = ("name", "is_inlined", "is_default")

    def __init__(self, name: str, is_inlined: bool, is_default: bool):
        self.name = name  #: its symbol
        self.is_inlined = is_inlined  #: whether no call of it is left
        self.is_default = is_default  #: whether no transform defines it

    def __repr__(self) -> str:
        state = "default" if self.is_default else "inlined" if self.is_inlined else "called"
        return f"<fatlink.Hook {self.name}: {state}>"


class Image(Handle):
    """A linked image. `bytes(image)` is the cubin or PTX, for cuModuleLoadData and cudaLibraryLoadData, or a fatbin that is
    an input of another link ("ltoir", "relocatable").

    `kind` ("cubin", "ptx", "ptx-set", "ltoir", "relocatable"), `mode`, `target`, `cache` ("off", "miss", "hit"), `is_inlined`
    (transforms define hooks, and every one of these was inlined), `link_ms` (0 for an image from the cache), `hooks`,
    `warnings`."""

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
        self.kind = _KINDS[info.kind]
        self.mode = MODES[info.mode]
        self.target = text(info.target)
        self.cache = CACHE_OUTCOMES[info.cache]
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
        """Writes the bytes to a file, which appears only when it is complete."""
        write_file(path, bytes(self))

    def object_code(self, *, name: str = "fatlink", symbol_mapping: dict | None = None) -> Any:
        """The image as an ObjectCode of cuda.core, whose get_kernel() loads it. `symbol_mapping`: maps names that get_kernel() is
        passed to symbols. An image of the kind "ltoir" or "relocatable" is for cuda.core's Linker."""
        return object_code(bytes(self), self.kind, name, symbol_mapping)

    def __repr__(self) -> str:
        return f"<fatlink.Image {self.kind} for {self.target}, {self.mode} mode>"


class PlanImage(Image):
    """An image that belongs to a plan."""

    __slots__ = ()
    _free = ""


_FLAGS = ("allow_calls", "whole_archive", "require_inlined", "drop_unused_variables", "no_optimization", "line_info", "debug",
          "latest_nvvm")
_CHOICES = ("ftz", "prec_div", "prec_sqrt", "fma")
_LISTS = {"kernels": "kernel_count", "variables": "variable_count", "ptxas": "ptxas_count"}
_NUMBERS = ("max_registers", "threads")


def link_options(target, mode, options):
    """The struct for the options of link() and check()."""
    result = LinkOptions(mode=mode_number(mode))
    if isinstance(target, Device):
        raise_error(c.device_link_options(target._require_usable(), result.mode, ctypes.byref(result)))
        result.keeps = target
    else:
        result.target = encode(target, "target")
    for name, value in options.items():
        if name == "emit":
            if not isinstance(value, str) or value not in _KINDS:
                raise UsageError(f"emit is {shown(value)}", hint='pass "cubin", "ptx", "ptx-set", "ltoir" or "relocatable"')
            result.emit = _KINDS.index(value)
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
    """Checks and links `inputs`: names, files, Inputs or ObjectCodes of cuda.core, the library first.

    target   "sm_90", "sm_90a", or the Device that loads the image
    mode     "lto": optimized across the inputs; "ptx": compiled PTX, calls stay calls; "sass": cubins only
    options  emit ("cubin", "ptx", "ptx-set", "ltoir", "relocatable"); allow_calls, whole_archive, require_inlined,
             drop_unused_variables, no_optimization, line_info, debug, latest_nvvm: True or False; ftz, prec_div, prec_sqrt, fma: True, False or None (as
             compiled); max_registers, threads: numbers; kernels, variables (to keep), ptxas: lists of texts

    Raises RefusedError with findings if the check refuses the inputs, LinkError if nvJitLink does."""
    inputs = as_inputs(inputs)
    settings = link_options(target, mode, options)
    handle = output()
    raise_error(c.link(linker(), handles(inputs), len(inputs), ctypes.byref(settings), ctypes.byref(handle)))
    return Image(handle.value)


def check(inputs: Any, *, target: str | Device, mode: str = "lto", **options: Any) -> list[Finding]:
    """Checks `inputs` for the link that link() would make, without linking and without CUDA. Returns a list of Finding,
    errors first. Only link() compares types that no PTX states, and inlined functions with the same name in several
    inputs."""
    inputs = as_inputs(inputs)
    settings = link_options(target, mode, options)
    handle = output()
    raise_error(c.check(handles(inputs), len(inputs), ctypes.byref(settings), ctypes.byref(handle)))
    try:
        return list(read_findings(handle))
    finally:
        c.findings_free(handle)
