// SPDX-License-Identifier: Apache-2.0
// The shapes of the tiles of scan_N, exclusive_scan_N, and of both with load; the plans state them,
// too. The fastest on an H200 of those that were measured at 2^28 elements. Blocks of half the
// threads, and so tiles of half the elements, are for few elements, where whole ones would leave
// multiprocessors idle.
#pragma once

#include "scan_tiles.cuh"

namespace fatlink_algorithms {

constexpr unsigned k_scan_threads = FATLINK_ELEMENT_BYTES == 32 ? 256 : 512;
constexpr unsigned k_scan_blocks = 2;  // of a multiprocessor; sm_75 runs 1,024 threads

/// Rows of a thread, so that its registers hold the elements.
constexpr unsigned scan_rows(unsigned bytes, bool is_exclusive)
{
  if (bytes != 4 && bytes != 8) return 4;
  return is_exclusive ? 7 : 8;
}

template <bool Exclusive>
using scan_shape =
    scan_settings<k_scan_threads, scan_rows(FATLINK_ELEMENT_BYTES, Exclusive), Exclusive>;

/// Scans the tile of a block. `init` is for exclusive scans.
template <bool Exclusive, typename Source, typename Combine>
__device__ __forceinline__ void scan_tile(Source in, fatlink_element* out, std::size_t n,
                                          fatlink_element const& init, slot<fatlink_element>* slots,
                                          unsigned* ticket, Combine combine)
{
  using scanner = tile_scanner<fatlink_element, Combine, scan_shape<Exclusive>, Source>;
  __shared__ typename scanner::storage shared;
  scanner(shared, in, out, n, init, slots, ticket, combine).scan();
}

}  // namespace fatlink_algorithms
