/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   The link cache (see fatlink/cache.hpp). It stores the results of links and compiles in memory,
   in the user's folder, and in read-only folders of packages. A cache problem never makes a link
   fail. */
#ifndef FATLINK_C_CACHE_H
#define FATLINK_C_CACHE_H

#include "fatlink/c/error.h"

FATLINK_C_BEGIN

/** A link cache. */
typedef struct fatlink_cache fatlink_cache;

/** Settings of a cache. */
typedef struct fatlink_cache_settings {
  size_t size;           /**< sizeof(fatlink_cache_settings) */
  char const* folder;    /**< NULL: the default ($FATLINK_CACHE_DIR, ...); "": memory only */
  uint64_t folder_limit; /**< bytes of all entries; 0: $FATLINK_CACHE_LIMIT, otherwise 1 GiB */
  uint64_t memory_limit; /**< bytes of all links in memory; 0: 64 MiB */
} fatlink_cache_settings;

/** Statistics of the user's folder, over all processes that used it. */
typedef struct fatlink_cache_statistics {
  size_t size;      /**< sizeof(fatlink_cache_statistics), set by the caller */
  int32_t usable;   /**< 1: the folder exists or can be created, and is safe to use */
  uint64_t entries; /**< entries in the folder */
  uint64_t bytes;   /**< of all entries */
  uint64_t limit;   /**< bytes */
  uint64_t hits;    /**< links found in the cache */
  uint64_t misses;  /**< links that were not found in the cache */
  uint64_t stored;  /**< entries written */
  uint64_t evicted; /**< entries removed to stay within the limit */
  uint64_t faults;  /**< cache problems */
} fatlink_cache_statistics;

/** Opens a cache; `settings` may be NULL. Errors: usage. */
FATLINK_C_API fatlink_error* fatlink_cache_open(fatlink_cache_settings const* settings,
                                                fatlink_cache** cache);
/** The folder of the cache; empty: memory only. */
FATLINK_C_API char const* fatlink_cache_folder(fatlink_cache const* cache);
/** Reads the statistics. Errors: usage. */
FATLINK_C_API fatlink_error* fatlink_cache_get_statistics(fatlink_cache* cache,
                                                          fatlink_cache_statistics* statistics);
/** Removes damaged entries, files of dead processes, and entries above the limit. Errors: file. */
FATLINK_C_API fatlink_error* fatlink_cache_prune(fatlink_cache* cache);
/** Removes every entry. Errors: file. */
FATLINK_C_API fatlink_error* fatlink_cache_clear(fatlink_cache* cache);
/** Releases the caller's reference to a cache. The cache is destroyed when all linkers and
    compilers that use it have been freed as well. NULL is ignored. */
FATLINK_C_API void fatlink_cache_free(fatlink_cache* cache);

FATLINK_C_END

#endif
