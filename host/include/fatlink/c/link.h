/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   Checks inputs, and links them with nvJitLink (see fatlink/linker.hpp and
   fatlink/preflight.hpp). Every link begins with the check. */
#ifndef FATLINK_C_LINK_H
#define FATLINK_C_LINK_H

#include "fatlink/c/cache.h"
#include "fatlink/c/image.h"
#include "fatlink/c/input.h"

FATLINK_C_BEGIN

/** Links inputs; may be used by several threads at once. */
typedef struct fatlink_linker fatlink_linker;

/** How a linker works. */
typedef struct fatlink_linker_settings {
  size_t size;              /**< sizeof(fatlink_linker_settings) */
  int32_t in_process;       /**< 1: nvJitLink runs in this process; damaged inputs can crash it */
  int32_t allow_unconfined; /**< 1: link even if the kernel refuses the helper's sandbox */
  uint32_t time_limit_ms;   /**< for one link in the helper; 0: 60,000 */
  fatlink_cache* cache;     /**< searched before each link, stores each new link; NULL: none */
  char const* nvjitlink;    /**< the only libnvJitLink.so.13 to use; NULL: search for one */
} fatlink_linker_settings;

/** What to link for, and how; fatlink/link_options.hpp describes each option. */
typedef struct fatlink_link_options {
  size_t size;                   /**< sizeof(fatlink_link_options) */
  char const* target;            /**< "sm_90", "sm_90a"; required, unless a device sets it */
  fatlink_link_mode mode;        /**< LTO, PTX or SASS */
  fatlink_image_kind emit;       /**< what to make */
  int32_t allow_calls;           /**< 1: inputs without code for the mode are also linked; their
                                      functions are called, not inlined */
  int32_t whole_archive;         /**< 1: links all members of archives */
  int32_t require_inlined;       /**< 1: a hook that is still called is an error; lto mode only */
  int32_t drop_unused_variables; /**< 1: drops unused variables (link_options.hpp); lto mode only */
  char const* const* kernels;    /**< kernels to keep; NULL: all */
  size_t kernel_count;           /**< entries of `kernels` */
  char const* const* variables;  /**< variables that the host uses; lto mode only; NULL: all */
  size_t variable_count;         /**< entries of `variables` */
  uint32_t max_registers;        /**< per thread; 0: no limit */
  uint32_t threads;              /**< threads of nvJitLink; 0: one */
  int32_t no_optimization;       /**< 1: -O0 */
  int32_t line_info;             /**< 1: adds line information for profilers */
  int32_t debug;                 /**< 1: makes code for debuggers */
  fatlink_choice ftz; /**< flush denormal numbers to zero; this and the next three: lto mode only */
  fatlink_choice prec_div;  /**< division rounds correctly */
  fatlink_choice prec_sqrt; /**< square roots round correctly */
  fatlink_choice fma;       /**< contract multiplication and addition */
  char const* const* ptxas; /**< options of ptxas, each one word */
  size_t ptxas_count;       /**< entries of `ptxas` */
  int32_t latest_nvvm; /**< 1: the newest compiler of nvJitLink 13.5 and newer; lto mode only */
  int32_t reserved;    /**< 0 */
} fatlink_link_options;

/** Creates a linker. `settings` may be NULL. nvJitLink is opened at the first link. Errors:
    usage. */
FATLINK_C_API fatlink_error* fatlink_linker_create(fatlink_linker_settings const* settings,
                                                   fatlink_linker** linker);
/** Links `inputs`, the library first. Errors: usage, file, refused, link, unavailable. */
FATLINK_C_API fatlink_error* fatlink_link(fatlink_linker* linker,
                                          fatlink_input const* const* inputs, size_t count,
                                          fatlink_link_options const* options,
                                          fatlink_image** image);
/** Links `inputs` in advance, as `fatlink cache warm` does: a later link or plan with the same
   inputs and options finds the image. If `options` names no kernels, the image has those of the
   launch plan of the first input. `layer` is a folder to be shipped as a cache layer, which is
   created; NULL: the linker's cache. `one_copy` is 1 for a layer of half the size, which machines
   that select an nvJitLink do not use; 0 without a layer. Errors: as fatlink_link; usage: no cache
   and no layer; file: the cache did not store the image, or the layer cannot be written. */
FATLINK_C_API fatlink_error* fatlink_cache_warm(fatlink_linker* linker,
                                                fatlink_input const* const* inputs, size_t count,
                                                fatlink_link_options const* options,
                                                char const* layer, int32_t one_copy,
                                                fatlink_image** image);
/** Checks `inputs` for this link without linking, and without CUDA. Some types, and inlined
    functions with the same name, do not appear in PTX; only fatlink_link compares them. Findings
    do not make the call fail; check is_error of each finding. Errors: usage, file. */
FATLINK_C_API fatlink_error* fatlink_check(fatlink_input const* const* inputs, size_t count,
                                           fatlink_link_options const* options,
                                           fatlink_findings** findings);
/** Frees a linker; NULL is ignored. */
FATLINK_C_API void fatlink_linker_free(fatlink_linker* linker);

FATLINK_C_END

#endif
