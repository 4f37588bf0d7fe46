# SPDX-License-Identifier: Apache-2.0
"""The link cache. It stores the results of links and compiles in memory, in the user's folder, and in folders of packages.

    fatlink.cache.folder()       the folder of the cache
    fatlink.cache.statistics()   entries, bytes, hits, misses, …
    fatlink.cache.prune()        removes damaged entries, and entries above the limit
    fatlink.cache.clear()        removes every entry
    fatlink.cache.warm(…)        links in advance
    fatlink.cache.layer(…)       links in advance, for a package to ship"""
import ctypes

from ._arguments import encode, flag, shown
from ._devices import Device
from ._errors import UsageError, UsageTypeError, warn
from ._ffi import CacheStatistics, c, output, raise_error, text
from ._inputs import as_inputs, handles
from ._linking import Image, link_cache, link_options, linker


def _opened():
    cache = link_cache()
    if cache is None:
        raise UsageError("the cache is off", hint="fatlink.configure(cache=True)")
    return cache


def folder() -> str:
    """The folder of the cache; empty if links are kept only in memory."""
    return text(c.cache_folder(_opened()))


def statistics() -> dict:
    """Statistics of the user's folder, over all processes that used it: usable, entries, bytes, limit, hits, misses, stored,
    evicted, faults."""
    numbers = CacheStatistics()
    raise_error(c.cache_get_statistics(_opened(), ctypes.byref(numbers)))
    return {name: getattr(numbers, name) for name, _ in CacheStatistics._fields_ if name != "size"}


def prune() -> None:
    """Removes damaged entries, files of dead processes, and entries above the limit."""
    raise_error(c.cache_prune(_opened()))


def clear() -> None:
    """Removes every entry."""
    raise_error(c.cache_clear(_opened()))


def warm(inputs, *, targets, mode=None, emit="cubin", **options) -> list:
    """Links in advance: later links and plans with the same inputs and options find the images in the cache. Needs no GPU.

    inputs   names, files or Inputs, the library first. If the library has a launch plan, only its kernels are kept
    targets  "sm_90", or a list
    mode     "lto", "ptx", "sass", or "both" for lto and ptx; default: "both", without cubins "lto"
    emit     "cubin", "ptx" (for the reference device, only in lto mode), or a list
    options  as for link()

    Returns a list of Image, one for each link. Raises FileError if the cache did not store one."""
    return _link_all(None, False, inputs, targets, mode, emit, options)


def layer(folder, inputs, *, targets, mode=None, emit="cubin", one_copy: bool = False, **options) -> list:
    """Links as warm() does, into `folder`: a cache layer for a package to ship. The folder is created; several calls can add
    links to one layer. Compile sources with compile(…, layer=folder), so that the layer also has the compiled sources.

    one_copy   True: half the size; machines that select an nvJitLink ($FATLINK_NVJITLINK) do not use the layer"""
    return _link_all(encode(folder, "folder"), flag(one_copy, "one_copy"), inputs, targets, mode, emit, options)


def _link_all(folder, one_copy, inputs, targets, mode, emit, options):
    kinds = _listed(emit, "emit")
    inputs = as_inputs(inputs)
    return [_link(folder, one_copy, inputs, settings) for settings in _requests(_listed(targets, "targets"), _modes(mode, kinds), kinds, options)]


def _listed(values, name):
    """A list of one or several values."""
    if isinstance(values, (str, Device)):
        return [values]
    try:
        values = list(values)
    except Exception:
        raise UsageTypeError(f"{name} is {shown(values)}", input=name, hint="pass a text or a list of texts") from None
    if not values:
        raise UsageError(f"{name} is empty", input=name, hint="pass at least one")
    return values


def _modes(mode, kinds):
    """The link modes; those that would link nothing are an error."""
    if mode is None:
        mode = "both" if "cubin" in kinds else "lto"
    modes = ["ptx", "lto"] if mode == "both" else [mode]
    if "ptx" in kinds and ("lto" not in modes or (len(modes) > 1 and "cubin" not in kinds)):
        raise UsageError(f'emit "ptx" with mode {shown(mode)}: only lto mode emits PTX', input="emit",
                         hint='pass mode="lto", or emit="cubin"')
    return modes


def _requests(targets, modes, kinds, options):
    for target in targets:
        for mode in modes:
            for kind in kinds:
                own = dict(options)
                if len(modes) > 1 and mode != "lto":
                    own.pop("require_inlined", None)
                if kind != "ptx" or mode == "lto":
                    yield link_options(target, mode, {**own, "emit": kind})


def _link(folder, one_copy, inputs, settings):
    handle = output()
    raise_error(c.cache_warm(linker(), handles(inputs), len(inputs), ctypes.byref(settings), folder, one_copy, ctypes.byref(handle)))
    image = Image(handle.value)
    for warning in image.warnings:
        warn(warning)
    return image
