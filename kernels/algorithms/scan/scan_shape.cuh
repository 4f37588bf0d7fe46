// SPDX-License-Identifier: Apache-2.0
// The shapes of the tiles of scan_N and exclusive_scan_N; the plans state them, too. The fastest on
// an H200 of those that were measured: large tiles at 2^28 elements, small ones at 2^20, where
// large ones would leave multiprocessors idle.
#pragma once

#include "scan_tiles.cuh"

namespace fatlink_algorithms {

enum class tile_kind { small, large };

constexpr unsigned k_scan_threads = FATLINK_ELEMENT_BYTES == 32 ? 256 : 512;

/// Rows of a thread, so that its registers hold the elements, each of less than 4 bytes in one.
constexpr unsigned scan_rows(unsigned bytes, bool is_exclusive, tile_kind kind)
{
  auto const has_many = bytes == 4 || bytes == 8;
  if (kind == tile_kind::small) return bytes == 1 ? 1 : has_many ? 4 : 2;
  if (bytes == 1) return 2;
  if (!has_many) return 4;
  return is_exclusive ? 7 : 8;
}

/// Blocks of a multiprocessor; sm_75 runs 1,024 threads.
constexpr unsigned scan_blocks([[maybe_unused]] unsigned bytes, [[maybe_unused]] tile_kind kind)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  return 2;
#else
  return kind == tile_kind::small && (bytes == 4 || bytes == 8) ? 3 : 2;
#endif
}

template <bool Exclusive, tile_kind Kind>
using scan_shape =
    scan_settings<k_scan_threads, scan_rows(FATLINK_ELEMENT_BYTES, Exclusive, Kind), Exclusive>;

constexpr auto k_small_blocks = scan_blocks(FATLINK_ELEMENT_BYTES, tile_kind::small);
constexpr auto k_large_blocks = scan_blocks(FATLINK_ELEMENT_BYTES, tile_kind::large);

/// Scans the tile of a block. `init` is for exclusive scans.
template <bool Exclusive, tile_kind Kind, typename Combine>
__device__ __forceinline__ void scan_tile(fatlink_element const* in, fatlink_element* out,
                                          std::size_t n, fatlink_element const& init,
                                          slot<fatlink_element>* slots, unsigned* ticket,
                                          Combine combine)
{
  using scanner = tile_scanner<fatlink_element, Combine, scan_shape<Exclusive, Kind>>;
  __shared__ typename scanner::storage shared;
  scanner(shared, in, out, n, init, slots, ticket, combine).scan();
}

}  // namespace fatlink_algorithms
