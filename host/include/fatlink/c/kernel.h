/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   Loaded images and their kernels (see fatlink/loaded_module.hpp and fatlink/kernel.hpp). */
#ifndef FATLINK_C_KERNEL_H
#define FATLINK_C_KERNEL_H

#include "fatlink/c/device.h"
#include "fatlink/c/link.h"

FATLINK_C_BEGIN

/** An image that is loaded on a device. */
typedef struct fatlink_module fatlink_module;
/** A kernel of a module. */
typedef struct fatlink_kernel fatlink_kernel;

/** A size in three dimensions; 0 counts as 1. */
typedef struct fatlink_extent {
  uint32_t x; /**< in the first dimension */
  uint32_t y; /**< in the second dimension */
  uint32_t z; /**< in the third dimension */
} fatlink_extent;

/** The shape of a launch. */
typedef struct fatlink_launch_shape {
  size_t size;           /**< sizeof(fatlink_launch_shape) */
  fatlink_extent grid;   /**< blocks */
  fatlink_extent block;  /**< threads of each block */
  uint32_t shared_bytes; /**< dynamic shared memory of each block */
  int32_t overlap;       /**< 1: programmatic dependent launch; see launch_shape.hpp */
} fatlink_launch_shape;

/** Sets target, mode and emit of `options` to the values for this device in `mode`. Other members
    are not changed.
    Errors: usage. */
FATLINK_C_API fatlink_error* fatlink_device_link_options(fatlink_device const* device,
                                                         fatlink_link_mode mode,
                                                         fatlink_link_options* options);
/** Loads an image. Errors: device, file, unavailable. */
FATLINK_C_API fatlink_error* fatlink_module_load(fatlink_device* device, fatlink_image const* image,
                                                 fatlink_module** module);
/** Gets a kernel by its symbol. Errors: file: the image has no such kernel; unavailable: the
    reference device does not support an instruction. */
FATLINK_C_API fatlink_error* fatlink_module_kernel(fatlink_module* module, char const* name,
                                                   fatlink_kernel** kernel);
/** Gets the address and size of a variable by its symbol. Errors: file: the image has no such
    variable. */
FATLINK_C_API fatlink_error* fatlink_module_variable(fatlink_module* module, char const* name,
                                                     uint64_t* address, size_t* bytes);
/** The CUlibrary, valid until the module and its kernels are freed; NULL on the reference device.
    See loaded_module::native_handle. */
FATLINK_C_API void* fatlink_module_handle(fatlink_module const* module);
/** Frees a module; the image is unloaded when its kernels are freed as well. NULL is ignored. */
FATLINK_C_API void fatlink_module_free(fatlink_module* module);

/** The number of the kernel's parameters. */
FATLINK_C_API size_t fatlink_kernel_parameter_count(fatlink_kernel const* kernel);
/** The size of a parameter in bytes; 0: the index is too large. */
FATLINK_C_API size_t fatlink_kernel_parameter_bytes(fatlink_kernel const* kernel, size_t index);
/** The CUfunction, valid until the kernel is freed; NULL on the reference device. See
    untyped_kernel::native_handle. */
FATLINK_C_API void* fatlink_kernel_handle(fatlink_kernel const* kernel);
/** The CUkernel, valid until the kernel is freed; NULL on the reference device. See
    untyped_kernel::native_kernel. */
FATLINK_C_API void* fatlink_kernel_cu_kernel(fatlink_kernel const* kernel);
/** Queues a launch. `arguments[i]` points to the value of the i-th parameter, which is copied
    before the call returns. `count` must be the number of parameters. Errors: usage, device. */
FATLINK_C_API fatlink_error* fatlink_kernel_launch(fatlink_kernel const* kernel, void* stream,
                                                   fatlink_launch_shape const* shape,
                                                   void* const* arguments, size_t count);
/** Frees a kernel; NULL is ignored. */
FATLINK_C_API void fatlink_kernel_free(fatlink_kernel* kernel);

FATLINK_C_END

#endif
