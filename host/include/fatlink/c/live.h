/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   Device code that can be replaced while it is in use (see fatlink/live_module.hpp and
   fatlink/live_plan.hpp). A swap links and loads new code, and then publishes it; a swap that
   fails changes nothing. Must not be used in a child process after fork. */
#ifndef FATLINK_C_LIVE_H
#define FATLINK_C_LIVE_H

#include "fatlink/c/kernel.h"
#include "fatlink/c/plan.h"

FATLINK_C_BEGIN

/** A module that can be replaced. */
typedef struct fatlink_live_module fatlink_live_module;
/** A kernel of a live module. A launch uses the version that is published at the time of the
    call. */
typedef struct fatlink_live_kernel fatlink_live_kernel;
/** A plan that can be replaced. */
typedef struct fatlink_live_plan fatlink_live_plan;

/** Settings for the links of swaps. */
typedef struct fatlink_live_settings {
  size_t size;            /**< sizeof(fatlink_live_settings) */
  fatlink_link_mode mode; /**< mode of every swap */
  int32_t tiered;         /**< 1: first publishes a fast link (sass mode; on the reference device
                               ptx mode), and replaces it when the lto link is ready */
} fatlink_live_settings;

/** The result of a swap. */
typedef struct fatlink_swap_report {
  size_t size;                 /**< sizeof(fatlink_swap_report), set by the caller */
  uint64_t version;            /**< 1, 2, ... */
  fatlink_link_mode mode;      /**< mode of the link */
  fatlink_cache_outcome cache; /**< whether the image came from the cache */
  double link_ms;              /**< duration of check and link */
  double load_ms;              /**< loading the image, finding the kernels */
  double total_ms;             /**< of the whole swap */
} fatlink_swap_report;

/** Creates a live module without a version. `settings` may be NULL. Errors: usage. */
FATLINK_C_API fatlink_error* fatlink_live_module_create(fatlink_device* device,
                                                        fatlink_linker* linker,
                                                        fatlink_live_settings const* settings,
                                                        fatlink_live_module** module);
/** Links `inputs`, the library first, and publishes the result as a new version; `report` may be
    NULL.
    Errors: usage, file, refused, link, device, unavailable. */
FATLINK_C_API fatlink_error* fatlink_live_module_swap(fatlink_live_module* module,
                                                      fatlink_input const* const* inputs,
                                                      size_t count, fatlink_swap_report* report);
/** Gets a kernel by its symbol. Every later version must contain it, with parameters of the same
    sizes.
    Errors: usage: no version is published; file: there is no such kernel. */
FATLINK_C_API fatlink_error* fatlink_live_module_kernel(fatlink_live_module* module,
                                                        char const* name,
                                                        fatlink_live_kernel** kernel);
/** The number of the published version; 0: none. */
FATLINK_C_API uint64_t fatlink_live_module_version(fatlink_live_module const* module);
/** Frees a live module. If this frees the last object of the module and its kernels, the call
    waits until the device has finished their launches. NULL is ignored. */
FATLINK_C_API void fatlink_live_module_free(fatlink_live_module* module);

/** The number of the kernel's parameters, in every version. */
FATLINK_C_API size_t fatlink_live_kernel_parameter_count(fatlink_live_kernel const* kernel);
/** The size of a parameter in bytes, in every version; 0: the index is too large. */
FATLINK_C_API size_t fatlink_live_kernel_parameter_bytes(fatlink_live_kernel const* kernel,
                                                         size_t index);
/** Queues a launch of the published version, as fatlink_kernel_launch. Errors: usage, device. */
FATLINK_C_API fatlink_error* fatlink_live_kernel_launch(fatlink_live_kernel const* kernel,
                                                        void* stream,
                                                        fatlink_launch_shape const* shape,
                                                        void* const* arguments, size_t count);
/** Frees a kernel; NULL is ignored. */
FATLINK_C_API void fatlink_live_kernel_free(fatlink_live_kernel* kernel);

/** Creates a live plan without a version. `settings` may be NULL. Errors: usage. */
FATLINK_C_API fatlink_error* fatlink_live_plan_create(fatlink_device* device,
                                                      fatlink_linker* linker,
                                                      fatlink_live_settings const* settings,
                                                      fatlink_live_plan** plan);
/** Links `inputs`, the library first, prepares the library's plan and publishes the result as a
    new version; `report` may be NULL. The arguments of the plan must be the same as in the first
    version.
    Errors: usage, file, refused, link, device, unavailable. */
FATLINK_C_API fatlink_error* fatlink_live_plan_swap(fatlink_live_plan* plan,
                                                    fatlink_input const* const* inputs,
                                                    size_t count, fatlink_swap_report* report);
/** The number of arguments that calls can pass: those of the plan except scratch arrays. Every
    version has the same arguments, in the same order. 0: no version is published. */
FATLINK_C_API size_t fatlink_live_plan_argument_count(fatlink_live_plan const* plan);
/** As fatlink_plan_get_argument, for the arguments that fatlink_live_plan_argument_count counts.
    The alignment is that of the published version. Texts are valid while the live plan exists.
    Errors: usage. */
FATLINK_C_API fatlink_error* fatlink_live_plan_get_argument(fatlink_live_plan const* plan,
                                                            size_t index,
                                                            fatlink_plan_argument* argument);
/** As fatlink_plan_extents, for the published version. Errors: usage, file. */
FATLINK_C_API fatlink_error* fatlink_live_plan_extents(fatlink_live_plan const* plan,
                                                       fatlink_argument const* sizes, size_t count,
                                                       char const* array, uint64_t* extents,
                                                       size_t capacity, size_t* dimensions);
/** As fatlink_plan_scratch_bytes, for the published version. */
FATLINK_C_API fatlink_error* fatlink_live_plan_scratch_bytes(fatlink_live_plan const* plan,
                                                             fatlink_argument const* sizes,
                                                             size_t count, size_t* bytes);
/** As fatlink_plan_run, for the published version. */
FATLINK_C_API fatlink_error* fatlink_live_plan_run(fatlink_live_plan const* plan, void* stream,
                                                   fatlink_argument const* arguments, size_t count,
                                                   uint64_t scratch, size_t scratch_bytes);
/** As fatlink_plan_bind, but each run of the call uses the version that is published at the time
    of the run. The arrays and the scratch memory must live as long as the call, because each swap
    binds the new version to them.
    Errors: usage, file. */
FATLINK_C_API fatlink_error* fatlink_live_plan_bind(fatlink_live_plan const* plan,
                                                    fatlink_argument const* arguments, size_t count,
                                                    uint64_t scratch, size_t scratch_bytes,
                                                    fatlink_call** call);
/** The number of the published version; 0: none. */
FATLINK_C_API uint64_t fatlink_live_plan_version(fatlink_live_plan const* plan);
/** Frees a live plan, after the device has finished its launches; NULL is ignored. */
FATLINK_C_API void fatlink_live_plan_free(fatlink_live_plan* plan);

FATLINK_C_END

#endif
