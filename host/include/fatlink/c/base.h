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

/** An option that is on, off or unset. */
typedef int32_t fatlink_choice;
enum {
  FATLINK_UNSET = 0, /**< the default */
  FATLINK_ON = 1,    /**< yes */
  FATLINK_OFF = -1   /**< no */
};

FATLINK_C_END

#endif
