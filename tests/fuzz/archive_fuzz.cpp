// SPDX-License-Identifier: Apache-2.0
// Any bytes as an ar archive: every member lies inside.
#include <cstdint>
#include <cstdlib>

#include "fatlink/error.hpp"
#include "input/archive.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  using namespace fatlink;
  bytes_view const bytes(reinterpret_cast<std::byte const*>(data), size);
  try {
    std::uint64_t end = 0;
    for (auto const& member : detail::read_archive(bytes, "fuzz")) {
      if (member.offset < end || member.offset + member.bytes.size() > size) std::abort();
      end = member.offset + member.bytes.size();
    }
  } catch (file_error const&) {
  }
  return 0;
}
