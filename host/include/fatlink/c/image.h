/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   Linked images and the facts about them, as fatlink/image.hpp. */
#ifndef FATLINK_C_IMAGE_H
#define FATLINK_C_IMAGE_H

#include "fatlink/c/error.h"

FATLINK_C_BEGIN

/** A linked image. Immutable. */
typedef struct fatlink_image fatlink_image;

/** How inputs are linked. */
typedef int32_t fatlink_link_mode;
enum {
  FATLINK_MODE_LTO = 0, /**< optimised across the inputs */
  FATLINK_MODE_PTX = 1, /**< separately compiled, real calls */
  FATLINK_MODE_SASS = 2 /**< cubins only, no compiler */
};

/** What a link makes. */
typedef int32_t fatlink_image_kind;
enum {
  FATLINK_IMAGE_DEFAULT = 0, /**< a cubin */
  FATLINK_IMAGE_CUBIN = 1,   /**< a cubin */
  FATLINK_IMAGE_PTX = 2,     /**< optimised PTX; lto mode only */
  FATLINK_IMAGE_PTX_SET = 3, /**< the unlinked PTX of the inputs; ptx mode only */
  FATLINK_IMAGE_LTOIR = 4,   /**< a fatbin with the LTO-IR of all inputs, an input of another link;
                                  lto mode only */
  FATLINK_IMAGE_RELOCATABLE = 5 /**< a fatbin with a relocatable cubin, an input of another link */
};

/** Whether the link was found in the cache. */
typedef int32_t fatlink_cache_outcome;
enum {
  FATLINK_CACHE_OFF = 0,  /**< no cache was used */
  FATLINK_CACHE_MISS = 1, /**< not in the cache */
  FATLINK_CACHE_HIT = 2   /**< found in the cache */
};

/** Facts about an image. */
typedef struct fatlink_image_info {
  size_t size;                 /**< sizeof(fatlink_image_info), set by the caller */
  fatlink_image_kind kind;     /**< never DEFAULT */
  fatlink_link_mode mode;      /**< of the link */
  fatlink_cache_outcome cache; /**< whether the cache had it */
  int32_t inlined;             /**< 1: transforms fill hooks, and every one was inlined */
  char const* target;     /**< of the code, "sm_90": the link's, or an older one that runs there */
  uint64_t hook_count;    /**< for fatlink_image_get_hook */
  uint64_t warning_count; /**< for fatlink_image_warning */
  double link_ms;         /**< wall time of the link itself; 0 for an image from the cache */
  uint64_t size_bytes;    /**< of the image; of a PTX_SET, of all its texts */
} fatlink_image_info;

/** A hook of an image. */
typedef struct fatlink_hook {
  size_t size;        /**< sizeof(fatlink_hook), set by the caller */
  char const* name;   /**< its symbol */
  int32_t inlined;    /**< 1: no call of it is left */
  int32_t is_default; /**< 1: no transform fills it; the library's own definition is called */
} fatlink_hook;

/** Reads the facts. Errors: usage. */
FATLINK_C_API fatlink_error* fatlink_image_get_info(fatlink_image const* image,
                                                    fatlink_image_info* info);
/** The cubin, PTX text without NUL, or the fatbin; NULL of a PTX_SET. `count` is set to the number
   of bytes. Cubins and PTX can be loaded by the caller: cuModuleLoadData, cudaLibraryLoadData. */
FATLINK_C_API void const* fatlink_image_bytes(fatlink_image const* image, size_t* count);
/** A hook by index, sorted by name. Errors: usage: the index is too large. */
FATLINK_C_API fatlink_error* fatlink_image_get_hook(fatlink_image const* image, size_t index,
                                                    fatlink_hook* hook);
/** A warning of preflight, of nvJitLink or of the cache, one line; NULL: the index is too large. */
FATLINK_C_API char const* fatlink_image_warning(fatlink_image const* image, size_t index);
/** Frees an image; NULL is ignored. */
FATLINK_C_API void fatlink_image_free(fatlink_image* image);

FATLINK_C_END

#endif
