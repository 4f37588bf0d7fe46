// SPDX-License-Identifier: Apache-2.0
#include "device/cuda_driver.hpp"

#include "toolkit/toolkit_library.hpp"
#include "util/process/immortal.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr char const* k_file = "libcuda.so.1";
constexpr char const* k_without_gpu =
    "install NVIDIA's driver (580 or newer) on a machine with a GPU, or use the reference device, "
    "cpu; linking and inspecting need no driver";

[[noreturn]] void fail_open(std::string const& reason,
                            code_text code = error_code::driver_unavailable)
{
  throw unavailable_error(stage::device,
                          {.message = detail::format("no CUDA driver to run on: {}", reason),
                           .input = k_file,
                           .code = std::move(code),
                           .hint = k_without_gpu});
}

template <typename Function>
void bind_call(shared_library const& library, char const* name, Function& function)
{
  function = reinterpret_cast<Function>(library.find({name}));
  if (function == nullptr) fail_open(detail::format("{} exports no {}", library.path(), name));
}

// The suffixes of the names are those that cuda.h of CUDA 13 maps the plain names to.

void bind_device(shared_library const& library, driver& api)
{
  bind_call(library, "cuInit", api.init);
  bind_call(library, "cuDriverGetVersion", api.driver_get_version);
  bind_call(library, "cuGetErrorName", api.get_error_name);
  bind_call(library, "cuGetErrorString", api.get_error_string);
  bind_call(library, "cuDeviceGetCount", api.device_get_count);
  bind_call(library, "cuDeviceGet", api.device_get);
  bind_call(library, "cuDeviceGetName", api.device_get_name);
  bind_call(library, "cuDeviceGetAttribute", api.device_get_attribute);
  bind_call(library, "cuDeviceTotalMem_v2", api.device_total_mem);
  bind_call(library, "cuDevicePrimaryCtxRetain", api.primary_context_retain);
  bind_call(library, "cuCtxGetCurrent", api.context_get_current);
  bind_call(library, "cuCtxSetCurrent", api.context_set_current);
}

void bind_memory(shared_library const& library, driver& api)
{
  bind_call(library, "cuPointerGetAttributes", api.pointer_get_attributes);
  bind_call(library, "cuMemAlloc_v2", api.mem_alloc);
  bind_call(library, "cuMemFree_v2", api.mem_free);
  bind_call(library, "cuMemAllocFromPoolAsync", api.mem_alloc_from_pool);
  bind_call(library, "cuMemFreeAsync", api.mem_free_async);
  bind_call(library, "cuMemPoolCreate", api.pool_create);
  bind_call(library, "cuMemPoolGetAttribute", api.pool_get_attribute);
  bind_call(library, "cuMemPoolSetAttribute", api.pool_set_attribute);
  bind_call(library, "cuMemPoolTrimTo", api.pool_trim);
  bind_call(library, "cuMemcpyHtoD_v2", api.copy_in);
  bind_call(library, "cuMemcpyHtoDAsync_v2", api.copy_in_async);
  bind_call(library, "cuMemcpyDtoH_v2", api.copy_out);
  bind_call(library, "cuMemcpyDtoHAsync_v2", api.copy_out_async);
  bind_call(library, "cuMemcpyDtoDAsync_v2", api.copy_on_device);
  bind_call(library, "cuMemsetD8Async", api.memset_bytes);
}

void bind_textures(shared_library const& library, driver& api)
{
  bind_call(library, "cuArray3DCreate_v2", api.array_create);
  bind_call(library, "cuArray3DGetDescriptor_v2", api.array_descriptor);
  bind_call(library, "cuArrayDestroy", api.array_destroy);
  bind_call(library, "cuMemcpy3D_v2", api.copy_array);
  bind_call(library, "cuTexObjectCreate", api.texture_create);
  bind_call(library, "cuTexObjectDestroy", api.texture_destroy);
  bind_call(library, "cuSurfObjectCreate", api.surface_create);
  bind_call(library, "cuSurfObjectDestroy", api.surface_destroy);
}

void bind_kernels(shared_library const& library, driver& api)
{
  bind_call(library, "cuLibraryLoadData", api.library_load);
  bind_call(library, "cuLibraryUnload", api.library_unload);
  bind_call(library, "cuLibraryGetModule", api.library_get_module);
  bind_call(library, "cuLibraryGetKernel", api.library_get_kernel);
  bind_call(library, "cuKernelGetFunction", api.kernel_get_function);
  bind_call(library, "cuModuleGetGlobal_v2", api.module_get_global);
  bind_call(library, "cuFuncGetParamInfo", api.func_get_param_info);
  bind_call(library, "cuFuncLoad", api.func_load);
  bind_call(library, "cuFuncGetAttribute", api.func_get_attribute);
  bind_call(library, "cuFuncSetAttribute", api.func_set_attribute);
  bind_call(library, "cuOccupancyMaxActiveBlocksPerMultiprocessor", api.occupancy_active_blocks);
  bind_call(library, "cuOccupancyMaxPotentialBlockSize", api.occupancy_block_size);
  bind_call(library, "cuLaunchKernel", api.launch_kernel);
  bind_call(library, "cuLaunchKernelEx", api.launch_kernel_with);
}

void bind_streams(shared_library const& library, driver& api)
{
  bind_call(library, "cuStreamCreate", api.stream_create);
  bind_call(library, "cuStreamDestroy_v2", api.stream_destroy);
  bind_call(library, "cuStreamSynchronize", api.stream_synchronize);
  bind_call(library, "cuStreamGetId", api.stream_get_id);
  bind_call(library, "cuStreamIsCapturing", api.stream_is_capturing);
  bind_call(library, "cuThreadExchangeStreamCaptureMode", api.exchange_capture_mode);
  bind_call(library, "cuEventCreate", api.event_create);
  bind_call(library, "cuEventDestroy_v2", api.event_destroy);
  bind_call(library, "cuEventRecord", api.event_record);
  bind_call(library, "cuEventQuery", api.event_query);
  bind_call(library, "cuEventSynchronize", api.event_synchronize);
  bind_call(library, "cuEventElapsedTime", api.event_elapsed_time);
}

driver bind_all(shared_library const& library)
{
  driver api{};
  for (auto const bind_part : {bind_device, bind_memory, bind_textures, bind_kernels, bind_streams})
    bind_part(library, api);
  return api;
}

std::string name_of(driver const& api, CUresult code)
{
  char const* name = nullptr;
  if (api.get_error_name(code, &name) != CUDA_SUCCESS || name == nullptr)
    return detail::format("CUresult {}", static_cast<int>(code));
  return name;
}

std::string description_of(driver const& api, CUresult code)
{
  char const* text = nullptr;
  if (api.get_error_string(code, &text) != CUDA_SUCCESS || text == nullptr) return "unknown error";
  return text;
}

char const* remedy(CUresult code)
{
  switch (code) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return "allocate less memory, or use a GPU with more free memory";
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_LAUNCH_FAILED:
      return "the kernel or the transform misused memory; compute-sanitizer shows where";
    case CUDA_ERROR_INVALID_HANDLE:
    case CUDA_ERROR_INVALID_CONTEXT:
      return "pass a stream of this GPU's primary context that still exists";
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_IMAGE:
      return "link with <device::link_options(mode)> of this GPU";
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
    case CUDA_ERROR_STREAM_CAPTURE_ISOLATION:
      return "a stream is being captured into a CUDA graph; make this call before or after the "
             "capture";
    default:
      return "<nvidia-smi> shows the driver and the GPUs";
  }
}

driver open_driver()
{
  std::string reason;
  auto const library = shared_library::open(k_file, reason);
  if (!library) fail_open(reason);
  auto const api = bind_all(library);
  if (auto const code = api.init(0); code != CUDA_SUCCESS)
    fail_open(detail::format("cuInit: {}", description_of(api, code)),
              vendor_code(name_of(api, code)));
  return api;
}

}  // namespace

driver const& driver::open()
{
  static detail::immortal<driver const> const opened(open_driver());
  return opened.get();
}

void driver::check(CUresult code, char const* action, std::string const& subject) const
{
  if (code == CUDA_SUCCESS) return;
  throw device_error(stage::device, {.message = detail::format("{}{}{} failed: {}", action,
                                                               subject.empty() ? "" : " ", subject,
                                                               description_of(*this, code)),
                                     .input = subject,
                                     .code = vendor_code(name_of(*this, code)),
                                     .hint = remedy(code)});
}

bool is_captured(driver const& api, CUstream stream, char const* action, std::string const& subject)
{
  auto status = CU_STREAM_CAPTURE_STATUS_NONE;
  api.check(api.stream_is_capturing(stream, &status), action, subject);
  return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

CUdevice gpu_handle(driver const& api, int ordinal)
{
  CUdevice gpu = 0;
  api.check(api.device_get(&gpu, ordinal), "opening", detail::format("gpu:{}", ordinal));
  return gpu;
}

}  // namespace fatlink::detail
