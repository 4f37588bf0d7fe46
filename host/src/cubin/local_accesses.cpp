// SPDX-License-Identifier: Apache-2.0
#include "cubin/local_accesses.hpp"

#include <array>

#include "util/bytes/byte_reader.hpp"

namespace fatlink::detail {
namespace {

constexpr unsigned k_oldest_architecture = 75;
constexpr unsigned k_newest = 121;
constexpr std::uint64_t k_bytes_of_instruction = 16;
constexpr std::uint64_t k_operation_bits = 0xFFF;
constexpr std::uint64_t k_store = 0x387;
constexpr std::uint64_t k_load = 0x983;
constexpr unsigned k_width_position = 73 - 64;
constexpr std::array<std::uint64_t, 8> k_width_bytes{1, 1, 2, 2, 4, 8, 16, 0};

}  // namespace

std::optional<local_accesses> count_local_accesses(bytes_view code, unsigned architecture)
{
  if (architecture < k_oldest_architecture || architecture > k_newest) return {};
  byte_reader const reader(code);
  local_accesses accesses;
  for (std::uint64_t offset = 0; offset + k_bytes_of_instruction <= reader.size();
       offset += k_bytes_of_instruction) {
    auto const operation = reader.read<std::uint64_t>(offset) & k_operation_bits;
    if (operation != k_store && operation != k_load) continue;
    auto const width = reader.read<std::uint64_t>(offset + 8) >> k_width_position & 7U;
    auto const bytes = k_width_bytes[static_cast<std::size_t>(width)];
    if (bytes == 0) return {};
    (operation == k_store ? accesses.stores : accesses.loads) += bytes;
  }
  return accesses;
}

}  // namespace fatlink::detail
