/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   Compiles sources to fatbins without nvcc (see fatlink/compiler.hpp): CUDA C++ with NVRTC, LLVM
   IR with libNVVM. Both compilers run in the helper's sandbox. */
#ifndef FATLINK_C_COMPILE_H
#define FATLINK_C_COMPILE_H

#include "fatlink/c/cache.h"
#include "fatlink/c/input.h"

FATLINK_C_BEGIN

/** Compiles sources; may be used by several threads at once. */
typedef struct fatlink_compiler fatlink_compiler;

/** How a compiler works. */
typedef struct fatlink_compiler_settings {
  size_t size;               /**< sizeof(fatlink_compiler_settings) */
  uint32_t time_limit_ms;    /**< for one compile; 0: 30,000 */
  uint32_t memory_limit_mib; /**< for one compile; 0: 2,048 */
  int32_t allow_unconfined;  /**< 1: compile even if the kernel refuses the helper's sandbox */
  fatlink_cache* cache;      /**< searched before each compile, stores each result; NULL: none */
  char const* nvrtc;         /**< the only libnvrtc.so.13 to use; NULL: search for one */
  char const* libnvvm;       /**< the only libnvvm.so.4 to use; NULL: search for one */
  int32_t offline;           /**< 1: a compile that no cache layer holds fails with the code
                                  offline; compilers and the helper are never searched */
  int32_t reserved;          /**< 0 */
} fatlink_compiler_settings;

/** What to compile for. */
typedef struct fatlink_compile_options {
  size_t size;                        /**< sizeof(fatlink_compile_options) */
  char const* contract;               /**< installed contract: "combine_4"; NULL: none */
  char const* const* architectures;   /**< "sm_75": PTX and LTO-IR for each; NULL: sm_75 */
  size_t architecture_count;          /**< entries of `architectures` */
  char const* const* sass;            /**< "sm_90": in addition, a cubin for each */
  size_t sass_count;                  /**< entries of `sass` */
  char const* const* definitions;     /**< macros: "NAME" or "NAME=VALUE" */
  size_t definition_count;            /**< entries of `definitions` */
  char const* const* include_folders; /**< folders in which included files are searched */
  size_t include_folder_count;        /**< entries of `include_folders` */
  char const* standard;               /**< "c++03" to "c++20"; NULL: "c++17" */
  fatlink_choice ftz;                 /**< flush denormal numbers to zero; unset: off */
  fatlink_choice prec_div;            /**< division rounds correctly; unset: on */
  fatlink_choice prec_sqrt;           /**< square roots round correctly; unset: on */
  fatlink_choice fma;                 /**< contract multiplication and addition; unset: on */
  int32_t line_info;  /**< 1: adds source lines for debuggers and profilers; a source without
                         `folder` is kept as a file in the folder of the cache */
  int32_t reserved;   /**< 0 */
  char const* folder; /**< folder of the source file, for includes in quotes; NULL: none */
  char const* layer;  /**< folder of a cache layer that is also given the result; NULL: none */
} fatlink_compile_options;

/** Creates a compiler. `settings` may be NULL. NVRTC is opened at the first compile. Errors:
    usage. */
FATLINK_C_API fatlink_error* fatlink_compiler_create(fatlink_compiler_settings const* settings,
                                                     fatlink_compiler** compiler);
/** Compiles `count` bytes of source; `name` is for messages: "half.cu". `options` may be NULL.
    Headers in the folder of the source are found only if `options->folder` is set. The resulting
    fatbin is an input. `warnings` may be NULL; it receives the compiler's warnings, to be freed
    with fatlink_text_free, or NULL if there are none. Errors: usage, file, compile, unavailable. */
FATLINK_C_API fatlink_error* fatlink_compile(fatlink_compiler* compiler, char const* source,
                                             size_t count, char const* name,
                                             fatlink_compile_options const* options,
                                             fatlink_input** fatbin, char** warnings);
/** Frees a compiler; NULL is ignored. */
FATLINK_C_API void fatlink_compiler_free(fatlink_compiler* compiler);

FATLINK_C_END

#endif
