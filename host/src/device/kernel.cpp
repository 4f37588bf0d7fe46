// SPDX-License-Identifier: Apache-2.0
#include "fatlink/kernel.hpp"

#include <algorithm>

#include "device/device_checks.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

constexpr char const* k_object = "the kernel";

void check_pointers(std::span<void* const> arguments, std::size_t expected)
{
  if (arguments.size() != expected)
    detail::fail_use(detail::format("the kernel takes {} argument{}; pointers to {} were passed",
                                    expected, expected == 1 ? "" : "s", arguments.size()),
                     k_object, "pass one pointer for each of kernel::parameter_sizes()");
  auto const null = std::find(arguments.begin(), arguments.end(), nullptr);
  if (null != arguments.end())
    detail::fail_use(detail::format("the pointer to argument {} is null", null - arguments.begin()),
                     k_object, "pass the address of the argument's value");
}

}  // namespace

std::span<std::size_t const> untyped_kernel::parameter_sizes() const
{
  return require_device(backend_, k_object).parameter_sizes(function_);
}

void* untyped_kernel::native_handle() const
{
  return require_device(backend_, k_object).native_function(function_);
}

void* untyped_kernel::native_kernel() const
{
  return require_device(backend_, k_object).native_kernel(function_);
}

kernel_attributes untyped_kernel::attributes() const
{
  return require_device(backend_, k_object).attributes(function_);
}

unsigned untyped_kernel::active_blocks_per_multiprocessor(unsigned block_threads,
                                                          std::size_t shared_bytes) const
{
  auto& device = require_device(backend_, k_object);
  if (block_threads == 0)
    detail::fail_use("the occupancy of blocks with 0 threads is not defined", "block_threads",
                     "pass 1 or more");
  return device.active_blocks(function_, block_threads, shared_bytes);
}

block_size_suggestion untyped_kernel::suggest_block_size(std::size_t shared_bytes) const
{
  return require_device(backend_, k_object).suggest_block(function_, shared_bytes);
}

void untyped_kernel::launch_raw(stream_view stream, launch_shape const& shape,
                                std::span<void* const> arguments) const
{
  check_pointers(arguments, parameter_sizes().size());
  launch_unchecked(stream, shape, arguments.data());
}

}  // namespace fatlink
