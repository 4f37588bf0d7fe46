// SPDX-License-Identifier: Apache-2.0
#include "plan/launch_limits.hpp"

#include "expression/words.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr std::array k_dimensions{"x", "y", "z"};
constexpr std::array<std::int64_t, 3> k_most_blocks{0x7FFFFFFF, 65535, 65535};
constexpr std::array<std::int64_t, 3> k_most_threads{1024, 1024, 64};
constexpr std::uint64_t k_most_block_threads = 1024;
constexpr std::int64_t k_most_shared_bytes = 0x7FFFFFFF;

}  // namespace

unsigned check_grid(std::int64_t blocks, std::size_t dimension)
{
  if (blocks < 0 || blocks > k_most_blocks.at(dimension))
    throw expression_error(
        detail::format("a grid has 0 to {} blocks in {}, not {}", k_most_blocks.at(dimension),
                       k_dimensions.at(dimension), blocks),
        "compute the grid from sizes that are not negative; let each block do more than one part");
  return static_cast<unsigned>(blocks);
}

unsigned check_block(std::int64_t threads, std::size_t dimension)
{
  if (threads < 1 || threads > k_most_threads.at(dimension))
    throw expression_error(
        detail::format("a block has 1 to {} threads in {}, not {}", k_most_threads.at(dimension),
                       k_dimensions.at(dimension), threads),
        "use more blocks of fewer threads");
  return static_cast<unsigned>(threads);
}

void check_block_threads(std::array<unsigned, 3> const& block)
{
  auto const threads = std::uint64_t{block[0]} * block[1] * block[2];
  if (threads > k_most_block_threads)
    throw expression_error(
        detail::format("a block has at most {} threads, not {} x {} x {} = {}",
                       k_most_block_threads, block[0], block[1], block[2], threads),
        "use more blocks of fewer threads");
}

std::size_t check_shared_bytes(std::int64_t bytes)
{
  if (bytes < 0 || bytes > k_most_shared_bytes)
    throw expression_error(
        detail::format("a block has 0 to {} bytes of dynamic shared memory, not {}",
                       k_most_shared_bytes, bytes),
        "use less shared memory; kernel_attributes states what a kernel can have");
  return static_cast<std::size_t>(bytes);
}

std::size_t check_extent(std::int64_t count)
{
  if (count < 0)
    throw expression_error(detail::format("an array cannot have {} elements", count),
                           "compute it from sizes that are large enough");
  return static_cast<std::size_t>(count);
}

bool is_integer(element_type const& type) noexcept
{
  return type.kind >= scalar_kind::int8 && type.kind <= scalar_kind::uint64;
}

bool fits(std::int64_t value, element_type const& type) noexcept
{
  auto const bits = type.size * 8;
  auto const is_unsigned = type.kind >= scalar_kind::uint8 && type.kind <= scalar_kind::uint64;
  if (is_unsigned) return value >= 0 && (bits >= 64 || value >> bits == 0);
  if (bits >= 64) return true;
  auto const limit = std::int64_t{1} << (bits - 1);
  return value >= -limit && value < limit;
}

void check_fits(std::int64_t value, element_type const& type)
{
  if (!fits(value, type))
    throw expression_error(detail::format("{} is out of the range of {}", value, to_string(type)),
                           "pass it as a larger type that the kernel takes, or use smaller sizes");
}

}  // namespace fatlink::detail
