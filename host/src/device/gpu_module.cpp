// SPDX-License-Identifier: Apache-2.0
#include "device/gpu_module.hpp"

#include <array>

#include "device/driver_gate.hpp"
#include "device/image_kind.hpp"
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
  std::array<char, 8192> log{};
  std::array options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};
  auto bytes = image.bytes;  // the driver reads bytes that are not a cubin as text up to a NUL
  bytes.push_back(std::byte{0});
  driver_gate::exclusive_call const turn;
  auto const code = api_.module_load(&module_, bytes.data(), static_cast<unsigned>(options.size()),
                                     options.data(), values.data());
  try {
    api_.check(code, "loading the linked image on", info.name);
  } catch (device_error const& failure) {
    auto details = failure.details();
    details.log = log.data();
    throw device_error(stage::device, details);
  }
}

void gpu_module::unload() noexcept
{
  driver_gate::exclusive_call const turn;
  (void)api_.module_unload(module_);
}

gpu_kernel& gpu_module::find_kernel(std::string const& name)
{
  std::lock_guard const lock(mutex_);
  if (auto const entry = kernels_.find(name); entry != kernels_.end()) return *entry->second;
  auto kernel = std::make_unique<gpu_kernel>(api_, info_, load_kernel(name), name);
  return *(kernels_[name] = std::move(kernel));
}

CUfunction gpu_module::load_kernel(std::string const& name) const
{
  driver_gate::exclusive_call const turn;
  CUfunction function = nullptr;
  auto const code = api_.module_get_function(&function, module_, name.c_str());
  if (code == CUDA_ERROR_NOT_FOUND)
    fail_missing("kernel", name, "<ptx_interface::kernels> lists the kernels of a fatbin");
  api_.check(code, "finding the kernel", name);
  api_.check(api_.func_load(function), "loading the kernel", name);
  return function;
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

}  // namespace fatlink::detail
