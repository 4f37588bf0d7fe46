// SPDX-License-Identifier: Apache-2.0
// The input of a run: generated from a seed, or read from a .npy file, in chunks of any order.
// Generated element i depends only on its type, the seed and i, so that chunks and threads do not
// matter. Threads: one object may fill several threads' memory at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fatlink/element_type.hpp"
#include "util/files/npy.hpp"

namespace fatlink {

class element_source {
 public:
  virtual ~element_source() = default;
  [[nodiscard]] virtual element_type const& type() const noexcept = 0;
  [[nodiscard]] virtual std::vector<std::size_t> const& extents() const noexcept = 0;
  [[nodiscard]] virtual std::size_t size() const noexcept = 0;  ///< elements
  /// Copies the elements that begin with `start` to `bytes`, whose size is a multiple of theirs.
  virtual void fill(std::size_t start, std::span<std::byte> bytes) const = 0;
  /// As above, of a source of float32.
  void fill(std::size_t start, std::span<float> values) const
  {
    fill(start, std::as_writable_bytes(values));
  }
};

/// A vector of float32, as the general form generates it.
std::unique_ptr<element_source> generated_elements(std::size_t count, std::uint64_t seed);

/// An array of any type; the padding of records is 0.
///   floats           uniformly distributed in [-8, 8); the first elements include ±0, denormals
///                    and powers of two
///   8 and 16 bits    uniformly distributed over the type; the first elements include its extremes
///   32 and 64 bits   in [-2^20, 2^20), unsigned: [0, 2^21); so too
///   complex, record  each component by itself, with numbers of its own
///   bytes            each byte uniformly distributed
/// Several arrays of one run take different seeds: seed_of().
std::unique_ptr<element_source> generated_elements(element_type const& type,
                                                   std::vector<std::size_t> const& extents,
                                                   std::uint64_t seed);

/// As above, but many elements are equal to the one before: each 64 elements from a multiple of 64
/// on are runs of one length, 1 to 64.
std::unique_ptr<element_source> generated_runs(element_type const& type,
                                               std::vector<std::size_t> const& extents,
                                               std::uint64_t seed);

/// The seed of argument number `argument` in a run with `seed`; `seed` itself for 0.
std::uint64_t seed_of(std::uint64_t seed, std::size_t argument);

/// The elements of a .npy file.
std::unique_ptr<element_source> npy_elements(npy_reader file);
/// As above; @throws file_error it is not a vector of float32, or has no elements.
std::unique_ptr<element_source> float_vector(npy_reader file);

}  // namespace fatlink

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
