// SPDX-License-Identifier: Apache-2.0
#include "fatlink/loaded_module.hpp"

#include "device/device_checks.hpp"
#include "util/process/tool_range.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

/// A driver takes names that end at a NUL: "store\0x" would find "store".
bool is_symbol_name(std::string const& name) noexcept
{
  return !name.empty() && name.find('\0') == std::string::npos;
}

[[noreturn]] void fail_name(char const* kind, std::string const& name, error_code code,
                            char const* hint)
{
  throw file_error(stage::device, {.message = detail::format("there is no {} named '{}'", kind,
                                                             detail::printable(name)),
                                   .input = name,
                                   .code = code,
                                   .hint = hint});
}

device_backend::handle load_in_range(device_backend& device, linked_image const& image)
{
  detail::tool_range const range("load", image.bytes.size());
  return device.load(image);
}

}  // namespace

loaded_module::loaded_module(std::shared_ptr<device_backend> backend, linked_image const& image)
    : backend_(std::move(backend)),
      handle_(detail::own_handle(backend_,
                                 load_in_range(require_device(backend_, "the module"), image),
                                 &device_backend::unload))
{
}

std::string loaded_module::required_name(char const* name)
{
  if (name != nullptr) return name;
  detail::fail_use("the kernel to find has no name: a null pointer was passed", "kernel",
                   "pass the name of a kernel");
}

untyped_kernel loaded_module::find_kernel(std::string const& name) const
{
  auto& device = require_device(backend_, "the module");
  if (!is_symbol_name(name))
    fail_name("kernel", name, error_code::unknown_kernel,
              "<ptx_interface::kernels> lists the kernels of a fatbin");
  return {backend_, handle_, device.find_kernel(handle_.get(), name)};
}

untyped_kernel loaded_module::find_kernel(std::string const& name,
                                          std::span<std::size_t const> parameter_sizes) const
{
  auto kernel = find_kernel(name);
  detail::check_kernel_parameters(name, kernel.parameter_sizes(), parameter_sizes);
  return kernel;
}

void* loaded_module::native_handle() const
{
  return require_device(backend_, "the module").native_library(handle_.get());
}

device_variable loaded_module::find_variable(std::string const& name) const
{
  auto& device = require_device(backend_, "the module");
  if (!is_symbol_name(name))
    fail_name("variable", name, error_code::unknown_variable, "pass the name of a variable");
  return device.find_variable(handle_.get(), name);
}

}  // namespace fatlink
