// SPDX-License-Identifier: Apache-2.0
// The input of a run: generated from a seed, or read from a .npy file, in chunks of any order.
// Generated element i depends only on the seed and i, so that chunks and threads do not matter.
// Threads: one object, one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "verification/npy.hpp"

namespace fatlink {

class element_source {
 public:
  virtual ~element_source() = default;
  [[nodiscard]] virtual std::size_t size() const noexcept = 0;
  /// Copies elements [start, start + values.size()) to `values`.
  virtual void fill(std::size_t start, std::span<float> values) const = 0;
};

/// Uniformly distributed in [-8, 8); the first elements include ±0, denormals and powers of two.
std::unique_ptr<element_source> generated_elements(std::size_t count, std::uint64_t seed);
/// The elements of a .npy file.
std::unique_ptr<element_source> npy_elements(npy_reader file);

}  // namespace fatlink
