/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   Memory of devices. An address is a CUdeviceptr, or an address of the reference device, which
   the host must not dereference. Functions with a stream queue their work; functions without one
   (fatlink_..._now) are complete when they return. fatlink/buffer.hpp describes copies of
   pageable memory. */
#ifndef FATLINK_C_MEMORY_H
#define FATLINK_C_MEMORY_H

#include "fatlink/c/device.h"

FATLINK_C_BEGIN

/** The kinds of memory that GPUs access. */
typedef int32_t fatlink_memory_kind;
enum {
  FATLINK_MEMORY_DEVICE = 1,  /**< memory of a GPU */
  FATLINK_MEMORY_MANAGED = 2, /**< moves between the host and GPUs: cudaMallocManaged */
  FATLINK_MEMORY_HOST = 3     /**< page-locked memory of the host: cudaMallocHost */
};

/** Gets the ordinal of the GPU on which the memory at `address` was allocated or registered, by
    fatlink or by other CUDA code, and the kind of the memory. `kind` may be NULL.
    Errors: usage: `address` is not in CUDA memory, or the memory was freed; device; unavailable:
    there is no driver. Memory that an allocator such as PyTorch's keeps for reuse counts as
    allocated. */
FATLINK_C_API fatlink_error* fatlink_address_get_device(uint64_t address, int32_t* ordinal,
                                                        fatlink_memory_kind* kind);

/** Memory of a device: allocated memory, or host memory that is mapped for the reference device. */
typedef struct fatlink_buffer fatlink_buffer;

/** Allocates uninitialised memory. Errors: memory: there is not enough; device. */
FATLINK_C_API fatlink_error* fatlink_buffer_allocate(fatlink_device* device, size_t bytes,
                                                     fatlink_buffer** buffer);
/** Maps `bytes` bytes of host memory at `memory`, so that kernels on the reference device access
    them without a copy. The caller must keep the memory valid until the buffer is freed. If
    `read_only` is 1, kernels and copies that write to it fail. The buffer's address is congruent to
    `memory` modulo 512. Each mapping has its own addresses, so overlapping mappings are not
    detected.
    Errors: usage: the device is a GPU. */
FATLINK_C_API fatlink_error* fatlink_buffer_map_host(fatlink_device* device, void* memory,
                                                     size_t bytes, int32_t read_only,
                                                     fatlink_buffer** buffer);
/** The address of a buffer. */
FATLINK_C_API uint64_t fatlink_buffer_address(fatlink_buffer const* buffer);
/** The size of a buffer in bytes. */
FATLINK_C_API size_t fatlink_buffer_bytes(fatlink_buffer const* buffer);
/** Frees the memory, or ends the mapping; NULL is ignored. */
FATLINK_C_API void fatlink_buffer_free(fatlink_buffer* buffer);

/** Queues a copy of `bytes` bytes from the host to `offset` of the buffer, on `stream`. Errors:
    usage, device. */
FATLINK_C_API fatlink_error* fatlink_buffer_write(fatlink_buffer* buffer, size_t offset,
                                                  void const* source, size_t bytes, void* stream);
/** As fatlink_buffer_write, but complete when it returns. */
FATLINK_C_API fatlink_error* fatlink_buffer_write_now(fatlink_buffer* buffer, size_t offset,
                                                      void const* source, size_t bytes);
/** Queues a copy of `bytes` bytes at `offset` of the buffer to the host, on `stream`. Errors:
    usage, device. */
FATLINK_C_API fatlink_error* fatlink_buffer_read(fatlink_buffer const* buffer, size_t offset,
                                                 void* destination, size_t bytes, void* stream);
/** As fatlink_buffer_read, but complete when it returns. */
FATLINK_C_API fatlink_error* fatlink_buffer_read_now(fatlink_buffer const* buffer, size_t offset,
                                                     void* destination, size_t bytes);
/** Queues an operation on `stream` that sets every byte to `value`. Errors: device. */
FATLINK_C_API fatlink_error* fatlink_buffer_fill(fatlink_buffer* buffer, uint8_t value,
                                                 void* stream);

FATLINK_C_END

#endif
