// SPDX-License-Identifier: Apache-2.0
// Any bytes as an entry of the cache, with and without the checksum that belongs to them, and as an
// ld.so.cache. What is taken for an entry is the same once encoded again.
#include <cstdint>
#include <cstdlib>

#include "cache/entry.hpp"
#include "toolkit/toolkit_library.hpp"
#include "util/bytes/sha256.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  using namespace fatlink;
  bytes_view const bytes(reinterpret_cast<std::byte const*>(data), size);
  std::string why;
  (void)cache::decode_entry(bytes, why);
  byte_buffer checked(bytes.begin(), bytes.end());
  auto const check = detail::sha256(checked);
  checked.insert(checked.end(), check.begin(), check.end());
  if (auto const entry = cache::decode_entry(checked, why))
    if (cache::encode_entry(entry->parts, entry->link) != checked) std::abort();
  (void)detail::find_in_loader_cache(bytes, "libnvJitLink.so.13");
  return 0;
}
