// SPDX-License-Identifier: Apache-2.0
#include "fatlink/buffer.hpp"

#include "device/device_checks.hpp"
#include "util/text/format.hpp"

namespace fatlink {

std::size_t buffer_bytes(std::size_t count, std::size_t element_bytes)
{
  std::size_t bytes = 0;
  if (!__builtin_mul_overflow(count, element_bytes, &bytes)) return bytes;
  detail::fail_use(detail::format("cannot allocate {} elements of {} bytes: more than 2^64 bytes",
                                  count, element_bytes),
                   "device_buffer", "allocate fewer elements");
}

std::size_t variable_elements(std::string const& name, std::size_t bytes, std::size_t element_bytes)
{
  if (bytes % element_bytes == 0) return bytes / element_bytes;
  detail::fail_use(
      detail::format("variable {} has {} bytes, which is not a multiple of {}, the size of an "
                     "element",
                     name, bytes, element_bytes),
      name, "use the type that the device code declares, or std::byte");
}

void check_buffer_access(char const* access, std::size_t offset, std::size_t count,
                         std::size_t size)
{
  if (offset <= size && count <= size - offset) return;
  detail::fail_use(
      detail::format("{} {} element{} from element {} on exceeds a buffer of {} element{}", access,
                     count, count == 1 ? "" : "s", offset, size, size == 1 ? "" : "s"),
      "device_buffer", "pass elements that are in the buffer, or allocate a larger one");
}

}  // namespace fatlink
