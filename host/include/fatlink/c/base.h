/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   Definitions that every header of the C interface needs. */
#ifndef FATLINK_C_BASE_H
#define FATLINK_C_BASE_H

#include <stddef.h>
#include <stdint.h>

/** Exported from libfatlink.so. */
#if defined(__GNUC__)
#define FATLINK_C_API __attribute__((visibility("default")))
#else
#define FATLINK_C_API
#endif

#ifdef __cplusplus
/** Begins declarations with C linkage. */
#define FATLINK_C_BEGIN extern "C" {
/** Ends declarations with C linkage. */
#define FATLINK_C_END }
#else
/** Begins declarations with C linkage. */
#define FATLINK_C_BEGIN
/** Ends declarations with C linkage. */
#define FATLINK_C_END
#endif

FATLINK_C_BEGIN

/** The major version of the C interface that this header declares. */
#define FATLINK_C_MAJOR 1
/** The minor version of the C interface that this header declares. */
#define FATLINK_C_MINOR 0

/** The version of the shared library: "0.1.0". Must not be freed. */
FATLINK_C_API char const* fatlink_version(void);
/** The version of the C interface in the shared library: 1000 * major + minor. */
FATLINK_C_API int32_t fatlink_c_version(void);

/** Begins a range of the NVTX domain "fatlink" in this thread, inside those that it has begun: for
   work that belongs to a link, such as a binding's own compiler. `name`: UTF-8, copied; NULL counts
   as "". Does nothing without a tool. */
FATLINK_C_API void fatlink_range_push(char const* name);
/** Ends the range of this thread that began last. Does nothing without a tool. */
FATLINK_C_API void fatlink_range_pop(void);

/** An option that is on, off or unset. */
typedef int32_t fatlink_choice;
enum {
  FATLINK_UNSET = 0, /**< the default */
  FATLINK_ON = 1,    /**< yes */
  FATLINK_OFF = -1   /**< no */
};

FATLINK_C_END

#endif
