// SPDX-License-Identifier: Apache-2.0
// Any bytes as raw LTO-IR: an accepted header states what begins so.
#include <cstdint>
#include <cstdlib>

#include "fatlink/error.hpp"
#include "input/ltoir.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  using namespace fatlink;
  bytes_view const bytes(reinterpret_cast<std::byte const*>(data), size);
  try {
    auto const header = detail::read_ltoir_header(bytes, "fuzz");
    if (!detail::is_ltoir(bytes) || header.container.major != 1) std::abort();
  } catch (file_error const&) {
  }
  return 0;
}
