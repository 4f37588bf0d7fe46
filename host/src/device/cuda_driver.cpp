// SPDX-License-Identifier: Apache-2.0
#include "device/cuda_driver.hpp"

#include "util/process/immortal.hpp"
#include "util/text/format.hpp"
#include "vendor/vendor_library.hpp"

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
void bind(shared_library const& library, char const* name, Function& function)
{
  function = reinterpret_cast<Function>(library.find({name}));
  if (function == nullptr) fail_open(detail::format("{} exports no {}", library.path(), name));
}

// The suffixes of the names are those that cuda.h of CUDA 13 maps the plain names to.

void bind_device(shared_library const& library, driver& api)
{
  bind(library, "cuInit", api.init);
  bind(library, "cuDriverGetVersion", api.driver_get_version);
  bind(library, "cuGetErrorName", api.get_error_name);
  bind(library, "cuGetErrorString", api.get_error_string);
  bind(library, "cuDeviceGetCount", api.device_get_count);
  bind(library, "cuDeviceGet", api.device_get);
  bind(library, "cuDeviceGetName", api.device_get_name);
  bind(library, "cuDeviceGetAttribute", api.device_get_attribute);
  bind(library, "cuDeviceTotalMem_v2", api.device_total_mem);
  bind(library, "cuDevicePrimaryCtxRetain", api.primary_context_retain);
  bind(library, "cuCtxGetCurrent", api.context_get_current);
  bind(library, "cuCtxSetCurrent", api.context_set_current);
}

void bind_memory(shared_library const& library, driver& api)
{
  bind(library, "cuPointerGetAttributes", api.pointer_get_attributes);
  bind(library, "cuMemAlloc_v2", api.mem_alloc);
  bind(library, "cuMemFree_v2", api.mem_free);
  bind(library, "cuMemAllocFromPoolAsync", api.mem_alloc_from_pool);
  bind(library, "cuMemFreeAsync", api.mem_free_async);
  bind(library, "cuMemPoolCreate", api.pool_create);
  bind(library, "cuMemPoolGetAttribute", api.pool_get_attribute);
  bind(library, "cuMemPoolSetAttribute", api.pool_set_attribute);
  bind(library, "cuMemPoolTrimTo", api.pool_trim);
  bind(library, "cuMemcpyHtoD_v2", api.copy_in);
  bind(library, "cuMemcpyHtoDAsync_v2", api.copy_in_async);
  bind(library, "cuMemcpyDtoH_v2", api.copy_out);
  bind(library, "cuMemcpyDtoHAsync_v2", api.copy_out_async);
  bind(library, "cuMemcpyDtoDAsync_v2", api.copy_on_device);
  bind(library, "cuMemsetD8Async", api.memset_bytes);
}

void bind_textures(shared_library const& library, driver& api)
{
  bind(library, "cuArray3DCreate_v2", api.array_create);
  bind(library, "cuArray3DGetDescriptor_v2", api.array_descriptor);
  bind(library, "cuArrayDestroy", api.array_destroy);
  bind(library, "cuMemcpy3D_v2", api.copy_array);
  bind(library, "cuTexObjectCreate", api.texture_create);
  bind(library, "cuTexObjectDestroy", api.texture_destroy);
  bind(library, "cuSurfObjectCreate", api.surface_create);
  bind(library, "cuSurfObjectDestroy", api.surface_destroy);
}

void bind_kernels(shared_library const& library, driver& api)
{
  bind(library, "cuModuleLoadDataEx", api.module_load);
  bind(library, "cuModuleUnload", api.module_unload);
  bind(library, "cuModuleGetFunction", api.module_get_function);
  bind(library, "cuModuleGetGlobal_v2", api.module_get_global);
  bind(library, "cuFuncGetParamInfo", api.func_get_param_info);
  bind(library, "cuFuncLoad", api.func_load);
  bind(library, "cuFuncGetAttribute", api.func_get_attribute);
  bind(library, "cuFuncSetAttribute", api.func_set_attribute);
  bind(library, "cuOccupancyMaxActiveBlocksPerMultiprocessor", api.occupancy_active_blocks);
  bind(library, "cuOccupancyMaxPotentialBlockSize", api.occupancy_block_size);
  bind(library, "cuLaunchKernel", api.launch_kernel);
  bind(library, "cuLaunchKernelEx", api.launch_kernel_with);
}

void bind_streams(shared_library const& library, driver& api)
{
  bind(library, "cuStreamCreate", api.stream_create);
  bind(library, "cuStreamDestroy_v2", api.stream_destroy);
  bind(library, "cuStreamSynchronize", api.stream_synchronize);
  bind(library, "cuStreamGetId", api.stream_get_id);
  bind(library, "cuStreamIsCapturing", api.stream_is_capturing);
  bind(library, "cuThreadExchangeStreamCaptureMode", api.exchange_capture_mode);
  bind(library, "cuEventCreate", api.event_create);
  bind(library, "cuEventDestroy_v2", api.event_destroy);
  bind(library, "cuEventRecord", api.event_record);
  bind(library, "cuEventQuery", api.event_query);
  bind(library, "cuEventSynchronize", api.event_synchronize);
  bind(library, "cuEventElapsedTime", api.event_elapsed_time);
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

CUdevice gpu_handle(driver const& api, int ordinal)
{
  CUdevice gpu = 0;
  api.check(api.device_get(&gpu, ordinal), "opening", detail::format("gpu:{}", ordinal));
  return gpu;
}

}  // namespace fatlink::detail
