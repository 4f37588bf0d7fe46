// SPDX-License-Identifier: Apache-2.0
#include "device/gpu_module.hpp"

#include <algorithm>
#include <utility>

#include "device/device_checks.hpp"
#include "device/driver_gate.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

[[noreturn]] void fail_missing(char const* kind, std::string const& name, char const* hint)
{
  throw file_error(stage::device,
                   {.message = detail::format("{} {} is not in the linked image", kind, name),
                    .input = name,
                    .code = vendor_code("CUDA_ERROR_NOT_FOUND"),
                    .hint = hint});
}

}  // namespace

gpu_module::gpu_module(driver const& api, device_info const& info, linked_image const& image)
    : api_(api), info_(info)
{
  check_image_kind(info, image);
  auto bytes = image.bytes;  // the driver reads bytes that are not a cubin as text up to a NUL
  bytes.push_back(std::byte{0});
  driver_gate::exclusive_call const turn;
  try {
    api_.check(load(bytes), "loading the linked image on", info.name);
  } catch (device_error const& failure) {
    auto details = failure.details();
    details.log = log_.data();
    throw device_error(stage::device, details);
  }
}

/// The driver may load a library into a context only when a kernel or variable of it is needed
/// there. cuLibraryGetModule does so now: an image for another architecture is refused here.
CUresult gpu_module::load(bytes_view image)
{
  std::array options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values{log_.data(), reinterpret_cast<void*>(log_.size())};
  auto const code = api_.library_load(&library_, image.data(), options.data(), values.data(),
                                      static_cast<unsigned>(options.size()), nullptr, nullptr, 0);
  if (code != CUDA_SUCCESS) return code;
  auto const loaded = api_.library_get_module(&module_, library_);
  if (loaded != CUDA_SUCCESS) (void)api_.library_unload(library_);
  return loaded;
}

void gpu_module::unload() noexcept
{
  driver_gate::exclusive_call const turn;
  (void)api_.library_unload(library_);
}

gpu_kernel& gpu_module::find_kernel(std::string const& name)
{
  std::lock_guard const lock(mutex_);
  if (auto const entry = kernels_.find(name); entry != kernels_.end()) return *entry->second;
  auto kernel = std::make_unique<gpu_kernel>(api_, info_, load_kernel(name), name);
  return *(kernels_[name] = std::move(kernel));
}

gpu_kernel::handles gpu_module::load_kernel(std::string const& name) const
{
  driver_gate::exclusive_call const turn;
  gpu_kernel::handles loaded;
  auto const code = api_.library_get_kernel(&loaded.kernel, library_, name.c_str());
  if (code == CUDA_ERROR_NOT_FOUND)
    fail_missing("kernel", name, "<ptx_interface::kernels> lists the kernels of a fatbin");
  api_.check(code, "finding the kernel", name);
  api_.check(api_.kernel_get_function(&loaded.function, loaded.kernel), "loading the kernel", name);
  api_.check(api_.func_load(loaded.function), "loading the kernel", name);
  return loaded;
}

device_variable gpu_module::find_variable(std::string const& name) const
{
  driver_gate::exclusive_call const turn;
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  auto const code = api_.module_get_global(&address, &bytes, module_, name.c_str());
  if (code == CUDA_ERROR_NOT_FOUND)
    fail_missing("variable", name,
                 "pass the name as the PTX has it; a link may remove a variable that is not used");
  api_.check(code, "finding the variable", name);
  return {.address = address, .bytes = bytes};
}

gpu_kernel::gpu_kernel(driver const& api, device_info const& info, handles loaded, std::string name)
    : api_(api),
      info_(info),
      handles_(loaded),
      name_(std::move(name)),
      sizes_(read_parameter_sizes())
{
}

std::vector<std::size_t> gpu_kernel::read_parameter_sizes() const
{
  std::vector<std::size_t> sizes;
  for (;;) {
    std::size_t offset = 0;
    std::size_t size = 0;
    auto const code = api_.func_get_param_info(handles_.function, sizes.size(), &offset, &size);
    if (code == CUDA_ERROR_INVALID_VALUE) return sizes;  // the index after the last parameter
    api_.check(code, "reading the parameters of kernel", name_);
    sizes.push_back(size);
  }
}

std::size_t gpu_kernel::attribute(CUfunction_attribute name) const
{
  int value = 0;
  api_.check(api_.func_get_attribute(&value, name, handles_.function),
             "reading attributes of kernel", name_);
  return static_cast<std::size_t>(std::max(value, 0));
}

std::size_t gpu_kernel::max_dynamic_shared_bytes() const
{
  auto const reserved = attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  return info_.max_shared_bytes_per_block - std::min(info_.max_shared_bytes_per_block, reserved);
}

kernel_attributes gpu_kernel::attributes() const
{
  return {.registers = static_cast<unsigned>(attribute(CU_FUNC_ATTRIBUTE_NUM_REGS)),
          .static_shared_bytes = attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
          .local_bytes = attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
          .constant_bytes = attribute(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES),
          .max_threads_per_block =
              static_cast<unsigned>(attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)),
          .max_dynamic_shared_bytes = max_dynamic_shared_bytes()};
}

unsigned gpu_kernel::active_blocks(unsigned block_threads, std::size_t shared_bytes)
{
  allow_shared(shared_bytes);
  if (block_threads > attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)) return 0;
  int blocks = 0;
  api_.check(api_.occupancy_active_blocks(&blocks, handles_.function,
                                          static_cast<int>(block_threads), shared_bytes),
             "reading the occupancy of kernel", name_);
  return static_cast<unsigned>(blocks);
}

block_size_suggestion gpu_kernel::suggest_block(std::size_t shared_bytes)
{
  allow_shared(shared_bytes);
  int grid_blocks = 0;
  int block_threads = 0;
  api_.check(api_.occupancy_block_size(&grid_blocks, &block_threads, handles_.function, nullptr,
                                       shared_bytes, 0),
             "reading the occupancy of kernel", name_);
  return {.block_threads = static_cast<unsigned>(block_threads),
          .grid_blocks = static_cast<unsigned>(grid_blocks)};
}

CUresult gpu_kernel::launch(CUstream stream, launch_shape const& shape,
                            void* const* arguments) const
{
  constexpr unsigned k_first_overlapping = 90;  // compute capability 9.0
  // The driver takes the array without const and only reads it.
  auto** const values = const_cast<void**>(arguments);
  auto const& [grid, block, shared_bytes, overlap] = shape;
  if (!overlap || info_.target.number() < k_first_overlapping)
    return api_.launch_kernel(handles_.function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                              shared_bytes, stream, values, nullptr);
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attribute.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config{};
  config.gridDimX = grid.x;
  config.gridDimY = grid.y;
  config.gridDimZ = grid.z;
  config.blockDimX = block.x;
  config.blockDimY = block.y;
  config.blockDimZ = block.z;
  config.sharedMemBytes = shared_bytes;
  config.hStream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return api_.launch_kernel_with(&config, handles_.function, values, nullptr);
}

void gpu_kernel::raise_allowed_shared(std::size_t bytes)
{
  std::lock_guard const lock(mutex_);
  check_dynamic_shared(name_, bytes, max_dynamic_shared_bytes(),
                       vendor_code("CUDA_ERROR_INVALID_VALUE"));
  driver_gate::exclusive_call const turn;
  relaxed_capture const mode(api_);
  auto allowed = attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  if (bytes > allowed) {
    api_.check(
        api_.func_set_attribute(handles_.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                static_cast<int>(bytes)),
        "raising the dynamic shared memory of kernel", name_);
    allowed = bytes;
  }
  allowed_shared_ = allowed;
}

}  // namespace fatlink::detail
