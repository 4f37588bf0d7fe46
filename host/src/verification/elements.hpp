// SPDX-License-Identifier: Apache-2.0
// Where a run's input comes from: generated from a seed, or a .npy file. Read by chunks in any
// order; element i depends on the seed and i alone, so chunks and threads do not matter.
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
  /// Fills elements [first, first + to.size()).
  virtual void fill(std::size_t first, std::span<float> to) const = 0;
};

/// Uniform in [-8, 8), with ±0, denormals and powers of two among the first elements.
std::unique_ptr<element_source> generated_elements(std::size_t count, std::uint64_t seed);
/// The elements of a .npy file.
std::unique_ptr<element_source> npy_elements(npy_reader file);

}  // namespace fatlink
