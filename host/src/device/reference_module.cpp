// SPDX-License-Identifier: Apache-2.0
#include "device/reference_module.hpp"

#include "device/dynamic_shared.hpp"
#include "device/reference_failure.hpp"
#include "util/text/format.hpp"
#include "util/text/printable.hpp"

namespace fatlink::detail {
namespace {

std::vector<interpreter::module_text> texts_of(linked_image const& image)
{
  if (image.kind == image_kind::ptx)
    return {{.text = {reinterpret_cast<char const*>(image.bytes.data()), image.bytes.size()},
             .name = "linked PTX"}};
  std::vector<interpreter::module_text> texts;
  for (auto const& part : image.parts) texts.push_back({part.text, part.name});
  return texts;
}

std::vector<std::size_t> sizes_of(std::vector<interpreter::slot> const& parameters)
{
  std::vector<std::size_t> sizes;
  for (auto const& parameter : parameters) sizes.push_back(parameter.size);
  return sizes;
}

}  // namespace

kernel_attributes reference_kernel::attributes() const
{
  return {.static_shared_bytes = kernel->shared_bytes,
          .local_bytes = kernel->entry->local_bytes,
          .constant_bytes = program->constant_bytes(),
          .max_threads_per_block = kernel->max_threads(),
          .max_dynamic_shared_bytes = kernel->max_dynamic_shared()};
}

void reference_kernel::check_shared(std::size_t bytes) const
{
  check_dynamic_shared(kernel->entry->name, bytes, kernel->max_dynamic_shared(),
                       error_code::invalid_launch);
}

reference_module::reference_module(std::shared_ptr<interpreter::memory> memory,
                                   linked_image const& image)
    : program_(std::move(memory), texts_of(image))
{
}

reference_kernel& reference_module::find_kernel(std::string const& name)
{
  auto const& kernel = translate_failures([&]() -> auto const& { return program_.find(name); });
  std::lock_guard const lock(mutex_);
  return kernels_
      .try_emplace(name, reference_kernel{&program_, &kernel, sizes_of(kernel.entry->parameters)})
      .first->second;
}

device_variable reference_module::find_variable(std::string const& name)
{
  auto const variable = program_.find_variable(name);
  if (variable)
    return {.address = variable->address, .bytes = static_cast<std::size_t>(variable->bytes)};
  throw file_error(
      stage::device,
      {.message = detail::format("variable {} is not in the linked image", printable_line(name)),
       .input = name,
       .code = error_code::unknown_variable,
       .hint = "pass the name as the PTX has it; a link may remove a variable that is "
               "not used"});
}

}  // namespace fatlink::detail
