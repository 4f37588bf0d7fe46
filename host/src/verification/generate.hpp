// SPDX-License-Identifier: Apache-2.0
// Generated elements of a type: bytes that depend only on the type, the seed and the index.
// elements.hpp states the distributions. Threads: a generator may be used by several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fatlink/element_type.hpp"

namespace fatlink::detail {

/// SplitMix64's finaliser. Source: Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators".
std::uint64_t mix(std::uint64_t z) noexcept;

class element_generator {
 public:
  element_generator(element_type const& type, std::uint64_t seed);
  /// Writes the elements that begin with `start`; `bytes` are a multiple of the element's.
  void fill(std::size_t start, std::span<std::byte> bytes) const;

 private:
  /// A number in an element. Its own seed makes it independent of the others.
  struct part {
    scalar_kind kind;
    std::size_t offset;
    std::uint64_t seed;
  };

  std::vector<part> parts_;  ///< of bytes: one for each
  std::size_t size_;         ///< bytes of an element
};

}  // namespace fatlink::detail
