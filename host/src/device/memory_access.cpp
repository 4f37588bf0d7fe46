// SPDX-License-Identifier: Apache-2.0
#include "device/memory_access.hpp"

#include <utility>

#include "fatlink/error.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {

std::byte* memory_access::readable(device_address address, std::size_t bytes,
                                   char const* action) const
{
  auto const regions = memory_.snapshot();
  if (auto const* region = interpreter::find_region(*regions, address, bytes); region != nullptr)
    return region->data + (address - region->base);
  fail(action, address, bytes, interpreter::describe(*regions, address),
       "check the address and the size that the host program passes");
}

std::byte* memory_access::writable(device_address address, std::size_t bytes,
                                   char const* action) const
{
  auto const regions = memory_.snapshot();
  auto const* const region = interpreter::find_region(*regions, address, bytes);
  if (region != nullptr && region->is_mapped && region->read_only)
    fail(action, address, bytes, "in " + interpreter::name_of(*region) + ", read-only",
         "map the memory with host_access::read_write");
  return readable(address, bytes, action);
}

void memory_access::fail(char const* action, device_address address, std::size_t bytes,
                         std::string const& place, std::string hint) const
{
  throw device_error(stage::device,
                     {.message = detail::format("{} {} failed: {} bytes at {:#x} are {}", action,
                                                device_, bytes, address, place),
                      .input = device_,
                      .code = error_code::illegal_address,
                      .hint = std::move(hint)});
}

}  // namespace fatlink::detail
