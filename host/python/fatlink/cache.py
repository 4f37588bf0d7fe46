# SPDX-License-Identifier: Apache-2.0
"""The link cache. It stores the results of links and compiles in memory, in the user's folder, and in folders of packages.

    fatlink.cache.folder()       the folder of the cache
    fatlink.cache.statistics()   entries, bytes, hits, misses, …
    fatlink.cache.prune()        removes damaged entries, and entries above the limit
    fatlink.cache.clear()        removes every entry"""
import ctypes

from ._errors import UsageError
from ._ffi import CacheStatistics, c, raise_error, text
from ._linking import link_cache


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
