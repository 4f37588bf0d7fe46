// SPDX-License-Identifier: Apache-2.0
#include "c_interface/guard.hpp"
#include "c_interface/handles.hpp"
#include "c_interface/structs.hpp"

using namespace fatlink::c;

fatlink_error* fatlink_module_load(fatlink_device* device, fatlink_image const* image,
                                   fatlink_module** module)
{
  return guarded([&] {
    auto& result = output(module, "module");
    auto const& opened = *required(device, "device").device;
    result = new fatlink_module{opened.load(*required(image, "image").image)};
  });
}

fatlink_error* fatlink_module_kernel(fatlink_module* module, char const* name,
                                     fatlink_kernel** kernel)
{
  return guarded([&] {
    auto& result = output(kernel, "kernel");
    auto const& loaded = required(module, "module").module;
    result = new fatlink_kernel{loaded.find_kernel(required_text(name, "name"))};
  });
}

fatlink_error* fatlink_module_variable(fatlink_module* module, char const* name, uint64_t* address,
                                       size_t* bytes)
{
  return guarded([&] {
    auto& place = output(address, "address");
    auto& size = output(bytes, "bytes");
    auto const& loaded = required(module, "module").module;
    auto const variable = loaded.global<std::byte>(required_text(name, "name"));
    place = variable.address();
    size = variable.size();
  });
}

void* fatlink_module_handle(fatlink_module const* module)
{
  return module == nullptr ? nullptr : module->module.native_handle();
}

void fatlink_module_free(fatlink_module* module)
{
  delete module;
}

size_t fatlink_kernel_parameter_count(fatlink_kernel const* kernel)
{
  return parameter_count(kernel);
}

size_t fatlink_kernel_parameter_bytes(fatlink_kernel const* kernel, size_t index)
{
  return parameter_bytes(kernel, index);
}

void* fatlink_kernel_handle(fatlink_kernel const* kernel)
{
  return kernel == nullptr ? nullptr : kernel->kernel.native_handle();
}

void* fatlink_kernel_cu_kernel(fatlink_kernel const* kernel)
{
  return kernel == nullptr ? nullptr : kernel->kernel.native_kernel();
}

fatlink_error* fatlink_kernel_launch(fatlink_kernel const* kernel, void* stream,
                                     fatlink_launch_shape const* shape, void* const* arguments,
                                     size_t count)
{
  return guarded([&] { launch(kernel, stream, shape, arguments, count); });
}

void fatlink_kernel_free(fatlink_kernel* kernel)
{
  delete kernel;
}
