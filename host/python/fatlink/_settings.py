# SPDX-License-Identifier: Apache-2.0
"""The linker, the compiler and the cache that fatlink's functions use."""
import ctypes

from ._arguments import encode, shown, unsigned
from ._errors import UsageError, UsageTypeError
from ._ffi import CacheSettings, CompilerSettings, Handle, LinkerSettings, c, make_lock, output, raise_error


class Cache(Handle):
    __slots__ = ()
    _free = "cache_free"


class Linker(Handle):
    __slots__ = ()
    _free = "linker_free"


class Compiler(Handle):
    __slots__ = ()
    _free = "compiler_free"


_values = {"in_process": False, "allow_unconfined": False, "link_time_limit_ms": 0, "compile_time_limit_ms": 0,
           "compile_memory_limit_mib": 0, "nvjitlink": None, "nvrtc": None, "libnvvm": None, "cache": True,
           "cache_folder": None, "cache_folder_limit": 0, "cache_memory_limit": 0}
_BITS = {"link_time_limit_ms": 32, "compile_time_limit_ms": 32, "compile_memory_limit_mib": 32, "cache_folder_limit": 64,
         "cache_memory_limit": 64}
_PATHS = ("nvjitlink", "nvrtc", "libnvvm", "cache_folder")
_made: dict = {}
changes: list = []  # functions that forget what was made with other settings
_lock = make_lock()


def configure(**settings) -> None:
    """Sets how fatlink links and compiles from now on; what is not named stays as it is. Plans that exist are not changed.

    in_process          nvJitLink runs in this process, which a damaged input can end; otherwise in a helper process
    allow_unconfined    links and compiles also where the kernel refuses the helper's sandbox
    nvjitlink, nvrtc, libnvvm   the shared library to use, and no other
    link_time_limit_ms, compile_time_limit_ms, compile_memory_limit_mib   0: the defaults
    cache               False: links and compiles are not kept
    cache_folder        "" keeps them in memory only; None: the program's folder
    cache_folder_limit, cache_memory_limit   bytes; 0: the defaults"""
    for name in settings:
        if name not in _values:
            raise UsageError(f"configure has no setting {name}", input=name, hint=f"settings: {', '.join(_values)}")
    settings = {name: _checked(name, value) for name, value in settings.items()}
    with _lock:
        _values.update(settings)
        _made.clear()
    for forget in changes:
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
    return None if _values[name] is None else encode(_values[name], name)


def _make(cls, create, settings):
    handle = output()
    raise_error(create(ctypes.byref(settings), ctypes.byref(handle)))
    return cls(handle.value)


def _once(name, make):
    with _lock:
        if name not in _made:
            _made[name] = make()
        return _made[name]


def cache():
    """The cache; None: there is none."""
    if not _values["cache"]:
        return None
    return _once("cache", lambda: _make(Cache, c.cache_open, CacheSettings(
        folder=_optional("cache_folder"), folder_limit=_values["cache_folder_limit"],
        memory_limit=_values["cache_memory_limit"])))


def _cache_handle():
    return cache()._as_parameter_ if _values["cache"] else None


def _with_cache(cls, create, settings):
    result = _make(cls, create, settings)
    result._keeps = (cache(),)  # is freed after it
    return result


def linker() -> Linker:
    """The linker."""
    return _once("linker", lambda: _with_cache(Linker, c.linker_create, LinkerSettings(
        in_process=_values["in_process"], allow_unconfined=_values["allow_unconfined"],
        time_limit_ms=_values["link_time_limit_ms"], cache=_cache_handle(), nvjitlink=_optional("nvjitlink"))))


def compiler() -> Compiler:
    """The compiler."""
    return _once("compiler", lambda: _with_cache(Compiler, c.compiler_create, CompilerSettings(
        time_limit_ms=_values["compile_time_limit_ms"], memory_limit_mib=_values["compile_memory_limit_mib"],
        allow_unconfined=_values["allow_unconfined"], cache=_cache_handle(), nvrtc=_optional("nvrtc"),
        libnvvm=_optional("libnvvm"))))
