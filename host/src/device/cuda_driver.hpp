// SPDX-License-Identifier: Apache-2.0
// The CUDA Driver API, opened at run time: libcuda.so.1, which the NVIDIA driver installs (never
// the toolkit's stub, libcuda.so). Types from cuda.h. Threads: safe.
#pragma once

#include <cuda.h>

#include <string>

#include "fatlink/error.hpp"

namespace fatlink::detail {

/// The functions used, by the names that the driver exports.
struct driver {
  decltype(&::cuInit) init;
  decltype(&::cuDriverGetVersion) driver_get_version;
  decltype(&::cuGetErrorName) get_error_name;
  decltype(&::cuGetErrorString) get_error_string;
  decltype(&::cuDeviceGetCount) device_get_count;
  decltype(&::cuDeviceGet) device_get;
  decltype(&::cuDeviceGetName) device_get_name;
  decltype(&::cuDeviceGetAttribute) device_get_attribute;
  decltype(&::cuDeviceTotalMem) device_total_mem;
  decltype(&::cuDevicePrimaryCtxRetain) primary_context_retain;
  decltype(&::cuCtxGetCurrent) context_get_current;
  decltype(&::cuCtxSetCurrent) context_set_current;
  decltype(&::cuPointerGetAttributes) pointer_get_attributes;
  decltype(&::cuMemAlloc) mem_alloc;
  decltype(&::cuMemFree) mem_free;
  decltype(&::cuMemAllocFromPoolAsync) mem_alloc_from_pool;
  decltype(&::cuMemFreeAsync) mem_free_async;
  decltype(&::cuMemPoolCreate) pool_create;
  decltype(&::cuMemPoolGetAttribute) pool_get_attribute;
  decltype(&::cuMemPoolSetAttribute) pool_set_attribute;
  decltype(&::cuMemPoolTrimTo) pool_trim;
  decltype(&::cuMemcpyHtoD) copy_in;
  decltype(&::cuMemcpyHtoDAsync) copy_in_async;
  decltype(&::cuMemcpyDtoH) copy_out;
  decltype(&::cuMemcpyDtoHAsync) copy_out_async;
  decltype(&::cuMemcpyDtoDAsync) copy_on_device;
  decltype(&::cuMemsetD8Async) memset_bytes;
  decltype(&::cuArray3DCreate) array_create;
  decltype(&::cuArray3DGetDescriptor) array_descriptor;
  decltype(&::cuArrayDestroy) array_destroy;
  decltype(&::cuMemcpy3D) copy_array;
  decltype(&::cuTexObjectCreate) texture_create;
  decltype(&::cuTexObjectDestroy) texture_destroy;
  decltype(&::cuSurfObjectCreate) surface_create;
  decltype(&::cuSurfObjectDestroy) surface_destroy;
  decltype(&::cuModuleLoadDataEx) module_load;
  decltype(&::cuModuleUnload) module_unload;
  decltype(&::cuModuleGetFunction) module_get_function;
  decltype(&::cuModuleGetGlobal) module_get_global;
  decltype(&::cuFuncGetParamInfo) func_get_param_info;  ///< in drivers since 12.4
  decltype(&::cuFuncLoad) func_load;                    ///< in drivers since 12.4
  decltype(&::cuFuncGetAttribute) func_get_attribute;
  decltype(&::cuFuncSetAttribute) func_set_attribute;
  decltype(&::cuOccupancyMaxActiveBlocksPerMultiprocessor) occupancy_active_blocks;
  decltype(&::cuOccupancyMaxPotentialBlockSize) occupancy_block_size;
  decltype(&::cuLaunchKernel) launch_kernel;
  decltype(&::cuLaunchKernelEx) launch_kernel_with;  ///< in drivers since 11.8
  decltype(&::cuStreamCreate) stream_create;
  decltype(&::cuStreamDestroy) stream_destroy;
  decltype(&::cuStreamSynchronize) stream_synchronize;
  decltype(&::cuStreamGetId) stream_get_id;  ///< in drivers since 12.0
  decltype(&::cuStreamIsCapturing) stream_is_capturing;
  decltype(&::cuThreadExchangeStreamCaptureMode) exchange_capture_mode;
  decltype(&::cuEventCreate) event_create;
  decltype(&::cuEventDestroy) event_destroy;
  decltype(&::cuEventRecord) event_record;
  decltype(&::cuEventQuery) event_query;
  decltype(&::cuEventSynchronize) event_synchronize;
  decltype(&::cuEventElapsedTime) event_elapsed_time;

  /// Opens and initialises the driver, once in the process.
  /// @throws unavailable_error no driver, or it finds no GPU.
  static driver const& open();

  /// @throws device_error `code` is not CUDA_SUCCESS; `action` ("allocating") and `subject` are for
  ///   the message.
  void check(CUresult code, char const* action, std::string const& subject = {}) const;
};

}  // namespace fatlink::detail
