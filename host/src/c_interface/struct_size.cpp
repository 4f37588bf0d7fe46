// SPDX-License-Identifier: Apache-2.0
#include "c_interface/struct_size.hpp"

#include "device/misuse.hpp"
#include "util/text/format.hpp"

namespace fatlink::c {
namespace {

/// Far above every version of a struct: other sizes come from memory that was not initialized.
constexpr std::size_t k_largest_size = 4096;

}  // namespace

void check_size(std::size_t size, std::size_t first, char const* parameter)
{
  if (size >= first && size <= k_largest_size && size % alignof(std::size_t) == 0) return;
  detail::fail_use(detail::format("the size of {} is {}; it must be a multiple of {} from {} to {}",
                                  parameter, size, alignof(std::size_t), first, k_largest_size),
                   detail::format("{}.size", parameter),
                   "set the member size to the sizeof of the struct before the call");
}

void check_unknown_members(void const* given, std::size_t size, std::size_t known,
                           char const* parameter)
{
  if (size <= known) return;
  auto const* const bytes = static_cast<std::byte const*>(given);
  if (std::all_of(bytes + known, bytes + size, [](std::byte b) { return b == std::byte{0}; }))
    return;
  detail::fail_use(
      detail::format("{} has {} bytes, of which this version of fatlink knows {}; the others are "
                     "not 0",
                     parameter, size, known),
      parameter, "leave newer members 0, or install the version of fatlink that has them");
}

void check_reserved(std::int32_t value, char const* parameter)
{
  if (value == 0) return;
  detail::fail_use(detail::format("the member reserved of {} is {}", parameter, value), parameter,
                   "set it to 0");
}

}  // namespace fatlink::c
