// SPDX-License-Identifier: Apache-2.0
// Any bytes as a host object: every container is a fatbin.
#include <cstdint>
#include <cstdlib>

#include "fatlink/fatbin.hpp"
#include "input/object.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  using namespace fatlink;
  bytes_view const bytes(reinterpret_cast<std::byte const*>(data), size);
  try {
    for (auto const& container : detail::read_object(bytes, "fuzz").containers)
      if (read_fatbin(container).empty()) std::abort();
  } catch (file_error const&) {
  }
  return 0;
}
