/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   Devices (see fatlink/device.hpp): GPUs, and the reference device, which executes PTX on the
   CPU. A GPU is used in its primary context, which is never destroyed, so memory and streams of
   the CUDA runtime, PyTorch, CuPy or JAX can be passed directly. After a call, the calling
   thread's current context, and with it the runtime's current device, is the same as before.
   There is one exception: if the thread had no current context and the call was for GPU 0, that
   GPU's primary context stays current. */
#ifndef FATLINK_C_DEVICE_H
#define FATLINK_C_DEVICE_H

#include "fatlink/c/error.h"

FATLINK_C_BEGIN

/** An open device. */
typedef struct fatlink_device fatlink_device;

/** Options of the reference device. */
typedef struct fatlink_device_options {
  size_t size;                 /**< sizeof(fatlink_device_options) */
  uint64_t instruction_budget; /**< per warp and launch; 0: 2^30; UINT64_MAX: no limit */
  int32_t check_races;         /**< 1: data races are errors */
  int32_t check_uninitialized; /**< 1: reading unwritten shared memory is an error */
  int32_t deterministic;       /**< 1: blocks run in the order of their indices */
  int32_t reserved;            /**< 0 */
} fatlink_device_options;

/** Facts about a device. */
typedef struct fatlink_device_info {
  size_t size;              /**< sizeof(fatlink_device_info), set by the caller */
  int32_t is_gpu;           /**< 1: a GPU; 0: the reference device */
  int32_t ordinal;          /**< the driver's index of the GPU; 0 for the reference device */
  char const* name;         /**< "NVIDIA H200" */
  char const* target;       /**< what to link for: "sm_90" */
  uint64_t memory_bytes;    /**< of the GPU; 0 for the reference device */
  uint32_t multiprocessors; /**< of the GPU; CPU cores for the reference device */
  uint64_t max_shared_bytes_per_block; /**< static and dynamic together */
} fatlink_device_info;

/** The memory pool that fatlink has on a GPU for scratch arrays that callers do not provide. The
    process has one pool for each GPU. */
typedef struct fatlink_memory_pool {
  size_t size;             /**< sizeof(fatlink_memory_pool), set by the caller */
  uint64_t limit_bytes;    /**< maximum size that it keeps after a stream is synchronized */
  uint64_t reserved_bytes; /**< memory that the pool has reserved, used or unused */
  uint64_t used_bytes;     /**< memory that calls have not released yet */
} fatlink_memory_pool;

/** Opens a device: "gpu", "gpu:1", "cpu" or "cpu:sm_80". `options` may be NULL. If the device
    cannot be opened, no other device is opened instead.
    Errors: usage, unavailable, device. */
FATLINK_C_API fatlink_error* fatlink_device_open(char const* name,
                                                 fatlink_device_options const* options,
                                                 fatlink_device** device);
/** Gets facts about a device. Errors: usage. */
FATLINK_C_API fatlink_error* fatlink_device_get_info(fatlink_device const* device,
                                                     fatlink_device_info* info);
/** Gets the state of the memory pool; zeros for the reference device, which has none. Errors:
    usage, device. */
FATLINK_C_API fatlink_error* fatlink_device_get_memory_pool(fatlink_device const* device,
                                                            fatlink_memory_pool* pool);
/** Limits the memory that the pool keeps; the default is 1/32 of the GPU's memory. Unused memory
    above the limit is returned to the GPU. Errors: usage, device. */
FATLINK_C_API fatlink_error* fatlink_device_limit_memory_pool(fatlink_device* device,
                                                              uint64_t bytes);
/** Returns unused memory to the GPU until `keep` bytes are left. Errors: usage, device. */
FATLINK_C_API fatlink_error* fatlink_device_trim_memory_pool(fatlink_device* device, uint64_t keep);
/** How many GPUs the driver reports; 0 without a driver. */
FATLINK_C_API int32_t fatlink_gpu_count(void);
/** Frees a device; NULL is ignored. */
FATLINK_C_API void fatlink_device_free(fatlink_device* device);

/** A queue of work. Functions take a stream as a CUstream or cudaStream_t of the primary
    context, or as returned by fatlink_stream_handle; NULL is the default stream. On the
    reference device, every call is complete when it returns. */
typedef struct fatlink_stream fatlink_stream;

/** Creates a stream that does not wait for the default stream. Errors: device. */
FATLINK_C_API fatlink_error* fatlink_stream_create(fatlink_device* device, fatlink_stream** stream);
/** The handle to pass as `stream`; a CUstream on a GPU. Valid while the stream exists. */
FATLINK_C_API void* fatlink_stream_handle(fatlink_stream const* stream);
/** Waits until all work queued on `stream` has finished. Errors: device: the work failed. */
FATLINK_C_API fatlink_error* fatlink_synchronize(fatlink_device* device, void* stream);
/** Frees a stream; its queued work is still executed. NULL is ignored. */
FATLINK_C_API void fatlink_stream_free(fatlink_stream* stream);

FATLINK_C_END

#endif
