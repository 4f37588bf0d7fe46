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
  decltype(&::cuLibraryLoadData) library_load;           ///< in drivers since 12.0
  decltype(&::cuLibraryUnload) library_unload;           ///< in drivers since 12.0
  decltype(&::cuLibraryGetModule) library_get_module;    ///< in drivers since 12.0
  decltype(&::cuLibraryGetKernel) library_get_kernel;    ///< in drivers since 12.0
  decltype(&::cuKernelGetFunction) kernel_get_function;  ///< in drivers since 12.0
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

/// @throws device_error no GPU with this ordinal.
CUdevice gpu_handle(driver const& api, int ordinal);

/// Whether work queued on `stream` is captured into a CUDA graph instead of executed.
/// @throws device_error `stream` is the default stream, and a stream that waits for it is being
///   captured (CUDA_ERROR_STREAM_CAPTURE_IMPLICIT): the default stream is then unusable, and its
///   use would invalidate the capture. `action` and `subject` as for driver::check.
bool is_captured(driver const& api, CUstream stream, char const* action,
                 std::string const& subject);

/// While it lives, calls of this thread that are not permitted during a capture
/// (cuStreamBeginCapture) of this thread, or in global mode of any thread, neither fail nor
/// invalidate the capture. Calls that use a captured stream still do.
class relaxed_capture {
 public:
  explicit relaxed_capture(driver const& api) noexcept : api_(api) { exchange(); }
  ~relaxed_capture() { exchange(); }
  relaxed_capture(relaxed_capture const&) = delete;
  relaxed_capture& operator=(relaxed_capture const&) = delete;

 private:
  void exchange() noexcept { (void)api_.exchange_capture_mode(&mode_); }

  driver const& api_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

/// The CUDA context that is current to the calling thread, for the time of one call of fatlink.
/// While it lives, `context` is current. Then the context that was current before is current again.
/// One driver call if `context` is current already, two or three otherwise.
/// Threads: each thread has a current context of its own; one object is used by one thread.
class context_guard {
 public:
  /// What happens in the end in a thread that had no context.
  enum class none_before {
    is_replaced,  ///< `context` stays current, so that later calls need not set it
    is_restored,
  };

  context_guard(driver const& api, CUcontext context, none_before none) noexcept : api_(api)
  {
    if (api_.context_get_current(&former_) != CUDA_SUCCESS) former_ = nullptr;  // it was destroyed
    if (former_ == context) return;
    code_ = api_.context_set_current(context);
    must_restore_ =
        code_ == CUDA_SUCCESS && (former_ != nullptr || none == none_before::is_restored);
  }
  /// `gpu`: its name, for the message. @throws device_error the driver fails the call.
  context_guard(driver const& api, CUcontext context, none_before none, std::string const& gpu)
      : context_guard(api, context, none)
  {
    api_.check(code_, "entering", gpu);
  }
  ~context_guard()
  {
    if (must_restore_) (void)api_.context_set_current(former_);
  }
  context_guard(context_guard const&) = delete;
  context_guard& operator=(context_guard const&) = delete;

  /// Whether `context` is current.
  explicit operator bool() const noexcept { return code_ == CUDA_SUCCESS; }

 private:
  driver const& api_;
  CUcontext former_ = nullptr;
  bool must_restore_ = false;
  CUresult code_ = CUDA_SUCCESS;
};

}  // namespace fatlink::detail
