// SPDX-License-Identifier: Apache-2.0
// Any bytes as a fatbin: read, its PTX decompressed and read, judged beside itself.
#include <array>
#include <cstddef>
#include <cstdint>

#include "fatlink/preflight.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  using namespace fatlink;
  auto const* const begin = reinterpret_cast<std::byte const*>(data);
  try {
    std::array const inputs{fatbin::from_bytes({begin, begin + size}, "fuzz")};
    for (auto const mode : {link_mode::ptx, link_mode::lto})
      (void)preflight(
          inputs,
          {.target = target(90), .mode = mode, .kernel = "k", .linker = toolkit_version{13, 0}});
  } catch (file_error const&) {
  }
  return 0;
}
