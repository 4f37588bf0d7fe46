// SPDX-License-Identifier: Apache-2.0
// Any bytes as a fatbin: read, its PTX decompressed and read, judged beside itself; each entry
// written and read back.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "fatbin/write_fatbin.hpp"
#include "fatlink/preflight.hpp"

namespace {

/// Aborts where what was written does not read back as one entry that is written alike.
void write_and_read_back(fatlink::fatbin_entry const& entry)
{
  auto const bytes = fatlink::detail::write_fatbin(entry);
  auto const entries = fatlink::read_fatbin(bytes);
  if (entries.size() != 1 || fatlink::detail::write_fatbin(entries[0]) != bytes) std::abort();
}

/// Aborts where a fatbin of all entries does not read back as entries that are written alike.
void write_and_read_back(std::span<fatlink::fatbin_entry const> entries)
{
  auto const bytes = fatlink::detail::write_fatbin(entries);
  auto const written = fatlink::read_fatbin(bytes);
  if (written.size() != entries.size() || fatlink::detail::write_fatbin(written) != bytes)
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  using namespace fatlink;
  auto const* const begin = reinterpret_cast<std::byte const*>(data);
  try {
    std::array const inputs{fatbin::from_bytes({begin, begin + size}, "fuzz")};
    for (auto const mode : {link_mode::ptx, link_mode::lto})
      (void)preflight(
          inputs,
          {.target = target(90), .mode = mode, .kernels = {"k"}, .linker = toolkit_version{13, 0}});
    for (auto const& entry : inputs[0].entries()) write_and_read_back(entry);
    write_and_read_back(inputs[0].entries());
  } catch (file_error const&) {
  }
  return 0;
}
