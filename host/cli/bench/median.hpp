// SPDX-License-Identifier: Apache-2.0
// The median of measurements.
#pragma once

#include <algorithm>
#include <vector>

namespace fatlink::cli {

/// The upper median of `values`, which must not be empty.
inline double median(std::vector<double> values)
{
  auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace fatlink::cli
