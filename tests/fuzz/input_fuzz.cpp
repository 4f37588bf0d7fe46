// SPDX-License-Identifier: Apache-2.0
// Any bytes as an input of any form: every module has entries, and is written and read alike.
#include <cstdint>
#include <cstdlib>

#include "fatbin/write_fatbin.hpp"
#include "fatlink/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  using namespace fatlink;
  bytes_view const bytes(reinterpret_cast<std::byte const*>(data), size);
  try {
    auto const file = input::from_bytes({bytes.begin(), bytes.end()}, "fuzz");
    if (file.modules().empty()) std::abort();
    for (auto const& module : file.modules())
      for (auto const& entry : module.entries()) {
        auto const written = detail::write_fatbin(entry);
        if (read_fatbin(written).size() != 1) std::abort();
      }
  } catch (file_error const&) {
  }
  return 0;
}
