// SPDX-License-Identifier: Apache-2.0
// The contiguous parts of an array that several devices process. Units: elements.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "verification/elements.hpp"

namespace fatlink::cli {

struct element_part {
  std::size_t first = 0;  ///< index in the whole array
  std::size_t count = 0;
};

/// Divides `count` elements into `parts` of nearly the same size, in order. Large parts begin at
/// multiples of 1,024, so that what a thread or a block processes is the same as in one part.
/// Fewer elements than parts leave parts without elements.
std::vector<element_part> divide(std::size_t count, std::size_t parts);

/// A part of a vector of elements; `whole` must outlive the source, which reads it.
std::unique_ptr<element_source> part_of(element_source const& whole, element_part const& part);

}  // namespace fatlink::cli
