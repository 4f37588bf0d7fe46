// SPDX-License-Identifier: Apache-2.0
// Any bytes as PTX text: the accepted text has no NUL, and is a part of the bytes.
#include <cstdint>
#include <cstdlib>

#include "fatlink/error.hpp"
#include "input/bare_entries.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  using namespace fatlink;
  bytes_view const bytes(reinterpret_cast<std::byte const*>(data), size);
  try {
    auto const ptx = detail::read_ptx_text(bytes, "fuzz");
    if (ptx.text.size() > size || ptx.text.find('\0') != std::string_view::npos) std::abort();
  } catch (file_error const&) {
  }
  return 0;
}
