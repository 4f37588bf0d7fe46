/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   Linked images and facts about them (see fatlink/image.hpp). */
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
  FATLINK_MODE_PTX = 1, /**< separately compiled; calls stay calls */
  FATLINK_MODE_SASS = 2 /**< cubins only; nothing is compiled */
};

/** What a link produces. */
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
  fatlink_link_mode mode;      /**< mode of the link */
  fatlink_cache_outcome cache; /**< whether the image came from the cache */
  int32_t inlined;             /**< 1: transforms define hooks, and all these hooks were inlined */
  char const* target;     /**< of the code: the requested target ("sm_90"), or an older one whose
                               code runs on it */
  uint64_t hook_count;    /**< number of hooks (fatlink_image_get_hook) */
  uint64_t warning_count; /**< number of warnings (fatlink_image_warning) */
  double link_ms;         /**< wall time of the link itself; 0 for an image from the cache */
  uint64_t size_bytes;    /**< size of the image; for a PTX_SET, of all its texts */
} fatlink_image_info;

/** A hook of an image. */
typedef struct fatlink_hook {
  size_t size;        /**< sizeof(fatlink_hook), set by the caller */
  char const* name;   /**< its symbol */
  int32_t inlined;    /**< 1: all calls of the hook were inlined */
  int32_t is_default; /**< 1: no transform defines it; the library's definition is called */
} fatlink_hook;

/** Gets facts about an image. Errors: usage. */
FATLINK_C_API fatlink_error* fatlink_image_get_info(fatlink_image const* image,
                                                    fatlink_image_info* info);
/** The cubin, PTX text without NUL, or fatbin; NULL for a PTX_SET. `count` is set to the number
    of bytes. The caller can load cubins and PTX with cuModuleLoadData or cudaLibraryLoadData. */
FATLINK_C_API void const* fatlink_image_bytes(fatlink_image const* image, size_t* count);
/** Gets a hook by index; hooks are sorted by name. Errors: usage: the index is too large. */
FATLINK_C_API fatlink_error* fatlink_image_get_hook(fatlink_image const* image, size_t index,
                                                    fatlink_hook* hook);
/** A warning of preflight, of nvJitLink or of the cache, one line; NULL: the index is too large. */
FATLINK_C_API char const* fatlink_image_warning(fatlink_image const* image, size_t index);
/** Frees an image; NULL is ignored. */
FATLINK_C_API void fatlink_image_free(fatlink_image* image);

FATLINK_C_END

#endif
